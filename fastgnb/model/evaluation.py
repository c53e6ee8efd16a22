"""How good predictions are, in one pass over true labels, predicted codes and probabilities.

`Evaluator` adds batches. It keeps counts, exact in int64, and an exact sum of the batches' sums for
each of the two scores, so that the result is that of all rows at once. The numbers are those of
`sklearn.metrics` on the same rows.

Memory grows neither with the rows nor with the labels of the data. Of the labels that the model
does not know, the first UNSEEN have counts of their own, and the rest are counted together.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..input.label_types import exact_numbers

__all__ = ["MATRIX", "UNSEEN", "Evaluation", "Evaluator"]

UNSEEN = 100
"""Most labels unknown to the model that are counted one by one."""

MATRIX = 2000
"""Most classes of a model for which a confusion matrix is counted (32 MB)."""

_BLOCK = 1 << 18
"""Probabilities widened to float64 at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of predictions against true labels.

    The labels are those of the model and any others that were met.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,)
        Sorted labels.
    confusion : ndarray of shape (n_labels, n_labels) or None
        Numbers of rows, true labels down and predicted labels across. None if the model has more
        than 2,000 classes. Rows of labels that are not listed are not in it.
    hit : ndarray of shape (n_labels,)
        Rows of each label that are predicted correctly.
    support : ndarray of shape (n_labels,)
        Rows of each label.
    predicted : ndarray of shape (n_labels,)
        Rows that are predicted as each label.
    log_loss : float
        Mean of -log p(true label), with p clipped to [eps, 1 - eps] of its dtype.
    brier : float
        Mean squared error of the probabilities: summed over the labels, and halved for two, so that
        it is within [0, 1], as by ``sklearn.metrics.brier_score_loss``.
    n_unseen : int, default=0
        Rows of labels that the model does not know. They are wrong, whatever is predicted.
    n_unlisted : int, default=0
        Those of them whose labels are not among ``labels``, which lists the first 100 such labels.
    n_skipped : int, default=0
        Rows besides these that were left out because the model cannot take their values.
    n_null_labels : int, default=0
        Rows besides these that were left out because they have no label.

    Attributes
    ----------
    n_rows : int
        Rows of all labels.
    accuracy : float
        Share of the rows that are predicted correctly.
    tpr : ndarray of shape (n_labels,)
        True positive rate (recall, sensitivity) of each label against the rest; here and below, 0
        where it is undefined.
    fpr : ndarray of shape (n_labels,)
        False positive rate (1 - specificity).
    ppv : ndarray of shape (n_labels,)
        Positive predictive value (precision).
    npv : ndarray of shape (n_labels,)
        Negative predictive value.
    f1 : ndarray of shape (n_labels,)
        Harmonic mean of precision and recall.

    See Also
    --------
    fastgnb.files.evaluate : Compare predictions for the rows of files with their labels.

    Notes
    -----
    The numbers are those of ``sklearn.metrics`` on the same rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> found = files.evaluate(files.fit("rows.csv", target="y"), "rows.csv", target="y")
    >>> found.confusion.tolist()
    [[2, 0], [0, 2]]
    """

    labels: np.ndarray
    confusion: NDArray[np.int64] | None
    hit: NDArray[np.int64]
    support: NDArray[np.int64]
    predicted: NDArray[np.int64]
    log_loss: float
    brier: float
    n_unseen: int = 0
    n_unlisted: int = 0
    n_skipped: int = 0
    n_null_labels: int = 0

    @property
    def n_rows(self) -> int:
        """Rows of all labels."""
        return int(self.support.sum()) + self.n_unlisted

    @property
    def accuracy(self) -> float:
        """Share of the rows that are predicted correctly."""
        return int(self.hit.sum()) / self.n_rows

    @property
    def tpr(self) -> NDArray[np.float64]:
        """True positive rate of each label: recall, sensitivity."""
        return _ratio(self.hit, self.support)

    @property
    def fpr(self) -> NDArray[np.float64]:
        """False positive rate of each label: 1 - specificity."""
        return _ratio(self.predicted - self.hit, self.n_rows - self.support)

    @property
    def ppv(self) -> NDArray[np.float64]:
        """Positive predictive value of each label: precision."""
        return _ratio(self.hit, self.predicted)

    @property
    def npv(self) -> NDArray[np.float64]:
        """Negative predictive value of each label."""
        neither = self.n_rows - self.support - self.predicted + self.hit
        return _ratio(neither, self.n_rows - self.predicted)

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall of each label."""
        return _ratio(2 * self.hit, self.support + self.predicted)

    def as_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON.

        Returns
        -------
        dict
            Every number, with the names that ``fastgnb evaluate --json`` writes.
        """
        rates = ("support", "tpr", "fpr", "ppv", "npv", "f1")
        columns = {name: getattr(self, name).tolist() for name in rates}
        return {
            "n_rows": self.n_rows,
            "accuracy": self.accuracy,
            "log_loss": self.log_loss,
            "brier_score": self.brier,
            "labels": self.labels.tolist(),
            "confusion_matrix": None if self.confusion is None else self.confusion.tolist(),
            "per_class": [
                {"label": label} | {name: columns[name][i] for name in rates}
                for i, label in enumerate(self.labels.tolist())
            ],
            "n_unseen_rows": self.n_unseen,
            "n_unlisted_rows": self.n_unlisted,
            "n_skipped_rows": self.n_skipped,
            "n_null_labels": self.n_null_labels,
        }


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """part / whole, and 0 where there is nothing to divide by."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0))


class Evaluator:
    """Adds up batches of predictions of a model with these `classes` (k,), sorted.

    Cost of a batch: O(n k). Memory: O(k), a matrix (k, k) if k is at most MATRIX, and a fixed
    block.
    """

    def __init__(self, classes: np.ndarray) -> None:
        self._classes = np.asarray(classes)
        k = len(self._classes)
        self._confusion = np.zeros((k, k), np.int64) if k <= MATRIX else None
        self._hit, self._support, self._predicted = np.zeros((3, k), np.int64)
        self._places: dict[Any, int] = {}  # unseen label -> its row of `_unseen`
        self._unseen = np.zeros((UNSEEN + 1, k), np.int64)  # the last one for all others
        self._index = {label: i for i, label in enumerate(self._classes.tolist())}
        self._losses: list[float] = []
        self._squares: list[float] = []

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self._predicted.sum())

    @property
    def n_known(self) -> int:
        """Rows so far whose label the model knows."""
        return int(self._support.sum())

    @property
    def unseen(self) -> list[Any]:
        """The first labels met that the model does not know."""
        return list(self._places)

    def update(self, y: np.ndarray, codes: np.ndarray, proba: np.ndarray) -> None:
        """Add rows: true labels (n,), predicted codes (n,), probabilities (n, k) in float.

        A label that the model does not know counts as wrong, with probability zero.
        """
        true, k = self._encode(y), len(self._classes)
        known = true >= 0
        pairs = true[known], codes[known]
        if self._confusion is not None:
            np.add.at(self._confusion, pairs, 1)
        self._hit += np.bincount(pairs[0][pairs[0] == pairs[1]], minlength=k)
        self._support += np.bincount(pairs[0], minlength=k)
        self._predicted += np.bincount(codes, minlength=k)
        places = [self._place(label) for label in y[~known].tolist()]
        np.add.at(self._unseen, (np.array(places, np.int64), codes[~known]), 1)
        _grow(self._losses, _loss(true, proba))
        _grow(self._squares, math.fsum(_squares(true, proba)))

    def _place(self, label: Any) -> int:
        """The row of `_unseen` for a label that the model does not know."""
        if len(self._places) < UNSEEN:
            return self._places.setdefault(label, len(self._places))
        return self._places.get(label, UNSEEN)

    def _encode(self, y: np.ndarray) -> np.ndarray:
        """Positions of labels among the classes; -1 for labels that are not there."""
        kind = self._classes.dtype.kind
        if kind not in "iufb" or y.dtype.kind != kind:  # NumPy would round whole numbers to floats
            index = self._index
            return np.fromiter((index.get(label, -1) for label in y.tolist()), np.int64, len(y))
        at = np.searchsorted(self._classes, y).clip(max=len(self._classes) - 1)
        return np.where(self._classes[at] == y, at, -1)

    def result(self) -> Evaluation:
        """Return the scores so far. Raises ValueError before the first row."""
        rows = self.n_rows
        if rows == 0:
            raise ValueError("no rows to evaluate, expected at least one")
        labels = self._labels()
        place = {label: i for i, label in enumerate(labels.tolist())}
        ours = np.array([place[label] for label in self._classes.tolist()], np.int64)
        others = np.array([place[label] for label in self._places], np.int64)
        unseen = self._unseen[: len(others)]
        hit, support, predicted = np.zeros((3, len(labels)), np.int64)
        hit[ours], support[ours], predicted[ours] = self._hit, self._support, self._predicted
        support[others] = unseen.sum(axis=1)
        confusion = None
        if self._confusion is not None:
            confusion = np.zeros((len(labels), len(labels)), np.int64)
            confusion[np.ix_(ours, ours)] = self._confusion
            confusion[np.ix_(others, ours)] = unseen
        return Evaluation(
            labels, confusion, hit, support, predicted,
            log_loss=math.fsum(self._losses) / rows,
            brier=(0.5 if len(labels) < 3 else 1.0) * math.fsum(self._squares) / rows,
            n_unseen=int(self._unseen.sum()), n_unlisted=int(self._unseen[UNSEEN].sum()),
        )  # fmt: skip

    def _labels(self) -> np.ndarray:
        """The union of the classes and of other labels, sorted, in a type that holds both.

        Numbers that no type holds exactly, such as 2^53 + 1 and 0.5, are objects.
        """
        if not self._places:
            return self._classes
        every = sorted([*self._classes.tolist(), *self._places])
        numbers = None if self._classes.dtype.kind in "OUT" else exact_numbers(every)
        return np.array(every, object) if numbers is None else numbers


def _grow(partials: list[float], value: float) -> None:
    """Add a number to a sum that is held exactly, as a few floats that do not overlap.

    `math.fsum` does the same to numbers that are all available. J. R. Shewchuk, "Adaptive Precision
    Floating-Point Arithmetic", 1997.
    """
    kept = 0
    for partial in partials:
        large, small = (value, partial) if abs(value) >= abs(partial) else (partial, value)
        value = large + small
        low = small - (value - large)
        if low:
            partials[kept] = low
            kept += 1
    partials[kept:] = [value]


def _loss(true: np.ndarray, proba: np.ndarray) -> float:
    """Sum of -log p(true), clipped as scikit-learn does; p is 0 for labels of code -1."""
    eps = np.finfo(proba.dtype).eps
    p = np.where(true >= 0, proba[np.arange(len(true)), true], 0)
    return float(-np.log(np.clip(p, eps, 1 - eps).astype(np.float64)).sum())


def _squares(true: np.ndarray, proba: np.ndarray) -> Iterator[float]:
    """Sums of (p - [true])^2, a block of rows at a time.

    Written as differences: expanding the square would cancel where p is close to 1.
    """
    rows = max(1, _BLOCK // proba.shape[1])
    for start in range(0, len(true), rows):
        part = true[start : start + rows]
        error = proba[start : start + rows].astype(np.float64)
        known = np.flatnonzero(part >= 0)
        error[known, part[known]] -= 1.0
        yield float(np.square(error, out=error).sum()) + (len(part) - len(known))
