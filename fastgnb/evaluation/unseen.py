"""Rows of labels that a model does not know, in memory that does not grow with such labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNSEEN", "UnseenLabels"]

UNSEEN = 100
"""Most labels unknown to the model that are counted one by one."""


class UnseenLabels:
    """Rows of each unknown label, and their weight by the class (k,) that is predicted for them.

    The first UNSEEN labels that are met have places of their own in `n_rows` (UNSEEN + 1,) and
    `weight` (UNSEEN + 1, k), and all others share the last one.
    """

    def __init__(self, k: int) -> None:
        self.places: dict[Any, int] = {}
        self.n_rows = np.zeros(UNSEEN + 1, np.int64)
        self.weight = np.zeros((UNSEEN + 1, k))

    def add(self, labels: list[Any], codes: NDArray[np.int64], weight: NDArray[np.float64]) -> None:
        """Add rows: labels (n,), predicted codes (n,), and weights (n,) or (0,)."""
        if not labels:
            return
        at = np.array([self._place(label) for label in labels], np.int64)
        np.add.at(self.n_rows, at, 1)
        np.add.at(self.weight, (at, codes), weight if len(weight) else 1.0)

    def _place(self, label: Any) -> int:
        if len(self.places) < UNSEEN:
            return self.places.setdefault(label, len(self.places))
        return self.places.get(label, UNSEEN)

    def __add__(self, other: UnseenLabels) -> UnseenLabels:
        """Return the rows of both. The labels of `self` were met first."""
        result = UnseenLabels(self.weight.shape[1])
        for part in (self, other):
            places = [(result._place(label), place) for label, place in part.places.items()]
            for to, place in (*places, (UNSEEN, UNSEEN)):
                result.n_rows[to] += part.n_rows[place]
                result.weight[to] += part.weight[place]
        return result
