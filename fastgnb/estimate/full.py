"""Full covariances: statistics to whiteners, by way of LAPACK.

What comes out has last bits that depend on the machine's LAPACK, unlike the rest of parameters.
Logarithms are taken of contiguous arrays: NumPy's of a strided one have other last bits where the
result happens to lie right after it in memory, and so differ between two calls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.logs import log_densities
from ..stats.class_stats import ClassStats
from ..stats.pooling import mean_of, pooled
from .correlation import (
    certain,
    correlation,
    least_eigenvalue,
    rounding,
    units,
    varying,
)
from .diagonal import epsilon_of, prior_of
from .options import check_smoothing
from .parameters import WhitenedParams

Floats = NDArray[np.float64]

# Class means farther apart than this many standard deviations are not centred together: deviations
# from a common centre would lose as many digits.
FAR = 64.0


class FullEstimate(NamedTuple):
    """What a Gaussian Bayes model decides by.

    class_prior : (k,), priors of the classes.
    theta : (k, d), means.
    covariance : (k, d, d), or (d, d) where it is tied.
    epsilon : what smoothing added to the diagonal.
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
    shrinkage_target: str = "diagonal",
    var_smoothing: float = 0.0,
) -> FullEstimate:
    """Class priors, means and covariances of statistics with full scatter.

    In this order: each class's covariance with ddof=0 is shrunk towards its diagonal, or towards
    its mean variance times the identity; classes are pooled by their weights where they are tied;
    weight - ddof takes the place of weight, and gives 0 where there is no more weight than that;
    (1 - reg_param) of that and reg_param of the identity are added; and the diagonal is given
    var_smoothing times the largest variance of a feature over all rows. Cost: O(k d^2).
    Raises ValueError as `estimate_diagonal`, and where the statistics have diagonal scatter.
    """
    if stats.covariance is None:
        raise ValueError(
            "Full covariances need full scatter: make the statistics with scatter='full'."
        )
    epsilon = check_smoothing(var_smoothing)
    if epsilon > 0:  # without smoothing the variance of all rows may overflow
        epsilon = epsilon_of(stats.to_diag().as_one_class(), var_smoothing)
    prior = prior_of(stats, priors)
    shrunk = _shrunk(certain(stats)[0], stats.count, shrinkage, shrinkage_target)
    covariance = _unbiased(stats.count, shrunk, ddof, tied=tied)
    unit = np.eye(stats.n_features)
    if covariance_type == "diag":
        covariance = covariance * unit
    elif covariance_type == "spherical":
        covariance = mean_of(_variances(covariance))[:, None, None] * unit
    covariance = (1.0 - reg_param) * covariance + (reg_param + epsilon) * unit
    return FullEstimate(prior, stats.mean.copy(), covariance[0] if tied else covariance, epsilon)


def _unbiased(count: Floats, covariance: Floats, ddof: int, *, tied: bool) -> Floats:
    """Covariances (k, d, d), or pooled (1, d, d), with weight - ddof in the place of weight."""
    if tied:
        return pooled(count, covariance, ddof)[None]
    weight = count[:, None, None]
    left = weight - ddof
    return np.where(left > 0, covariance * (weight / np.where(left > 0, left, 1.0)), 0.0)


def whiten(stats: ClassStats, moments: FullEstimate) -> WhitenedParams:
    """The parameters of full covariances, of any rank.

    A covariance is L L', and L^-1 (x - mean) is standard normal (Cholesky).

    The rule for low rank: a covariance is taken in its own standard deviations, feature by feature,
    which is the matrix of correlations (see `correlation.units` for variances that are 0), and an
    eigenvalue of that matrix that float64 cannot tell from 0, being below (d + 32) 2^-52, counts
    as d 2^-52, whatever the order of the features. So a class of few rows, or of one, is a thin
    density, and not none.
    No class has a part in the units of another, unless its own variances are 0. Where rows were
    subtracted, what cannot be told from 0 is more, by as much as there was more scatter.
    Cost: O(k d^3).
    """
    covariance = moments.covariance.reshape(-1, *moments.covariance.shape[-2:])
    unit = units(stats, covariance)
    loss = certain(stats)[1]
    pairs = [
        _whitener(correlation(matrix, sd), loss[c] if len(loss) == len(unit) else loss.max())
        for c, (matrix, sd) in enumerate(zip(covariance, unit, strict=True))
    ]
    whitener = np.array([w for w, _ in pairs]) / unit[:, None, :]
    log_det = np.array([det for _, det in pairs]) + 2.0 * np.log(unit).sum(axis=1)
    k = len(stats.classes)
    possible = (moments.class_prior > 0) & (stats.count > 0)
    centre, whitener, mean = _centred(stats, whitener, possible)
    return WhitenedParams(
        _log_prior(moments.class_prior, possible), np.broadcast_to(log_det, (k,)).copy(), centre,
        whitener, mean, np.ones_like(mean),
    )  # fmt: skip


def _centred(
    stats: ClassStats, whitener: Floats, possible: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Centres (g, d), whiteners (g, d, d), and means (k, d) as whitened deviations from centres.

    One whitener has one centre, unless the classes are so far apart that deviations from it would
    lose digits. What a float64 centre leaves of a mean is in the whitened mean.
    """
    k = len(stats.classes)
    if len(whitener) < k or k == 1:
        centre = stats.to_diag().as_one_class().mean
        with np.errstate(over="ignore", invalid="ignore"):
            mean = ((stats.mean - centre) + stats.mean_lo) @ whitener[0].T
        if k == 1 or np.abs(mean[possible]).max(initial=0.0) <= FAR:
            return centre, whitener, mean
        whitener = np.repeat(whitener, k, axis=0)
    mean = (whitener @ stats.mean_lo[:, :, None])[:, :, 0]
    return stats.mean.copy(), whitener, mean


def _log_prior(prior: Floats, possible: NDArray[np.bool_]) -> Floats:
    return log_densities(prior, possible, np.ones((len(prior), 1)))[0]


def _whitener(matrix: Floats, loss: float) -> tuple[Floats, float]:
    """W (d, d) with W'W the inverse of a matrix of correlations, and the log det of that matrix.

    It is triangular where Cholesky's factor will do. A bound on the least eigenvalue tells, since
    tr(W'W) is the sum of the inverse eigenvalues, and not its pivots, which may be far above it.
    """
    d = len(matrix)
    try:
        lower = np.linalg.cholesky(matrix)
        inverse = _inverse(np.asarray(lower, np.float64))
        if (inverse**2).sum() * 4.0 * rounding(d, loss) < 1.0:
            return inverse, float(2.0 * np.log(np.diagonal(lower).copy()).sum())
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrix)
    values = np.where(values > rounding(d, loss), values, least_eigenvalue(d))
    # No QR to make it triangular: the largest rows' rounding errors would drown the others.
    return vectors.T / np.sqrt(values)[:, None], float(np.log(values).sum())


def submatrices(stats: ClassStats, covariance: Floats, features: NDArray[np.intp]) -> Floats:
    """Covariances (g, m, m) of m of the features, out of covariances (g, d, d) of all.

    Their low rank is treated as that of all is, see `whiten`: an eigenvalue in units of standard
    deviations that cannot be told from 0 counts as d 2^-52.
    """
    unit, loss = units(stats, covariance), certain(stats)[1].max(initial=1.0)
    parts = covariance[:, features[:, None], features]
    d = covariance.shape[-1]
    for c, part in enumerate(parts):
        sd = unit[c, features]
        values, vectors = np.linalg.eigh(correlation(part, sd))
        is_low = values <= rounding(d, loss)
        if is_low.any():
            values = np.where(is_low, least_eigenvalue(d), values)
            parts[c] = (vectors * values) @ vectors.T * sd * sd[:, None]
    return parts


def _inverse(lower: Floats) -> Floats:
    """The inverse of a lower triangular matrix, with zeros above its diagonal."""
    out = np.zeros_like(lower)
    for i in range(len(lower)):
        out[i, :i] = -(lower[i, :i] @ out[:i, :i])
        out[i, i] = 1.0
        out[i, : i + 1] /= lower[i, i]
    return out


def _variances(covariance: Floats) -> Floats:
    return np.diagonal(covariance, axis1=1, axis2=2)


def _shrunk(
    covariance: Floats, count: Floats, shrinkage: str | float | None, target: str
) -> Floats:
    """(1 - s) S + s T, where T is the diagonal of S, or its mean variance times the identity."""
    if shrinkage is None:
        return covariance
    towards = _variances(covariance)
    if target != "diagonal":
        towards = np.repeat(mean_of(towards)[:, None], covariance.shape[1], axis=1)
    share: Any = shrinkage
    if isinstance(shrinkage, str):
        is_diagonal = target == "diagonal"
        share = [
            _oas(varying(S)[2] if is_diagonal else S, n)
            for S, n in zip(covariance, count, strict=True)
        ]
    share = np.broadcast_to(share, count.shape)[:, None, None]
    unit = np.eye(covariance.shape[1])
    return np.asarray((1.0 - share) * covariance + share * towards[:, :, None] * unit)


def _oas(covariance: Floats, count: float) -> float:
    """The share of the target: oracle approximating shrinkage (Chen, Wiesel, Eldar, Hero 2010).

    Squares are taken in units of the mean variance, so that none under- or overflows.
    """
    mu = float(mean_of(np.diagonal(covariance)[None])[0]) if len(covariance) else 0.0
    if not mu > 0:
        return 1.0
    d = len(covariance)
    scaled = covariance / mu
    square = float((scaled**2).mean())
    low = (count + 1.0) * (square - 1.0 / d)
    return min((square + 1.0) / low, 1.0) if low > 0 else 1.0
