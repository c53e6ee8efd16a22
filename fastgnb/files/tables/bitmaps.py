"""Bitmaps of Arrow, whose bits say in which rows a column has a value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._system.optional import pa

__all__ = ["byte_range", "null_rows"]


def byte_range(start: int, n: int) -> tuple[int, int]:
    """The bytes that hold bits `start` to `start + n`: the first, and the one after the last."""
    return start // 8, (start + n + 7) // 8


def null_rows(buffer: pa.Buffer | NDArray[np.uint8], start: int, n: int) -> NDArray[np.intp]:
    """Which of n rows are null, in order; the bit of the first one is at `start`."""
    first, stop = byte_range(start, n)
    absent = ~np.frombuffer(buffer, np.uint8, stop - first, first)
    bits = np.unpackbits(absent, bitorder="little").view(np.bool_)
    return np.flatnonzero(bits[start - 8 * first :][:n])
