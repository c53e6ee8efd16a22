"""What an evaluation holds: counts, sums over cells, curves, and how its labels are found."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import Cells
from .curves import Cumulative, Curves

__all__ = ["EvaluationFields"]


@dataclasses.dataclass(frozen=True, eq=False)
class EvaluationFields:
    """The fields of an `Evaluation`, which documents them."""

    labels: NDArray[Any]
    confusion: NDArray[Any] | None
    hit: NDArray[Any]
    support: NDArray[Any]
    predicted: NDArray[Any]
    log_loss: float
    brier: float
    n_unseen: int = 0
    n_unlisted: int = 0
    n_skipped: int = 0
    n_null_labels: int = 0
    total_rows: int | None = None
    total_weight: float | None = None
    curves: Curves | None = None
    cells: Cells | None = None
    rank_weight: NDArray[np.float64] | None = None
    thresholds: tuple[float, ...] = ()

    @property
    def n_rows(self) -> int:
        """Rows of all labels."""
        if self.total_rows is not None:
            return self.total_rows
        return int(self.support.sum()) + self.n_unlisted

    @property
    def weight(self) -> float:
        """Weight of the rows of all labels: their number, unless they were weighted."""
        return float(self.n_rows) if self.total_weight is None else self.total_weight

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted classes (k,) of the model."""
        return self._curves().classes

    def _curves(self) -> Curves:
        if self.curves is None:
            raise ValueError("This evaluation holds no log odds of its rows, so it has no curves.")
        return self.curves

    def _cells(self) -> Cells:
        if self.cells is None:
            raise ValueError("This evaluation holds no sums over cells of the probability.")
        return self.cells

    def _label(self, label: Any) -> Any:
        """The label, or by default the second class of two. Raises ValueError for others."""
        if label is None:
            classes = self._curves().classes.tolist()
            if len(classes) == 2:
                return classes[1]
            raise ValueError(f"label is required where there are {len(classes)} classes.")
        if label not in self.labels.tolist():
            raise ValueError(f"{label!r} is not among the labels {self.labels}.")
        return label

    def _class_of(self, label: Any) -> int:
        """The position of a label among the classes of the model, or -1."""
        classes = self._curves().classes.tolist()
        return classes.index(label) if label in classes else -1

    def _steps(self, label: Any) -> Cumulative:
        """Rows of a label against the rest. Those of the last label are kept.

        A label that the model does not know has log odds of -infinity in every row.
        """
        kept: tuple[Any, Cumulative] | None = self.__dict__.get("_kept_steps")
        if kept is None or kept[0] != label:
            kept = label, self._ordered(label)
            self.__dict__["_kept_steps"] = kept
        return kept[1]

    def _ordered(self, label: Any) -> Cumulative:
        c = self._class_of(label)
        if c >= 0:
            return self._curves().cumulative(c)
        positives = float(self.support[self.labels.tolist().index(label)])
        lowest, tp, fp = np.array([[-np.inf], [positives], [self.weight - positives]])
        return Cumulative(lowest, tp, fp, True, lowest)
