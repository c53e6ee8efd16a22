"""Curves of a ranking and the areas under them: ROC, precision and recall, lift.

All of them come from the same sums (`Cumulative`). Where the order of the rows of a bin is unknown,
an area is an interval: its bounds are those of the best and of the worst order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .curves import Cumulative, Interval

__all__ = [
    "LiftCurve", "PrecisionRecallCurve", "RocCurve", "auc", "average_precision", "lift",
    "precision_recall", "probability", "roc",
]  # fmt: skip

_FEW = 32
"""Rows of a bin that are added one by one."""

_UNDEFINED = Interval(float("nan"), float("nan"))


class RocCurve(NamedTuple):
    """Receiver operating characteristic, from the highest threshold to the lowest.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (m + 1,)
        False and true positive rate; NaN if there are no negatives, or no positives.
    log_odds : ndarray of shape (m + 1,)
        Thresholds of the log odds. The first is infinite: it predicts no row positive.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    log_odds: NDArray[np.float64]


class PrecisionRecallCurve(NamedTuple):
    """Precision and recall, from the lowest threshold to the highest, as scikit-learn orders them.

    Parameters
    ----------
    precision, recall : ndarray of shape (m + 1,)
        The last ones are 1 and 0, and have no threshold. Recall is NaN if there are no positives.
    log_odds : ndarray of shape (m,)
        Thresholds of the log odds.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    log_odds: NDArray[np.float64]


class LiftCurve(NamedTuple):
    """Gain and lift where the rows of highest probability are chosen.

    Parameters
    ----------
    share : ndarray of shape (m + 1,)
        Share of all weight that is chosen, from 0 to 1.
    gain : ndarray of shape (m + 1,)
        Share of the positives that is among it: the true positive rate.
    lift : ndarray of shape (m + 1,)
        gain / share: how many times as many positives as in as many rows chosen at random. The
        first one, where no row is chosen, repeats the second.
    log_odds : ndarray of shape (m + 1,)
        Thresholds of the log odds. The first is infinite.
    """

    share: NDArray[np.float64]
    gain: NDArray[np.float64]
    lift: NDArray[np.float64]
    log_odds: NDArray[np.float64]


def probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities of log odds."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(log_odds, np.float64))))


def auc(steps: Cumulative) -> Interval:
    """Area under the ROC curve: ties count one half. NaN unless there are rows of both kinds."""
    positives, negatives = _totals(steps)
    if not (positives > 0 and negatives > 0):
        return _UNDEFINED
    tpr = np.append(0.0, steps.tp) / positives
    step = np.diff(steps.fp, prepend=0.0) / negatives
    middle = 0.5 * (tpr[:-1] + tpr[1:])
    is_tie = steps.log_odds == steps.upper
    bounds = (np.where(is_tie, middle, each) for each in (tpr[:-1], tpr[1:]))
    return Interval(*(float(np.sum(step * each)) for each in bounds))


def average_precision(steps: Cumulative, *, is_counted: bool = False) -> Interval:
    """Mean precision over recall, in steps. NaN if there are no positives.

    The best order of a bin has all positives in one tie, before the negatives. The worst has them
    after the negatives, and apart. With `is_counted`, sums are numbers of rows.
    """
    positives, _ = _totals(steps)
    if not positives > 0:
        return _UNDEFINED
    step = np.diff(steps.tp, prepend=0.0)
    used = step > 0
    step, tp, fp = step[used], steps.tp[used], steps.fp[used]
    fp_before = np.append(0.0, steps.fp[:-1])[used]
    tied, best = step * (tp / (tp + fp)), step * (tp / (tp + fp_before))
    if steps.is_exact:
        return Interval(*[float(np.sum(tied / positives))] * 2)
    is_tie = (steps.log_odds == steps.upper)[used]
    bounds = (np.where(is_tie, tied, each) for each in (_apart(step, tp, fp, is_counted), best))
    return Interval(*(float(np.sum(each / positives)) for each in bounds))


def _apart(
    step: NDArray[np.float64], tp: NDArray[np.float64], fp: NDArray[np.float64], is_counted: bool
) -> NDArray[np.float64]:
    """Sums of the precision over the positives of each bin, one after the other.

    Over t from 0 to their weight, (TP + t) / (TP + t + FP) is integrated, which is less than any
    sum of steps. Of few rows of weight 1 it is the sum itself.
    """
    before = tp - step
    growth = np.divide(step, before + fp, where=fp > 0, out=np.zeros(len(fp)))
    total = step - fp * np.log1p(growth)
    if is_counted:
        few = step <= _FEW
        total[few] = 0.0
        for i in range(1, _FEW + 1):
            has = few & (step >= i)
            total[has] += (before[has] + i) / (before[has] + i + fp[has])
    return total


def roc(steps: Cumulative) -> RocCurve:
    """Return the ROC curve, with a point for each threshold."""
    positives, negatives = _totals(steps)
    return RocCurve(
        np.append(0.0, steps.fp) / (negatives or np.nan),
        np.append(0.0, steps.tp) / (positives or np.nan),
        np.append(np.inf, steps.log_odds),
    )


def precision_recall(steps: Cumulative) -> PrecisionRecallCurve:
    """Return precision and recall, with a point for each threshold."""
    positives, _ = _totals(steps)
    precision = np.append(1.0, steps.tp / (steps.tp + steps.fp))
    recall = np.append(0.0, steps.tp) / (positives or np.nan)
    return PrecisionRecallCurve(precision[::-1], recall[::-1], steps.log_odds[::-1])


def lift(steps: Cumulative) -> LiftCurve:
    """Return gain and lift, with a point for each threshold."""
    positives, negatives = _totals(steps)
    share = np.append(0.0, steps.tp + steps.fp) / ((positives + negatives) or np.nan)
    gain = np.append(0.0, steps.tp) / (positives or np.nan)
    # No lift where the share of tiny weights rounds to 0.
    unknown = np.full(len(steps.tp), np.nan)
    times = np.divide(gain[1:], share[1:], out=unknown, where=share[1:] > 0)
    return LiftCurve(share, gain, np.append(times[:1], times), np.append(np.inf, steps.log_odds))


def _totals(steps: Cumulative) -> tuple[float, float]:
    """Weight of all positives and of all negatives."""
    if not len(steps.tp):
        return 0.0, 0.0
    return float(steps.tp[-1]), float(steps.fp[-1])
