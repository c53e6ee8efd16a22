"""Priors, means and smoothed variances of statistics. Smoothing is defined here only."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..stats.checks import check_shapes, is_usual
from ..stats.class_stats import ClassStats
from ..stats.pooling import mean_of, pooled
from .options import check_priors, check_smoothing

Floats = NDArray[np.float64]


class DiagonalEstimate(NamedTuple):
    """What a Gaussian naive Bayes model decides by, as scikit-learn names it.

    class_prior : (k,), priors of the classes.
    theta : (k, d), means.
    var : (k, d), smoothed variances.
    epsilon : what smoothing added to each variance.
    """

    class_prior: Floats
    theta: Floats
    var: Floats
    epsilon: float


def estimate_diagonal(
    stats: ClassStats,
    *,
    priors: ArrayLike | None = None,
    var_smoothing: float = 1e-9,
    covariance_type: str = "diag",
    tied: bool = False,
    ddof: int = 0,
) -> DiagonalEstimate:
    """Class priors, means and smoothed variances of statistics.

    The smoothing epsilon is var_smoothing times the largest variance that a feature has over all
    rows, weights counted. Where no feature varies at all it is var_smoothing itself, so that the
    densities exist. Variances are scatter / (weight - ddof), and 0 for no more weight than that;
    with `tied` the scatter within all classes over the weight less ddof a class; "spherical" ones
    are the mean over the features. A feature that was missing in every row of a class takes the
    mean and variance of all rows there. Cost: O(k d).
    Raises ValueError for bad priors and a smoothing that is negative or not finite.
    """
    overall = stats.as_one_class()
    epsilon = epsilon_of(overall, var_smoothing)
    prior = prior_of(stats, priors)
    plain = _variances(stats, covariance_type, tied=tied, ddof=ddof)
    with np.errstate(over="ignore"):  # scoring says which variance is not finite
        theta, var = stats.mean.copy(), plain + epsilon
    if stats.feature_count is not None:
        absent = (stats.feature_count == 0) & (stats.count > 0)[:, None]
        theta = np.where(absent, overall.mean, theta)
        var = np.where(absent, overall.variance + epsilon, var)
    return DiagonalEstimate(prior, theta, var, epsilon)


def never_overflows(stats: ClassStats, priors: ArrayLike | None, var_smoothing: float) -> bool:
    """Whether `estimate_diagonal` cannot raise, by a look at the largest numbers.

    Raises its errors for priors, smoothing, and statistics whose arrays do not match.
    """
    check_shapes(stats)
    if priors is not None:
        check_priors(priors, len(stats.classes))
    return check_smoothing(var_smoothing) <= 1.0 and is_usual(stats)


def _variances(stats: ClassStats, covariance_type: str, *, tied: bool, ddof: int) -> Floats:
    """Variances (k, d) without smoothing."""
    variance, weight = stats.variance, stats.weight
    if tied:
        variance = np.broadcast_to(pooled(weight, variance, ddof), variance.shape)
    elif ddof:
        left = weight - ddof
        with np.errstate(over="ignore"):  # a weight just above ddof may leave none in range
            variance = np.where(left > 0, variance * (weight / np.where(left > 0, left, 1.0)), 0.0)
    if covariance_type == "spherical":
        variance = np.broadcast_to(mean_of(variance)[:, None], variance.shape)
    return variance


def prior_of(stats: ClassStats, priors: ArrayLike | None) -> Floats:
    """Priors (k,) as given, or the classes' shares of the weight. Raises ValueError."""
    if priors is None:
        return np.asarray(stats.count / stats.count.sum())
    return check_priors(priors, len(stats.classes))


def epsilon_of(overall: ClassStats, var_smoothing: float) -> float:
    """What is added to variances; `overall` has the statistics of all rows as one class."""
    smoothing = check_smoothing(var_smoothing)
    spread = float(overall.variance.max(initial=0.0))
    epsilon = smoothing * spread if spread > 0 else smoothing
    if not math.isfinite(epsilon):
        raise ValueError(
            f"The largest variance {spread} times var_smoothing {smoothing} overflows float64. "
            "Scale the features down."
        )
    return epsilon
