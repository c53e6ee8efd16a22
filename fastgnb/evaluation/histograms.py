"""Bins of log odds that merge, and the curves that are made of them.

How wide bins are follows from the lowest and the highest log odds alone, see `kernels.evaluate`:
merged pieces have the bins of all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.evaluate.bins import Bins
from ..kernels.evaluate.tally import new_bins
from .curves import HistogramCurves

__all__ = ["bins_of_no_rows", "curves_of", "merge_bins"]

MOST_WEIGHTS = 1 << 24
"""Most weights of all bins (128 MB), but for those of unknown labels."""

_PLACES = 1 << 17
_LEAST_PLACES_BY_CLASS = 1 << 16


def bins_of_no_rows(k: int) -> Bins:
    """Return bins for k classes, by true class where there is memory for it."""
    by_class = k * k * _LEAST_PLACES_BY_CLASS <= MOST_WEIGHTS
    groups = k if by_class else 2
    places = _PLACES
    while k * groups * places > MOST_WEIGHTS and places > 1:
        places //= 2
    return new_bins(k, k + 1 if by_class else 2, places)


def merge_bins(a: Bins, b: Bins) -> Bins:
    """Return the bins of the rows of both."""
    k, groups, places = a.weights.shape
    result = new_bins(k, groups, places)
    result.ends[...] = a.ends + b.ends
    result.low[...], result.high[...] = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    for c in range(k):
        shift = _shift(int(result.low[c]), int(result.high[c]), places)
        result.shift[c] = shift
        for part in (a, b):
            numbers = _numbers(part, c)
            at = (numbers >> (shift - int(part.shift[c]))) & (places - 1)
            weights = part.weights[c][:, numbers & (places - 1)]
            for g in range(groups):
                result.weights[c, g] += np.bincount(at, weights[g], minlength=places)
    return result


def _shift(low: int, high: int, places: int) -> int:
    """The smallest shift at which keys from `low` to `high` have no more than so many bins."""
    shift = 0
    while high >= low and (high >> shift) - (low >> shift) >= places:
        shift += 1
    return shift


def _numbers(bins: Bins, c: int) -> NDArray[np.int64]:
    """Numbers of the bins of class c, from the lowest to the highest."""
    if bins.high[c] < bins.low[c]:
        return np.empty(0, np.int64)
    shift = bins.shift[c]
    return np.arange(bins.low[c] >> shift, (bins.high[c] >> shift) + 1)


def curves_of(classes: NDArray[Any], bins: Bins) -> HistogramCurves:
    """Return the curves of the rows so far."""
    k, groups, places = bins.weights.shape
    numbers = [_numbers(bins, c) for c in range(k)]
    counts = np.zeros((k, groups, max(map(len, numbers))))
    for c, each in enumerate(numbers):
        if len(each):
            start = int(each[0]) & (places - 1)
            until_end = min(len(each), places - start)
            counts[c, :, :until_end] = bins.weights[c][:, start : start + until_end]
            rest = len(each) - until_end
            counts[c, :, until_end : len(each)] = bins.weights[c][:, :rest]
    first = np.array([each[0] if len(each) else 0 for each in numbers], np.int64)
    return HistogramCurves(classes, counts, first, bins.shift.copy(), bins.ends.copy())
