"""How good predictions are, from one pass over (true labels, codes, probabilities).

`Evaluator` adds batches; what it keeps is the confusion matrix, exact in int64, and one
sum a batch for each of the two scores, so that the result is that of all rows at once.
The numbers are those of `sklearn.metrics` on the same rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Evaluation", "Evaluator"]

_BLOCK = 1 << 18
"""Probabilities widened to float64 at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores over n rows and k labels, those of the model and any others that were met.

    Attributes
    ----------
    labels : ndarray (k,), sorted.
    confusion : ndarray (k, k) int64, rows true and columns predicted.
    accuracy : share of rows predicted right.
    log_loss : mean of -log p(true label), p clipped to [eps, 1 - eps] of its dtype.
    brier : mean squared error of the probabilities: summed over the labels, halved for
        two (so that it lies in [0, 1]), as `sklearn.metrics.brier_score_loss` does.
    support, predicted : ndarray (k,) int64, rows of each label, rows predicted as it.
    tpr, fpr, ppv, npv, f1 : ndarray (k,), each label against the rest; 0 where undefined.
    """

    labels: np.ndarray
    confusion: NDArray[np.int64]
    log_loss: float
    brier: float

    @property
    def n_rows(self) -> int:
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        return int(self._hit.sum()) / self.n_rows

    @property
    def _hit(self) -> NDArray[np.int64]:
        return self.confusion.diagonal()

    @property
    def support(self) -> NDArray[np.int64]:
        return np.asarray(self.confusion.sum(axis=1))

    @property
    def predicted(self) -> NDArray[np.int64]:
        return np.asarray(self.confusion.sum(axis=0))

    @property
    def tpr(self) -> NDArray[np.float64]:
        """True positive rate: recall, sensitivity."""
        return _ratio(self._hit, self.support)

    @property
    def fpr(self) -> NDArray[np.float64]:
        """False positive rate: 1 - specificity."""
        return _ratio(self.predicted - self._hit, self.n_rows - self.support)

    @property
    def ppv(self) -> NDArray[np.float64]:
        """Positive predictive value: precision."""
        return _ratio(self._hit, self.predicted)

    @property
    def npv(self) -> NDArray[np.float64]:
        """Negative predictive value."""
        neither = self.n_rows - self.support - self.predicted + self._hit
        return _ratio(neither, self.n_rows - self.predicted)

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall."""
        return _ratio(2 * self._hit, self.support + self.predicted)

    def as_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        rates = ("support", "tpr", "fpr", "ppv", "npv", "f1")
        columns = {name: getattr(self, name).tolist() for name in rates}
        return {
            "n_rows": self.n_rows,
            "accuracy": self.accuracy,
            "log_loss": self.log_loss,
            "brier_score": self.brier,
            "labels": self.labels.tolist(),
            "confusion_matrix": self.confusion.tolist(),
            "per_class": [
                {"label": label} | {name: columns[name][i] for name in rates}
                for i, label in enumerate(self.labels.tolist())
            ],
        }


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """part / whole, and 0 where there is nothing to divide by."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0))


class Evaluator:
    """Adds up batches of predictions of a model with these `classes` (k,), sorted.

    Cost a batch: O(n k). Memory: O(k^2), 16 bytes a batch, and a fixed block.
    """

    def __init__(self, classes: np.ndarray) -> None:
        self._classes = np.asarray(classes)
        k = len(self._classes)
        self._confusion = np.zeros((k, k), np.int64)
        self._unseen: dict[Any, np.ndarray] = {}  # label -> (k,) how its rows were predicted
        self._index = {label: i for i, label in enumerate(self._classes.tolist())}
        self._losses: list[float] = []
        self._squares: list[float] = []

    def update(self, y: np.ndarray, codes: np.ndarray, proba: np.ndarray) -> None:
        """Add rows: true labels (n,), predicted codes (n,), probabilities (n, k) in float.

        A label that the model does not know counts as wrong, with probability zero.
        """
        true = self._encode(y)
        known = true >= 0
        np.add.at(self._confusion, (true[known], codes[known]), 1)
        for label, code in zip(y[~known].tolist(), codes[~known].tolist(), strict=True):
            counts = self._unseen.setdefault(label, np.zeros(len(self._classes), np.int64))
            counts[code] += 1
        self._losses.append(_loss(true, proba))
        self._squares.append(math.fsum(_squares(true, proba)))

    def _encode(self, y: np.ndarray) -> np.ndarray:
        """Positions of labels among the classes, -1 for a label not there."""
        if self._classes.dtype.kind not in "iufb" or y.dtype.kind not in "iufb":
            index = self._index
            return np.fromiter((index.get(label, -1) for label in y.tolist()), np.int64, len(y))
        at = np.searchsorted(self._classes, y).clip(max=len(self._classes) - 1)
        return np.where(self._classes[at] == y, at, -1)

    def result(self) -> Evaluation:
        """The scores so far; ValueError before the first row."""
        rows = int(self._confusion.sum()) + sum(int(c.sum()) for c in self._unseen.values())
        if rows == 0:
            raise ValueError("no rows to evaluate, expected at least one")
        labels = self._labels()
        confusion = self._whole_confusion(labels)
        scale = 0.5 if len(labels) < 3 else 1.0
        return Evaluation(
            labels=labels,
            confusion=confusion,
            log_loss=math.fsum(self._losses) / rows,
            brier=scale * math.fsum(self._squares) / rows,
        )

    def _labels(self) -> np.ndarray:
        """The union of the classes and the labels met, sorted, in a type that holds both."""
        if not self._unseen:
            return self._classes
        every = sorted([*self._classes.tolist(), *self._unseen])
        text = self._classes.dtype.kind in "OUT"
        return np.array(every, dtype=object if text else None)

    def _whole_confusion(self, labels: np.ndarray) -> NDArray[np.int64]:
        place = {label: i for i, label in enumerate(labels.tolist())}
        ours = [place[label] for label in self._classes.tolist()]
        confusion = np.zeros((len(labels), len(labels)), np.int64)
        confusion[np.ix_(ours, ours)] = self._confusion
        for label, counts in self._unseen.items():
            confusion[place[label], ours] = counts
        return confusion


def _loss(true: np.ndarray, proba: np.ndarray) -> float:
    """Sum of -log p(true), clipped as scikit-learn clips; p is 0 where true is -1."""
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
