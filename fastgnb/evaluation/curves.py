"""Rows of a class and of the others in the order of their log odds: what curves are made of.

The log odds of class c are l = log p - log(1 - p). They order rows as p does, but stay apart where
p is so close to 1 that float64 no longer holds the difference. `Curves` answers one question: what
weight of positives and of negatives lies at or above each threshold of l. `ExactCurves` answers it
from all rows. `HistogramCurves` answers it from counts in bins, in memory that does not grow with
the rows, and at the lower edge of each bin only: which rows of a bin come first is unknown.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cumulative", "Curves", "ExactCurves", "HistogramCurves", "Interval", "key_of", "log_odds_of",
    "scalar_or_array",
]  # fmt: skip

_ONE = int(np.float64(1.0).view(np.int64))
_LAST = int(np.float64(np.inf).view(np.int64)) - _ONE
_SUM_BLOCK = 4096
"""Numbers added one after the other in a running sum."""


class Interval(NamedTuple):
    """Bounds of a number, or of each number of an array.

    Parameters
    ----------
    lower, upper : float or ndarray
        The number is `lower` or more, and `upper` or less. They are equal where it is exact.
    """

    lower: Any
    upper: Any

    @property
    def value(self) -> Any:
        """The middle of the interval: the number itself where it is exact."""
        middle = 0.5 * np.add(self.lower, self.upper)
        return scalar_or_array(np.where(np.equal(self.lower, self.upper), self.lower, middle))

    @property
    def width(self) -> Any:
        """The upper bound minus the lower one."""
        return scalar_or_array(np.subtract(self.upper, self.lower))

    def __float__(self) -> float:
        """The middle."""
        return float(self.value)


def scalar_or_array(numbers: Any) -> Any:
    """An array as it is, or its number as a float."""
    return float(numbers) if np.ndim(numbers) == 0 else numbers


class Cumulative(NamedTuple):
    """Weight of positives and negatives at or above thresholds of the log odds.

    Parameters
    ----------
    log_odds : ndarray of shape (m,)
        Thresholds, strictly decreasing: the distinct log odds of rows, or the lower edges of the
        bins that hold rows.
    tp, fp : ndarray of shape (m,)
        Weight of the positive and of the negative rows at or above each threshold. The last ones
        are those of all rows. Counts are exact; sums of other weights have rounding errors.
    is_exact : bool
        Whether all rows of a threshold have the same log odds.
    upper : ndarray of shape (m,)
        The log odds that no row counted first at this threshold exceeds: `log_odds` itself where
        all of them are equal, or the upper edges of the bins.
    """

    log_odds: NDArray[np.float64]
    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    is_exact: bool
    upper: NDArray[np.float64]


class Curves(Protocol):
    """Rows of k classes, ordered by the log odds of each class."""

    @property
    def classes(self) -> NDArray[Any]:
        """The sorted classes (k,) of the model."""

    @property
    def is_exact(self) -> bool:
        """Whether log odds are known row by row."""

    @property
    def has_pairs(self) -> bool:
        """Whether one class can be compared with another alone."""

    def cumulative(self, c: int, against: int | None = None) -> Cumulative:
        """Return the order by the log odds of the class at position c.

        Rows of class c are the positives. The negatives are all other rows, or those of the class
        at the position `against` alone. Raises ValueError where pairs are not counted.
        """

    def pair_auc(self, c: int) -> Interval:
        """Return areas (k,) under the ROC curves of class c against each class alone.

        NaN against itself, and where one of both has no rows. Raises ValueError as `cumulative`.
        """


@dataclasses.dataclass(frozen=True, eq=False)
class ExactCurves:
    """`Curves` from every row.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        Sorted labels of the model.
    log_odds : ndarray of shape (n, k) or (n, 1)
        Log odds of each class and row. One column stands for those of the second of two classes.
    codes : ndarray of shape (n,)
        Positions of the true labels in the classes, -1 for labels that the model does not know.
    weight : ndarray of shape (n,), default=None
        Weights of the rows, 1 each by default. Rows of weight 0 change nothing.
    """

    classes: NDArray[Any]
    log_odds: NDArray[np.float64]
    codes: NDArray[Any]
    weight: NDArray[np.float64] | None = None

    @property
    def is_exact(self) -> bool:
        """True."""
        return True

    @property
    def has_pairs(self) -> bool:
        """True."""
        return True

    def cumulative(self, c: int, against: int | None = None) -> Cumulative:
        """Return the order by the log odds of class c; see `Curves`. Cost: a sort of the rows."""
        log_odds, positive, weight = self._column(c), self.codes == c, self.weight
        kept = None if weight is None or weight.all() else weight > 0
        if against is not None:
            pair = positive | (self.codes == against)
            kept = pair if kept is None else kept & pair
        if kept is not None:
            log_odds, positive = log_odds[kept], positive[kept]
            weight = None if weight is None else weight[kept]
        order = np.argsort(log_odds)[::-1]
        log_odds, positive = log_odds[order], positive[order]
        return _exact(log_odds, positive, None if weight is None else weight[order])

    def pair_auc(self, c: int) -> Interval:
        """Return areas of class c against each; see `Curves`. Cost: a sort, for all of them."""
        order = np.argsort(self._column(c))[::-1]
        log_odds, codes = self._column(c)[order], self.codes[order]
        weight = np.ones(len(codes)) if self.weight is None else self.weight[order]
        last = _last_of_ties(log_odds)
        share = _shares(_running_sum(np.where(codes == c, weight, 0.0))[last])
        tie = np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))
        before = 0.5 * (share[tie] + share[tie + 1])  # share of the positives before each row
        groups = len(self.classes) + 1
        sums, total = (np.bincount(codes + 1, v, groups)[1:] for v in (weight * before, weight))
        area = _area(sums, total, c)
        return Interval(area, area)

    def _column(self, c: int) -> NDArray[np.float64]:
        if self.log_odds.shape[1] == 1 and len(self.classes) == 2:
            return self.log_odds[:, 0] if c == 1 else -self.log_odds[:, 0]
        return self.log_odds[:, c]


def _exact(
    log_odds: NDArray[np.float64],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> Cumulative:
    """Sums over rows in decreasing order, at the last row of each distinct log odds."""
    last = _last_of_ties(log_odds)
    if weight is None:
        tp = np.cumsum(positive, dtype=np.int64)[last].astype(np.float64)
        fp = (last + 1) - tp
    else:
        tp = _running_sum(np.where(positive, weight, 0.0))[last]
        fp = _running_sum(np.where(positive, 0.0, weight))[last]
    distinct = log_odds[last]
    return Cumulative(distinct, tp, fp, True, distinct)


def _last_of_ties(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions of the last of equal numbers, of sorted ones."""
    return np.flatnonzero(np.append(values[1:] != values[:-1], True)[: len(values)])


def _running_sum(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """As `np.cumsum`, in two levels, so that the error grows with the square root of n only.

    Sums of numbers that are 0 or more do not decrease.
    """
    n_blocks = -(-len(values) // _SUM_BLOCK)
    padded = np.zeros((n_blocks, _SUM_BLOCK))
    padded.reshape(-1)[: len(values)] = values
    np.cumsum(padded, axis=1, out=padded)
    padded[1:] += np.cumsum(padded[:-1, -1])[:, None]
    return padded.reshape(-1)[: len(values)]


@dataclasses.dataclass(frozen=True, eq=False)
class HistogramCurves:
    """`Curves` from weights in bins of the log odds.

    Bin b of class c holds the rows whose `key_of` the log odds, shifted right by `shift[c]` bits,
    is `first[c] + b`.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        Sorted labels of the model.
    counts : ndarray of shape (k, k + 1, n_bins) or (k, 2, n_bins)
        Weight in the bins of each class: of the rows of each true class, and last of those of
        labels that the model does not know; or of the rows of this class and of all others.
    first : ndarray of shape (k,)
        Number of the first bin.
    shift : ndarray of shape (k,)
        Bits that a bin leaves out of keys.
    ends : ndarray of shape (k, k + 1, 2) or (k, 2, 2), default=None
        Weight at -infinity and at infinity, where it is not in bins.
    """

    classes: NDArray[Any]
    counts: NDArray[np.float64]
    first: NDArray[np.int64]
    shift: NDArray[np.int64]
    ends: NDArray[np.float64] | None = None

    @property
    def is_exact(self) -> bool:
        """False."""
        return False

    @property
    def has_pairs(self) -> bool:
        """Whether rows are counted by their true class."""
        return bool(self.counts.shape[1] == len(self.classes) + 1)

    def cumulative(self, c: int, against: int | None = None) -> Cumulative:
        """Return the order by the log odds of class c; see `Curves`."""
        weight, lower, upper = self._steps(c)
        positives, negatives = self._sides(weight, c, against)
        used = (positives > 0) | (negatives > 0)
        tp, fp = np.cumsum(positives[used]), np.cumsum(negatives[used])
        return Cumulative(lower[used], tp, fp, False, upper[used])

    def pair_auc(self, c: int) -> Interval:
        """Return areas of class c against each; see `Curves`."""
        self._check_pairs()
        weight, lower, upper = self._steps(c)
        share, weight = _shares(np.cumsum(weight[c])), weight[:-1]
        shift = np.where(lower == upper, 0.5 * np.diff(share), 0.0)  # ties count one half
        bounds = (share[:-1] + shift, share[1:] - shift)
        return Interval(*(_area(weight @ each, weight.sum(axis=1), c) for each in bounds))

    def _steps(self, c: int) -> tuple[NDArray[np.float64], ...]:
        """Weights (groups, m) of bins from the highest to the lowest, and their edges (m,)."""
        counts = self.counts[c]
        bins = np.flatnonzero(counts.any(axis=0))[::-1]
        number, shift = self.first[c] + bins, int(self.shift[c])
        weight, lower, upper = counts[:, bins], _edge(number, shift), _edge(number + 1, shift)
        if self.ends is None:
            return weight, lower, upper
        low, high = self.ends[c].T
        weight = np.column_stack([high, weight, low])
        return weight, *(np.concatenate([[np.inf], each, [-np.inf]]) for each in (lower, upper))

    def _check_pairs(self) -> None:
        if not self.has_pairs:
            raise ValueError(
                f"Pairs of {len(self.classes)} classes are not counted, only each class against "
                "the rest. Evaluate fewer rows, so that all are kept (exact_rows)."
            )

    def _sides(
        self, weight: NDArray[np.float64], c: int, against: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of positives and of negatives, of those of all groups."""
        if against is not None:
            self._check_pairs()
            return weight[c], weight[against]
        if not self.has_pairs:
            return weight[0], weight[1]
        return weight[c], weight[np.arange(len(weight)) != c].sum(axis=0)


def _shares(tp: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums, and 0 before them, as shares of the last; NaN where that is 0, or there are none."""
    sums = np.append(0.0, tp) if len(tp) else np.zeros(2)
    return np.asarray(sums / (sums[-1] or np.nan))


def _area(sums: NDArray[Any], weight: NDArray[Any], c: int) -> NDArray[np.float64]:
    """Means by weight; NaN without any, and at c itself."""
    area = np.full(len(sums), np.nan)
    np.divide(sums, weight, out=area, where=weight > 0)
    area[c] = np.nan
    return area


def _edge(number: NDArray[np.int64], shift: int) -> NDArray[np.float64]:
    """Log odds at the lower edges of bins of these numbers; infinite beyond all keys."""
    limit = (_LAST >> shift) + 1
    return log_odds_of(np.clip(number, -limit, limit).astype(np.int64) << shift)


def key_of(log_odds: Any) -> NDArray[np.int64]:
    """Return whole numbers in the order of log odds, whose spacing is that of floats of |l| + 1.

    They are odd: the key of -l is minus that of l. Differences below 2^-52 share a key.
    """
    l = np.asarray(log_odds, np.float64)  # noqa: E741  (the symbol of the definition)
    size = (np.abs(l) + 1.0).view(np.int64) - _ONE
    return np.asarray(np.where(l < 0, -size, size))


def log_odds_of(key: Any) -> NDArray[np.float64]:
    """Return the log odds of keys: the inverse of `key_of`; infinite beyond the last key."""
    key = np.asarray(key, np.int64)
    size = (np.minimum(np.abs(key), _LAST) + _ONE).view(np.float64) - 1.0
    return np.asarray(np.where(key < 0, -size, size))
