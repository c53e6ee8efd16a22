"""The least that a task costs on this machine: its ceiling.

Fit has to read X once. Predict has to read X once and write n labels, or to do 2 n d k float64
multiply-adds, whichever takes longer. Labels are written to memory that is mapped already: that a
fresh array's pages cost time is part of what a program has to cope with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from . import ceilings


class Bound(NamedTuple):
    """A call that moves the bytes that a task has to move, and seconds of its arithmetic."""

    move: Callable[[], None]
    arithmetic: float

    def seconds(self) -> float:
        """The ceiling, measured now."""
        return max(ceilings.best(self.move), self.arithmetic)


def fit(X: np.ndarray) -> Bound:
    """Read X (n, d) once."""
    line = ceilings.flat(X)
    return Bound(lambda: ceilings.read(line), 0.0)


def predict(X: np.ndarray, k: int) -> Bound:
    """Read X (n, d) once and write n labels of 8 bytes; or the multiply-adds of k classes."""
    line, labels = ceilings.flat(X), np.empty(len(X))

    def move() -> None:
        ceilings.read(line)
        ceilings.write(labels)

    work = ceilings.seconds_of_fmas(*X.shape, k, numba.get_num_threads())
    return Bound(move, work)
