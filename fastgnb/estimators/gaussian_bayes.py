"""GaussianBayes: a full covariance per class (QDA) or for all (LDA), from one pass over rows."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .base import GaussianClassifier


class GaussianBayes(GaussianClassifier, member="GaussianBayes"):
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
