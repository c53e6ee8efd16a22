"""Cross-validation without refitting: statistics of folds are gathered once, and add up.

The model of a fold is that of the statistics of all other folds, so that rows are learned once
whatever the number of candidates, and each candidate only scores.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import LeaveOneOut, ParameterGrid, check_cv
from sklearn.utils import _safe_indexing, indexable

from . import _validate
from ._estimator import GaussianClassifier
from .stats import ClassStats

__all__ = ["cross_validate"]

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def cross_validate(
    model: GaussianClassifier,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    scoring: Any = None,
    sample_weight: ArrayLike | None = None,
) -> dict[str, Any]:
    """Scores of every candidate on every fold, each by a model of the other folds.

    Parameters
    ----------
    model : an estimator of the family, fitted or not; it is not changed.
    X, y : rows (n, d) and labels (n,), as for fit.
    cv : number of folds, a splitter, or pairs of indices, as for `GridSearchCV`; "loo" or
        `LeaveOneOut()`: each row by a model of all the others.
    param_grid : constructor parameters and the values to try, as for `GridSearchCV`; None: the
        model as it is. `missing` cannot vary, since other values are then counted.
    scoring : as for `GridSearchCV`; None: accuracy.
    sample_weight : (n,) weights for learning and for scoring.

    Returns
    -------
    dict : as `GridSearchCV.cv_results_`, with "params", "param_<name>", "split<i>_test_score",
        "mean_test_score", "std_test_score", "rank_test_score" and times in seconds; after leaving
        one out, the mean over rows as "mean_test_score" and no splits.

    Scores equal those of `GridSearchCV(model, param_grid, cv=cv)` on the same folds, as far as
    statistics that were added up equal those of rows: to rounding. A fold is then the sum of the
    others, while one row is taken out of the whole by subtraction, whose rounding errors are those
    of the whole. Cost: one pass of learning over the rows, or one a split where test sets overlap,
    and one of scoring a candidate; leaving one out takes about 0.3 ms a row and candidate.
    Raises ValueError and TypeError as fit and `GridSearchCV` do.
    """
    if not isinstance(model, GaussianClassifier):
        raise TypeError(f"Expected an estimator of fastgnb's, got {type(model).__name__}.")
    X, y = indexable(X, y)
    model = model._resolved(X)
    weight = _validate.check_weight(sample_weight, len(y))
    candidates = list(ParameterGrid(param_grid or {}))
    models = [_candidate(model, params) for params in candidates]
    is_plain = type(model).score is ClassifierMixin.score and scoring in (None, "accuracy")
    scorer = _accuracy if is_plain else check_scoring(models[0], scoring)
    if cv == "loo" or isinstance(cv, LeaveOneOut):
        scores, times = _leave_one_out(models, X, y, weight, scorer)
        return _results(candidates, scores, times, weight, splits=False)
    splits = [(train, test) for train, test in check_cv(cv, y, classifier=True).split(X, y)]
    scores = np.empty((len(models), len(splits)))
    times = np.empty((2, len(models), len(splits)))
    for i, (stats, test) in enumerate(_trained(model, X, y, weight, splits)):
        rows, labels = _safe_indexing(X, test), _safe_indexing(y, test)
        for j, each in enumerate(models):
            how = {} if weight is None else {"sample_weight": weight[test]}
            scores[j, i], times[:, j, i] = _scored(each, stats, rows, labels, scorer, **how)
    return _results(candidates, scores, times, None, splits=True)


def _candidate(model: GaussianClassifier, params: Mapping[str, Any]) -> GaussianClassifier:
    if params.get("missing", getattr(model, "missing", None)) != getattr(model, "missing", None):
        raise ValueError(
            "missing cannot vary among candidates, whose statistics are the same. Call "
            "cross_validate once for each."
        )
    candidate: GaussianClassifier = clone(model).set_params(**params)
    return candidate


def _stats(
    model: GaussianClassifier, X: Any, y: Any, weight: NDArray[np.float64] | None, rows: Any
) -> Any:
    """Statistics of some rows, of the kind that the model needs."""
    return model._gather(
        _safe_indexing(X, rows), _safe_indexing(y, rows), None if weight is None else weight[rows]
    )


def _trained(
    model: GaussianClassifier,
    X: Any,
    y: Any,
    weight: NDArray[np.float64] | None,
    splits: Sequence[Split],
) -> Iterator[tuple[ClassStats, NDArray[np.intp]]]:
    """The statistics of each split's training rows, and its test rows."""
    if not _is_partition(splits, len(y)):
        for train, test in splits:
            yield _stats(model, X, y, weight, train), test
        return
    folds = [_stats(model, X, y, weight, test) for _, test in splits]
    before = list(accumulate(folds[:-1], add))
    after = list(accumulate(folds[:0:-1], add))[::-1]
    for i, (_, test) in enumerate(splits):
        parts = before[i - 1 : i] + after[i : i + 1]
        yield parts[0] if len(parts) == 1 else parts[0] + parts[1], test


def _is_partition(splits: Sequence[Split], n: int) -> bool:
    """Whether each row is tested once and trains all other splits."""
    times = np.zeros(n, np.int64)
    for train, test in splits:
        times[test] += 1
        seen = np.zeros(n, np.bool_)
        seen[train] = True
        if len(train) + len(test) != n or seen.sum() != len(train) or seen[test].any():
            return False
    return len(splits) > 1 and bool((times == 1).all())


def _accuracy(
    model: GaussianClassifier, X: Any, y: Any, sample_weight: NDArray[np.float64] | None = None
) -> float:
    """What `score` gives, without looking each time at what kind of labels they are."""
    return float(np.average(model.predict(X) == np.asarray(y), weights=sample_weight))


def _scored(
    model: GaussianClassifier, stats: ClassStats, rows: Any, labels: Any, scorer: Any, **how: Any
) -> tuple[float, tuple[float, float]]:
    """The score of a candidate of some statistics, and the seconds to make and to score it."""
    start = time.perf_counter()
    model.fit_stats(stats)
    middle = time.perf_counter()
    return float(scorer(model, rows, labels, **how)), (middle - start, time.perf_counter() - middle)


def _leave_one_out(
    models: Sequence[GaussianClassifier],
    X: Any,
    y: Any,
    weight: NDArray[np.float64] | None,
    scorer: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores and seconds (2,) of each candidate and row (models, n)."""
    n = len(y)
    whole = _stats(models[0], X, y, weight, np.arange(n))
    scores, times = np.empty((len(models), n)), np.empty((2, len(models), n))
    for i in range(n):
        row = np.array([i])
        stats = whole - _stats(models[0], X, y, weight, row)
        rows, labels = _safe_indexing(X, row), _safe_indexing(y, row)
        for j, each in enumerate(models):
            scores[j, i], times[:, j, i] = _scored(each, stats, rows, labels, scorer)
    return scores, times


def _results(
    candidates: Sequence[Mapping[str, Any]],
    scores: NDArray[np.float64],
    times: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    *,
    splits: bool,
) -> dict[str, Any]:
    """As `GridSearchCV` shows them; the best candidate has rank 1, and equal ones share it."""
    results: dict[str, Any] = {}
    for name, seconds in zip(("fit_time", "score_time"), times, strict=True):
        results[f"mean_{name}"], results[f"std_{name}"] = seconds.mean(axis=1), seconds.std(axis=1)
    for name in sorted({name for params in candidates for name in params}):
        values = np.ma.masked_all(len(candidates), object)  # type: ignore[no-untyped-call]
        for i, params in enumerate(candidates):
            if name in params:
                values[i] = params[name]
        results[f"param_{name}"] = values
    results["params"] = [dict(params) for params in candidates]
    for i in range(scores.shape[1] if splits else 0):
        results[f"split{i}_test_score"] = scores[:, i]
    mean = np.average(scores, axis=1, weights=weight)
    spread = np.average((scores - mean[:, None]) ** 2, axis=1, weights=weight)
    results["mean_test_score"], results["std_test_score"] = mean, np.sqrt(spread)
    results["rank_test_score"] = 1 + (mean[:, None] < mean).sum(axis=1, dtype=np.int32)
    return results
