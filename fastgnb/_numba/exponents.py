"""Exponents of eight float64 in a vector register.

Internals of Numba: as in `vector_types` and `vectors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from .vector_types import emitted_by, repeated
from .vectors import FLOATS, LANES, LANES_TYPE

__all__ = ["exponent"]

_INTS = ir.VectorType(ir.IntType(64), LANES)
# The bits of sqrt(1 / 2), where the range of mantissas begins.
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


def _exponent(context: Any, v: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], _INTS)
        bits = builder.sub(bits, repeated(_INTS, _SQRT_HALF_BITS))
        power = builder.ashr(bits, repeated(_INTS, 52))
        return builder.sitofp(power, FLOATS)

    return LANES_TYPE(v), emit


@emitted_by(_exponent)
def exponent(v: Any) -> Any:
    """The whole numbers n for which v / 2**n is from sqrt(1/2) to sqrt(2), for normal v above 0."""
    return ((v.view(np.int64) - _SQRT_HALF_BITS) >> 52).astype(np.float64)
