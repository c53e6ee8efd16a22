"""Scores of 32 rows in fixed point, and which of them have a best class that is certain.

A word holds a feature and its square, as int16, and another its coefficients in a class. The sum of
both products is one instruction for sixteen rows where the processor has VNNI, and two elsewhere.
Whole numbers have no rounding but that of rows and coefficients: see `fixed_point`.

Flags: FMA contraction only.
"""

from __future__ import annotations

from ..._numba.decorators import jit_helper, llvm_inlined
from ..._numba.singles import greater_mask, splat_single, where_single_greater
from ..._numba.words import (
    add_products,
    distance,
    load_words,
    paired,
    splat_word,
    store_words,
    where_word_greater,
)
from .fixed_point import RATIO, REACH
from .float32 import ahead_of, centred_rows, fetch, fetch_early, late_share
from .posterior import GROUP


@llvm_inlined
def _add(x, unit, steep, sums):
    """The words of a feature x of sixteen rows, and sums over features with those of x."""
    z = x * unit
    size = where_single_greater(z, splat_single(0.0), z, splat_single(0.0) - z)
    square = z * z * splat_single(RATIO)
    most, total, norm = sums
    share = z * steep
    most = where_single_greater(size, most, size, most)
    return paired(z, square), (most, total + size + square, norm + share * share)


@llvm_inlined
def fill_words(rows, at, model, tile):
    """Set the tile to the words of 32 rows; sums over features, of sixteen rows each.

    They are the largest feature, the sum of features and squares, and the squared norm. Features
    past d count as 0.
    """
    zero = splat_single(0.0)
    low = high = (zero, zero, zero)
    for j in range(0, rows.d, 8):
        for h in range(0, GROUP, 16):
            sums = low if h == 0 else high
            for q, x in enumerate(centred_rows(rows, at + h, j, model.centre)):
                unit, steep = splat_single(model.unit[j + q]), splat_single(model.steep[j + q])
                words, sums = _add(x, unit, steep, sums)
                store_words(tile, (j + q) * GROUP + h, words)
            if h == 0:
                low = sums
            else:
                high = sums
    return low, high


@llvm_inlined
def score_four(tile, d, words, p, s, ahead):
    """Scores of 32 rows in four classes, whose words begin at p and d further on each, from s.

    A line of those ahead is fetched with each feature.
    """
    a0, a1, b0, b1 = s[0], s[0], s[1], s[1]
    c0, c1, e0, e1 = s[2], s[2], s[3], s[3]
    for j in range(d):
        x0, x1 = load_words(tile, j * GROUP), load_words(tile, j * GROUP + 16)
        fetch(ahead, j)
        w = splat_word(words[p + j])
        a0, a1 = add_products(a0, x0, w), add_products(a1, x1, w)
        w = splat_word(words[p + j + d])
        b0, b1 = add_products(b0, x0, w), add_products(b1, x1, w)
        w = splat_word(words[p + j + 2 * d])
        c0, c1 = add_products(c0, x0, w), add_products(c1, x1, w)
        w = splat_word(words[p + j + 3 * d])
        e0, e1 = add_products(e0, x0, w), add_products(e1, x1, w)
    return (a0, b0, c0, e0), (a1, b1, c1, e1)


@llvm_inlined
def _update(s, c, top):
    """The best of scores s and those before, the second best, and the best one's class."""
    best, second, label = top
    lower = where_word_greater(best, s, s, best)
    second = where_word_greater(lower, second, lower, second)
    label = where_word_greater(s, best, splat_word(c), label)
    return where_word_greater(s, best, s, best), second, label


@llvm_inlined
def _update_four(s, c, top):
    top = _update(s[0], c, top)
    top = _update(s[1], c + 1, top)
    top = _update(s[2], c + 2, top)
    return _update(s[3], c + 3, top)


@llvm_inlined
def _is_certain(top, sums, model):
    """A bit for each of sixteen rows whose best class is certain."""
    most, total, norm = sums
    bound = splat_single(model.error) + splat_single(1.003) * total
    certain = greater_mask(distance(top[0], top[1]), bound)
    certain &= greater_mask(splat_single(model.limit), norm)
    return certain & greater_mask(splat_single(REACH + 0.5), most)


@jit_helper
def certify_words(rows, at, model, tile, position):
    """Find the best classes of 32 rows; a bit for each that is certain."""
    d = rows.d
    fetch_early(rows, at, model.fixed // 4)
    low, high = fill_words(rows, at, model, tile)
    none = splat_word(-(1 << 31))
    top0 = top1 = (none, none, splat_word(0))
    for c in range(0, model.fixed, 4):
        s = (
            splat_word(model.begin[c]),
            splat_word(model.begin[c + 1]),
            splat_word(model.begin[c + 2]),
            splat_word(model.begin[c + 3]),
        )
        ahead = ahead_of(rows, at, late_share(rows, c // 4, model.fixed // 4))
        s0, s1 = score_four(tile, d, model.words, c * d, s, ahead)
        top0, top1 = _update_four(s0, c, top0), _update_four(s1, c, top1)
    store_words(position, 0, top0[2])
    store_words(position, 16, top1[2])
    return _is_certain(top0, low, model) | _is_certain(top1, high, model) << 16
