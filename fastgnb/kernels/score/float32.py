"""Scores of 32 rows in float32, and which of them have a best class that is certain.

Rows are centred and rounded, those of float64 in float64. A class costs two multiply-adds a
feature, of sixteen rows at a time: t = x a + b, s -= t t. The best and the second best score of a
row are kept. See `certificate` for the bound on their errors.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._numba.decorators import llvm_inlined
from ..._numba.singles import (
    centred,
    centred_columns,
    greater_mask,
    load_singles,
    splat_single,
    store_singles,
    where_single_greater,
)
from ..._numba.vectors import load, per_line, prefetch, splat
from ..._numba.words import splat_word, store_words
from .posterior import GROUP

# From rows that are scored to those fetched from memory are two groups, or so many lines.
_AHEAD, _LINES = 2 * GROUP, 128
# Rows of the spans in which columns are fetched, as a power of two.
_SPAN_BITS = 6


class Ahead(NamedTuple):
    """Lines that are fetched, one a feature: the j-th is (first + j) `per` elements from `start`.

    Every 2^bits elements are `stride` apart.
    """

    data: Any
    start: int
    first: int
    per: int
    bits: int
    stride: int


@llvm_inlined
def shares(rows):
    """How many lines a feature of 32 rows takes."""
    return GROUP // per_line(rows.data)


@llvm_inlined
def ahead_of(rows, at, share):
    """A share of the lines that are fetched while the 32 rows from `at` on are scored.

    Of columns, half are fetched with each group, in spans of the rows of two groups: they are in
    pages of their own. Lines are asked for by their last element, as a column begins anywhere in
    one: the first line of a span came with the span before.
    """
    X, d, n, per = rows.data, rows.d, rows.n, per_line(rows.data)
    if not rows.by_columns:
        return Ahead(X, max(at * d + _LINES * per, (at + _AHEAD) * d), share * d, per, 5, GROUP)
    span = 1 << _SPAN_BITS
    column = ((at & (span - 1)) >> 5) * d >> (_SPAN_BITS - 5)
    start = column * n + (at | (span - 1)) + span + per
    return Ahead(X, start, share * d, per, _SPAN_BITS, n)


@llvm_inlined
def fetch(ahead, j):
    """Fetch the line that goes with feature j."""
    p = (ahead.first + j) * ahead.per
    within = p & ((1 << ahead.bits) - 1)
    prefetch(ahead.data, ahead.start + (p >> ahead.bits) * ahead.stride + within)


@llvm_inlined
def fetch_early(rows, at, scored):
    """Fetch the shares from `scored` on, for which there are no classes to go with."""
    for i in range(scored, shares(rows)):
        ahead = ahead_of(rows, at, i)
        for j in range(rows.d):
            fetch(ahead, j)


@llvm_inlined
def late_share(rows, i, n):
    """The share that is fetched with the classes that are scored together, i of n."""
    return i * shares(rows) // max(n, shares(rows))


@llvm_inlined
def fill(rows, at, centre, tile):
    """Set the tile to 32 rows from `at` on, less the centre; past d features it means nothing."""
    for j in range(0, rows.d, 8):
        for h in range(0, GROUP, 16):
            for q, x in enumerate(centred_rows(rows, at + h, j, centre)):
                store_singles(tile, (j + q) * GROUP + h, x)


@llvm_inlined
def centred_rows(rows, at, j, centre):
    """Features j to j + 8 of rows at to at + 16, less the centre; past d they mean nothing."""
    if rows.by_columns:
        X, n = rows.data, rows.n
        last = (rows.d - 1) * n + at
        p = j * n + at
        return (
            _column(X, p, centre[j]),
            _column(X, min(p + n, last), centre[j + 1]),
            _column(X, min(p + 2 * n, last), centre[j + 2]),
            _column(X, min(p + 3 * n, last), centre[j + 3]),
            _column(X, min(p + 4 * n, last), centre[j + 4]),
            _column(X, min(p + 5 * n, last), centre[j + 5]),
            _column(X, min(p + 6 * n, last), centre[j + 6]),
            _column(X, min(p + 7 * n, last), centre[j + 7]),
        )
    return centred_columns(rows.data, at * rows.d + j, rows.d, load(centre, j))


@llvm_inlined
def _column(X, p, centre):
    return centred(X, p, splat(centre))


@llvm_inlined
def _step(s, x, a, b):
    t = x * a + b
    return s - t * t


@llvm_inlined
def _update(s, c, best, second, label):
    """The best of scores s and `best`, the second best, and the best one's class."""
    lower = where_single_greater(best, s, s, best)
    second = where_single_greater(lower, second, lower, second)
    label = where_single_greater(s, best, c, label)
    return where_single_greater(s, best, s, best), second, label


@llvm_inlined
def score_two(tile, d, pairs, p, s, z, ahead):
    """Scores of 32 rows in two classes, whose pairs begin at p and p + 2 d, from s and z on.

    A line of those ahead is fetched with each feature.
    """
    s0, s1, z0, z1 = s, s, z, z
    for j in range(d):
        x0, x1 = load_singles(tile, j * GROUP), load_singles(tile, j * GROUP + 16)
        fetch(ahead, j)
        q = p + 2 * j
        a, b = splat_single(pairs[q]), splat_single(pairs[q + 1])
        s0, s1 = _step(s0, x0, a, b), _step(s1, x1, a, b)
        q += 2 * d
        a, b = splat_single(pairs[q]), splat_single(pairs[q + 1])
        z0, z1 = _step(z0, x0, a, b), _step(z1, x1, a, b)
    return s0, s1, z0, z1


@llvm_inlined
def _is_certain(best, second, model):
    """A bit for each row whose best class is certain."""
    bound = splat_single(model.floor) - splat_single(model.slope) * (best + second)
    return greater_mask(best - second, bound)


@llvm_inlined
def certify(rows, at, model, tile, position):
    """Find the best classes of 32 rows; a bit for each that is certain."""
    d = rows.d
    n = (model.live + 1) // 2
    fetch_early(rows, at, n)
    fill(rows, at, model.centre, tile)
    none = splat_single(-np.inf)
    best0, best1, second0, second1 = none, none, none, none
    label0 = label1 = splat_word(0)
    for i in range(0, model.live, 2):
        # With an odd number, the last is scored twice, and the second time as impossible.
        is_pair = i + 1 < model.live
        z = splat_single(model.start[i + 1]) if is_pair else none
        s = splat_single(model.start[i])
        c = splat_word(i)
        ahead = ahead_of(rows, at, late_share(rows, i // 2, n))
        s0, s1, z0, z1 = score_two(tile, d, model.pairs, 2 * i * d, s, z, ahead)
        best0, second0, label0 = _update(s0, c, best0, second0, label0)
        best1, second1, label1 = _update(s1, c, best1, second1, label1)
        c = splat_word(i + 1)
        best0, second0, label0 = _update(z0, c, best0, second0, label0)
        best1, second1, label1 = _update(z1, c, best1, second1, label1)
    store_words(position, 0, label0)
    store_words(position, 16, label1)
    return _is_certain(best0, second0, model) | _is_certain(best1, second1, model) << 16
