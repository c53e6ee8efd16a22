"""How compiled functions are declared.

A function that Python calls is a `kernel`, whose blocks threads share, or a `serial_kernel`. What
these call is compiled as a part of them: see `jit_helper`, `llvm_inlined` and `ir_inlined`.

Each kernel is compiled once per types of its arguments. Whatever comes in, kernels see C order,
native and read-only, float32 or float64 rows, float64 weights and statistics, int64 labels or
their words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from .compiler import OPTIONS, compile_cached
from .threads import Kernel

__all__ = [
    "WARMUP_CALLS",
    "ir_inlined",
    "jit_helper",
    "jitable",
    "kernel",
    "llvm_inlined",
    "readonly",
    "serial_kernel",
    "warmup_call",
]

WARMUP_CALLS: list[Callable[[], None]] = []


def kernel(body: Callable[..., None]) -> Kernel:
    """Make a `Kernel` of `body(first, last, *args)`, which works on blocks first to last."""
    return Kernel(body)


def serial_kernel(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is serial by nature, and that Python calls."""
    compiled: Callable[..., Any] = compile_cached(body)
    return compiled


def jit_helper(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it lives in their cache entries."""
    compiled: Callable[..., Any] = njit(**OPTIONS)(body)
    return compiled


def llvm_inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `jit_helper`, inlined by LLVM: for short steps that must stay in registers."""
    compiled: Callable[..., Any] = njit(**OPTIONS, forceinline=True)(body)
    return compiled


def ir_inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `jit_helper`, inlined by Numba before it compiles: for a step that has one caller.

    LLVM optimises a separate function again at every level that it is linked into.
    """
    compiled: Callable[..., Any] = njit(**OPTIONS, inline="always")(body)
    return compiled


def jitable(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `llvm_inlined` where kernels call it; from Python it stays the function that it is.

    So one function takes numbers in kernels, and numbers or arrays in Python.
    """
    plain: Callable[..., Any] = register_jitable(**OPTIONS, forceinline=True)(body)
    return plain


def warmup_call(call: Callable[[], None]) -> Callable[[], None]:
    """Register a function that calls kernels for every type that they are compiled for."""
    WARMUP_CALLS.append(call)
    return call


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: writable and read-only input are then one type, compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view
