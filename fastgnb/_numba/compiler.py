"""Where Numba compiles: the options of every kernel, and a list of everything with a cache.

Internals of Numba: the option `forceinline` of `njit`, and the attributes `overloads`, `stats` and
`get_call_template` of what it returns. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, njit, types

from .cache import attach_cache
from .linking import HelperPipeline, KernelPipeline

__all__ = ["DISPATCHERS", "HELPER_OPTIONS", "OPTIONS", "compile_cached", "compile_parallel"]

# FMA contraction only: it keeps NaN and infinity, and unlike reassociation it does not delete the
# low-order terms of two-sum. Loops that matter are written with vectors, see `vectors`.
OPTIONS = {
    "nogil": True, "error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True,
}  # fmt: skip

HELPER_OPTIONS = {
    **OPTIONS, "no_cpython_wrapper": True, "pipeline_class": HelperPipeline,
}  # fmt: skip


def compile_helper(body: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that only kernels call, once for all values of the integers given.

    Numba would compile it anew for each integer that a caller writes as a constant, which LLVM sees
    without that. It still does so for True and False: branches that are not taken are left out.
    """
    compiled = njit(**{**HELPER_OPTIONS, **options})(body)
    if not config.DISABLE_JIT:
        template = compiled.get_call_template

        def get_call_template(args: Any, kws: Any) -> Any:
            return template([_general(each) for each in args], kws)

        compiled.get_call_template = get_call_template
    return compiled


def _general(kind: Any) -> Any:
    """The type of an argument, whatever constant it is, unless True or False."""
    return kind if isinstance(kind, types.BooleanLiteral) else types.unliteral(kind)


DISPATCHERS: dict[Any, int] = {}
"""All functions that Python calls, and how many variants each is declared to have."""


def compile_cached(
    body: Callable[..., Any], variants: int = 1, keyed_by: Callable[..., Any] | None = None
) -> Any:
    """Compile a function when it is called first for some types, and keep its code on disk.

    variants: for how many types of arguments. keyed_by: the function whose name and bytecode tell
    its code from that of others, if another.
    """
    return _cached(njit(**OPTIONS, pipeline_class=KernelPipeline)(body), keyed_by or body, variants)


def compile_parallel(body: Callable[..., Any]) -> Any:
    """As `compile_cached`, with loops over `prange` for Numba's threads."""
    return _cached(njit(**OPTIONS, parallel=True)(body), body, 1)


def _cached(compiled: Any, body: Callable[..., Any], variants: int) -> Any:
    if not config.DISABLE_JIT:
        attach_cache(compiled, body)
    DISPATCHERS[compiled] = variants
    return compiled
