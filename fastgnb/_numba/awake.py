"""Blocks of one compiled call that threads share which are awake already.

To wake a thread takes 20 us, in which a short chunk of rows is done. So a thread that has taken
part waits a little for the next call, in compiled code and without Python's lock. A call puts its
job on the board, takes blocks itself, and is done when no block is left and no thread is inside.

A thread is woken for the calls to come when they follow each other closely. In a slow stream none
waits, and each call does its work alone.

Internals of Numba: those of `direct`, and `make_array` of a target context. Internals of llvmlite:
`load_atomic`, `store_atomic` and `atomic_rmw` of a builder. Tried on Numba 0.61.0
and 0.68.1.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from . import threads
from .compiler import compile_cached, compile_helper
from .direct import BEGINNING, call_kernel

__all__ = ["call_shared", "compile_waiting", "share_kernel"]

# Fields of the board, in bytes; those that different threads write are in different cache lines.
_STATE, _JOB, _DATA, _SEATS, _YIELD, _TURN, _SIZE = 0, 128, 136, 144, 152, 160, 256
# The state: whether a job may be joined, and how many threads are inside.
_OPEN = 1 << 32

# Seconds that a thread waits for the next call, and between calls that follow each other closely.
_PATIENCE = 50e-6
# Multiply-adds from which a call is worth sharing with a thread that is awake, and with one that
# first has to be woken.
_AWAKE_WORK, _ASLEEP_WORK = 150_000, 5 * threads.PARALLEL_WORK
# Pauses after which a call that waits for others leaves its core to them.
_PAUSES = 2000
# Times that each thread comes for blocks.
_FETCHES = 2

# LLVM's names of what tells a processor that a thread waits, and the argument, if any.
_X86, _ARM = ("llvm.x86.sse2.pause", ()), ("llvm.aarch64.hint", (1,))
_PAUSE: dict[str, tuple[str, tuple[int, ...]]] = {
    "x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM,
}  # fmt: skip

_I64 = ir.IntType(64)
_ENTRY = ir.FunctionType(ir.VoidType(), [_I64])


# ------------------------------------------------------------------ steps in machine code


@intrinsic  # type: ignore[untyped-decorator]
def _read(context: Any, address: Any) -> Any:
    """The number at an address, and whatever was written before it."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(args[0], _I64.as_pointer()), "acquire", 8)

    return types.int64(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def _write(context: Any, address: Any, value: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], _I64.as_pointer())
        builder.store_atomic(args[1], place, "release", 8)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def _add(context: Any, address: Any, value: Any) -> Any:
    """Add to the number at an address as one step among threads, and return the sum."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], _I64.as_pointer())
        before = builder.atomic_rmw("add", place, args[1], "seq_cst")
        return builder.add(before, args[1])

    return types.int64(types.int64, types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def _pause(context: Any) -> Any:
    """Tell the processor that a thread waits."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name, flags = _PAUSE.get(platform.machine().lower(), ("", ()))
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * len(flags))
        if name:
            pause = cgutils.get_or_insert_function(builder.module, kind, name)
            builder.call(pause, [ir.IntType(32)(flag) for flag in flags])
        return context.get_dummy_value()

    return types.none(), emit


@intrinsic  # type: ignore[untyped-decorator]
def _call(context: Any, address: Any, argument: Any) -> Any:
    """Call a C function of one integer by its address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.call(builder.inttoptr(args[0], _ENTRY.as_pointer()), [args[1]])
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def _job_of(context: Any, address: Any, last: Any, fetched: Any, args: Any) -> Any:
    """A job as two addresses: a function, and its argument, which lies in the caller's frame.

    The function runs a kernel for blocks that no thread took yet, `fetched` at a time, until all
    are taken. Of its argument the first number says whether it failed.
    """
    types_of = [*BEGINNING, *args]

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, last, fetched, packed = values
        unpacked = [builder.extract_value(packed, i) for i in range(len(args))]
        kinds = [_I64, _I64, _I64, _I64, _I64, *[value.type for value in unpacked]]
        data = cgutils.alloca_once(builder, ir.LiteralStructType(kinds))
        for i, value in enumerate([_I64(0), _I64(0), address, last, fetched, *unpacked]):
            builder.store(value, cgutils.gep_inbounds(builder, data, 0, i))
        job = _function_of(context, builder.module, data.type, types_of)
        pair = builder.ptrtoint(job, _I64), builder.ptrtoint(data, _I64)
        return context.make_tuple(builder, signature.return_type, pair)

    return types.UniTuple(types.int64, 2)(types.int64, types.int64, types.int64, args), emit


def _function_of(context: Any, module: Any, kind: Any, types_of: Any) -> Any:
    """A C function that calls a kernel, by what `_job_of` put together."""
    job = ir.Function(module, _ENTRY, module.get_unique_name("fastgnb_job"))
    job.linkage = "internal"
    builder = ir.IRBuilder(job.append_basic_block())
    data = builder.inttoptr(job.args[0], kind)
    parts = [cgutils.gep_inbounds(builder, data, 0, i) for i in range(len(kind.pointee.elements))]
    failed, counter, address, last, fetched, *unpacked = parts
    nothing = context.get_constant_null(types_of[3])
    array = context.make_array(types_of[3])(context, builder, value=nothing)
    array.data = counter
    first = _I64(0), builder.load(last), builder.load(fetched), array._getvalue()
    convention = context.call_conv
    entry = convention.get_function_type(types.none, types_of).as_pointer()
    status, _ = convention.call_function(
        builder, builder.inttoptr(builder.load(address), entry), types.none, types_of,
        [*first, *map(builder.load, unpacked)],
    )  # fmt: skip
    with builder.if_then(status.is_error):
        builder.store(_I64(1), failed)
    builder.ret_void()
    return job


# ------------------------------------------------------------------ the call, and those who wait


def _share(board, address, n_blocks, args):  # type: ignore[no-untyped-def]
    """Run a kernel for all blocks, by its address, with threads that wait at the board.

    Returns whether it failed. board: 0 where none is to take part.
    """
    if board == 0:
        return call_kernel(address, 0, n_blocks, args)
    fetched = max(1, n_blocks // (_FETCHES * (1 + _read(board + _SEATS))))
    job, data = _job_of(address, n_blocks, fetched, args)
    _write(board + _JOB, job)
    _write(board + _DATA, data)
    _add(board + _TURN, 1)
    _add(board + _STATE, _OPEN)
    _call(job, data)
    _add(board + _STATE, -_OPEN)
    pauses = 0
    while _read(board + _STATE) != 0:
        _pause()
        pauses += 1
        if pauses > _PAUSES and _read(board + _YIELD) != 0:
            _call(_read(board + _YIELD), 0)
    return _read(data) != 0


def _share_plain(board: int, address: Any, n_blocks: int, args: Any) -> bool:
    return call_kernel(address, 0, n_blocks, args)


share_kernel = _share_plain if config.DISABLE_JIT else compile_helper(_share)


@compile_cached
def _wait(board, dismissals, before, patience):  # type: ignore[no-untyped-def]
    """Take part in calls until there was none for so many pauses, or threads are wanted elsewhere.

    dismissals: the address of a number that is another one than `before` then.
    """
    turn = pauses = 0
    while pauses < patience and _read(dismissals) == before:
        if _read(board + _STATE) >= _OPEN and _read(board + _TURN) != turn:
            inside = _add(board + _STATE, 1)
            turn = _read(board + _TURN)
            if inside >= _OPEN and inside - _OPEN <= _read(board + _SEATS):
                _call(_read(board + _JOB), _read(board + _DATA))
                pauses = 0
            _add(board + _STATE, -1)
        _pause()
        pauses += 1


def _pauses_within(seconds: float) -> int:
    """How many pauses a thread makes in this time.

    By the fastest of several short runs: whatever disturbs one makes its pauses seem long, and with
    too few of them a thread would leave before the next call.
    """
    nowhere, n, fastest = np.zeros(_SIZE // 8, np.int64), 500, math.inf
    for _ in range(8):
        start = time.perf_counter()
        _wait(nowhere.ctypes.data, nowhere.ctypes.data, 0, n)
        fastest = min(fastest, time.perf_counter() - start)
    return int(n * seconds / fastest) + 1


def _yield_address() -> int:
    """The address of what lets another thread have the core, or 0."""
    try:
        library: Any = ctypes.CDLL(None) if os.name == "posix" else ctypes.windll.kernel32  # type: ignore[attr-defined]
        function = library.sched_yield if os.name == "posix" else library.SwitchToThread
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _Board:
    """Where calls of this process put their jobs; a pickle of it starts anew.

    patience: how many pauses a thread waits.
    """

    def __init__(self) -> None:
        self._memory = np.zeros(_SIZE // 8 + 8, np.int64)
        self._at = -(self._memory.ctypes.data // -64) * 64
        self._seats = self._memory[(self._at - self._memory.ctypes.data + _SEATS) // 8 :]
        self._seats[(_YIELD - _SEATS) // 8] = _yield_address()
        self._dismissals = threads.dismissals.ctypes.data
        self._waiting: list[object] = []
        self._patience = 0
        self._last = 0.0

    def __reduce__(self) -> tuple[type[_Board], tuple[()]]:
        return _Board, ()

    def run(self, n: int, call: Callable[..., Any], n_blocks: int, work: int, args: Any) -> Any:
        """call(board, *args), of so much work in so many blocks, with at most n threads."""
        if not self._waiting:
            # The end of a call is noted only where it tells whether to wake threads for the next.
            if time.perf_counter() - self._last > _PATIENCE and work < _ASLEEP_WORK:
                result = call(0, *args)
                self._last = time.perf_counter()
                return result
            self._wake(n - 1)
        self._seats[0] = min(n, n_blocks) - 1
        return call(self._at, *args)

    def _wake(self, n: int) -> None:
        """Let n threads wait for calls."""
        self._patience = self._patience or _pauses_within(_PATIENCE)
        until = self._dismissals, int(threads.dismissals[0]), self._patience
        for future in threads.submit(n, _wait, (self._at, *until)):
            self._waiting.append(future)
            future.add_done_callback(self._waiting.remove)


_board = _Board()


def call_shared(call: Callable[..., Any], n_blocks: int, work: int, *args: Any) -> Any:
    """call(board, *args), a compiled function that passes the board on to `share_kernel`."""
    if n_blocks < 2 or work < _AWAKE_WORK:
        return call(0, *args)
    return threads.run_shared(_board.run, _call_alone, call, n_blocks, work, args)


def _call_alone(call: Callable[..., Any], n_blocks: int, work: int, args: Any) -> Any:
    return call(0, *args)


def compile_waiting() -> None:
    """Compile, or load, what waiting threads run."""
    if not config.DISABLE_JIT:
        _wait.compile((types.int64,) * 4)
