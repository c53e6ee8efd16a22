"""What every estimator does: learn, merge, score and sample, through the `Model` that it holds.

A member adds a constructor and a docstring only: see `GaussianClassifier`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state

from ..input.labels import Labels, classes_of, encode_labels, locate_labels, plain_text
from ..input.rows import NotFiniteError
from ..input.type_names import model_remedy, stats_remedy, type_name
from ..input.weights import check_weight
from ..kernels.score.outputs import Scores, Table
from ..model.scoring import decisions
from ..stats.alignment import matched
from ..stats.class_stats import ClassStats, from_arrays
from .checks import dtype_of
from .holder import ModelHolder
from .locks import TURNS


class GaussianClassifier(ClassifierMixin, ModelHolder):  # type: ignore[misc]
    """A scikit-learn classifier over a `Model`.

    A member of the family is a subclass that names its entry in the registry as a class keyword,
    and has a constructor with the options of that entry::

        class GaussianNB(GaussianClassifier, member="GaussianNB"):
            def __init__(self, *, priors=None, var_smoothing=1e-9): ...

    Edited fitted attributes: `fastgnb.model.model` has the rule.

    Threads: a method that answers works on a copy of `__dict__` (see `_now`). A method that learns
    works on such a copy too, and then puts it in the place of `__dict__` in one step. So an answer
    is that of the model before or after a call of another thread. Threads that learn into one model
    take turns.
    """

    priors: ArrayLike | None
    var_smoothing: float

    classes_: NDArray[Any]
    class_prior_: NDArray[np.float64]
    stats_: ClassStats

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows, forgetting what was learned before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows: an array of any real dtype and layout, or a data frame.
        y : array-like of shape (n_samples,)
            Labels: integers, booleans or text.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights from 0 up, or one number for all rows. None: 1 each. Rows of weight 0 change
            nothing.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        ValueError
            If the rows, labels, weights or parameters are invalid. The model stays as it was.
        TypeError
            If their types are, as for sparse rows, or labels that mix text and numbers.
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
        """Learn more rows. The model is then that of one fit of all rows so far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows: an array of any real dtype and layout, or a data frame.
        y : array-like of shape (n_samples,)
            Labels, all of them among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that may ever come. Needed on the first call only.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights from 0 up, or one number for all rows. None: 1 each.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        ValueError
            As by ``fit``, and if ``classes`` is missing on the first call or differs from that of
            the first call. The model stays as it was.
        TypeError
            As by ``fit``.
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
        """Fit the model to statistics, without any rows.

        Parameters
        ----------
        stats : ClassStats or MixedStats
            Statistics of the kind that this estimator keeps in ``stats_``. Members with full
            covariances or principal axes need ``scatter="full"``.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        ValueError
            If the statistics hold no weight, or do not fit the parameters.
        TypeError
            If they are no statistics of that kind.
        """
        if not isinstance(stats, self._stats_class()):
            wanted = self._stats_class().__name__
            remedy = stats_remedy(stats, wanted)
            raise TypeError(f"Expected {wanted}, got {type(stats).__name__}.{remedy}")
        with TURNS.of(self):
            new = self._now()
            new._take(stats)
            self.__dict__ = new.__dict__
        return self

    def merge(self, other: GaussianClassifier) -> Self:
        """Learn what another model has learned, as if its rows had come here.

        Classes are united by label. Features are matched by name if both models have names, else by
        position. Parameters stay those of this model.

        Parameters
        ----------
        other : estimator of the same class
            A fitted model. It is not changed.

        Returns
        -------
        Self
            The estimator, fitted to the rows of both models.

        Raises
        ------
        ValueError
            If the features of the models differ.
        TypeError
            If ``other`` is of another class.
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
        """Return a new model of the same statistics with other parameters.

        No rows are needed. The cost is that of estimating: O(k d) for diagonal and O(k d^3) for
        full covariances, for k classes and d features.

        Parameters
        ----------
        **params : dict
            Constructor parameters to change, such as ``priors``, ``var_smoothing``, ``ddof`` or
            ``tied``.

        Returns
        -------
        Self
            The new fitted estimator. This one is not changed.

        Raises
        ------
        ValueError
            If the parameters are invalid, or the statistics do not allow them.
        """
        now = self._fitted()
        model: Self = clone(now).set_params(**params)
        return model.fit_stats(now.stats_)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw random rows, and their labels, from the model.

        Labels are drawn by the priors of the classes that have rows, and then features from the
        class.

        Parameters
        ----------
        n : int, default=1
            Number of rows to draw.
        random_state : int, RandomState, Generator or None, default=None
            Seed, or NumPy's generator of either kind.

        Returns
        -------
        X : ndarray of shape (n, n_features)
            Rows, in float64; an object array if a category is text.
        y : ndarray of shape (n,)
            Labels.

        Raises
        ------
        ValueError
            If ``n`` is below 1, if no class that has rows has a prior above 0, or if rows of the
            model overflow float64.
        """
        now = self._fitted()
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(
                f"Invalid value for 'n': {n!r}. The sampling requires at least one sample."
            )
        is_new = isinstance(random_state, np.random.Generator)
        draw = random_state if is_new else check_random_state(random_state)
        classes = now._labels()
        now._check_n_features()
        X, codes = now._current().sample(int(n), draw)
        return X, classes[codes]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, of the dtype of ``classes_``; the first class in a tie.
        """
        now = self._fitted()
        classes = now._labels()
        if classes.dtype == np.int64:
            return now._score(X, values=classes).codes
        return np.asarray(classes[now._score(X).codes])

    def predict_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Return the posterior probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``: float32 if X is float32, else float64.
        """
        return self._fitted()._table(X, "proba")

    def predict_log_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Return the logarithm of the posterior probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities, in the order of ``classes_``: float32 if X is float32, else float64.
        """
        return self._fitted()._table(X, "log_proba")

    def predict_joint_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the joint log likelihood, log p(c) + log p(x | c), of each class and row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Joint log likelihoods in float64, in the order of ``classes_``.
        """
        return self._fitted()._table(X, "joint")

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log odds of two classes, or the joint log likelihoods of more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the log odds of the second one, else joint log likelihoods, in float64.
            All are finite: what overflows float64 is replaced by its largest or lowest number, and
            the classes of a row that all overflow keep their order.

        Notes
        -----
        These tell rows apart whose probabilities are 0 or 1 to all digits, so make ROC curves and
        calibrations of these. ``CalibratedClassifierCV`` works with any method for two classes, and
        with ``method="temperature"`` for more, since the joint log likelihood of one class alone
        says little.
        """
        now = self._fitted()
        joint = now._table(X, "joint")
        return decisions(joint, lambda: now._table(X, "log_proba"))

    def predict_log_evidence(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log density log p(x) of each row under the whole model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log densities in float64. They are low for outliers, which fit no class.
        """
        return np.asarray(self._fitted()._score(X, evidence=True).evidence)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on rows with known labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None: 1 each.

        Returns
        -------
        float
            Share of the weight of the rows that are predicted correctly.
        """
        return float(super().score(X, plain_text(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "skip"
        return tags

    def _is_full(self, first: bool) -> bool:
        """Whether rows are learned with full scatter: needed, or in the model already."""
        return self._member.needs_full_scatter or (not first and self.stats_.covariance is not None)

    def _learn(
        self,
        X: Any,
        y: Any,
        classes: NDArray[Any] | None,
        sample_weight: Any,
        *,
        first: bool,
    ) -> None:
        """Add rows to the statistics of a copy of the model, which no other thread sees."""
        self._check_params()
        rows, labels = self._check_rows_labels(X, y, first=first)
        found = encode_labels(labels)
        if classes is not None:
            found = locate_labels(found, classes)
        stats = self._stats_of(rows, found, sample_weight, first=first)
        self._adopt(self._estimate(stats if first else self.stats_ + stats))

    def _take(self, stats: Any) -> None:
        """Replace the statistics of a copy of the model."""
        self._check_params()
        self._adopt(self._estimate(stats))
        self._keep_names(stats)

    def _stats_of(self, rows: Any, labels: Labels, sample_weight: Any, *, first: bool) -> Any:
        weight = check_weight(sample_weight, len(rows))
        if weight is not None and not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        names = getattr(self, "feature_names_in_", None)
        try:
            return self._sum(rows, labels, weight, None if names is None else tuple(names), first)
        except NotFiniteError:
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
        """Return statistics of rows, checked as `fit` checks them. The model does not change."""
        model = clone(self)
        rows, labels = model._check_rows_labels(X, y, first=True)
        return model._stats_of(rows, encode_labels(labels), sample_weight, first=True)

    def _resolved(self, X: Any) -> Self:
        """Return the model with all decisions made that depend on the types of all rows.

        Call it before rows are split: a part of them may show other types.
        """
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
        rows = self._check_rows(X)
        scores = self._current().score_rows(
            rows, codes=table is None and not evidence, values=values, table=table,
            evidence=evidence, skip=self._skips(), dtype=dtype_of(rows, table),
        )  # fmt: skip
        if scores.bad >= 0:
            self._refuse(rows)
        return scores

    def _check_classes(self, classes: Any, *, first: bool) -> NDArray[Any]:
        """Return the declared classes, sorted. Raises ValueError unless they are those before."""
        if classes is None:
            return self.stats_.classes
        declared = classes_of(classes)
        if not first and declared.tolist() != self.classes_.tolist():
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        return declared if first else self.stats_.classes
