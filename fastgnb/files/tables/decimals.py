"""Decimals as the nearest float64, which Arrow's cast misses in the last bit of every seventh."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._system.optional import pa, pc

__all__ = ["nearest_floats"]

_EXACT_DIGITS = 15
"""Digits that float64 holds of any integer, so that one division gives the nearest number."""

_EXACT_POWER = 22
"""The largest power of ten that float64 holds."""


def nearest_floats(column: pa.Array) -> NDArray[np.float64]:
    """A column of decimals (n,) as float64, correctly rounded; nulls become NaN.

    Cost: a division each for up to 15 digits; else they are written as text and read again.
    """
    kind = column.type
    is_short = kind.precision <= _EXACT_DIGITS and 0 <= kind.scale <= _EXACT_POWER
    if not (pa.types.is_decimal128(kind) and is_short):
        floats = pc.cast(pc.cast(column, pa.string()), pa.float64())
        result: NDArray[np.float64] = floats.to_numpy(zero_copy_only=False)
        return result
    words = np.frombuffer(column.buffers()[1], "<i8").reshape(-1, 2)  # the low word comes first
    values = words[column.offset : column.offset + len(column), 0] / 10.0**kind.scale
    if column.null_count:
        values[column.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return np.asarray(values, np.float64)
