"""Rows inside kernels: flat tables that lie by rows or by columns, read eight rows at a time.

A table is flat, contiguous memory of n rows and d features. By rows, element (i, j) is at
i d + j; by columns, at j n + i. Eight rows of eight features are turned in registers, which reads
up to seven elements past the end of the last row: callers keep as many behind it.

Flags: FMA contraction only; there is no arithmetic here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._numba.decorators import llvm_inlined
from .._numba.vectors import columns, load, per_line, prefetch

# Elements behind the last row that reading eight at a time may touch.
OVERREAD = 7
# Features from which rows are fetched piece by piece, and not eight rows at once.
_LONG = 32


class Rows(NamedTuple):
    """A table: pointer to its first element, whether it lies by columns, its shape (n, d)."""

    data: Any
    by_columns: bool
    n: int
    d: int


@llvm_inlined
def element(rows, i, j):
    """Feature j of row i."""
    return rows.data[j * rows.n + i] if rows.by_columns else rows.data[i * rows.d + j]


@llvm_inlined
def eight_rows(rows, at, j):
    """Features j to j + 8 of rows at to at + 8, a row a lane; past d they mean nothing."""
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
    """Ask for what `eight_rows` reads, which may lie past the end."""
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
