"""What every estimator of the family does: it holds a `Model`, and checks what goes in.

A member is a constructor and a docstring; see `GaussianClassifier`.
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
    """A classifier over statistics that add: scikit-learn's face of a `Model`.

    A member is a subclass that names its entry in the registry as a class keyword, and has a
    constructor of the options there::

        class GaussianNB(GaussianClassifier, member="GaussianNB"):
            def __init__(self, *, priors=None, var_smoothing=1e-9): ...

    The rule for edited fitted attributes stands in `fastgnb.model.model`.

    The one rule for threads: whoever answers first takes a copy of `__dict__`, see `_now`, and
    whoever learns works on such a copy, which then takes the place of `__dict__` in one step. So an
    answer is that of the model before a call of another thread, or after it. Threads that learn
    into one model take turns.
    """

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
        now._check_n_features()
        X, codes = now._current().sample(int(n), draw)
        return X, classes[codes]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class (n,) of each row of X (n, d); the first one in a tie."""
        now = self._fitted()
        codes, classes = now._score(X, labels=True).codes, np.asarray(now.classes_)
        return codes if classes.dtype == np.int64 else np.asarray(classes[codes])

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
        return float(super().score(X, plain_text(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "skip"
        return tags

    def _is_full(self, first: bool) -> bool:
        """Whether rows are learned with full scatter: as needed, or as what is there already."""
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
        """Add rows to the statistics of a copy of the model, which no one else sees."""
        self._check_params()
        rows, labels = self._check_rows_labels(X, y, first=first)
        found = encode_labels(labels)
        if classes is not None:
            found = locate_labels(found, classes)
        stats = self._stats_of(rows, found, sample_weight, first=first)
        self._adopt(self._estimate(stats if first else self.stats_ + stats))

    def _take(self, stats: Any) -> None:
        """Make a copy of the model that of statistics."""
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
        """Statistics of rows, checked as `fit` checks them; the model does not change."""
        model = clone(self)
        rows, labels = model._check_rows_labels(X, y, first=True)
        return model._stats_of(rows, encode_labels(labels), sample_weight, first=True)

    def _resolved(self, X: Any) -> Self:
        """The model with what depends on the types of all rows decided: call it before rows are
        cut into pieces, which may show other types."""
        return self

    def _table(self, X: Any, table: Table) -> NDArray[Any]:
        return np.asarray(self._score(X, table).table)

    def _score(
        self,
        X: Any,
        table: Table | None = None,
        *,
        evidence: bool = False,
        labels: bool = False,
    ) -> Scores:
        """Scores of rows, with `labels` of int64 in the place of codes."""
        classes = self._labels()
        rows = self._check_rows(X)
        scores = self._current().score_rows(
            rows, codes=labels, values=classes if labels and classes.dtype == np.int64 else None,
            table=table, evidence=evidence, skip=self._skips(), dtype=dtype_of(rows, table),
        )  # fmt: skip
        if scores.bad >= 0:
            self._refuse(rows)
        return scores

    def _check_classes(self, classes: Any, *, first: bool) -> NDArray[Any]:
        """The declared classes, sorted. Raises ValueError unless they are the first call's."""
        if classes is None:
            return self.stats_.classes
        declared = classes_of(classes)
        if not first and declared.tolist() != self.classes_.tolist():
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        return declared if first else self.stats_.classes
