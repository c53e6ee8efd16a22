"""How much features depend on one another within classes, from full scatter.

The total correlation of normal features with correlations R is -1/2 log det R, in nats per row: it
is the part of the log density that a model of independent features leaves out. Of n independent
rows it comes out above 0 by chance alone, about d (d - 1) / (4 n), which is subtracted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma, psi

from ..estimate.correlation import certain, least_eigenvalue, rounding, varying
from ..stats.class_stats import ClassStats
from ..stats.pooling import pooled, shares

__all__ = ["Copy", "Dependence", "correlations_of", "dependence_of", "pair_nats"]

Floats = NDArray[np.float64]

_COPY = 1.0 - 1e-9
"""The correlation from which one feature is called a copy of another."""


class Copy(NamedTuple):
    """A feature that others determine within every class.

    feature : its position. of : the position of the one that it is a copy of, or -1 where it is a
    linear combination of several.
    """

    feature: int
    of: int


class Dependence(NamedTuple):
    """Dependence within classes.

    correlation : (k, d, d), 0 beside a constant. pooled : (d, d), of the pooled scatter.
    total : (k,), total correlation in nats, less what chance adds; NaN where a class has too few
        rows to tell. chance, noise : (k,), mean and standard deviation of independent features'.
    is_bound : (k,), whether correlations are singular, so that the total is at least so much.
    constant : (k, d), features that do not vary within a class.
    copies : features that others determine in all classes.
    """

    correlation: Floats
    pooled: Floats
    total: Floats
    chance: Floats
    noise: Floats
    is_bound: NDArray[np.bool_]
    constant: NDArray[np.bool_]
    copies: tuple[Copy, ...]


class _Total(NamedTuple):
    """Total correlation of one class, less chance, and so on; see `Dependence`."""

    total: float
    chance: float
    noise: float
    is_bound: bool


def dependence_of(stats: ClassStats, rows: Floats) -> Dependence:
    """Dependence of statistics with full scatter; rows (k,): the effective number of each class.

    Cost: O(k d^3).
    """
    matrices, within = correlations_of(stats)
    varies = stats.variance > 0
    totals = [
        _total(R[np.ix_(mask, mask)], n) for R, mask, n in zip(matrices, varies, rows, strict=True)
    ]
    return Dependence(
        correlation=matrices,
        pooled=within,
        total=np.array([each.total for each in totals]),
        chance=np.array([each.chance for each in totals]),
        noise=np.array([each.noise for each in totals]),
        is_bound=np.array([each.is_bound for each in totals], np.bool_),
        constant=~varies & (stats.count > 0)[:, None],
        copies=tuple(_copies(within, float(np.maximum(rows - 1.0, 0.0).sum()))),
    )


def correlations_of(stats: ClassStats) -> tuple[Floats, Floats]:
    """Correlations within each class (k, d, d), and those of the pooled scatter (d, d).

    They are 0 beside a feature that does not vary. Needs full scatter.
    """
    assert stats.covariance is not None
    covariance, d = certain(stats)[0], stats.n_features
    matrices = np.array([_correlation(each) for each in covariance]).reshape(-1, d, d)
    return matrices, _correlation(pooled(stats.count, covariance))


def pair_nats(correlation: Floats, weight: Floats) -> Floats:
    """What each pair of features shares (d, d), in nats: -1/2 log(1 - r^2), a mean over classes.

    correlation : (k, d, d). weight : (k,).
    """
    total = np.zeros(correlation.shape[1:])
    for share, R in zip(shares(weight), correlation, strict=True):
        total += share * (-0.5) * np.log(np.maximum((1.0 - R) * (1.0 + R), least_eigenvalue(2)))
    np.fill_diagonal(total, 0.0)
    return total


def _correlation(covariance: Floats) -> Floats:
    """Correlations (d, d): 1 along the diagonal, and 0 beside a feature that does not vary."""
    out = np.eye(len(covariance))
    rows, _, R = varying(covariance)
    out[np.ix_(rows, rows)] = np.clip(R, -1.0, 1.0)
    np.fill_diagonal(out, 1.0)
    return out


def _total(R: Floats, n: float) -> _Total:
    """Total correlation of correlations (m, m), of features that vary, in n rows.

    Unless others determine a feature, the rank is m, or n - 1 where rows are too few to tell.
    """
    values = np.linalg.eigvalsh(R) if len(R) else np.ones(0)
    is_certain = values > rounding(len(R))
    rank = int(is_certain.sum())
    chance, noise = _by_chance(rank, n)
    if not n > rank + 1.5:  # an effective number of rows that should be rank + 1 is rounded
        return _Total(np.nan, np.nan, np.nan, True)
    total = -0.5 * float(np.log(np.where(is_certain, values, least_eigenvalue(len(R)))).sum())
    return _Total(max(total - chance, 0.0), chance, noise, rank < len(R))


def _by_chance(d: int, n: float) -> tuple[float, float]:
    """Mean and standard deviation of -1/2 log det R of n rows of d independent normal features.

    det R is a product of independent beta variables (Wilks 1932): exact, by their log moments.
    """
    free = n - 1.0 - np.arange(1, d)
    if not (free > 0).all():
        return np.nan, np.nan
    mean = 0.5 * (psi(0.5 * (n - 1.0)) - psi(0.5 * free)).sum()
    spread = 0.25 * (polygamma(1, 0.5 * free) - polygamma(1, 0.5 * (n - 1.0))).sum()
    return float(mean), float(np.sqrt(max(spread, 0.0)))


def _copies(R: Floats, free: float) -> list[Copy]:
    """Features that those before them determine: pivots of 0 in the Cholesky factor of R (d, d).

    free : degrees of freedom of R. Of fewer than features, only pairs are told from chance.
    """
    if not len(R) or free < 1.5 or np.linalg.eigvalsh(R)[0] > rounding(len(R)):
        return []
    left, found = R.copy(), list[Copy]()
    for j in range(len(R)):
        if left[j, j] <= 64.0 * rounding(len(R)):
            twins = np.flatnonzero(np.abs(R[:j, j]) >= _COPY)
            if len(twins) or free > len(R) - 0.5:
                found.append(Copy(j, int(twins[0]) if len(twins) else -1))
            continue
        column = left[j:, j] / np.sqrt(left[j, j])
        left[j:, j:] -= np.multiply.outer(column, column)
    return found
