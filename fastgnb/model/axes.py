"""Naive Bayes along principal axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.axes import estimate_along_axes, recentre, whitened_params
from ..estimate.diagonal import DiagonalEstimate, never_overflows
from ..estimate.parameters import WhitenedParams, check_attribute, check_prior
from ..stats.rotation import rotated_means
from .likelihood import Attributes, Floats, Likelihood

__all__ = ["AxesLikelihood"]


class AxesLikelihood(Likelihood):
    """Means and variances of each class along axes: those of the class, or of all classes."""

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

    def can_wait(
        self,
        stats: Any,
        *,
        n_components: Any = None,
        priors: Any = None,
        var_smoothing: Any = 0.0,
        **options: Any,
    ) -> bool:
        is_held = stats.covariance is not None and (n_components or 0) <= stats.n_features
        return is_held and never_overflows(stats, priors, var_smoothing)

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> WhitenedParams:
        k, d = len(stats.count), stats.n_features
        components, centre, unit = _axes_of(attributes, k, d)
        r = components.shape[1]
        moments = DiagonalEstimate(
            check_prior(attributes["class_prior_"], k),
            check_attribute(attributes["theta_"], "theta_", (k, r)),
            check_attribute(attributes["var_"], "var_", (k, r)),
            0.0,
        )
        with np.errstate(over="ignore"):
            axes = components / unit
        if not np.isfinite(axes).all():
            raise ValueError(
                f"Expected components_ over scale_ of finite values, got scale_ {unit}."
            )
        params = whitened_params(moments, centre, axes, stats)
        near = recentre(stats, params)
        if near is params or not is_edited:
            return near
        # The low words of the statistics' means belong to means that were not edited.
        is_moved = not np.array_equal(moments.theta, rotated_means(stats, centre, axes))
        return params if is_moved else near

    def feature_moments(self, stats: Any, attributes: Attributes) -> tuple[Floats, Floats]:
        mean, loading, var = _loadings(stats, attributes)
        return mean, (var[:, None, :] @ loading**2)[:, 0]

    def marginal(
        self, stats: Any, attributes: Attributes, features: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Means and covariances of features of rows that are at the centre across the axes."""
        mean, loading, var = _loadings(stats, attributes)
        spread = loading[:, :, features] * np.sqrt(var)[:, :, None]
        return mean[:, features], np.swapaxes(spread, 1, 2) @ spread

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        """Draw rows along the axes. In the other directions all rows are at the centre."""
        components, centre, unit = _axes_of(attributes, len(stats.count), stats.n_features)
        noise = draw.standard_normal((len(codes), components.shape[1]))
        theta, var = (np.asarray(attributes[name], np.float64) for name in ("theta_", "var_"))
        along = theta[codes] + np.sqrt(var[codes]) * noise
        if np.ndim(attributes["components_"]) == 2:
            return np.asarray(along @ components[0] * unit + centre[0])
        across = np.einsum("nr,nrd->nd", along, components[codes])
        return np.asarray(across * unit + centre[codes])


def _loadings(stats: Any, attributes: Attributes) -> tuple[Floats, Floats, Floats]:
    """Means of features (k, d), what a step of 1 along each axis adds to them (g, r, d), and the
    variances along the axes (k, r)."""
    components, centre, unit = _axes_of(attributes, len(stats.count), stats.n_features)
    theta, var = (np.asarray(attributes[name], np.float64) for name in ("theta_", "var_"))
    loading = components * unit
    return centre + (theta[:, None, :] @ loading)[:, 0], loading, var


def _axes_of(attributes: Attributes, k: int, d: int) -> tuple[Floats, Floats, Floats]:
    """Axes (g, r, d), centres (g, d), of each class, or with g = 1 of all, and the features'
    units (d,). Raises ValueError for edited ones of other shapes, or not finite."""
    given = attributes["components_"]
    shape = np.shape(given)
    g, r = (k, shape[1]) if len(shape) == 3 else (1, shape[0] if shape else 0)
    own = (k,) if len(shape) == 3 else ()
    components = check_attribute(given, "components_", (*own, r, d))
    centre = check_attribute(attributes["mean_"], "mean_", (*own, d))
    if not (np.isfinite(components).all() and np.isfinite(centre).all()):
        raise ValueError("Expected components_ and mean_ of finite values, got NaN or infinity.")
    unit = check_attribute(attributes["scale_"], "scale_", (d,))
    if not ((unit > 0) & (unit < np.inf)).all():
        raise ValueError(f"Expected scale_ of finite values above 0, got {unit}.")
    return components.reshape(g, r, d), centre.reshape(g, d), unit
