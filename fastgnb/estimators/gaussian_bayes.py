"""GaussianBayes: quadratic or linear discriminant analysis, from one pass over the rows."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .base import GaussianClassifier


class GaussianBayes(GaussianClassifier, member="GaussianBayes"):
    """Quadratic or linear discriminant analysis, from one pass over the rows.

    Parameters
    ----------
    covariance_type : {"full", "diag", "spherical"}, default="full"
        All covariances, variances only, or one variance for all features.
    tied : bool, default=False
        Whether one covariance is pooled over all classes (linear discriminant analysis), instead of
        one for each class (quadratic).
    ddof : {0, 1}, default=0
        Scatter is divided by the weight less ``ddof``; if tied, less ``ddof`` for each class.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes. None: each class's share of the weight.
    reg_param : float, default=0.0
        Share of the identity in each covariance, in units of squared features.
    shrinkage : float, "oas" or None, default=None
        Share of the target in each class's covariance. "oas": as in Chen et al. [2]_, for each
        class, whose weight counts as its number of rows. None: no shrinkage.
    shrinkage_target : {"diagonal", "spherical"}, default="diagonal"
        What covariances are shrunk towards. "diagonal": their own diagonals, so that correlations
        are shrunk and units do not matter; "oas" then applies to the correlations of the features
        that vary. "spherical": the mean variance times the identity, as in scikit-learn, for
        features of like units.
    var_smoothing : float, default=0.0
        Share of the largest variance of all features that is added to each variance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    class_count_ : ndarray of shape (n_classes,)
        Sum of the weights of each class.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each feature in each class.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    covariance_ : ndarray of shape (n_classes, n_features, n_features) or (n_features, n_features)
        Covariance of each class, or of all classes if tied.
    epsilon_ : float
        What ``var_smoothing`` added to the variances.
    stats_ : ClassStats
        The statistics, with full scatter, from which all of these are estimated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the rows had names that are all text.

    See Also
    --------
    GaussianNB : Independent features; faster, and for few rows per class.
    PCAGaussianNB : Naive Bayes along principal axes.
    fastgnb.select.StatsGridSearchCV : Choose ``reg_param``, ``shrinkage`` and ``tied``.

    Notes
    -----
    It is scikit-learn's ``QuadraticDiscriminantAnalysis`` with the same ``reg_param`` and
    ``priors``. If tied, it is ``LinearDiscriminantAnalysis`` with the same ``shrinkage`` and the
    target "spherical", or with ``OAS()`` as the covariance estimator for "oas". Its solvers "lsqr"
    and "eigen" pool the covariances of classes by the priors, and this estimator by the weights of
    rows, as "svd" does: they agree if priors are not given. scikit-learn 1.9 has ``ddof=0``; 1.6
    has ``ddof=1`` for the former, and for the solver "svd" of the latter.

    It is defined where those raise: for classes of one row, or of rank below d. A covariance is
    taken in units of its own standard deviations. Where that is 0, the unit of a feature is the one
    of the pooled covariance within classes, and where this is 0 too, of all rows. An eigenvalue
    that float64 cannot tell from 0, below (d + 32) 2^-52 in these units, counts as d 2^-52,
    whatever the order of the features. Such a class has a thin density, and no class influences the
    units of another.

    Edited fitted attributes: ``class_prior_``, ``means_`` and ``covariance_`` are read-only arrays,
    from which the parameters for scoring were computed once. One that is replaced is obeyed by
    scoring and sampling, with O(k d^3) more work in each call, or is a ValueError there. ``save``
    refuses such a model. Learning starts from ``stats_`` and overwrites them. Threads: as for
    `GaussianNB`.

    Cost: fitting takes n d^2 / 2 multiply-adds for n rows of d features. Scoring takes n k d^2 / 2
    for k classes, or n d (d / 2 + k) if tied.

    Numerical error: scores are within about 1e-15 d times the condition number of a covariance,
    taken in units of its own standard deviations, of exact ones, relative to the largest of a row,
    wherever the data are: means have twice the digits of float64. Statistics, and scores for given
    parameters, have the same bits for any number of threads. Parameters come out of LAPACK, whose
    last bits depend on the machine.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning" (2009),
       4.3.
    .. [2] Y. Chen, A. Wiesel, Y. C. Eldar, A. O. Hero, "Shrinkage algorithms for MMSE covariance
       estimation", IEEE Transactions on Signal Processing 58 (2010) 5016-5029.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianBayes(ddof=1).fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> model.reestimate(tied=True).covariance_.shape
    (4, 4)
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
