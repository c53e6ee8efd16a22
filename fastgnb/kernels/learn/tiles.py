"""Tiles: the rows that kernels take into their sums at a time, read in place or from a copy.

Rows that are column-major are copied into a scratch tile, row by row, eight by eight in registers.

Flags: FMA contraction only; there is no arithmetic here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._numba.decorators import llvm_inlined, never_inlined
from ..._numba.transposes import transpose, transpose_some
from ..._numba.vectors import per_line, prefetch, prefetch_near

# Rows between those copied and those fetched from memory.
_AHEAD = 128
# Cache lines of a column between those copied and those fetched.
_LINES = 8


class Source(NamedTuple):
    """Rows (n, d) of k classes, of which the last `tail` ones are read from a padded copy."""

    data: Any
    by_columns: bool
    n: int
    d: int
    tail: int
    k: int
    skip: bool


class Tile(NamedTuple):
    """m rows of `width` features, `step` elements apart, from data[at] on.

    codes (m,): their classes. weight (m,): their weights, with `has_weight`.
    """

    data: Any
    at: int
    step: int
    width: int
    m: int
    codes: Any
    has_weight: bool
    weight: Any


@llvm_inlined
def fill_tile(rows, at, m, stride, tile):
    """Copy rows at to at + m into a tile (m, stride), which keeps what it has past feature d."""
    if rows.by_columns:
        _fill_from_columns(rows, at, m, stride, tile)
        return
    for r in range(m):
        for j in range(rows.d):
            tile[r * stride + j] = rows.data[(at + r) * rows.d + j]


@never_inlined
def fill_panel(rows, at, m, j, width, stride, tile):
    """Copy features j to j + width of column-major rows at to at + m into a tile (m, stride).

    The tile is padded by copies of its last feature. Some rows ahead are fetched from memory
    meanwhile: at the end of these rows, the first ones of the next eight columns, or the next rows
    of the first columns.
    """
    data, n, line = rows.data, rows.n, per_line(rows.data)
    turned, ahead = m - m % 8, _LINES * line
    for q in range(0, width, 8):
        p, count = (j + q) * n + at, min(8, width - q)
        left = rows.d - (j + q + 8)
        following = p + 8 * n if left > 0 else at + m
        following_count = min(8, left if left > 0 else rows.d)
        for r in range(0, turned, 8):
            if r % line == 0:
                inside = r + ahead < m
                fetched = p + r + ahead if inside else following + r + ahead - m
                for f in range(count if inside else following_count):
                    prefetch_near(data, fetched + f * n)
            transpose_some(data, p + r, n, count, tile, r * stride + q, stride)
        for f in range(count):
            for r in range(turned, m):
                tile[r * stride + q + f] = data[p + f * n + r]


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
