"""Cells of the probability, between cut-offs.

A cut-off tau is compared as log odds: p >= tau where the log odds are at least log(tau / (1 - tau))
in float64. So p itself, whose digits end at 1 - p = 1e-16, decides nothing.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, llvm_inlined
from ..._numba.vectors import pointer
from .bins import ONE

# Places of the table by which a cell is found, at most.
_PLACES = 4096
# What a cell holds: weight of negatives and positives, misses of both, and squares.
FIELDS = 5


class CutOffs(NamedTuple):
    """Cut-offs as log odds (t,), strictly increasing, and a table (places,) to find a cell by.

    log_odds (t + 1,) ends with a NaN, which nothing reaches. start[q] is the number of cut-offs
    below all log odds whose key, less `low` and without its last `shift` bits, is q. Keys that are
    lower or higher are at the first or last place. No place has more than `steps` cut-offs.
    """

    log_odds: NDArray[np.float64]
    start: NDArray[np.int64]
    low: int
    shift: int
    steps: int

    @classmethod
    def of(cls, log_odds: NDArray[np.float64]) -> CutOffs:
        """Make the table for cut-offs (t,)."""
        keys = keys_of(log_odds)
        low, high = (int(keys[0]), int(keys[-1])) if len(keys) else (0, 0)
        shift = max(0, (high - low + 1).bit_length() - _PLACES.bit_length() + 1)
        n_places = ((high - low) >> shift) + 2
        firsts = low + (np.arange(n_places, dtype=np.int64) << shift)
        start = np.searchsorted(keys, firsts)
        start[0] = 0
        steps = int(np.diff(start, append=len(keys)).max())
        return cls(np.append(log_odds, np.nan), start, low, shift, steps)


class Cells(NamedTuple):
    """Sums over the rows of t + 1 cells, for each of the k classes, and the predicted label last.

    total and low are the words of sums (k + 1, t + 1, FIELDS) with twice the digits of float64. The
    fields: weight of negatives and of positives; sums of w p over the negatives, and of w (1 - p)
    over the positives; and of w p^2 and w (1 - p)^2 over both.
    """

    total: NDArray[np.float64]
    low: NDArray[np.float64]


def keys_of(log_odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """The keys of log odds, see `bins`."""
    size = (np.abs(log_odds) + 1.0).view(np.int64) - ONE
    return np.where(log_odds < 0, -size, size)


@jit_helper
def _set_cells(cuts, rows, cells):
    """Set cells (m,) to those of the rows of a block."""
    last = len(cuts.start) - 1
    for i in range(rows.m):
        place = (rows.keys[i] - cuts.low) >> cuts.shift
        cells[i] = cuts.start[min(max(place, 0), last)]
    # A fixed number of steps, nearly always one, leaves the processor no branch to predict.
    for _ in range(cuts.steps):
        for i in range(rows.m):
            cells[i] += 1 if rows.odds[i] >= cuts.log_odds[cells[i]] else 0


@jit_helper
def add_to_cells(cuts, sums, rows, cells):
    """Add the rows of a block (see `tally.Block`) to sums (cells, FIELDS); cells is scratch."""
    _set_cells(cuts, rows, cells)
    at = pointer(sums)
    for i in range(rows.m):
        p, w, miss = cells[i] * FIELDS, rows.weight[i], rows.miss[i]
        is_positive = rows.is_positive[i]
        at[p + is_positive] += w
        at[p + 2 + is_positive] += w * miss
        at[p + 4] += w * miss * miss


@llvm_inlined
def add_two_words(value, at, total, low):
    """Add a number to element `at` of sums of two words (Knuth's two-sum)."""
    before = total[at]
    after = before + value
    part = after - before
    low[at] += (before - (after - part)) + (value - part)
    total[at] = after
