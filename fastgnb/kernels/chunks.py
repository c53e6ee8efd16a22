"""Rows as kernels want them: contiguous native float32 or float64, by rows or by columns.

Whatever else comes (integers, booleans, float16, other strides, other byte orders) goes through a
buffer of bounded size, so that no copy of the whole table is ever made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._numba.decorators import frozen
from .rows import BEHIND

BUFFER_BYTES = 1 << 20
_NATIVE = (np.dtype(np.float64), np.dtype(np.float32))


class Piece(NamedTuple):
    """Blocks `first` to `last` of a table, which are its rows `start` to `stop`.

    `data` is flat: (rows, d) where `by_columns` is False, and (d, rows) where it is True. Behind
    every piece but the last of a table, BEHIND more numbers may be read.
    """

    data: NDArray[Any]
    by_columns: bool
    first: int
    last: int
    start: int
    stop: int


def cut(n: int, rows_per_block: int) -> NDArray[np.int64]:
    """Block bounds (blocks + 1,) of n rows; they depend on nothing but the two numbers."""
    n_blocks = max(1, -(-n // rows_per_block))
    return np.arange(n_blocks + 1, dtype=np.int64) * n // n_blocks


def flat(X: NDArray[Any]) -> tuple[NDArray[Any], bool] | None:
    """Native contiguous X (n, d) as flat memory, and whether it lies by columns; else None."""
    if not (X.dtype in _NATIVE and X.dtype.isnative and X.flags.aligned):
        return None
    if X.flags.c_contiguous:
        return frozen(X.reshape(-1)), False
    if X.flags.f_contiguous:
        return frozen(X.T.reshape(-1)), True
    return None


def pieces(X: NDArray[Any], bounds: NDArray[np.int64]) -> Iterator[Piece]:
    """Split X (n, d) at block bounds into pieces that kernels accept: one, where X already is."""
    n, last = len(X), len(bounds) - 1
    lies = flat(X)
    if lies is not None:
        yield Piece(*lies, 0, last, 0, n)
        return
    wide = np.float32 if X.dtype.kind == "f" and X.dtype.itemsize <= 4 else np.float64
    rows_per_block = max(1, int(bounds[1]))
    step = max(2, BUFFER_BYTES // (8 * max(1, X.shape[1]) * rows_per_block))
    for first in range(0, last, step):
        end = min(first + step, last)
        start, stop = int(bounds[first]), int(bounds[end])
        data = np.empty((stop - start) * X.shape[1] + BEHIND, wide)
        data[-BEHIND:] = 0.0
        data[:-BEHIND].reshape(stop - start, -1)[:] = X[start:stop]
        yield Piece(frozen(data), False, first, end, start, stop)


def tail(
    data: NDArray[Any], by_columns: bool, n: int, d: int, left: int, room: int
) -> NDArray[Any]:
    """The last `left` rows of flat (n, d), by rows, in room for `room` numbers; zero behind."""
    copy = np.zeros(room, data.dtype)
    data = data[: n * d]
    rows = data.reshape(d, n)[:, n - left :].T if by_columns else data.reshape(n, d)[n - left :]
    copy[: left * d].reshape(left, d)[:] = rows
    return copy
