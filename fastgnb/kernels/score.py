"""Rows and parameters to joint log likelihoods, fused with what is wanted of them.

A tile of 128 rows is laid out by features, so that each row is one vector lane; for each class the
squared, scaled deviations are subtracted feature by feature. All lanes do the same operations in
the same order, so a row's scores have the same bits alone and anywhere in any batch. A class
costs three float64 operations a feature: t = (x - mean) * scale, s -= t * t, of which the first
runs beside the other two where there are adders apart from the multipliers. The square is never
expanded, so nothing cancels however far the data lie from 0.

Features are padded to a multiple of four by ones of mean 0 and scale 0, which add exactly nothing.
Two classes go together, so that each value is loaded once for both.

With few classes, float64 rows are scored four at a time with features in the vector lanes.

Flags: FMA contraction, and reassociation in `_score_four`, whose plain sums it spreads over lanes.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import frozen, helper, kernel, prange, summing
from .layout import cut, pieces

Table = Literal["joint", "log_proba", "proba"]

_MODE = {None: 0, "joint": 1, "log_proba": 2, "proba": 3}
_TILE = 128
# Lanes between two features of a tile: not a power of two, whose multiples share cache sets.
_STRIDE = _TILE + 8
_ROWS_PER_BLOCK = 2048
# Up to this many classes, laying rows out costs more than it saves.
_FEW = 4


class Scores(NamedTuple):
    """What scoring n rows gives; each None unless asked for, but for the codes.

    codes (n,) int64: position of the best class, or its value; table (n, k); evidence (n,):
    log p(x); bad: the first row that holds a NaN or an infinity, or -1.
    """

    codes: NDArray[np.int64]
    table: NDArray[Any] | None
    evidence: NDArray[np.float64] | None
    bad: int


@helper
def _load(X, by_columns, start, m, d, tile):
    """Lay rows start to start + m out by features; lanes past the end repeat the last row."""
    if by_columns:
        for j in range(d):
            x = X[j, start : start + m]
            lane = tile[j]
            for r in range(m):
                lane[r] = x[r]
    else:
        whole = m - m % 4
        for r in range(0, whole, 4):
            x0, x1, x2, x3 = X[start + r], X[start + r + 1], X[start + r + 2], X[start + r + 3]
            for j in range(d):
                lane = tile[j]
                lane[r] = x0[j]
                lane[r + 1] = x1[j]
                lane[r + 2] = x2[j]
                lane[r + 3] = x3[j]
        for r in range(whole, m):
            for j in range(d):
                tile[j, r] = X[start + r, j]
    if m < _TILE:
        for j in range(d):
            for r in range(m, _TILE):
                tile[j, r] = tile[j, m - 1]


@helper
def _score_pair(tile, mean, scale, mean2, scale2, s, s2):
    """Subtract the squared scaled deviations of two classes from s and s2, in feature order."""
    for j in range(0, tile.shape[0], 4):
        x0, x1, x2, x3 = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
        m0, m1, m2, m3 = mean[j], mean[j + 1], mean[j + 2], mean[j + 3]
        a0, a1, a2, a3 = scale[j], scale[j + 1], scale[j + 2], scale[j + 3]
        n0, n1, n2, n3 = mean2[j], mean2[j + 1], mean2[j + 2], mean2[j + 3]
        b0, b1, b2, b3 = scale2[j], scale2[j + 1], scale2[j + 2], scale2[j + 3]
        for r in range(_TILE):
            y0, y1, y2, y3 = x0[r], x1[r], x2[r], x3[r]
            t0 = (y0 - m0) * a0
            t1 = (y1 - m1) * a1
            t2 = (y2 - m2) * a2
            t3 = (y3 - m3) * a3
            u0 = (y0 - n0) * b0
            u1 = (y1 - n1) * b1
            u2 = (y2 - n2) * b2
            u3 = (y3 - n3) * b3
            s[r] = s[r] - t0 * t0 - t1 * t1 - t2 * t2 - t3 * t3
            s2[r] = s2[r] - u0 * u0 - u1 * u1 - u2 * u2 - u3 * u3


@helper
def _score_one(tile, mean, scale, s):
    """As `_score_pair`, for the last of an odd number of classes."""
    for j in range(0, tile.shape[0], 4):
        x0, x1, x2, x3 = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
        m0, m1, m2, m3 = mean[j], mean[j + 1], mean[j + 2], mean[j + 3]
        a0, a1, a2, a3 = scale[j], scale[j + 1], scale[j + 2], scale[j + 3]
        for r in range(_TILE):
            t0 = (x0[r] - m0) * a0
            t1 = (x1[r] - m1) * a1
            t2 = (x2[r] - m2) * a2
            t3 = (x3[r] - m3) * a3
            s[r] = s[r] - t0 * t0 - t1 * t1 - t2 * t2 - t3 * t3


@summing
def _score_four(x0, x1, x2, x3, mean, scale, const, s, r):
    """Scores of four rows for one class, straight from the rows, with features in vector lanes."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(x0)):
        m, a = mean[j], scale[j]
        t0 = (x0[j] - m) * a
        t1 = (x1[j] - m) * a
        t2 = (x2[j] - m) * a
        t3 = (x3[j] - m) * a
        s0 += t0 * t0
        s1 += t1 * t1
        s2 += t2 * t2
        s3 += t3 * t3
    s[r] = const - s0
    s[r + 1] = const - s1
    s[r + 2] = const - s2
    s[r + 3] = const - s3


@helper
def _score_rows(X, start, m, mean, scale, const, values, s, best, label):
    """As `_score_tile` for few classes, without laying rows out; past the end the last repeats."""
    for r in range(0, m, 4):
        x0 = X[start + r]
        x1 = X[start + min(r + 1, m - 1)]
        x2 = X[start + min(r + 2, m - 1)]
        x3 = X[start + min(r + 3, m - 1)]
        for c in range(mean.shape[0]):
            _score_four(x0, x1, x2, x3, mean[c], scale[c], const[c], s[c], r)
    _start(-np.inf, best)
    for c in range(mean.shape[0]):
        _improve(s[c], values[c], best, label)


@helper
def _score_skip(tile, mean, scale, log_norm, s):
    """As `_score_one`; the whole term of a NaN, normaliser included, is absent."""
    for j in range(tile.shape[0]):
        x0 = tile[j]
        m0 = mean[j]
        a0 = scale[j]
        b0 = log_norm[j]
        for r in range(_TILE):
            t0 = (x0[r] - m0) * a0
            s[r] = s[r] - (t0 * t0 + b0 if x0[r] == x0[r] else 0.0)


@helper
def _is_finite_row(tile, r, skip):
    for j in range(tile.shape[0]):
        x = tile[j, r]
        if not (np.isfinite(x) or (skip and x != x)):
            return False
    return True


@helper
def _score_far(tile, r, mean, scale, log_norm, const, skip, s):
    """Scores of a row whose squared deviations overflow: the nearest classes share it.

    Deviations are taken relative to the largest. Classes at the smallest distance keep their
    constants as scores, and every other class has log probability -inf, which is what its true
    value rounds to.
    """
    k, d = mean.shape
    tiny = 2.0**-601
    top = 0.0
    for c in range(k):
        for j in range(d):
            t = abs(tile[j, r] * 0.5 - mean[c, j] * 0.5) * tiny * scale[c, j]
            if t > top and const[c] > -np.inf:
                top = t
    top = top if top > 0.0 else 1.0
    best = np.inf
    for c in range(k):
        q = 0.0
        base = const[c]
        for j in range(d):
            x = tile[j, r]
            if x == x:
                t = abs(x * 0.5 - mean[c, j] * 0.5) * tiny * scale[c, j] / top
                q += t * t
                base -= log_norm[c, j] if skip else 0.0
        s[c, r] = base
        if base > -np.inf and q < best:
            best = q
    for c in range(k):
        q = 0.0
        for j in range(d):
            x = tile[j, r]
            if x == x:
                t = abs(x * 0.5 - mean[c, j] * 0.5) * tiny * scale[c, j] / top
                q += t * t
        if q > best:
            s[c, r] = -np.inf


@helper
def _exp(x, bits, out):
    """out = exp(x) lane by lane for x <= 0, to about one unit in the last place.

    Argument reduction to |f| <= ln(2) / 2, a Taylor polynomial of degree 13, and the power of two
    in two factors built from their bits, so that results below 2**-1022 round as they should.
    """
    low = bits[0]
    high = bits[1]
    for r in range(_TILE):
        v = x[r] if x[r] > -746.0 else -746.0
        n = np.floor(v * 1.4426950408889634 + 0.5)
        f = (v - n * 0.6931471803691238) - n * 1.9082149292705877e-10
        p = 1.6059043836821613e-10
        p = p * f + 2.08767569878681e-09
        p = p * f + 2.505210838544172e-08
        p = p * f + 2.755731922398589e-07
        p = p * f + 2.7557319223985893e-06
        p = p * f + 2.48015873015873e-05
        p = p * f + 0.0001984126984126984
        p = p * f + 0.001388888888888889
        p = p * f + 0.008333333333333333
        p = p * f + 0.041666666666666664
        p = p * f + 0.16666666666666666
        p = p * f + 0.5
        p = p * f + 1.0
        out[r] = p * f + 1.0
        whole = np.int64(n)
        half = whole >> 1
        low[r] = (half + 1023) << 52
        high[r] = (whole - half + 1023) << 52
    a = low.view(np.float64)
    b = high.view(np.float64)
    for r in range(_TILE):
        out[r] = out[r] * a[r] * b[r]


@helper
def _finish(s, best, mode, m, start, bits, work, total, table, evidence):
    """Turn the scores s (k, tile) of a tile into table rows and log evidence."""
    k = s.shape[0]
    for r in range(_TILE):
        total[r] = 0.0
    for c in range(k):
        for r in range(_TILE):
            work[r] = s[c, r] - best[r]
        _exp(work, bits, work)
        for r in range(_TILE):
            total[r] += work[r]
        if mode == 3:
            for r in range(_TILE):
                s[c, r] = work[r]
    if mode == 3:
        for r in range(_TILE):
            work[r] = 1.0 / total[r] if total[r] > 0.0 else 0.0  # 0 in lanes past the end only
        for c in range(k):
            for r in range(_TILE):
                s[c, r] = s[c, r] * work[r]
        for r in range(m):
            for c in range(k):
                table[start + r, c] = s[c, r]
        for r in range(m if len(evidence) > 0 else 0):
            evidence[start + r] = best[r] + np.log(total[r])
        return
    for r in range(m):
        log_total = np.log(total[r])
        if mode == 2:
            # Rounded to the table's type first, so that a float32 probability of 1 has log 0.
            table[start + r, 0] = total[r]
            log_rounded = np.log(np.float64(table[start + r, 0]))
            for c in range(k):
                table[start + r, c] = (s[c, r] - best[r]) - log_rounded
        if len(evidence) > 0:
            evidence[start + r] = best[r] + log_total


@helper
def _start(const, s):
    for r in range(_TILE):
        s[r] = const


@helper
def _improve(s, value, best, label):
    """Take a class's value where it is strictly better, so that a tie keeps the first class."""
    for r in range(_TILE):
        if s[r] > best[r]:
            best[r] = s[r]
            label[r] = value


@helper
def _score_tile(tile, mean, scale, log_norm, const, skip, values, s, best, label):
    """Scores of all classes, best score and its first class; s keeps two classes or all k."""
    k = mean.shape[0]
    keep = s.shape[0] >= k
    _start(-np.inf, best)
    for c in range(0, k, 2):
        pair = c + 1 < k
        one = s[c] if keep else s[0]
        two = s[(c + 1 if keep else 1) if pair else 0]
        _start(const[c], one)
        if pair:
            _start(const[c + 1], two)
        if skip:
            _score_skip(tile, mean[c], scale[c], log_norm[c], one)
            if pair:
                _score_skip(tile, mean[c + 1], scale[c + 1], log_norm[c + 1], two)
        elif pair:
            _score_pair(tile, mean[c], scale[c], mean[c + 1], scale[c + 1], one, two)
        else:
            _score_one(tile, mean[c], scale[c], one)
        _improve(one, values[c], best, label)
        if pair:
            _improve(two, values[c + 1], best, label)


@helper
def _mend(tile, m, mean, scale, log_norm, const, skip, values, s, best, label, far):
    """Score the rows that no class scored above -inf; the first that is not finite, or -1.

    `far` (tile,) marks the rows scored. Their joint log likelihoods overflow float64, so s keeps
    what `_score_far` puts there instead: scores that order and normalise.
    """
    k = mean.shape[0]
    keep = s.shape[0] >= k
    scores = np.empty((k, _STRIDE))
    for r in range(m):
        if best[r] > -np.inf:
            continue
        if not _is_finite_row(tile, r, skip):
            return r
        far[r] = True
        _score_far(tile, r, mean, scale, log_norm, const, skip, scores)
        for c in range(k):
            if keep:
                s[c, r] = scores[c, r]
            if scores[c, r] > best[r]:
                best[r] = scores[c, r]
                label[r] = values[c]
    for r in range(m, _TILE):
        best[r] = 0.0
    return -1


@helper
def _has_far(best, m):
    found = False
    for r in range(m):  # without leaving early, so that it vectorises
        found |= not best[r] > -np.inf
    return found


@helper
def _score_block(
    X, by_columns, start, stop, d, mean, scale, log_norm, const, skip, mode, values, labels, table,
    evidence,
):  # fmt: skip
    """Score rows start to stop; the first row that is not finite, or -1."""
    k = mean.shape[0]
    by_rows = k <= _FEW and d >= 8 and X.itemsize == 8 and not by_columns and not skip
    wants_all = mode > 0 or len(evidence) > 0 or by_rows
    tile = np.zeros((mean.shape[1], _STRIDE))
    s = np.zeros((k if wants_all else min(k, 2), _STRIDE))
    best = np.empty(_TILE)
    label = np.zeros(_TILE, np.int64)
    work = np.empty(_TILE)
    total = np.empty(_TILE)
    bits = np.empty((2, _TILE), np.int64)
    far = np.zeros(_TILE, np.bool_)
    for at in range(start, stop, _TILE):
        m = min(_TILE, stop - at)
        if by_rows:
            _score_rows(X, at, m, mean, scale, const, values, s, best, label)
        else:
            _load(X, by_columns, at, m, d, tile)
            _score_tile(tile, mean, scale, log_norm, const, skip, values, s, best, label)
        if mode == 1:
            for r in range(m):
                for c in range(k):
                    table[at + r, c] = s[c, r]
        is_far = _has_far(best, m)
        if is_far:
            if by_rows:
                _load(X, by_columns, at, m, d, tile)
            bad = _mend(tile, m, mean, scale, log_norm, const, skip, values, s, best, label, far)
            if bad >= 0:
                return at + bad
        for r in range(m):
            labels[at + r] = label[r]
        if mode > 1 or len(evidence) > 0:
            _finish(s, best, mode, m, at, bits, work, total, table, evidence)
        if is_far:
            for r in range(m):
                if far[r] and len(evidence) > 0:
                    evidence[at + r] = -np.inf
                far[r] = False
    return -1


@kernel
def _score(
    X, by_columns, bounds, d, mean, scale, log_norm, const, skip, mode, values, labels, table,
    evidence, bad,
):  # fmt: skip
    """Score blocks of rows in parallel; bad (blocks,) takes the first bad row of each, or -1."""
    origin = bounds[0]
    for b in prange(len(bounds) - 1):
        bad[b] = _score_block(
            X, by_columns, bounds[b] - origin, bounds[b + 1] - origin, d,
            mean, scale, log_norm, const, skip, mode, values, labels, table, evidence,
        )  # fmt: skip


def score(
    X: NDArray[Any],
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    log_norm: NDArray[np.float64] | None,
    const: NDArray[np.float64],
    *,
    values: NDArray[np.int64] | None = None,
    table: Table | None = None,
    evidence: bool = False,
    dtype: Any = np.float64,
) -> Scores:
    """Score rows X (n, d) against k classes: s_c = const_c - sum_j ((x_j - mean_cj) scale_cj)^2.

    log_norm (k, d), where given, is what a feature adds to -s besides its square; a NaN then
    leaves the whole term of its feature out. `values` (k,) are put out for the codes 0..k-1.
    `table` and `evidence` say what to return besides the codes, the table in `dtype`.
    Cost: one read of X, 3 n d k float64 operations. Error: relative 1e-15 per term.
    """
    (n, d), k = X.shape, len(const)
    bounds = cut(n, _ROWS_PER_BLOCK)
    bad = np.empty(len(bounds) - 1, np.int64)
    codes = np.empty(n, np.int64)
    rows = np.empty((n if table else 0, k), dtype)
    logs = np.empty(n if evidence else 0)
    values = np.arange(k) if values is None else values
    skip = log_norm is not None
    given = (
        _padded(mean), _padded(scale), _padded(log_norm if log_norm is not None else scale[:, :0]),
        frozen(const), skip, _MODE[table], frozen(values),
    )  # fmt: skip
    for piece in pieces(X, bounds):
        at = slice(piece.start, piece.stop)
        some = bounds[piece.first : piece.last + 1]
        found = bad[piece.first : piece.last]
        _score(
            piece.data, piece.by_columns, some, d, *given, codes[at], rows[at], logs[at], found,
            work=(piece.stop - piece.start) * mean.size,
        )  # fmt: skip
        found[found >= 0] += piece.start
    first_bad = int(bad[np.argmax(bad >= 0)])
    return Scores(codes, rows if table else None, logs if evidence else None, first_bad)


def _padded(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
    """Parameters (k, d) with zeros up to a multiple of four features."""
    k, d = parameters.shape
    padded = np.zeros((k, -(-d // 4) * 4))
    padded[:, :d] = parameters
    return frozen(padded)


@_score.example
def _every_variant() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    for rows, out in ((np.float64, np.float64), (np.float32, np.float64), (np.float32, np.float32)):
        score(np.zeros((1, 1), rows), zero, one, None, np.zeros(1), table="proba", dtype=out)
