"""How kernels run: as a loop over independent blocks, which threads share where that pays.

A kernel is written once as a loop over a range of blocks. Small work is one call of it. For larger
work, threads take blocks from a counter until none is left. These are Python's threads, which sleep
while they wait, or those of Numba's parallel loop where its threading layer was chosen by name. All
give the same bits, because blocks are cut by the shape of the data and merged in their order.

A parallel loop takes a second to compile. There is one for all kernels: what it calls is a function
pointer, behind which Python calls the kernel. It need not be compiled before the first answer.

Internals of Numba: `make_array` of a target context; `_is_initialized` of its module `parallel`,
and `_get_num_threads`, which is there then. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import config, prange, types
from numba.extending import intrinsic
from numba.np.ufunc import parallel

from .._system.thread_limits import thread_limit
from .cache import is_cached
from .compiler import compile_cached, compile_helper, compile_parallel

__all__ = [
    "Kernel",
    "compile_parallel_loop",
    "dismissals",
    "is_short",
    "layer_is_safe",
    "n_threads",
    "run_shared",
    "submit",
    "uses_parallel_loop",
]

# Multiply-adds, or what takes as long, from which threads are worth waking.
PARALLEL_WORK = 1_000_000

# Work from which Numba's threads are worth starting, and from which they are worth a second of
# compiling. They are used where NUMBA_THREADING_LAYER names their layer. Else ours do all work: in
# calls of any length they were as fast or faster, by up to a quarter.
_IS_LAYER_CHOSEN = config.THREADING_LAYER != "default"
LARGE_WORK = 1 << 27 if _IS_LAYER_CHOSEN else 1 << 62
COMPILING_WORK = 1 << 30 if _IS_LAYER_CHOSEN else 1 << 62

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

    def __reduce__(self) -> tuple[type[_Process], tuple[()]]:
        return _Process, ()


_process = _Process()

# A number that changes when threads which wait awake, see `awake`, are wanted for other work.
dismissals = np.zeros(1, np.int64)


def _note_fork() -> None:
    # As many processes as cores, each with as many threads, would be too many.
    _process.is_forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


class Kernel:
    """A loop over blocks, compiled at the first call for the types of its arguments.

    Calling it takes the number of blocks, the body's arguments and the keyword `work`, the number
    of elementary operations, which decides whether threads share the blocks. They also need more
    than one thread, a process that was not forked, and that no other Python thread shares blocks
    of ours: it would compete for the same cores.
    """

    def __init__(self, body: Callable[..., None], variants: int = 1) -> None:
        self.name = body.__name__
        self.loop = compile_cached(_loop_of(body), variants, keyed_by=body)

    def __call__(self, n_blocks: int, *args: Any, work: int) -> None:
        # One call into compiled code is short enough that Ctrl-C is soon noticed after it.
        step = max(1, n_blocks * MAX_CALL_WORK // max(work, 1))
        for first in range(0, n_blocks, step):
            last = min(first + step, n_blocks)
            self._run(first, last, args, work * (last - first) // n_blocks)

    def _run(self, first: int, last: int, args: tuple[Any, ...], work: int) -> None:
        if work < PARALLEL_WORK or last - first < 2:
            self._run_alone(first, last, args, work)
        else:
            run_shared(self._run_parallel, self._run_alone, first, last, args, work)

    def _run_alone(self, first: int, last: int, args: tuple[Any, ...], work: int) -> None:
        self.loop(first, last, 0, _NO_COUNTER, *args)

    def _run_parallel(
        self, n: int, first: int, last: int, args: tuple[Any, ...], work: int
    ) -> None:
        n = min(n, last - first)
        blocks_per_fetch = max(1, (last - first) // (_FETCHES_PER_THREAD * n))
        share = first, last, blocks_per_fetch, np.array([first], np.int64), *args
        is_large = work >= COMPILING_WORK or (work >= LARGE_WORK and _parallel_loop_is_ready())
        (_on_numba_threads if is_large and layer_is_safe() else _on_own_threads)(
            n, self.loop, share
        )


_NO_COUNTER = np.zeros(1, np.int64)


def run_shared(shared: Callable[..., Any], alone: Callable[..., Any], *args: Any) -> Any:
    """shared(n, *args), where n threads may take part in a call, or else alone(*args)."""
    n = 1 if config.DISABLE_JIT or _process.is_forked else n_threads()
    if n < 2:
        return alone(*args)
    me = object()
    # Not a lock, which an interrupt could leave taken between acquiring it and `try`.
    try:
        if _process.running.setdefault("kernel", me) is me:
            return shared(n, *args)
        return alone(*args)
    finally:
        if _process.running.get("kernel") is me:
            del _process.running["kernel"]


def _loop_of(body: Callable[..., None]) -> Callable[..., None]:
    """The function that Python calls to run a kernel's body, in the body's name.

    With blocks_per_fetch 0 it runs the body for blocks first to last. Else it runs it for blocks
    that no thread took yet, until all are taken. counter[0] is the first of them, so that fast and
    undisturbed cores do more.
    """
    args = ", ".join(list(inspect.signature(body).parameters)[2:])
    names = {"body": compile_helper(body), "fetch_add": _fetch_add}
    # Numba takes a tuple of arguments apart at each call, and named ones once.
    exec(_LOOP.replace("args", args), names)
    loop: Any = functools.update_wrapper(names["loop"], body)
    del loop.__wrapped__
    return loop  # type: ignore[no-any-return]


_LOOP = """
def loop(first, last, blocks_per_fetch, counter, args):
    stop = last
    while True:
        if blocks_per_fetch > 0:
            first = fetch_add(counter, blocks_per_fetch)
            if first >= last:
                return
            stop = min(first + blocks_per_fetch, last)
        body(first, stop, args)
        if blocks_per_fetch == 0:
            return
"""


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_add(context: Any, counter: Any, n: Any) -> Any:
    """Add n to counter[0] and return what was there, as one step among threads."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", array.data, args[1], "monotonic")

    return types.int64(counter, types.int64), emit


# ------------------------------------------------------------------ threads


def _on_own_threads(n: int, loop: Callable[..., None], share: tuple[Any, ...]) -> None:
    """Run a loop on threads that sleep while they wait, and that no call waits for.

    OpenMP's threads spin: where other processes want the cores, a call of 0.1 ms takes 10. This
    one is done when all blocks are, though another thread may not have got a core yet.
    """
    dismissals[0] += 1
    others = submit(n - 1, loop, share)
    try:
        loop(*share)
    finally:
        _finish([other for other in others if not other.cancel()])


def _finish(begun: list[Future[None]]) -> None:
    """Wait for all calls, also where one fails or a signal comes: they write to the same arrays."""
    try:
        for each in begun:
            each.exception()
    except BaseException:
        wait(begun)
        raise
    for each in begun:
        each.result()


def submit(n: int, call: Callable[..., None], args: tuple[Any, ...]) -> list[Future[None]]:
    """Give n of our threads a call, or fewer where no thread starts, as while Python shuts down."""
    if _process.pool is None:
        _process.pool = ThreadPoolExecutor(max(1, config.NUMBA_NUM_THREADS - 1), "fastgnb")
    given: list[Future[None]] = []
    try:
        for _ in range(n):
            given += [_process.pool.submit(call, *args)]
    except RuntimeError:
        # The call without a thread is in the pool's queue, and nobody would wait for its end.
        _process.pool.shutdown(wait=False, cancel_futures=True)
        _process.pool = None
    return given


def _on_numba_threads(n: int, loop: Callable[..., None], share: tuple[Any, ...]) -> None:
    """Run a loop on threads of Numba's threading layer."""
    errors: list[BaseException] = []

    def call() -> None:
        try:
            loop(*share)
        except BaseException as error:  # ctypes would print it
            errors.append(error)

    entry = ctypes.CFUNCTYPE(None)(call)
    _parallel_loop(n, ctypes.cast(entry, ctypes.c_void_p).value)
    if errors:
        raise errors[0]


@intrinsic  # type: ignore[untyped-decorator]
def _call_address(context: Any, address: Any) -> Any:
    """Call a C function without arguments by its address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), []).as_pointer()
        builder.call(builder.inttoptr(args[0], kind), [])
        return context.get_dummy_value()

    return types.none(types.int64), emit


@compile_parallel
def _parallel_loop(n, address):  # type: ignore[no-untyped-def]
    for _ in prange(n):
        _call_address(address)


def compile_parallel_loop() -> None:
    """Compile, or load, the loop that Numba's threads run, where they are used."""
    if uses_parallel_loop():
        _parallel_loop.compile((types.int64, types.int64))


def uses_parallel_loop() -> bool:
    """Whether the loop is compiled: where a threading layer was chosen, and is safe."""
    return _IS_LAYER_CHOSEN and layer_is_safe() and not config.DISABLE_JIT


@functools.cache
def _is_kept() -> bool:
    return is_cached(_parallel_loop, (types.int64, types.int64))


def _parallel_loop_is_ready() -> bool:
    """Whether the loop that Numba's threads run is compiled, or can be loaded."""
    return bool(_parallel_loop.overloads) or _is_kept()


# ------------------------------------------------------------------ the number of threads


def is_short(work: int) -> bool:
    """Whether one call into compiled code may do so much work: Python then soon sees Ctrl-C."""
    return work <= MAX_CALL_WORK


def n_threads() -> int:
    """Threads that a parallel kernel called now from this Python thread may use."""
    # Nobody has set a number as long as Numba's threads do not run: asking would start them.
    # Short chunks of rows ask each time, and `numba.get_num_threads` takes half a microsecond.
    if parallel._is_initialized:
        n = int(parallel._get_num_threads())
    elif _IS_LAYER_CHOSEN and _layer():
        n = int(numba.get_num_threads())
    else:
        n = int(config.NUMBA_NUM_THREADS)
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
