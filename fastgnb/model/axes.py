"""Naive Bayes along principal axes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..estimate.axes import Axes, factor_of_total, principal_axes, rotate, rotated_means
from ..estimate.correlation import certain
from ..estimate.diagonal import (
    Moments,
    RotatedParams,
    check_moment,
    check_prior,
    estimate,
    rotated_params,
)
from ..estimate.full import FAR
from ..stats.class_stats import ClassStats
from ..stats.pooling import pooled
from .likelihood import Attributes, Floats, Likelihood

__all__ = ["AlongAxes", "AxesLikelihood", "estimate_along_axes", "well_centred"]


class AxesLikelihood(Likelihood):
    """Means and variances of each class along axes, which are of each class or of all."""

    decisive = ("class_prior_", "theta_", "var_", "components_", "mean_", "scale_")
    read_only = True
    is_exact = False
    along_axes = True

    def estimate(self, stats: Any, **options: Any) -> dict[str, Any]:
        axes, unit, centre, moments = estimate_along_axes(stats, **options)
        by_class = options["rotation"] == "class"
        own = slice(None) if by_class else 0
        weight = stats.count[:, None] if by_class else stats.count.sum()
        unbiased = np.where(weight > 1, weight / np.maximum(weight - 1, 1e-300), 1.0)
        return {
            "components_": axes.components[own].copy(),
            "mean_": centre[own].copy(),
            "scale_": unit,
            "explained_variance_": (axes.variance * unbiased)[own],
            "explained_variance_ratio_": axes.share[own],
            "n_components_": axes.components.shape[1],
            "class_prior_": moments.class_prior,
            "theta_": moments.theta,
            "var_": moments.var,
            "epsilon_": moments.epsilon,
        }

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> RotatedParams:
        k, d = len(stats.count), stats.n_features
        components, centre, unit = _axes_of(attributes, k, d)
        r = components.shape[1]
        moments = Moments(
            check_prior(attributes["class_prior_"], k),
            check_moment(attributes["theta_"], "theta_", (k, r)),
            check_moment(attributes["var_"], "var_", (k, r)),
            0.0,
        )
        with np.errstate(over="ignore"):
            axes = components / unit
        if not np.isfinite(axes).all():
            raise ValueError(
                f"Expected components_ over scale_ of finite values, got scale_ {unit}."
            )
        params = rotated_params(moments, centre, axes, stats)
        near = well_centred(stats, params)
        if near is params or not is_edited:
            return near
        # The low words of the statistics' means belong to means that were not edited.
        is_moved = not np.array_equal(moments.theta, rotated_means(stats, centre, axes))
        return params if is_moved else near

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        """Rows along the axes; across those that are left out, all are at the centre."""
        components, centre, unit = _axes_of(attributes, len(stats.count), stats.n_features)
        noise = draw.standard_normal((len(codes), components.shape[1]))
        theta, var = (np.asarray(attributes[name], np.float64) for name in ("theta_", "var_"))
        along = theta[codes] + np.sqrt(var[codes]) * noise
        if np.ndim(attributes["components_"]) == 2:
            return np.asarray(along @ components[0] * unit + centre[0])
        across = np.einsum("nr,nrd->nd", along, components[codes])
        return np.asarray(across * unit + centre[codes])


def _axes_of(attributes: Attributes, k: int, d: int) -> tuple[Floats, Floats, Floats]:
    """Axes (g, r, d), centres (g, d), of each class, or with g = 1 of all, and the features'
    units (d,). Raises ValueError for edited ones of other shapes, or not finite."""
    given = attributes["components_"]
    shape = np.shape(given)
    g, r = (k, shape[1]) if len(shape) == 3 else (1, shape[0] if shape else 0)
    own = (k,) if len(shape) == 3 else ()
    components = check_moment(given, "components_", (*own, r, d))
    centre = check_moment(attributes["mean_"], "mean_", (*own, d))
    if not (np.isfinite(components).all() and np.isfinite(centre).all()):
        raise ValueError("Expected components_ and mean_ of finite values, got NaN or infinity.")
    unit = check_moment(attributes["scale_"], "scale_", (d,))
    if not ((unit > 0) & (unit < np.inf)).all():
        raise ValueError(f"Expected scale_ of finite values above 0, got {unit}.")
    return components.reshape(g, r, d), centre.reshape(g, d), unit


class AlongAxes(NamedTuple):
    """Axes (g, r, d) of features over their units (d,), the centre (g, d) where they cross, and
    moments (k, r) along them."""

    axes: Axes
    unit: Floats
    centre: Floats
    moments: Moments


def estimate_along_axes(
    stats: ClassStats,
    *,
    n_components: int | float | None = None,
    rotation: str = "total",
    standardize: bool = False,
    priors: ArrayLike | None = None,
    var_smoothing: float = 1e-9,
    **sharing: Any,
) -> AlongAxes:
    """Naive Bayes along the principal axes of statistics with full scatter. Cost: O(k d^2 + d^3).

    With standardize, of each feature over its standard deviation over all rows, as if rows had
    been divided by that first. See `rotation.principal_axes` for n_components, and
    `params.estimate` for the rest. Raises ValueError for diagonal scatter, and for parameters that
    do not fit.
    """
    if stats.covariance is None:
        raise ValueError(
            "Principal axes need full scatter: make the statistics with scatter='full'."
        )
    whole = stats.collapse()
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
    moments = estimate(seen, priors=priors, var_smoothing=var_smoothing, **sharing)
    return AlongAxes(axes, unit, centre, moments)


def well_centred(stats: ClassStats, params: RotatedParams) -> RotatedParams:
    """The parameters with a centre of each class, where one for all would lose digits."""
    k = len(stats.count)
    is_far = np.abs(params.mean * params.scale).max(axis=1, initial=0.0) > FAR
    if k == 1 or len(params.centre) == k or not (is_far & (params.log_prior > -np.inf)).any():
        return params
    whitener = params.whitener * params.scale[:, :, None]
    mean = (whitener @ stats.mean_low[:, :, None])[:, :, 0]
    return replace(
        params, centre=stats.mean.copy(), whitener=whitener, mean=mean,
        scale=np.ones_like(params.scale),
    )  # fmt: skip
