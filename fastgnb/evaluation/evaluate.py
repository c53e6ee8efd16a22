"""`fastgnb.evaluate`: predictions for rows in memory, compared with their labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..estimators.base import GaussianClassifier
from ..input.categorical import MixedRows
from ..input.category_codes import CategoricalColumn
from ..input.labels import as_labels, encode_labels
from ..input.rows import check_lengths
from ..input.type_names import type_name
from ..input.weights import check_weight
from .cells import check_thresholds
from .evaluation import Evaluation
from .evaluator import Evaluator

__all__ = ["add_rows", "check_exact_rows", "evaluate"]

_BATCH = 1 << 20
"""Log odds that are computed at a time."""


def evaluate(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    thresholds: Iterable[float] | None = None,
    exact_rows: int = 10_000_000,
) -> Evaluation:
    """Compare predictions for rows with their labels.

    Parameters
    ----------
    model : estimator
        A fitted estimator of fastgnb.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        True labels. Rows with a label that the model does not know count as wrong.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of 0 or more. None: 1 each. A row of weight 0 is as if it were not there.
    thresholds : iterable of float, default=None
        Cut-offs of the probability at which rates are counted exactly, besides 0.01, 0.02, ...,
        0.99. They matter beyond `exact_rows` only.
    exact_rows : int, default=10_000_000
        Rows up to which all log odds are kept, so that curves and areas are exact. Beyond it, and
        beyond 2^27 log odds, they go into histograms, and areas are intervals.

    Returns
    -------
    Evaluation
        Accuracy, confusion matrix, log loss, Brier score, and all rates, curves, areas and
        calibrations.

    Raises
    ------
    ValueError
        If shapes or names are not those of the model, X is not finite (a NaN only if the model does
        not skip missing values), there are no rows, or arguments are out of range.
    TypeError
        If `model` is not a fitted estimator of fastgnb, or labels are of another kind.

    See Also
    --------
    fastgnb.files.evaluate : Evaluate a model on files.
    fastgnb.diagnose : Check whether rows are as a model assumes.

    Notes
    -----
    Rows are read once. Memory: the log odds of the rows that are kept exactly, and else a fixed
    amount, up to 128 MB of histograms.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> found = evaluate(GaussianNB().fit(X, y), X, y)
    >>> found.accuracy
    0.96
    >>> round(found.auc(2).value, 4)
    0.9924
    >>> found.best_cutoff(2, max_fpr=0.02).rates.tpr.value
    0.92
    """
    if not isinstance(model, GaussianClassifier):
        raise TypeError(
            f"Expected a fitted estimator of fastgnb, got {type_name(model)}. Load a model file by "
            "fastgnb.load."
        )
    return add_rows(
        model, X, y, sample_weight, thresholds=thresholds, exact_rows=exact_rows
    ).result()


def add_rows(
    model: GaussianClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    thresholds: Iterable[float] | None,
    exact_rows: int,
) -> Evaluator:
    """Score rows, and add them up with their labels. Raises as `evaluate` does."""
    check_exact_rows(exact_rows)
    fitted, rows = model.to_model(), model._check_rows(X)
    labels = as_labels(y)
    check_lengths(rows, labels)
    _check_kind(encode_labels(labels).classes, fitted.classes)
    weight = check_weight(sample_weight, len(labels))
    asked = None if thresholds is None else check_thresholds(thresholds)
    evaluator = Evaluator(fitted.classes, thresholds=asked, exact_rows=exact_rows)
    skip, step = model._skips(), max(1024, _BATCH // len(fitted.classes))
    for start in range(0, len(labels), step):
        part: Any = slice(start, start + step)
        if weight is not None and not weight[part].all():
            part = start + np.flatnonzero(weight[part])
        scores = fitted.score_rows(_part(rows, part), skip=skip, table="log_odds")
        if scores.bad >= 0:
            model._refuse(rows, weight)
        assert scores.table is not None
        given = None if weight is None else weight[part]
        evaluator.update(labels[part], scores.codes, scores.table, given)
    return evaluator


def check_exact_rows(exact_rows: Any) -> None:
    """Raise ValueError unless it is a whole number of rows."""
    if not hasattr(exact_rows, "__index__") or exact_rows < 0:
        raise ValueError(f"exact_rows must be a whole number, 0 or more, got {exact_rows!r}.")


def _check_kind(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise TypeError for labels that cannot be those of the model: "1" is not 1."""
    kinds = ["text" if each.dtype.kind in "OUT" else "numbers" for each in (labels, classes)]
    if len(labels) and kinds[0] != kinds[1]:
        raise TypeError(
            f"Expected labels y that are {kinds[1]}, as the classes of the model {classes}, got "
            f"{kinds[0]}: {labels[:3]}."
        )


def _part(rows: Any, part: Any) -> Any:
    """Some of the rows, of an array or split into columns."""
    if not isinstance(rows, MixedRows):
        return rows[part]
    columns = tuple(CategoricalColumn(column.labels, column.codes[part]) for column in rows.columns)
    return MixedRows(rows.continuous[part], columns, rows.is_categorical)
