"""Processes that compile a share of all kernels into the cache, for `warmup`.

LLVM compiles one kernel at a time in a process. Each process here takes the name of a warm-up call,
makes it, and asks for the next. Nothing depends on them: what they have not compiled, for whatever
reason, the process that started them compiles.

They end with the process that started them: each reads names from a pipe until it is closed. They
ignore Ctrl-C, which the terminal sends to them too, and are killed instead. Entries of the cache
are written whole or not at all, so that this may happen at any time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable

from .._system.thread_limits import thread_limit
from .notice import quietly, watching_kernels

__all__ = ["Workers", "n_cores", "serve"]

_CODE = """
import sys
sys.path[:] = sys.argv[2:]
import importlib
importlib.import_module(sys.argv[1]).serve()
"""


def n_cores() -> int:
    """Processors that this process may use, or fewer where the context limits threads."""
    has_affinity = hasattr(os, "sched_getaffinity")
    n = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(n, thread_limit() or n)


class Workers:
    """Processes that make warm-up calls, whose names they take from `waiting`.

    note: called, from several threads, for each kernel that is compiled or loaded there.
    """

    def __init__(self, waiting: deque[str], note: Callable[[], None]) -> None:
        self.n_compiled = 0
        self.are_called = False
        self._waiting, self._note, self._lock = waiting, note, threading.Lock()
        self._processes: list[subprocess.Popen[str]] = []
        self._threads: list[threading.Thread] = []

    def start(self, n: int) -> None:
        """Start up to n of them. An interrupt within it leaves those that `end` then ends."""
        self.are_called = True
        for _ in range(min(n, len(self._waiting)) if _can_start() else 0):
            self._start()

    def _start(self) -> None:
        # The options of the interpreter, of which -O is part of the names of cache entries.
        options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        words = [sys.executable, *options, "-c", _CODE, __name__, *sys.path]
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True,
            )  # fmt: skip
        except OSError:
            return
        self._processes.append(process)
        thread = threading.Thread(target=self._feed, args=(process,), daemon=True)
        thread.start()
        self._threads.append(thread)

    def _feed(self, process: subprocess.Popen[str]) -> None:
        """Give a process one call after the other, and count what it compiles."""
        if process.stdin is None or process.stdout is None:
            return
        try:
            while True:
                process.stdin.write(f"{self._waiting.popleft()}\n")
                process.stdin.flush()
                for line in process.stdout:
                    if line.startswith("done"):
                        with self._lock:
                            self.n_compiled += int(line.split()[1])
                        break
                    self._note()
                else:
                    return
        except (IndexError, OSError, ValueError):  # no call is left, or the process has ended
            return

    def join(self) -> None:
        """Wait until no call is left."""
        for thread in self._threads:
            thread.join()

    def end(self) -> None:
        """End all processes, whatever they are doing."""
        for process in self._processes:
            process.kill()
        self.join()
        for process in self._processes:
            process.communicate()


def _can_start() -> bool:
    """Whether there is an interpreter to start: `sys.executable` may be an application."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def serve() -> None:
    """Make the warm-up calls that standard input names, as such a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    compiled = 0
    for line in sys.stdin:
        from .warmup import call_of, n_compiled, n_loaded

        call = call_of(line.strip())
        with quietly(), watching_kernels(lambda: print("kernel", flush=True)):
            call()
        before, compiled = compiled, n_compiled() - n_loaded()
        print("done", compiled - before, flush=True)
