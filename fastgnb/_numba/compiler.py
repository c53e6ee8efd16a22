"""Where Numba compiles: the options of every kernel, and a list of everything with a cache.

Internals of Numba: the options `forceinline` and `inline="always"` of `njit`, and the attributes
`overloads` and `stats` of what it returns. Tried on Numba 0.61.0 and 0.68.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, njit

from .cache import attach_cache

__all__ = ["DISPATCHERS", "OPTIONS", "compile_cached"]

# FMA contraction only: it keeps NaN and infinity, and unlike reassociation it does not delete the
# low-order terms of two-sum. Loops that matter are written with vectors, see `vectors`.
OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

DISPATCHERS: list[Any] = []
"""All functions that Python calls, each with the variants compiled so far."""


def compile_cached(body: Callable[..., Any], *, parallel: bool = False) -> Any:
    """Compile a function when it is called first for some types, and keep its code on disk."""
    compiled = njit(**OPTIONS, parallel=parallel)(body)
    if not config.DISABLE_JIT:
        attach_cache(compiled, body)
    DISPATCHERS.append(compiled)
    return compiled
