"""Correlations, and what of them float64 cannot tell from 0: the one rule for low rank.

A covariance is taken in units of its own standard deviations, as the matrix of correlations: the
scatter of rows is known to about 2^-52 of these units, however different features are, and however
far other classes lie. An eigenvalue of the matrix below (d + 32) 2^-52 may be what rounding left
of 0. A whitener then takes it for d 2^-52 (see `full.whiten`), and a principal axis for none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..stats.class_stats import ClassStats
from ..stats.pooling import pooled

Floats = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)

# Roundings that sums over rows and merges may leave of an eigenvalue that is 0, besides those of d
# features: streams of thousands of batches were seen to leave 30.
_ROUNDINGS = 32


def least_eigenvalue(d: int) -> float:
    """What an eigenvalue counts as that cannot be told from 0."""
    return d * EPS


def rounding(d: int, loss: float = 1.0) -> float:
    """The largest eigenvalue of a correlation matrix (d, d) that cannot be told from 0."""
    return (d + _ROUNDINGS) * EPS * loss


def certain(stats: ClassStats) -> tuple[Floats, Floats]:
    """Covariances (k, d, d), and by how much their relative errors grew (k,), 1 or more.

    What `-` leaves has the rounding errors of what was there before: a variance of that size is 0,
    with all beside it, and others have so many digits less.
    """
    assert stats.covariance is not None
    covariance, count = stats.covariance, stats.count[:, None]
    if stats.max_scatter is None:
        return covariance, np.ones(len(count))
    with np.errstate(over="ignore"):
        bound = np.divide(
            stats.max_scatter, count, out=np.zeros_like(stats.max_scatter), where=count > 0
        )
    # A scatter that float64 does not hold is one that nothing is known of.
    is_known = (stats.max_scatter >= np.finfo(np.float64).tiny) & np.isfinite(bound)
    bound = np.where(is_known, bound, 0.0)
    varies = stats.variance > _ROUNDINGS * EPS * bound
    loss = np.divide(bound, stats.variance, out=np.ones_like(bound), where=varies)
    kept = np.where(varies[:, :, None] & varies[:, None, :], covariance, 0.0)
    return kept, loss.max(axis=1, initial=1.0)


def units(stats: ClassStats, covariance: Floats) -> Floats:
    """Standard deviations (g, d) of covariances (g, d, d), one a class or one for all.

    A variance that is 0 has the unit of the variance within classes, pooled by their weights;
    where that is 0 too, of the variance of all rows; and else 1.
    """
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    if (variance > 0).all():
        return np.asarray(np.sqrt(variance))
    within = pooled(stats.count, np.diagonal(certain(stats)[0], axis1=1, axis2=2))
    total = np.minimum(stats.to_diag().as_one_class().variance[0], np.finfo(np.float64).max)
    other = np.where(within > 0, within, np.where(total > 0, total, 1.0))
    return np.asarray(np.sqrt(np.where(variance > 0, variance, other)))


def correlation(covariance: Floats, unit: Floats) -> Floats:
    """A covariance (d, d) in units (d,), with nothing beside a variance of 0."""
    varies = np.diagonal(covariance) > 0
    return np.where(varies & varies[:, None], covariance / unit / unit[:, None], 0.0)


def varying(covariance: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """The features (m,) that vary, their standard deviations, and their correlations (m, m)."""
    sd = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    rows = np.flatnonzero(sd)
    return rows, sd[rows], covariance[np.ix_(rows, rows)] / sd[rows] / sd[rows, None]
