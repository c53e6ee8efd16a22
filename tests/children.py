"""Processes that a test starts: none outlives it, and one that fails is shown with what it said."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["finished", "first_line", "started"]

PATIENCE = 900
"""Seconds that a process may take to end: far more than it needs, however busy the machine is."""


def finished(words: Any, *, code: int = 0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a process to its end, which must be with this exit code."""
    options = {"capture_output": True, "text": True, "timeout": PATIENCE} | options
    try:
        done = subprocess.run([*map(str, words)], check=False, **options)
    except subprocess.TimeoutExpired as end:
        raise AssertionError(f"it runs after {end.timeout} s\n{end.stdout}\n{end.stderr}") from end
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@contextlib.contextmanager
def started(words: Any, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that is killed at the end of the block if it still runs; its pipes are closed."""
    with subprocess.Popen([*map(str, words)], **{"text": True} | options) as child:
        try:
            yield child
        finally:
            child.kill()


def first_line(child: subprocess.Popen[str], expected: str) -> None:
    """Wait for the first line of a process, or show how the process has ended without it."""
    assert child.stdout is not None
    alarm = threading.Timer(PATIENCE, child.kill)
    alarm.start()
    line = child.stdout.readline()
    alarm.cancel()
    alarm.join()
    if line != expected + "\n":
        if line:
            child.kill()
        more, error = child.communicate(timeout=PATIENCE)
        raise AssertionError(
            f"expected {expected!r}, came {line + more!r}; exit {child.returncode}\n{error or ''}"
        )
