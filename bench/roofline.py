"""The least time that a task can take on this machine: its ceiling.

Fitting has to read X once. Predicting has to read X once and write n labels, or to do 2 n d k
float64 multiply-adds, whichever takes longer. The ceiling writes labels to memory that is mapped
already: the cost of a new array's pages counts against the program that is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from . import ceilings


class Ceiling(NamedTuple):
    """A call that moves the bytes that a task has to move, and the seconds of its arithmetic."""

    move: Callable[[], None]
    arithmetic: float

    def seconds(self) -> float:
        """The ceiling, measured now."""
        return max(ceilings.best(self.move), self.arithmetic)


def fit(X: np.ndarray) -> Ceiling:
    """Read X (n, d) once."""
    values = ceilings.as_flat(X)
    return Ceiling(lambda: ceilings.read(values), 0.0)


def predict(X: np.ndarray, k: int) -> Ceiling:
    """Read X (n, d) once and write n labels of 8 bytes; or the multiply-adds of k classes."""
    values, labels = ceilings.as_flat(X), np.empty(len(X))

    def move() -> None:
        ceilings.read(values)
        ceilings.write(labels)

    arithmetic = ceilings.seconds_of_fmas(*X.shape, k, numba.get_num_threads())
    return Ceiling(move, arithmetic)
