"""Statistics of two sets of rows to those of both, and of all classes to those of all rows.

The update of Chan, Golub and LeVeque (1983) over variances, which uses ratios of weights only, with
means as unevaluated sums of two float64 numbers. The arrays are small: what a compiled loop saves
are the calls, of which a stream of short chunks makes many.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import (
    jit_helper,
    llvm_inlined,
    readonly,
    serial_kernel,
    warmup_call,
)
from .double_double import difference, two_sum

# Below these, no variance over all classes of means, variances and weights overflows.
LARGE_MEAN, LARGE = 2.0**500, 2.0**1000


class Parts(NamedTuple):
    """Weight (k, 1) or (k, d), and mean, mean_lo and variance (k, d), all float64."""

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_lo: NDArray[np.float64]
    variance: NDArray[np.float64]


class Sums(NamedTuple):
    """What one pass over rows leaves: weight (k, 1) or (k, d), mean and mean_lo (k, d), scatter.

    scatter: (k, d) of each feature, or (k, d, d) of pairs of features.
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_lo: NDArray[np.float64]
    scatter: NDArray[np.float64]


@llvm_inlined
def merge_means(na, mean_a, lo_a, nb, mean_b, lo_b):
    """The mean of rows of weights na and nb in two words, and the step from a's mean to b's.

    Every merge of the package moves its mean here. What a merge adds to the scatter besides both
    scatters is na nb / (na + nb) step^2. Neither weight may be 0.
    """
    total = na + nb
    step = difference(mean_b, lo_b, mean_a, lo_a)
    # From the heavier side, so that a light side, however far, rounds nothing away.
    if nb > na:
        mean, lo = two_sum(mean_b, lo_b - na / total * step)
    else:
        mean, lo = two_sum(mean_a, lo_a + nb / total * step)
    return mean, lo, step


@jit_helper
def merge_parts(a, b, both):
    """Set `both` to the statistics of both sides; one without weight is left out bit for bit."""
    k, d = a.mean.shape
    width = a.weight.shape[1]
    for c in range(k):
        for q in range(width):
            both.weight[c, q] = a.weight[c, q] + b.weight[c, q]
        for j in range(d):
            q = j if width > 1 else 0
            na, nb = a.weight[c, q], b.weight[c, q]
            if nb == 0.0 or na == 0.0:
                both.mean[c, j] = a.mean[c, j] if nb == 0.0 else b.mean[c, j]
                both.mean_lo[c, j] = a.mean_lo[c, j] if nb == 0.0 else b.mean_lo[c, j]
                both.variance[c, j] = a.variance[c, j] if nb == 0.0 else b.variance[c, j]
                continue
            share_a, share_b = na / (na + nb), nb / (na + nb)
            mean, lo, step = merge_means(
                na, a.mean[c, j], a.mean_lo[c, j], nb, b.mean[c, j], b.mean_lo[c, j]
            )
            both.mean[c, j], both.mean_lo[c, j] = mean, lo
            gain = b.variance[c, j] - a.variance[c, j]
            if nb > na:
                spread = b.variance[c, j] - share_a * gain
            else:
                spread = a.variance[c, j] + share_b * gain
            both.variance[c, j] = spread + share_a * step * (share_b * step)


@serial_kernel
def _merge(a, b, both):
    merge_parts(a, b, both)


@serial_kernel
def _merge_covariances(a, b, covariance_a, covariance_b, variance, both):
    """Set `both` to the covariances of the rows of both sides, with these variances."""
    k, d = a.mean.shape
    step = np.empty(d)
    for c in range(k):
        na, nb = a.weight[c, 0], b.weight[c, 0]
        if nb == 0.0 or na == 0.0:
            both[c] = covariance_a[c] if nb == 0.0 else covariance_b[c]
        else:
            share_a, share_b = na / (na + nb), nb / (na + nb)
            for j in range(d):
                step[j] = difference(b.mean[c, j], b.mean_lo[c, j], a.mean[c, j], a.mean_lo[c, j])
            for i in range(d):
                for j in range(i):
                    product = share_a * step[i] * (share_b * step[j])
                    value = share_a * covariance_a[c, i, j] + share_b * covariance_b[c, i, j]
                    both[c, i, j] = both[c, j, i] = value + product
        for j in range(d):
            both[c, j, j] = variance[c, j]


@serial_kernel
def _collapse(parts, total):
    """Set `total`, of one row, to the statistics of all classes, around the heaviest one's mean."""
    k, d = parts.mean.shape
    width = parts.weight.shape[1]
    for j in range(d):
        q = j if width > 1 else 0
        weight, mean, lo = parts.weight[:, q], parts.mean[:, j], parts.mean_lo[:, j]
        n = 0.0
        pivot = 0
        for c in range(k):
            n += weight[c]
            if weight[c] > weight[pivot]:
                pivot = c
        total.weight[0, q] = n
        if n == 0.0:
            continue
        move = 0.0
        for c in range(k):
            if weight[c] > 0.0:
                step = difference(mean[c], lo[c], mean[pivot], lo[pivot])
                move += weight[c] / n * step
        spread = 0.0
        for c in range(k):
            if weight[c] > 0.0:
                step = difference(mean[c], lo[c], mean[pivot], lo[pivot]) - move
                spread += weight[c] / n * (parts.variance[c, j] + step * step)
        if not spread < np.inf:
            # The square of a step may overflow where the share of its class is small.
            spread = 0.0
            for c in range(k):
                if weight[c] > 0.0:
                    step = difference(mean[c], lo[c], mean[pivot], lo[pivot]) - move
                    share = weight[c] / n
                    spread += share * parts.variance[c, j] + share * step * step
        total.mean[0, j], total.mean_lo[0, j] = two_sum(mean[pivot], lo[pivot] + move)
        total.variance[0, j] = spread


def merge(a: Parts, b: Parts) -> Parts:
    """Statistics of the rows of a and of b, over the same classes. Error: a few units each."""
    both = Parts(*(np.empty(part.shape) for part in a))
    _merge(_plain(a), _plain(b), both)
    return both


def merge_covariances(
    a: Parts,
    b: Parts,
    covariance_a: NDArray[np.float64],
    covariance_b: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Covariances (k, d, d) of the rows of a and of b, whose variances are merged already."""
    both = np.empty(covariance_a.shape)
    given = [_readonly(each) for each in (covariance_a, covariance_b, variance)]
    _merge_covariances(_plain(a), _plain(b), *given, both)
    return both


def collapse(parts: Parts) -> Parts:
    """Statistics of all rows as one class: (1, 1) or (1, d), and (1, d)."""
    total = Parts(*(np.zeros((1, part.shape[1])) for part in parts))
    if len(parts.mean):
        _collapse(_plain(parts), total)
    return total


def _plain(parts: Parts) -> Parts:
    """Arrays of the one type that kernels are compiled for; those made by hand may be of any."""
    return Parts(*map(_readonly, parts))


def _readonly(array: NDArray[np.float64]) -> NDArray[np.float64]:
    return readonly(np.ascontiguousarray(array, np.float64))


@warmup_call
def _warm() -> None:
    one = Parts(*(np.ones((1, 1)) for _ in range(4)))
    collapse(merge(one, one))
    full = np.ones((1, 1, 1))
    merge_covariances(one, one, full, full, one.variance)
