"""Rows to per-class weight, mean and scatter of each feature in one read.

Rows are cut into blocks by the shape of the data. Each block is summed by itself, around shifts
close to the means (see `shifted_sums`), and blocks are merged in order by the update of Chan, Golub
and LeVeque (1983), with the mean kept as an unevaluated sum of two float64 numbers.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import (
    jit_helper,
    jitable,
    kernel,
    llvm_inlined,
    readonly,
    serial_kernel,
    warmup_call,
)
from ..._numba.threads import Kernel, n_threads
from ..._numba.vectors import (
    keep,
    load,
    pointer,
    shifted,
    splat,
    store,
    where_greater,
)
from ..chunks import Chunk, block_bounds, contiguous_chunks
from ..rows import OVERREAD, Rows, padded_tail, round_up
from .add_rows import (
    TILE,
    add_rows,
    carve_records,
    flush_all,
    records_size,
    start_records,
)
from .codes import codes_of, codes_of_tile
from .double_double import difference, two_sum
from .encode import EncodedLabels
from .merge import Sums, merge_means
from .plain import plain_kernel
from .shifted_sums import TRIES, carve, clear, first_shifts, is_poor, recentre
from .tiles import Source, Tile, fill_tile

# Rows that blocks are made of, so that eight rows are never cut by a block's end.
_UNIT = 8
# Rows are cut into 128 blocks where that leaves this many rows in each, or else into 32 where that
# leaves the smaller number. What begins and ends a block costs little then.
_BLOCKS, _LONG = 128, 1 << 14
_LEAST_BLOCKS, _SHORT = 32, 1280
# The most rows of a block: sums of 1,024 runs of 128 rows keep 13 digits even where every rounding
# errs to one side.
_LONGEST = 1 << 17
# Blocks that rows of many classes are cut into, where that leaves 40 rows a class, and the most
# rows a class.
_FEW_BLOCKS, _MOST_A_CLASS = 16, 160
# Numbers of the states of blocks that are merged together, where that leaves eight blocks a thread.
_STATES = 3 << 15


# ------------------------------------------------------------------ weights and missing values


@llvm_inlined
def _add_range(rows, start, stop, codes, has_weight, weight, offset, held, block):
    """Add rows start to stop; row i has code and weight i + offset."""
    for i in range(start, stop, TILE):
        m = min(TILE, stop - i)
        y = codes_of_tile(codes, i + offset, m)
        w = shifted(weight, i + offset if has_weight else 0)
        if rows.by_columns:
            fill_tile(rows, i, m, block.dp, held.tile)
            add_rows(Tile(held.tile, 0, block.dp, block.d, m, y, has_weight, w), held, block)
        else:
            d = rows.d
            add_rows(Tile(rows.data, i * d, d, d, m, y, has_weight, w), held, block)


@llvm_inlined
def _add_weighted(rows, tail, start, stop, codes, has_weight, weight, held, block):
    """Sums of rows start to stop, of which those from rows.n - tail.n on are read in `tail`."""
    clear(block)
    start_records(block, held)
    mid = min(stop, max(start, rows.n - tail.n))
    for is_tail in range(2):
        lo, hi = (mid, stop) if is_tail else (start, mid)
        offset = rows.n - tail.n if is_tail else 0
        source = tail if is_tail else rows
        _add_range(source, lo - offset, hi - offset, codes, has_weight, weight, offset, held, block)
    flush_all(block, held)


@kernel(variants=2)
def _sum_weighted_blocks(first, last, source, labels, weight, bounds, states):
    """As `plain` has it, with weights, or with `skip`."""
    n, d, k = source.n, source.d, source.k
    dp, has_weight = round_up(d, 8), len(weight) > 0
    left = source.tail if last == len(states) else 0
    copy = padded_tail(source, left, left)
    rows, tail = (
        Rows(pointer(source.data), source.by_columns, n, d),
        Rows(pointer(copy), False, left, d),
    )
    known, records = np.empty(k * dp), np.empty(records_size(k, dp))
    tile_codes = np.empty(TILE, np.int32)
    codes, w = codes_of(labels, tile_codes), pointer(weight)
    for b in range(first, last):
        known[:] = 0.0
        records[:] = 0.0
        state = shifted(pointer(states), b * states.shape[1])
        block = carve(k, d, source.skip, state, pointer(known))
        held = carve_records(k, dp, pointer(records))
        lo, hi = bounds[b], bounds[b + 1]
        first_shifts(rows, lo, hi, codes, has_weight, w, block)
        for attempt in range(TRIES):
            _add_weighted(rows, tail, lo, hi, codes, has_weight, w, held, block)
            if attempt == TRIES - 1 or not is_poor(block):
                break
            recentre(block)
    keep(copy)
    keep(known)
    keep(records)
    keep(tile_codes)


def sums_kernel(has_weight: bool, skip: bool, k: int, d: int) -> Kernel:
    """The kernel that sums blocks; all take the same arguments, and fill states in the same way."""
    return _sum_weighted_blocks if has_weight or skip else plain_kernel(k, d)


# ------------------------------------------------------------------ blocks into statistics


@llvm_inlined
def _merge_one(c, j, nb, state, size, sums, lost, skip):
    """Add a block's sums of feature j of class c to the running statistics."""
    p = c * round_up(sums.mean.shape[1], 8) + j
    shift, s1, s2 = state[p], state[size + p], state[2 * size + p]
    off = s1 / nb
    scatter = max(s2 - s1 * off, 0.0)
    na = sums.weight[c, j if skip else 0]
    if na == 0.0:
        sums.mean[c, j], sums.mean_lo[c, j] = two_sum(shift, off)
        sums.scatter[c, j] = scatter
        return
    mean, lo, step = merge_means(na, sums.mean[c, j], sums.mean_lo[c, j], nb, shift, off)
    sums.mean[c, j], sums.mean_lo[c, j] = mean, lo
    more = scatter + na * (nb / (na + nb)) * step * step
    sums.scatter[c, j], error = two_sum(sums.scatter[c, j], more)
    lost[c, j] += error


@llvm_inlined
def _merge_eight(p, q, na, nb, state, size, mean, lo, scatter, lost):
    """As `_merge_one`, of eight features: those at p in a block's state, and at q in statistics."""
    shift, s1, s2 = load(state, p), load(state, size + p), load(state, 2 * size + p)
    off, zero = s1 / splat(nb), splat(0.0)
    more = s2 - s1 * off
    more = where_greater(zero, more, zero, more)
    if na == 0.0:
        high, low = two_sum(shift, off)
        store(mean, q, high)
        store(lo, q, low)
        store(scatter, q, more)
        return
    before, before_lo = load(mean, q), load(lo, q)
    step = difference(shift, off, before, before_lo)
    if nb > na:
        high, low = two_sum(shift, off - splat(na / (na + nb)) * step)
    else:
        high, low = two_sum(before, before_lo + splat(nb / (na + nb)) * step)
    store(mean, q, high)
    store(lo, q, low)
    total, error = two_sum(load(scatter, q), more + splat(na * (nb / (na + nb))) * step * step)
    store(scatter, q, total)
    store(lost, q, load(lost, q) + error)


@jit_helper
def merge_block(state, skip, sums, lost):
    """Add a block's sums to the running statistics."""
    k, d = sums.mean.shape
    dp = round_up(d, 8)
    size = k * dp
    whole = 0 if skip else d - d % 8
    block, mean, lo = pointer(state), pointer(sums.mean), pointer(sums.mean_lo)
    scatter, low = pointer(sums.scatter), pointer(lost)
    for c in range(k):
        na, nb = sums.weight[c, 0], state[3 * size + c * dp]
        if nb > 0.0:
            for j in range(0, whole, 8):
                _merge_eight(c * dp + j, c * d + j, na, nb, block, size, mean, lo, scatter, low)
        for j in range(whole, d):
            n = state[3 * size + c * dp + j] if skip else nb
            if n != 0.0:
                _merge_one(c, j, n, state, size, sums, lost, skip)
        for q in range(d if skip else 1):
            sums.weight[c, q] += state[3 * size + c * dp + q]


@serial_kernel
def merge_blocks(states, skip, sums, lost):
    """Add all blocks in their order to the running statistics; `lost` is what scatter rounds."""
    for b in range(len(states)):
        merge_block(states[b], skip, sums, lost)


def rows_per_block(n: int, k: int) -> int:
    """Rows of one block, by the shape of the data alone.

    With many classes there are few blocks, so that merging them stays below a tenth of the work: 16
    where that leaves 40 rows a class, or else 8, 4, 2.
    """
    blocks = _FEW_BLOCKS
    while blocks > 2 and n < 40 * k * blocks:
        blocks //= 2
    many = min(_MOST_A_CLASS * k, max(40 * k, -(-n // blocks)))
    usual = max(min(-(-n // _BLOCKS), _LONGEST), min(-(-n // _LEAST_BLOCKS), _LONG))
    return max(_SHORT, usual, many)


def bounds_of(n: int, k: int) -> NDArray[np.int64]:
    """Bounds (blocks + 1,) of the blocks of n rows, by the shape of the data alone."""
    units = block_bounds(-(-n // _UNIT), -(-rows_per_block(n, k) // _UNIT))
    return np.minimum(units * _UNIT, n)


@jitable
def tail_of(n: int) -> int:
    """How many of the last rows are read from a padded copy, since nothing may lie behind them."""
    return n - max(0, n - OVERREAD) // _UNIT * _UNIT


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
    sums, lost = nothing(k, d, skip), np.zeros((k, d))
    if n == 0 or k == 0:
        return sums
    bounds = bounds_of(n, k)
    w = readonly(np.empty(0) if weight is None else weight)
    sum_blocks, size = sums_kernel(weight is not None, skip, k, d), 4 * k * round_up(d, 8)
    most = max(8 * n_threads(), _STATES // size)
    for chunk in contiguous_chunks(X, bounds):
        source = _source(chunk, n, d, k, skip)
        part = labels.slice(chunk.start, chunk.stop).as_readonly()
        rows = source, part, w[chunk.start : chunk.stop]
        n_blocks = chunk.last - chunk.first
        together = -(-n_blocks // -(-n_blocks // most))
        scratch = np.empty((together, size))
        for b in range(chunk.first, chunk.last, together):
            within = bounds[b : min(b + together, chunk.last) + 1] - chunk.start
            states = scratch[: len(within) - 1]
            # Of all rows: how threads are woken should not depend on how many blocks come at once.
            sum_blocks(len(states), *rows, within, states, work=8 * source.n * d)
            merge_blocks(states, skip, sums, lost)
    if len(bounds) > 2:
        sums.scatter[...] += lost
    return sums


def _source(chunk: Chunk, n: int, d: int, k: int, skip: bool) -> Source:
    # Tiles end where the tail begins, which must not depend on how rows are split into chunks.
    last = n - tail_of(n)
    tail = chunk.stop - min(chunk.stop, max(chunk.start, last))
    return Source(chunk.data, chunk.by_columns, chunk.stop - chunk.start, d, tail, k, skip)


def nothing(k: int, d: int, skip: bool) -> Sums:
    """Sums of no rows."""
    wide, narrow = (k, d), (k, d if skip else 1)
    return Sums(np.zeros(narrow), np.zeros(wide), np.zeros(wide), np.zeros(wide))


# Whether there are weights, and numbers of classes that are summed in different ways.
@warmup_call(cases=((False, 1), (False, 2), (False, 1000), (True, 1)))
def _warm(case: tuple[bool, int]) -> None:
    has_weight, k = case
    labels = EncodedLabels.from_codes(np.zeros(2, np.int32))
    weight = np.ones(2) if has_weight else None
    for dtype in (np.float64, np.float32):
        accumulate(np.zeros((2, 1), dtype), labels, weight, k)
