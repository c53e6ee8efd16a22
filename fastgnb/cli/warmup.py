"""`fastgnb warmup`: all kernels compiled ahead of time, with a report of how far it is."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .. import kernels
from .._numba.cache import cache_folder
from .._numba.notice import is_switched_off, quietly, watching_kernels
from .._numba.warmup import n_loaded, n_variants
from .streams import print_stderr

__all__ = ["Warmed", "compile_all"]

SECONDS = 10.0
"""Time between two lines, where standard error is no terminal."""


class Warmed(NamedTuple):
    """How many variants were compiled and how many loaded, in what time, and where they are."""

    compiled: int
    loaded: int
    seconds: float
    folder: str | None

    def __str__(self) -> str:
        if not self.compiled + self.loaded:
            return "0 kernels: the compiler is switched off (NUMBA_DISABLE_JIT)"
        where = "no cache" if self.folder is None else f"cache in {self.folder}"
        return (
            f"{self.compiled + self.loaded} kernels in {self.seconds:.1f} s: "
            f"{self.compiled} compiled, {self.loaded} loaded; {where}"
        )


def compile_all() -> Warmed:
    """Compile or load every variant of every kernel, and show on standard error how far it is."""
    start = time.perf_counter()
    bar = _bar()
    kernels.import_all()
    shown = _progress(n_variants(), bar)
    with quietly(bar is not None), shown as step, watching_kernels(step):
        total = kernels.warmup()
    loaded = n_loaded()
    return Warmed(total - loaded, loaded, time.perf_counter() - start, _folder())


def _folder() -> str | None:
    try:
        return cache_folder(kernels.__name__)
    except (RuntimeError, ImportError):
        return None


def _bar() -> Any:
    """tqdm where there is a terminal, and tqdm."""
    if sys.stderr is None or not sys.stderr.isatty() or is_switched_off():
        return None
    try:
        return importlib.import_module("tqdm").tqdm
    except ImportError:
        return None


@contextlib.contextmanager
def _progress(total: int, bar: Any) -> Iterator[Callable[[], Any]]:
    """Something to call for each of `total` kernels: it moves the bar, or says a line at times."""
    if bar is not None:
        with bar(total=total, unit=" kernels", desc="compiling", file=sys.stderr) as shown:
            yield shown.update
        return
    done, last, lock = 0, time.monotonic(), threading.Lock()

    def step() -> None:
        nonlocal done, last
        with lock:  # processes that help report from threads
            done += 1
            if time.monotonic() - last >= SECONDS and not is_switched_off():
                last = time.monotonic()
                print_stderr(f"compiling kernels: {done} of {total}")

    yield step
