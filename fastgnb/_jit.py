"""The only file that knows Numba: compile options, serial and parallel twins, threads, the cache.

A kernel is written once as a loop over independent blocks with `prange` and compiled twice: in
parallel, and serially for small work and for the moments when threads must not be started. Both
give the same bits, because blocks are cut by the shape of the data and merged in block order.
"""

from __future__ import annotations

import functools
import os
import threading
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import config, njit, prange
from numpy.typing import NDArray

__all__ = [
    "Kernel",
    "compile_examples",
    "frozen",
    "helper",
    "inlined",
    "kernel",
    "n_compiled",
    "n_threads",
    "prange",
    "serial_kernel",
    "summing",
]

# FMA contraction only: it keeps NaN and infinity, and unlike reassociation it does not delete the
# low-order terms of two-sum. Loops are written so that they vectorise without more.
_FASTMATH = {"contract"}

# Elementary operations below which starting threads costs more than it saves.
PARALLEL_WORK = 200_000

_KERNELS: list[Kernel] = []
_parallel_slot = threading.Lock()
_is_forked = False
_is_warned = False
_is_warming = False


def _note_fork() -> None:
    # OpenMP's threads do not survive a fork: a child that enters a parallel kernel is killed.
    global _is_forked, _parallel_slot
    _is_forked = True
    _parallel_slot = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def helper(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it lives in their cache entries."""
    compiled: Callable[..., Any] = njit(nogil=True, error_model="numpy", fastmath=_FASTMATH)(body)
    return compiled


def inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `helper`, and part of its caller: for short steps that must stay in registers."""
    options = {"nogil": True, "error_model": "numpy", "fastmath": _FASTMATH, "forceinline": True}
    compiled: Callable[..., Any] = njit(**options)(body)
    return compiled


def summing(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `helper`, for plain sums in any order, as long as it is always the same: lanes of them.

    Never for compensated sums, whose low-order terms reassociation deletes.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": _FASTMATH | {"reassoc"}}
    compiled: Callable[..., Any] = njit(**options)(body)
    return compiled


def kernel(body: Callable[..., Any]) -> Kernel:
    """Make a `Kernel` of a function whose outer loop is `prange` over independent blocks."""
    return Kernel(body, has_twin=True)


def serial_kernel(body: Callable[..., Any]) -> Kernel:
    """Make a `Kernel` of a function that is serial by nature."""
    return Kernel(body, has_twin=False)


class Kernel:
    """One loop compiled twice, serial and parallel, lazily per argument types.

    Calling it takes the body's arguments and the keyword `work`, the number of elementary
    operations, which decides between the twins. The parallel twin also needs more than one
    thread, a process that was not forked from one with threads, and that no other Python thread
    is inside one of our parallel kernels: Numba's `workqueue` layer aborts the process when two
    enter at once, and with the other layers they would compete for the same cores.
    """

    def __init__(self, body: Callable[..., Any], *, has_twin: bool) -> None:
        self.name = body.__name__
        self.serial = _compile(_renamed(body, "serial"), parallel=False)
        self.parallel = self.serial
        if has_twin:
            self.parallel = _compile(_renamed(body, "parallel"), parallel=True)
        self.examples: list[Callable[[], None]] = []
        _KERNELS.append(self)

    def __call__(self, *args: Any, work: int) -> Any:
        if _is_warming:
            self.serial(*args)
            return self.parallel(*args)
        if work < PARALLEL_WORK or self.parallel is self.serial or _is_forked or n_threads() < 2:
            return self.serial(*args)
        slot = _parallel_slot
        if not slot.acquire(blocking=False):
            return self.serial(*args)
        try:
            return self.parallel(*args)
        finally:
            slot.release()

    def example(self, call: Callable[[], None]) -> Callable[[], None]:
        """Register a call that compiles every variant of this kernel, for warming up."""
        self.examples.append(call)
        return call


def n_threads() -> int:
    """Threads that a parallel kernel called now from this Python thread may use."""
    return int(numba.get_num_threads())


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: writable and read-only input are then one type, compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view


def compile_examples() -> int:
    """Compile both twins of every kernel imported so far for all its examples; count variants."""
    global _is_warming
    _is_warming = True
    try:
        for each in _KERNELS:
            for call in each.examples:
                call()
    finally:
        _is_warming = False
    return n_compiled()


def n_compiled() -> int:
    """Variants compiled in, or loaded into, this process so far."""
    twins = {id(twin): twin for each in _KERNELS for twin in (each.serial, each.parallel)}
    return sum(len(getattr(twin, "overloads", ())) for twin in twins.values())


def _renamed(body: Callable[..., Any], suffix: str) -> Callable[..., Any]:
    # Numba's cache key ignores compile options, so each twin needs a qualified name of its own.
    assert isinstance(body, types.FunctionType)
    name = f"{body.__name__}_{suffix}"
    twin = types.FunctionType(body.__code__, body.__globals__, name, body.__defaults__)
    twin.__qualname__ = name
    twin.__module__ = body.__module__
    return twin


def _compile(body: Callable[..., Any], *, parallel: bool) -> Callable[..., Any]:
    options = {"nogil": True, "error_model": "numpy", "fastmath": _FASTMATH}
    compiled: Callable[..., Any] = njit(parallel=parallel, **options)(body)
    if not config.DISABLE_JIT:
        _attach_cache(compiled, body)
    return compiled


def _attach_cache(dispatcher: Any, body: Callable[..., Any]) -> None:
    """Cache on disk where that works; a cache that fails never reaches the user.

    Numba raises at decoration when no folder is writable, and at the first call when a cache file
    is truncated or the disk is full. Compiling again is always a right answer.
    """
    from numba.core.caching import FunctionCache

    class GuardedCache(FunctionCache):  # type: ignore[misc]
        def _index_key(self, sig: Any, codegen: Any) -> Any:
            # Numba looks at the kernel's own file only, and its helpers stand in others too.
            return super()._index_key(sig, codegen), _sources()

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception as error:
                _warn_once(error)
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception as error:
                _warn_once(error)

    try:
        dispatcher._cache = GuardedCache(body)
    except (RuntimeError, OSError) as error:
        _warn_once(error)


@functools.cache
def _sources() -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of change of every file that a kernel may be compiled from."""
    here = Path(__file__).parent
    files = [Path(__file__), here / "_lanes.py", *sorted((here / "kernels").glob("*.py"))]
    stats = [(file.name, file.stat()) for file in files]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def _warn_once(error: Exception) -> None:
    global _is_warned
    if not _is_warned:
        _is_warned = True
        warnings.warn(
            "fastgnb compiles its kernels in each process, because Numba's cache cannot be used: "
            f"{error} Set NUMBA_CACHE_DIR to a writable folder to keep them.",
            RuntimeWarning,
            stacklevel=2,
        )
