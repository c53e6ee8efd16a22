"""The kernel that adds rows to an evaluation: log odds, true and predicted labels, and weights.

Rows come in blocks of up to 1,024. Of each class, a block's log odds become keys, probabilities
and exponentials in short arrays, by loops that LLVM makes vectors of, and are then added to bins
and cells. Sums of a block are plain float64, and are added to totals of two words, so that rounding
errors do not grow with the number of rows.

Flags: FMA contraction only, which leaves the two-sum as it is: it has no products.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, kernel, readonly, warmup_call
from ..._numba.vectors import LANES, load, pointer, store
from ..logs import log_all
from ..score.posterior import exp
from .bins import ONE, Bins, add_to_bins
from .cells import FIELDS, Cells, CutOffs, add_to_cells, add_two_words

_BLOCK = 1024
# Probabilities are clipped to [eps, 1 - eps] in the loss, as scikit-learn does.
_EPS = float(np.finfo(np.float64).eps)
_LEAST_LOSS, _MOST_LOSS = float(-np.log1p(-_EPS)), float(-np.log(_EPS))


class Rows(NamedTuple):
    """Log odds (m, k), codes of true labels (m,), -1 where unknown, and of predicted ones (m,).

    weight (m,), or (0,) where every row weighs 1.
    """

    log_odds: NDArray[np.float64]
    true: NDArray[np.int64]
    predicted: NDArray[np.int64]
    weight: NDArray[np.float64]


class RowSums(NamedTuple):
    """Sums by row, of two words each: total and low.

    hit, predicted, rank (k,): weight of the rows of each class that are predicted correctly, that
    are predicted as each class, and whose true label has so many classes before it. loss (1,): sum
    of w times the log loss. confusion (k k,) of known labels, true by predicted, or (0,).
    """

    hit: NDArray[np.float64]
    predicted: NDArray[np.float64]
    rank: NDArray[np.float64]
    loss: NDArray[np.float64]
    confusion: NDArray[np.float64]


class Tally(NamedTuple):
    """Everything that rows are added to. Without `has_sums`, only the bins are."""

    has_sums: bool
    bins: Bins
    cuts: CutOffs
    cells: Cells
    total: RowSums
    low: RowSums


class Block(NamedTuple):
    """Up to 1,024 rows of one class: m, and arrays of at least that length.

    keys: see `bins`. is_positive: 1 or 0. miss: 1 - p of positives and p of negatives, of which a
    small one has all digits.
    """

    m: int
    odds: Any
    keys: Any
    weight: Any
    true: Any
    is_positive: Any
    miss: Any


class Scratch(NamedTuple):
    """Memory for a block; `size` and `bits` are the same numbers, as float64 and as int64."""

    odds: Any
    small: Any
    large: Any
    size: Any
    bits: Any
    keys: Any
    weight: Any
    is_positive: Any
    places: Any
    sums: Any


@jit_helper
def _scratch(n_cells):
    size = np.empty(_BLOCK)
    return Scratch(
        np.zeros(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), size, size.view(np.int64),
        np.empty(_BLOCK, np.int64), np.ones(_BLOCK), np.empty(_BLOCK, np.int64),
        np.empty(_BLOCK, np.int64), np.zeros((n_cells, FIELDS)),
    )  # fmt: skip


@jit_helper
def _exp_all(x, m):
    """Make exp(x) of m numbers, all 0 or less, and of up to seven more."""
    p = pointer(x)
    for i in range(0, m, LANES):
        store(p, i, exp(load(p, i)))


@jit_helper
def _block(scratch, rows, start, m):
    """The block of m rows from `start` on, whose log odds are in the scratch."""
    s = scratch
    if len(rows.weight) > 0:
        for i in range(m):
            s.weight[i] = rows.weight[start + i]
    for i in range(m):
        s.size[i] = abs(s.odds[i]) + 1.0
        s.small[i] = -abs(s.odds[i])
    for i in range(m):
        size = s.bits[i] - ONE
        s.keys[i] = -size if s.odds[i] < 0.0 else size
    _exp_all(s.small, m)
    for i in range(m):
        large = 1.0 / (1.0 + s.small[i])
        is_far = (s.odds[i] < 0.0) == (s.is_positive[i] > 0)
        s.large[i] = large if is_far else s.small[i] * large
    true = rows.true[start : start + m]
    return Block(m, s.odds, s.keys, s.weight, true, s.is_positive, s.large)


@jit_helper
def _add_sums(sums, total, low):
    """Add sums (cells, FIELDS) of a block to the totals, and set them to 0."""
    for q in range(sums.shape[0]):
        for f in range(sums.shape[1]):
            add_two_words(sums[q, f], f, total[q], low[q])
            sums[q, f] = 0.0


@jit_helper
def _add_class(rows, c, k, tally, scratch):
    """Add the rows to bins and cells of class c; c = k stands for the predicted class."""
    n = len(rows.true)
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        if c < k:
            for i in range(m):
                scratch.odds[i] = rows.log_odds[start + i, c]
                scratch.is_positive[i] = 1 if rows.true[start + i] == c else 0
        else:
            for i in range(m):
                q = rows.predicted[start + i]
                scratch.odds[i] = rows.log_odds[start + i, q]
                scratch.is_positive[i] = 1 if rows.true[start + i] == q else 0
        block = _block(scratch, rows, start, m)
        if c < k and tally.bins.weights.shape[2] > 0:
            add_to_bins(tally.bins, c, block, scratch.places)
        if tally.has_sums:
            add_to_cells(tally.cuts, scratch.sums, block, scratch.places)
            _add_sums(scratch.sums, tally.cells.total[c], tally.cells.low[c])


@jit_helper
def _rank(log_odds, i, true, predicted):
    """How many classes come before the true one in row i, of which the predicted is the first."""
    if true == predicted:
        return 0
    before, its = 0, log_odds[i, true]
    for c in range(log_odds.shape[1]):
        other = log_odds[i, c]
        if other > its or (other == its and c < true):
            before += 1
    return max(before, 1)


@jit_helper
def _losses(scratch, m):
    """Set scratch.size to the log losses of m rows, whose true labels have log odds `odds`."""
    s = scratch
    for i in range(m):
        s.small[i] = -abs(s.odds[i])
    _exp_all(s.small, m)
    for i in range(m):
        s.large[i] = 1.0 + s.small[i]
    log_all(s.large[:m], s.size[:m])
    for i in range(m):
        # log1p of exp(-|l|): what the sum has lost is added.
        loss = s.size[i] + (s.small[i] - (s.large[i] - 1.0)) / s.large[i]
        loss += -s.odds[i] if s.odds[i] < 0.0 else 0.0
        s.size[i] = min(max(loss, _LEAST_LOSS), _MOST_LOSS)


@jit_helper
def _add_rows(rows, k, total, low, scratch):
    """Add what is counted once a row, and not for each class."""
    n, is_weighted = len(rows.true), len(rows.weight) > 0
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        for i in range(m):
            true = rows.true[start + i]
            scratch.odds[i] = rows.log_odds[start + i, true] if true >= 0 else -np.inf
        _losses(scratch, m)
        loss = 0.0
        for i in range(m):
            w = rows.weight[start + i] if is_weighted else 1.0
            true, predicted = rows.true[start + i], rows.predicted[start + i]
            loss += w * scratch.size[i]
            add_two_words(w, predicted, total.predicted, low.predicted)
            if true >= 0:
                rank = _rank(rows.log_odds, start + i, true, predicted)
                add_two_words(w, rank, total.rank, low.rank)
                hit = w if true == predicted else 0.0
                add_two_words(hit, true, total.hit, low.hit)
                if len(total.confusion) > 0:
                    add_two_words(w, true * k + predicted, total.confusion, low.confusion)
        add_two_words(loss, 0, total.loss, low.loss)


@kernel
def _tally(first, last, rows, tally):
    """Add rows to classes `first` to `last`; two more are the predicted class, and the row sums."""
    k = rows.log_odds.shape[1]
    scratch = _scratch(tally.cells.total.shape[1])
    for c in range(first, last):
        if c <= k:
            _add_class(rows, c, k, tally, scratch)
        else:
            _add_rows(rows, k, tally.total, tally.low, scratch)


def add_rows(rows: Rows, tally: Tally) -> None:
    """Add rows, none of which weighs 0, to what a tally holds.

    Counts are exact. Sums of weights, probabilities and losses have errors below 1e-13, relative to
    themselves, and weights of bins, which are plain float64, of up to 1e-16 times the number of
    rows in the bin. Cost: about 10 ns for each row and class.
    """
    m, k = rows.log_odds.shape
    if m == 0:
        return
    given = Rows(*(readonly(np.ascontiguousarray(each)) for each in rows))
    _tally(k + 2 if tally.has_sums else k, given, tally, work=64 * m * k)


def new_sums(k: int, n_cells: int, *, has_confusion: bool) -> tuple[Cells, RowSums, RowSums]:
    """Sums of no rows: of cells, and the two words of those by row."""
    cells = Cells(np.zeros((k + 1, n_cells, FIELDS)), np.zeros((k + 1, n_cells, FIELDS)))
    sizes = k, k, k, 1, k * k if has_confusion else 0
    total, low = (RowSums(*map(np.zeros, sizes)) for _ in range(2))
    return cells, total, low


def new_bins(k: int, n_groups: int, n_places: int) -> Bins:
    """Bins without a row, in groups as `Bins` says; n_places is 0 or a power of two."""
    weights, ends = np.zeros((k, n_groups, n_places)), np.zeros((k, n_groups, 2))
    low, high = np.full(k, np.iinfo(np.int64).max), np.full(k, np.iinfo(np.int64).min)
    return Bins(n_groups == k + 1, weights, ends, low, high, np.zeros(k, np.int64))


@warmup_call
def _warm() -> None:
    cells, total, low = new_sums(1, 1, has_confusion=True)
    codes = np.zeros(1, np.int64)
    rows = Rows(np.zeros((1, 1)), codes, codes, np.empty(0))
    tally = Tally(True, new_bins(1, 2, 1), CutOffs.of(np.empty(0)), cells, total, low)
    add_rows(rows, tally)
