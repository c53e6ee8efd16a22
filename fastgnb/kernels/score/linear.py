"""Labels of classes that share a covariance, by scores that are linear in the row.

With one whitener W for all classes, and scales that are the same in each, the score of class c is

    s_c = const_c - sum_j scale_j^2 (z_j - mean_cj)^2,    z = W u,    u = x - centre.

What is quadratic in z is common to all classes, and the label is the class where

    l_c = offset_c + slope_c u,    offset_c = const_c - sum_j (scale_j mean_cj)^2,
                                   slope_c = 2 sum_j scale_j^2 mean_cj W_j,

is largest: d multiply-adds a class, in place of those of the whitened row and its squares.

Labels are those of the scores of `whitened` nevertheless, bit for bit. Where the two largest l_c
are so near that rounding might have exchanged them, here or there, `whitened` decides. With the
unit roundoff v = 2^-53, gamma_n = n v / (1 - n v), M the largest norm of scale mean_c, B the
largest |const_c| and 1, p_f the norm of scale W_f, and t = sum_f p_f |u_f|, which bounds the norm
of scale z:

- u is the same float64 number in both. z is computed with errors that are the same for all classes;
  they move the difference of two scores by at most gamma_d 4 M t.
- A score is computed of that z with an error of at most gamma_(r+4) (B + (t + M)^2).
- slope and offset have errors of at most gamma_(r+4) 2 M p_f and gamma_(r+4) (B + M^2).
- l_c is computed of these with an error of at most gamma_d (B + M^2 + 2 M t).

Since 2 M t + M^2 <= (t + M)^2, a difference of two l_c is off by at most 4 d + 6 r + 32 times
v (B + (t + M)^2) in all. The margin that is asked for has 8 (d + r + 8), which leaves more than
the terms of second order and the rounding of the margin itself. NaN, infinity and what overflows
never pass. Underflow adds less than B v where the numbers are within 1e-100 and 1e100, which is
asked for. It does not matter for labels how slopes are summed, and so on which machine.

Flags: FMA contraction only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, warmup_call
from ..._numba.vectors import (
    aligned,
    all_greater,
    keep,
    load,
    pointer,
    shifted,
    splat,
    store,
    where_greater,
)
from ..rows import fetch_share, four_rows, round_up
from .driver import rows_of_block, run, sources, tail_of
from .outputs import Outputs, Scores, Wanted, update_argmax
from .posterior import GROUP
from .squares import PART, load_four, tile_size

# Rows between those scored and those fetched from memory.
_AHEAD = 2 * GROUP
# Groups of a block that are left to `whitened` until it gets the rest of the block, too.
_MOST = 8
# Groups that are labelled between two that are not, at most, for these to be scored at once, and
# most pieces in which that happens.
_GAP, _PIECES = 8, 64
# Least multiply-adds that are saved for parameters to be worth deriving, and least rows a class.
_LEAST_WORK, _LEAST_ROWS = 1 << 23, 128
_LARGE = 1e100


class LinearTerms(NamedTuple):
    """Parameters of k classes that share a whitener.

    centre, span (d,): the span of a feature is the norm of its column of the whitener. slope
    (k, d), offset (k,). error: what v (B + (t + M)^2) is multiplied by; base: B; reach: M.
    """

    centre: NDArray[np.float64]
    span: NDArray[np.float64]
    slope: NDArray[np.float64]
    offset: NDArray[np.float64]
    error: float
    base: float
    reach: float


class Packed(NamedTuple):
    """`LinearTerms` and what is put out for k classes as kernels take them, in one array.

    An odd number of classes is followed by one that never wins.
    """

    k: int
    error: float
    base: float
    reach: float
    numbers: NDArray[np.float64]


class LinearModel(NamedTuple):
    """`Packed` inside a kernel."""

    k: int
    centre: Any
    span: Any
    slope: Any
    offset: Any
    values: Any


class Marked(NamedTuple):
    """Labels (n,) and marks of groups of 32 rows that have none."""

    labels: NDArray[np.float64]
    marks: NDArray[np.uint8]


@llvm_inlined
def _magnitude(u):
    negative = splat(0.0) - u
    return where_greater(u, negative, u, negative)


@llvm_inlined
def _centre(rows, at, first, m, model, tile, sizes):
    """Lay out deviations from the centre of m features of 32 rows, feature by feature, in a tile.

    Their sizes by span are added to `sizes` (32,), which begin anew with the first feature.
    """
    for h in range(0, GROUP, 8):
        t = splat(0.0) if first == 0 else load(sizes, h)
        for j in range(0, m, 4):
            fetch_share(rows, at + _AHEAD, h, first, j, m, 4)
            for q, x in enumerate(four_rows(rows, at + h, first + j)):
                if j + q < m:
                    u = x - splat(model.centre[first + j + q])
                    store(tile, (j + q) * GROUP + h, u)
                    t = t + _magnitude(u) * splat(model.span[first + j + q])
        store(sizes, h, t)


@llvm_inlined
def _add(a, u, slope):
    w = splat(slope)
    return a[0] + u[0] * w, a[1] + u[1] * w, a[2] + u[2] * w, a[3] + u[3] * w


@llvm_inlined
def _start(c, first, model, s):
    if first > 0:
        return load_four(s, c * GROUP)
    v = splat(model.offset[c])
    return v, v, v, v


@llvm_inlined
def _store_four(p, at, v):
    store(p, at, v[0])
    store(p, at + 8, v[1])
    store(p, at + 16, v[2])
    store(p, at + 24, v[3])


@llvm_inlined
def _four_classes(c, first, m, d, model, tile, s):
    """Add the terms of m features to the scores s (k, 32) of classes c to c + 4."""
    a0, a1 = _start(c, first, model, s), _start(c + 1, first, model, s)
    a2, a3 = _start(c + 2, first, model, s), _start(c + 3, first, model, s)
    slope = shifted(model.slope, c * d + first)
    for j in range(m):
        u = load_four(tile, j * GROUP)
        a0, a1 = _add(a0, u, slope[j]), _add(a1, u, slope[j + d])
        a2, a3 = _add(a2, u, slope[j + 2 * d]), _add(a3, u, slope[j + 3 * d])
    _store_four(s, c * GROUP, a0)
    _store_four(s, (c + 1) * GROUP, a1)
    _store_four(s, (c + 2) * GROUP, a2)
    _store_four(s, (c + 3) * GROUP, a3)


@llvm_inlined
def _two_classes(c, first, m, d, model, tile, s):
    a0, a1 = _start(c, first, model, s), _start(c + 1, first, model, s)
    slope = shifted(model.slope, c * d + first)
    for j in range(m):
        u = load_four(tile, j * GROUP)
        a0, a1 = _add(a0, u, slope[j]), _add(a1, u, slope[j + d])
    _store_four(s, c * GROUP, a0)
    _store_four(s, (c + 1) * GROUP, a1)


@llvm_inlined
def best_two(h, packed, model, sizes, s):
    """The best and the second score of eight rows of a group, the label, and the least lead from
    which on the label is certain."""
    best, second, label = splat(-np.inf), splat(-np.inf), splat(model.values[0])
    for c in range(model.k):
        a = load(s, c * GROUP + h)
        lower = where_greater(a, best, best, a)
        second = where_greater(lower, second, lower, second)
        best, label = update_argmax(a, splat(model.values[c]), best, label)
    reach = load(sizes, h) + splat(packed.reach)
    least = (reach * reach + splat(packed.base)) * splat(packed.error)
    return best, second, label, least


@llvm_inlined
def _choose(h, packed, model, sizes, s, labels):
    """Set labels of eight rows of a group; return whether each is certain."""
    best, second, label, least = best_two(h, packed, model, sizes, s)
    store(labels, h, label)
    return all_greater(best - second, least)


@llvm_inlined
def score_group(rows, at, model, tile, s, sizes):
    """Set scores s (k, 32) and sizes by span (32,) of a group of rows."""
    d = rows.d
    for first in range(0, d, PART):
        m = min(PART, d - first)
        _centre(rows, at, first, m, model, tile, sizes)
        for c in range(0, model.k - model.k % 4, 4):
            _four_classes(c, first, m, d, model, tile, s)
        for c in range(model.k - model.k % 4, model.k, 2):
            _two_classes(c, first, m, d, model, tile, s)


@llvm_inlined
def _label_group(rows, at, packed, model, tile, s, sizes, labels):
    """Set labels of 32 rows; return whether each is certain."""
    score_group(rows, at, model, tile, s, sizes)
    is_certain = True
    for h in range(0, GROUP, 8):
        is_certain &= _choose(h, packed, model, sizes, s, labels)
    return is_certain


@llvm_inlined
def unpack(packed, d):
    k, centre = packed.k, pointer(packed.numbers)
    span, slope = shifted(centre, d), shifted(centre, 2 * d)
    offset = shifted(slope, round_up(k, 2) * d)
    values = shifted(offset, round_up(k, 2))
    return LinearModel(k, centre, span, slope, offset, values)


@kernel(variants=2)
def _label_linear(first, last, source, packed, marked, bad):
    """Label blocks of rows, and mark the groups that `whitened` has to label."""
    model, d, k = unpack(packed, source.d), source.d, packed.k
    memory = np.empty(GROUP * (k + 3) + tile_size(d) + 8)
    found = aligned(pointer(memory))
    sizes, s = shifted(found, GROUP), shifted(found, 2 * GROUP)
    tile = shifted(s, round_up(k, 2) * GROUP)
    labels, marks = pointer(marked.labels), pointer(marked.marks)
    tail = tail_of(source, last > len(bad) - 1)
    for b in range(first, last):
        rows, block = rows_of_block(b, source, tail, len(bad) - 1)
        bad[b], n_marked = -1, 0
        for at in range(block.start, block.stop, GROUP):
            m, to = min(GROUP, block.stop - at), block.to + at - block.start
            if n_marked > _MOST or not _label_group(rows, at, packed, model, tile, s, sizes, found):
                n_marked += 1
                # A chunk of rows that were copied begins anywhere.
                marks[to // GROUP] = marks[(to + m - 1) // GROUP] = 1
            elif m == GROUP:
                _store_four(labels, to, load_four(found, 0))
            else:
                for r in range(m):
                    labels[to + r] = found[r]
    keep(memory)
    keep(tail)


def linear_terms(terms: Any) -> LinearTerms | None:
    """Parameters of `WhitenedTerms`, unless these are not of one shape or not of usual sizes."""
    (k, r), d = terms.mean.shape, terms.centre.shape[1]
    possible = terms.const > -np.inf
    if len(terms.whitener) > 1 or k < 2 or not possible.any():
        return None
    scale, mean = terms.scale[0], np.where(possible[:, None], terms.mean, 0.0)
    const = np.where(possible, terms.const, 0.0)
    if not (terms.scale[possible] == scale).all():
        return None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scaled = terms.whitener[0] * scale[:, None]
        span = np.sqrt((scaled * scaled).sum(axis=0))
        along = mean * scale
        squares = (along * along).sum(axis=1)
        slope = np.array([2.0 * (row[:, None] * scaled).sum(axis=0) for row in along])
    reach, base = float(np.sqrt(squares.max())), max(1.0, float(np.abs(const).max()))
    sizes = np.concatenate([span[span != 0], scale[scale != 0], [reach + 1.0, base]])
    if not (scaled.any(axis=0) == (span > 0)).all() or not _is_usual(sizes, slope):
        return None
    error = 8.0 * (d + r + 8) * 2.0**-53
    offset = np.where(possible, const - squares, -np.inf)
    return LinearTerms(terms.centre[0], span, slope, offset, error, base, reach)


def _is_usual(sizes: NDArray[np.float64], slope: NDArray[np.float64]) -> bool:
    """Whether sizes are within 1e-100 and 1e100, and slopes finite."""
    are_usual = (sizes > 1.0 / _LARGE) & (sizes < _LARGE)
    return bool(are_usual.all() and np.isfinite(slope).all())


def is_worth_it(n: int, terms: Any) -> bool:
    """Whether linear scores of n rows save time, more than deriving them takes.

    Few axes are whitened with fewer operations.
    """
    (k, r), d = terms.mean.shape, terms.centre.shape[1]
    whitened = r * (d // 2 + 2 * k)
    return bool(n >= _LEAST_ROWS * k and n * whitened >= _LEAST_WORK and whitened > d * (k + 3))


def pack(terms: LinearTerms, wanted: Wanted) -> Packed:
    """Copy parameters, and what is put out for each class, into one array."""
    k, d = terms.slope.shape
    nothing, never = np.zeros(k % 2 * d), np.full(k % 2, -np.inf)
    slope, values = terms.slope.reshape(-1), wanted.labels(k)
    parts = terms.centre, terms.span, slope, nothing, terms.offset, never, values
    return Packed(k, terms.error, terms.base, terms.reach, np.concatenate(parts))


def label_linear(
    X: NDArray[Any],
    terms: LinearTerms,
    wanted: Wanted,
    rescore: Callable[[NDArray[Any], Wanted], Scores],
) -> Scores:
    """Labels of rows X (n, d), of which `rescore` gives those that are not certain.

    Cost: one read of X, and n d (k + 3) float64 operations.
    """
    (n, d), k = X.shape, len(terms.offset)
    packed, outputs = pack(terms, wanted), Outputs.allocate(n, k, wanted)
    marks = np.zeros(-(-n // GROUP), np.uint8)
    for source in sources(X):
        run(_label_linear, source, packed, Marked(outputs.labels, marks), (k + 2) * d)
    for start, stop in _stretches(marks, n):
        scores = rescore(X[start:stop], wanted._replace(out=None))
        if scores.bad >= 0:
            return outputs.result(wanted, start + scores.bad)
        outputs.labels[start:stop] = scores.codes.view(np.float64)
    return outputs.result(wanted, -1)


def _stretches(marks: NDArray[np.uint8], n: int) -> Iterator[tuple[int, int]]:
    """Rows of marked groups, and of a few between them, in few pieces."""
    groups = np.flatnonzero(marks)
    if not len(groups):
        return
    cuts = np.flatnonzero(np.diff(groups) > _GAP) + 1
    if len(cuts) >= _PIECES:
        cuts = cuts[:0]
    for part in np.split(groups, cuts):
        yield int(part[0]) * GROUP, min((int(part[-1]) + 1) * GROUP, n)


@warmup_call
def _warm() -> None:
    nothing = Scores(np.zeros(1, np.int64), None, None, -1)
    for dtype in (np.float64, np.float32):
        numbers = np.zeros(1), np.zeros(1), np.zeros((2, 1)), np.zeros(2)
        terms = LinearTerms(*numbers, 0.0, 1.0, 0.0)
        label_linear(np.zeros((1, 1), dtype), terms, Wanted(), lambda *_: nothing)
