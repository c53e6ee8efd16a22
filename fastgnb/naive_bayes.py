"""GaussianNB as scikit-learn knows it: a thin face over statistics, parameters and scoring."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _validate
from ._validate import Labels
from .kernels.score import Scores, Table
from .params import (
    GaussianParams,
    Moments,
    as_priors,
    check_moment,
    check_smoothing,
    estimate,
)
from .scoring import score as score_rows
from .stats import ClassStats, from_arrays

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class GaussianNB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian naive Bayes, a drop-in for `sklearn.naive_bayes.GaussianNB`.

    Parameters
    ----------
    priors : array-like (k,), default=None
        Prior probabilities of the classes; None: their shares of the weight.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all features that is added to each variance.
    missing : {"error", "skip"}, default="error"
        "skip" leaves a NaN out, of the statistics and of a row's log likelihood; "error" refuses.

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

    Edited fitted attributes are obeyed by scoring, and overwritten by the next fit, partial_fit,
    merge or fit_stats, which start from `stats_`.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "missing": [StrOptions({"error", "skip"})],
    }

    def __init__(
        self,
        *,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
        missing: str = "error",
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.missing = missing

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> GaussianNB:
        """Learn from rows X (n, d) with labels y (n,), forgetting what was learned before.

        sample_weight (n,): 0 or more, a number, or None for 1 each. Returns self.
        Raises ValueError or TypeError, as scikit-learn's, for input that is not right.
        """
        return self._learn(X, y, None, sample_weight, first=True)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> GaussianNB:
        """Learn from more rows: the model is then that of all rows so far, in any pieces.

        classes : all labels that may ever come, needed at the first call, may be left out later.
        Raises as `fit`; the model is then as it was. Returns self.
        """
        first = getattr(self, "classes_", None) is None
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        declared = self._check_classes(classes, first=first)
        return self._learn(X, y, declared, sample_weight, first=first)

    def fit_stats(self, stats: ClassStats) -> GaussianNB:
        """Take the model from statistics, without any rows. Returns self.

        Raises ValueError where the statistics hold no weight or do not fit the parameters.
        """
        if not isinstance(stats, ClassStats):
            raise TypeError(f"Expected ClassStats, got {type(stats).__name__}.")
        self._check_params()
        self._adopt(stats, self._estimate(stats))
        return self._keep_names(stats)

    def merge(self, other: GaussianNB) -> GaussianNB:
        """Learn what another model learned, as if its rows had come here. Returns self.

        Classes are united by label. Raises ValueError where the features differ.
        """
        check_is_fitted(self)
        if not isinstance(other, GaussianNB):
            raise TypeError(f"Expected a fastgnb.GaussianNB, got {type(other).__name__}.")
        check_is_fitted(other)
        return self.fit_stats(self.stats_ + other.stats_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class (n,) of each row of X (n, d); the first one in a tie."""
        self._check_fitted()
        classes = self._labels()
        if classes.dtype == np.int64:
            return self._score(X, values=classes).codes
        return np.asarray(classes[self._score(X).codes])

    def predict_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Posterior probabilities (n, k); float32 where X is float32, else float64."""
        return self._table(X, "proba")

    def predict_log_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Log posterior probabilities (n, k); float32 where X is float32, else float64."""
        return self._table(X, "log_proba")

    def predict_joint_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Joint log likelihoods log p(c) + log p(x | c), (n, k), float64."""
        return self._table(X, "joint")

    def predict_log_evidence(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log density log p(x) (n,) of each row under the whole model; low for outliers."""
        return np.asarray(self._score(X, evidence=True).evidence)

    def to_sklearn(self) -> Any:
        """A fitted `sklearn.naive_bayes.GaussianNB` that predicts the same."""
        from sklearn.naive_bayes import GaussianNB as Plain

        self._check_fitted()
        plain = Plain(priors=self.priors, var_smoothing=self.var_smoothing)
        for name in ("classes_", "class_count_", "class_prior_", "theta_", "var_", "epsilon_"):
            setattr(plain, name, np.copy(getattr(self, name))[()])
        plain.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            plain.feature_names_in_ = self.feature_names_in_.copy()
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "skip"
        return tags

    def _learn(
        self,
        X: Any,
        y: Any,
        classes: NDArray[Any] | None,
        sample_weight: Any,
        *,
        first: bool,
    ) -> GaussianNB:
        """Add rows to the statistics; nothing of the model changes before all of it can."""
        self._check_params()
        before = dict(self.__dict__)
        try:
            rows, labels = self._check_rows_labels(X, y, first=first)
            found = _validate.encode(labels)
            if classes is not None:
                found = _validate.locate(found, classes)
            stats = self._stats_of(rows, found, sample_weight)
            stats = stats if first else self.stats_ + stats
            self._adopt(stats, self._estimate(stats))
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _stats_of(self, rows: NDArray[Any], labels: Labels, sample_weight: Any) -> ClassStats:
        weight = _validate.check_weight(sample_weight, len(rows))
        if weight is not None and not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        names = getattr(self, "feature_names_in_", None)
        skip = self.missing == "skip"
        try:
            return from_arrays(
                rows, labels, weight, skip=skip,
                feature_names=None if names is None else tuple(names),
            )  # fmt: skip
        except _validate.NotFiniteError:
            self._refuse(rows)
            raise

    def _estimate(self, stats: ClassStats) -> Moments:
        if not stats.count.sum() > 0:
            raise ValueError("The statistics hold no rows: their total weight is 0.")
        return estimate(stats, priors=self.priors, var_smoothing=self.var_smoothing)

    def _adopt(self, stats: ClassStats, moments: Moments) -> None:
        """Set every fitted attribute that rows or statistics decide."""
        self.stats_ = stats
        self.classes_ = stats.classes.copy()
        self.class_count_ = stats.count.copy()
        self.class_prior_, self.theta_, self.var_, self.epsilon_ = moments

    def _keep_names(self, stats: ClassStats) -> GaussianNB:
        self.n_features_in_ = stats.n_features
        if stats.feature_names is not None:
            self.feature_names_in_ = np.array(stats.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _table(self, X: Any, table: Table) -> NDArray[Any]:
        return np.asarray(self._score(X, table).table)

    def _score(
        self,
        X: Any,
        table: Table | None = None,
        *,
        evidence: bool = False,
        values: NDArray[np.int64] | None = None,
    ) -> Scores:
        self._check_fitted()
        _validate.check_missing(self.missing)
        rows = self._check_rows(X)
        classes = self._labels()
        params = GaussianParams.from_moments(
            self.class_prior_, self.theta_, self.var_,
            classes=classes, n_features=rows.shape[1], count=self.stats_.count,
            feature_names=getattr(self, "feature_names_in_", None),
        )  # fmt: skip
        narrow = (
            rows.dtype.kind == "f" and rows.dtype.itemsize == 4 and table in ("proba", "log_proba")
        )
        dtype = np.float32 if narrow else np.float64
        skip = self.missing == "skip"
        scores = score_rows(
            rows, params, codes=table is None and not evidence, values=values, table=table,
            evidence=evidence, skip=skip, dtype=dtype,
        )  # fmt: skip
        if scores.bad >= 0:
            self._refuse(rows)
        return scores

    def _labels(self) -> NDArray[Any]:
        """The classes (k,), edited or not. Raises ValueError where they are not one a class."""
        classes = np.asarray(self.classes_)
        if classes.shape != self.stats_.count.shape:
            raise ValueError(
                f"Expected classes_ of shape {self.stats_.count.shape}, got {classes.shape}."
            )
        return classes

    def _check_fitted(self) -> None:
        if not hasattr(self, "stats_"):  # quicker than scikit-learn's check, whose error it is
            check_is_fitted(self)

    def _check_params(self) -> None:
        try:
            _validate.check_missing(self.missing)
            check_smoothing(self.var_smoothing)
            if self.priors is not None:
                as_priors(self.priors)
        except (ValueError, TypeError):
            try:
                self._validate_params()  # scikit-learn's error and text, where it has one
            except InvalidParameterError:
                raise
            except (TypeError, OverflowError):
                pass
            raise

    def _check_classes(self, classes: Any, *, first: bool) -> NDArray[Any]:
        """The declared classes, sorted. Raises ValueError unless they are the first call's."""
        if classes is None:
            return self.stats_.classes
        declared = _validate.classes_of(classes)
        if not first and declared.tolist() != self.classes_.tolist():
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        return declared if first else self.stats_.classes

    def _is_plain(self, X: Any) -> bool:
        """Whether X needs no conversion and no check that its kernel does not make."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in _FLOATS
            and X.shape[0] > 0
            and X.shape[1] > 0
            and not hasattr(self, "feature_names_in_")
        )

    def _check_rows(self, X: Any) -> NDArray[Any]:
        if self._is_plain(X) and X.shape[1] == self.n_features_in_:
            return np.asarray(X)
        return self._checked_rows(X, reset=False)

    def _check_rows_labels(self, X: Any, y: Any, *, first: bool) -> tuple[NDArray[Any], Any]:
        plain = (
            self._is_plain(X) and type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub"
        )
        if plain and len(X) == len(y) and (first or X.shape[1] == self.n_features_in_):
            self.n_features_in_ = X.shape[1]
            return X, y
        if y is None:
            validate_data(self, X, y, reset=first, ensure_all_finite=False)
        labels = _labels_of(y)
        rows = self._checked_rows(X, reset=first)
        _validate.check_lengths(rows, labels)
        return rows, labels

    def _checked_rows(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Rows as scikit-learn takes them, and as real numbers of at most 8 bytes."""
        plain = _validate.unmasked(X)
        try:
            rows = validate_data(self, plain, reset=reset, ensure_all_finite=False, dtype="numeric")
        except OverflowError as error:
            raise _validate.too_large() from error
        _validate.check_columns(X)
        return _validate.as_numbers(rows)

    def _refuse(self, rows: NDArray[Any]) -> None:
        """Raise scikit-learn's error for rows that are not finite, or ours.

        scikit-learn before 1.9 overlooks them in the other byte order.
        """
        skip = self.missing == "skip"
        assert_all_finite(rows, allow_nan=skip, estimator_name=type(self).__name__, input_name="X")
        _validate.check_finite(rows, None, skip=skip)


def _fitted(
    model: Any, name: str, shape: tuple[int, ...], *, signed: bool = False
) -> NDArray[np.float64]:
    """A copy of a fitted attribute of another model. Raises ValueError unless it makes sense."""
    values = check_moment(getattr(model, name), name, shape)
    if not np.isfinite(values).all() or (not signed and (values < 0).any()):
        wanted = "finite values" if signed else "finite values from 0 up"
        raise ValueError(f"Expected {name} of {wanted}, got {values}. Fit the model again.")
    return values.copy()


def _labels_of(y: Any) -> NDArray[Any]:
    """y (n,) as labels; a column is flattened with scikit-learn's warning."""
    labels = _validate.labels_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        return _validate.as_labels(column_or_1d(y, warn=True))
    return _validate.as_labels(labels)
