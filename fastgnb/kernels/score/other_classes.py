"""Scores of rows in all classes as if they were in none, with the smoothing of all other rows.

Rows are lanes, as in `diagonal`. A change `delta` of epsilon is a polynomial, of 1 / (V + delta) =
(1 - y + y^2 - y^3 + y^4) / V with y = delta / V, for the features where it is not lost in rounding;
rows of a larger change are scored by divisions.

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np

from ..._numba.decorators import jit_helper, llvm_inlined
from ..._numba.transposes import columns
from ..._numba.vectors import load, shifted, splat, store
from ..rows import eight_rows, element
from .posterior import GROUP


@llvm_inlined
def _step(a, x, mean, half):
    t = x - mean
    return a - t * t * half


@llvm_inlined
def _moved(half, delta):
    """half over 1 + y, where y = 2 half delta."""
    y = half * delta
    one = splat(1.0)
    return half * (one + y * (y * (one + y * (y - one)) - one))


@llvm_inlined
def _eight_features(a, x, mean, half, p):
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    a = _step(a, x0, splat(mean[p]), splat(half[p]))
    a = _step(a, x1, splat(mean[p + 1]), splat(half[p + 1]))
    a = _step(a, x2, splat(mean[p + 2]), splat(half[p + 2]))
    a = _step(a, x3, splat(mean[p + 3]), splat(half[p + 3]))
    a = _step(a, x4, splat(mean[p + 4]), splat(half[p + 4]))
    a = _step(a, x5, splat(mean[p + 5]), splat(half[p + 5]))
    a = _step(a, x6, splat(mean[p + 6]), splat(half[p + 6]))
    return _step(a, x7, splat(mean[p + 7]), splat(half[p + 7]))


@llvm_inlined
def _eight_moved(a, x, mean, half, p, delta):
    """As `_eight_features`, with each row's own change of epsilon, doubled."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    a = _step(a, x0, splat(mean[p]), _moved(splat(half[p]), delta))
    a = _step(a, x1, splat(mean[p + 1]), _moved(splat(half[p + 1]), delta))
    a = _step(a, x2, splat(mean[p + 2]), _moved(splat(half[p + 2]), delta))
    a = _step(a, x3, splat(mean[p + 3]), _moved(splat(half[p + 3]), delta))
    a = _step(a, x4, splat(mean[p + 4]), _moved(splat(half[p + 4]), delta))
    a = _step(a, x5, splat(mean[p + 5]), _moved(splat(half[p + 5]), delta))
    a = _step(a, x6, splat(mean[p + 6]), _moved(splat(half[p + 6]), delta))
    return _step(a, x7, splat(mean[p + 7]), _moved(splat(half[p + 7]), delta))


@llvm_inlined
def score_eight(rows, at, model, h, scratch):
    """Scores of eight rows in every class, as if they were in none."""
    s, d8, twice = scratch.s, model.d8, splat(2.0) * load(scratch.delta, h)
    for j in range(0, model.d, 8):
        x = eight_rows(rows, at, j)
        is_moved = model.level[j] > 0.0
        for c in range(model.k):
            p = c * d8 + j
            a = splat(model.const[c]) if j == 0 else load(s, c * GROUP + h)
            if is_moved:
                a = _eight_moved(a, x, model.mean, model.half, p, twice)
            else:
                a = _eight_features(a, x, model.mean, model.half, p)
            store(s, c * GROUP + h, a)
    if model.moves:
        delta = splat(model.per_unit) * load(scratch.delta, h)
        for c in range(model.k):
            p = shifted(model.powers, 4 * c)
            log_det = delta * (splat(p[0]) + delta * (splat(p[1]) + delta * (
                splat(p[2]) + delta * splat(p[3]))))  # fmt: skip
            store(s, c * GROUP + h, load(s, c * GROUP + h) - log_det)


@llvm_inlined
def score_eight_tied(rows, at, model, h, scratch):
    """As `score_eight`, where each row has variances of its own, the same for every class."""
    s, d8, mean = scratch.s, model.d8, model.mean
    for j in range(0, model.d, 8):
        x0, x1, x2, x3, x4, x5, x6, x7 = eight_rows(rows, at, j)
        w0, w1, w2, w3, w4, w5, w6, w7 = columns(scratch.halves, j, d8)
        for c in range(model.k):
            p = c * d8 + j
            a = splat(model.const[c]) if j == 0 else load(s, c * GROUP + h)
            a = _step(a, x0, splat(mean[p]), w0)
            a = _step(a, x1, splat(mean[p + 1]), w1)
            a = _step(a, x2, splat(mean[p + 2]), w2)
            a = _step(a, x3, splat(mean[p + 3]), w3)
            a = _step(a, x4, splat(mean[p + 4]), w4)
            a = _step(a, x5, splat(mean[p + 5]), w5)
            a = _step(a, x6, splat(mean[p + 6]), w6)
            a = _step(a, x7, splat(mean[p + 7]), w7)
            store(s, c * GROUP + h, a)


@jit_helper
def score_by_division(rows, at, r, model, scratch):
    """Scores of one row in every class, as if it were in none, for any change of epsilon."""
    more = model.epsilon + model.floor + scratch.delta[r]
    for c in range(model.k):
        square, log_det, product = 0.0, 0.0, 1.0
        for j in range(model.d):
            p = c * model.d8 + j
            variance = model.gain[c] * model.variance[p] + more
            step = element(rows, at + r, j) - model.mean[p]
            square += step * step / variance
            product *= variance * model.inverse[p]
            if not 1e-150 < product < 1e150:
                log_det += np.log(product)
                product = 1.0
        log_det += np.log(product)
        scratch.s[c * GROUP + r] = model.const[c] - 0.5 * (square + log_det)
