"""Rows that no class scores above -inf: not finite, or so far away that squares overflow.

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np

from ..._numba.decorators import jit_helper
from ..rows import element


@jit_helper
def is_finite_row(rows, i, skip):
    """Whether row i is finite, NaN apart where those are skipped."""
    for j in range(rows.d):
        x = element(rows, i, j)
        if not (np.isfinite(x) or (skip and x != x)):
            return False
    return True


@jit_helper
def _distance(x, mean, scale):
    """A deviation times 2**-602, which cannot overflow; 0 for a NaN, whose term is absent."""
    return abs(x * 0.5 - mean * 0.5) * 2.0**-601 * scale if x == x else 0.0


@jit_helper
def score_overflowed(rows, i, model, scores, distances):
    """Scores (k,) of a row whose squared deviations overflow: the nearest classes share it.

    Deviations are taken relative to the largest. Classes at the smallest distance keep their
    constants as scores, and every other class has log probability -inf, which is what its true
    value rounds to. `distances` (k,) is scratch.
    """
    top = 0.0
    for c in range(model.k):
        for j in range(rows.d):
            p = c * rows.d + j
            t = _distance(np.float64(element(rows, i, j)), model.mean[p], model.scale[p])
            if t > top and model.const[c] > -np.inf:
                top = t
    top = top if top > 0.0 else 1.0
    best = np.inf
    for c in range(model.k):
        q = 0.0
        base = model.const[c]
        for j in range(rows.d):
            p = c * rows.d + j
            x = np.float64(element(rows, i, j))
            t = _distance(x, model.mean[p], model.scale[p]) / top
            q += t * t
            if model.skip and x == x:
                base -= model.log_norm[p]
        distances[c] = q
        scores[c] = base
        if base > -np.inf and q < best:
            best = q
    for c in range(model.k):
        if distances[c] > best:
            scores[c] = -np.inf
