"""Full covariances: statistics to whiteners, by way of LAPACK.

What comes out has last bits that depend on the machine's LAPACK, unlike the rest of parameters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .kernels.logs import log_densities
from .params import RotatedParams, epsilon_of, prior_of
from .stats import ClassStats

Floats = NDArray[np.float64]


class FullMoments(NamedTuple):
    """What a Gaussian Bayes model decides by.

    class_prior (k,), theta (k, d) means, covariance (k, d, d), or (d, d) where it is tied, and
    epsilon, which its diagonal has been given.
    """

    class_prior: Floats
    theta: Floats
    covariance: Floats
    epsilon: float


def estimate_full(
    stats: ClassStats,
    *,
    priors: ArrayLike | None = None,
    covariance_type: str = "full",
    tied: bool = False,
    ddof: int = 0,
    reg_param: float = 0.0,
    shrinkage: str | float | None = None,
    var_smoothing: float = 0.0,
) -> FullMoments:
    """Class priors, means and covariances of statistics with full scatter.

    In this order: each class's covariance with ddof=0 is shrunk towards its mean variance times
    the identity; classes are pooled where they are tied; weight - ddof takes the place of weight,
    and gives 0 where there is no more weight than that;
    (1 - reg_param) of that and reg_param of the identity are added; and the diagonal is given
    var_smoothing times the largest variance of a feature over all rows. Cost: O(k d^2).
    Raises ValueError as `estimate`, and where the statistics have diagonal scatter.
    """
    if stats.covariance is None:
        raise ValueError(
            "Full covariances need full scatter: make the statistics with scatter='full'."
        )
    d = stats.n_features
    epsilon = epsilon_of(stats.to_diag().collapse(), var_smoothing)
    prior = prior_of(stats, priors)
    shrunk = _shrunk(stats.covariance, stats.count, shrinkage)
    count = stats.count[:, None, None]
    if tied:
        left = stats.count.sum() - ddof * np.count_nonzero(stats.count)
        with np.errstate(over="ignore"):  # a scatter may overflow where a variance does not
            covariance = (count * shrunk).sum(axis=0) / left if left > 0 else np.zeros((d, d))
        if not np.isfinite(covariance).all():
            covariance = (count / left * shrunk).sum(axis=0)
    else:
        left = count - ddof
        covariance = np.where(left > 0, shrunk * (count / np.where(left > 0, left, 1.0)), 0.0)
    unit = np.eye(d)
    if covariance_type == "diag":
        covariance = covariance * unit
    elif covariance_type == "spherical":
        covariance = np.trace(covariance, axis1=-2, axis2=-1)[..., None, None] / d * unit
    covariance = (1.0 - reg_param) * covariance + (reg_param + epsilon) * unit
    return FullMoments(prior, stats.mean.copy(), covariance, epsilon)


def whiten(stats: ClassStats, moments: FullMoments) -> RotatedParams:
    """The parameters of full covariances, of any rank.

    A covariance is L L', and L^-1 (x - mean) is standard normal (Cholesky). Variances are taken in
    units of the largest, of all rows or of a class, feature by feature. Where one along some axis
    is smaller than float64 can tell from 0, d 2^-52 of these units, it counts as that much: a class
    of few rows, or of one, is a thin density, and not none. Cost: O(k d^3).
    """
    covariance = moments.covariance.reshape(-1, *moments.covariance.shape[-2:])
    own = np.diagonal(covariance, axis1=1, axis2=2).max(axis=0, initial=0.0)
    unit = np.sqrt(np.maximum(stats.to_diag().collapse().variance[0], own))
    unit = np.where(unit > 0, unit, 1.0)
    pairs = [_whitener(each / np.outer(unit, unit)) for each in covariance]
    whitener = np.array([w for w, _ in pairs]) / unit
    log_det = np.array([det for _, det in pairs]) + 2.0 * np.log(unit).sum()
    theta, k = moments.theta, len(stats.classes)
    if len(covariance) < k or k == 1:
        centre = stats.to_diag().collapse().mean
        mean = (theta - centre) @ whitener[0].T
    else:
        centre, mean = theta, np.zeros_like(theta)
    possible = (moments.class_prior > 0) & (stats.count > 0)
    return RotatedParams(
        _log_prior(moments.class_prior, possible), np.broadcast_to(log_det, (k,)).copy(), centre,
        whitener, mean, np.ones_like(mean),
    )  # fmt: skip


def _log_prior(prior: Floats, possible: NDArray[np.bool_]) -> Floats:
    return log_densities(prior, possible, np.ones((len(prior), 1)))[0]


def _whitener(covariance: Floats) -> tuple[Floats, float]:
    """W (d, d), triangular, with W'W the inverse of a covariance, and the covariance's log det."""
    d = len(covariance)
    least = d * float(np.finfo(np.float64).eps)
    try:
        lower = np.linalg.cholesky(covariance)
        pivots = np.diagonal(lower) ** 2
        if pivots.min(initial=1.0) > 16.0 * least * max(1.0, float(np.max(covariance))):
            return _inverse(np.asarray(lower, np.float64)), float(np.log(pivots).sum())
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, least)
    turned = np.linalg.qr(vectors.T / np.sqrt(values)[:, None], mode="r")
    return np.triu(turned), float(np.log(values).sum())


def _inverse(lower: Floats) -> Floats:
    """The inverse of a lower triangular matrix, with zeros above its diagonal."""
    out = np.zeros_like(lower)
    for i in range(len(lower)):
        out[i, :i] = -(lower[i, :i] @ out[:i, :i])
        out[i, i] = 1.0
        out[i, : i + 1] /= lower[i, i]
    return out


def _shrunk(covariance: Floats, count: Floats, shrinkage: str | float | None) -> Floats:
    """(1 - s) S + s tr(S) / d I, with s given, or of Chen, Wiesel, Eldar and Hero (2010): OAS."""
    if shrinkage is None:
        return covariance
    d = covariance.shape[1]
    mu = np.trace(covariance, axis1=1, axis2=2) / d
    share: Any = shrinkage
    if isinstance(shrinkage, str):
        alpha = (covariance**2).mean(axis=(1, 2))
        with np.errstate(over="ignore"):
            low = (count + 1.0) * (alpha - mu**2 / d)
        share = np.where(
            low > 0, np.minimum((alpha + mu**2) / np.where(low > 0, low, 1.0), 1.0), 1.0
        )
    share = np.broadcast_to(share, mu.shape)[:, None, None]
    return np.asarray((1.0 - share) * covariance + share * mu[:, None, None] * np.eye(d))
