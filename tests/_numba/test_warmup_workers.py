"""Processes that help to compile: what they do, and that nothing depends on them."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from pathlib import Path

import pytest
from children import finished
from installed import files_in

from fastgnb._numba import warmup, warmup_workers
from fastgnb._numba.decorators import WARMUP_CALLS
from fastgnb._numba.warmup_workers import Workers
from fastgnb.kernels import import_all

pytestmark = [pytest.mark.compiled, pytest.mark.fresh]

# Three small kernels and the parallel loop, in a cache of their own.
SMALL = """
from fastgnb._numba import warmup, warmup_workers
from fastgnb._numba.notice import watching_kernels
from fastgnb.kernels.learn import encode
started, steps = [], []
class Watched(warmup_workers.Workers):
    def _start(self):
        started.append(1)
        super()._start()
warmup.Workers = Watched
def compiled(*args):
    started.clear(); steps.clear()
    with watching_kernels(lambda: steps.append(1)):
        total = warmup.compile_all(*args)
    return total, total - warmup.n_loaded(), len(started), len(steps)
"""


def test_others_compile_a_share_once_something_is_missing(python, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    code = SMALL + "print(*compiled(2))"
    total, n_compiled, started, steps = map(int, python(code, **cache).split())
    assert (n_compiled, started, steps) == (total, 1, total)
    assert len(files_in(tmp_path)) == total >= 3
    assert python(code, **cache).split() == [str(total), "0", "0", str(total)]


WITHOUT = {
    "one core": "warmup.n_cores = lambda: 1",
    "no interpreter to start": "import sys; sys.executable = '/nowhere/python'",
    "an application": "import sys; sys.frozen = True",
    "processes that fail": "warmup_workers._CODE = 'raise SystemExit(3)'",
    "processes that end amid a call": (
        "warmup_workers._CODE = 'import sys; sys.stdin.readline(); print(1); raise SystemExit(3)'"
    ),
}


@pytest.mark.promise("degraded")
@pytest.mark.parametrize("case", WITHOUT)
def test_without_others_everything_is_compiled_here(python, tmp_path, case):
    code = f"{SMALL}{WITHOUT[case]}\nprint(*compiled()[:2])"
    total, n_compiled = map(int, python(code, NUMBA_CACHE_DIR=str(tmp_path)).split())
    assert n_compiled == total == len(files_in(tmp_path))


@pytest.mark.promise("degraded")
def test_nobody_helps_where_code_cannot_be_kept(python):
    code = """
import warnings; warnings.simplefilter("ignore")
from fastgnb._numba import cache
cache._candidates = lambda *args: iter(())
"""
    total, n_compiled, started, _ = python(f"{code}{SMALL}print(*compiled())").split()
    assert (n_compiled, started) == (total, "0")


def test_every_warm_up_call_has_a_name_by_which_a_process_makes_it():
    import_all()
    names = [call.name for call in WARMUP_CALLS]
    assert len(set(names)) == len(names) > 15
    assert [warmup.call_of(name) for name in names] == WARMUP_CALLS
    with pytest.raises(KeyError):
        warmup.call_of("fastgnb.kernels.logs:_other()")


def waiting_process(monkeypatch, tmp_path: Path) -> tuple[Workers, int]:
    """A worker that has been given a call, which does not return; and its process number."""
    note = tmp_path / "pid"
    monkeypatch.setattr(
        warmup_workers, "_CODE",
        "import os, sys, signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"open({str(note)!r} + '~', 'w').write(str(os.getpid()))\n"
        f"os.rename({str(note)!r} + '~', {str(note)!r}); time.sleep(600)",
    )  # fmt: skip
    workers = Workers(deque(["one:call"]), lambda: None)
    workers.start(1)
    deadline = time.monotonic() + 300
    while not note.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return workers, int(note.read_text())


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.promise("interrupts")
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX sends them")
def test_processes_end_whatever_they_are_doing(monkeypatch, tmp_path):
    workers, pid = waiting_process(monkeypatch, tmp_path)
    os.kill(pid, signal.SIGINT)
    assert is_there(pid)
    workers.end()
    assert not is_there(pid)


@pytest.mark.promise("interrupts")
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX sends them")
def test_an_interrupt_ends_them(python, tmp_path):
    code = f"""
import signal
{SMALL}
class Noted(Watched):
    def _start(self):
        super()._start()
        signal.raise_signal(signal.SIGINT)
    def end(self):
        super().end()
        print([process.returncode for process in self._processes])
warmup.Workers = Noted
try:
    compiled(2)
except KeyboardInterrupt:
    print("interrupted")
"""
    out = python(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert out == f"[{-signal.SIGKILL}]\ninterrupted\n"


def test_a_process_makes_calls_until_its_input_ends():
    """Of kernels that are in the cache it reports each, and that it compiled none."""
    code = warmup_workers._CODE
    words = [sys.executable, "-c", code, warmup_workers.__name__, *sys.path]
    calls = "fastgnb.kernels.learn.encode:_warm()\n"
    for _ in range(2):
        done = finished(words, input=calls * 2)
    assert done.stdout.split("\n") == ["kernel"] * 3 + ["done 0", "done 0", ""]
    assert not done.stderr
