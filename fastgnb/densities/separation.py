"""Which classes a model can tell apart: Bhattacharyya distances, and bounds on errors.

The Bhattacharyya coefficient of two densities p and q is the integral of sqrt(p q): 1 if they are
alike, and 0 if no value is possible in both. Its distance is D = -log of it. Of two classes with
priors a and b, the best rule errs on at most sqrt(a b) exp(-D) of all rows [1]_. No row is read:
the densities are the model's, and the bounds hold as far as the model does.

Of normal densities with means m1, m2 and covariances S1, S2, with S = (S1 + S2) / 2,

    D = (m1 - m2)' S^-1 (m1 - m2) / 8 + log(det S / sqrt(det S1 det S2)) / 2

.. [1] T. Kailath, "The divergence and Bhattacharyya distance measures in signal selection", IEEE
   Transactions on Communication Technology 15 (1967) 52-60.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from ..estimate.parameters import GaussianParams, MixedParams, WhitenedParams
from ..model.model import Model

__all__ = ["bhattacharyya_distance", "error_bound"]

Floats = NDArray[np.float64]

_LARGE = 1000
"""Features from which a matrix is worth more than one thread of BLAS."""

_LEAST_PIVOT = 1e-5
"""Of Cholesky's factor of a matrix of correlations; below it half of the digits are lost."""


def bhattacharyya_distance(model: Model) -> Floats:
    """Bhattacharyya distances D (k, k) of the classes: the coefficient is exp(-D).

    NaN for classes that cannot win, which have no rows or a prior of 0. Cost: O(k^2 d) for
    features or axes that are independent in all classes, and else O(k^2 d^3). Error: about 1e-15
    times the condition number of a covariance in units of its standard deviations.
    Raises ValueError for a model in which each class has axes of its own, fewer than features.
    """
    params = model.params
    if isinstance(params, MixedParams):
        distance = _independent(params.gaussian.mean, params.gaussian.inv_sd)
        distance += sum(map(_of_categories, model.category_probabilities))
    elif isinstance(params, GaussianParams):
        distance = _independent(params.mean, params.inv_sd)
    elif len(params.whitener) == 1:
        distance = _independent(params.mean, params.scale)
    elif np.ndim(model.attributes.get("components_", 0.0)) == 2:  # with centres of their own
        moments = model.moments
        distance = _independent(moments.theta, 1.0 / np.sqrt(moments.var))
    else:
        # NumPy and SciPy have a BLAS each, whose threads keep the cores of the other busy: waiting
        # for each other pair by pair, they take a hundred times as long as one thread does.
        with threadpool_limits(1 if model.n_features < _LARGE else None, user_api="blas"):
            distance = _of_covariances(model, params)
    is_possible = model.is_possible
    distance[~(is_possible[:, None] & is_possible)] = np.nan
    return distance


def error_bound(prior: Floats, distance: Floats) -> Floats:
    """Bounds (k, k) on the errors of pairs of classes, sqrt(a b) exp(-D), and 0 on the diagonal.

    They are shares of all rows. The sum over pairs bounds the error of the best rule for all
    classes together.
    """
    prior = prior / prior.sum()
    bound = np.sqrt(prior[:, None] * prior) * np.exp(-distance)
    return np.asarray(np.where(np.eye(len(prior), dtype=bool) & ~np.isnan(bound), 0.0, bound))


def _independent(mean: Floats, inv_sd: Floats) -> Floats:
    """Of independent normal variables (k, d), with 1 / standard deviation."""
    k = len(mean)
    out = np.zeros((k, k))
    for i in range(k - 1):
        a, b = inv_sd[i], inv_sd[i + 1 :]
        step = (mean[i + 1 :] - mean[i]) * (a / np.hypot(a, b) * b)
        ratio = a / b
        shape = 0.5 * (ratio - 1.0 / ratio)
        out[i, i + 1 :] = 0.25 * (step * step + np.log1p(shape * shape)).sum(axis=1)
    return out + out.T


def _of_categories(p: Floats) -> Floats:
    """Of one categorical feature with probabilities (k, m)."""
    root = np.sqrt(p)
    with np.errstate(divide="ignore"):
        distance = -np.log(np.minimum(root @ root.T, 1.0))
    np.fill_diagonal(distance, 0.0)
    return np.asarray(distance)


def _of_covariances(model: Model, params: WhitenedParams) -> Floats:
    """Of normal densities with a covariance of each class."""
    k, r, d = params.whitener.shape
    if r < d:
        raise ValueError(
            f"Classes cannot be compared along {r} axes of their own out of {d}: they have no "
            "density over the same values. Take n_components=None, or rotation='total' or 'within'."
        )
    whitener = params.whitener * params.scale[:, :, None]
    root = np.linalg.inv(whitener)  # covariance = root root'
    covariance = root @ np.swapaxes(root, 1, 2)
    log_det = np.array([2.0 * np.linalg.slogdet(each)[1] for each in root])
    mean = model.feature_moments[0]
    out = np.zeros((k, k))
    for i in range(k):
        for j in range(i):
            average = 0.5 * (covariance[i] + covariance[j])
            step = mean[i] - mean[j]
            pair = _by_cholesky(average, 0.5 * (log_det[i] + log_det[j]), step)
            out[i, j] = pair if pair is not None else _by_svd(whitener[i], root[j], step)
    return out + out.T


def _by_cholesky(average: Floats, log_det: float, step: Floats) -> float | None:
    """The distance of two normal densities, or None where this loses half of the digits.

    average : of the covariances (d, d). log_det : mean of the logarithms of their determinants.
    """
    sd = np.sqrt(np.diagonal(average))
    try:
        lower = np.linalg.cholesky(average / sd / sd[:, None])
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(lower)
    if pivots.min(initial=1.0) < _LEAST_PIVOT:
        return None
    z = solve_triangular(lower, step / sd, lower=True)
    return float(z @ z / 8.0 + np.log(pivots * sd).sum() - 0.5 * log_det)


def _by_svd(whitener: Floats, root: Floats, step: Floats) -> float:
    """The same where one class is standard normal, and the other has a covariance of U s^2 U'."""
    axes, s, _ = np.linalg.svd(whitener @ root)
    z = axes.T @ (whitener @ step)
    shape = 0.5 * (s - 1.0 / s)
    return float(0.25 * (z * z / (1.0 + s * s) + np.log1p(shape * shape)).sum())
