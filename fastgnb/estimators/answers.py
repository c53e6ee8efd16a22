"""What a fitted estimator answers: labels, probabilities, densities and draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from ..input.labels import plain_text
from ..input.rows import check_loaded
from ..kernels.score.outputs import Scores, Table
from ..model.scoring import decisions
from .checks import check_answers, dtype_of
from .holder import ModelHolder


class AnsweringClassifier(ClassifierMixin, ModelHolder):  # type: ignore[misc]
    """A classifier that holds a model: each answer comes from one copy of its state."""

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

    def predict(self, X: ArrayLike, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        out : ndarray of shape (n_samples,), default=None
            Array that the labels are written into, of the dtype of ``classes_`` and C-contiguous.
            It must not share memory with ``X``. None: a new array.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, of the dtype of ``classes_``; the first class in a tie. ``out``, if given.

        Raises
        ------
        TypeError
            If ``out`` is not an ndarray.
        ValueError
            If ``out`` has another shape, dtype or layout, or is read-only.

        Notes
        -----
        The memory pages of a new array cost up to half of the time of few features, so a loop that
        keeps one ``out`` is faster. Labels that are not int64 are looked up from positions of
        classes, which take a new int64 array of ``n_samples`` in any case. After an error the
        content of ``out`` is undefined.

        Examples
        --------
        >>> import numpy as np
        >>> from fastgnb import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
        >>> out = np.empty(2, model.classes_.dtype)
        >>> model.predict([[1.5], [8.5]], out=out) is out
        True
        >>> out
        array([0, 1])
        """
        now = self._fitted()
        codes, classes = now._score(X, labels=True, out=out).codes, np.asarray(now.classes_)
        if classes.dtype == np.int64:
            return codes if out is None else out
        # In any other mode `take` makes a copy of `out`.
        return np.asarray(np.take(classes, codes, out=out, mode="clip"))

    def predict_proba(self, X: ArrayLike, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the posterior probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        out : ndarray of shape (n_samples, n_classes), default=None
            C-contiguous array of the result's dtype that the result is written into. It must not
            share memory with ``X``. None: a new array.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``: float32 if X is float32, else float64.

        Raises
        ------
        TypeError
            If ``out`` is not an ndarray.
        ValueError
            If ``out`` has another shape, dtype or layout, or is read-only.

        Notes
        -----
        See `predict` for when ``out`` pays, and for its content after an error.
        """
        return self._fitted()._table(X, "proba", out)

    def predict_log_proba(self, X: ArrayLike, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the logarithm of the posterior probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        out : ndarray of shape (n_samples, n_classes), default=None
            C-contiguous array of the result's dtype that the result is written into. It must not
            share memory with ``X``. None: a new array.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities, in the order of ``classes_``: float32 if X is float32, else float64.

        Raises
        ------
        TypeError
            If ``out`` is not an ndarray.
        ValueError
            If ``out`` has another shape, dtype or layout, or is read-only.

        Notes
        -----
        See `predict` for when ``out`` pays, and for its content after an error.
        """
        return self._fitted()._table(X, "log_proba", out)

    def predict_joint_log_proba(
        self, X: ArrayLike, *, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the joint log likelihood, log p(c) + log p(x | c), of each class and row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        out : ndarray of shape (n_samples, n_classes), default=None
            C-contiguous array of the result's dtype that the result is written into. It must not
            share memory with ``X``. None: a new array.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Joint log likelihoods in float64, in the order of ``classes_``.

        Raises
        ------
        TypeError
            If ``out`` is not an ndarray.
        ValueError
            If ``out`` has another shape, dtype or layout, or is read-only.

        Notes
        -----
        See `predict` for when ``out`` pays, and for its content after an error.
        """
        return self._fitted()._table(X, "joint", out)

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
        check_loaded(y, "y")
        check_loaded(sample_weight, "sample_weight")
        return float(super().score(X, plain_text(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "skip"
        return tags

    def _table(self, X: Any, table: Table, out: Any = None) -> NDArray[Any]:
        scores = self._score(X, table, out=out)
        return np.asarray(scores.table) if out is None else out

    def _score(
        self,
        X: Any,
        table: Table | None = None,
        *,
        evidence: bool = False,
        labels: bool = False,
        out: Any = None,
        calls: int = 1,
    ) -> Scores:
        """Scores of rows, with `labels` of int64 in the place of codes.

        `out` is for the table, or else for the labels, which are not written where they are codes.
        calls: see `Wanted`.
        """
        classes = self._labels()
        rows = self._check_rows(X)
        dtype = dtype_of(rows, table)
        is_plain = labels and classes.dtype == np.int64
        if out is not None:
            check_answers(out, rows, classes, dtype if table else None)
        scores = self._current().score_rows(
            rows, codes=labels, values=classes if is_plain else None, table=table,
            evidence=evidence, skip=self._skips(), dtype=dtype,
            out=out if table or is_plain else None, calls=calls,
        )  # fmt: skip
        if scores.bad >= 0:
            self._refuse(rows)
        return scores
