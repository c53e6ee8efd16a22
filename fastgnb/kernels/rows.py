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

from .._numba.decorators import jitable, llvm_inlined, never_inlined
from .._numba.transposes import columns, four_columns
from .._numba.vectors import load, per_line, pointer, prefetch

# Elements past the last row that reading eight at a time may touch.
OVERREAD = 7


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
def four_rows(rows, at, j):
    """As `eight_rows`, of features j to j + 4."""
    X, n, d = rows.data, rows.n, rows.d
    if rows.by_columns:
        p = j * n + at
        last = (d - 1) * n + at
        return (
            load(X, p),
            load(X, min(p + n, last)),
            load(X, min(p + 2 * n, last)),
            load(X, min(p + 3 * n, last)),
        )
    return four_columns(X, at * d + j, d)


@llvm_inlined
def fetch_share(rows, at, h, first, j, m, step):
    """Prefetch a share of m features from `first` on of the 32 rows from `at` on, or none there.

    The share goes with eight rows h and features j to j + step, which are read meanwhile, so that
    memory is busy all the time.
    """
    X, n, d, line = rows.data, rows.n, rows.d, per_line(rows.data)
    if rows.by_columns:
        for q in range(first + j, first + min(j + step, m)):
            prefetch(X, q * n + at + h)
    elif m == d:
        p = at * d + (h // 8 * (round_up(m, step) // step) + j // step) * 8 * step
        for q in range(0, 8 * step, line):
            prefetch(X, p + q)
    elif j % line == 0:
        for r in range(h, h + 8):
            prefetch(X, (at + r) * d + first + j)


@never_inlined
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
