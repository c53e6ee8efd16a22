"""Statistics to naive Bayes along principal axes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..stats.class_stats import ClassStats
from ..stats.pooling import pooled
from ..stats.rotation import rotate
from .correlation import certain
from .diagonal import DiagonalEstimate, estimate_diagonal
from .full import FAR
from .parameters import GaussianParams, WhitenedParams
from .principal_axes import Axes, factor_of_total, principal_axes

Floats = NDArray[np.float64]


class AxesEstimate(NamedTuple):
    """Principal axes, and what naive Bayes decides by along them.

    axes : of features over their units, (g, r, d).
    unit : (d,), the units of the features: 1, or standard deviations over all rows.
    centre : (g, d), where the axes cross.
    diagonal : priors (k,), means and variances (k, r) along the axes.
    """

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

    With standardize, each feature is divided by its standard deviation over all rows first. See
    `principal_axes.principal_axes` for n_components, and `diagonal.estimate_diagonal` for the rest.
    Raises ValueError for diagonal scatter, and for options that do not fit.
    """
    if stats.covariance is None:
        raise ValueError(
            "Principal axes need full scatter: make the statistics with scatter='full'."
        )
    overall = stats.as_one_class()
    if not np.isfinite(overall.variance).all():
        raise ValueError(
            "The variance of all rows overflows float64: classes are too far apart. Scale the "
            "features down."
        )
    unit = np.ones(stats.n_features)
    if standardize:
        unit = np.sqrt(np.where(overall.variance[0] > 0, overall.variance[0], 1.0))
    axes = _axes_of(stats, overall, rotation, unit, n_components)
    centre = stats.mean if rotation == "class" else overall.mean
    rotated = rotate(stats, centre, axes.components / unit)
    diagonal = estimate_diagonal(rotated, priors=priors, var_smoothing=var_smoothing, **sharing)
    return AxesEstimate(axes, unit, centre, diagonal)


def _axes_of(
    stats: ClassStats, overall: ClassStats, rotation: str, unit: Floats, n_components: Any
) -> Axes:
    """The axes of all rows ("total"), of rows within classes, or of each class, in units (d,)."""
    covariance, loss = certain(stats)
    if rotation == "class":
        return principal_axes(covariance / unit / unit[:, None], n_components, None, loss)
    loss = loss.max(keepdims=True)
    if rotation == "within":
        within = pooled(stats.count, covariance)[None]
        return principal_axes(within / unit / unit[:, None], n_components, None, loss)
    assert overall.covariance is not None
    factor = partial(factor_of_total, stats, unit)
    return principal_axes(overall.covariance / unit / unit[:, None], n_components, factor, loss)


def whitened_params(
    diagonal: DiagonalEstimate, centre: Floats, components: Floats, stats: ClassStats
) -> WhitenedParams:
    """The parameters of estimates (k, r) along axes (g, r, d) that cross at centre (g, d).

    stats : of the k classes. Raises ValueError where the variance of a class that can win is not
    positive, and finite.
    """
    diag = GaussianParams.from_estimate(
        diagonal.class_prior, diagonal.theta, diagonal.var,
        classes=stats.classes, count=stats.count, noun="Axis",
    )  # fmt: skip
    mean, scale = diag.mean, diag.inv_sd
    if len(centre) == 1:
        return WhitenedParams(diag.log_prior, diag.log_det, centre, components, mean, scale)
    whitener = components * scale[:, :, None]
    unit = np.ones_like(scale)
    return WhitenedParams(diag.log_prior, diag.log_det, centre, whitener, mean * scale, unit)


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
