"""Sums over rows that merge: of cells between cut-offs, and by row.

Each sum has two words, `total` and `low`, so that it hardly depends on how rows came in pieces.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..kernels.evaluate import cells as words
from ..kernels.evaluate.tally import RowSums, new_sums
from .cells import Cells

__all__ = ["Sums"]

_MOST_WEIGHT = float(np.finfo(np.float64).max) / 64.0
"""Losses are below 64: -log p is clipped at the smallest difference from 1."""


@dataclasses.dataclass(frozen=True, eq=False)
class Sums:
    """What `kernels.evaluate.tally` adds rows to, besides bins."""

    cells: words.Cells
    total: RowSums
    low: RowSums

    @classmethod
    def of_no_rows(cls, k: int, n_cells: int, *, has_confusion: bool) -> Self:
        """Return sums of no rows, of k classes."""
        return cls(*new_sums(k, n_cells, has_confusion=has_confusion))

    def __add__(self, other: Sums) -> Sums:
        """Return the sums of the rows of both: the same bits in either order."""
        cells = _two_sums(*self.cells, *other.cells)
        pairs = zip(self.total, self.low, other.total, other.low, strict=True)
        totals, lows = zip(*(_two_sums(*words) for words in pairs), strict=True)
        return Sums(words.Cells(*cells), RowSums(*totals), RowSums(*lows))

    def check_overflow(self) -> None:
        """Raise ValueError where sums of weights, or of losses of them, do not fit float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(self.total.predicted.sum())
        if not total < _MOST_WEIGHT:
            raise ValueError("The sum of the weights overflows float64. Scale them down.")

    def by_cell(self, thresholds: NDArray[np.float64]) -> Cells:
        """Return the sums of cells between thresholds (t,)."""
        negatives, positives, miss_negatives, miss_positives, square = np.moveaxis(
            self.cells.total + self.cells.low, -1, 0
        )
        return Cells(thresholds, positives, negatives, miss_positives, miss_negatives, square)

    def by_row(self, name: str) -> NDArray[np.float64]:
        """Return one of the fields of `RowSums`."""
        value: NDArray[np.float64] = getattr(self.total, name) + getattr(self.low, name)
        return value

    @property
    def support(self) -> NDArray[np.float64]:
        """Weight of the rows of each class (k,)."""
        total, low = (each[:-1, :, 1].sum(axis=1) for each in self.cells)
        return np.asarray(total + low)

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return math.fsum((*self.total.predicted, *self.low.predicted))

    @property
    def squares(self) -> float:
        """Sum over rows and classes of w (p - [the row is of the class])^2."""
        return math.fsum(value for each in self.cells for value in each[:-1, :, 4].ravel())


def _two_sums(
    a: NDArray[np.float64],
    a_low: NDArray[np.float64],
    b: NDArray[np.float64],
    b_low: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of numbers of two words (Knuth's two-sum of the first ones)."""
    total = a + b
    part = total - a
    return total, (a_low + b_low) + ((a - (total - part)) + (b - part))
