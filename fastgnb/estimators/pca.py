"""PCAGaussianNB: naive Bayes along principal axes, from one pass over the rows."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .base import GaussianClassifier


class PCAGaussianNB(GaussianClassifier, member="PCAGaussianNB"):
    """Principal component analysis followed by Gaussian naive Bayes, in one pass over the rows.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of axes to keep, up to n_features. A number between 0 and 1: as few axes as have more
        than that share of the variance. None: all axes along which rows vary. With
        ``rotation="class"`` the latter two hold in each class.
    rotation : {"total", "within", "class"}, default="total"
        Axes of the scatter of all rows, as of ``make_pipeline(PCA(n_components), GaussianNB())``;
        of the pooled scatter within classes; or of each class's own scatter, along which its rows
        are compared with its mean.
    standardize : bool, default=False
        Whether each feature is divided by its standard deviation over all rows first, as by
        ``make_pipeline(StandardScaler(), PCA(n_components), GaussianNB())``: for features of
        different units. A feature that does not vary stays as it is.
    covariance_type : {"diag", "spherical"}, default="diag"
        One variance for each axis, or one for all axes.
    tied : bool, default=False
        Whether variances are pooled over the classes.
    ddof : {0, 1}, default=0
        Scatter is divided by the weight less ``ddof``; if tied, less ``ddof`` for each class.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes. None: each class's share of the weight.
    var_smoothing : float, default=1e-9
        Share of the largest variance along the axes that is added to each variance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    class_count_ : ndarray of shape (n_classes,)
        Sum of the weights of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    components_ : ndarray of shape (n_components, n_features)
        Axes of length 1, whose largest component is positive; 0 where ``n_components`` asks for
        more axes than vary. With ``rotation="class"``, one set for each class: (n_classes,
        n_components, n_features).
    mean_ : ndarray of shape (n_features,)
        Where the axes cross; (n_classes, n_features) with ``rotation="class"``.
    scale_ : ndarray of shape (n_features,)
        What features are divided by: rows are at ``(X - mean_) / scale_ @ components_.T``.
    explained_variance_ : ndarray of shape (n_components,)
        Scatter along each axis over n - 1, as in scikit-learn; one row for each class with
        ``rotation="class"``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the total variance, of the same shape.
    n_components_ : int
        Number of axes.
    theta_ : ndarray of shape (n_classes, n_components)
        Mean of each class along each axis.
    var_ : ndarray of shape (n_classes, n_components)
        Smoothed variance of each class along each axis.
    epsilon_ : float
        What was added to the variances.
    stats_ : ClassStats
        The statistics, with full scatter, from which all of these are estimated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the rows had names that are all text.

    See Also
    --------
    GaussianNB : Naive Bayes of the features themselves.
    GaussianBayes : Full covariances.

    Notes
    -----
    The mean and scatter of rotated rows follow from those of the rows, so that fits, streams and
    merges are exact, and no row is read twice. scikit-learn needs two passes, and its incremental
    PCA approximates. The axes of "total" and "within", and their number, change as rows come in.

    Axes exist along which rows vary as far as float64 can tell. That is decided among correlations,
    by eigenvalues above (d + 32) 2^-52, so that small variances of features of other units count,
    and rounding errors do not. A class that is far away hides nothing of what varies within
    classes. With ``standardize``, densities are those of the scaled features. With
    ``var_smoothing=0``, a variance of 0 along an axis is a ValueError when scoring.

    Edited fitted attributes: ``class_prior_``, ``theta_``, ``var_``, ``components_``, ``mean_`` and
    ``scale_`` are read-only arrays. One that is replaced is obeyed by scoring and sampling, or is a
    ValueError there. ``save`` refuses such a model. Learning starts from ``stats_`` and overwrites
    them. Threads: as for `GaussianNB`.

    Cost: fitting takes n d^2 / 2 multiply-adds for n rows of d features. Scoring along r axes takes
    n r (d + 2 k) for k classes, or n k r d with ``rotation="class"``.

    Numerical error: axes come out of LAPACK, whose last bits depend on the machine. Equal variances
    leave the choice of axes open, here as anywhere.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import PCAGaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PCAGaussianNB(n_components=2).fit(X, y)
    >>> model.components_.shape
    (2, 4)
    >>> model.score(X, y)
    0.9
    """

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
