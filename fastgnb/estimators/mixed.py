"""MixedNB: naive Bayes of continuous and categorical features together."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from ..estimate.categorical import (
    CategoryEstimate,
    MixedEstimate,
    MixedParams,
    estimate_mixed,
)
from ..estimate.diagonal import GaussianParams
from ..input import rows as _validate
from ..input.categorical import MixedRows, exact_table, find_categorical, slots, split
from ..input.frames import in_memory, is_frame
from ..input.label_types import check_kind
from ..input.rows import Labels
from ..kernels.score.outputs import Scores, Table
from ..model.scoring import score_mixed
from ..stats.mixed_stats import MAX_CATEGORIES, MixedStats, from_mixed_rows
from .base import GaussianClassifier, dtype_of


class MixedNB(GaussianClassifier):
    """Naive Bayes of normal continuous and of categorical features.

    Parameters
    ----------
    categorical_features : array-like, "auto" or None, default=None
        Categorical features, as a mask (d,), as positions, or as names where X is a frame. "auto":
        columns of a frame of pandas, polars or pyarrow for categories, text or booleans, as the
        first rows have them. None: no feature.
    alpha : float, default=1.0
        What is added to the weight of each category in each class (Lidstone; 1: Laplace). It is
        in units of weight: unlike all else, what it does depends on the scale of sample_weight.
    min_categories : int or array-like (q,), default=None
        Numbers of categories, at least, of each categorical feature; None: those that were seen.
    max_categories : int or None, default=50_000
        Most categories of a feature; more are an error, since such a feature often identifies
        rows, and the memory of a model grows with its categories. None: any number.
    priors : array-like (k,), default=None
        Prior probabilities of the classes; None: their shares of the weight.
    var_smoothing : float, default=1e-9
        Share of the largest variance of the continuous features that is added to each variance.
    missing : {"error", "skip"}, default="error"
        "skip" leaves a missing value (NaN, None, NA) out, of the statistics and of a row's log
        likelihood; "error" refuses.

    Attributes
    ----------
    classes_ : (k,) sorted labels.
    class_count_ : (k,) float64, sum of the weights of each class.
    class_prior_ : (k,) float64.
    is_categorical_ : (d,) bool, which of the d = c + q features are categorical.
    theta_, var_ : (k, c) float64, means and smoothed variances of the continuous features.
    epsilon_ : float, what was added to the variances.
    categories_ : list of q arrays (m,), the sorted categories that were seen: int64, bool, or
        object for text.
    category_count_ : list of q arrays (k, m) float64, sums of weights.
    feature_log_prob_ : list of q arrays (k, m) float64, log p(category | class).
    unseen_log_prob_ : list of q arrays (k,) float64, the same for any category not seen.
    stats_ : MixedStats, the statistics that all of these come from.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Notes
    -----
    Without categorical features it is `GaussianNB`, bit for bit. With nothing else it is
    scikit-learn's `CategoricalNB` where the codes 0 to m - 1 all occur; that one counts codes in
    between that do not, as min_categories=m does here. A Bernoulli feature is a categorical one of
    two values: with min_categories=2 it is `BernoulliNB`, whose smoothing adds up to 2 alpha too.

    The categories of a feature are those of all classes, with weight above 0, so far: a stream
    unites them as they come. They are whole numbers (negative ones too, which CategoricalNB
    refuses; 1.0 is 1), booleans (True is 1) or text, of one kind in a feature: text where numbers
    were learned is a TypeError, when predicting too, since it would look like a category that was
    never seen. A column without any value has no kind. Whole numbers are exact up to 64 bits, also
    beside missing values; a float of 2^53 or more is refused, as it may be a rounded identifier.

    Probabilities are (w + alpha) / (W + alpha m), with w of the weight W of a class in a category.
    A category that was not seen when fitting has w = 0, and W does not count rows where the feature
    is missing. With alpha=0 a class excludes what it never had. A row that all classes exclude has
    joint log likelihoods and log evidence -inf, and the probabilities that small alpha tend to:
    those of the classes that exclude the fewest of its values.

    Rows that are not finite, far away or of weight 0, threads, edited attributes, and failing calls
    are treated as in `GaussianNB`, except that numbers which are no categories are refused in rows
    of weight 0 too, and that `save` refuses edits. categories_, feature_log_prob_ and
    unseen_log_prob_ may be edited as well. `sample` gives an object array where a category is text,
    else float64.

    Memory of a model: about six numbers a class and category; of rows: codes of 4 bytes a
    categorical feature and row, and a copy of the continuous features unless they are at regular
    distances in an array. Scoring takes n k (3 c + q) float64 operations; labels of text take
    longer than these.
    The bits of scores are the same for any number of threads and any rows beside a row.
    Error: see `MixedStats`; joint log likelihoods are within 1e-12, relative to their largest term.

    Examples
    --------
    >>> import numpy as np
    >>> from fastgnb import MixedNB
    >>> X = np.array([[1.0, 0], [2.0, 0], [2.0, 1], [3.0, 2]])
    >>> model = MixedNB(categorical_features=[1]).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[2.0, 2], [2.0, 0]]).tolist()
    ['b', 'a']
    """

    _member = "MixedNB"
    _kind_of_stats = MixedStats
    _takes_categories = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical_features": "no_validation",  # but by `check_marks`, in its own words
        "alpha": [Interval(Real, 0, None, closed="left")],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "max_categories": [None, Interval(Integral, 1, None, closed="left")],
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "missing": [StrOptions({"error", "skip"})],
    }

    stats_: Any
    is_categorical_: NDArray[np.bool_]

    def __init__(
        self,
        *,
        categorical_features: Any = None,
        alpha: float = 1.0,
        min_categories: Any = None,
        max_categories: int | None = MAX_CATEGORIES,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
        missing: str = "error",
    ) -> None:
        self.categorical_features = categorical_features
        self.alpha = alpha
        self.min_categories = min_categories
        self.max_categories = max_categories
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.missing = missing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = self.categorical_features is not None
        return tags

    def _estimate(self, stats: Any) -> MixedEstimate:
        return estimate_mixed(stats, **self._options())

    def _adopt(self, stats: Any, estimated: MixedEstimate) -> None:
        super()._adopt(stats, estimated)
        self.class_prior_, self.theta_, self.var_, self.epsilon_ = estimated.gaussian
        self.is_categorical_ = stats.is_categorical.copy()
        self.categories_ = [each.copy() for each in stats.categories]
        self.category_count_ = [each.copy() for each in stats.counts]
        self.feature_log_prob_ = [each.log_prob for each in estimated.categorical]
        self.unseen_log_prob_ = [each.unseen for each in estimated.categorical]

    def _params(self, n_features: int) -> GaussianParams:
        names = getattr(self, "feature_names_in_", None)
        return GaussianParams.from_moments(
            self.class_prior_, self.theta_, self.var_,
            classes=self._labels(), n_features=n_features, count=self.stats_.count,
            feature_names=None if names is None else names[~self.stats_.is_categorical],
        )  # fmt: skip

    def _check_edits(self) -> None:
        self._mask()
        self._mixed_params(self.stats_.gaussian.n_features)

    def _mask(self) -> NDArray[np.bool_]:
        """Which features are categorical. Raises ValueError where that was edited."""
        mask = self.stats_.is_categorical
        if not np.array_equal(self.is_categorical_, mask) or len(mask) != self.n_features_in_:
            raise ValueError(
                f"Expected is_categorical_ and n_features_in_ to be those of stats_, {mask}, got "
                f"{self.is_categorical_} and {self.n_features_in_}."
            )
        return np.asarray(mask)

    def _mixed_params(self, n_continuous: int) -> MixedParams:
        """What scoring needs of both kinds of features. Raises ValueError for edited attributes of
        other shapes than the statistics'."""
        counts = self.stats_.counts
        for name in ("categories_", "feature_log_prob_", "unseen_log_prob_"):
            if len(getattr(self, name)) != len(counts):
                raise ValueError(
                    f"Expected {name} of {len(counts)} categorical features, got "
                    f"{len(getattr(self, name))}."
                )
        names = self.stats_.categorical_names()
        for j, (edited, count) in enumerate(zip(self.categories_, counts, strict=True)):
            if np.shape(edited) != count.shape[1:]:
                raise ValueError(
                    f"Expected categories_ of shape {count.shape[1:]}, got {np.shape(edited)}."
                )
            check_kind(
                self.stats_.categories[j], np.asarray(edited), f"Categories of feature {names[j]}"
            )
        moments = map(CategoryEstimate, self.feature_log_prob_, self.unseen_log_prob_)
        return MixedParams.from_moments(self._params(n_continuous), list(moments), self.stats_)

    def _sum(
        self,
        rows: Any,
        labels: Labels,
        weight: NDArray[np.float64] | None,
        names: tuple[str, ...] | None,
        first: bool,
    ) -> Any:
        if not isinstance(rows, MixedRows):
            rows = MixedRows(rows, (), np.zeros(rows.shape[1], np.bool_))
        return from_mixed_rows(
            rows, labels, weight, skip=self._skips(), feature_names=names,
            max_categories=self.max_categories,
        )  # fmt: skip

    def _resolved(self, X: Any) -> Self:
        if isinstance(self.categorical_features, str):
            mask = self._resolve_categorical(X)
            model: Self = clone(self).set_params(categorical_features=mask)
            return model
        return self

    def _resolve_categorical(self, X: Any) -> NDArray[np.bool_]:
        """Which features of X (n, d) are categorical (d,), as fit would decide. Raises as fit."""
        table = in_memory(X)
        table = table if hasattr(table, "shape") else np.asarray(table, object)
        return find_categorical(self.categorical_features, table, _validate.names_of(table))

    def _score_checked(self, rows: Any, *, table: Table | None, **wanted: Any) -> Scores:
        if not isinstance(rows, MixedRows):
            return super()._score_checked(rows, table=table, **wanted)
        params = self._mixed_params(rows.continuous.shape[1])
        known = [np.asarray(each) for each in self.categories_]
        return score_mixed(
            rows.continuous, slots(rows.columns, known, self.stats_.categorical_names()), params,
            table=table, dtype=dtype_of(rows.continuous, table), **wanted,
        )  # fmt: skip

    def _is_plain(self, X: Any) -> bool:
        if self.categorical_features is not None:
            return False
        fitted = getattr(self, "is_categorical_", None)
        return (fitted is None or not np.any(fitted)) and super()._is_plain(X)

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """Rows taken apart, or as an array where no feature is categorical."""
        X = in_memory(X)
        nothing = self.categorical_features is None if reset else not self._mask().any()
        if nothing:
            return super()._checked_rows(X, reset=reset)
        table = self._checked_table(X, reset=reset)
        if reset:
            names = getattr(self, "feature_names_in_", None)
            mask = find_categorical(self.categorical_features, table, names)
        else:
            mask = self._mask()
        if not mask.any():
            return super()._checked_rows(X, reset=reset)
        try:
            rows = split(table, mask, skip=self._skips())
        except _validate.NotFiniteError as error:
            self._refuse_value(error)
            raise
        if not reset and not self._skips():
            self._refuse_missing(rows)
        return rows

    def _checked_table(self, X: Any, *, reset: bool) -> Any:
        """X as a frame or an array (n, d) that scikit-learn takes, of the right features."""
        if not is_frame(X):
            # NumPy makes text of numbers that stand beside text.
            plain = np.asarray(X, object) if isinstance(X, (list, tuple)) else exact_table(X)
            return validate_data(self, plain, reset=reset, ensure_all_finite=False, dtype=None)
        validate_data(self, X, reset=reset, skip_check_array=True)
        for size, what in zip(X.shape, ("sample", "feature"), strict=True):
            if size == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is "
                    f"required by {type(self).__name__}."
                )
        return X

    def _refuse(self, rows: Any, weight: NDArray[np.float64] | None = None) -> None:
        if not isinstance(rows, MixedRows):
            super()._refuse(rows, weight)
            return
        if not self._skips():
            self._refuse_missing(rows, weight)
        try:
            rows.check_finite(skip=self._skips())
        except _validate.NotFiniteError as error:
            self._refuse_value(error)

    def _refuse_missing(self, rows: MixedRows, weight: NDArray[np.float64] | None = None) -> None:
        """Raise for a missing category."""
        try:
            rows.check_present(weight)
        except _validate.NotFiniteError as error:
            self._refuse_value(error)

    def _draw(self, codes: NDArray[Any], draw: Any) -> NDArray[Any]:
        theta, var = (np.asarray(each, np.float64) for each in (self.theta_, self.var_))
        noise, mask = draw.standard_normal((len(codes), theta.shape[1])), self._mask()
        labels = [each for one in self.categories_ for each in np.asarray(one).tolist()]
        is_number = all(not isinstance(each, str) and float(each) == each for each in labels)
        X = np.empty((len(codes), len(mask)), np.float64 if is_number else object)
        X[:, ~mask] = theta[codes] + np.sqrt(var[codes]) * noise
        for q, j in enumerate(np.flatnonzero(mask)):
            X[:, j] = self._drawn_categories(q, codes, draw.random(len(codes)))
        return X

    def _drawn_categories(
        self, q: int, codes: NDArray[Any], u: NDArray[np.float64]
    ) -> NDArray[Any]:
        """Categories of rows of classes `codes` at the quantiles u, of those that were seen."""
        log_prob = np.asarray(self.feature_log_prob_[q], np.float64)
        if not log_prob.shape[1]:
            return np.full(len(codes), np.nan)
        share = np.exp(log_prob - np.maximum(log_prob.max(axis=1, keepdims=True), 0.0))  # if edited
        upper = np.cumsum(share, axis=1)
        at = np.zeros(len(codes), np.int64)
        for c in np.unique(codes):
            own = codes == c
            at[own] = np.searchsorted(upper[c], u[own] * upper[c, -1], side="right")
        return np.asarray(self.categories_[q])[at]
