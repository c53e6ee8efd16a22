"""What a model says of Dask collections: lazy scores, and evaluations of all partitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..diagnosis.diagnosis import Diagnosis
from ..evaluation.evaluation import Evaluation
from .assessing import diagnosis_of_partitions, evaluation_of_partitions
from .collections import Collections, collected, is_lazy
from .scoring import scored
from .tree import check_split_every

__all__ = ["LazyAnswers"]


class LazyAnswers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that answers by its ``estimator_``, one task for each partition."""

    estimator_: Any
    split_every: int

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like
            Rows to score. Rows in memory are scored at once, by ``estimator_``.

        Returns
        -------
        dask.array.Array of shape (n_samples,) or dask.dataframe.Series
            Labels, of the dtype of ``classes_``. A series is named ``prediction``.
        """
        return self._answer(X, "predict")

    def predict_proba(self, X: Any) -> Any:
        """Return the posterior probability of each class for each row.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like
            Rows to score.

        Returns
        -------
        dask.array.Array of shape (n_samples, n_classes) or dask.dataframe.DataFrame
            Probabilities, in the order of ``classes_``, which name the columns of a dataframe:
            float32 if X is float32, else float64.
        """
        return self._answer(X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the posterior probability of each class for each row.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like
            Rows to score.

        Returns
        -------
        dask.array.Array of shape (n_samples, n_classes) or dask.dataframe.DataFrame
            Log probabilities, as ``predict_proba`` returns probabilities.
        """
        return self._answer(X, "predict_log_proba")

    def predict_joint_log_proba(self, X: Any) -> Any:
        """Return the joint log likelihood, log p(c) + log p(x | c), of each class and row.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like
            Rows to score.

        Returns
        -------
        dask.array.Array of shape (n_samples, n_classes) or dask.dataframe.DataFrame
            Joint log likelihoods in float64, in the order of ``classes_``.
        """
        return self._answer(X, "predict_joint_log_proba")

    def predict_log_evidence(self, X: Any) -> Any:
        """Return the log density log p(x) of each row under the whole model.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like
            Rows to score.

        Returns
        -------
        dask.array.Array of shape (n_samples,) or dask.dataframe.Series
            Log densities in float64. A series is named ``log_evidence``.
        """
        return self._answer(X, "predict_log_evidence")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on rows with known labels.

        Parameters
        ----------
        X, y, sample_weight : dask.array.Array, dask.dataframe.DataFrame and Series, or str
            Rows, labels and weights, as ``fit`` takes them.

        Returns
        -------
        float
            Share of the weight of the rows that are predicted correctly.
        """
        if not is_lazy(X):
            return float(self._fitted().score(X, y, sample_weight))
        return float(self.evaluate(X, y, sample_weight).accuracy)

    def evaluate(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        thresholds: Iterable[float] | None = None,
        exact_rows: int = 10_000_000,
    ) -> Evaluation:
        """Compare predictions for the rows of all partitions with their labels.

        Parameters
        ----------
        X, y, sample_weight : dask.array.Array, dask.dataframe.DataFrame and Series, or str
            Rows, labels and weights, as ``fit`` takes them. Rows with a label that the model does
            not know count as wrong.
        thresholds : iterable of float, default=None
            Cut-offs of the probability at which rates are counted exactly: see `fastgnb.evaluate`.
        exact_rows : int, default=10_000_000
            Rows up to which all log odds are kept, so that curves and areas are exact.

        Returns
        -------
        Evaluation
            As `fastgnb.evaluate` returns it. Counts are exact, and sums agree to 1e-13.

        Raises
        ------
        PartitionError
            If the rows of a partition are invalid.
        ValueError
            If collections cannot be aligned, do not fit the model, or have no rows.
        """
        model, rows = self._scored_rows(X, y, sample_weight)
        return evaluation_of_partitions(
            model, rows, check_split_every(self.split_every), thresholds=thresholds,
            exact_rows=exact_rows,
        )  # fmt: skip

    def diagnose(self, X: Any, y: Any, sample_weight: Any = None) -> Diagnosis:
        """Check whether labelled rows are as the model assumes. They are read twice.

        Parameters
        ----------
        X, y, sample_weight : dask.array.Array, dask.dataframe.DataFrame and Series, or str
            Rows, labels and weights, as ``fit`` takes them. Rows with a label that the model does
            not know are left out and counted.

        Returns
        -------
        Diagnosis
            As `fastgnb.diagnose` returns it, to rounding.

        Raises
        ------
        PartitionError
            If the rows of a partition are invalid.
        ValueError
            If collections cannot be aligned, do not fit the model, or have no rows with labels
            that it knows.
        """
        model, rows = self._scored_rows(X, y, sample_weight)
        return diagnosis_of_partitions(model, rows, check_split_every(self.split_every))

    def _answer(self, X: Any, method: str) -> Any:
        model = self._fitted()
        if not is_lazy(X):
            return getattr(model, method)(X)
        rows = collected(X, has_labels=False)
        validate_data(model, rows.meta, reset=False, skip_check_array=True)
        return scored(model, rows, method)

    def _scored_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Collections]:
        model, rows = self._fitted(), collected(X, y, sample_weight)
        validate_data(model, rows.meta, reset=False, skip_check_array=True)
        return model, rows

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_
