"""MixedNB: naive Bayes of continuous and categorical features together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from ..input.categorical import MixedRows, exact_table, find_categorical, split_columns
from ..input.frames import in_memory, is_frame
from ..input.labels import Labels
from ..input.rows import NotFiniteError, feature_names_of
from ..stats.category_counts import MAX_CATEGORIES
from ..stats.mixed_stats import from_mixed_rows
from .base import GaussianClassifier


class MixedNB(GaussianClassifier, member="MixedNB"):
    """Naive Bayes of normal continuous features and categorical features together.

    Parameters
    ----------
    categorical_features : array-like, "auto" or None, default=None
        Categorical features: a mask of shape (n_features,), positions, or names if X is a data
        frame. "auto": columns of pandas, polars or pyarrow for categories, text or booleans, as the
        first rows have them. None: no feature.
    alpha : float, default=1.0
        What is added to the weight of each category in each class (Lidstone smoothing; 1: Laplace).
        It is in units of weight, so that, unlike all else, its effect depends on the scale of
        ``sample_weight``.
    min_categories : int or array-like of shape (n_categorical,), default=None
        Least number of categories of each categorical feature. None: those that were seen.
    max_categories : int or None, default=50_000
        Largest number of categories of a feature. More are an error, since such a feature often
        identifies rows, and the memory of a model grows with its categories. None: any number.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes. None: each class's share of the weight.
    var_smoothing : float, default=1e-9
        Share of the largest variance of the continuous features that is added to each variance.
    missing : {"error", "skip"}, default="error"
        What a missing value (NaN, None, NA) is: an error, or a value that is left out of the
        statistics of its feature, and of the log likelihood of its row.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    class_count_ : ndarray of shape (n_classes,)
        Sum of the weights of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    is_categorical_ : ndarray of shape (n_features,)
        Whether each feature is categorical.
    theta_ : ndarray of shape (n_classes, n_continuous)
        Mean of each continuous feature in each class.
    var_ : ndarray of shape (n_classes, n_continuous)
        Smoothed variance of each continuous feature in each class.
    epsilon_ : float
        What was added to the variances.
    categories_ : list of n_categorical ndarrays of shape (n_categories,)
        Sorted categories that were seen: int64, bool, or object for text.
    category_count_ : list of n_categorical ndarrays of shape (n_classes, n_categories)
        Sums of weights.
    feature_log_prob_ : list of n_categorical ndarrays of shape (n_classes, n_categories)
        Log probability of each category in each class.
    unseen_log_prob_ : list of n_categorical ndarrays of shape (n_classes,)
        Log probability of any category that was not seen.
    stats_ : MixedStats
        The statistics from which all of these are estimated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the rows had names that are all text.

    See Also
    --------
    GaussianNB : Continuous features only.
    MixedStats : The statistics, which add and subtract.

    Notes
    -----
    Without categorical features it is `GaussianNB`, bit for bit. With nothing else it is
    scikit-learn's ``CategoricalNB`` if the codes 0 to m - 1 all occur. That one also counts codes
    in between that do not occur, as ``min_categories=m`` does here. A Bernoulli feature is a
    categorical one of two values: with ``min_categories=2`` it is ``BernoulliNB``, whose smoothing
    adds up to 2 alpha too.

    The categories of a feature are those of all classes so far, with weight above 0. A stream
    unites them as they come. They are integers (negative ones too, which ``CategoricalNB`` refuses;
    1.0 is 1), booleans (True is 1) or text, of one kind in a feature. Text where numbers were
    learned is a TypeError, when predicting too, since it would look like a category that was never
    seen. A column without any value has no kind. Integers are exact up to 64 bits, also beside
    missing values. A float of 2^53 or more is refused, as it may be a rounded identifier.

    Probabilities are (w + alpha) / (W + alpha m), with w of the weight W of a class in a category.
    A category that was not seen in fitting has w = 0. W does not count rows where the feature is
    missing. With ``alpha=0`` a class excludes what it never had. A row that all classes exclude has
    joint log likelihoods and log evidence -inf, and the probabilities that small alpha tend to:
    those of the classes that exclude the fewest of its values.

    Rows that are not finite, extreme rows, rows of weight 0, threads, edited attributes and failing
    calls are treated as in `GaussianNB`, with two exceptions: numbers which are no categories are
    refused in rows of weight 0 too, and ``save`` refuses edits. ``categories_``,
    ``feature_log_prob_`` and ``unseen_log_prob_`` may be edited as well.

    Cost: scoring takes n k (3 c + q) float64 operations for n rows of c continuous and q
    categorical features and k classes; labels of text take longer than these. A model takes about
    six numbers for each class and category. Contiguous arrays of floats, whose categories are whole
    numbers in ranges of up to 4096, are read where they are. Other rows take 4 bytes for each
    categorical feature and row, and a copy of the continuous features unless they are at regular
    distances in an array.

    Numerical error: see `MixedStats` for the statistics. Joint log likelihoods are within 1e-12,
    relative to their largest term. The bits of scores are the same for any number of threads and
    any rows beside a row.

    Examples
    --------
    >>> import numpy as np
    >>> from fastgnb import MixedNB
    >>> X = np.array([[1.0, 0], [2.0, 0], [2.0, 1], [3.0, 2]])
    >>> model = MixedNB(categorical_features=[1]).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[2.0, 2], [2.0, 0]]).tolist()
    ['b', 'a']
    """

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

    def _check_n_features(self) -> None:
        self._mask()

    def _mask(self) -> NDArray[np.bool_]:
        """Return which features are categorical. Raises ValueError if that was edited."""
        mask, given = self.stats_.is_categorical, self._given_mask()
        if not np.array_equal(given, mask) or len(mask) != self.n_features_in_:
            raise ValueError(
                f"Expected is_categorical_ and n_features_in_ to be those of stats_, {mask}, got "
                f"{given} and {self.n_features_in_}."
            )
        return np.asarray(mask)

    def _given_mask(self) -> Any:
        """Return `is_categorical_` without an estimate of the rest; None before learning."""
        learned = getattr(getattr(self, "stats_", None), "is_categorical", None)
        return self.__dict__.get("is_categorical_", learned)

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
        """Return which features of X (n, d) are categorical (d,), as `fit` would decide."""
        table = in_memory(X)
        table = table if hasattr(table, "shape") else np.asarray(table, object)
        return find_categorical(self.categorical_features, table, feature_names_of(table))

    def _is_plain(self, X: Any) -> bool:
        if self.categorical_features is not None:
            return False
        fitted = self._given_mask()
        return (fitted is None or not np.any(fitted)) and super()._is_plain(X)

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """Return split columns, or an array if no feature is categorical."""
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
            rows = split_columns(table, mask, skip=self._skips())
        except NotFiniteError as error:
            self._refuse_value(error)
            raise
        if not reset and not self._skips():
            self._refuse_missing(rows)
        return rows

    def _checked_table(self, X: Any, *, reset: bool) -> Any:
        """Return X as a data frame or an array (n, d) that passed scikit-learn's checks."""
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
        except NotFiniteError as error:
            self._refuse_value(error)

    def _refuse_missing(self, rows: MixedRows, weight: NDArray[np.float64] | None = None) -> None:
        """Raise for a missing category."""
        try:
            rows.check_present(weight)
        except NotFiniteError as error:
            self._refuse_value(error)
