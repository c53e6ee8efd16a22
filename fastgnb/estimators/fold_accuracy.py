"""Accuracy of predicted labels, and of the labels that candidates give the test rows of a split.

Rows that are tested together often lie close together, since folds are made in the order of the
rows. Whole stretches of rows are labelled where they are then, with a few others between them, and
only the labels of tested rows count. A row's label does not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..input.label_types import positions
from ..input.labels import Labels, encode_labels
from ..input.plain import is_plain_table
from .base import GaussianClassifier
from .fold_stats import Indices, Task
from .strata import Split, is_plain_labels

__all__ = ["Accuracy", "FoldRows", "quick_scorer"]

# Rows that are not tested are labelled too where there are fewer of them side by side, and up to
# such a share of those that are tested. More stretches than this cost more than copies.
_GAP, _MOST_OTHERS, _MOST_STRETCHES = 256, 0.1, 64
# Candidates from which on it pays to label rows by all of them at once.
_FEWEST = 3
_UNKNOWN, _NOT_TESTED = -2, -3


def quick_scorer(scorer: Any, scoring: Any, estimator: Any) -> Callable[..., Any]:
    """Return the scorer, or for accuracy one that returns the same without sorting the labels."""
    is_plain = type(estimator).score is GaussianClassifier.score
    if scoring == "accuracy" or (scoring is None and is_plain):
        return Accuracy(scorer)
    return scorer  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Accuracy:
    """Accuracy for arrays of labels. The scorer that it replaces handles everything else."""

    scorer: Any

    def __call__(self, model: Any, X: Any, y: Any = None, **params: Any) -> Any:
        weight = params.get("sample_weight")
        if (
            not is_plain_labels(y)
            or not params.keys() <= {"sample_weight"}
            or not _has_weight(weight)
        ):
            return self.scorer(model, X, y, **params)
        answer = model.predict(X)
        if answer.dtype.kind != y.dtype.kind:
            return self.scorer(model, X, y, **params)
        right = answer == y
        if weight is None:
            return float(np.count_nonzero(right) / len(y))
        return float(np.average(right, weights=weight))


def _has_weight(weight: Any) -> bool:
    """Whether there are no weights, or weights that are numbers and not all 0."""
    if weight is None:
        return True
    is_plain = type(weight) is np.ndarray and weight.ndim == 1 and weight.dtype.kind in "iuf"
    return is_plain and bool(weight.sum() > 0)


class _Stretch(NamedTuple):
    """Rows (m, d) side by side, their labels (m,), and which are tested (m,); None: all are.

    coded: the classes of all labels, and the codes (m,) of these, where they are known.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    is_tested: NDArray[np.bool_] | None
    coded: tuple[NDArray[Any], NDArray[np.int32]] | None = None


class SharedLabels(NamedTuple):
    """Labels of a split's test rows by one of several candidates, stretch by stretch.

    stats: what the candidates are made of. true (m,): positions of the rows' classes, below 0 where
    no label is right. found (m,): positions of predicted ones, -1 where the candidate has to tell.
    """

    stats: Any
    true: list[NDArray[Any]]
    found: list[NDArray[Any]]


def _codes_of(one: _Stretch, classes: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Positions of labels among classes; below -1 where they are none, or not tested."""
    if one.coded is None:
        labels = encode_labels(one.y)
        known, codes = labels.classes, labels.codes
    else:
        known, codes = one.coded
    codes = positions(known, classes, absent=_UNKNOWN).astype(dtype)[codes]
    if one.is_tested is not None:
        codes[~one.is_tested] = _NOT_TESTED
    return codes


def _sharing(models: Sequence[GaussianClassifier]) -> list[dict[int, dict[str, Any]]]:
    """Options of the candidates that are labelled together, by their positions."""
    shared = models[0]._member.likelihood.shared
    groups: dict[str, dict[int, dict[str, Any]]] = {}
    for i, model in enumerate(models if shared else ()):
        try:
            options = model._checked_options()
        except Exception:
            continue  # `fit` will say why
        key = repr([options[name] for name in sorted(options.keys() - shared)])
        groups.setdefault(key, {})[i] = options
    return [each for each in groups.values() if len(each) >= _FEWEST]


class FoldRows:
    """The n test rows of a split in stretches, which so many candidates label."""

    def __init__(self, stretches: list[_Stretch], n: int, n_candidates: int) -> None:
        self.stretches, self.n, self.n_candidates = stretches, n, n_candidates

    @classmethod
    def of(
        cls, task: Task, pair: Any, n_candidates: int, labels: Labels | None = None
    ) -> FoldRows | None:
        """The test rows of a split; None where they are no plain arrays, or far apart.

        labels: those of all rows, where they are known.
        """
        X, y = task.X, task.y
        if type(task.scorer) is not Accuracy or task.score_params:
            return None
        if not (is_plain_table(X) and is_plain_labels(y) and X.flags.c_contiguous):
            return None
        if isinstance(pair, Split):
            first, is_tested, n = pair.stretch()
            if len(is_tested) <= (1.0 + _MOST_OTHERS) * n:
                at = slice(first, first + len(is_tested))
                coded = None if labels is None else (labels.classes, labels.codes[at])
                return cls([_Stretch(X[at], y[at], is_tested, coded)], n, n_candidates)
        return cls._of_positions(task, pair[1], n_candidates)

    @classmethod
    def _of_positions(cls, task: Task, at: Indices, n_candidates: int) -> FoldRows | None:
        X, y, bounds = task.X, task.y, _stretches(at)
        if bounds is None:
            return None
        stretches = []
        for start, stop in bounds:
            first, last = int(at[start]), int(at[stop - 1]) + 1
            is_tested = None
            if last - first > stop - start:
                is_tested = np.zeros(last - first, np.bool_)
                is_tested[at[start:stop] - first] = True
            stretches.append(_Stretch(X[first:last], y[first:last], is_tested))
        return cls(stretches, len(at), n_candidates)

    def accuracy(self, model: GaussianClassifier, shared: SharedLabels | None) -> float | None:
        """The accuracy of a candidate; None where the scorer has to tell."""
        if type(model).predict is not GaussianClassifier.predict:
            return None
        try:
            model = model._fitted()
            if shared is not None and model.stats_ is shared.stats:
                return self._shared_accuracy(model, shared)
            return self._accuracy(model)
        except Exception:
            return None

    def shared_labels(
        self, models: Sequence[GaussianClassifier], stats: Any
    ) -> list[SharedLabels | None]:
        """Labels by candidates of the same statistics, of those that are labelled together."""
        found: list[SharedLabels | None] = [None] * len(models)
        for options in _sharing(models) if stats is not None else ():
            likelihood = models[0]._member.likelihood
            try:
                label = likelihood.label_by_models(stats, list(options.values()))
                if label is not None:
                    labels = [label(one.X) for one in self.stretches]
                    dtype = labels[0].dtype
                    true = [_codes_of(one, stats.classes, dtype) for one in self.stretches]
                    for i, c in enumerate(options):
                        if all(part[i].max() < 0 for part in labels):
                            continue  # nothing is certain by this one
                        found[c] = SharedLabels(stats, true, [part[i] for part in labels])
            except Exception:
                continue  # each candidate will say why
        return found

    def _shared_accuracy(self, model: GaussianClassifier, shared: SharedLabels) -> float:
        n_right = 0
        for one, true, found in zip(self.stretches, shared.true, shared.found, strict=True):
            if found.min() < 0:
                open_rows = np.flatnonzero((found < 0) & (true != _NOT_TESTED))
                scores = model._current().score_rows(one.X[open_rows], skip=False)
                if scores.bad >= 0:
                    raise ValueError  # the scorer will report it
                found[open_rows] = scores.codes
            n_right += int(np.count_nonzero(found == true))
        return n_right / self.n

    def _accuracy(self, model: GaussianClassifier) -> float | None:
        n_right, classes = 0, np.asarray(model.classes_)
        for X, y, is_tested, _ in self.stretches:
            if classes.dtype.kind != y.dtype.kind:
                return None
            found = model._score(X, labels=True, calls=self.n_candidates).codes
            is_right = (found if classes.dtype == np.int64 else classes[found]) == y
            if is_tested is not None:
                is_right &= is_tested
            n_right += int(np.count_nonzero(is_right))
        return float(n_right / self.n)


def _stretches(at: Indices) -> list[tuple[int, int]] | None:
    """Bounds of parts of positions (n,) that lie close together, where these are few."""
    steps = np.diff(at)
    if not len(at) or (steps <= 0).any():
        return None
    cuts = np.flatnonzero(steps > _GAP)
    others = (at[-1] - at[0] + 1 - len(at)) - (steps[cuts] - 1).sum()
    if len(cuts) >= _MOST_STRETCHES or others > _MOST_OTHERS * len(at):
        return None
    bounds = [0, *(cuts + 1).tolist(), len(at)]
    return list(pairwise(bounds))
