"""PCAGaussianNB: naive Bayes along principal axes, which statistics know without the rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..estimate.axes import rotated_means
from ..estimate.diagonal import (
    DiagonalEstimate,
    WhitenedParams,
    check_attribute,
    check_prior,
    whitened_params,
)
from ..model.family import ROTATIONS, AxesEstimate, estimate_along_axes, recentre
from ..stats.class_stats import ClassStats
from .prepared import PreparedClassifier

Floats = NDArray[np.float64]


class PCAGaussianNB(PreparedClassifier):
    """Principal component analysis followed by Gaussian naive Bayes, in one pass over the rows.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Axes to keep, up to d; a number between 0 and 1: as few as have more than that share of the
        variance, in each class with "class"; None: all along which rows vary, in each class with
        "class".
    rotation : {"total", "within", "class"}, default="total"
        Axes of the scatter of all rows, as of `make_pipeline(PCA(n_components), GaussianNB())`; of
        the scatter within classes, pooled; or axes of each class's own scatter, along which its
        rows are compared with its mean.
    standardize : bool, default=False
        Divide each feature by its standard deviation over all rows first, as
        `make_pipeline(StandardScaler(), PCA(n_components), GaussianNB())` does: for features of
        different units. A feature that does not vary stays as it is.
    covariance_type, tied, ddof, priors, var_smoothing : as of `GaussianNB`, along the axes.

    Attributes
    ----------
    classes_, class_count_, class_prior_, epsilon_, stats_ : as of `GaussianNB`.
    components_ : (r, d) float64, or (k, r, d) with "class": axes of length 1, whose largest
        component is positive; 0 where n_components asks for more than vary.
    mean_ : (d,), or (k, d) with "class": where they cross.
    scale_ : (d,), what features are divided by: rows are at (X - mean_) / scale_ @ components_.T.
    explained_variance_, explained_variance_ratio_ : (r,) or (k, r), scatter over n - 1 as
        scikit-learn has it, and shares of the whole.
    n_components_ : r. theta_, var_ : (k, r), means and smoothed variances along the axes.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Notes
    -----
    The mean and scatter of rotated rows follow from those of the rows, so that fits, streams and
    merges are exact and no row is read twice. Scikit-learn needs two passes, and its incremental
    PCA approximates. Along "total" and "within" axes r and the axes change as rows come in.

    Axes exist along which rows vary as far as float64 can tell, which is decided among correlations
    (eigenvalues above (d + 32) 2^-52), so that small variances of features of other units count,
    and rounding errors do not. Along "total" axes a class that is far away hides nothing of what
    varies within classes. With standardize, densities are those of the scaled features. With
    var_smoothing=0, a variance of 0 along an axis is a ValueError when scoring.

    Edited fitted attributes: class_prior_, theta_, var_, components_, mean_ and scale_ are
    read-only arrays. One that is replaced is obeyed by scoring and sampling, or is a ValueError
    there; `save` refuses such a model. Learning starts from `stats_` and overwrites them. Threads:
    as `GaussianNB`.

    Fitting takes n d^2 / 2 multiply-adds and scoring n r (d + 2 k), or n k r d with "class". Axes
    come out of LAPACK, whose last bits depend on the machine; variances that are equal leave the
    choice of axes open, here as anywhere.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import PCAGaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> PCAGaussianNB(n_components=2).fit(X, y).components_.shape
    (2, 4)
    """

    _member = "PCAGaussianNB"
    _decisive = ("class_prior_", "theta_", "var_", "components_", "mean_", "scale_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "rotation": [StrOptions(set(ROTATIONS))],
        "standardize": ["boolean"],
        "covariance_type": [StrOptions({"diag", "spherical"})],
        "tied": ["boolean"],
        "ddof": [Interval(Integral, 0, 1, closed="both")],
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_components: int | float | None = None,
        rotation: str = "total",
        standardize: bool = False,
        covariance_type: str = "diag",
        tied: bool = False,
        ddof: int = 0,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
    ) -> None:
        self.n_components = n_components
        self.rotation = rotation
        self.standardize = standardize
        self.covariance_type = covariance_type
        self.tied = tied
        self.ddof = ddof
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _estimate(self, stats: ClassStats) -> AxesEstimate:
        return estimate_along_axes(stats, **self._options())

    def _adopt(self, stats: ClassStats, estimated: AxesEstimate) -> None:
        super()._adopt(stats, estimated)
        axes, unit, centre, moments = estimated
        own = slice(None) if self.rotation == "class" else 0
        weight = stats.count[:, None] if self.rotation == "class" else stats.count.sum()
        unbiased = np.where(weight > 1, weight / np.maximum(weight - 1, 1e-300), 1.0)
        self.components_, self.mean_ = axes.components[own].copy(), centre[own].copy()
        self.scale_ = unit
        self.explained_variance_ = (axes.variance * unbiased)[own]
        self.explained_variance_ratio_ = axes.share[own]
        self.n_components_ = axes.components.shape[1]
        self.class_prior_, self.theta_, self.var_, self.epsilon_ = moments
        self._freeze(None)

    def _prepare(self, k: int, d: int) -> WhitenedParams:
        components, centre, unit = self._axes(k, d)
        r = components.shape[1]
        moments = DiagonalEstimate(
            check_prior(self.class_prior_, k),
            check_attribute(self.theta_, "theta_", (k, r)),
            check_attribute(self.var_, "var_", (k, r)),
            0.0,
        )
        with np.errstate(over="ignore"):
            axes = components / unit
        if not np.isfinite(axes).all():
            raise ValueError(
                f"Expected components_ over scale_ of finite values, got scale_ {unit}."
            )
        params = whitened_params(moments, centre, axes, self.stats_)
        near = recentre(self.stats_, params)
        if near is params:
            return params
        # The low words of the statistics' means belong to means that were not edited.
        is_edited = not np.array_equal(moments.theta, rotated_means(self.stats_, centre, axes))
        return params if is_edited else near

    def _axes(self, k: int, d: int) -> tuple[Floats, Floats, Floats]:
        """Axes (g, r, d), centres (g, d), of each class, or with g = 1 of all, and the features'
        units (d,). Raises ValueError for edited ones of other shapes, or not finite."""
        shape = np.shape(self.components_)
        g, r = (k, shape[1]) if len(shape) == 3 else (1, shape[0] if shape else 0)
        own = (k,) if len(shape) == 3 else ()
        components = check_attribute(self.components_, "components_", (*own, r, d))
        centre = check_attribute(self.mean_, "mean_", (*own, d))
        if not (np.isfinite(components).all() and np.isfinite(centre).all()):
            raise ValueError(
                "Expected components_ and mean_ of finite values, got NaN or infinity."
            )
        unit = check_attribute(self.scale_, "scale_", (d,))
        if not ((unit > 0) & (unit < np.inf)).all():
            raise ValueError(f"Expected scale_ of finite values above 0, got {unit}.")
        return components.reshape(g, r, d), centre.reshape(g, d), unit

    def _draw(self, codes: NDArray[Any], draw: Any) -> Floats:
        """Rows along the axes; across those that are left out, all are at the centre."""
        components, centre, unit = self._axes(len(self.classes_), self.stats_.n_features)
        noise = draw.standard_normal((len(codes), components.shape[1]))
        theta, var = (np.asarray(each, np.float64) for each in (self.theta_, self.var_))
        along = theta[codes] + np.sqrt(var[codes]) * noise
        if np.ndim(self.components_) == 2:
            return np.asarray(along @ components[0] * unit + centre[0])
        across = np.einsum("nr,nrd->nd", along, components[codes])
        return np.asarray(across * unit + centre[codes])
