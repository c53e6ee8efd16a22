"""Categorical columns of a table of floats: ranges of their numbers, and weights by class.

Counts of rows by class are sums of `mixed`, which are exact in any order. Weights are added here,
in the order of the rows, some thousands at a time, so that sums of many keep their digits.

Flags: FMA contraction only; the only arithmetic here is the sum of weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, readonly, warmup_call
from ..._numba.vectors import (
    load,
    pointer,
    shifted,
    splat,
    store,
    where_equal,
    where_greater,
    where_number,
)
from ..chunks import as_flat
from ..rows import OVERREAD
from ..slots import Table, first_features
from .mixed import look_up
from .tiles import Source

# Adding and taking away 1.5 2^52 rounds numbers below 2^51 to whole ones.
_WHOLE = 6755399441055744.0
# Elements of rows that stay in the first level of the cache while groups of columns are read.
_NEAR = 1 << 12
# Rows of one block, and weights that are added one after the other.
_BLOCK, _SHORT = 1 << 12, 1 << 11
# Most blocks in which ranges are looked for.
_BLOCKS = 256
# Bytes of codes that are in memory at a time.
_CACHE_BYTES = 1 << 21


class Ranges(NamedTuple):
    """Of each of q columns: the least and the greatest number, infinite where there is none,
    whether a value is missing, and whether one is no whole number."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    has_missing: NDArray[np.bool_]
    is_odd: NDArray[np.bool_]


@llvm_inlined
def _widen(x, low, high, odd, missing):
    """Ranges and marks of eight columns, or rows, with one more number of each."""
    one = splat(1.0)
    whole = (x + splat(_WHOLE)) - splat(_WHOLE)
    low, high = where_greater(low, x, x, low), where_greater(x, high, x, high)
    odd = where_number(x, where_equal(whole, x, odd, one), odd)
    return low, high, odd, where_number(x, missing, one)


@llvm_inlined
def _widen_all(data, p, step, m, found, at, width):
    """Widen the ranges at `at` by m vectors, `step` apart."""
    low, high = load(found, at), load(found, at + width)
    odd, missing = load(found, at + 2 * width), load(found, at + 3 * width)
    for _ in range(m):
        low, high, odd, missing = _widen(load(data, p), low, high, odd, missing)
        p += step
    store(found, at, low)
    store(found, at + width, high)
    store(found, at + 2 * width, odd)
    store(found, at + 3 * width, missing)


@kernel(variants=2)
def _find_ranges(first, last, source, units, start, found):
    """Widen found (blocks, 4, 8 g) by blocks of 8 `units` rows, of groups of eight columns.

    By columns a group is one column, with every eighth row of a block in a lane.
    """
    n, d, width, by_columns = source.n, source.d, found.shape[2], source.by_columns
    data, n_blocks, n_starts = pointer(source.data), len(found), len(start)
    starts = pointer(start)
    near = max(8, _NEAR // d)
    for b in range(first, last):
        begin, end = 8 * (b * units // n_blocks), 8 * ((b + 1) * units // n_blocks)
        out = shifted(pointer(found), b * 4 * width)
        for at in range(begin, end, near):
            m = min(near, end - at)
            for g in range(n_starts):
                if by_columns:
                    _widen_all(data, starts[g] * n + at, 8, m // 8, out, 8 * g, width)
                else:
                    _widen_all(data, at * d + starts[g], d, m, out, 8 * g, width)


def find_ranges(X: NDArray[Any], columns: NDArray[np.int64]) -> Ranges | None:
    """The ranges of sorted columns (q,) of X, unless it is no contiguous array of native floats.

    Cost: one read of the columns.
    """
    contiguous = as_flat(X)
    if contiguous is None:
        return None
    data, by_columns = contiguous
    n, d = X.shape
    units = max(0, n - OVERREAD) // 8
    ranges = _ranges_of_few(X[8 * units :, columns])
    if not units:
        return ranges
    start, at = first_features(columns, by_columns)
    found = np.empty((max(1, min(8 * units // _BLOCK, _BLOCKS)), 4, 8 * len(start)))
    found[:, 0], found[:, 1], found[:, 2:] = np.inf, -np.inf, 0.0
    source = Source(data, by_columns, n, d, 0, 0, False)
    _find_ranges(len(found), source, units, start, found, work=8 * n * len(columns))
    low, (high, odd, missing) = found[:, 0].min(axis=0), found[:, 1:].max(axis=0)
    if by_columns:
        low = low.reshape(-1, 8).min(axis=1).repeat(8)
        high, odd, missing = (
            each.reshape(-1, 8).max(axis=1).repeat(8) for each in (high, odd, missing)
        )
    low, high, odd, missing = (each[at] for each in (low, high, odd, missing))
    return Ranges(
        np.minimum(ranges.low, low),
        np.maximum(ranges.high, high),
        ranges.has_missing | (missing > 0),
        ranges.is_odd | (odd > 0),
    )


def _ranges_of_few(values: NDArray[Any]) -> Ranges:
    """The ranges of columns (n, q)."""
    values = values.astype(np.float64)
    is_missing = np.isnan(values)
    low = np.where(is_missing, np.inf, values).min(axis=0, initial=np.inf)
    high = np.where(is_missing, -np.inf, values).max(axis=0, initial=-np.inf)
    is_odd = ~is_missing & (np.rint(values) != values)
    return Ranges(low, high, is_missing.any(axis=0), is_odd.any(axis=0))


@llvm_inlined
def _cell(c, width, code):
    return c * width + (code if code >= 0 else width - 1)


@kernel
def _add_weights(first, last, codes, classes, weight, widths, at, lengths, left, parts, sums):
    """Add rows of classes (m,) and codes (q, m) to the counts of columns first to last.

    The counts of column q and class c begin at at[q] + c widths[q]. The last of them is of codes
    below 0, too. Weights (m,), where there are any, go through parts of lengths[q] weights, of
    which left[q] are still to come.
    """
    m, has_weight = codes.shape[1], len(weight) > 0
    for q in range(first, last):
        code, width = shifted(pointer(codes), q * m), widths[q]
        total, part = shifted(pointer(sums), at[q]), shifted(pointer(parts), at[q])
        if not has_weight:
            for r in range(m):
                total[_cell(classes[r], width, code[r])] += 1.0
            continue
        for r in range(m):
            part[_cell(classes[r], width, code[r])] += weight[r]
            left[q] -= 1
            if left[q] == 0:
                left[q] = lengths[q]
                for p in range(at[q + 1] - at[q]):
                    total[p] += part[p]
                    part[p] = 0.0


def add_weights(
    table: Table,
    widths: NDArray[np.int64],
    classes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    k: int,
) -> list[NDArray[np.float64]]:
    """Weights (k, widths[q]) of each class and each slot of the columns of a table.

    Cost: one read of the columns.
    """
    n = len(table.X)
    step = max(1, _CACHE_BYTES // (4 * len(widths) * _BLOCK)) * _BLOCK
    parts = (look_up(table, at, min(at + step, n)) for at in range(0, n, step))
    return _sums_of(parts, widths, classes, weight, k)


def count_codes(
    codes: NDArray[np.int32],
    width: int,
    classes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    k: int,
) -> NDArray[np.float64]:
    """Weights (k, width) of each class and each of the codes (n,), which are -1 for the last."""
    parts = iter([np.ascontiguousarray(codes, np.int32).reshape(1, -1)])
    return _sums_of(parts, np.array([width], np.int64), classes, weight, k)[0]


def _sums_of(
    parts: Iterator[NDArray[np.int32]],
    widths: NDArray[np.int64],
    classes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    k: int,
) -> list[NDArray[np.float64]]:
    """Weights (k, widths[q]) by class and code of rows whose codes (q, m) come in parts."""
    at = np.cumsum([0, *(k * widths)]).astype(np.int64)
    sums, partial = np.zeros(at[-1]), np.zeros(0 if weight is None else at[-1])
    lengths = np.maximum(_SHORT, k * widths // 8)
    left, classes, start = lengths.copy(), readonly(np.ascontiguousarray(classes)), 0
    weight = readonly(np.empty(0) if weight is None else np.ascontiguousarray(weight))
    for codes in parts:
        stop = start + codes.shape[1]
        _add_weights(
            len(codes), readonly(codes), classes[start:stop], weight[start:stop], widths, at,
            lengths, left, partial, sums, work=8 * codes.size,
        )  # fmt: skip
        start = stop
    if len(partial):
        sums += partial
    return [sums[at[q] : at[q + 1]].reshape(k, width) for q, width in enumerate(widths.tolist())]


@warmup_call
def _warm() -> None:
    one = np.zeros(1, np.int64)
    count_codes(np.zeros(1, np.int32), 2, np.zeros(1, np.int32), None, 1)
    for dtype in (np.float64, np.float32):
        find_ranges(np.zeros((OVERREAD + 8, 1), dtype), one)
