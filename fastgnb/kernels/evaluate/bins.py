"""Bins of log odds, whose width follows from the range of the log odds alone.

The key of log odds l is the difference of the bits of the floats |l| + 1 and 1, with the sign of l:
a whole number, in the order of l, whose spacing is even up to |l| = 1 and logarithmic beyond. The
bin of a key is the key without its last `shift` bits. The shift is the smallest at which the bins
between the lowest and the highest key are no more than there is memory for. So the bins depend on
which rows there are, and not on their order or on how they came in pieces: where the range grows
too far, pairs of bins become one.

Bin b is counted at the place b modulo the number of places, a power of two, so that a range that
grows to either side moves no count. Infinite log odds have no bin: their weights are apart.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, llvm_inlined
from ..._numba.vectors import pointer

# The bits of 1.0, and a key that is above that of any log odds.
ONE = 0x3FF0000000000000
NO_KEY = 1 << 62


class Bins(NamedTuple):
    """Weights (k, groups, places) in bins of the log odds of k classes; without, places is 0.

    A group of rows is a true class, and the last one that of unknown labels; or, where `by_class`
    is False, there are two groups, the rows of the class and all others. ends (k, groups, 2):
    weights at -inf and at +inf. low, high (k,): lowest and highest key of finite log odds, high
    below low without any. shift (k,): bits of a key that its bin leaves out.
    """

    by_class: bool
    weights: NDArray[np.float64]
    ends: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    shift: NDArray[np.int64]


@jit_helper
def _collapse(weights, low, high, more):
    """Leave `more` bits out of the numbers of bins `low` to `high` of weights (groups, places)."""
    mask = weights.shape[1] - 1
    wider = np.empty(weights.shape[1])
    for g in range(weights.shape[0]):
        wider[:] = 0.0
        for b in range(low, high + 1):
            wider[(b >> more) & mask] += weights[g, b & mask]
        for b in range(len(wider)):
            weights[g, b] = wider[b]


@jit_helper
def widen(bins, c, low, high):
    """Make the bins of class c hold keys `low` to `high` too."""
    shift = bins.shift[c]
    had_rows = bins.high[c] >= bins.low[c]
    before, after = bins.low[c] >> shift, bins.high[c] >> shift
    bins.low[c], bins.high[c] = min(bins.low[c], low), max(bins.high[c], high)
    more = 0
    while (bins.high[c] >> (shift + more)) - (bins.low[c] >> (shift + more)) >= (
        bins.weights.shape[2]
    ):
        more += 1
    if more > 0 and had_rows:
        _collapse(bins.weights[c], before, after, more)
    bins.shift[c] = shift + more


@llvm_inlined
def _group(bins, c, true):
    """The group, for class c, of a row of a true class, which is -1 where that is unknown."""
    if bins.by_class:
        return true if true >= 0 else bins.weights.shape[1] - 1
    return 0 if true == c else 1


@jit_helper
def _set_places(bins, c, rows, places):
    """Set places (m,) within the weights of class c, or -1 where log odds are infinite."""
    shift, size = bins.shift[c], bins.weights.shape[2]
    for i in range(rows.m):
        key = rows.keys[i]
        place = _group(bins, c, rows.true[i]) * size + ((key >> shift) & (size - 1))
        places[i] = place if -NO_KEY < key < NO_KEY else -1


@jit_helper
def _range(rows):
    """The lowest and the highest key of finite log odds; the highest is lower where none is."""
    low, high = NO_KEY, -NO_KEY
    for i in range(rows.m):
        key = rows.keys[i]
        # The keys of infinities are +-NO_KEY.
        low = min(low, key if key > -NO_KEY else NO_KEY)
        high = max(high, key if key < NO_KEY else -NO_KEY)
    return low, high


@jit_helper
def add_to_bins(bins, c, rows, places):
    """Add the rows of a block (see `tally.Block`) to the bins of class c; places is scratch."""
    low, high = _range(rows)
    if high >= low and (low < bins.low[c] or high > bins.high[c]):
        widen(bins, c, low, high)
    _set_places(bins, c, rows, places)
    weights = pointer(bins.weights[c])
    for i in range(rows.m):
        at = places[i]
        if at >= 0:
            weights[at] += rows.weight[i]
        else:
            group = _group(bins, c, rows.true[i])
            bins.ends[c, group, 1 if rows.keys[i] > 0 else 0] += rows.weight[i]
