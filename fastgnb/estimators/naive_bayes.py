"""GaussianNB as scikit-learn knows it: a thin face over statistics, parameters and scoring."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..estimate.diagonal import (
    DiagonalEstimate,
    GaussianParams,
    check_attribute,
    check_prior,
    estimate_diagonal,
)
from ..stats.class_stats import ClassStats
from .base import GaussianClassifier


class GaussianNB(GaussianClassifier):
    """Gaussian naive Bayes, a drop-in for `sklearn.naive_bayes.GaussianNB`.

    Parameters
    ----------
    priors : array-like (k,), default=None
        Prior probabilities of the classes; None: their shares of the weight.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all features that is added to each variance.
    missing : {"error", "skip"}, default="error"
        "skip" leaves a NaN out, of the statistics and of a row's log likelihood; "error" refuses.
    covariance_type : {"diag", "spherical"}, default="diag"
        Variances of each feature, or one for all features.
    tied : bool, default=False
        Pool variances over the classes: with "diag" this is diagonal linear discriminant analysis,
        and with "spherical" the nearest centroid, with priors: it is scikit-learn's
        `NearestCentroid` with uniform priors only, since the data's favour classes of more rows.
    ddof : {0, 1}, default=0
        Divide scatter by the weight less ddof, or where it is tied, less ddof a class.

    Attributes
    ----------
    classes_ : (k,) sorted labels.
    class_count_ : (k,) float64, sum of the weights of each class.
    class_prior_ : (k,) float64. theta_, var_ : (k, d) float64, means and smoothed variances.
    epsilon_ : float, what was added to the variances.
    stats_ : ClassStats, the statistics that all of these come from.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Notes
    -----
    Where it differs from scikit-learn's, on purpose:

    * `fit(X)` equals any sequence of `partial_fit` over its pieces. `epsilon_` comes from all rows
      so far; scikit-learn takes the last chunk's, and removes the new one from the old variances.
    * `epsilon_` is weighted, so that a row of weight 0 is as if it were not there.
    * The state is float64 for every input type; scikit-learn's takes the type of X.
    * Negative weights are an error.
    * Finite rows never give NaN: where no feature varies yet (a first batch of one row), epsilon_
      is var_smoothing itself; a row so far out that its log likelihood overflows belongs to the
      nearest class. With var_smoothing=0, a variance of 0 is a ValueError when scoring.
    * A `partial_fit` that raises leaves the model as it was.
    * What is masked in a masked array is missing in X and an error elsewhere; scikit-learn takes
      what lies under the mask. A list of labels that mixes text and numbers is an error.

    Edited fitted attributes: classes_, class_prior_, theta_ and var_, in place or replaced, are
    obeyed by scoring, sampling and `save`, or are a ValueError there. The next fit, partial_fit,
    merge or fit_stats overwrites them, since these start from `stats_`.

    Threads: any number may use one model. An answer, a copy or a pickle is that of the model before
    or after what another thread learns, never of both. Threads that learn take turns.

    Fitting reads X once, with 3 n d float64 operations; scoring reads it once, with 3 n d k.
    The bits of all results are the same for any number of threads, any layout of the same numbers
    in memory, any other rows that are scored beside a row, and any x86-64 processor with FMA.
    Error: see `ClassStats`; joint log likelihoods are within 1e-12, relative to their largest
    term, of exact arithmetic on the fitted parameters.

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
    >>> GaussianNB().fit(X, y).predict([[-0.8, -1]])
    array([1])
    """

    _member = "GaussianNB"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "missing": [StrOptions({"error", "skip"})],
        "covariance_type": [StrOptions({"diag", "spherical"})],
        "tied": ["boolean"],
        "ddof": [Interval(Integral, 0, 1, closed="both")],
    }

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
        """A fitted `sklearn.naive_bayes.GaussianNB` that predicts the same."""
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
        """A model that predicts as a fitted `sklearn.naive_bayes.GaussianNB` and can learn on.

        What is learned on is its variances less `epsilon_`, as exact as it stored them: a feature
        that varies less than epsilon_ has few digits left.
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
        new.class_prior_ = _fitted(model, "class_prior_", (k,))
        new.theta_, new.var_, new.epsilon_ = theta.copy(), var, float(epsilon)
        return new

    def _estimate(self, stats: ClassStats) -> DiagonalEstimate:
        return estimate_diagonal(stats, **self._options())

    def _adopt(self, stats: ClassStats, estimated: DiagonalEstimate) -> None:
        super()._adopt(stats, estimated)
        self.class_prior_, self.theta_, self.var_, self.epsilon_ = estimated

    def _params(self, n_features: int) -> GaussianParams:
        return GaussianParams.from_moments(
            self.class_prior_, self.theta_, self.var_,
            classes=self._labels(), n_features=n_features, count=self.stats_.count,
            feature_names=getattr(self, "feature_names_in_", None),
        )  # fmt: skip

    def _draw(self, codes: NDArray[Any], draw: Any) -> NDArray[np.float64]:
        theta, var = (np.asarray(each, np.float64) for each in (self.theta_, self.var_))
        noise = draw.standard_normal((len(codes), theta.shape[1]))
        return np.asarray(theta[codes] + np.sqrt(var[codes]) * noise)


def _fitted(
    model: Any, name: str, shape: tuple[int, ...], *, signed: bool = False
) -> NDArray[np.float64]:
    """A copy of a fitted attribute of another model. Raises ValueError unless it makes sense."""
    values = check_attribute(getattr(model, name), name, shape)
    if not np.isfinite(values).all() or (not signed and (values < 0).any()):
        wanted = "finite values" if signed else "finite values from 0 up"
        raise ValueError(f"Expected {name} of {wanted}, got {values}. Fit the model again.")
    return values.copy()
