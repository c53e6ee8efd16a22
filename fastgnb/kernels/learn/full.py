"""Rows to per-class weight, mean and full scatter in one read.

Rows are cut into blocks by the shape of the data, and blocks into tiles, whose rows join the sums
of their classes as `class_products` says. Blocks are merged in order.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import (
    jit_helper,
    jitable,
    kernel,
    readonly,
    warmup_call,
)
from ..._numba.vectors import keep, pointer, shifted
from ..chunks import as_flat, block_bounds, contiguous_chunks
from ..panel_product import WIDE
from ..rows import OVERREAD, Rows, round_up
from .class_products import (
    add_tile,
    carve,
    scatter_size,
    scratch_size,
    sort_by_class,
    state_size,
    unpack,
)
from .double_double import two_sum
from .encode import EncodedLabels
from .merge import Sums, merge_means
from .tiles import Tile, fill_tile

# Rows of one tile, for each class, and their least and largest number. A class's scatter is read
# and written once a tile, so that many classes and wide rows want long tiles. Two tiles, of which
# one is multiplied while the other is fetched, should fit the second-level cache.
_LEAST_A_CLASS, _MOST_A_CLASS = 64, 256
_SHORTEST, _LONGEST = 256, 8192
_TILE_BYTES, _MOST_TILE_BYTES = 5 << 16, 1 << 24
# Most blocks, tiles of one, and bytes that all of their scatters take unless two of them take more:
# fresh memory, and merging blocks, may cost as much as their products. A few rows may be cut into a
# few blocks of less, so that threads share them.
_BLOCKS, _TILES = 64, 16
_FEW_BLOCKS, _FEW_TILES = 4, 4
_STATE_BYTES = 1 << 24
# Twice the multiply-adds of one call: a tenth of a second on one core.
_WORK = 1 << 32


class Source(NamedTuple):
    """Rows (n, d) of k classes, with codes (n,) and weights (n,) or (0,)."""

    data: Any
    by_columns: bool
    n: int
    d: int
    k: int
    codes: Any
    weight: Any

    def slice(self, start: int, stop: int) -> Source:
        """The codes and weights of rows start to stop, whose data the caller replaces."""
        return self._replace(codes=self.codes[start:stop], weight=self.weight[start:stop])


@jitable
def _rows_per_tile(k, d):
    row = 8 * round_up(d, WIDE)
    short = max(_LEAST_A_CLASS * k, min(_MOST_A_CLASS * k, _TILE_BYTES // row))
    return max(_SHORTEST, min(short, _LONGEST, _MOST_TILE_BYTES // row))


@kernel(variants=2)
def _sum_scatters(first, last, source, starts, stops, states):
    """Add the rows from starts[b] to stops[b] to states[b], for blocks b from first to last."""
    n, d, k = source.n, source.d, source.k
    rows = Rows(pointer(source.data), source.by_columns, n, d)
    dp, size, has_weight = round_up(d, WIDE), _rows_per_tile(k, d), len(source.weight) > 0
    memory = np.zeros(scratch_size(size, dp))
    order, heads = np.empty(size, np.int32), np.empty(k + 1, np.int32)
    scratch = carve(pointer(memory), size, d, dp, pointer(order), pointer(heads))
    for b in range(first, last):
        state = unpack(shifted(pointer(states), b * states.shape[1]), k, dp)
        for at in range(starts[b], stops[b], size):
            m = min(size, stops[b] - at)
            codes = shifted(pointer(source.codes), at)
            weight = shifted(pointer(source.weight), at if has_weight else 0)
            # Eight numbers are read at a time, and nothing may lie behind the last row.
            if rows.by_columns or (at + m) * d + OVERREAD > n * d:
                fill_tile(rows, at, m, dp, scratch.tile)
                tile = Tile(scratch.tile, 0, dp, dp, m, codes, has_weight, weight)
                sort_by_class(tile, k, scratch)
                add_tile(tile, k, scratch, state, 0)
            else:
                tile_ = Tile(rows.data, at * d, d, d, m, codes, has_weight, weight)
                sort_by_class(tile_, k, scratch)
                add_tile(tile_, k, scratch, state, min(size, stops[b] - at - m))
    keep(memory)
    keep(order)
    keep(heads)


@jit_helper
def _merge_scatter(state, c, dp, sums, step):
    """Add the statistics of class c in a block to the running ones, (d,) and (d, d)."""
    mean, lo, scatter = sums.mean[c], sums.mean_lo[c], sums.scatter[c]
    mb, lb = shifted(state.mean, c * dp), shifted(state.lo, c * dp)
    na, nb, d = sums.weight[c, 0], state.weight[c], len(mean)
    for j in range(d):
        if na == 0.0:
            mean[j], lo[j] = two_sum(mb[j], lb[j])
            step[j] = 0.0
        else:
            mean[j], lo[j], step[j] = merge_means(na, mean[j], lo[j], nb, mb[j], lb[j])
    share = na * (nb / (na + nb))
    at = c * scatter_size(dp)
    for start in range(0, d, WIDE):
        width = min(WIDE, d - start)
        for i in range(min(start + WIDE, d)):
            part = share * step[i]
            for j in range(width):
                p = at + i * WIDE + j
                scatter[i, start + j] += state.scatter[p] + part * step[start + j]
        at += (start + WIDE) * WIDE
    sums.weight[c, 0] += nb


@jit_helper
def _mirror(scatter):
    """Copy what is above the diagonal below it, a few lines of the cache at a time."""
    d = len(scatter)
    for i in range(0, d, WIDE):
        for j in range(i, d, WIDE):
            for q in range(j, min(j + WIDE, d)):
                for p in range(i, min(i + WIDE, q)):
                    scatter[q, p] = scatter[p, q]


@kernel
def _merge_scatters(first, last, states, dp, sums):
    """Add all blocks in their order to the running statistics of classes first to last."""
    k, d = sums.mean.shape
    step = np.empty(d)
    for c in range(first, last):
        for b in range(len(states)):
            state = unpack(shifted(pointer(states), b * states.shape[1]), k, dp)
            if state.weight[c] > 0.0:
                _merge_scatter(state, c, dp, sums, step)
        _mirror(sums.scatter[c])


def blocks(n: int, k: int, d: int) -> int:
    """Number of blocks, by the shape of the data alone: as their scatters leave room for."""
    fitting = _STATE_BYTES // (8 * state_size(k, round_up(d, WIDE)))
    tiles = n // _rows_per_tile(k, d)
    wanted = max(tiles // _TILES, min(_FEW_BLOCKS, tiles // _FEW_TILES))
    return int(max(1, min(max(2, min(_BLOCKS, fitting)), wanted)))


def accumulate_scatter(
    X: NDArray[Any], labels: EncodedLabels, weight: NDArray[np.float64] | None, k: int
) -> Sums:
    """Per-class sums of X (n, d) with class codes in 0..k-1 and optional weights (n,).

    A NaN or an infinity shows as a mean or scatter that is not finite. Rows of weight 0 are not
    there. Cost: one read of X and n d (d + 1) / 2 multiply-adds. Error: a few units in the last
    place of the mean, and of a scatter as much of the product of two standard deviations.
    """
    n, d = X.shape
    dp = round_up(d, WIDE)
    sums = Sums(np.zeros((k, 1)), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d, d)))
    if n == 0 or k == 0:
        return sums
    bounds = block_bounds(n, -(-n // blocks(n, k, d)))
    states = np.zeros((len(bounds) - 1, state_size(k, dp)))
    codes, w = readonly(labels.codes()), readonly(np.empty(0) if weight is None else weight)
    contiguous = as_flat(X)
    if contiguous is not None:
        _sum(Source(*contiguous, n, d, k, codes, w), bounds[:-1], bounds[1:], states)
    else:
        _sum_chunks(X, Source(X, False, n, d, k, codes, w), bounds, states)
    _merge_scatters(k, states, dp, sums, work=4 * states.size)
    return sums


def _sum(
    source: Source,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    states: NDArray[np.float64],
) -> None:
    """Add blocks of rows to their states, some tiles of each at a time: a call is never long."""
    d, size, n_blocks = source.d, _rows_per_tile(source.k, source.d), len(states)
    step = max(1, _WORK // (n_blocks * size * d * (d + WIDE))) * size
    for at in range(0, int((stops - starts).max()), step):
        lo, hi = np.minimum(starts + at, stops), np.minimum(starts + at + step, stops)
        work = int((hi - lo).sum()) * d * (d + WIDE) // 2
        _sum_scatters(n_blocks, source, lo, hi, states, work=work)


def _sum_chunks(
    X: NDArray[Any], source: Source, bounds: NDArray[np.int64], states: NDArray[np.float64]
) -> None:
    """As `_sum` for rows X that are copied, whole tiles at a time."""
    size = _rows_per_tile(source.k, source.d)
    for b, (lo, hi) in enumerate(pairwise(bounds.tolist())):
        tiles = np.append(np.arange(0, hi - lo, size), hi - lo)
        for chunk in contiguous_chunks(X[lo:hi], tiles):
            part = source.slice(lo + chunk.start, lo + chunk.stop)
            n = chunk.stop - chunk.start
            part = part._replace(data=chunk.data, n=n)
            _sum(part, np.array([0]), np.array([n]), states[b : b + 1])


@warmup_call
def _warm() -> None:
    labels = EncodedLabels.from_codes(np.zeros(2, np.int32))
    for dtype in (np.float64, np.float32):
        accumulate_scatter(np.zeros((2, 1), dtype), labels, None, 1)
