"""Rows to per-class weight, mean and full scatter in one read.

Rows are cut into blocks by the shape of the data, and blocks into tiles. The rows of a class in a
tile are centred on their own mean, so that nothing cancels, and join the class's scatter as one
product of panels. What Chan, Golub and LeVeque (1983) add for the distance between two means is an
outer product too: it goes along as one row more. The mean is an unevaluated sum of two numbers.

Scatters are symmetric: only tiles of 8 x 16 on and above the diagonal are computed, and stand one
after the other in the order in which they are.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import (
    ir_inlined,
    jit_helper,
    kernel,
    llvm_inlined,
    readonly,
    serial_kernel,
    warmup_call,
)
from ..._numba.transposes import transpose
from ..._numba.vectors import aligned, first, keep, load, pointer, shifted, splat, store
from ..chunks import as_flat, block_bounds, contiguous_chunks
from ..panel_product import TALL, WIDE, multiply
from ..rows import OVERREAD, Rows, element
from .encode import EncodedLabels
from .merge import difference, two_sum

# Rows of one tile, for each class, and their least and largest number. A class's scatter is read
# and written once a tile, so that many classes and wide rows want long tiles.
_TILE_A_CLASS = 256
_SHORTEST, _LONGEST = 256, 8192
_TILE_BYTES = 1 << 24
# Most blocks, and bytes that all of their scatters take unless two of them take more.
_BLOCKS = 64
_STATE_BYTES = 1 << 26
# Twice the multiply-adds of one call: a tenth of a second on one core.
_WORK = 1 << 32


class FullSums(NamedTuple):
    """What one pass leaves: weight (k, 1), mean and mean_low (k, d), scatter (k, d, d)."""

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_low: NDArray[np.float64]
    scatter: NDArray[np.float64]


class State(NamedTuple):
    """Pointers to the sums of one block: weight (k,), mean and low (k, dp), scatter (k, tiles)."""

    weight: Any
    mean: Any
    low: Any
    scatter: Any


class Room(NamedTuple):
    """Working memory. tile (rows, dp): rows copied from columns or from the end of the table.

    panels (dp / 16, rows + 1, 16): the centred rows of one class. base, sums (dp,): their shift,
    and sums of deviations. order (rows,): rows of the tile by class; starts (k + 1,): where each
    class begins there.
    """

    tile: Any
    panels: Any
    base: Any
    sums: Any
    order: Any
    starts: Any


@llvm_inlined
def _padded(d):
    return (d + WIDE - 1) // WIDE * WIDE


@llvm_inlined
def _rows_per_tile(k, d):
    fitting = min(_LONGEST, _TILE_BYTES // (8 * _padded(d)))
    return max(_SHORTEST, min(_TILE_A_CLASS * k, fitting))


@llvm_inlined
def _size_of_scratch(size, dp):
    return (2 * size + 1) * dp + 2 * dp + 32


@ir_inlined
def _divide_up(scratch, size, dp, order, starts):
    tile = aligned(scratch)
    panels = shifted(tile, size * dp)
    base = shifted(panels, (size + 1) * dp)
    return Room(tile, panels, base, shifted(base, dp), order, starts)


@llvm_inlined
def _size_of_scatter(dp):
    return dp * (dp + WIDE) // 2


@llvm_inlined
def _size_of_state(k, dp):
    return k * (8 + 2 * dp + _size_of_scatter(dp))


@ir_inlined
def _unpack(state, k, dp):
    mean = shifted(state, 8 * k)
    low = shifted(mean, k * dp)
    return State(state, mean, low, shifted(low, k * dp))


@jit_helper
def _fill_tile(rows, at, m, dp, tile):
    """Copy rows at to at + m into the tile (m, dp)."""
    whole = m - m % 8 if rows.by_columns else 0
    wide = rows.d - rows.d % 8
    for r in range(0, whole, 8):
        for j in range(0, wide, 8):
            transpose(rows.data, j * rows.n + at + r, rows.n, tile, r * dp + j, dp)
        for q in range(r, r + 8):
            for j in range(wide, rows.d):
                tile[q * dp + j] = element(rows, at + q, j)
    for r in range(whole, m):
        for j in range(rows.d):
            tile[r * dp + j] = element(rows, at + r, j)


@llvm_inlined
def _sort(codes, at, m, k, has_weight, weight, room):
    """Order the rows of a tile by class, without those of weight 0."""
    for c in range(k + 1):
        room.starts[c] = 0
    for i in range(m):
        if not has_weight or weight[at + i] > 0.0:
            room.starts[codes[at + i] + 1] += 1
    for c in range(k):
        room.starts[c + 1] += room.starts[c]
    for i in range(m):
        if not has_weight or weight[at + i] > 0.0:
            c = codes[at + i]
            room.order[room.starts[c]] = i
            room.starts[c] += 1
    for c in range(k, 0, -1):
        room.starts[c] = room.starts[c - 1]
    room.starts[0] = 0


@jit_helper
def _pack(X, at, step, width, order, n, has_weight, weight, dp, stride, panels, base, sums):
    """Put rows order[:n] of X less their base into panels, and sum what is there by weight.

    The base is the heaviest row, which is within the spread of the others or what makes it.
    """
    heaviest = 0
    if has_weight:
        for r in range(n):
            if weight[order[r]] > weight[order[heaviest]]:
                heaviest = r
    p = at + order[heaviest] * step
    for j in range(width):
        base[j] = X[p + j]
    for j in range(width, dp):
        base[j] = 0.0
    for j in range(0, dp, 8):
        column = shifted(panels, j // WIDE * stride + j % WIDE)
        if has_weight:
            total = _fill_weighted(X, at + j, step, width - j, order, n, weight, base, j, column)
        else:
            total = _fill(X, at + j, step, width - j, order, n, base, j, column)
        store(sums, j, total)


@llvm_inlined
def _fill(X, at, step, width, order, n, base, j, column):
    """Put eight features, `width` of which there are, less their base into a column; their sums."""
    middle, total = load(base, j), splat(0.0)
    if width >= 8:
        for r in range(n):
            z = load(X, at + order[r] * step) - middle
            store(column, r * WIDE, z)
            total = total + z
    elif width > 0:
        for r in range(n):
            z = first(width, load(X, at + order[r] * step)) - middle
            store(column, r * WIDE, z)
            total = total + z
    else:
        for r in range(n):
            store(column, r * WIDE, middle)
    return total


@llvm_inlined
def _fill_weighted(X, at, step, width, order, n, weight, base, j, column):
    """As `_fill`, with sums by weight.

    A product and the sum that it joins stand in one line without a branch between them: whether
    they round once or twice would else depend on how the rows lie.
    """
    middle, total = load(base, j), splat(0.0)
    if width >= 8:
        for r in range(n):
            z = load(X, at + order[r] * step) - middle
            store(column, r * WIDE, z)
            total = total + splat(weight[order[r]]) * z
    elif width > 0:
        for r in range(n):
            z = first(width, load(X, at + order[r] * step)) - middle
            store(column, r * WIDE, z)
            total = total + splat(weight[order[r]]) * z
    else:
        for r in range(n):
            store(column, r * WIDE, middle)
    return total


@jit_helper
def _centre(order, n, has_weight, weight, dp, stride, panels, sums):
    """Take the mean, which `sums` holds, from n rows of panels; weigh them by square roots."""
    for j in range(0, dp, 8):
        middle = load(sums, j)
        column = shifted(panels, j // WIDE * stride + j % WIDE)
        for r in range(n):
            z = load(column, r * WIDE) - middle
            if has_weight:
                z = z * splat(np.sqrt(weight[order[r]]))
            store(column, r * WIDE, z)


@jit_helper
def _move_mean(na, nb, base, sums, mean, low, d, row, stride, panels):
    """Move a class's mean by rows of weight nb at base + sums, and add the row of their distance.

    Returns the number of rows in the panels, of which it may be one more than `row`.
    """
    total = na + nb
    far = np.sqrt(na * (nb / total))
    for j in range(d):
        if na == 0.0:
            mean[j], low[j] = two_sum(base[j], sums[j])
            continue
        delta = difference(base[j], sums[j], mean[j], low[j])
        panels[j // WIDE * stride + row * WIDE + j % WIDE] = far * delta
        # From the heavier side, so that a light side, however far, rounds nothing away.
        if nb > na:
            mean[j], low[j] = two_sum(base[j], sums[j] - na / total * delta)
        else:
            mean[j], low[j] = two_sum(mean[j], low[j] + nb / total * delta)
    return row if na == 0.0 else row + 1


@jit_helper
def _add_products(panels, n, stride, dp, scatter):
    """Add the products of n rows of panels to the tiles of a scatter."""
    at = 0
    for j in range(0, dp, WIDE):
        right = shifted(panels, j // WIDE * stride)
        for i in range(0, j + WIDE, TALL):
            left = shifted(panels, i // WIDE * stride + i % WIDE)
            multiply(left, WIDE, right, n, shifted(scatter, at), WIDE, True)
            at += TALL * WIDE


@llvm_inlined
def _add_class(X, at, step, width, c, d, dp, size, has_weight, weight, room, state):
    """Add the rows of class c, of a tile that begins at X[at], to the sums of its block."""
    order, n = shifted(room.order, room.starts[c]), room.starts[c + 1] - room.starts[c]
    if n == 0:
        return
    stride = (size + 1) * WIDE
    nb = 1.0 * n
    if has_weight:
        nb = 0.0
        for r in range(n):
            nb += weight[order[r]]
    _pack(
        X, at, step, width, order, n, has_weight, weight, dp, stride, room.panels, room.base,
        room.sums,
    )  # fmt: skip
    for j in range(dp):
        room.sums[j] = room.sums[j] / nb
    _centre(order, n, has_weight, weight, dp, stride, room.panels, room.sums)
    alone = 0 if n == 1 else n
    mean, low = shifted(state.mean, c * dp), shifted(state.low, c * dp)
    m = _move_mean(
        state.weight[c], nb, room.base, room.sums, mean, low, d, alone, stride, room.panels
    )
    state.weight[c] += nb
    _add_products(room.panels, m, stride, dp, shifted(state.scatter, c * _size_of_scatter(dp)))


@jit_helper
def _add_tile(X, at, step, width, k, d, dp, size, has_weight, weight, room, state):
    for c in range(k):
        _add_class(X, at, step, width, c, d, dp, size, has_weight, weight, room, state)


@kernel
def _sum_scatters(first_, last, X, by_columns, n, d, k, codes, weight, starts, stops, states):
    """Add the rows from starts[b] to stops[b] to states[b], for blocks b from first to last."""
    rows = Rows(pointer(X), by_columns, n, d)
    dp, size, has_weight = _padded(d), _rows_per_tile(k, d), len(weight) > 0
    scratch = np.zeros(_size_of_scratch(size, dp))
    order, heads = np.empty(size, np.int32), np.empty(k + 1, np.int32)
    room = _divide_up(pointer(scratch), size, dp, pointer(order), pointer(heads))
    for b in range(first_, last):
        state = _unpack(shifted(pointer(states), b * states.shape[1]), k, dp)
        for at in range(starts[b], stops[b], size):
            m = min(size, stops[b] - at)
            _sort(pointer(codes), at, m, k, has_weight, pointer(weight), room)
            w = shifted(pointer(weight), at if has_weight else 0)
            # Eight numbers are read at a time, and nothing may lie behind the last row.
            if by_columns or (at + m) * d + OVERREAD > n * d:
                _fill_tile(rows, at, m, dp, room.tile)
                _add_tile(room.tile, 0, dp, dp, k, d, dp, size, has_weight, w, room, state)
            else:
                _add_tile(rows.data, at * d, d, d, k, d, dp, size, has_weight, w, room, state)
    keep(scratch)
    keep(order)
    keep(heads)


@jit_helper
def _merge_scatter(nb, mb, lb, sb, na, mean, low, scatter, delta):
    """Add the statistics of a class in a block to the running ones, (d,) and (d, d)."""
    d = len(mean)
    total = na + nb
    for j in range(d):
        if na == 0.0:
            mean[j], low[j], delta[j] = mb[j], lb[j], 0.0
            continue
        delta[j] = difference(mb[j], lb[j], mean[j], low[j])
        if nb > na:
            mean[j], low[j] = two_sum(mb[j], lb[j] - na / total * delta[j])
        else:
            mean[j], low[j] = two_sum(mean[j], low[j] + nb / total * delta[j])
    share = na * (nb / total)
    at = 0
    for start in range(0, d, WIDE):
        width = min(WIDE, d - start)
        for i in range(min(start + WIDE, d)):
            part = share * delta[i]
            for j in range(width):
                scatter[i, start + j] += sb[at + i * WIDE + j] + part * delta[start + j]
        at += (start + WIDE) * WIDE


@jit_helper
def _mirror(scatter):
    """Copy what is above the diagonal below it, a few lines of the cache at a time."""
    d = len(scatter)
    for i in range(0, d, WIDE):
        for j in range(i, d, WIDE):
            for q in range(j, min(j + WIDE, d)):
                for p in range(i, min(i + WIDE, q)):
                    scatter[q, p] = scatter[p, q]


@serial_kernel
def _merge_scatters(states, dp, weight, mean, low, scatter):
    """Add all blocks in their order to the running statistics."""
    k, d = mean.shape
    delta = np.empty(d)
    for b in range(len(states)):
        state = _unpack(shifted(pointer(states), b * states.shape[1]), k, dp)
        for c in range(k):
            nb = state.weight[c]
            if nb > 0.0:
                m, s = shifted(state.mean, c * dp), shifted(state.scatter, c * _size_of_scatter(dp))
                low_ = shifted(state.low, c * dp)
                _merge_scatter(nb, m, low_, s, weight[c, 0], mean[c], low[c], scatter[c], delta)
                weight[c, 0] += nb
    for c in range(k):
        _mirror(scatter[c])


def blocks(n: int, k: int, d: int) -> int:
    """Number of blocks, by the shape of the data alone: as their scatters leave room for."""
    fitting = _STATE_BYTES // (8 * _size_of_state(k, _padded(d)))
    return int(max(1, min(max(2, min(_BLOCKS, fitting)), n // _rows_per_tile(k, d))))


def accumulate_scatter(
    X: NDArray[Any], coded: EncodedLabels, weight: NDArray[np.float64] | None, k: int
) -> FullSums:
    """Per-class sums of X (n, d) with class codes in 0..k-1 and optional weights (n,).

    A NaN or an infinity shows as a mean or scatter that is not finite. Rows of weight 0 are not
    there. Cost: one read of X and n d (d + 1) / 2 multiply-adds. Error: a few units in the last
    place of the mean, and of a scatter as much of the product of two standard deviations.
    """
    n, d = X.shape
    dp = _padded(d)
    sums = FullSums(np.zeros((k, 1)), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d, d)))
    if n == 0 or k == 0:
        return sums
    bounds = block_bounds(n, -(-n // blocks(n, k, d)))
    labels = coded.codes(), np.empty(0) if weight is None else weight
    states = np.zeros((len(bounds) - 1, _size_of_state(k, dp)))
    contiguous = as_flat(X)
    if contiguous is not None:
        _sum(*contiguous, *labels, k, d, bounds[:-1], bounds[1:], states)
    else:
        _sum_chunks(X, *labels, k, d, bounds, states)
    _merge_scatters(states, dp, *sums)
    return sums


def _sum(
    data: NDArray[Any],
    by_columns: bool,
    codes: NDArray[np.int32],
    weight: NDArray[np.float64],
    k: int,
    d: int,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    states: NDArray[np.float64],
) -> None:
    """Add blocks of rows to their states, some tiles of each at a time: a call is never long."""
    size, n_blocks = _rows_per_tile(k, d), len(states)
    step = max(1, _WORK // (n_blocks * size * d * (d + WIDE))) * size
    for at in range(0, int((stops - starts).max()), step):
        lo, hi = np.minimum(starts + at, stops), np.minimum(starts + at + step, stops)
        _sum_scatters(
            n_blocks, data, by_columns, len(codes), d, k, readonly(codes), readonly(weight), lo, hi,
            states, work=int((hi - lo).sum()) * d * (d + WIDE) // 2,
        )  # fmt: skip


def _sum_chunks(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weight: NDArray[np.float64],
    k: int,
    d: int,
    bounds: NDArray[np.int64],
    states: NDArray[np.float64],
) -> None:
    """As `_sum` for other rows, of which whole tiles are copied at a time."""
    size = _rows_per_tile(k, d)
    for b, (lo, hi) in enumerate(pairwise(bounds.tolist())):
        tiles = np.append(np.arange(0, hi - lo, size), hi - lo)
        for chunk in contiguous_chunks(X[lo:hi], tiles):
            at = slice(lo + chunk.start, lo + chunk.stop)
            start, stop = np.array([0]), np.array([chunk.stop - chunk.start])
            _sum(chunk.data, False, codes[at], weight[at], k, d, start, stop, states[b : b + 1])


@warmup_call
def _warm() -> None:
    codes = EncodedLabels.from_codes(np.zeros(2, np.int32))
    for dtype in (np.float64, np.float32):
        accumulate_scatter(np.zeros((2, 1), dtype), codes, None, 1)
