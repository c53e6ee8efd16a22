"""Rows as kernels take them: contiguous native float32 or float64, row-major or column-major.

Anything else (integers, booleans, float16, other strides, other byte orders) is copied through a
buffer of bounded size, so that there is never a copy of the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._numba.decorators import readonly
from .rows import OVERREAD

BUFFER_BYTES = 1 << 20
_NATIVE = (np.dtype(np.float64), np.dtype(np.float32))


class Chunk(NamedTuple):
    """Blocks `first` to `last` of a table, which are its rows `start` to `stop`.

    `data` is flat: (rows, d) where `by_columns` is False, and (d, rows) where it is True. After
    the end of every chunk but the last of a table, OVERREAD more numbers may be read.
    """

    data: NDArray[Any]
    by_columns: bool
    first: int
    last: int
    start: int
    stop: int


def block_bounds(n: int, rows_per_block: int) -> NDArray[np.int64]:
    """Block bounds (blocks + 1,) of n rows; they depend on nothing but the two numbers."""
    n_blocks = max(1, -(-n // rows_per_block))
    return np.arange(n_blocks + 1, dtype=np.int64) * n // n_blocks


def as_flat(X: NDArray[Any]) -> tuple[NDArray[Any], bool] | None:
    """Native contiguous X (n, d) as flat memory, and whether it is column-major; else None."""
    if not (X.dtype in _NATIVE and X.dtype.isnative and X.flags.aligned):
        return None
    if X.flags.c_contiguous:
        return readonly(X.reshape(-1)), False
    if X.flags.f_contiguous:
        return readonly(X.T.reshape(-1)), True
    return None


def contiguous_chunks(X: NDArray[Any], bounds: NDArray[np.int64]) -> Iterator[Chunk]:
    """Split X (n, d) at block bounds into chunks for kernels: one where X needs no copy."""
    n, last = len(X), len(bounds) - 1
    contiguous = as_flat(X)
    if contiguous is not None:
        yield Chunk(*contiguous, 0, last, 0, n)
        return
    wide = np.float32 if X.dtype.kind == "f" and X.dtype.itemsize <= 4 else np.float64
    rows_per_block = max(1, int(bounds[1]))
    step = max(2, BUFFER_BYTES // (8 * max(1, X.shape[1]) * rows_per_block))
    for first in range(0, last, step):
        end = min(first + step, last)
        start, stop = int(bounds[first]), int(bounds[end])
        data = np.empty((stop - start) * X.shape[1] + OVERREAD, wide)
        data[-OVERREAD:] = 0.0
        data[:-OVERREAD].reshape(stop - start, -1)[:] = X[start:stop]
        yield Chunk(readonly(data), False, first, end, start, stop)
