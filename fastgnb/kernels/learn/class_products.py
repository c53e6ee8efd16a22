"""Rows of a tile into the scatters of their classes, as products of panels.

The rows of a class are packed into panels, centred on their own mean, so that nothing cancels, and
join the class's scatter as one product. What the update of Chan, Golub and LeVeque (1983) adds for
the distance between two means is an outer product too: it goes along as one row more.

Scatters are symmetric: only tiles of 8 x 16 on and above the diagonal are computed, and stand one
after the other in the order in which they are. Half a tile that lies below the diagonal, or past
the last feature, is left out.

While a class is multiplied, the rows of the next tile are fetched from memory.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._numba.decorators import jit_helper, jitable, llvm_inlined
from ..._numba.vectors import aligned, first, load, per_line, shifted, splat, store
from ..panel_product import TALL, WIDE, multiply_ahead, multiply_half
from ..rows import round_up
from .double_double import two_sum
from .merge import merge_means


class State(NamedTuple):
    """Pointers to the sums of one block: weight (k,), mean and lo (k, dp), scatter (k, tiles)."""

    weight: Any
    mean: Any
    lo: Any
    scatter: Any


class Scratch(NamedTuple):
    """Working memory of tiles of d features, padded to `dp`, with `stride` numbers a panel.

    tile (rows, dp): rows copied from columns or from the end of the table. panels (dp / 16,
    rows + 1, 16): the centred rows of one class. base, sums (dp,): their shift, and sums of
    deviations. order (rows,): rows of the tile by class; starts (k + 1,): where each class begins
    there.
    """

    d: int
    dp: int
    stride: int
    tile: Any
    panels: Any
    base: Any
    sums: Any
    order: Any
    starts: Any


class Ahead(NamedTuple):
    """What to fetch from memory: from element `next` to `stop` of the data."""

    next: int
    stop: int


class ClassRows(NamedTuple):
    """The n rows of one class in a tile: their numbers in the tile, and its weights."""

    order: Any
    n: int
    has_weight: bool
    weight: Any


@llvm_inlined
def scratch_size(rows, dp):
    """How many numbers of scratch tiles of so many rows take."""
    return (2 * rows + 1) * dp + 2 * dp + 32


@llvm_inlined
def carve(scratch, rows, d, dp, order, starts):
    """The parts of a piece of memory of `scratch_size` numbers, which are all zero."""
    tile = aligned(scratch)
    panels = shifted(tile, rows * dp)
    base = shifted(panels, (rows + 1) * dp)
    return Scratch(d, dp, (rows + 1) * WIDE, tile, panels, base, shifted(base, dp), order, starts)


@jitable
def scatter_size(dp):
    """How many numbers the tiles of one scatter are."""
    return dp * (dp + WIDE) // 2


@jitable
def state_size(k, dp):
    """How many numbers the sums of a block are."""
    return k * (8 + 2 * dp + scatter_size(dp))


@llvm_inlined
def unpack(state, k, dp):
    """The parts of a block's sums."""
    mean = shifted(state, 8 * k)
    lo = shifted(mean, k * dp)
    return State(state, mean, lo, shifted(lo, k * dp))


@llvm_inlined
def sort_by_class(tile, k, scratch):
    """Order the rows of a tile by class, without those of weight 0."""
    codes, starts = tile.codes, scratch.starts
    for c in range(k + 1):
        starts[c] = 0
    for i in range(tile.m):
        if not tile.has_weight or tile.weight[i] > 0.0:
            starts[codes[i] + 1] += 1
    for c in range(k):
        starts[c + 1] += starts[c]
    for i in range(tile.m):
        if not tile.has_weight or tile.weight[i] > 0.0:
            c = codes[i]
            scratch.order[starts[c]] = i
            starts[c] += 1
    for c in range(k, 0, -1):
        starts[c] = starts[c - 1]
    starts[0] = 0


@llvm_inlined
def _fill(tile, j, rows, base, column):
    """Put features j to j + 8, as far as there are, less their base into a column; their sums."""
    data, at, width = tile.data, tile.at + j, tile.width - j
    middle, total = load(base, j), splat(0.0)
    if width >= 8:
        for r in range(rows.n):
            z = load(data, at + rows.order[r] * tile.step) - middle
            store(column, r * WIDE, z)
            total = total + z
    else:
        for r in range(rows.n):
            z = first(width, load(data, at + rows.order[r] * tile.step)) - middle
            store(column, r * WIDE, z)
            total = total + z
    return total


@llvm_inlined
def _fill_weighted(tile, j, rows, base, column):
    """As `_fill`, with sums by weight.

    A product and the sum that it joins stand in one line without a branch between them: whether
    they round once or twice would else depend on how the rows lie.
    """
    data, at, width, weight = tile.data, tile.at + j, tile.width - j, rows.weight
    middle, total = load(base, j), splat(0.0)
    if width >= 8:
        for r in range(rows.n):
            z = load(data, at + rows.order[r] * tile.step) - middle
            store(column, r * WIDE, z)
            total = total + splat(weight[rows.order[r]]) * z
    else:
        for r in range(rows.n):
            z = first(width, load(data, at + rows.order[r] * tile.step)) - middle
            store(column, r * WIDE, z)
            total = total + splat(weight[rows.order[r]]) * z
    return total


@jit_helper
def _pack(tile, rows, scratch):
    """Put the rows of a class less their base into panels, and sum what is there by weight.

    The base is the heaviest row, which is within the spread of the others or what makes it.
    """
    base = scratch.base
    heaviest = 0
    if rows.has_weight:
        for r in range(rows.n):
            if rows.weight[rows.order[r]] > rows.weight[rows.order[heaviest]]:
                heaviest = r
    p = tile.at + rows.order[heaviest] * tile.step
    for j in range(tile.width):
        base[j] = tile.data[p + j]
    for j in range(tile.width, scratch.dp):
        base[j] = 0.0
    for j in range(0, round_up(tile.width, 8), 8):
        column = shifted(scratch.panels, j // WIDE * scratch.stride + j % WIDE)
        if rows.has_weight:
            total = _fill_weighted(tile, j, rows, base, column)
        else:
            total = _fill(tile, j, rows, base, column)
        store(scratch.sums, j, total)


@jit_helper
def _centre(rows, scratch):
    """Take the mean, which `sums` holds, from rows of panels; weigh them by square roots."""
    for j in range(0, round_up(scratch.d, 8), 8):
        middle = load(scratch.sums, j)
        column = shifted(scratch.panels, j // WIDE * scratch.stride + j % WIDE)
        for r in range(rows.n):
            z = load(column, r * WIDE) - middle
            if rows.has_weight:
                z = z * splat(np.sqrt(rows.weight[rows.order[r]]))
            store(column, r * WIDE, z)


@jit_helper
def _move_mean(na, nb, mean, lo, row, scratch):
    """Move a class's mean by rows of weight nb, and add the row of their distance.

    Returns the number of rows in the panels, of which it may be one more than `row`.
    """
    base, sums = scratch.base, scratch.sums
    distance = np.sqrt(na * (nb / (na + nb)))
    for j in range(scratch.d):
        if na == 0.0:
            mean[j], lo[j] = two_sum(base[j], sums[j])
            continue
        mean[j], lo[j], step = merge_means(na, mean[j], lo[j], nb, base[j], sums[j])
        scratch.panels[j // WIDE * scratch.stride + row * WIDE + j % WIDE] = distance * step
    return row if na == 0.0 else row + 1


@jit_helper
def _add_products(n, scratch, scatter, data, ahead):
    """Add the products of n rows of panels to the tiles of a scatter.

    Fetch data from ahead.next on, as far as ahead.stop; return where that is to go on.
    """
    panels, stride, d, fetched = scratch.panels, scratch.stride, scratch.d, ahead.next
    p, lines = 0, n * per_line(data)
    for j in range(0, d, WIDE):
        right = shifted(panels, j // WIDE * stride)
        # The tile that holds the end of the diagonal needs its right half; past d there is none.
        for i in range(0, min(j + WIDE, round_up(d, TALL)), TALL):
            left, to = shifted(panels, i // WIDE * stride + i % WIDE), shifted(scatter, p)
            if d - j <= TALL:
                multiply_half(left, WIDE, right, n, to, WIDE, data, fetched)
            elif i > j:
                half = shifted(to, TALL)
                multiply_half(left, WIDE, shifted(right, TALL), n, half, WIDE, data, fetched)
            else:
                multiply_ahead(left, WIDE, right, n, to, WIDE, data, fetched)
            fetched = min(fetched + lines, ahead.stop)
            p += TALL * WIDE
    return fetched


@llvm_inlined
def _add_class(tile, c, scratch, state, ahead):
    """Add the rows of class c in a tile to the sums of its block; return what is fetched then."""
    begin, dp = scratch.starts[c], scratch.dp
    n, order = scratch.starts[c + 1] - begin, shifted(scratch.order, begin)
    if n == 0:
        return ahead.next
    rows = ClassRows(order, n, tile.has_weight, tile.weight)
    nb = 1.0 * n
    if tile.has_weight:
        nb = 0.0
        for r in range(n):
            nb += tile.weight[order[r]]
    _pack(tile, rows, scratch)
    for j in range(dp):
        scratch.sums[j] = scratch.sums[j] / nb
    _centre(rows, scratch)
    # A row that is alone is 0 once it is centred.
    alone = 0 if n == 1 else n
    mean, lo = shifted(state.mean, c * dp), shifted(state.lo, c * dp)
    m = _move_mean(state.weight[c], nb, mean, lo, alone, scratch)
    state.weight[c] += nb
    scatter = shifted(state.scatter, c * scatter_size(dp))
    return _add_products(m, scratch, scatter, tile.data, ahead)


@jit_helper
def add_tile(tile, k, scratch, state, rows_ahead):
    """Add the rows of a tile, which are in order, to the sums of its block.

    So many rows that follow it in memory are fetched meanwhile.
    """
    start = tile.at + tile.m * tile.step
    stop, fetched = start + rows_ahead * tile.step, start
    for c in range(k):
        fetched = _add_class(tile, c, scratch, state, Ahead(fetched, stop))
