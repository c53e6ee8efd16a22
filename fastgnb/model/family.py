"""The members of the family, without scikit-learn: their parameters, and how each is estimated.

What an estimator is besides its face stands here once, for files and commands too. A further
member needs an entry here, and an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..estimate.axes import Axes, check_components, factor_of_total, principal_axes, rotate
from ..estimate.categorical import (
    CategoryEstimate,
    check_alpha,
    check_marks,
    check_most,
    estimate_mixed,
    least_categories,
)
from ..estimate.correlation import certain
from ..estimate.diagonal import (
    DiagonalEstimate,
    WhitenedParams,
    check_sharing,
    check_shrinkage,
    check_unit,
    estimate_diagonal,
    whitened_params,
)
from ..estimate.full import FAR, FullEstimate, check_target, estimate_full, whiten
from ..stats.class_stats import ClassStats
from ..stats.mixed_stats import MAX_CATEGORIES, MixedStats
from ..stats.pooling import pooled

__all__ = [
    "MEMBERS",
    "ROTATIONS",
    "AxesEstimate",
    "Estimate",
    "Member",
    "estimate_along_axes",
    "recentre",
]

Floats = NDArray[np.float64]
ROTATIONS = frozenset({"total", "within", "class"})


class Estimate(NamedTuple):
    """What statistics became: estimates by feature, or by axis, and the parameters of scoring
    where they do not follow from these; None where a variance along an axis makes no density.

    categorical: what decides of each categorical feature, in a model that may have some.
    """

    diagonal: DiagonalEstimate
    params: WhitenedParams | None = None
    categorical: Sequence[CategoryEstimate] | None = None


class Member(NamedTuple):
    """Whether full scatter is needed; options besides priors, smoothing and missing, as they are by
    default; `check`, which raises ValueError for options; default smoothing; `estimate`."""

    needs_full: bool
    options: Mapping[str, Any]
    check: Callable[[Mapping[str, Any]], None]
    var_smoothing: float
    estimate: Callable[..., Estimate]


class AxesEstimate(NamedTuple):
    """Axes (g, r, d) of features over their units (d,), the centre (g, d) where they cross, and
    diagonal (k, r) along them."""

    axes: Axes
    unit: Floats
    centre: Floats
    diagonal: DiagonalEstimate


def estimate_along_axes(
    stats: ClassStats,
    *,
    n_components: int | float | None = None,
    rotation: str = "total",
    standardize: bool = False,
    priors: ArrayLike | None = None,
    var_smoothing: float = 1e-9,
    **sharing: Any,
) -> AxesEstimate:
    """Naive Bayes along the principal axes of statistics with full scatter. Cost: O(k d^2 + d^3).

    With standardize, of each feature over its standard deviation over all rows, as if rows had
    been divided by that first. See `axes.principal_axes` for n_components, and
    `diagonal.estimate_diagonal` for the rest. Raises ValueError for diagonal scatter, and for
    parameters that do not fit.
    """
    if stats.covariance is None:
        raise ValueError(
            "Principal axes need full scatter: make the statistics with scatter='full'."
        )
    whole = stats.as_one_class()
    if not np.isfinite(whole.variance).all():
        raise ValueError(
            "The variance of all rows overflows float64: classes are too far apart. Scale the "
            "features down."
        )
    assert whole.covariance is not None
    unit = np.ones(stats.n_features)
    if standardize:
        unit = np.sqrt(np.where(whole.variance[0] > 0, whole.variance[0], 1.0))
    centre, factor = whole.mean, None
    covariance, loss = certain(stats)
    if rotation == "class":
        centre, scatters = stats.mean, covariance
    elif rotation == "within":
        scatters, loss = pooled(stats.count, covariance)[None], loss.max(keepdims=True)
    else:
        loss = loss.max(keepdims=True)
        scatters, factor = whole.covariance, partial(factor_of_total, stats, unit)
    axes = principal_axes(scatters / unit / unit[:, None], n_components, factor, loss)
    components = axes.components / unit
    seen = rotate(stats, centre, components)
    diagonal = estimate_diagonal(seen, priors=priors, var_smoothing=var_smoothing, **sharing)
    return AxesEstimate(axes, unit, centre, diagonal)


def recentre(stats: ClassStats, params: WhitenedParams) -> WhitenedParams:
    """The parameters with a centre of each class, where one for all would lose digits."""
    k = len(stats.count)
    is_far = np.abs(params.mean * params.scale).max(axis=1, initial=0.0) > FAR
    if k == 1 or len(params.centre) == k or not (is_far & (params.log_prior > -np.inf)).any():
        return params
    whitener = params.whitener * params.scale[:, :, None]
    mean = (whitener @ stats.mean_lo[:, :, None])[:, :, 0]
    return replace(
        params, centre=stats.mean.copy(), whitener=whitener, mean=mean,
        scale=np.ones_like(params.scale),
    )  # fmt: skip


def _naive(stats: ClassStats, **options: Any) -> Estimate:
    return Estimate(estimate_diagonal(stats, **options))


def _full(stats: ClassStats, **options: Any) -> Estimate:
    full = estimate_full(stats, **options)
    return Estimate(_diagonal(full, len(stats.classes)), whiten(stats, full))


def _diagonal(full: FullEstimate, k: int) -> DiagonalEstimate:
    """Variances (k, d) of the features alone."""
    variance = np.diagonal(full.covariance, axis1=-2, axis2=-1)
    shape = k, variance.shape[-1]
    return DiagonalEstimate(
        full.class_prior, full.theta, np.broadcast_to(variance, shape).copy(), full.epsilon
    )


def _along_axes(stats: ClassStats, **options: Any) -> Estimate:
    axes, unit, centre, diagonal = estimate_along_axes(stats, **options)
    try:
        params = whitened_params(diagonal, centre, axes.components / unit, stats)
    except ValueError:  # a variance of 0, which scoring refuses and learning does not
        return Estimate(diagonal)
    return Estimate(diagonal, recentre(stats, params))


def _mixed(stats: MixedStats, **options: Any) -> Estimate:
    found = estimate_mixed(stats, **options)
    return Estimate(found.gaussian, None, found.categorical)


def _check_naive(options: Mapping[str, Any]) -> None:
    check_sharing(
        options["covariance_type"], options["tied"], options["ddof"], {"diag", "spherical"}
    )


def _check_full(options: Mapping[str, Any]) -> None:
    kinds = {"full", "diag", "spherical"}
    check_sharing(options["covariance_type"], options["tied"], options["ddof"], kinds)
    check_unit(options["reg_param"], "reg_param")
    check_shrinkage(options["shrinkage"])
    check_target(options["shrinkage_target"])


def _check_axes(options: Mapping[str, Any]) -> None:
    check_components(options["n_components"])
    if options["rotation"] not in ROTATIONS:
        raise ValueError(
            f"rotation must be one of {sorted(ROTATIONS)}, got {options['rotation']!r}."
        )
    if not isinstance(options["standardize"], (bool, np.bool_)):
        raise ValueError(f"standardize must be True or False, got {options['standardize']!r}.")
    _check_naive(options)


def _check_mixed(options: Mapping[str, Any]) -> None:
    check_marks(options["categorical_features"])
    check_alpha(options["alpha"])
    least_categories(options["min_categories"], None)
    check_most(options["max_categories"])


_SHARING = {"tied": False, "ddof": 0}

MEMBERS: dict[str, Member] = {
    "GaussianNB": Member(
        False, {"covariance_type": "diag"} | _SHARING, _check_naive, 1e-9, _naive
    ),
    "GaussianBayes": Member(
        True,
        {"covariance_type": "full", "reg_param": 0.0, "shrinkage": None,
         "shrinkage_target": "diagonal"} | _SHARING,
        _check_full, 0.0, _full,
    ),
    "PCAGaussianNB": Member(
        True,
        {"n_components": None, "rotation": "total", "standardize": False,
         "covariance_type": "diag"} | _SHARING,
        _check_axes, 1e-9, _along_axes,
    ),
    "MixedNB": Member(
        False,
        {"categorical_features": None, "alpha": 1.0, "min_categories": None,
         "max_categories": MAX_CATEGORIES},
        _check_mixed, 1e-9, _mixed,
    ),
}  # fmt: skip
