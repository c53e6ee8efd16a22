"""Models whose covariances have the same axes: those that differ in priors and regularisation.

(1 - r) C + s I has the axes of C, whatever r and s. So the scores of several models of the same
statistics need one rotation of a row for each class, see `kernels.score.shared_axes`. They are not
the bits of scores by each model's own whitener, which is made by Cholesky. But both are near the
scores of exact arithmetic, of the same covariance S, and a label that leads by more than both
errors is the same. With u = 2^-53, the condition number K of S, and squared distances q:

- S in units of standard deviations, R, is at worst d times as badly conditioned (A. van der Sluis,
  "Condition numbers and equilibration of matrices", Numerische Mathematik 14 (1969) 14). Rounding
  to R and Cholesky's factor of it are exact for a matrix within (d + 4) d u of R, and the factor's
  inverse adds less than d^2 u times the root of d K. So a whitener gives q within a relative error
  of 10 d^3 K u, rounding of its products with rows included, and the log determinant within d times
  that.
- Axes Q and variances V are off by the residual |C Q - Q V| over the least variance, and by
  K |Q'Q - I|, both of which are computed; products with rows add less than 2 d u times the root of
  d K.

The error that is asked for is more than twice their sum. Where it is not small, no label is sure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.logs import log_densities
from ..kernels.score.shared_axes import SharedAxes
from ..stats.class_stats import ClassStats
from .correlation import certain, rounding
from .diagonal import epsilon_of, prior_of
from .full import estimate_full

__all__ = ["shared_axes"]

Floats = NDArray[np.float64]

_UNIT = 2.0**-53
_LOG_2PI = math.log(2.0 * math.pi)
# Largest relative error at which labels are worth it.
_LARGEST_ERROR = 1e-5


def shared_axes(stats: ClassStats, options: Sequence[Mapping[str, Any]]) -> SharedAxes | None:
    """Parameters of models that differ in priors and regularisation; None where none is certain.

    Cost: O(k d^3), and O(k d) a model.
    """
    first = options[0]
    if first["covariance_type"] != "full" or first["tied"] or first["shrinkage"] is not None:
        return None
    covariance = estimate_full(stats, ddof=first["ddof"]).covariance
    d = stats.n_features
    if not np.isfinite(covariance).all():
        return None
    values, vectors = np.linalg.eigh(covariance)
    residual = np.linalg.norm(covariance @ vectors - vectors * values[:, None, :], axis=(1, 2))
    skew = np.linalg.norm(vectors.transpose(0, 2, 1) @ vectors - np.eye(d), axis=(1, 2))
    loss = float(certain(stats)[1].max(initial=1.0))
    smoothing = [each["var_smoothing"] for each in options]
    overall = stats.to_diag().as_one_class() if any(smoothing) else None
    steep, const, errors = [], [], []
    for each in options:
        kept, added = 1.0 - each["reg_param"], each["reg_param"]
        if overall is not None and each["var_smoothing"] > 0:
            added += epsilon_of(overall, each["var_smoothing"])
        prior = prior_of(stats, each["priors"])
        possible = (prior > 0) & (stats.count > 0)
        variance = np.where(possible[:, None], kept * values + added, 1.0)
        error = _error(stats, variance, (kept * residual, skew, loss), possible)
        if not (possible.any() and error < _LARGEST_ERROR):
            variance, error = np.ones_like(values), np.inf
        log_prior, log_det = log_densities(prior, possible, variance)
        steep.append(0.5 / variance)
        const.append(log_prior - 0.5 * (log_det + d * _LOG_2PI))
        errors.append(error)
    if not np.isfinite(errors).any():
        return None
    axes = vectors.transpose(0, 2, 1)
    shift = (axes @ stats.mean_lo[:, :, None])[:, :, 0]
    return _with_bounds(
        (stats.mean, axes, shift, np.array(steep), np.array(const)), np.array(errors)
    )


def _error(
    stats: ClassStats,
    variance: Floats,
    of_axes: tuple[Floats, Floats, float],
    possible: NDArray[np.bool_],
) -> float:
    """The relative error of squared distances by variances (k, d); infinite where none is known.

    of_axes: residuals of the axes (k,), how far they are from orthonormal (k,), and by how much the
    relative error of covariances grew.
    """
    d, (residual, skew, loss) = variance.shape[1], of_axes
    least = variance.min(axis=1)
    with np.errstate(all="ignore"):
        condition = variance.max(axis=1) / least
        error = 2.0 * (residual / least + skew * condition) + 64.0 * d**3 * condition * _UNIT
        is_regular = d * d * condition * 8.0 * rounding(d, loss) < 1.0
        # Whitening takes the mean's low word along, which must not matter by itself.
        is_near = np.abs(stats.mean).max(axis=1) * 2.0**-44 < np.sqrt(least)
    is_certain = (least > 0) & is_regular & is_near & np.isfinite(error)
    return float(np.where(is_certain, error, np.inf)[possible].max(initial=0.0))


def _with_bounds(
    parameters: tuple[Floats, Floats, Floats, Floats, Floats], errors: Floats
) -> SharedAxes:
    """Add the bounds: of scores const - q / 2, a class may be off by error (d + q)."""
    const, d = parameters[-1], parameters[0].shape[1]
    is_finite = const > -np.inf
    top = np.where(is_finite, const, -np.inf).max(axis=1)
    size = np.abs(np.where(is_finite, const, 0.0)).max(axis=1)
    floor = 4.0 * errors * d + 64.0 * (d + 8) * _UNIT * (size + d)
    return SharedAxes(*parameters, floor, 4.0 * errors + 64.0 * (d + 8) * _UNIT, top)
