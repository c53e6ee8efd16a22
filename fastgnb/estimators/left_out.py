"""Leave-one-out without n models: scores of all rows in one pass, see `Model.leave_one_out`.

In: an estimator, and a task of `folds` whose splits are those of ``LeaveOneOut``. Out: what the
estimator would answer for each row after a fit to all others. None where there is no closed form,
or anything is refused: the caller then goes the way of all splits, which reports why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut
from sklearn.utils.validation import _num_samples

from ..input.labels import encode_labels
from ..input.weights import check_weight
from ..model.left_out import LearnedRows
from ..model.model import Model
from ..model.scoring import decisions
from .base import GaussianClassifier
from .checks import dtype_of
from .fold_accuracy import Accuracy
from .fold_stats import Task, gathered, is_usual, other_folds
from .folds import candidate_of, grouped
from .strata import is_plain_labels

__all__ = ["answers_left_out", "is_leave_one_out", "results_left_out", "scores_left_out"]

# Answers of a model with these classes, given the columns of all.
Order = Callable[[Any, Any], Any]


def is_leave_one_out(splitter: Any, X: Any) -> bool:
    """Whether a splitter of scikit-learn leaves out one row at a time."""
    return type(splitter) is LeaveOneOut and _num_samples(X) > 1


class _LeftOut:
    """Statistics of all rows, which candidates share, and what each of them makes of these."""

    def __init__(self, model: GaussianClassifier, task: Task) -> None:
        weight = task.fit_params.get("sample_weight")
        own = clone(model)
        self.X, labels = own._check_rows_labels(task.X, task.y, first=True)
        found = encode_labels(labels)
        self.classes = found.classes
        self.stats = own._stats_of(self.X, found, weight, first=True)
        self.rows = LearnedRows(self.X, found.codes, check_weight(weight, len(self.X)))
        self.task = task

    def answers(
        self, model: GaussianClassifier, method: str, order: Order | None = None
    ) -> NDArray[Any] | None:
        """What a method of the estimator answers for each row after a fit to all others."""
        estimated = Model.estimated(model._member, self.stats, model._checked_options())
        scores = estimated.leave_one_out(self.rows, joint=method != "predict")
        if scores is None:
            return None
        out = _METHODS[method](self, scores)
        for i, other in self.refitted(model, scores.redo):
            answer = getattr(other, method)(self.task.rows(np.array([i]))[0])
            out[i] = (answer if order is None else order(other.classes_, answer))[0]
        return out

    def refitted(
        self, model: GaussianClassifier, redo: NDArray[np.bool_]
    ) -> Iterator[tuple[int, GaussianClassifier]]:
        """The positions of rows, each with the model of all others."""
        at = np.flatnonzero(redo)
        if not len(at):
            return
        base = gathered(model, self.task, np.flatnonzero(~redo)) if not redo.all() else 0
        ones = [gathered(model, self.task, at[i : i + 1]) for i in range(len(at))]
        for i, stats in zip(at.tolist(), other_folds(ones, base), strict=True):
            yield i, clone(model).fit_stats(stats)


def answers_left_out(
    model: GaussianClassifier, task: Task, method: str, order: Order
) -> NDArray[Any] | None:
    """What a method of the estimator answers for each row (n, ...) after a fit to all others.

    y are codes from 0 where answers have a column for each class.
    """
    if not _can_leave_out(model, task, method):
        return None
    try:
        return _LeftOut(model, task).answers(model, method, order)
    except Exception:
        return None


def scores_left_out(
    estimator: GaussianClassifier, candidates: Sequence[Mapping[str, Any]], task: Task
) -> list[dict[str, NDArray[np.float64]]] | None:
    """For each candidate, times and accuracies (n,) as `cross_validate` returns them.

    The time of each split is an equal share of that of all.
    """
    if type(task.scorer) is not Accuracy or task.score_params or not is_plain_labels(task.y):
        return None
    if task.return_train_score or task.return_estimator:
        return None
    models = [candidate_of(estimator, params) for params in candidates]
    if not all(_can_leave_out(model, task, "predict") for model in models):
        return None
    try:
        return _scored(models, task)
    except Exception:
        return None


def _scored(
    models: Sequence[GaussianClassifier], task: Task
) -> list[dict[str, NDArray[np.float64]]] | None:
    out: dict[int, dict[str, NDArray[np.float64]]] = {}
    n = _num_samples(task.X)
    for group in grouped(models):
        start = time.perf_counter()
        left = _LeftOut(models[group[0]], task)
        shared = (time.perf_counter() - start) / len(group)
        for c in group:
            start = time.perf_counter()
            answers = left.answers(models[c], "predict")
            if answers is None or answers.dtype.kind != task.y.dtype.kind:
                return None
            seconds = time.perf_counter() - start
            out[c] = {
                "fit_time": np.full(n, shared / n),
                "score_time": np.full(n, seconds / n),
                "test_score": (answers == task.y).astype(np.float64),
            }
    return [out[c] for c in range(len(models))]


def results_left_out(
    estimator: GaussianClassifier, candidates: Sequence[Mapping[str, Any]], task: Task
) -> list[dict[str, Any]] | None:
    """As `folds.evaluate`, for accuracy."""
    scores = scores_left_out(estimator, candidates, task)
    if scores is None:
        return None
    return [
        {"fit_error": None, "fit_time": fit, "score_time": score, "test_scores": accuracy}
        for one in scores
        for fit, score, accuracy in zip(*[part.tolist() for part in one.values()], strict=True)
    ]


def _can_leave_out(model: GaussianClassifier, task: Task, method: str) -> bool:
    """Whether an estimator learns and answers as those of this package do."""
    if method not in _METHODS or not is_usual(model, task):
        return False
    return getattr(type(model), method) is getattr(GaussianClassifier, method)


def _labels(left: _LeftOut, scores: Any) -> NDArray[Any]:
    return np.asarray(left.classes[scores.codes])


def _joint(left: _LeftOut, scores: Any) -> NDArray[Any]:
    return np.asarray(scores.joint)


def _log_proba(left: _LeftOut, scores: Any) -> NDArray[Any]:
    """Log probabilities, made of the joint log likelihoods in place."""
    joint = scores.joint
    with np.errstate(invalid="ignore"):  # rows that are redone
        joint -= joint.max(axis=1, keepdims=True)
        joint -= np.log(_sums_of_exponentials(joint))[:, None]
    return np.asarray(joint.astype(dtype_of(left.X, "log_proba"), copy=False))


def _sums_of_exponentials(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums (n,) of exp(joint), with a temporary of a bounded number of rows."""
    sums = [np.exp(joint[i : i + 4096]).sum(axis=1) for i in range(0, len(joint), 4096)]
    return np.concatenate(sums)


def _proba(left: _LeftOut, scores: Any) -> NDArray[Any]:
    joint = scores.joint
    with np.errstate(invalid="ignore"):
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1, keepdims=True)
    return np.asarray(joint.astype(dtype_of(left.X, "proba"), copy=False))


def _decision(left: _LeftOut, scores: Any) -> NDArray[Any]:
    joint = scores.joint.copy()
    return decisions(joint, lambda: _log_proba(left, scores))


_METHODS: dict[str, Callable[[_LeftOut, Any], NDArray[Any]]] = {
    "predict": _labels,
    "predict_proba": _proba,
    "predict_log_proba": _log_proba,
    "predict_joint_log_proba": _joint,
    "decision_function": _decision,
}
