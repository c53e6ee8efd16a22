"""Reads of files by the C function `pread`, from compiled code, which holds no interpreter lock.

Python takes the lock back after each read, and threads that read many columns wait for each other
there longer than for the columns.

Internals of Numba: none but intrinsics and LLVM's `inttoptr`. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

__all__ = ["call_pread", "pread_function"]


@functools.cache
def pread_function() -> Any:
    """What `call_pread` takes: the address of `pread`, or None where the system has none."""
    try:
        function = ctypes.CDLL(None).pread
    except (AttributeError, OSError, TypeError):
        return None
    if ctypes.sizeof(ctypes.c_size_t) < 8:  # whose offsets may have 32 bits
        return None
    function.restype = ctypes.c_ssize_t
    function.argtypes = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
    return function if config.DISABLE_JIT else ctypes.cast(function, ctypes.c_void_p).value


@intrinsic  # type: ignore[untyped-decorator]
def _call_address(context: Any, pread: Any, file: Any, to: Any, n_bytes: Any, start: Any) -> Any:
    """Read into memory at an address; how many bytes came, 0 at the end, negative for an error."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pread, file, to, n_bytes, start = values
        word = ir.IntType(64)
        memory = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(word, [ir.IntType(32), memory, word, word]).as_pointer()
        number = builder.trunc(file, ir.IntType(32))
        arguments = [number, builder.inttoptr(to, memory), n_bytes, start]
        return builder.call(builder.inttoptr(pread, kind), arguments)

    word = types.int64
    return word(word, word, word, word, word), emit


def _call_plain(pread: Callable[..., int], file: int, to: int, n_bytes: int, start: int) -> int:
    return pread(int(file), int(to), int(n_bytes), int(start))


call_pread = _call_plain if config.DISABLE_JIT else _call_address
