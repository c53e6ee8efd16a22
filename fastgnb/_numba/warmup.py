"""Every variant of every kernel compiled ahead of time, and how many there are.

Each kernel is declared with the number of its variants: one for most, and a second one for float32
where it reads rows. The loop that Numba's threads run is one more, where it is used at all.
"""

from __future__ import annotations

import contextlib
import importlib
from collections import deque

from numba import config

from . import threads
from .cache import is_working
from .compiler import DISPATCHERS
from .decorators import WARMUP_CALLS, WarmupCall
from .notice import watcher, watching_kernels
from .warmup_workers import Workers, n_cores

__all__ = ["call_of", "compile_all", "n_compiled", "n_loaded", "n_variants"]

_PARALLEL_LOOP = WarmupCall(threads.compile_parallel_loop, ())

_compiled_elsewhere = 0


def compile_all(processes: int | None = None) -> int:
    """Compile or load every variant of the kernels imported so far; return how many there are.

    processes: how many compile at the same time, by default as many as there are cores. Others are
    started only once this one has found that something is to be compiled, and can be kept.
    """
    global _compiled_elsewhere
    calls = [*WARMUP_CALLS, _PARALLEL_LOOP]
    # The first is short, and shows whether anything is missing. Those that take longest follow.
    waiting = deque(call.name for call in [*calls[:1], *calls[:0:-1]])
    by_name = {call.name: call for call in calls}
    others = Workers(waiting, watcher())
    try:
        with contextlib.suppress(IndexError):
            while True:
                by_name[waiting.popleft()]()
                if not others.are_called and n_compiled() > n_loaded() and is_working():
                    others.start((n_cores() if processes is None else processes) - 1)
        others.join()
    finally:
        others.end()
        _compiled_elsewhere += others.n_compiled
    with watching_kernels(lambda: None) if others.are_called else contextlib.nullcontext():
        for call in calls:
            call()
    return n_compiled()


def call_of(name: str) -> WarmupCall:
    """The warm-up call of a name; its module is imported. Raises KeyError if there is none."""
    importlib.import_module(name.partition(":")[0])
    calls = [*WARMUP_CALLS, _PARALLEL_LOOP]
    return {call.name: call for call in calls}[name]


def n_compiled() -> int:
    """Variants compiled in, or loaded into, this process so far."""
    return sum(len(getattr(each, "overloads", ())) for each in DISPATCHERS)


def n_loaded() -> int:
    """How many of these were in the cache, and not compiled by processes of `compile_all`."""
    stats = [getattr(each, "stats", None) for each in DISPATCHERS]
    hits = sum(sum(each.cache_hits.values()) for each in stats if each is not None)
    return max(0, hits - _compiled_elsewhere)


def n_variants() -> int:
    """Variants that `compile_all` compiles, or loads, of the kernels imported so far."""
    if config.DISABLE_JIT:
        return 0
    return sum(DISPATCHERS.values()) - (not threads.uses_parallel_loop())
