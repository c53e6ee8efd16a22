"""Stratified folds of all rows at once, as scikit-learn's ``StratifiedKFold`` makes them.

scikit-learn sorts the labels three times, and makes a list of training rows for each fold, which
statistics of folds do not need. Here labels are encoded once, and the rows of all folds are learned
in one pass, as if each fold had classes of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..input.labels import Labels, encode_labels
from ..kernels.learn.encode import EncodedLabels
from ..stats.class_stats import ClassStats
from .base import GaussianClassifier

__all__ = ["Partition", "Split", "folds_at_once", "is_plain_labels", "stratified"]

Indices = NDArray[np.intp]

# Classes of all folds together up to which sums of that many are as fast as those of a fold.
_MANY = 512


class Split:
    """The rows of one split as a pair: positions of training rows, made when asked for, and of
    test rows."""

    def __init__(self, fold_of: NDArray[np.integer[Any]], i: int) -> None:
        self._fold_of, self._i = fold_of, i

    @cached_property
    def _train(self) -> Indices:
        return np.flatnonzero(self._fold_of != self._i)

    @cached_property
    def _test(self) -> Indices:
        return np.flatnonzero(self._fold_of == self._i)

    def stretch(self) -> tuple[int, NDArray[np.bool_], int]:
        """The first test row, which rows are test rows from there to the last one, and how many."""
        is_test = self._fold_of == self._i
        first, last = int(is_test.argmax()), len(is_test) - int(is_test[::-1].argmax())
        return first, is_test[first:last], int(np.count_nonzero(is_test))

    def __getitem__(self, at: int) -> Indices:
        if at not in (0, 1):
            raise IndexError(at)
        return self._test if at else self._train


class Partition(list[Split]):
    """Splits that test each row once: `fold_of` (n,) says which one does.

    labels: those that the splits were made from, y, as codes.
    """

    def __init__(
        self, fold_of: NDArray[np.integer[Any]], n_splits: int, y: NDArray[Any], labels: Labels
    ) -> None:
        super().__init__(Split(fold_of, i) for i in range(n_splits))
        self.fold_of, self.y, self.labels = fold_of, y, labels


def is_plain_labels(y: Any) -> bool:
    """Whether labels are an array of integers, booleans or text."""
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU" and len(y) > 0


def stratified(cv: Any, y: Any, params: Mapping[str, Any]) -> Partition | None:
    """The splits that scikit-learn makes of a number of folds or ``StratifiedKFold``.

    None where these are of another kind, shuffled, warn, or raise.
    """
    n_splits = _number_of_folds(cv)
    if n_splits is None or not is_plain_labels(y) or any(v is not None for v in params.values()):
        return None
    labels = encode_labels(y)
    codes = labels.codes
    count = np.bincount(codes)
    k, n = len(count), len(codes)
    if count.min() < n_splits or n_splits > np.iinfo(np.int16).max:
        return None
    # Classes are dealt out in the order in which they first appear.
    rank = _first_places(codes, k).argsort()
    start = np.empty(k, np.intp)
    start[rank] = np.cumsum(count[rank]) - count[rank]
    fold = np.arange(n_splits)
    # How many of the positions below `at` are the i-th of a round of all folds.
    dealt = [(at[:, None] - fold + n_splits - 1) // n_splits for at in (start, start + count)]
    folds = np.tile(fold.astype(np.int16), k).repeat((dealt[1] - dealt[0]).ravel())
    order = codes.astype(np.uint16 if k <= 1 << 16 else np.int32).argsort(kind="stable")
    fold_of = np.empty(n, np.int16)
    fold_of[order] = folds
    return Partition(fold_of, n_splits, y, Labels(labels.classes, EncodedLabels.from_codes(codes)))


def _first_places(codes: NDArray[np.int32], k: int) -> Indices:
    """Where each of k codes comes first (k,), by a look at as many of them as it takes."""
    n = 64 * k
    while True:
        first = np.full(k, -1, np.intp)
        head = codes[:n]
        first[head[::-1]] = np.arange(len(head))[::-1]
        if (first >= 0).all():
            return first
        n *= 8


def _number_of_folds(cv: Any) -> int | None:
    if type(cv) is StratifiedKFold:
        return None if cv.shuffle else int(cv.n_splits)
    if cv is None:
        return 5
    return cv if type(cv) is int and cv > 1 else None


def folds_at_once(
    model: GaussianClassifier, X: Any, y: Any, weight: Any, folds: Partition
) -> list[ClassStats] | None:
    """The statistics of each fold, in one read of the rows; None where that does not pay."""
    own = clone(model)
    rows, labels = own._check_rows_labels(X, y, first=True)
    found = folds.labels if labels is folds.y else encode_labels(labels)
    k, f = len(found.classes), len(folds)
    if k * f > _MANY or own._stats_class() is not ClassStats:
        return None
    codes = found.codes + (k * folds.fold_of).astype(np.int32)
    both = Labels(np.arange(k * f), EncodedLabels.from_codes(codes))
    stats: ClassStats = own._stats_of(rows, both, weight, first=True)
    arrays = "count", "mean", "variance", "mean_lo", "feature_count", "max_scatter", "covariance"
    fields = {name: getattr(stats, name) for name in arrays if getattr(stats, name) is not None}
    return [
        replace(
            stats, classes=found.classes,
            **{name: value[i * k : (i + 1) * k] for name, value in fields.items()},
        )
        for i in range(f)
    ]  # fmt: skip
