"""Rows in cells of the probability: what is exact at a fixed set of cut-offs, however many rows.

The cut-offs are 0.01, 0.02, ..., 0.99 and those that were asked for. A cell holds the rows between
two of them. Cells add up, so that batches, files and workers combine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "all_thresholds", "check_thresholds", "logit"]


class Cells(NamedTuple):
    """Sums over the rows whose probability is between two cut-offs.

    Arrays have a row for each of the k classes, in their order, against the rest. A last row is the
    label that is predicted: p is its probability, and a row is positive if the prediction is right.
    Cell i holds the rows with thresholds[i - 1] <= p < thresholds[i], compared as log odds: the
    first begins at 0, and the last holds 1.

    Parameters
    ----------
    thresholds : ndarray of shape (m,)
        Cut-offs, strictly increasing, above 0 and below 1.
    positives, negatives : ndarray of shape (k + 1, m + 1)
        Weight of the rows of the class, and of the others.
    miss_positives, miss_negatives : ndarray of shape (k + 1, m + 1)
        Sums of w (1 - p) over the positives, and of w p over the negatives.
    square : ndarray of shape (k + 1, m + 1)
        Sums of w (1 - p)^2 over the positives and w p^2 over the negatives.
    """

    thresholds: NDArray[np.float64]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]
    miss_positives: NDArray[np.float64]
    miss_negatives: NDArray[np.float64]
    square: NDArray[np.float64]


def all_thresholds(thresholds: Iterable[float] | None = None) -> NDArray[np.float64]:
    """Return the cut-offs 0.01, ..., 0.99 and those given, sorted and distinct.

    Raises ValueError for others than numbers above 0 and below 1.
    """
    grid = np.arange(1, 100) / 100
    if thresholds is None:
        return grid
    return np.union1d(grid, check_thresholds(thresholds))


def check_thresholds(thresholds: Any) -> NDArray[np.float64]:
    """Return cut-offs (m,) as float64. Raises ValueError for others than numbers within (0, 1)."""
    is_one = isinstance(thresholds, str) or not isinstance(thresholds, Iterable)
    values = np.asarray([thresholds] if is_one else [*thresholds])
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iuf"):
        raise ValueError(f"thresholds must be numbers above 0 and below 1, got {thresholds!r}.")
    values = values.astype(np.float64)
    outside = values[~((values > 0) & (values < 1))]
    if len(outside):
        raise ValueError(f"thresholds must be above 0 and below 1, got {outside[0]}.")
    return values


def logit(p: Any) -> Any:
    """Log odds log p - log(1 - p) of probabilities; infinite at 0 and 1."""
    p = np.asarray(p, np.float64)
    with np.errstate(divide="ignore"):
        return (np.log(p) - np.log1p(-p))[()]
