"""GaussianBayes: a full covariance per class (QDA) or for all (LDA), from one pass over rows."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..estimate.correlation import certain, varying
from ..estimate.diagonal import WhitenedParams, check_attribute, check_prior
from ..estimate.full import FullEstimate, estimate_full, whiten
from ..stats.class_stats import ClassStats
from .prepared import PreparedClassifier

Floats = NDArray[np.float64]


class GaussianBayes(PreparedClassifier):
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
        Share of the target in each class's covariance; "oas": as of Chen et al. (2010), for each
        class, whose weight is taken for its number of rows.
    shrinkage_target : {"diagonal", "spherical"}, default="diagonal"
        What covariances are shrunk towards: their own diagonals, so that correlations are shrunk
        and units do not matter ("oas" is then that of the correlations of the features that vary),
        or the mean variance times the identity, as in scikit-learn, for features of like units.
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
    with tied its `LinearDiscriminantAnalysis`, with the same shrinkage and the target "spherical",
    or `OAS()` as its covariance estimator for "oas". Its solvers "lsqr" and "eigen" pool the
    covariances of classes by the priors, and this one by weights of rows, as "svd" does: they are
    the same where priors are not given. scikit-learn 1.9 has ddof=0; 1.6 has ddof=1 for the former
    and for solver "svd" of the latter.

    It is defined where those raise: for classes of one row, or of rank below d. A covariance is
    taken in units of its own standard deviations, a feature's where that is 0 being that of the
    pooled covariance within classes, or where this is 0 of all rows. An eigenvalue that float64
    cannot tell from 0, below (d + 32) 2^-52 in these units, counts as d 2^-52, whatever the order
    of the features. Such a class has a thin density, and no class has a part in the units of
    another. It learns in streams, merges, and takes weights.

    Edited fitted attributes: class_prior_, means_ and covariance_ are read-only arrays, of which
    the parameters for scoring were made once. One that is replaced is obeyed by scoring and
    sampling, with O(k d^3) more work a call, or is a ValueError there; `save` refuses such a model.
    Learning starts from `stats_` and overwrites them. Threads: as `GaussianNB`.

    Fitting takes n d^2 / 2 multiply-adds and scoring n k d^2 / 2, or n d (d / 2 + k) where
    tied. Statistics, and scores of given parameters, have the same bits for any number of threads;
    parameters come out of LAPACK, whose last bits depend on the machine.
    Error: scores are within about 1e-15 d times the condition number of a covariance, taken in
    units of its own standard deviations, of exact ones, relative to the largest of a row, wherever
    the data lie: means have twice the digits of float64.

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
    _decisive = ("class_prior_", "means_", "covariance_")
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

    def _estimate(self, stats: ClassStats) -> tuple[FullEstimate, WhitenedParams]:
        moments = estimate_full(stats, **self._options())
        return moments, whiten(stats, moments)

    def _adopt(self, stats: ClassStats, estimated: tuple[FullEstimate, WhitenedParams]) -> None:
        super()._adopt(stats, estimated)
        moments, params = estimated
        self.class_prior_, self.means_, self.covariance_, self.epsilon_ = moments
        self._freeze(params)

    def _prepare(self, k: int, d: int) -> WhitenedParams:
        """Parameters of the attributes. Raises ValueError where edited ones make no densities."""
        is_tied = np.ndim(self.covariance_) == 2
        prior = check_prior(self.class_prior_, k)
        means = check_attribute(self.means_, "means_", (k, d))
        covariance = check_attribute(
            self.covariance_, "covariance_", (d, d) if is_tied else (k, d, d)
        )
        if not np.isfinite(means).all():
            raise ValueError(f"Expected means_ of finite values, got {means}.")
        stats = self.stats_
        if stats.covariance is None:
            raise ValueError("Expected stats_ with full scatter, got them without covariance.")
        _check_covariance(covariance, stats)
        if not np.array_equal(means, stats.mean):
            stats = replace(stats, mean=means, mean_lo=np.zeros_like(means))
        return whiten(stats, FullEstimate(prior, means, covariance, 0.0))

    def _draw(self, codes: NDArray[Any], draw: Any) -> Floats:
        means, covariance = (
            np.asarray(each, np.float64) for each in (self.means_, self.covariance_)
        )
        d = means.shape[1]
        out = draw.standard_normal((len(codes), d))
        covariance = np.broadcast_to(covariance, (len(means), d, d))
        for c in np.unique(codes):
            # Among correlations, since an error of 1e-16 of the largest variance may be all of one.
            rows, sd, correlations = varying(covariance[c])
            values, vectors = np.linalg.eigh(correlations)
            root = np.zeros((d, d))
            root[rows, : len(rows)] = sd[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
            out[codes == c] = out[codes == c] @ root.T + means[c]
        return np.asarray(out)


def _check_covariance(covariance: Floats, stats: ClassStats) -> None:
    """Raise ValueError for an edited covariance (..., d, d) that is none.

    Rows that were subtracted leave rounding errors of the scatter that there was.
    """
    if not np.isfinite(covariance).all():
        raise ValueError("Expected covariance_ of finite values, got NaN or infinity.")
    sd = np.sqrt(np.abs(np.diagonal(covariance, axis1=-2, axis2=-1)))
    most = 1e-9 * sd[..., :, None] * sd[..., None, :]
    if (np.abs(covariance - np.swapaxes(covariance, -1, -2)) > most).any():
        raise ValueError("Expected covariance_ to be symmetric.")
    loss = float(certain(stats)[1].max(initial=1.0))
    for matrix in covariance.reshape(-1, *covariance.shape[-2:]):
        _check_eigenvalues(matrix, loss)


def _check_eigenvalues(covariance: Floats, loss: float) -> None:
    """Raise ValueError for one that is negative beyond rounding, feature by feature.

    Features of small variance are not measured by large ones. Below 2^-960 a variance has few
    digits.
    """
    least = min(0.0, float(np.diagonal(covariance).min(initial=0.0)))
    _, sd, correlations = varying(covariance)
    known = sd > 2.0**-480
    if least == 0.0 and known.any():
        values = np.linalg.eigvalsh(correlations[np.ix_(known, known)])
        if values[0] < -1e-9 * loss:
            least = float(np.linalg.eigvalsh(covariance)[0])
            least = least if least < 0 else float(values[0] * sd[known].min() ** 2)
    if least < 0.0:
        raise ValueError(
            f"Expected covariance_ without negative eigenvalues, got one of {least:g}."
        )
