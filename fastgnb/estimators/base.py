"""What every estimator does: learn, merge, score and sample, through the `Model` that it holds.

A member adds a constructor and a docstring only: see `GaussianClassifier`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..input.labels import Labels, classes_of, encode_labels, locate_labels
from ..input.rows import NotFiniteError
from ..input.type_names import model_remedy, stats_remedy, type_name
from ..input.weights import check_weight
from ..model.model import Model
from ..stats.class_stats import ClassStats, from_arrays
from ..stats.feature_order import match_feature_order
from .answers import AnsweringClassifier
from .chunks import held_after_chunk
from .exports import ExportingClassifier
from .locks import TURNS


class GaussianClassifier(AnsweringClassifier, ExportingClassifier):
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
            state = self.__dict__
            held = held_after_chunk(state, X, y, classes, sample_weight)
            if held is not None:
                state["_held"] = held  # which all that was learned is read from
                return self
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
            new._take(new.stats_ + match_feature_order(more, new.stats_))
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
        options = self._checked_options()
        rows, labels = self._check_rows_labels(X, y, first=first)
        found = encode_labels(labels)
        if classes is not None:
            found = locate_labels(found, classes)
        stats = self._stats_of(rows, found, sample_weight, first=first)
        stats = stats if first else self.stats_ + stats
        self._adopt(Model.learned(self._member, stats, options))

    def _take(self, stats: Any) -> None:
        """Replace the statistics of a copy of the model."""
        options = self._checked_options()
        self._adopt(Model.learned(self._member, stats, options))
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

    def _check_classes(self, classes: Any, *, first: bool) -> NDArray[Any]:
        """Return the declared classes, sorted. Raises ValueError unless they are those before."""
        known = None if first else self.stats_.classes
        if known is not None and (classes is None or _are_alike(classes, known, self.classes_)):
            return known
        declared = classes_of(classes)
        if not first and declared.tolist() != self.classes_.tolist():
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        return declared if first else self.stats_.classes


def _are_alike(first: Any, *others: Any) -> bool:
    """Whether arrays hold the same bytes: declared classes need no second look then."""
    if type(first) is not np.ndarray or first.dtype.kind not in "iub":
        return False
    return all(
        type(each) is np.ndarray and each.dtype == first.dtype and each.tobytes() == first.tobytes()
        for each in others
    )
