"""Fewer points of a curve, so that it looks the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["thin"]


def thin(x: NDArray[np.float64], y: NDArray[np.float64], columns: int = 250) -> NDArray[np.intp]:
    """Return positions of at most 4 * columns points of a curve whose x (n,) is monotone.

    Of the points within each of so many columns of equal width the first, the last, the lowest and
    the highest are kept: at any resolution up to this one the line through them covers the same
    pixels. Curves of fewer points keep all of them.
    """
    n = len(x)
    if n <= 4 * columns or np.isnan(x).any() or np.isnan(y).any():
        return np.arange(min(n, 4 * columns))
    low, high = sorted((float(x[0]), float(x[-1])))
    column = np.minimum((x - low) / ((high - low) or 1.0) * columns, columns - 1).astype(np.intp)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    ends = np.append(starts[1:], n) - 1
    extremes = [
        _first_equal(y, f.reduceat(y, starts), starts, ends) for f in (np.minimum, np.maximum)
    ]
    return np.unique(np.concatenate([starts, ends, *extremes]))


def _first_equal(
    y: NDArray[np.float64],
    wanted: NDArray[np.float64],
    starts: NDArray[np.intp],
    ends: NDArray[np.intp],
) -> NDArray[np.intp]:
    """The first position of each part from `starts` to `ends` where y is the number wanted."""
    found = np.flatnonzero(y == np.repeat(wanted, ends - starts + 1))
    return np.asarray(found[np.searchsorted(found, starts)])
