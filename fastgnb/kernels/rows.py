"""Rows inside kernels: flat tables, row-major or column-major, read eight rows at a time.

A table is flat, contiguous memory of n rows and d features. Element (i, j) is at i d + j where it
is row-major, and at j n + i where it is column-major. Eight rows of eight features are transposed
in registers, which reads up to seven elements past the end of the last row. Callers make sure that
so many can be read.

Flags: FMA contraction only; there is no arithmetic here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._numba.decorators import jit_helper, jitable, llvm_inlined
from .._numba.transposes import columns
from .._numba.vectors import load, per_line, pointer, prefetch

# Elements past the last row that reading eight at a time may touch.
OVERREAD = 7
# From so many features on, eight rows are prefetched a part of each at a time, not as a whole.
_LONG = 32


class Rows(NamedTuple):
    """A table: pointer to its first element, whether it is column-major, its shape (n, d)."""

    data: Any
    by_columns: bool
    n: int
    d: int


@jitable
def round_up(n, step):
    """The least multiple of `step` that is not below n."""
    return (n + step - 1) // step * step


@llvm_inlined
def element(rows, i, j):
    """Feature j of row i."""
    return rows.data[j * rows.n + i] if rows.by_columns else rows.data[i * rows.d + j]


@llvm_inlined
def eight_rows(rows, at, j):
    """Features j to j + 8 of rows at to at + 8, one row in each lane; past d they mean nothing."""
    X, n, d = rows.data, rows.n, rows.d
    if rows.by_columns:
        p = j * n + at
        last = (d - 1) * n + at
        return (
            load(X, p),
            load(X, min(p + n, last)),
            load(X, min(p + 2 * n, last)),
            load(X, min(p + 3 * n, last)),
            load(X, min(p + 4 * n, last)),
            load(X, min(p + 5 * n, last)),
            load(X, min(p + 6 * n, last)),
            load(X, min(p + 7 * n, last)),
        )
    return columns(X, at * d + j, d)


@llvm_inlined
def fetch_eight(rows, at, j):
    """Prefetch what `eight_rows` reads, which may be past the end."""
    X, n, d = rows.data, rows.n, rows.d
    if rows.by_columns:
        for q in range(j, min(j + 8, d)):
            prefetch(X, q * n + at)
    elif d >= _LONG:
        for r in range(8):
            prefetch(X, (at + r) * d + j)
    elif j == 0:
        for p in range(at * d, (at + 8) * d, per_line(X)):
            prefetch(X, p)


@jit_helper
def padded_tail(table, left, size):
    """The last `left` rows, by rows, in an array with room for `size` rows and OVERREAD more zeros.

    `table` has the fields of `Rows`, with an array of `data`.
    """
    rows = Rows(pointer(table.data), table.by_columns, table.n, table.d)
    copy = np.zeros(size * table.d + OVERREAD, table.data.dtype)
    for i in range(left):
        for j in range(table.d):
            copy[i * table.d + j] = element(rows, table.n - left + i, j)
    return copy
