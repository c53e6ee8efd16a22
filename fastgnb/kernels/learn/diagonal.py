"""Rows to per-class weight, mean and scatter of each feature in one read.

Rows are cut into blocks by the shape of the data. Each block is summed by itself, around shifts
close to the means (see `shifted_sums`), and blocks are merged in order by the update of Chan, Golub
and LeVeque (1983), with the mean kept as an unevaluated sum of two float64 numbers.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import (
    ir_inlined,
    jit_helper,
    kernel,
    readonly,
    serial_kernel,
    warmup_call,
)
from ..._numba.vectors import keep, pointer, shifted
from ..chunks import Chunk, block_bounds, contiguous_chunks
from ..rows import OVERREAD, Rows, padded_tail, round_up
from .add_rows import add_tile
from .codes import codes_of, codes_of_tile
from .double_double import two_sum
from .encode import EncodedLabels
from .merge import Sums, merge_means
from .shifted_sums import TILE, carve, clear, first_shifts, flush, is_poor, recentre, scratch_size
from .tiles import Tile, fill_tile

# Elements, rounded to rows, between those read and those fetched from memory.
_AHEAD = 1024
# Rows that blocks are made of, so that eight rows are never cut by a block's end.
_UNIT = 8
# Blocks that are summed before they are merged, and the most rows of one of so many: sums of 512
# runs of 512 rows keep 13 digits even where every rounding errs to one side.
_BLOCKS = 128
_LONGEST = 1 << 18
# Times that a block is summed, each time around a shift closer to its mean: enough for any weights
# and outliers that float64 holds.
_TRIES = 4


class Source(NamedTuple):
    """Rows (n, d) of k classes, of which the last `tail` ones are read from a padded copy."""

    data: Any
    by_columns: bool
    n: int
    d: int
    tail: int
    k: int
    skip: bool


@ir_inlined
def _add_range(rows, start, stop, codes, has_weight, weight, offset, block):
    """Add rows start to stop; row i has code and weight i + offset."""
    ahead = max(1, _AHEAD // rows.d) * rows.d
    for i in range(start, stop, TILE):
        m = min(TILE, stop - i)
        y = codes_of_tile(codes, i + offset, m)
        w = shifted(weight, i + offset if has_weight else 0)
        if rows.by_columns:
            fill_tile(rows, i, m, block.dp, block.tile)
            add_tile(Tile(block.tile, 0, block.dp, block.dp, m, y, has_weight, w, 0), block)
        else:
            d = rows.d
            add_tile(Tile(rows.data, i * d, d, d, m, y, has_weight, w, ahead), block)


@ir_inlined
def _add_all(rows, tail, start, stop, codes, has_weight, weight, block):
    """Sums of rows start to stop, of which those from rows.n - tail.n on are read in `tail`."""
    clear(block)
    mid = min(stop, max(start, rows.n - tail.n))
    for is_tail in range(2):
        lo, hi = (mid, stop) if is_tail else (start, mid)
        offset = rows.n - tail.n if is_tail else 0
        source = tail if is_tail else rows
        _add_range(source, lo - offset, hi - offset, codes, has_weight, weight, offset, block)
    for c in range(block.k):
        if block.runs[c] > 0.0:
            if not (has_weight or block.skip):
                block.records[(4 * c + 3) * block.dp] = block.runs[c]
            flush(block, c)


@ir_inlined
def _sum_block(rows, tail, start, stop, codes, has_weight, weight, block):
    """Sums of one block around shifts that are moved closer to the means as the rows need it."""
    first_shifts(rows, start, stop, codes, has_weight, weight, block)
    for attempt in range(_TRIES):
        _add_all(rows, tail, start, stop, codes, has_weight, weight, block)
        if attempt == _TRIES - 1 or not is_poor(block):
            break
        recentre(block)


@kernel
def _sum_blocks(first, last, source, labels, weight, bounds, states):
    """Sum blocks first to last, which begin at `bounds`, into states (blocks, 4 k dp)."""
    n, d, k = source.n, source.d, source.k
    # Only the last block reaches the tail.
    left = source.tail if last == len(states) else 0
    copy = padded_tail(source, left, left)
    rows, tail = (
        Rows(pointer(source.data), source.by_columns, n, d),
        Rows(pointer(copy), False, left, d),
    )
    scratch = np.empty(scratch_size(k, round_up(d, 8)))
    tile_codes = np.empty(TILE, np.int32)
    codes = codes_of(labels, tile_codes)
    for b in range(first, last):
        for i in range(len(scratch)):
            scratch[i] = 0.0
        state = shifted(pointer(states), b * states.shape[1])
        block = carve(k, d, source.skip, state, pointer(scratch))
        lo, hi = bounds[b], bounds[b + 1]
        _sum_block(rows, tail, lo, hi, codes, len(weight) > 0, pointer(weight), block)
    keep(copy)
    keep(scratch)
    keep(tile_codes)


@jit_helper
def _merge_block(state, skip, sums, lost):
    """Add a block's sums to the running statistics."""
    k, d = sums.mean.shape
    dp = round_up(d, 8)
    size = k * dp
    for c in range(k):
        for j in range(d):
            p = c * dp + j
            nb = state[3 * size + (p if skip else c * dp)]
            if nb == 0.0:
                continue
            shift, s1, s2 = state[p], state[size + p], state[2 * size + p]
            off = s1 / nb
            scatter = max(s2 - s1 * off, 0.0)
            na = sums.weight[c, j if skip else 0]
            if na == 0.0:
                sums.mean[c, j], sums.mean_lo[c, j] = two_sum(shift, off)
                sums.scatter[c, j] = scatter
                continue
            mean, lo, step = merge_means(na, sums.mean[c, j], sums.mean_lo[c, j], nb, shift, off)
            sums.mean[c, j], sums.mean_lo[c, j] = mean, lo
            more = scatter + na * (nb / (na + nb)) * step * step
            sums.scatter[c, j], error = two_sum(sums.scatter[c, j], more)
            lost[c, j] += error
        for q in range(d if skip else 1):
            sums.weight[c, q] += state[3 * size + c * dp + q]


@serial_kernel
def _merge_blocks(states, skip, sums, lost):
    """Add all blocks in their order to the running statistics; `lost` is what scatter rounds."""
    for b in range(len(states)):
        _merge_block(states[b], skip, sums, lost)


def rows_per_block(n: int, k: int) -> int:
    """Rows of one block, by the shape of the data alone.

    Enough that the sums of a block stay below 2% of its rows and merging below a tenth of the work,
    but for two blocks at least, and 128 blocks, which is enough for as many threads; and no more
    than can be summed without losing digits, however many rows there are.
    """
    return max(1280, min(-(-n // _BLOCKS), _LONGEST), min(160 * k, max(40 * k, -(-n // 2))))


def accumulate(
    X: NDArray[Any],
    labels: EncodedLabels,
    weight: NDArray[np.float64] | None,
    k: int,
    *,
    skip: bool = False,
) -> Sums:
    """Per-class sums of X (n, d) with class codes in 0..k-1 and optional weights (n,).

    With `skip`, each NaN is left out and `weight` of the result is (k, d). Without it a NaN, as
    any infinity, shows as a mean or scatter that is not finite. Rows of weight 0 are not there.
    Cost: one read of X, 3 n d float64 operations (4 with weights). Error: a few units in the last
    place of mean and scatter, see `ClassStats`.
    """
    n, d = X.shape
    sums, lost = _nothing(k, d, skip), np.zeros((k, d))
    if n == 0 or k == 0:
        return sums
    units = block_bounds(-(-n // _UNIT), -(-rows_per_block(n, k) // _UNIT))
    bounds = np.minimum(units * _UNIT, n)
    w = readonly(np.empty(0) if weight is None else weight)
    for chunk in contiguous_chunks(X, bounds):
        source = _source(chunk, n, d, k, skip)
        part = labels.slice(chunk.start, chunk.stop).as_readonly()
        rows = source, part, w[chunk.start : chunk.stop]
        for b in range(chunk.first, chunk.last, _BLOCKS):
            within = bounds[b : min(b + _BLOCKS, chunk.last) + 1] - chunk.start
            states = np.zeros((len(within) - 1, 4 * k * round_up(d, 8)))
            _sum_blocks(len(states), *rows, within, states, work=8 * source.n * d)
            _merge_blocks(states, skip, sums, lost)
    if len(bounds) > 2:
        sums.scatter[...] += lost
    return sums


def _source(chunk: Chunk, n: int, d: int, k: int, skip: bool) -> Source:
    # Tiles end where the tail begins, which must not depend on how rows are split into chunks.
    last = max(0, n - OVERREAD) // _UNIT * _UNIT
    tail = chunk.stop - min(chunk.stop, max(chunk.start, last))
    return Source(chunk.data, chunk.by_columns, chunk.stop - chunk.start, d, tail, k, skip)


def _nothing(k: int, d: int, skip: bool) -> Sums:
    wide, narrow = (k, d), (k, d if skip else 1)
    return Sums(np.zeros(narrow), np.zeros(wide), np.zeros(wide), np.zeros(wide))


@warmup_call
def _warm() -> None:
    labels = EncodedLabels.from_codes(np.zeros(2, np.int32))
    for dtype in (np.float64, np.float32):
        accumulate(np.zeros((2, 1), dtype), labels, None, 1)
