"""How compiled functions are declared.

A function that Python calls is a `kernel`, whose blocks threads share, or a `serial_kernel`. What
these call is compiled as a part of them: see `jit_helper`, `never_inlined` and `llvm_inlined`.

Each kernel is compiled once per types of its arguments. Whatever comes in, kernels see C order,
native and read-only, float32 or float64 rows, float64 weights and statistics, int64 labels or
their words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, overload

from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from .compiler import OPTIONS, compile_cached, compile_helper
from .linking import CalledPipeline, KernelPipeline
from .threads import Kernel

__all__ = [
    "WARMUP_CALLS",
    "jit_helper",
    "jitable",
    "kernel",
    "llvm_inlined",
    "never_inlined",
    "readonly",
    "serial_kernel",
    "uncached_kernel",
    "warmup_call",
]


class WarmupCall(NamedTuple):
    """A function that compiles kernels, and its arguments."""

    function: Callable[..., None]
    args: tuple[Any, ...]

    @property
    def name(self) -> str:
        """A name that is the same in every process."""
        args = ",".join(map(str, self.args))
        return f"{self.function.__module__}:{self.function.__qualname__}({args})"

    def __call__(self) -> None:
        """Compile, or load, the kernels."""
        self.function(*self.args)


WARMUP_CALLS: list[WarmupCall] = []


@overload
def kernel(body: Callable[..., None]) -> Kernel: ...
@overload
def kernel(*, variants: int) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(body: Callable[..., None] | None = None, *, variants: int = 1) -> Any:
    """Make a `Kernel` of `body(first, last, *args)`, which works on blocks first to last.

    variants: how many its warm-up call compiles: 2 where it reads float64 and float32 rows.
    """
    if body is None:
        return functools.partial(kernel, variants=variants)
    return Kernel(body, variants)


def serial_kernel(body: Callable[..., Any] | None = None, *, variants: int = 1) -> Any:
    """Compile a function that is serial by nature, and that Python calls; see `kernel`."""
    if body is None:
        return functools.partial(serial_kernel, variants=variants)
    return compile_cached(body, variants)


def uncached_kernel(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `serial_kernel`, compiled in each process: for code outside the package, as of tests."""
    compiled: Callable[..., Any] = njit(**OPTIONS, pipeline_class=KernelPipeline)(body)
    return compiled


def jit_helper(body: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it lives in their cache entries.

    It has no entry for Python: calling it from there raises TypeError.
    """
    compiled: Callable[..., Any] = compile_helper(body)
    return compiled


def never_inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `jit_helper`, never put in line: a long loop that has the registers to itself."""
    compiled: Callable[..., Any] = compile_helper(
        body, pipeline_class=CalledPipeline, forceinline=False
    )
    return compiled


def llvm_inlined(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `jit_helper`, inlined by LLVM: for short steps that must stay in registers."""
    compiled: Callable[..., Any] = compile_helper(body, forceinline=True)
    return compiled


def jitable(body: Callable[..., Any]) -> Callable[..., Any]:
    """As `llvm_inlined` where kernels call it; from Python it stays the function that it is.

    So one function takes numbers in kernels, and numbers or arrays in Python.
    """
    plain: Callable[..., Any] = register_jitable(**OPTIONS, forceinline=True)(body)
    return plain


@overload
def warmup_call(function: Callable[..., None]) -> Callable[..., None]: ...
@overload
def warmup_call(
    *, cases: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]: ...
def warmup_call(function: Callable[..., None] | None = None, *, cases: Iterable[Any] = ()) -> Any:
    """Register a function that calls kernels for every type that they are compiled for.

    Together these calls compile as many variants of each kernel as its declaration says. With
    `cases` there is a call for each of them, as the argument, which another process may make. Types
    of rows are no cases: compiled one after the other they share what does not depend on them.
    """
    if function is None:
        return functools.partial(warmup_call, cases=cases)
    arguments: list[tuple[Any, ...]] = [(case,) for case in cases] or [()]
    WARMUP_CALLS.extend(WarmupCall(function, each) for each in arguments)
    return function


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: writable and read-only input are then one type, compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view
