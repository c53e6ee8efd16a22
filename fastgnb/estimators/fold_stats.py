"""Statistics of the training rows of splits, from statistics of folds that are learned once.

The statistics of a split's training rows are the sum of those of the other folds. Where that is
not possible (an error, statistics that do not add, a subclass with its own `fit`) there are none,
and the estimator is fitted to the rows of each split, so that results and errors are those of
`fit`.

`_check_method_params` and `_num_samples` are private to scikit-learn, and the same from 1.6 to 1.9.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, _num_samples

from .base import GaussianClassifier
from .strata import Partition, folds_at_once

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


class Shared(NamedTuple):
    """Statistics of a split's training rows, None where they cannot be shared, and the seconds
    that learning them took."""

    stats: Any
    seconds: float


def is_usual(model: GaussianClassifier, task: Task) -> bool:
    """Whether an estimator learns what `gathered` does."""
    has_labels = type(model).fit is GaussianClassifier.fit and task.y is not None
    return has_labels and task.fit_params.keys() <= {"sample_weight"}


def learned(
    model: GaussianClassifier, task: Task, pairs: Sequence[tuple[Indices, Indices]]
) -> Iterator[Shared]:
    """The statistics of each split's training rows."""
    if not is_usual(model, task):
        yield from (Shared(None, 0.0) for _ in pairs)
        return
    model = decided(model, task.X)
    if isinstance(pairs, Partition):
        yield from _learned_at_once(model, task, pairs)
        return
    for run in _runs(pairs, _num_samples(task.X)):
        start = time.perf_counter()
        if len(run) == 1:
            stats = gathered(model, task, run[0][0])
            yield Shared(stats, time.perf_counter() - start)
            continue
        folds = [gathered(model, task, test) for _, test in run]
        seconds = (time.perf_counter() - start) / len(run)
        sums = other_folds(folds, 0)
        for _ in run:
            start = time.perf_counter()
            stats = next(sums)
            yield Shared(stats, seconds + time.perf_counter() - start)


def _learned_at_once(model: GaussianClassifier, task: Task, pairs: Partition) -> Iterator[Shared]:
    start = time.perf_counter()
    folds: Sequence[Any] | None
    try:
        weight = task.fit_params.get("sample_weight")
        folds = folds_at_once(model, task.X, task.y, weight, pairs)
    except Exception:
        folds = None
    if folds is None:
        folds = [gathered(model, task, pair[1]) for pair in pairs]
    seconds = (time.perf_counter() - start) / len(pairs)
    for stats in other_folds(folds, 0):
        yield Shared(stats, seconds)


def decided(model: GaussianClassifier, X: Any) -> GaussianClassifier:
    """Return the estimator with "auto" decided by all rows, instead of those of a fold."""
    try:
        return model._resolved(X)
    except (TypeError, ValueError):
        return model  # `fit` will say why


def gathered(model: GaussianClassifier, task: Task, at: Indices) -> Any:
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


def other_folds(folds: Sequence[Any], outside: Any) -> Iterator[Any]:
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
        yield from other_folds(part, _plus(outside, after[i]) if i < len(after) else outside)
        outside = _plus(outside, sums[i])


def _plus(a: Any, b: Any) -> Any:
    """Return a + b, or None if one of them is None or they cannot be added."""
    if a is None or b is None:
        return None
    try:
        return a + b
    except Exception:
        return None


def fitted_to_splits(
    model: GaussianClassifier, task: Task, pairs: Sequence[tuple[Indices, Indices]]
) -> Iterator[GaussianClassifier]:
    """A model of each split's training rows."""
    for pair, shared in zip(pairs, learned(model, task, pairs), strict=True):
        fitted: GaussianClassifier = clone(model)
        fit(fitted, shared.stats, task, pair)
        yield fitted


def fit(model: GaussianClassifier, stats: Any, task: Task, pair: Any) -> None:
    """Fit from statistics, or from rows if there are none or the model refuses them."""
    if stats is not None:
        try:
            model.fit_stats(stats)
            return
        except Exception:
            pass  # `fit` raises the error that scikit-learn would report
    rows, params = task.rows(pair[0]), task.params(task.fit_params, pair[0])
    resolved = decided(model, task.X)
    if resolved is model:
        model.fit(*rows, **params)
        return
    model.set_params(categorical_features=resolved.get_params()["categorical_features"])
    try:
        model.fit(*rows, **params)
    finally:
        model.set_params(categorical_features="auto")
