"""Tiles: the rows that kernels take into their sums at a time, read in place or from a copy.

Rows that are column-major are copied into a scratch tile, row by row, eight by eight in registers.

Flags: FMA contraction only; there is no arithmetic here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._numba.decorators import llvm_inlined
from ..._numba.transposes import transpose
from ..._numba.vectors import prefetch

# Rows between those copied and those fetched from memory.
_AHEAD = 128


class Tile(NamedTuple):
    """m rows of `width` features, `step` elements apart, from data[at] on.

    codes (m,): their classes. weight (m,): their weights, with `has_weight`. ahead: elements
    between a row that is read and the one that is fetched from memory meanwhile, or 0.
    """

    data: Any
    at: int
    step: int
    width: int
    m: int
    codes: Any
    has_weight: bool
    weight: Any
    ahead: int


@llvm_inlined
def fill_tile(rows, at, m, stride, tile):
    """Copy rows at to at + m into a tile (m, stride), which keeps what it has past feature d."""
    if rows.by_columns:
        _fill_from_columns(rows, at, m, stride, tile)
        return
    for r in range(m):
        for j in range(rows.d):
            tile[r * stride + j] = rows.data[(at + r) * rows.d + j]


@llvm_inlined
def _fill_from_columns(rows, at, m, stride, tile):
    n, d = rows.n, rows.d
    turned = m - m % 8 if d >= 8 else 0
    for j in range(0, d, 8):
        for r in range(0, m, 8):
            for q in range(j, min(j + 8, d)):
                prefetch(rows.data, q * n + at + r + _AHEAD)
            if r < turned:
                # The last eight overlap those before, where d is not divisible by eight.
                f = min(j, d - 8)
                transpose(rows.data, f * n + at + r, n, tile, r * stride + f, stride)
    for j in range(d if turned < m else 0):
        for r in range(turned, m):
            tile[r * stride + j] = rows.data[j * n + at + r]
