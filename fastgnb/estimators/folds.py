"""Scores of candidates on every split, from statistics of folds that are learned once.

In: an estimator, candidates, rows and splits. Out: one dict for each candidate and split, from
which scikit-learn's searches make their tables.

The statistics of a split's training rows are the sum of those of the other folds. Where that is
not possible (an error, statistics that do not add, a subclass with its own `fit`) the candidate is
fitted to the rows of each split, so that results and errors are those of `fit`.

`_score`, `_check_method_params` and `_num_samples` are private to scikit-learn, and the same from
1.6 to 1.9.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import accumulate
from traceback import format_exc
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, _num_samples

from .base import GaussianClassifier

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Task:
    """What is done for every candidate on every split.

    scorer : one callable, or scikit-learn's for several metrics. fit_params, score_params :
    keywords of `fit` and of the scorer; values with one entry for each row are split as the rows
    are.
    """

    X: Any
    y: Any
    scorer: Any
    error_score: Any
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] = field(default_factory=dict)
    return_train_score: bool = False
    return_estimator: bool = False

    def rows(self, at: Indices) -> tuple[Any, ...]:
        """X and y of some rows, or X alone where there is no y."""
        return tuple(_safe_indexing(each, at) for each in (self.X, self.y) if each is not None)

    def params(self, given: Mapping[str, Any], at: Indices) -> dict[str, Any]:
        """Keywords for some rows."""
        return dict(_check_method_params(self.X, params=given, indices=at))


class Fold:
    """The rows of one split, indexed when they are first used."""

    def __init__(self, task: Task, train: Indices, test: Indices) -> None:
        self.task, self._train, self._test = task, train, test

    @cached_property
    def train(self) -> tuple[Any, ...]:
        return self.task.rows(self._train)

    @cached_property
    def test(self) -> tuple[Any, ...]:
        return self.task.rows(self._test)

    @cached_property
    def fit_params(self) -> dict[str, Any]:
        return self.task.params(self.task.fit_params, self._train)

    @cached_property
    def score_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Keywords of the scorer for the test rows and for the training rows."""
        given = self.task.score_params
        return self.task.params(given, self._test), self.task.params(given, self._train)


class Shared(NamedTuple):
    """Statistics of a split's training rows, None where they cannot be shared, and the seconds
    that learning them took."""

    stats: Any
    seconds: float


def evaluate(
    estimator: GaussianClassifier,
    candidates: Sequence[Mapping[str, Any]],
    splits: Sequence[tuple[Any, Any]],
    task: Task,
) -> list[dict[str, Any]]:
    """Results of each candidate on each split, in the order of the candidates.

    Returns dicts with `fit_error` (a traceback or None), `test_scores`, `fit_time`, `score_time`
    and, where the task asks for them, `train_scores` and `estimator`. The time of fitting has an
    equal share of that of learning the statistics. Raises ValueError for parameters that the
    estimator does not have, and with error_score="raise" whatever a candidate raises.
    Cost: one pass of learning over the rows for each set of splits whose test rows are all rows
    once, one for each split elsewhere, and one of scoring a candidate.
    """
    n = _num_samples(task.X)
    pairs = [(np.arange(n)[train], np.arange(n)[test]) for train, test in splits]
    models = [candidate_of(estimator, params) for params in candidates]
    groups = _grouped(models)
    learned = [_learned(models[group[0]], task, pairs) for group in groups]
    results: dict[tuple[int, int], dict[str, Any]] = {}
    for i, (pair, *shared) in enumerate(zip(pairs, *learned, strict=True)):
        fold = Fold(task, *pair)
        for group, (stats, seconds) in zip(groups, shared, strict=True):
            one = Shared(stats, seconds / len(group))
            for c in group:
                model = candidate_of(estimator, candidates[c])
                results[c, i] = _result(model, one, fold)
    return [results[c, i] for c in range(len(models)) for i in range(len(pairs))]


def candidate_of(estimator: GaussianClassifier, params: Mapping[str, Any]) -> GaussianClassifier:
    """A new estimator with other parameters, which are copied too."""
    candidate: GaussianClassifier = clone(estimator)
    candidate.set_params(**clone(dict(params), safe=False))
    return candidate


def _grouped(models: Sequence[GaussianClassifier]) -> list[list[int]]:
    """Positions of candidates, by the statistics that they need.

    Candidates that agree on the options that decide which statistics are learned share these; all
    other options only decide what is made of them.
    """
    groups: dict[object, list[int]] = {}
    for i, model in enumerate(models):
        values = model.learned_options()
        try:
            key: object = pickle.dumps(values)
        except Exception:  # no value that `fit` takes
            key = i
        groups.setdefault(key, []).append(i)
    return list(groups.values())


# --- statistics --------------------------------------------------------------------------------


def _learned(
    model: GaussianClassifier, task: Task, pairs: Sequence[tuple[Indices, Indices]]
) -> Iterator[Shared]:
    """The statistics of each split's training rows."""
    is_usual = type(model).fit is GaussianClassifier.fit and task.y is not None
    if not is_usual or not task.fit_params.keys() <= {"sample_weight"}:
        yield from (Shared(None, 0.0) for _ in pairs)
        return
    model = _decided(model, task.X)
    for run in _runs(pairs, _num_samples(task.X)):
        start = time.perf_counter()
        if len(run) == 1:
            stats = _gathered(model, task, run[0][0])
            yield Shared(stats, time.perf_counter() - start)
            continue
        folds = [_gathered(model, task, test) for _, test in run]
        seconds = (time.perf_counter() - start) / len(run)
        sums = _others(folds, 0)
        for _ in run:
            start = time.perf_counter()
            stats = next(sums)
            yield Shared(stats, seconds + time.perf_counter() - start)


def _decided(model: GaussianClassifier, X: Any) -> GaussianClassifier:
    """Return the estimator with "auto" decided by all rows, instead of those of a fold."""
    try:
        return model._resolved(X)
    except (TypeError, ValueError):
        return model  # `fit` will say why


def _gathered(model: GaussianClassifier, task: Task, at: Indices) -> Any:
    """Statistics of some rows, or None if these raise: `fit` will then report why."""
    try:
        weight = task.params(task.fit_params, at).get("sample_weight")
        X, y = task.rows(at)
        return model._gather(X, y, weight)
    except Exception:
        return None


def _runs(
    pairs: Sequence[tuple[Indices, Indices]], n: int
) -> Iterator[Sequence[tuple[Indices, Indices]]]:
    """Split the splits into runs: consecutive ones that test each row once and train on all others.

    All others are runs of one split.
    """
    start = 0
    while start < len(pairs):
        stop = _end_of_run(pairs, start, n)
        yield pairs[start:stop]
        start = stop


def _end_of_run(pairs: Sequence[tuple[Indices, Indices]], start: int, n: int) -> int:
    tested = np.zeros(n, np.bool_)
    for i in range(start, len(pairs)):
        train, test = pairs[i]
        present = np.zeros(n, np.bool_)
        present[train] = present[test] = True
        if len(train) + len(test) != n or not present.all() or tested[test].any():
            break
        tested[test] = True
        if tested.all():
            return i + 1
    return start + 1


def _others(folds: Sequence[Any], outside: Any) -> Iterator[Any]:
    """For each fold, the sum of `outside` and of all other folds; None if one of them is None.

    Many folds are added up in parts first, of which only sums are kept: 3 or 4 additions for each
    fold, and memory for about 2 sqrt(len(folds)) sums.
    """
    if len(folds) == 1:
        yield outside
        return
    size = math.isqrt(len(folds)) if len(folds) > 64 else 1
    parts = [folds[i : i + size] for i in range(0, len(folds), size)]
    sums = [reduce(_plus, part) for part in parts]
    after = [*accumulate(reversed(sums), _plus)][-2::-1]  # what follows each part but the last
    for i, part in enumerate(parts):
        yield from _others(part, _plus(outside, after[i]) if i < len(after) else outside)
        outside = _plus(outside, sums[i])


def _plus(a: Any, b: Any) -> Any:
    """Return a + b, or None if one of them is None or they cannot be added."""
    if a is None or b is None:
        return None
    try:
        return a + b
    except Exception:
        return None


# --- candidates --------------------------------------------------------------------------------


def _result(model: GaussianClassifier, shared: Shared, fold: Fold) -> dict[str, Any]:
    """Fit one candidate for one split and score it, as scikit-learn's `_fit_and_score` does."""
    task = fold.task
    start = time.perf_counter()
    try:
        _fit(model, shared.stats, fold)
        error = None
    except Exception:
        if task.error_score == "raise":
            raise
        error = format_exc()
    middle = time.perf_counter()
    result: dict[str, Any] = {"fit_error": error, "fit_time": shared.seconds + middle - start}
    if error is None:
        result["test_scores"] = _scores(model, fold.test, fold.score_params[0], task)
        result["score_time"] = time.perf_counter() - middle
    else:
        result["test_scores"], result["score_time"] = _failed(task), 0.0
    if task.return_train_score:
        how = fold.score_params[1]
        train = _failed(task) if error else _scores(model, fold.train, how, task)
        result["train_scores"] = train
    if task.return_estimator:
        result["estimator"] = model
    return result


def _fit(model: GaussianClassifier, stats: Any, fold: Fold) -> None:
    """Fit from statistics, or from rows if there are none or the model refuses them."""
    if stats is not None:
        try:
            model.fit_stats(stats)
            return
        except Exception:
            pass  # `fit` raises the error that scikit-learn would report
    decided = _decided(model, fold.task.X)
    if decided is model:
        model.fit(*fold.train, **fold.fit_params)
        return
    model.set_params(categorical_features=decided.get_params()["categorical_features"])
    try:
        model.fit(*fold.train, **fold.fit_params)
    finally:
        model.set_params(categorical_features="auto")


def _scores(
    model: GaussianClassifier, rows: tuple[Any, ...], how: dict[str, Any], task: Task
) -> Any:
    X, y = rows if len(rows) == 2 else (rows[0], None)
    return _score(model, X, y, task.scorer, how, task.error_score)


def _failed(task: Task) -> Any:
    """The scores of a candidate that could not be fitted."""
    names = getattr(task.scorer, "_scorers", None)
    return task.error_score if names is None else dict.fromkeys(names, task.error_score)


def quick_scorer(scorer: Any, scoring: Any, estimator: Any) -> Callable[..., Any]:
    """Return the scorer, or for accuracy one that returns the same without sorting the labels."""
    is_plain = type(estimator).score is GaussianClassifier.score
    if scoring == "accuracy" or (scoring is None and is_plain):
        return _Accuracy(scorer)
    return scorer  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Accuracy:
    """Accuracy for arrays of labels. The scorer that it replaces handles everything else."""

    scorer: Any

    def __call__(self, model: Any, X: Any, y: Any = None, **params: Any) -> Any:
        weight = params.get("sample_weight")
        is_plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU" and len(y) > 0
        if not is_plain or not params.keys() <= {"sample_weight"} or not _has_weight(weight):
            return self.scorer(model, X, y, **params)
        answer = model.predict(X)
        if answer.dtype.kind != y.dtype.kind:
            return self.scorer(model, X, y, **params)
        return float(np.average(answer == y, weights=weight))


def _has_weight(weight: Any) -> bool:
    """Whether there are no weights, or weights that are numbers and not all 0."""
    if weight is None:
        return True
    is_plain = type(weight) is np.ndarray and weight.ndim == 1 and weight.dtype.kind in "iuf"
    return is_plain and bool(weight.sum() > 0)
