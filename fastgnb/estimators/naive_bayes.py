"""GaussianNB: naive Bayes of normal features, a drop-in for scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..estimate.parameters import check_attribute, check_prior
from ..stats.class_stats import ClassStats
from .base import GaussianClassifier


class GaussianNB(GaussianClassifier, member="GaussianNB"):
    """Gaussian naive Bayes, a drop-in for scikit-learn's ``GaussianNB``.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes. None: each class's share of the weight.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all features that is added to each variance.
    missing : {"error", "skip"}, default="error"
        What a NaN is: an error, or a value that is left out of the statistics of its feature, and
        of the log likelihood of its row.
    covariance_type : {"diag", "spherical"}, default="diag"
        One variance for each feature, or one for all features.
    tied : bool, default=False
        Whether variances are pooled over the classes. With "diag" this is diagonal linear
        discriminant analysis. With "spherical" it is the nearest centroid with priors:
        scikit-learn's ``NearestCentroid`` if the priors are uniform.
    ddof : {0, 1}, default=0
        Scatter is divided by the weight less ``ddof``; if tied, less ``ddof`` for each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    class_count_ : ndarray of shape (n_classes,)
        Sum of the weights of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    theta_ : ndarray of shape (n_classes, n_features)
        Mean of each feature in each class.
    var_ : ndarray of shape (n_classes, n_features)
        Smoothed variance of each feature in each class.
    epsilon_ : float
        What was added to the variances.
    stats_ : ClassStats
        The statistics from which all of these are estimated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the rows had names that are all text.

    See Also
    --------
    GaussianBayes : Full covariances, for features that depend on each other.
    PCAGaussianNB : Naive Bayes along principal axes.
    MixedNB : Continuous and categorical features together.
    ClassStats : The statistics, which add and subtract.

    Notes
    -----
    It differs from scikit-learn's on purpose in these points:

    * ``fit(X)`` equals any sequence of ``partial_fit`` over pieces of X. ``epsilon_`` comes from
      all rows so far; scikit-learn takes that of the last chunk, and subtracts it from variances
      that hold the one before.
    * ``epsilon_`` is weighted, so that a row of weight 0 changes nothing.
    * The state is float64 for every type of input; scikit-learn's takes the type of X.
    * Negative weights are an error.
    * Finite rows never give NaN. Until some feature varies (a first batch of one row), ``epsilon_``
      is ``var_smoothing`` itself. A row so far out that its log likelihood overflows belongs to the
      nearest class. With ``var_smoothing=0``, a variance of 0 is a ValueError when scoring.
    * A ``partial_fit`` that raises leaves the model as it was.
    * Masked values are missing in X, and an error elsewhere; scikit-learn uses the values under the
      mask. A list of labels that mixes text and numbers is an error.

    Edited fitted attributes: ``classes_``, ``class_prior_``, ``theta_`` and ``var_`` may be edited
    in place or replaced. Scoring, sampling and ``save`` obey the edit, or raise a ValueError. The
    next ``fit``, ``partial_fit``, ``merge`` or ``fit_stats`` starts from ``stats_`` and overwrites
    it.

    Threads: any number of threads may use one model. An answer, a copy or a pickle is that of the
    model before or after what another thread learns, never of a mixture. Threads that learn take
    turns.

    Cost: fitting reads X once, with 3 n d float64 operations for n rows of d features. Scoring
    reads it once, with 3 n d k for k classes.

    Numerical error: see `ClassStats` for the statistics. Joint log likelihoods are within 1e-12,
    relative to their largest term, of exact arithmetic on the fitted parameters. Results have the
    same bits for any number of threads, any layout of the same numbers in memory, any rows that are
    scored beside a row, and any x86-64 processor with FMA.

    References
    ----------
    T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance",
    The American Statistician 37 (1983) 242-247.

    Examples
    --------
    >>> import numpy as np
    >>> from fastgnb import GaussianNB
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array([1, 1, 1, 2, 2, 2])
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict([[-0.8, -1]])
    array([1])
    >>> model.partial_fit([[4, 2]], [2]).class_count_
    array([3., 4.])
    """

    def __init__(
        self,
        *,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
        missing: str = "error",
        covariance_type: str = "diag",
        tied: bool = False,
        ddof: int = 0,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.missing = missing
        self.covariance_type = covariance_type
        self.tied = tied
        self.ddof = ddof

    def to_sklearn(self) -> Any:
        """Return a fitted scikit-learn ``GaussianNB`` that predicts the same.

        Returns
        -------
        sklearn.naive_bayes.GaussianNB
            The estimator, with copies of the fitted attributes.

        Raises
        ------
        ValueError
            If fitted attributes were edited so that they make no model.
        """
        from sklearn.naive_bayes import GaussianNB as Plain

        now = self._fitted()
        plain = Plain(priors=now.priors, var_smoothing=now.var_smoothing)
        for name in ("classes_", "class_count_", "epsilon_"):
            setattr(plain, name, np.copy(getattr(now, name))[()])
        shape = now.stats_.mean.shape
        plain.class_prior_ = check_prior(now.class_prior_, shape[0]).copy()
        plain.theta_ = check_attribute(now.theta_, "theta_", shape).copy()
        plain.var_ = check_attribute(now.var_, "var_", shape).copy()
        plain.n_features_in_ = now.n_features_in_
        if hasattr(now, "feature_names_in_"):
            plain.feature_names_in_ = now.feature_names_in_.copy()
        return plain

    @classmethod
    def from_sklearn(cls, model: Any) -> GaussianNB:
        """Return a model that predicts as a fitted scikit-learn ``GaussianNB``, and can learn on.

        It learns on from the variances less ``epsilon_``, which are as exact as scikit-learn stored
        them: a feature that varies less than ``epsilon_`` has few digits left.

        Parameters
        ----------
        model : sklearn.naive_bayes.GaussianNB
            A fitted estimator. It is not changed.

        Returns
        -------
        GaussianNB
            The fitted estimator of this package.

        Raises
        ------
        TypeError
            If ``model`` is no fitted ``GaussianNB``.
        ValueError
            If its fitted attributes make no model.
        """
        check_is_fitted(model)
        if not all(hasattr(model, name) for name in ("theta_", "var_", "epsilon_")):
            raise TypeError(
                f"Expected a fitted sklearn.naive_bayes.GaussianNB, got {type(model).__name__}."
            )
        classes = np.array(model.classes_)
        k, d = len(classes), int(model.n_features_in_)
        count = _fitted(model, "class_count_", (k,))
        theta = _fitted(model, "theta_", (k, d), signed=True)
        var, epsilon = _fitted(model, "var_", (k, d)), _fitted(model, "epsilon_", ())
        names = getattr(model, "feature_names_in_", None)
        stats = ClassStats(
            classes,
            count,
            theta,
            np.maximum(var - epsilon, 0.0),
            np.zeros_like(theta),
            None,
            None if names is None else tuple(names),
        )
        new = cls(priors=model.priors, var_smoothing=model.var_smoothing).fit_stats(stats)
        attributes = {
            "class_prior_": _fitted(model, "class_prior_", (k,)),
            "theta_": theta,
            "var_": var,
            "epsilon_": float(epsilon),
        }
        new._adopt(new._current().edited(stats, attributes))
        return new


def _fitted(
    model: Any, name: str, shape: tuple[int, ...], *, signed: bool = False
) -> NDArray[np.float64]:
    """Copy a fitted attribute of another model. Raises ValueError if its values are invalid."""
    values = check_attribute(getattr(model, name), name, shape)
    if not np.isfinite(values).all() or (not signed and (values < 0).any()):
        wanted = "finite values" if signed else "finite values from 0 up"
        raise ValueError(f"Expected {name} of {wanted}, got {values}. Fit the model again.")
    return values.copy()
