"""How kernels run: as a loop over independent blocks, which threads share where that pays.

A kernel is written once as a loop over a range of blocks. Small work runs as that loop. For larger
work, threads take blocks from a counter until none is left, and call the compiled kernel by its
address for one block at a time. For calls of milliseconds these are Python's threads, which sleep
while they wait; for long ones they are Numba's. All give the same bits, because blocks are cut by
the shape of the data and merged in their order.

The kernel is called by its address, and not linked by Numba, to keep compiling fast: LLVM would
optimise everything that a parallel function is linked with again, three times over.

Internals of Numba: `call_conv` and `make_array` of a target context, and of a compiled variant
`fndesc.llvm_func_name` and `library.get_pointer_to_function`. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numba import config, njit, prange, typeof, types
from numba.extending import intrinsic

from .._system.thread_limits import thread_limit
from .compiler import OPTIONS, compile_cached

__all__ = ["Kernel", "compiling_loops", "layer_is_safe", "n_threads"]

# Multiply-adds, or what takes as long, from which threads are worth waking, and from which those
# of Numba's threading layer, which spin while they wait, are.
PARALLEL_WORK = 1_000_000
LARGE_WORK = 1 << 27

# The most work of one call into compiled code: at most a few tenths of a second.
MAX_CALL_WORK = 1 << 31

# Times that each thread comes for more blocks, where there are enough.
_FETCHES_PER_THREAD = 8


class _Process:
    """State of this process. A pickle of it, as cloudpickle makes of modules, starts anew.

    running["kernel"]: the call that is inside a parallel loop. pool: our threads, once started.
    """

    def __init__(self) -> None:
        self.running: dict[str, object] = {}
        self.pool: ThreadPoolExecutor | None = None
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


class Kernel:
    """A loop over blocks, compiled at the first call for the types of its arguments.

    Calling it takes the number of blocks, the body's arguments and the keyword `work`, the number
    of elementary operations, which decides whether threads share the blocks. They also need more
    than one thread, a process that was not forked, and that no other Python thread is inside a
    parallel loop of ours: it would compete for the same cores.
    """

    def __init__(self, body: Callable[..., None]) -> None:
        self.name = body.__name__
        self.body = compile_cached(body)
        self._addresses: dict[tuple[Any, ...], int] = {}

    def __getstate__(self) -> dict[str, Any]:
        """The kernel without its addresses, which mean nothing in another process."""
        return {**self.__dict__, "_addresses": {}}

    def __call__(self, n_blocks: int, *args: Any, work: int) -> None:
        # One call into compiled code is short enough that Ctrl-C is soon noticed after it.
        step = max(1, n_blocks * MAX_CALL_WORK // max(work, 1))
        for first in range(0, n_blocks, step):
            last = min(first + step, n_blocks)
            self._run(first, last, args, work * (last - first) // n_blocks)

    def _run(self, first: int, last: int, args: tuple[Any, ...], work: int) -> None:
        if _process.is_warming:
            self._compile_loops(args)
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
        blocks_per_fetch = max(1, (last - first) // (_FETCHES_PER_THREAD * n))
        runner = _numba_loop if work >= LARGE_WORK and layer_is_safe() else _pool_loop
        leaves = tuple(_leaves(args))
        runner(n, self._address(args, leaves), state, last, blocks_per_fetch, leaves)
        if state[1]:
            raise MemoryError(f"The kernel {self.name} found no memory for its scratch.")

    def _compile_loops(self, args: tuple[Any, ...]) -> None:
        leaves = tuple(_leaves(args))
        nothing_left = (self._address(args, leaves), np.zeros(2, np.int64), 0, 1, leaves)
        _drain(*nothing_left)
        if layer_is_safe():
            _numba_loop(1, *nothing_left)

    def _address(self, args: tuple[Any, ...], leaves: tuple[Any, ...]) -> int:
        """The address of the body's machine code for these arguments; compiles or loads it first.

        Arrays at one position among a kernel's arguments differ in nothing but their dtype.
        `leaves` are the arrays and scalars of the arguments, see `_leaves`.
        """
        key = tuple([getattr(value, "dtype", None) for value in leaves])
        if key not in self._addresses:
            types_of = tuple(typeof(value) for value in (0, 0, *args))
            self.body.compile(types_of)
            self._addresses[key] = address_of(self.body.overloads[types_of])
        return self._addresses[key]


def _leaves(args: tuple[Any, ...]) -> Iterator[Any]:
    """The arrays and scalars of arguments, of which some are structs (named tuples).

    Compiled code passes a struct as its members, so that a kernel called by its address takes
    them one by one; Numba's parallel loops do not take structs within the tuple of arguments.
    """
    for value in args:
        if isinstance(value, tuple):
            yield from _leaves(value)
        else:
            yield value


@contextlib.contextmanager
def compiling_loops() -> Iterator[None]:
    """Within it, each call of a kernel also compiles the loops that threads would run."""
    _process.is_warming = not config.DISABLE_JIT
    try:
        yield
    finally:
        _process.is_warming = False


# ------------------------------------------------------------------ loops that threads run


def address_of(compiled: Any) -> int:
    """The address of the machine code of one compiled variant, as Numba's own callers use it."""
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@intrinsic  # type: ignore[untyped-decorator]
def _call_address(context: Any, address: Any, block: Any, args: Any) -> Any:
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
def _fetch_add(context: Any, state: Any, n: Any) -> Any:
    """Add n to state[0] and return what was there, as one step among threads."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        return builder.atomic_rmw("add", array.data, values[1], "monotonic")

    return types.int64(state, types.int64), emit


@njit(**OPTIONS)
def _drain_blocks(address, state, last, blocks_per_fetch, args):  # type: ignore[no-untyped-def]
    """Call the kernel at an address for blocks that no thread took yet, until all are taken.

    state[0] is the first of them, and state[1] becomes 1 where a call fails. Threads take blocks
    as they come, so that fast and undisturbed cores do more.
    """
    while True:
        first = _fetch_add(state, blocks_per_fetch)
        if first >= last:
            return
        for block in range(first, min(first + blocks_per_fetch, last)):
            if _call_address(address, block, args):
                state[1] = 1


@compile_cached
def _drain(address, state, last, blocks_per_fetch, args):  # type: ignore[no-untyped-def]
    _drain_blocks(address, state, last, blocks_per_fetch, args)


@functools.partial(compile_cached, parallel=True)
def _numba_loop(n, address, state, last, blocks_per_fetch, args):  # type: ignore[no-untyped-def]
    for _ in prange(n):
        _drain_blocks(address, state, last, blocks_per_fetch, args)


def _pool_loop(n: int, *share: Any) -> None:
    """As `_numba_loop`, with threads that sleep while they wait, and that no call waits for.

    OpenMP's threads spin: where other processes want the cores, a call of 0.1 ms takes 10. This
    one is done when all blocks are, though another thread may not have got a core yet.
    """
    if _process.pool is None:
        _process.pool = ThreadPoolExecutor(max(1, config.NUMBA_NUM_THREADS - 1), "fastgnb")
    try:
        others = [_process.pool.submit(_drain, *share) for _ in range(n - 1)]
    except RuntimeError:  # the interpreter is shutting down
        others = []
    _drain(*share)
    for other in others:
        if not other.cancel():
            other.result()


# ------------------------------------------------------------------ the number of threads


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


def layer_is_safe() -> bool:
    """Whether two Python threads may enter Numba's parallel loops at once.

    `workqueue` aborts the process then, and only one of the loops need be ours.
    """
    return _layer() in ("omp", "tbb")
