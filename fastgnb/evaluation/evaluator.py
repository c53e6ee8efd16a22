"""Adds up batches of scored rows with their labels, and gives their `Evaluation`.

All that is added merges: `a + b` holds the rows of both. Counts are exact. Sums of probabilities,
losses and weights have two words each, so that pieces in any order agree to 1e-13.

Rows are kept, as log odds, while there are few: then the order of rows is known exactly. Beyond
that they go to histograms of the log odds, whose size is fixed. Memory grows neither with the rows
nor with the labels of the data. Of labels that the model does not know, the first UNSEEN have
counts of their own, and the rest are counted together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..input.label_types import exact_numbers
from ..kernels.evaluate.bins import Bins
from ..kernels.evaluate.cells import CutOffs
from ..kernels.evaluate.tally import Rows, Tally, add_rows, new_bins
from .cells import all_thresholds, logit
from .curves import Curves, ExactCurves
from .evaluation import Evaluation
from .histograms import bins_of_no_rows, curves_of, merge_bins
from .sums import Sums
from .unseen import UNSEEN, UnseenLabels

__all__ = ["EXACT_ROWS", "MATRIX", "Evaluator"]

EXACT_ROWS = 10_000_000
"""Most rows that are kept, by default."""

MOST_NUMBERS = 1 << 27
"""Most log odds that are kept (1 GB)."""

MATRIX = 2000
"""Most classes of a model for which a confusion matrix is counted (32 MB)."""

_CHUNK = 1 << 17
"""Log odds that stay in the cache while they are added, class by class."""

_LEAST_ROWS = 1024


class Evaluator:
    """Adds up batches of predictions of a model with these `classes` (k,), sorted.

    thresholds are cut-offs besides 0.01, 0.02, ..., 0.99. exact_rows is the most rows that are
    kept. Cost of a batch: about 12 ns for each row and class. Memory: log odds of rows that are
    kept, or 128 MB for bins, and O(k), with a matrix (k, k) if k is at most MATRIX.
    """

    def __init__(
        self,
        classes: NDArray[Any],
        *,
        thresholds: Iterable[float] | None = None,
        exact_rows: int = EXACT_ROWS,
    ) -> None:
        self._classes = np.asarray(classes)
        k = len(self._classes)
        self._asked = () if thresholds is None else tuple(np.ravel(list(thresholds)).tolist())
        self._thresholds = all_thresholds(self._asked)
        self._cuts = CutOffs.of(logit(self._thresholds))
        n_cells = len(self._thresholds) + 1
        self._sums = Sums.of_no_rows(k, n_cells, has_confusion=k <= MATRIX)
        self._unseen = UnseenLabels(k)
        self._exact_rows = min(exact_rows, MOST_NUMBERS // k)
        self._kept: list[Rows] | None = [] if self._exact_rows else None
        self._bins = new_bins(k, 2, 0) if self._exact_rows else bins_of_no_rows(k)
        self._index = {label: i for i, label in enumerate(self._classes.tolist())}
        self._is_consecutive = self._classes.dtype.kind in "iu" and (
            int(self._classes[-1]) - int(self._classes[0]) == k - 1
        )
        self._n_rows = self._n_known = 0
        self._is_weighted = False

    @property
    def n_rows(self) -> int:
        """Rows so far, without those of weight 0."""
        return self._n_rows

    @property
    def n_known(self) -> int:
        """Those of them whose label the model knows."""
        return self._n_known

    @property
    def unseen(self) -> list[Any]:
        """The first labels met that the model does not know."""
        return list(self._unseen.places)

    def update(
        self,
        y: NDArray[Any],
        codes: NDArray[Any],
        log_odds: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
    ) -> None:
        """Add rows: true labels (n,), predicted codes (n,), log odds (n, k), weights (n,) or None.

        A label that the model does not know counts as wrong, with probability zero. Rows of weight
        0 are left out. Log odds that are kept are not copied: the caller does not change them.
        """
        if weight is not None:
            self._is_weighted = True
            if not weight.all():
                y, codes, log_odds, weight = (v[weight > 0] for v in (y, codes, log_odds, weight))
        w = np.empty(0) if weight is None else weight.astype(np.float64, copy=False)
        rows = Rows(log_odds, self._encode(y), np.asarray(codes, np.int64), w)
        self._check_shapes(rows)
        known = rows.true >= 0
        self._keep(rows)
        _add(rows, Tally(True, self._bins, self._cuts, *vars(self._sums).values()))
        self._n_rows += len(known)
        self._n_known += int(known.sum())
        if not known.all():
            w = w[~known] if len(w) else w
            self._unseen.add(y[~known].tolist(), rows.predicted[~known], w)

    def _check_shapes(self, rows: Rows) -> None:
        """Raise ValueError where a kernel would read beyond arrays."""
        n, k = len(rows.true), len(self._classes)
        shapes = rows.log_odds.shape, rows.predicted.shape, rows.weight.shape
        if shapes not in (((n, k), (n,), (n,)), ((n, k), (n,), (0,))):
            raise ValueError(f"Expected {n} rows of {k} classes, got shapes {shapes}.")

    def _keep(self, rows: Rows) -> None:
        """Keep rows while there are few enough; else put those that were kept into bins."""
        if self._kept is None:
            return
        if self._n_rows + len(rows.true) <= self._exact_rows:
            self._kept.append(rows)
        else:
            self._bins, self._kept = self._as_bins(), None

    def _as_bins(self) -> Bins:
        """Return bins of the rows so far."""
        if self._kept is None:
            return self._bins
        bins = bins_of_no_rows(len(self._classes))
        for rows in self._kept:
            _add(rows, Tally(False, bins, self._cuts, *vars(self._sums).values()))
        return bins

    def _encode(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Positions of labels among the classes; -1 for labels that are not there."""
        kind = self._classes.dtype.kind
        if kind not in "iufb" or y.dtype.kind != kind:  # NumPy would round whole numbers to floats
            index = self._index
            return np.fromiter((index.get(label, -1) for label in y.tolist()), np.int64, len(y))
        low, high = self._classes[0], self._classes[-1]
        if self._is_consecutive and len(y) and low <= y.min() and y.max() <= high:
            wide = np.uint64 if kind == "u" else np.int64
            return np.asarray(np.subtract(y, wide(low), dtype=wide).astype(np.int64))
        at = np.searchsorted(self._classes, y).clip(max=len(self._classes) - 1)
        return np.where(self._classes[at] == y, at, -1)

    def __add__(self, other: Evaluator) -> Evaluator:
        """Return the rows of both, as if they had come one after the other.

        Raises ValueError if classes or thresholds differ.
        """
        if not isinstance(other, Evaluator):
            return NotImplemented
        self._check_same(other)
        both = Evaluator(self._classes, thresholds=self._asked, exact_rows=self._exact_rows)
        both._sums = self._sums + other._sums
        both._unseen = self._unseen + other._unseen
        both._n_rows = self._n_rows + other._n_rows
        both._n_known = self._n_known + other._n_known
        both._is_weighted = self._is_weighted or other._is_weighted
        if self._kept is not None and other._kept is not None and both._n_rows <= both._exact_rows:
            both._kept = [*self._kept, *other._kept]
        else:
            both._kept, both._bins = None, merge_bins(self._as_bins(), other._as_bins())
        return both

    def _check_same(self, other: Evaluator) -> None:
        """Raise ValueError for another model's evaluator, or one with other cut-offs."""
        mine, its = self._classes, other._classes
        if mine.dtype.kind != its.dtype.kind or mine.tolist() != its.tolist():
            raise ValueError(f"Expected an evaluator of the classes {mine}, got {its}.")
        if not np.array_equal(self._thresholds, other._thresholds):
            raise ValueError(
                f"Expected an evaluator with the thresholds {self._asked}, got {other._asked}."
            )

    def result(self) -> Evaluation:
        """Return the scores so far. Raises ValueError without rows, and for huge weights."""
        if self.n_rows == 0:
            raise ValueError("no rows to evaluate, expected at least one of weight above 0")
        self._sums.check_overflow()
        sums, labels = self._sums, self._labels()
        hit, support, predicted, confusion = self._by_label(labels)
        unseen = float(self._unseen.weight.sum())
        half = 0.5 if len(labels) < 3 else 1.0
        return Evaluation(
            labels, confusion, hit, support, predicted,
            log_loss=float(sums.by_row("loss")[0] / sums.weight),
            brier=half * math.fsum((sums.squares, unseen)) / sums.weight,
            n_unseen=int(self._unseen.n_rows.sum()), n_unlisted=int(self._unseen.n_rows[UNSEEN]),
            total_rows=self._n_rows if self._is_weighted else None,
            total_weight=sums.weight if self._is_weighted else None,
            curves=self._curves(), cells=sums.by_cell(self._thresholds),
            rank_weight=sums.by_row("rank"), thresholds=self._asked,
        )  # fmt: skip

    def _by_label(self, labels: NDArray[Any]) -> list[Any]:
        """Hits, support and predictions of labels, and their confusion or None."""
        place = {label: i for i, label in enumerate(labels.tolist())}
        ours = np.array([place[label] for label in self._classes.tolist()], np.int64)
        others = np.array([place[label] for label in self._unseen.places], np.int64)
        unseen = self._unseen.weight[: len(others)]
        hit, support, predicted = np.zeros((3, len(labels)))
        hit[ours], predicted[ours] = self._sums.by_row("hit"), self._sums.by_row("predicted")
        support[ours], support[others] = self._sums.support, unseen.sum(axis=1)
        confusion = None
        if len(self._classes) <= MATRIX:
            confusion = np.zeros((len(labels), len(labels)))
            known = self._sums.by_row("confusion").reshape(len(ours), len(ours))
            confusion[np.ix_(ours, ours)] = known
            confusion[np.ix_(others, ours)] = unseen
        found = [hit, support, predicted, confusion]
        if self._is_weighted:
            return found
        return [None if each is None else each.astype(np.int64) for each in found]

    def _curves(self) -> Curves:
        if self._kept is None:
            return curves_of(self._classes, self._bins)
        if len(self._kept) > 1:
            self._kept = [self._joined(self._kept)]
        rows = self._kept[0]
        weight = rows.weight if self._is_weighted else None
        return ExactCurves(self._classes, rows.log_odds, rows.true, weight)

    def _joined(self, parts: list[Rows]) -> Rows:
        """All rows that are kept in one, with weights if any had weights."""
        if self._is_weighted:
            parts = [
                each if len(each.weight) else each._replace(weight=np.ones(len(each.true)))
                for each in parts
            ]
        return Rows(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _labels(self) -> NDArray[Any]:
        """The union of the classes and of other labels, sorted, in a type that holds both.

        Numbers that no type holds exactly, such as 2^53 + 1 and 0.5, are objects.
        """
        if not self._unseen.places:
            return self._classes
        every = sorted([*self._classes.tolist(), *self._unseen.places])
        numbers = None if self._classes.dtype.kind in "OUT" else exact_numbers(every)
        return np.array(every, object) if numbers is None else numbers


def _add(rows: Rows, tally: Tally) -> None:
    """Add rows a chunk at a time, each of which is read once for every class."""
    n, k = rows.log_odds.shape
    step = max(_LEAST_ROWS, _CHUNK // k)
    for start in range(0, n, step):
        part: list[Any] = [each[start : start + step] for each in rows]
        add_rows(Rows(*part), tally)
