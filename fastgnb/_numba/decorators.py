"""How kernels are compiled and run: options and threads. `_code_cache` keeps what is compiled.

A kernel is written once as a loop over a range of independent blocks, and compiled once per
argument types. Small work runs as that loop; for larger work threads take blocks from a counter
until none is left, and call the compiled kernel by its address for one block at a time. They are
Python's, which sleep while they wait, for calls of milliseconds, and Numba's for long ones. All
give the same bits, because blocks are cut by the shape of the data and merged in block order.

The address, and not a call that Numba links, is what makes compiling fast: LLVM would optimise
all that a parallel function is linked with again, three times over.

Whatever comes in, kernels see C order, native and read-only, float32 or float64 rows, float64
weights and statistics, int64 labels or their words. So there are 43 variants in all, which
`compile_all` compiles: of 14 kernels one each, of those that read rows (`_sum_blocks`,
`_sum_scatters`, `_score`, `_score_mixed`, `_score_rotated`) a second one for float32, and one loop
of each kind (`_drive`, which is not there with the `workqueue` layer, and `_work_off`) for each of
the twelve variants that threads share.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numba import config, njit, prange, typeof, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from .._system.thread_limits import thread_limit
from .cache import attach_cache

__all__ = [
    "Kernel",
    "compile_all",
    "ir_inlined",
    "jit_helper",
    "kernel",
    "llvm_inlined",
    "n_compiled",
    "n_loaded",
    "n_threads",
    "n_variants",
    "readonly",
    "serial_kernel",
    "warmup_call",
]

# FMA contraction only: it keeps NaN and infinity, and unlike reassociation it does not delete the
# low-order terms of two-sum. Loops that matter are written in vectors, see `vectors`.
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

# Multiply-adds, or what takes as long, below which waking threads costs more than it saves, and
# from which those of Numba's threading layer are worth that they spin.
PARALLEL_WORK = 1_000_000
LARGE_WORK = 1 << 27

# The same of one call into compiled code: at most a few tenths of a second.
_UNINTERRUPTED = 1 << 31

# Times that each thread comes for more blocks, where there are enough.
_SHARES = 8

# Variants of all kernels and loops, and those among them whose work threads share.
_VARIANTS, _SHARED_VARIANTS = 43, 12

_KERNELS: list[Kernel] = []
_SERIAL: list[Any] = []
_EXAMPLES: list[Callable[[], None]] = []


class _Process:
    """State of this process. A pickle of it, as cloudpickle makes of modules, starts anew.

    running["kernel"]: the call that is inside a parallel loop. threads: our own, once started.
    """

    def __init__(self) -> None:
        self.running: dict[str, object] = {}
        self.threads: ThreadPoolExecutor | None = None
        self.is_forked = False
        self.is_warming = False

    def __reduce__(self) -> tuple[type[_Process], tuple[()]]:
        return _Process, ()


_process = _Process()


def _note_fork() -> None:
    # OpenMP's threads do not survive a fork: a child that enters a parallel kernel is killed.
    _process.is_forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def jit_helper(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it lives in their cache entries."""
    compiled: Callable[..., Any] = njit(**_OPTIONS)(body)
    return compiled


def llvm_inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `jit_helper`, and part of its caller: for short steps that must stay in registers."""
    compiled: Callable[..., Any] = njit(**_OPTIONS, forceinline=True)(body)
    return compiled


def ir_inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `jit_helper`, and copied into its caller as Numba's IR: for a step that has one caller.

    LLVM optimises a function that is linked in again at every level that it is linked into.
    """
    compiled: Callable[..., Any] = njit(**_OPTIONS, inline="always")(body)
    return compiled


def kernel(body: Callable[..., None]) -> Kernel:
    """Make a `Kernel` of `body(first, last, *args)`, which works on blocks first to last."""
    return Kernel(body)


def serial_kernel(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is serial by nature, and that Python calls."""
    compiled: Callable[..., Any] = _compile(body, parallel=False)
    _SERIAL.append(compiled)
    return compiled


class Kernel:
    """A loop over blocks, compiled lazily per argument types, that threads may share.

    Calling it takes the number of blocks, the body's arguments and the keyword `work`, the number
    of elementary operations, which decides whether threads are started. They also need more than
    one thread, a process that was not forked, and that no other Python thread is inside one of our
    parallel loops: it would compete for the same cores.
    """

    def __init__(self, body: Callable[..., None]) -> None:
        self.name = body.__name__
        self.body = _compile(body, parallel=False)
        self._addresses: dict[tuple[Any, ...], int] = {}
        _KERNELS.append(self)

    def __getstate__(self) -> dict[str, Any]:
        """The kernel without its addresses, which mean nothing in another process."""
        return {**self.__dict__, "_addresses": {}}

    def __call__(self, n_blocks: int, *args: Any, work: int) -> None:
        # One call into compiled code is short enough that Ctrl-C is soon noticed after it.
        step = max(1, n_blocks * _UNINTERRUPTED // max(work, 1))
        for first in range(0, n_blocks, step):
            last = min(first + step, n_blocks)
            self._run(first, last, args, work * (last - first) // n_blocks)

    def _run(self, first: int, last: int, args: tuple[Any, ...], work: int) -> None:
        if _process.is_warming:
            self._compile_teams(args)
        small = work < PARALLEL_WORK or last - first < 2
        if config.DISABLE_JIT or _process.is_forked or small or n_threads() < 2:
            self.body(first, last, *args)
            return
        me = object()
        # Not a lock, which an interrupt could leave taken between acquiring it and `try`.
        try:
            if _process.running.setdefault("kernel", me) is me:
                self._run_parallel(first, last, args, work)
            else:
                self.body(first, last, *args)
        finally:
            if _process.running.get("kernel") is me:
                del _process.running["kernel"]

    def _run_parallel(self, first: int, last: int, args: tuple[Any, ...], work: int) -> None:
        n = min(n_threads(), last - first)
        state = np.array([first, 0], np.int64)
        grain = max(1, (last - first) // (_SHARES * n))
        team = _drive if work >= LARGE_WORK and _layer_is_safe() else _drive_own_threads
        team(n, self._address(args), state, last, grain, args)
        if state[1]:
            raise MemoryError(f"The kernel {self.name} found no memory for its scratch.")

    def _compile_teams(self, args: tuple[Any, ...]) -> None:
        nothing_left = (self._address(args), np.zeros(2, np.int64), 0, 1, args)
        _work_off(*nothing_left)
        if _layer_is_safe():
            _drive(1, *nothing_left)

    def _address(self, args: tuple[Any, ...]) -> int:
        """Where the body's machine code for these arguments lies; compiles or loads it at first.

        Arrays at one place in a kernel's arguments differ in nothing but their dtype.
        """
        key = tuple([getattr(value, "dtype", None) for value in args])
        if key not in self._addresses:
            types_of = tuple(typeof(value) for value in (0, 0, *args))
            self.body.compile(types_of)
            compiled = self.body.overloads[types_of]
            entry = compiled.fndesc.llvm_func_name
            self._addresses[key] = compiled.library.get_pointer_to_function(entry)
        return self._addresses[key]


def _drive_own_threads(n: int, *share: Any) -> None:
    """As `_drive`, with threads that sleep while they wait, and that nobody waits for in vain.

    OpenMP's threads spin: where other processes want the cores, a call of 0.1 ms takes 10. This
    one is done when all blocks are, though another thread may not have got a core yet.
    """
    if _process.threads is None:
        _process.threads = ThreadPoolExecutor(max(1, config.NUMBA_NUM_THREADS - 1), "fastgnb")
    try:
        others = [_process.threads.submit(_work_off, *share) for _ in range(n - 1)]
    except RuntimeError:  # the interpreter is shutting down
        others = []
    _work_off(*share)
    for other in others:
        if not other.cancel():
            other.result()


@intrinsic  # type: ignore[untyped-decorator]
def _call(context: Any, address: Any, block: Any, args: Any) -> Any:
    """Call a kernel's body, compiled for these types, for one block; whether it failed."""
    types_of = [types.int64, types.int64, *args]

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, block, packed = values
        convention = context.call_conv
        kind = convention.get_function_type(types.none, types_of).as_pointer()
        following = builder.add(block, block.type(1))
        unpacked = [builder.extract_value(packed, i) for i in range(len(args))]
        entry = builder.inttoptr(address, kind)
        status, _ = convention.call_function(
            builder, entry, types.none, types_of, [block, following, *unpacked]
        )
        return status.is_error

    return types.boolean(types.int64, types.int64, args), emit


@intrinsic  # type: ignore[untyped-decorator]
def _take(context: Any, state: Any, grain: Any) -> Any:
    """Add grain to state[0] and return what was there, as one step among threads."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        return builder.atomic_rmw("add", array.data, values[1], "monotonic")

    return types.int64(state, types.int64), emit


@jit_helper
def _work_off_blocks(address, state, last, grain, args):  # type: ignore[no-untyped-def]
    """Call the kernel at an address for blocks that nobody took yet, until all are taken.

    state[0] is the first of them, and state[1] becomes 1 where a call fails. That threads take
    blocks as they come lets fast and undisturbed cores do more.
    """
    while True:
        first = _take(state, grain)
        if first >= last:
            return
        for block in range(first, min(first + grain, last)):
            if _call(address, block, args):
                state[1] = 1


def _work_off_serial(address, state, last, grain, args):  # type: ignore[no-untyped-def]
    _work_off_blocks(address, state, last, grain, args)


def _drive_blocks(n, address, state, last, grain, args):  # type: ignore[no-untyped-def]
    for _ in prange(n):
        _work_off_blocks(address, state, last, grain, args)


def n_threads() -> int:
    """Threads that a parallel kernel called now from this Python thread may use."""
    n = int(numba.get_num_threads() if _layer() else config.NUMBA_NUM_THREADS)
    return min(n, thread_limit() or n)


@functools.cache
def _layer() -> str:
    """Numba's threading layer; empty where none, or not the one asked for, can be loaded."""
    try:
        numba.get_num_threads()
        return str(numba.threading_layer())
    except (ValueError, ImportError):
        return ""


def _layer_is_safe() -> bool:
    """Whether two Python threads may enter Numba's parallel loops at once.

    `workqueue` aborts the process then, and only one of the loops need be ours.
    """
    return _layer() in ("omp", "tbb")


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: writable and read-only input are then one type, compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view


def warmup_call(call: Callable[[], None]) -> Callable[[], None]:
    """Register a call that compiles variants of kernels, for warming up."""
    _EXAMPLES.append(call)
    return call


def compile_all() -> int:
    """Run all examples of the kernels imported so far; count variants."""
    _process.is_warming = not config.DISABLE_JIT
    try:
        for call in _EXAMPLES:
            call()
    finally:
        _process.is_warming = False
    return n_compiled()


def n_compiled() -> int:
    """Variants compiled in, or loaded into, this process so far."""
    return sum(len(getattr(one, "overloads", ())) for one in _dispatchers())


def n_loaded() -> int:
    """How many of these were loaded from the cache."""
    found = [getattr(one, "stats", None) for one in _dispatchers()]
    return sum(sum(stats.cache_hits.values()) for stats in found if stats is not None)


def n_variants() -> int:
    """Variants that `compile_all` compiles, or loads, when all kernels are imported."""
    if config.DISABLE_JIT:
        return 0
    return _VARIANTS if _layer_is_safe() else _VARIANTS - _SHARED_VARIANTS


def _dispatchers() -> list[Any]:
    return [each.body for each in _KERNELS] + _SERIAL + [_drive, _work_off]


def _compile(body: Callable[..., Any], *, parallel: bool) -> Any:
    compiled = njit(**_OPTIONS, parallel=parallel)(body)
    if not config.DISABLE_JIT:
        attach_cache(compiled, body)
    return compiled


_drive = _compile(_drive_blocks, parallel=True)
_work_off = _compile(_work_off_serial, parallel=False)
