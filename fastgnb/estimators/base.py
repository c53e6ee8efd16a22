"""What every estimator of the family does: checks, learning, merging, scoring and sampling.

A member says how parameters come from statistics, and has the parameters and attributes of its
own; see `GaussianClassifier` for what it defines.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimate.diagonal import (
    GaussianParams,
    WhitenedParams,
    as_plain,
    as_priors,
    check_possible,
    check_smoothing,
)
from ..input import rows as _validate
from ..input.frames import check_columns
from ..input.rows import Labels
from ..input.type_names import model_remedy, stats_remedy, type_name
from ..kernels.score.outputs import Scores, Table
from ..model.family import MEMBERS
from ..model.scoring import decisions
from ..model.scoring import score as score_rows
from ..stats.alignment import matched
from ..stats.class_stats import ClassStats, from_arrays
from .locks import TURNS

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class GaussianClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier over `ClassStats`.

    A member names its entry in `family.MEMBERS` as `_member`, and defines `_estimate`, which takes
    statistics to what decides; `_adopt`, which sets attributes to that; `_params`, which takes
    attributes to what scoring needs; and `_draw` for sampling.

    The one rule for edited attributes: scoring and sampling use the public fitted attributes, and
    check them at each call, so that an edit is obeyed by both or is a ValueError. What is computed
    of them ahead, see `_prepared`, is kept for read-only arrays, and used for these very
    arrays only. Learning starts from `stats_`, and overwrites the attributes. A model file holds
    the edits of a GaussianNB; `save` refuses those of other members.

    The one rule for threads: whoever answers first takes a copy of `__dict__`, see `_now`, and
    whoever learns works on such a copy, which then takes the place of `__dict__` in one step. So an
    answer is that of the model before a call of another thread, or after it. Threads that learn
    into one model take turns.
    """

    _member: ClassVar[str]
    _kind_of_stats: ClassVar[type] = ClassStats
    _takes_categories: ClassVar[bool] = False

    priors: ArrayLike | None
    var_smoothing: float

    classes_: NDArray[Any]
    class_prior_: NDArray[np.float64]
    stats_: ClassStats

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X (n, d) with labels y (n,), forgetting what was learned before.

        sample_weight (n,): 0 or more, a number, or None for 1 each. Returns self.
        Raises ValueError or TypeError, as scikit-learn's, for input that is not right.
        """
        with TURNS.of(self):
            new = self._now()
            new._learn(X, y, None, sample_weight, first=True)
            self.__dict__ = new.__dict__
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from more rows: the model is then that of all rows so far, in any pieces.

        classes : all labels that may ever come, needed at the first call, may be left out later.
        Raises as `fit`; the model is then as it was. Returns self.
        """
        with TURNS.of(self):
            new = self._now()
            first = getattr(new, "classes_", None) is None
            if first and classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            declared = new._check_classes(classes, first=first)
            new._learn(X, y, declared, sample_weight, first=first)
            self.__dict__ = new.__dict__
        return self

    def fit_stats(self, stats: ClassStats) -> Self:
        """Take the model from statistics, without any rows. Returns self.

        Raises ValueError where the statistics hold no weight or do not fit the parameters.
        """
        if not isinstance(stats, self._kind_of_stats):
            wanted = self._kind_of_stats.__name__
            remedy = stats_remedy(stats, wanted)
            raise TypeError(f"Expected {wanted}, got {type(stats).__name__}.{remedy}")
        with TURNS.of(self):
            new = self._now()
            new._take(stats)
            self.__dict__ = new.__dict__
        return self

    def merge(self, other: GaussianClassifier) -> Self:
        """Learn what another model learned, as if its rows had come here. Returns self.

        Classes are united by label, and features matched by name where both models have names.
        Parameters stay those of this model.
        Raises ValueError where the features differ.
        """
        self._fitted()
        if not isinstance(other, type(self)):
            wanted = f"fastgnb.{type(self).__name__}"
            remedy = model_remedy(other)
            raise TypeError(f"Expected a {wanted}, got {type_name(other)}.{remedy}")
        more = other._fitted().stats_
        with TURNS.of(self):
            new = self._fitted()
            new._take(new.stats_ + matched(more, new.stats_))
            self.__dict__ = new.__dict__
        return self

    def reestimate(self, **params: Any) -> Self:
        """A new model of the same statistics with other parameters, without any rows.

        params : constructor parameters to change, such as priors, smoothing, ddof or tied.
        Raises ValueError for parameters that are wrong or that the statistics do not allow.
        Cost: that of estimating, O(k d) for diagonal and O(k d^3) for full covariances.
        """
        now = self._fitted()
        model: Self = clone(now).set_params(**params)
        return model.fit_stats(now.stats_)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw n rows X (n, d) float64 from the model, and their labels y (n,).

        Labels are drawn by the priors of classes that have rows, and then features from the class.
        random_state : None, an integer, or a generator of NumPy's, new or old. Raises ValueError
        for n below 1, and where no class that has rows has a prior above 0.
        """
        now = self._fitted()
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(
                f"Invalid value for 'n': {n!r}. The sampling requires at least one sample."
            )
        is_new = isinstance(random_state, np.random.Generator)
        draw = random_state if is_new else check_random_state(random_state)
        classes = now._labels()
        now._check_edits()
        prior = np.asarray(now.class_prior_, np.float64)
        prior = np.where(now.stats_.count > 0, prior, 0.0)
        check_possible(prior > 0)
        prior = prior / prior.max()  # whose sum may overflow
        codes = draw.choice(len(prior), size=n, p=prior / prior.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            X = now._draw(codes, draw)
        if X.dtype.kind == "f" and np.isinf(X).any():
            raise ValueError("Rows of this model overflow float64. Scale the features down.")
        return X, classes[codes]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class (n,) of each row of X (n, d); the first one in a tie."""
        now = self._fitted()
        classes = now._labels()
        if classes.dtype == np.int64:
            return now._score(X, values=classes).codes
        return np.asarray(classes[now._score(X).codes])

    def predict_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Posterior probabilities (n, k); float32 where X is float32, else float64."""
        return self._fitted()._table(X, "proba")

    def predict_log_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Log posterior probabilities (n, k); float32 where X is float32, else float64."""
        return self._fitted()._table(X, "log_proba")

    def predict_joint_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Joint log likelihoods log p(c) + log p(x | c), (n, k), float64."""
        return self._fitted()._table(X, "joint")

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log odds (n,) of the second class of two; else joint log likelihoods (n, k). float64.

        They tell rows apart where probabilities are 0 or 1 to all digits, so that a ROC curve of
        two classes should be made of these, and a calibration: `CalibratedClassifierCV` with any
        method for two classes, and with method="temperature" for more, since one class's joint log
        likelihood alone says little. All are finite: what overflows float64 is its largest or
        lowest number, and the classes of a row that all overflow keep their order.
        """
        now = self._fitted()
        joint = now._table(X, "joint")
        return decisions(joint, lambda: now._table(X, "log_proba"))

    def predict_log_evidence(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log density log p(x) (n,) of each row under the whole model; low for outliers."""
        return np.asarray(self._fitted()._score(X, evidence=True).evidence)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy on rows X (n, d) with labels y (n,), of weights (n,) or 1 each."""
        return float(super().score(X, _validate.plain_text(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "skip"
        return tags

    def _skips(self) -> bool:
        """Whether NaN are missing values, in a member that can have them."""
        return _validate.check_missing(getattr(self, "missing", "error"))

    def _is_full(self, first: bool) -> bool:
        """Whether rows are learned with full scatter: as needed, or as what is there already."""
        return MEMBERS[self._member].needs_full or (
            not first and self.stats_.covariance is not None
        )

    def _estimated(self, stats: ClassStats) -> Any:
        if not stats.count.sum() > 0:
            raise ValueError("The statistics hold no rows: their total weight is 0.")
        return self._estimate(stats)

    def _options(self) -> dict[str, Any]:
        """The parameters that estimating takes, as Python's numbers and text."""
        names = "priors", "var_smoothing", *MEMBERS[self._member].options
        return {name: as_plain(getattr(self, name)) for name in names}

    def _check_own_params(self) -> None:
        """Raise ValueError or TypeError for constructor parameters that are wrong."""
        self._skips()
        MEMBERS[self._member].check(self._options())
        check_smoothing(self.var_smoothing)
        if self.priors is not None:
            as_priors(self.priors)

    def _estimate(self, stats: ClassStats) -> Any:
        raise NotImplementedError

    def _adopt(self, stats: ClassStats, estimated: Any) -> None:
        """Set every fitted attribute that rows or statistics decide."""
        self.stats_ = stats
        self.classes_ = stats.classes.copy()
        self.class_count_ = stats.count.copy()

    def _check_edits(self) -> None:
        """Raise for edited attributes as scoring does."""
        self._check_n_features()
        self._params(self.stats_.n_features)

    def _check_n_features(self) -> None:
        """Raise ValueError where n_features_in_ is not that of the statistics any more."""
        d = self.stats_.n_features
        if not np.array_equal(self.n_features_in_, d):
            raise ValueError(
                f"Expected n_features_in_ of stats_, {d}, got {self.n_features_in_!r}."
            )

    def _params(self, n_features: int) -> GaussianParams | WhitenedParams:
        raise NotImplementedError

    def _draw(self, codes: NDArray[Any], draw: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def _learn(
        self,
        X: Any,
        y: Any,
        classes: NDArray[Any] | None,
        sample_weight: Any,
        *,
        first: bool,
    ) -> None:
        """Add rows to the statistics of a copy of the model, which no one else sees."""
        self._check_params()
        rows, labels = self._check_rows_labels(X, y, first=first)
        found = _validate.encode(labels)
        if classes is not None:
            found = _validate.locate(found, classes)
        stats = self._stats_of(rows, found, sample_weight, first=first)
        stats = stats if first else self.stats_ + stats
        self._adopt(stats, self._estimated(stats))

    def _take(self, stats: Any) -> None:
        """Make a copy of the model that of statistics."""
        self._check_params()
        self._adopt(stats, self._estimated(stats))
        self._keep_names(stats)

    def _stats_of(self, rows: Any, labels: Labels, sample_weight: Any, *, first: bool) -> Any:
        weight = _validate.check_weight(sample_weight, len(rows))
        if weight is not None and not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        names = getattr(self, "feature_names_in_", None)
        try:
            return self._sum(rows, labels, weight, None if names is None else tuple(names), first)
        except _validate.NotFiniteError:
            self._refuse(rows, weight)
            raise

    def _sum(
        self,
        rows: Any,
        labels: Labels,
        weight: NDArray[np.float64] | None,
        names: tuple[str, ...] | None,
        first: bool,
    ) -> Any:
        """Statistics of checked rows, weights and names."""
        skip, full = self._skips(), self._is_full(first)
        return from_arrays(rows, labels, weight, skip=skip, feature_names=names, full=full)

    def _gather(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Statistics of rows, checked as `fit` checks them; the model does not change."""
        model = clone(self)
        rows, labels = model._check_rows_labels(X, y, first=True)
        return model._stats_of(rows, _validate.encode(labels), sample_weight, first=True)

    def _resolved(self, X: Any) -> Self:
        """The model with what depends on the types of all rows decided: call it before rows are
        cut into pieces, which may show other types."""
        return self

    def _keep_names(self, stats: ClassStats) -> None:
        self.n_features_in_ = stats.n_features
        if stats.feature_names is not None:
            self.feature_names_in_ = np.array(stats.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

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
        rows = self._check_rows(X)
        scores = self._score_checked(
            rows, codes=table is None and not evidence, values=values, table=table,
            evidence=evidence, skip=self._skips(),
        )  # fmt: skip
        if scores.bad >= 0:
            self._refuse(rows)
        return scores

    def _score_checked(self, rows: NDArray[Any], *, table: Table | None, **wanted: Any) -> Scores:
        params = self._params(rows.shape[1])
        return score_rows(rows, params, table=table, dtype=dtype_of(rows, table), **wanted)

    def _labels(self) -> NDArray[Any]:
        """The classes (k,), edited or not. Raises ValueError where they are not one a class."""
        if not isinstance(self.stats_, self._kind_of_stats):
            wanted = self._kind_of_stats.__name__
            raise TypeError(f"Expected stats_ of {wanted}, got {type(self.stats_).__name__}.")
        classes = np.asarray(self.classes_)
        count = self.stats_.count
        k = count.shape if type(count) is np.ndarray else np.shape(count)
        if classes.shape != k or len(k) != 1:
            raise ValueError(f"Expected classes_ of shape {k}, got {classes.shape}.")
        return classes

    def _now(self) -> Self:
        """The model as it is now, which no other thread changes."""
        now = object.__new__(type(self))
        now.__dict__ = self.__dict__.copy()
        return now

    def _fitted(self) -> Self:
        """The model as it is now. Raises NotFittedError where it has learned nothing."""
        now = self._now()
        if not hasattr(now, "stats_"):  # quicker than scikit-learn's check, whose error it is
            check_is_fitted(self, "stats_")
        return now

    def _check_params(self) -> None:
        try:
            self._check_own_params()
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
            _validate.check_columns(X)
            return _validate.as_numbers(rows)
        except OverflowError as error:
            raise _validate.too_large() from error
        except Exception:  # each library of frames has its own
            check_columns(X, takes_categories=self._takes_categories)
            raise

    def _refuse(self, rows: Any, weight: NDArray[np.float64] | None = None) -> None:
        """Raise scikit-learn's error for an infinity in rows, or ours for a missing value.

        scikit-learn before 1.9 overlooks them in the other byte order.
        """
        try:
            _validate.check_finite(rows, weight, skip=self._skips())
        except _validate.NotFiniteError as error:
            if np.isinf(error.value):  # in words that name the type of the rows
                name = type(self).__name__
                assert_all_finite(rows, allow_nan=True, estimator_name=name, input_name="X")
            self._refuse_value(error)

    def _refuse_value(self, error: _validate.NotFiniteError) -> None:
        """Raise for a value that is not finite, or missing, with what this member can do."""
        name, names = type(self).__name__, getattr(self, "feature_names_in_", None)
        found = np.array([[error.value]])
        assert_all_finite(found, allow_nan=True, estimator_name=name, input_name="X")
        feature = f"{error.column}" if names is None else f"{names[error.column]!r}"
        advice = (
            f"{name}(missing='skip') leaves missing values out, in learning and in scoring. Or "
            "fill them in first, as sklearn.impute.SimpleImputer does."
            if hasattr(self, "missing")
            else f"{name} needs whole rows. Fill missing values in first, as "
            "sklearn.impute.SimpleImputer does, or leave such rows out; "
            "GaussianNB(missing='skip') takes them as they are."
        )
        raise ValueError(
            f"Input X contains NaN.\nThe value in row {error.row}, feature {feature} is missing. "
            f"{advice}"
        )


def dtype_of(rows: NDArray[Any], table: Table | None) -> Any:
    """The type of a table for rows: float32 for probabilities of float32 rows, else float64."""
    is_single = rows.dtype.kind == "f" and rows.dtype.itemsize == 4
    return np.float32 if is_single and table in ("proba", "log_proba") else np.float64


def _labels_of(y: Any) -> NDArray[Any]:
    """y (n,) as labels; a column is flattened with scikit-learn's warning."""
    labels = _validate.labels_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        # Of a frame of whole numbers that may be missing it would make floats.
        return _validate.as_labels(column_or_1d(labels, warn=True))
    _validate.check_one_dimension(labels, y)
    return labels
