"""Squared deviations of 32 rows from the means of k classes, less which their scores are.

The first classes are scored while rows are transposed in registers, four features of sixteen rows
at a time. On the way the features are laid out in a tile, one feature after the other, from which
the other classes are scored: four classes of 32 rows, whose sixteen vectors of scores stay in
registers over all features, for twelve loads and 48 operations a feature. Rows of more features
than the first-level cache holds come in parts, and scores are kept in memory in between.

Later rows are fetched from memory in shares: a share is a cache line for each feature. The classes
that come first fetch what those that follow do not, so that memory is busy all the time.

A number of classes that is odd, or 3 more than a multiple of 4, counts the last class twice.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._numba.decorators import llvm_inlined
from ..._numba.vectors import load, per_line, prefetch_near, splat, store, where_number
from ..rows import four_rows, round_up
from .outputs import update_argmax
from .posterior import GROUP

# Features of a tile: 32 KiB.
PART = 128
# From rows that are scored to those fetched from memory are two groups, or so many elements.
_AHEAD = 2048
# From so many columns on, they are fetched in longer spans. So are more than four to eight, which
# take half as long again in short spans where they come from memory, and not from a cache.
_MANY = 16
_FOUR, _EIGHT = 4, 8
# Rows of columns that are ahead where there are no more than two classes.
_ROWS_AHEAD = 2 * GROUP


class Part(NamedTuple):
    """Features `first` to `stop` of d. `is_last`: none come after them."""

    first: int
    stop: int
    d: int
    is_last: bool


class Ahead(NamedTuple):
    """Cache lines of later rows, of which a group of rows fetches as many as it has itself.

    They are counted over spans of 1 << span_bits elements, from `start` on and `stride` apart; the
    group's begin with line `base`. m: features of the part. early: how many lines for each feature
    are fetched with the first classes.
    """

    data: Any
    start: int
    stride: int
    span_bits: int
    base: int
    m: int
    early: int


@llvm_inlined
def tile_size(d):
    """How many numbers the tile of rows of d features takes."""
    return GROUP * round_up(min(d, PART), 4)


@llvm_inlined
def _lines_ahead(rows, at, part, model):
    """What to fetch with the 32 rows from `at` on.

    Many columns are read in spans of 64 rows, half of the columns with each group of a span. That
    is faster by a fifth, but slower for most numbers of few columns.
    """
    X, shares, m = rows.data, GROUP // per_line(rows.data), part.stop - part.first
    early, bits = max(1, shares - (model.k - 1) // 4), 6
    if part.d <= _FOUR or _EIGHT < part.d < _MANY:
        bits = 5
    span = 1 << bits
    if rows.by_columns:
        start = part.first * rows.n + (at | (span - 1)) + 1 + span
        return Ahead(X, start, rows.n, bits, (at & (span - 1)) // GROUP * shares * m, m, early)
    start = max(at * part.d + _AHEAD, (at + 2 * GROUP) * part.d) + part.first * GROUP
    return Ahead(X, start, span, bits, 0, m, early)


@llvm_inlined
def _top(h, scratch):
    return load(scratch.best, h), load(scratch.label, h)


@llvm_inlined
def _fetch(ahead, i):
    """Fetch line i of those that a group fetches."""
    p = (ahead.base + i) * per_line(ahead.data)
    within = p & ((1 << ahead.span_bits) - 1)
    prefetch_near(ahead.data, ahead.start + (p >> ahead.span_bits) * ahead.stride + within)


@llvm_inlined
def _fetch_early(ahead, j, h):
    """Fetch what goes with features j to j + 4 of the 16 rows from lane h on."""
    i, line = (h // 16 * ahead.m + j) * ahead.early // 2, per_line(ahead.data)
    if ahead.stride == 1 << ahead.span_bits:  # lines follow each other: fewer instructions
        p = ahead.start + i * line
        for _ in range(ahead.early):
            prefetch_near(ahead.data, p)
            prefetch_near(ahead.data, p + line)
            p += 2 * line
    else:
        for _ in range(ahead.early):
            _fetch(ahead, i)
            _fetch(ahead, i + 1)
            i += 2


@llvm_inlined
def _fetch_columns(rows, at, j):
    """Fetch 16 later rows of columns j to j + 4, which are read meanwhile."""
    p = j * rows.n + at + _ROWS_AHEAD
    for _ in range(4):
        for q in range(0, 16, per_line(rows.data)):
            prefetch_near(rows.data, p + q)
        p += rows.n


@llvm_inlined
def load_four(p, at):
    """Elements at to at + 32, as four vectors."""
    return load(p, at), load(p, at + 8), load(p, at + 16), load(p, at + 24)


@llvm_inlined
def _step(a, x, mean, scale):
    t = (x - mean) * scale
    return a - t * t


@llvm_inlined
def _step_skip(a, x, mean, scale, log_norm):
    """As `_step`; the whole term of a NaN, normaliser included, is absent."""
    t = (x - mean) * scale
    return where_number(x, a - (t * t + log_norm), a)


@llvm_inlined
def _take_two(a, x, y, model, p):
    """Take the squares of a feature of one class from the scores a of 16 rows x and y."""
    mean, scale = splat(model.mean[p]), splat(model.scale[p])
    return _step(a[0], x, mean, scale), _step(a[1], y, mean, scale)


@llvm_inlined
def _take_eight(a, x, y, model, p):
    """As `_take_two`, of four features."""
    a = _take_two(a, x[0], y[0], model, p)
    a = _take_two(a, x[1], y[1], model, p + 1)
    a = _take_two(a, x[2], y[2], model, p + 2)
    return _take_two(a, x[3], y[3], model, p + 3)


@llvm_inlined
def _take_four(a, x, model, p):
    """Take the squares of a feature of one class from the scores a of 32 rows x."""
    mean, scale = splat(model.mean[p]), splat(model.scale[p])
    return (
        _step(a[0], x[0], mean, scale),
        _step(a[1], x[1], mean, scale),
        _step(a[2], x[2], mean, scale),
        _step(a[3], x[3], mean, scale),
    )


@llvm_inlined
def _start_two(model, c, h, part, s):
    """The scores of 16 rows, from lane h on, and class c before the features of a part."""
    if part.first > 0:
        return load(s, c * GROUP + h), load(s, c * GROUP + h + 8)
    v = splat(model.const[c])
    return v, v


@llvm_inlined
def _start_four(model, c, part, s):
    if part.first > 0:
        return load_four(s, c * GROUP)
    v = splat(model.const[c])
    return v, v, v, v


@llvm_inlined
def _better(a, c, h, part, model, keeps, top, scratch):
    """The better of the scores a of eight rows and `top`, their best scores and labels so far."""
    if keeps or not part.is_last:
        store(scratch.s, c * GROUP + h, a)
    return update_argmax(a, splat(model.values[c]), top[0], top[1])


@llvm_inlined
def _finish_two(a, classes, h, part, model, keeps, top, scratch):
    """Keep what two classes score eight rows, from lane h on, or with the last features the best.

    Where one class is left, it comes twice.
    """
    top = _better(a[0], classes[0], h, part, model, keeps, top, scratch)
    best, label = _better(a[1], classes[1], h, part, model, keeps, top, scratch)
    if part.is_last:
        store(scratch.best, h, best)
        store(scratch.label, h, label)


@llvm_inlined
def _finish_four(a, classes, h, part, model, keeps, top, scratch):
    """As `_finish_two`, of four classes; where fewer are left, the last comes again."""
    top = _better(a[0], classes[0], h, part, model, keeps, top, scratch)
    top = _better(a[1], classes[1], h, part, model, keeps, top, scratch)
    top = _better(a[2], classes[2], h, part, model, keeps, top, scratch)
    best, label = _better(a[3], classes[3], h, part, model, keeps, top, scratch)
    if part.is_last:
        store(scratch.best, h, best)
        store(scratch.label, h, label)


@llvm_inlined
def _lay_out(tile, p, x, y):
    store(tile, p, x[0])
    store(tile, p + 8, y[0])
    store(tile, p + GROUP, x[1])
    store(tile, p + GROUP + 8, y[1])
    store(tile, p + 2 * GROUP, x[2])
    store(tile, p + 2 * GROUP + 8, y[2])
    store(tile, p + 3 * GROUP, x[3])
    store(tile, p + 3 * GROUP + 8, y[3])


@llvm_inlined
def _first_four_classes(rows, at, h, part, model, keeps, ahead, scratch):
    """Lay out 16 rows, from lane h on, in the tile, and score up to four classes."""
    tile, s, d, last = scratch.extra, scratch.s, part.d, model.k - 1
    c1, c2, c3 = min(1, last), min(2, last), min(3, last)
    a0, a1 = _start_two(model, 0, h, part, s), _start_two(model, c1, h, part, s)
    a2, a3 = _start_two(model, c2, h, part, s), _start_two(model, c3, h, part, s)
    whole = part.stop - (part.stop - part.first) % 4
    for j in range(part.first, whole, 4):
        x, y = four_rows(rows, at + h, j), four_rows(rows, at + h + 8, j)
        _fetch_early(ahead, j - part.first, h)
        _lay_out(tile, (j - part.first) * GROUP + h, x, y)
        a0 = _take_eight(a0, x, y, model, j)
        a1 = _take_eight(a1, x, y, model, j + c1 * d)
        a2 = _take_eight(a2, x, y, model, j + c2 * d)
        a3 = _take_eight(a3, x, y, model, j + c3 * d)
    if whole < part.stop:
        x, y = four_rows(rows, at + h, whole), four_rows(rows, at + h + 8, whole)
        _fetch_early(ahead, whole - part.first, h)
        _lay_out(tile, (whole - part.first) * GROUP + h, x, y)
    for j in range(whole, part.stop):
        p = (j - part.first) * GROUP + h
        v, w = load(tile, p), load(tile, p + 8)
        a0 = _take_two(a0, v, w, model, j)
        a1 = _take_two(a1, v, w, model, j + c1 * d)
        a2 = _take_two(a2, v, w, model, j + c2 * d)
        a3 = _take_two(a3, v, w, model, j + c3 * d)
    classes, top = (0, c1, c2, c3), (splat(-np.inf), splat(model.values[0]))
    a, b = (a0[0], a1[0], a2[0], a3[0]), (a0[1], a1[1], a2[1], a3[1])
    _finish_four(a, classes, h, part, model, keeps, top, scratch)
    _finish_four(b, classes, h + 8, part, model, keeps, top, scratch)


@llvm_inlined
def _first_two_classes(rows, at, h, part, model, keeps, ahead, scratch):
    """As `_first_four_classes`, of one or two classes, which are all."""
    tile, s, d, c1 = scratch.extra, scratch.s, part.d, model.k - 1
    a0, a1 = _start_two(model, 0, h, part, s), _start_two(model, c1, h, part, s)
    whole = part.stop - (part.stop - part.first) % 4
    for j in range(part.first, whole, 4):
        x, y = four_rows(rows, at + h, j), four_rows(rows, at + h + 8, j)
        if rows.by_columns and d >= _MANY:
            _fetch_columns(rows, at + h, j)
        else:
            _fetch_early(ahead, j - part.first, h)
        a0 = _take_eight(a0, x, y, model, j)
        a1 = _take_eight(a1, x, y, model, j + c1 * d)
    if whole < part.stop:
        x, y = four_rows(rows, at + h, whole), four_rows(rows, at + h + 8, whole)
        _fetch_early(ahead, whole - part.first, h)
        _lay_out(tile, 0, x, y)
    for j in range(part.stop - whole):
        v, w = load(tile, j * GROUP), load(tile, j * GROUP + 8)
        a0 = _take_two(a0, v, w, model, whole + j)
        a1 = _take_two(a1, v, w, model, whole + j + c1 * d)
    classes, top = (0, c1), (splat(-np.inf), splat(model.values[0]))
    _finish_two((a0[0], a1[0]), classes, h, part, model, keeps, top, scratch)
    _finish_two((a0[1], a1[1]), classes, h + 8, part, model, keeps, top, scratch)


@llvm_inlined
def _late_line(ahead, c):
    """The first line that is fetched with classes from c on; the last one where none is left."""
    return min(ahead.early + c // 4 - 1, GROUP // per_line(ahead.data) - 1) * ahead.m


@llvm_inlined
def _four_classes(c, part, model, keeps, ahead, scratch):
    """Score up to four classes, from c on, of 32 rows in the tile."""
    s, first, d, last = scratch.s, part.first, part.d, model.k - 1
    c1, c2, c3 = min(c + 1, last), min(c + 2, last), min(c + 3, last)
    a0, a1 = _start_four(model, c, part, s), _start_four(model, c1, part, s)
    a2, a3 = _start_four(model, c2, part, s), _start_four(model, c3, part, s)
    line = _late_line(ahead, c)
    for j in range(part.stop - first):
        x = load_four(scratch.extra, j * GROUP)
        _fetch(ahead, line + j)
        a0 = _take_four(a0, x, model, first + j + c * d)
        a1 = _take_four(a1, x, model, first + j + c1 * d)
        a2 = _take_four(a2, x, model, first + j + c2 * d)
        a3 = _take_four(a3, x, model, first + j + c3 * d)
    classes = c, c1, c2, c3
    a, top = (a0[0], a1[0], a2[0], a3[0]), _top(0, scratch)
    _finish_four(a, classes, 0, part, model, keeps, top, scratch)
    a, top = (a0[1], a1[1], a2[1], a3[1]), _top(8, scratch)
    _finish_four(a, classes, 8, part, model, keeps, top, scratch)
    a, top = (a0[2], a1[2], a2[2], a3[2]), _top(16, scratch)
    _finish_four(a, classes, 16, part, model, keeps, top, scratch)
    a, top = (a0[3], a1[3], a2[3], a3[3]), _top(24, scratch)
    _finish_four(a, classes, 24, part, model, keeps, top, scratch)


@llvm_inlined
def _two_classes(c, part, model, keeps, ahead, scratch):
    """As `_four_classes`, of one or two classes."""
    s, first, d, c1 = scratch.s, part.first, part.d, model.k - 1
    a0, a1 = _start_four(model, c, part, s), _start_four(model, c1, part, s)
    line = _late_line(ahead, c)
    for j in range(part.stop - first):
        x = load_four(scratch.extra, j * GROUP)
        _fetch(ahead, line + j)
        a0 = _take_four(a0, x, model, first + j + c * d)
        a1 = _take_four(a1, x, model, first + j + c1 * d)
    _finish_two((a0[0], a1[0]), (c, c1), 0, part, model, keeps, _top(0, scratch), scratch)
    _finish_two((a0[1], a1[1]), (c, c1), 8, part, model, keeps, _top(8, scratch), scratch)
    _finish_two((a0[2], a1[2]), (c, c1), 16, part, model, keeps, _top(16, scratch), scratch)
    _finish_two((a0[3], a1[3]), (c, c1), 24, part, model, keeps, _top(24, scratch), scratch)


@llvm_inlined
def _start_argmax(model, scratch):
    for h in range(0, GROUP, 8):
        store(scratch.best, h, splat(-np.inf))
        store(scratch.label, h, splat(model.values[0]))


@llvm_inlined
def score_classes(rows, at, model, keeps, scratch):
    """Set the best scores of 32 rows, scratch.best, and their labels; with `keeps` all scores.

    `keeps` is a constant. Without it scratch.s is not used up to PART features. scratch.extra is
    memory for the tile.
    """
    k, d = model.k, rows.d
    for first in range(0, d, PART):
        stop = min(first + PART, d)
        part = Part(first, stop, d, stop == d)
        ahead = _lines_ahead(rows, at, part, model)
        for h in range(0, GROUP, 16):
            if k > 2:
                _first_four_classes(rows, at, h, part, model, keeps, ahead, scratch)
            else:
                _first_two_classes(rows, at, h, part, model, keeps, ahead, scratch)
        for c in range(4, k, 4):
            if k - c > 2:
                _four_classes(c, part, model, keeps, ahead, scratch)
            else:
                _two_classes(c, part, model, keeps, ahead, scratch)


@llvm_inlined
def score_classes_skip(rows, at, model, scratch):
    """As `score_classes` with `keeps`; terms of NaN are left out."""
    s, d = scratch.s, rows.d
    _start_argmax(model, scratch)
    for first in range(0, d, 4):
        stop = min(first + 4, d)
        part = Part(first, stop, d, stop == d)
        for h in range(0, GROUP, 8):
            for q, x in enumerate(four_rows(rows, at + h, first)):
                store(scratch.extra, 8 * q, x)
            for c in range(model.k):
                a = load(s, c * GROUP + h) if first > 0 else splat(model.const[c])
                for j in range(stop - first):
                    p = c * d + first + j
                    mean, scale = splat(model.mean[p]), splat(model.scale[p])
                    norm = splat(model.log_norm[p])
                    a = _step_skip(a, load(scratch.extra, 8 * j), mean, scale, norm)
                best, label = _better(a, c, h, part, model, True, _top(h, scratch), scratch)
                if part.is_last:
                    store(scratch.best, h, best)
                    store(scratch.label, h, label)
