"""Principal axes of scatters: the directions along which they are largest.

A principal component analysis is a step from statistics to statistics: see `stats.rotation`.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.learn.double_double import difference
from ..stats.class_stats import ClassStats
from ..stats.pooling import pooled, shares
from .correlation import certain, rounding, varying
from .options import check_components
from .singular import left_singular, left_singular_of_columns, lengths_of

Floats = NDArray[np.float64]


# Eigenvalues above this share of the largest one are right to 1e-11 as LAPACK finds them.
_CERTAIN = 2.0**-14


# Singular values above this share of the largest one have digits enough, of features alike in size.
_VISIBLE = 2.0**-10


class Axes(NamedTuple):
    """Principal axes: components (g, r, d) of length 1, variance and share of each (g, r)."""

    components: Floats
    variance: Floats
    share: Floats


def principal_axes(
    scatters: Floats,
    n_components: int | float | None,
    factor: Callable[[], tuple[Floats, Floats]] | None = None,
    loss: Floats | None = None,
) -> Axes:
    """The axes of each scatter (g, d, d) along which it is largest, in falling order.

    Parameters
    ----------
    scatters : symmetric, over their weights; variances come in these units.
    n_components : how many; a number between 0 and 1: as few as have together more than that share
        of the variance, of the scatter that needs most; None: the smallest nonzero rank of the
        scatters.
    factor : returns the two parts of F (d, m), see `factor_of_total`, where each scatter is F F'
        and F has more digits; None: nothing does.
    loss : (g,), by how much errors are larger than those of rows, as `correlation.certain` has it.

    The largest component of each axis is positive. What float64 cannot tell from 0 has no axis of
    its own: its components are 0. That is decided among correlations (see `correlation`), not
    beside the largest variance, since small variances of features of other units are as exact.
    Error: of an axis, about 1e-16 times the whole variance over the distance to the next one; of
    its variance, 1e-11 or less. Cost: O(g d^3).
    Raises ValueError for more than d, and where a variance overflows.
    """
    d = scatters.shape[-1]
    g = len(scatters)
    variance, components = np.zeros((g, d)), np.zeros((g, d, d))
    for c, scatter in enumerate(scatters):
        values, axes = _axes_of(scatter, factor, 1.0 if loss is None else loss[c])
        variance[c, : len(values)], components[c, : len(values)] = values, axes.T
    largest = np.argmax(np.abs(components), axis=2)[:, :, None]
    components *= np.sign(np.take_along_axis(components, largest, axis=2))
    if not np.isfinite(variance).all():
        raise ValueError(
            "The variance along an axis overflows float64. Scale the features down, or use "
            "standardize=True."
        )
    relative = variance / np.where(variance[:, :1] > 0, variance[:, :1], 1.0)
    share = relative / np.maximum(relative.sum(axis=1, keepdims=True), 1.0)
    r = _number(n_components, variance, share)
    return Axes(components[:, :r].copy(), variance[:, :r].copy(), share[:, :r].copy())


def _axes_of(
    scatter: Floats, factor: Callable[[], tuple[Floats, Floats]] | None, loss: float
) -> tuple[Floats, Floats]:
    """Variances (r,), falling, and axes (d, r) of a scatter (d, d) of rank r."""
    # Sums of large variances may overflow where these do not.
    exponent = 128 if np.diagonal(scatter).max(initial=0.0) > 2.0**900 else 0
    values, vectors = np.linalg.eigh(np.ldexp(scatter, -exponent))
    with np.errstate(over="ignore"):
        if values[0] > _CERTAIN * values[-1]:
            return np.ldexp(values[::-1], exponent), vectors[:, ::-1]
        if factor is None:
            vectors, lengths = left_singular(_factor_of(scatter, loss))
        else:
            vectors, lengths = _axes_of_total(*factor(), loss)
        return lengths**2, vectors


def _factor_of(scatter: Floats, loss: float) -> Floats:
    """F (d, r) of full rank with F F' a scatter, without what cannot be told from 0."""
    rows, sd, correlations = varying(scatter)
    values, vectors = np.linalg.eigh(correlations)
    kept = values > rounding(len(rows), loss)
    factor = np.zeros((len(scatter), int(kept.sum())))
    factor[rows] = sd[:, None] * (vectors[:, kept] * np.sqrt(values[kept]))
    return factor


def _axes_of_total(within: Floats, steps: Floats, loss: float) -> tuple[Floats, Floats]:
    """Axes (d, r) and standard deviations (r,), falling, of F F', F (d, m) being [within, steps].

    What cannot be told from 0 has none, but steps never hide what varies within classes.
    """
    factor = np.hstack([within, steps])
    sd = lengths_of(factor.T)
    rows = np.flatnonzero(factor.any(axis=1))
    U, s, _ = np.linalg.svd(factor[rows] / sd[rows, None], full_matrices=False)
    kept = s > rounding(len(rows), loss)
    axes = np.zeros((len(factor), len(rows)))
    if within.shape[1] == len(rows) and len(rows):
        # LAPACK's singular values are right to 1e-16 of the largest, which a far class makes.
        sizes = lengths_of(within[rows].T)
        is_hidden = s[-1] < _VISIBLE and sizes.max() * _VISIBLE < sizes.min()
        if is_hidden or not kept.all():
            axes[rows], lengths = left_singular_of_columns(factor[rows])
            return axes, lengths
    thin = np.zeros((len(factor), int(kept.sum())))
    thin[rows] = sd[rows, None] * (U[:, kept] * s[kept])
    return left_singular(thin)


def factor_of_total(stats: ClassStats, unit: Floats) -> tuple[Floats, Floats]:
    """Factors within classes (d, r), of full rank, and of their means (d, k - 1), in units (d,).

    With F (d, m) both together, F F' is the covariance of all rows. It keeps the
    digits of what varies within classes where their means are far apart.
    """
    covariance, loss = certain(stats)
    within = pooled(stats.count, covariance / unit / unit[:, None])
    return _factor_of(within, loss.max()), _steps(stats, unit, np.sqrt(np.diagonal(within)))


def _steps(stats: ClassStats, unit: Floats, sd: Floats) -> Floats:
    """F (d, k - 1) with F F' the covariance between classes, in units (d,).

    As of classes that are merged one by one (Chan, Golub and LeVeque 1983), far ones last, so that
    no column of near ones has the rounding errors of far ones. sd (d,) is that within classes.
    """
    share = shares(stats.count)
    order = np.flatnonzero(share > 0)  # a weight of 5e-324 beside one of 1e300 has no share
    middle = np.median(stats.mean[order], axis=0)
    distance = np.abs(stats.mean[order] - middle) / unit / np.where(sd > 0, sd, 1.0)
    order = order[np.argsort(distance.max(axis=1, initial=0.0), kind="stable")]
    part, mean, mean_lo = share[order], stats.mean[order], stats.mean_lo[order]
    step = difference(mean, mean_lo, mean[0], mean_lo[0]) / unit
    weight = np.cumsum(part)
    merged = np.cumsum(part[:, None] * step, axis=0) / weight[:, None]
    size = np.sqrt(weight[:-1]) * np.sqrt(part[1:] / weight[1:])
    return np.asarray((size[:, None] * (step[1:] - merged[:-1])).T)


def _number(n_components: Any, variance: Floats, share: Floats) -> int:
    check_components(n_components)
    d = int(share.shape[1])
    if n_components is None:
        ranks = np.count_nonzero(variance, axis=1)
        return int(ranks[ranks > 0].min(initial=d) if ranks.any() else 1)
    if not isinstance(n_components, Integral):
        reached = (np.cumsum(share, axis=1) <= n_components).sum(axis=1)
        return int(min(reached.max() + 1, d))
    if int(n_components) > d:
        raise ValueError(f"n_components={n_components} must be between 1 and n_features={d}.")
    return int(n_components)
