"""PCAGaussianNB: naive Bayes along principal axes, which statistics know without the rows."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .base import GaussianClassifier


class PCAGaussianNB(GaussianClassifier, member="PCAGaussianNB"):
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
