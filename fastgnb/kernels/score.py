"""Rows and parameters to joint log likelihoods, fused with what is wanted of them.

A tile of 64 rows is laid out by features, so that each row is one vector lane; for each class the
squared, scaled deviations are subtracted feature by feature. All lanes do the same operations in
the same order, so a row's scores have the same bits alone and anywhere in any batch. A class
costs three float64 operations a feature: t = (x - mean) * scale, s -= t * t. The square is never
expanded, so nothing cancels however far the data lie from 0.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import frozen, helper, kernel, prange
from .layout import cut, pieces

Table = Literal["joint", "log_proba", "proba"]

_MODE = {None: 0, "joint": 1, "log_proba": 2, "proba": 3}
_TILE = 64
_ROWS_PER_BLOCK = 2048


class Scores(NamedTuple):
    """What scoring n rows gives; each None unless asked for, but for the codes.

    codes (n,) int32: position of the best class; table (n, k); evidence (n,): log p(x);
    bad: the first row that holds a NaN or an infinity, or -1.
    """

    codes: NDArray[np.int32]
    table: NDArray[Any] | None
    evidence: NDArray[np.float64] | None
    bad: int


@helper
def _load(X, by_columns, start, m, tile):
    """Lay rows start to start + m out by features; lanes past the end repeat the last row."""
    for j in range(tile.shape[0]):
        lane = tile[j]
        if by_columns:
            x = X[j, start : start + m]
            for r in range(m):
                lane[r] = x[r]
        else:
            for r in range(m):
                lane[r] = X[start + r, j]
        for r in range(m, _TILE):
            lane[r] = lane[m - 1]


@helper
def _score_class(tile, mean, scale, s):
    """Subtract the squared scaled deviations from s, four features at a time, in order."""
    d = tile.shape[0]
    whole = d - d % 4
    for j in range(0, whole, 4):
        x0 = tile[j]
        x1 = tile[j + 1]
        x2 = tile[j + 2]
        x3 = tile[j + 3]
        m0, m1, m2, m3 = mean[j], mean[j + 1], mean[j + 2], mean[j + 3]
        a0, a1, a2, a3 = scale[j], scale[j + 1], scale[j + 2], scale[j + 3]
        for r in range(_TILE):
            t0 = (x0[r] - m0) * a0
            t1 = (x1[r] - m1) * a1
            t2 = (x2[r] - m2) * a2
            t3 = (x3[r] - m3) * a3
            s[r] = s[r] - t0 * t0 - t1 * t1 - t2 * t2 - t3 * t3
    for j in range(whole, d):
        x0 = tile[j]
        m0 = mean[j]
        a0 = scale[j]
        for r in range(_TILE):
            t0 = (x0[r] - m0) * a0
            s[r] = s[r] - t0 * t0


@helper
def _score_class_skip(tile, mean, scale, log_norm, s):
    """As `_score_class`; the whole term of a NaN, normaliser included, is absent."""
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
    scale = bits.view(np.float64)
    for r in range(_TILE):
        v = max(x[r], -746.0)
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
        half = np.int64(n) >> 1
        bits[0, r] = (half + 1023) << 52
        bits[1, r] = (np.int64(n) - half + 1023) << 52
    for r in range(_TILE):
        out[r] = out[r] * scale[0, r] * scale[1, r]


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
        for c in range(k):
            for r in range(m):
                table[start + r, c] = s[c, r] / total[r]
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
def _score_tile(tile, mean, scale, log_norm, const, skip, s, best, arg):
    """Scores of all classes, best score and first best class; s keeps one class or all k."""
    k = mean.shape[0]
    keep = s.shape[0] > 1
    for r in range(_TILE):
        best[r] = -np.inf
        arg[r] = 0
    for c in range(k):
        row = s[c] if keep else s[0]
        for r in range(_TILE):
            row[r] = const[c]
        if skip:
            _score_class_skip(tile, mean[c], scale[c], log_norm[c], row)
        else:
            _score_class(tile, mean[c], scale[c], row)
        for r in range(_TILE):
            if row[r] > best[r]:
                best[r] = row[r]
                arg[r] = c


@helper
def _mend(tile, m, mean, scale, log_norm, const, skip, s, best, arg, far):
    """Score the rows that no class scored above -inf; the first that is not finite, or -1.

    `far` (tile,) marks the rows scored. Their joint log likelihoods overflow float64, so s keeps
    what `_score_far` puts there instead: scores that order and normalise.
    """
    k = mean.shape[0]
    scores = np.empty((k, _TILE))
    for r in range(m):
        if best[r] > -np.inf:
            continue
        if not _is_finite_row(tile, r, skip):
            return r
        far[r] = True
        _score_far(tile, r, mean, scale, log_norm, const, skip, scores)
        for c in range(k):
            if s.shape[0] == k:
                s[c, r] = scores[c, r]
            if scores[c, r] > best[r]:
                best[r] = scores[c, r]
                arg[r] = c
    for r in range(m, _TILE):
        best[r] = 0.0
    return -1


@helper
def _has_far(best, m):
    for r in range(m):
        if not best[r] > -np.inf:
            return True
    return False


@helper
def _score_block(
    X, by_columns, start, stop, mean, scale, log_norm, const, skip, mode, codes, table, evidence
):
    """Score rows start to stop; the first row that is not finite, or -1."""
    k, d = mean.shape
    wants_all = mode > 0 or len(evidence) > 0
    tile = np.empty((d, _TILE))
    s = np.empty((k if wants_all else 1, _TILE))
    best = np.empty(_TILE)
    arg = np.empty(_TILE, np.int64)
    work = np.empty(_TILE)
    total = np.empty(_TILE)
    bits = np.empty((2, _TILE), np.int64)
    far = np.zeros(_TILE, np.bool_)
    for at in range(start, stop, _TILE):
        m = min(_TILE, stop - at)
        _load(X, by_columns, at, m, tile)
        _score_tile(tile, mean, scale, log_norm, const, skip, s, best, arg)
        if mode == 1:
            for c in range(k):
                for r in range(m):
                    table[at + r, c] = s[c, r]
        is_far = _has_far(best, m)
        if is_far:
            bad = _mend(tile, m, mean, scale, log_norm, const, skip, s, best, arg, far)
            if bad >= 0:
                return at + bad
        for r in range(m):
            codes[at + r] = arg[r]
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
    X, by_columns, bounds, mean, scale, log_norm, const, skip, mode, codes, table, evidence, bad
):
    """Score blocks of rows in parallel; bad (blocks,) takes the first bad row of each, or -1."""
    origin = bounds[0]
    for b in prange(len(bounds) - 1):
        bad[b] = _score_block(
            X, by_columns, bounds[b] - origin, bounds[b + 1] - origin,
            mean, scale, log_norm, const, skip, mode, codes, table, evidence,
        )  # fmt: skip


def score(
    X: NDArray[Any],
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    log_norm: NDArray[np.float64],
    const: NDArray[np.float64],
    *,
    table: Table | None = None,
    evidence: bool = False,
    skip: bool = False,
    dtype: Any = np.float64,
) -> Scores:
    """Score rows X (n, d) against k classes: s_c = const_c - sum_j ((x_j - mean_cj) scale_cj)^2.

    log_norm (k, d) is what a feature adds to -s besides its square; it is read with `skip` only,
    where a NaN leaves the whole term of its feature out, and const is then without normalisers.
    `table` and `evidence` say what to return besides the codes, the table in `dtype`.
    Cost: one read of X, 3 n d k float64 operations. Error: relative 1e-15 per term.
    """
    n, k = len(X), len(const)
    bounds = cut(n, _ROWS_PER_BLOCK)
    bad = np.empty(len(bounds) - 1, np.int64)
    codes = np.empty(n, np.int32)
    rows = np.empty((n if table else 0, k), dtype)
    logs = np.empty(n if evidence else 0)
    given = frozen(mean), frozen(scale), frozen(log_norm), frozen(const)
    for piece in pieces(X, bounds):
        at = slice(piece.start, piece.stop)
        some = bounds[piece.first : piece.last + 1]
        _score(
            piece.data, piece.by_columns, some, *given, skip, _MODE[table], codes[at],
            rows[at], logs[at], bad[piece.first : piece.last],
            work=(piece.stop - piece.start) * mean.size,
        )  # fmt: skip
        bad[piece.first : piece.last][bad[piece.first : piece.last] >= 0] += piece.start
    first_bad = int(bad[np.argmax(bad >= 0)])
    return Scores(codes, rows if table else None, logs if evidence else None, first_bad)


@_score.example
def _every_variant() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    for rows, out in ((np.float64, np.float64), (np.float32, np.float64), (np.float32, np.float32)):
        score(np.zeros((1, 1), rows), zero, one, one, np.zeros(1), table="proba", dtype=out)
