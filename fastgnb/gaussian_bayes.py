"""GaussianBayes: a full covariance per class (QDA) or for all (LDA), from one pass over rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ._estimator import GaussianClassifier
from .covariance import FullMoments, estimate_full, whiten
from .params import RotatedParams
from .stats import ClassStats


class GaussianBayes(GaussianClassifier):
    """Gaussian Bayes classifier with full covariances: quadratic or linear discriminant analysis.

    Parameters
    ----------
    covariance_type : {"full", "diag", "spherical"}, default="full"
        All covariances, variances only, or one variance for all features.
    tied : bool, default=False
        One covariance for all classes, pooled over them (LDA), instead of one per class (QDA).
    ddof : {0, 1}, default=0
        Divide scatter by the weight less ddof, or where it is tied, less ddof a class.
    priors : array-like (k,), default=None
        Prior probabilities of the classes; None: their shares of the weight.
    reg_param : float, default=0.0
        Share of the identity in each covariance, in units of squared features.
    shrinkage : None, "oas" or float, default=None
        Share of each class's mean variance, times the identity, in its covariance; "oas": as of
        Chen et al. (2010), for each class.
    var_smoothing : float, default=0.0
        Share of the largest variance of all features that is added to each variance.

    Attributes
    ----------
    classes_, class_count_, class_prior_, stats_ : as of `GaussianNB`.
    means_ : (k, d) float64. covariance_ : (k, d, d) float64, or (d, d) where tied.
    epsilon_ : float, what var_smoothing added to variances.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Notes
    -----
    It is scikit-learn's `QuadraticDiscriminantAnalysis` with the same reg_param and priors, and
    with tied its `LinearDiscriminantAnalysis`, with the same shrinkage, or `OAS()` as its
    covariance estimator for "oas". scikit-learn 1.9 has ddof=0; 1.6 has ddof=1 for the former and
    for solver "svd" of the latter.

    It is defined where those raise: for classes of one row, or of rank below d. A variance along
    some axis that float64 cannot tell from 0 counts as d 2^-52 of the largest that the features
    have, of all rows or of a class, so that such a class has a thin density. It learns in streams,
    merges, and takes weights.

    Scoring does not look at means_ and covariance_ again: use `reestimate`, or fit_stats, to change
    a model. Fitting takes n d^2 / 2 multiply-adds and scoring n k d^2 / 2, or n d (d / 2 + k) where
    tied. Statistics, and scores of given parameters, have the same bits for any number of threads;
    parameters come out of LAPACK, whose last bits depend on the machine.
    Error: scores are within about 1e-15 d times the condition number of a covariance, taken in
    units of the features' variances, of exact ones.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning" (2009), 4.3.
    Y. Chen, A. Wiesel, Y. C. Eldar, A. O. Hero, "Shrinkage algorithms for MMSE covariance
    estimation", IEEE Transactions on Signal Processing 58 (2010) 5016-5029.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> GaussianBayes(ddof=1).fit(X, y).score(X, y)
    0.98
    """

    _member = "GaussianBayes"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "covariance_type": [StrOptions({"full", "diag", "spherical"})],
        "tied": ["boolean"],
        "ddof": [Interval(Integral, 0, 1, closed="both")],
        "priors": ["array-like", None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "shrinkage": [StrOptions({"oas"}), Interval(Real, 0, 1, closed="both"), None],
        "shrinkage_target": [StrOptions({"diagonal", "spherical"})],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        covariance_type: str = "full",
        tied: bool = False,
        ddof: int = 0,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        shrinkage: str | float | None = None,
        shrinkage_target: str = "diagonal",
        var_smoothing: float = 0.0,
    ) -> None:
        self.covariance_type = covariance_type
        self.tied = tied
        self.ddof = ddof
        self.priors = priors
        self.reg_param = reg_param
        self.shrinkage = shrinkage
        self.shrinkage_target = shrinkage_target
        self.var_smoothing = var_smoothing

    def _estimate(self, stats: ClassStats) -> tuple[FullMoments, RotatedParams]:
        moments = estimate_full(stats, **self._options())
        return moments, whiten(stats, moments)

    def _adopt(self, stats: ClassStats, estimated: tuple[FullMoments, RotatedParams]) -> None:
        super()._adopt(stats, estimated)
        moments, self._rotated = estimated
        self.class_prior_, self.means_, self.covariance_, self.epsilon_ = moments

    def _params(self, n_features: int) -> RotatedParams:
        return self._rotated

    def _draw(self, codes: NDArray[Any], draw: Any) -> NDArray[np.float64]:
        out = draw.standard_normal((len(codes), self.n_features_in_))
        covariance = np.broadcast_to(self.covariance_, (len(self.classes_), *out.shape[1:] * 2))
        for c in np.unique(codes):
            values, vectors = np.linalg.eigh(covariance[c])
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            out[codes == c] = out[codes == c] @ root.T + self.means_[c]
        return np.asarray(out)
