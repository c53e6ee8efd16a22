"""Rows to the distribution of each feature within each class, in units of a model.

A value x of a row of class c becomes z = (x - mean[c]) / sd[c]. z is counted in bins of equal
width, and its first four central moments are kept. A block is a segment of the rows and eight
features, so that no two threads write to one place. Within a block, a tile of rows is summed
around its own means, so that nothing cancels, and `merge_moments` joins the tiles.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import (
    jitable,
    kernel,
    llvm_inlined,
    readonly,
    serial_kernel,
    warmup_call,
)
from ..._numba.vectors import keep, load, pointer, shifted, splat, store, where_number
from ..chunks import block_bounds, contiguous_chunks
from ..rows import Rows, element, round_up

# z that are counted in a bin of their own: those from -LIMIT to LIMIT. Two bins hold the rest.
LIMIT = 8.0
# Features of a block, which are the lanes of a vector.
_WIDTH = 8
# Rows of a tile, and for each class: a class's sums are merged once a tile.
_SHORTEST, _LONGEST, _A_CLASS = 512, 8192, 8
# Most segments of the rows, and numbers that the counts of all of them take unless one takes more.
_SEGMENTS = 16
_COUNTS = 1 << 22
# Rows that a segment has at least.
_SEGMENT_ROWS = 4096


class Moments(NamedTuple):
    """Weight, mean and sums of w (z - mean)^2, ^3 and ^4, each (k, d) float64."""

    weight: Any
    mean: Any
    second: Any
    third: Any
    fourth: Any


class Source(NamedTuple):
    """Rows (n, d) of k classes, with codes (n,) and weights (n,) or (0,).

    skip: whether a NaN is left out, rather than added.
    """

    data: Any
    by_columns: bool
    n: int
    d: int
    k: int
    codes: Any
    weight: Any
    skip: bool


class Units(NamedTuple):
    """Means and 1 / sd (k, dp) of each class, padded by zeros to a multiple of eight features."""

    mean: Any
    inv_sd: Any


@jitable
def merge_moments(a, b):
    """The moments of the rows of a and of b: numbers, or arrays of one shape (Pebay 2008).

    The terms are written as shares of weight, which neither over- nor underflow with it.
    """
    n = a.weight + b.weight
    total = n + (n == 0.0)
    p, q = a.weight / total, b.weight / total
    step = b.mean - a.mean
    square = step * step
    share = a.weight * q
    second = a.second + b.second + share * square
    third = a.third + b.third + share * (p - q) * square * step
    third = third + 3.0 * step * (p * b.second - q * a.second)
    fourth = a.fourth + b.fourth + share * (p * p - p * q + q * q) * square * square
    fourth = fourth + 6.0 * square * (p * p * b.second + q * q * a.second)
    fourth = fourth + 4.0 * step * (p * b.third - q * a.third)
    return Moments(n, a.mean + q * step, second, third, fourth)


@jitable
def _rows_per_tile(k):
    return max(_SHORTEST, min(_LONGEST, _A_CLASS * k))


@llvm_inlined
def _standardize(rows, source, units, at, m, j, width, tile):
    """Set the tile (m, 8) to z of features j to j + 8 of rows at to at + m."""
    d, dp = source.d, round_up(source.d, _WIDTH)
    mean, inv_sd, codes = pointer(units.mean), pointer(units.inv_sd), pointer(source.codes)
    for r in range(m):
        i = at + r
        p = codes[i] * dp + j
        if not rows.by_columns and i * d + j + _WIDTH <= rows.n * d:
            z = (load(rows.data, i * d + j) - load(mean, p)) * load(inv_sd, p)
            store(tile, _WIDTH * r, z)
        else:
            for q in range(width):
                tile[_WIDTH * r + q] = (element(rows, i, j + q) - mean[p + q]) * inv_sd[p + q]


@llvm_inlined
def _count(source, at, m, j, width, tile, n_bins, counts):
    """Add the tile to counts (k, d, bins), of which the first and the last hold the tails."""
    codes, weight, d = pointer(source.codes), pointer(source.weight), source.d
    has_weight = len(source.weight) > 0
    inner = n_bins - 2
    scale = inner / (2.0 * LIMIT)
    for r in range(m):
        w = weight[at + r] if has_weight else 1.0
        place = (codes[at + r] * d + j) * n_bins
        for q in range(width):
            z = tile[_WIDTH * r + q]
            u = (z + LIMIT) * scale
            if u >= 0.0 and u < inner:
                counts[place + np.int64(u) + 1] += w
            elif z == z:
                counts[place + (n_bins - 1 if u > 0.0 else 0)] += w
            place += n_bins


@llvm_inlined
def _sum_tile(source, at, m, tile, sums):
    """Set sums (k, 5, 8) to weight, mean, and sums of powers of z - mean over the tile."""
    codes, weight, k, skip = pointer(source.codes), pointer(source.weight), source.k, source.skip
    has_weight = len(source.weight) > 0
    zero = splat(0.0)
    for p in range(0, 40 * k, 8):
        store(sums, p, zero)
    for r in range(m):
        p = 40 * codes[at + r]
        w, z = splat(weight[at + r] if has_weight else 1.0), load(tile, _WIDTH * r)
        if skip:
            w, z = where_number(z, w, zero), where_number(z, z, zero)
        store(sums, p, load(sums, p) + w)
        store(sums, p + 8, load(sums, p + 8) + w * z)
    for c in range(k):
        for q in range(8):
            n = sums[40 * c + q]
            sums[40 * c + 8 + q] /= n + (n == 0.0)
    for r in range(m):
        p = 40 * codes[at + r]
        w, z = splat(weight[at + r] if has_weight else 1.0), load(tile, _WIDTH * r)
        if skip:
            w, z = where_number(z, w, zero), where_number(z, z, zero)
        t = z - load(sums, p + 8)
        square = t * t
        w = w * square
        store(sums, p + 16, load(sums, p + 16) + w)
        store(sums, p + 24, load(sums, p + 24) + w * t)
        store(sums, p + 32, load(sums, p + 32) + w * square)


@llvm_inlined
def _moments_of(sums, p):
    """The moments of a lane, of sums (k, 5, 8)."""
    return Moments(sums[p], sums[p + 8], sums[p + 16], sums[p + 24], sums[p + 32])


@llvm_inlined
def _merge_tile(k, width, sums, state):
    """Add the sums (k, 5, 8) of a tile to those of its block."""
    for c in range(k):
        for q in range(width):
            p = 40 * c + q
            if sums[p] != 0.0:
                both = merge_moments(_moments_of(state, p), _moments_of(sums, p))
                state[p], state[p + 8], state[p + 16] = both.weight, both.mean, both.second
                state[p + 24], state[p + 32] = both.third, both.fourth


@kernel(variants=2)
def _describe_blocks(first, last, source, units, bounds, states, counts):
    """Add the rows of blocks to states (segments, groups, k, 5, 8) and counts (segments, k, d, B).

    Block b is group b % groups of eight features of segment b // groups of the rows.
    """
    d, k, n_bins = source.d, source.k, counts.shape[3]
    rows = Rows(pointer(source.data), source.by_columns, source.n, d)
    size, groups = _rows_per_tile(k), round_up(d, _WIDTH) // _WIDTH
    memory, own = np.zeros(_WIDTH * size), np.zeros(40 * k)
    tile, sums = pointer(memory), pointer(own)
    for b in range(first, last):
        segment, j = b // groups, b % groups * _WIDTH
        width = min(_WIDTH, d - j)
        state = shifted(pointer(states), b * 40 * k)
        segment_counts = shifted(pointer(counts), segment * k * d * n_bins)
        for at in range(bounds[segment], bounds[segment + 1], size):
            m = min(size, bounds[segment + 1] - at)
            _standardize(rows, source, units, at, m, j, width, tile)
            _count(source, at, m, j, width, tile, n_bins, segment_counts)
            _sum_tile(source, at, m, tile, sums)
            _merge_tile(k, width, sums, state)
    keep(memory)
    keep(own)


@serial_kernel
def _take_turns(codes, seen, turns):
    """Set turns (n,) to 0 and 1 in turn within each class; seen (k,): rows of the class so far."""
    for i in range(len(codes)):
        turns[i] = seen[codes[i]] & 1
        seen[codes[i]] += 1


def n_segments(n: int, k: int, d: int, n_bins: int) -> int:
    """Segments of n rows, by the shape of the data alone: as their counts leave memory for."""
    fitting = _COUNTS // max(1, k * d * n_bins)
    return max(1, min(_SEGMENTS, fitting, n // _SEGMENT_ROWS))


def describe(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    units: tuple[NDArray[np.float64], NDArray[np.float64]],
    n_bins: int,
    *,
    skip: bool = False,
) -> tuple[Moments, NDArray[np.float64]]:
    """Moments (k, d) and counts (k, d, n_bins) of z = (x - mean) * inv_sd, both (k, d) in `units`.

    X (n, d), codes (n,) in 0..k-1, weights above 0. The inner bins are [e_i, e_i+1), of equal
    width over [-8, 8); the first and the last hold what is below and above. A NaN or an infinity
    shows as a moment that is not finite; with `skip` a NaN is left out.
    Cost: a read of X, and some ten operations a value.
    """
    (n, d), k = X.shape, len(units[0])
    total = Moments(*np.zeros((5, k, d)))
    counts = np.zeros((k, d, n_bins))
    if n == 0 or k == 0 or d == 0:
        return total, counts
    padded = Units(*(_padded(each) for each in units))
    segments = n_segments(n, k, d, n_bins)
    bounds = block_bounds(n, -(-n // segments))
    codes, w = readonly(codes), readonly(np.empty(0) if weight is None else weight)
    for chunk in contiguous_chunks(X, bounds):
        rows = slice(chunk.start, chunk.stop)
        source = Source(
            chunk.data, chunk.by_columns, chunk.stop - chunk.start, d, k, codes[rows], w[rows], skip
        )
        within = bounds[chunk.first : chunk.last + 1] - chunk.start
        total = _add_segments(source, padded, within, total, counts, alone=segments == 1)
    return total, counts


def _add_segments(
    source: Source,
    units: Units,
    bounds: NDArray[np.int64],
    total: Moments,
    counts: NDArray[np.float64],
    *,
    alone: bool,
) -> Moments:
    """Add segments of rows, in their order: the moments so far and these; counts in place.

    alone: whether there is no other segment, so that its counts need no memory of their own.
    """
    k, d = counts.shape[:2]
    segments, groups = len(bounds) - 1, round_up(d, _WIDTH) // _WIDTH
    states = np.zeros((segments, groups, k, 5, _WIDTH))
    parts = counts[None] if alone else np.zeros((segments, *counts.shape))
    work = 8 * source.n * d
    _describe_blocks(segments * groups, source, units, bounds, states, parts, work=work)
    # (segments, 5, k, groups, 8), of which the last features are padding.
    by_moment = states.transpose(0, 3, 2, 1, 4).reshape(segments, 5, k, groups * _WIDTH)[..., :d]
    for part in by_moment:
        with np.errstate(over="ignore", invalid="ignore"):
            total = merge_moments(total, Moments(*part))
    if not alone:
        for part in parts:
            counts += part
    return total


def _padded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    k, d = values.shape
    padded = np.zeros((k, round_up(d, _WIDTH)))
    padded[:, :d] = values
    return readonly(padded)


def take_turns(codes: NDArray[np.int32], seen: NDArray[np.int64]) -> NDArray[np.int8]:
    """0 and 1 in turn within each class, for rows of codes (n,) in 0..k-1.

    seen (k,): rows of each class before these, to which these are added.
    """
    turns = np.empty(len(codes), np.int8)
    _take_turns(readonly(codes), seen, turns)
    return turns


@warmup_call
def _warm() -> None:
    codes, one = np.zeros(2, np.int32), np.ones((1, 1))
    for dtype in (np.float64, np.float32):
        describe(np.zeros((2, 1), dtype), codes, None, (one, one), 4)
    take_turns(codes, np.zeros(1, np.int64))
