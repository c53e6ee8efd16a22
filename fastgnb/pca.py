"""PCAGaussianNB: naive Bayes along principal axes, which statistics know without the rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ._estimator import GaussianClassifier
from .family import ROTATIONS, AlongAxes, estimate_along_axes
from .params import RotatedParams
from .stats import ClassStats

Floats = NDArray[np.float64]


class PCAGaussianNB(GaussianClassifier):
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
    covariance_type, tied, ddof, priors, var_smoothing : as of `GaussianNB`, along the axes.

    Attributes
    ----------
    classes_, class_count_, class_prior_, epsilon_, stats_ : as of `GaussianNB`.
    components_ : (r, d) float64, or (k, r, d) with "class": axes of length 1, whose largest
        component is positive; 0 where n_components asks for more than vary.
    mean_ : (d,), or (k, d) with "class": where they cross.
    explained_variance_, explained_variance_ratio_ : (r,) or (k, r), scatter over n - 1 as
        scikit-learn has it, and shares of the whole.
    n_components_ : r. theta_, var_ : (k, r), means and smoothed variances along the axes.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Notes
    -----
    The mean and scatter of rotated rows follow from those of the rows, so that fits, streams and
    merges are exact and no row is read twice. Scikit-learn needs two passes, and its incremental
    PCA approximates. Along "total" and "within" axes r and the axes change as rows come in.

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

    def _estimate(self, stats: ClassStats) -> AlongAxes:
        return estimate_along_axes(stats, **self._options())

    def _adopt(self, stats: ClassStats, estimated: AlongAxes) -> None:
        super()._adopt(stats, estimated)
        axes, unit, centre, moments, self._rotated = estimated
        own = slice(None) if self.rotation == "class" else 0
        weight = stats.count[:, None] if self.rotation == "class" else stats.count.sum()
        unbiased = np.where(weight > 1, weight / np.maximum(weight - 1, 1e-300), 1.0)
        self.components_, self.mean_, self.scale_ = axes.components[own], centre[own], unit
        self.explained_variance_ = (axes.variance * unbiased)[own]
        self.explained_variance_ratio_ = axes.share[own]
        self.n_components_ = axes.components.shape[1]
        self.class_prior_, self.theta_, self.var_, self.epsilon_ = moments

    def _params(self, n_features: int) -> RotatedParams:
        return self._rotated

    def _draw(self, codes: NDArray[Any], draw: Any) -> Floats:
        """Rows along the axes; across those that are left out, all are at the centre."""
        noise = draw.standard_normal((len(codes), self.n_components_))
        along = self.theta_[codes] + np.sqrt(self.var_)[codes] * noise
        if self.rotation != "class":
            return np.asarray(along @ self.components_ * self.scale_ + self.mean_)
        across = np.einsum("nr,nrd->nd", along, self.components_[codes])
        return np.asarray(across * self.scale_ + self.mean_[codes])
