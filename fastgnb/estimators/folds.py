"""Scores of candidates on every split, from statistics of folds that are learned once.

In: an estimator, candidates, rows and splits. Out: one dict for each candidate and split, from
which scikit-learn's searches make their tables.

See `fold_stats` for where these come from.

`_score` and `_num_samples` are private to scikit-learn, and the same from 1.6 to 1.9.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection._validation import _score
from sklearn.utils.validation import _num_samples

from ..input.labels import Labels
from .base import GaussianClassifier
from .fold_accuracy import FoldRows, SharedLabels
from .fold_stats import Indices, Shared, Task, fit, learned
from .strata import Partition


class Fold:
    """The rows of one split, which so many candidates score, indexed when they are first used."""

    def __init__(
        self, task: Task, pair: Any, n_candidates: int, labels: Labels | None = None
    ) -> None:
        self.task, self.pair, self.n_candidates, self.labels = task, pair, n_candidates, labels

    @property
    def train_at(self) -> Indices:
        return self.pair[0]  # type: ignore[no-any-return]

    @property
    def test_at(self) -> Indices:
        return self.pair[1]  # type: ignore[no-any-return]

    @cached_property
    def train(self) -> tuple[Any, ...]:
        return self.task.rows(self.train_at)

    @cached_property
    def test(self) -> tuple[Any, ...]:
        return self.task.rows(self.test_at)

    @cached_property
    def tested(self) -> FoldRows | None:
        """The test rows where they are, if accuracy alone is wanted of them."""
        return FoldRows.of(self.task, self.pair, self.n_candidates, self.labels)

    def shared_labels(
        self, models: Sequence[GaussianClassifier], stats: Any
    ) -> list[tuple[SharedLabels | None, float]]:
        """The test rows' labels by candidates that are labelled together, and their seconds."""
        start = time.perf_counter()
        if self.tested is None:
            return [(None, 0.0)] * len(models)
        labels = self.tested.shared_labels(models, stats)
        seconds = (time.perf_counter() - start) / len(models)
        return [(found, seconds if found else 0.0) for found in labels]

    @cached_property
    def fit_params(self) -> dict[str, Any]:
        return self.task.params(self.task.fit_params, self.train_at)

    @cached_property
    def score_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Keywords of the scorer for the test rows and for the training rows."""
        given = self.task.score_params
        if not given:
            return {}, {}
        return self.task.params(given, self.test_at), self.task.params(given, self.train_at)


def evaluate(
    estimator: GaussianClassifier,
    candidates: Sequence[Mapping[str, Any]],
    splits: Sequence[Any],
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
    pairs: Any = splits
    if not isinstance(splits, Partition):
        rows = np.arange(_num_samples(task.X))
        pairs = [(rows[train], rows[test]) for train, test in splits]
    models = [candidate_of(estimator, params) for params in candidates]
    groups = grouped(models)
    by_group = [learned(models[group[0]], task, pairs) for group in groups]
    labels = pairs.labels if isinstance(pairs, Partition) and pairs.y is task.y else None
    results: dict[tuple[int, int], dict[str, Any]] = {}
    for i, (pair, *shared) in enumerate(zip(pairs, *by_group, strict=True)):
        fold = Fold(task, pair, len(models), labels)
        for group, (stats, seconds) in zip(groups, shared, strict=True):
            one = Shared(stats, seconds / len(group))
            predicted = fold.shared_labels([models[c] for c in group], stats)
            for c, (found, labelling) in zip(group, predicted, strict=True):
                # A model that is not returned is fitted again to the next split.
                model = models[c]
                if task.return_estimator:
                    model = candidate_of(estimator, candidates[c])
                results[c, i] = _result(model, one, fold, found, labelling)
    return [results[c, i] for c in range(len(models)) for i in range(len(pairs))]


def candidate_of(estimator: GaussianClassifier, params: Mapping[str, Any]) -> GaussianClassifier:
    """A new estimator with other parameters, which are copied too."""
    candidate: GaussianClassifier = clone(estimator)
    candidate.set_params(**clone(dict(params), safe=False))
    return candidate


def grouped(models: Sequence[GaussianClassifier]) -> list[list[int]]:
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


# --- candidates --------------------------------------------------------------------------------


def _result(
    model: GaussianClassifier,
    shared: Shared,
    fold: Fold,
    labels: SharedLabels | None,
    labelling: float,
) -> dict[str, Any]:
    """Fit one candidate for one split and score it, as scikit-learn's `_fit_and_score` does.

    labels: those that it has already, which took so many seconds.
    """
    task = fold.task
    start = time.perf_counter()
    try:
        fit(model, shared.stats, task, fold.pair)
        error = None
    except Exception:
        if task.error_score == "raise":
            raise
        error = format_exc()
    middle = time.perf_counter()
    result: dict[str, Any] = {"fit_error": error, "fit_time": shared.seconds + middle - start}
    if error is None:
        result["test_scores"] = _test_scores(model, fold, labels)
        result["score_time"] = labelling + time.perf_counter() - middle
    else:
        result["test_scores"], result["score_time"] = _failed(task), 0.0
    if task.return_train_score:
        how = fold.score_params[1]
        train = _failed(task) if error else _scores(model, fold.train, how, task)
        result["train_scores"] = train
    if task.return_estimator:
        result["estimator"] = model
    return result


def _test_scores(model: GaussianClassifier, fold: Fold, labels: SharedLabels | None) -> Any:
    accuracy = None if fold.tested is None else fold.tested.accuracy(model, labels)
    if accuracy is not None:
        return accuracy
    return _scores(model, fold.test, fold.score_params[0], fold.task)


def _scores(
    model: GaussianClassifier, rows: tuple[Any, ...], how: dict[str, Any], task: Task
) -> Any:
    X, y = rows if len(rows) == 2 else (rows[0], None)
    return _score(model, X, y, task.scorer, how, task.error_score)


def _failed(task: Task) -> Any:
    """The scores of a candidate that could not be fitted."""
    names = getattr(task.scorer, "_scorers", None)
    return task.error_score if names is None else dict.fromkeys(names, task.error_score)
