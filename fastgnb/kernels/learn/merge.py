"""Statistics of two sets of rows to those of both, and of all classes to those of all rows.

The update of Chan, Golub and LeVeque (1983) over variances, which uses ratios of weights only, with
means as unevaluated sums of two float64 numbers. The arrays are small: what a compiled loop saves
are the calls, of which a stream of short chunks makes many.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, readonly, serial_kernel, warmup_call


class Parts(NamedTuple):
    """Weight (k, 1) or (k, d), and mean, mean_low and variance (k, d), all float64."""

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_low: NDArray[np.float64]
    variance: NDArray[np.float64]


@jit_helper
def two_sum(a, b):
    """The rounded sum and its exact error (Knuth 1969)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@jit_helper
def difference(high, low, base, base_low):
    """(high + low) - (base + base_low), rounded about once."""
    step, error = two_sum(high, -base)
    return step + (error + (low - base_low))


@serial_kernel
def _merge(na, ma, la, va, nb, mb, lb, vb, n, m, low, v):
    """Statistics of both sides; one without weight is left out bit for bit."""
    k, d = ma.shape
    width = na.shape[1]
    for c in range(k):
        for q in range(width):
            n[c, q] = na[c, q] + nb[c, q]
        for j in range(d):
            q = j if width > 1 else 0
            a, b = na[c, q], nb[c, q]
            if b == 0.0 or a == 0.0:
                m[c, j] = ma[c, j] if b == 0.0 else mb[c, j]
                low[c, j] = la[c, j] if b == 0.0 else lb[c, j]
                v[c, j] = va[c, j] if b == 0.0 else vb[c, j]
                continue
            share_a, share_b = a / (a + b), b / (a + b)
            step = difference(mb[c, j], lb[c, j], ma[c, j], la[c, j])
            gain = vb[c, j] - va[c, j]
            # From the heavier side, so that a light side, however far, rounds nothing away.
            if a >= b:
                spread = va[c, j] + share_b * gain
                m[c, j], low[c, j] = two_sum(ma[c, j], la[c, j] + share_b * step)
            else:
                spread = vb[c, j] - share_a * gain
                m[c, j], low[c, j] = two_sum(mb[c, j], lb[c, j] - share_a * step)
            v[c, j] = spread + share_a * step * (share_b * step)


@serial_kernel
def _collapse(na, ma, la, va, n, m, low, v):
    """Statistics of all classes as one, around the mean of the heaviest; outputs have one row."""
    k, d = ma.shape
    width = na.shape[1]
    for j in range(d):
        q = j if width > 1 else 0
        total = 0.0
        pivot = 0
        for c in range(k):
            total += na[c, q]
            if na[c, q] > na[pivot, q]:
                pivot = c
        n[0, q] = total
        if total == 0.0:
            continue
        move = 0.0
        for c in range(k):
            if na[c, q] > 0.0:
                step = difference(ma[c, j], la[c, j], ma[pivot, j], la[pivot, j])
                move += na[c, q] / total * step
        spread = 0.0
        for c in range(k):
            if na[c, q] > 0.0:
                step = difference(ma[c, j], la[c, j], ma[pivot, j], la[pivot, j]) - move
                spread += na[c, q] / total * (va[c, j] + step * step)
        if not spread < np.inf:
            # The square of a step may overflow where the share of its class is small.
            spread = 0.0
            for c in range(k):
                if na[c, q] > 0.0:
                    step = difference(ma[c, j], la[c, j], ma[pivot, j], la[pivot, j]) - move
                    share = na[c, q] / total
                    spread += share * va[c, j] + share * step * step
        m[0, j], low[0, j] = two_sum(ma[pivot, j], la[pivot, j] + move)
        v[0, j] = spread


def merge(a: Parts, b: Parts) -> Parts:
    """Statistics of the rows of a and of b, over the same classes. Error: a few units each."""
    both = Parts(*(np.empty(part.shape) for part in a))
    _merge(*map(_plain, a), *map(_plain, b), *both)
    return both


def collapse(parts: Parts) -> Parts:
    """Statistics of all rows as one class: (1, 1) or (1, d), and (1, d)."""
    whole = Parts(*(np.zeros((1, part.shape[1])) for part in parts))
    if len(parts.mean):
        _collapse(*map(_plain, parts), *whole)
    return whole


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """The one type that kernels are compiled for; statistics made by hand may be of any."""
    return readonly(np.ascontiguousarray(array, np.float64))


@warmup_call
def _warm() -> None:
    one = Parts(*(np.ones((1, 1)) for _ in range(4)))
    collapse(merge(one, one))
