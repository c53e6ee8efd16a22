"""What a cut-off decides: weights of right and wrong decisions, and every rate made of them.

A row is predicted positive if its probability is the cut-off or more. Where rows of a bin may lie
on either side of the cut-off, each rate is an interval: all of them grow, or all fall, with more
true positives and fewer false ones, so that two corners bound them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .curves import Cumulative, Interval, scalar_or_array

__all__ = ["Rates", "counts_at", "matthews", "rates_of", "ratio"]


class Rates(NamedTuple):
    """Decisions at cut-offs, as weights and as rates; each number is an `Interval`.

    The bounds are equal where a number is exact. Rates are 0 where they are undefined, as those of
    scikit-learn. They have the shape of the cut-offs.

    Parameters
    ----------
    threshold : float or ndarray
        Cut-offs of the probability: rows at or above one are predicted positive.
    tp, fp, fn, tn : Interval
        Weight of true positives, false positives, false negatives and true negatives.
    tpr : Interval
        True positive rate (recall, sensitivity): tp / (tp + fn).
    fpr : Interval
        False positive rate: fp / (fp + tn).
    tnr : Interval
        True negative rate (specificity): tn / (fp + tn).
    fnr : Interval
        False negative rate (miss rate): fn / (tp + fn).
    ppv : Interval
        Positive predictive value (precision): tp / (tp + fp).
    npv : Interval
        Negative predictive value: tn / (tn + fn).
    accuracy : Interval
        Share of all weight that is decided correctly.
    f1 : Interval
        Harmonic mean of precision and recall.
    mcc : Interval
        Matthews' correlation coefficient, from -1 to 1.
    positive_rate : Interval
        Share of all weight that is predicted positive.
    """

    threshold: Any
    tp: Interval
    fp: Interval
    fn: Interval
    tn: Interval
    tpr: Interval
    fpr: Interval
    tnr: Interval
    fnr: Interval
    ppv: Interval
    npv: Interval
    accuracy: Interval
    f1: Interval
    mcc: Interval
    positive_rate: Interval


def ratio(part: Any, total: Any) -> Any:
    """part / total, and 0 where there is nothing to divide by."""
    part, total = np.broadcast_arrays(np.asarray(part, float), np.asarray(total, float))
    return scalar_or_array(np.divide(part, total, out=np.zeros(part.shape), where=total != 0))


def rates_of(threshold: Any, tp: Interval, fp: Interval, positives: Any, negatives: Any) -> Any:
    """Return the `Rates` of true and false positives among so many rows of both kinds."""
    best = _corner(tp.upper, fp.lower, positives, negatives)
    worst = _corner(tp.lower, fp.upper, positives, negatives)
    falling = {"fp", "fn", "fpr", "fnr"}
    pairs = {
        name: Interval(best[name], worst[name])
        if name in falling
        else Interval(worst[name], best[name])
        for name in best
    }
    total = positives + negatives
    share = Interval(ratio(tp.lower + fp.lower, total), ratio(tp.upper + fp.upper, total))
    return Rates(threshold, **pairs, positive_rate=share)


def _corner(tp: Any, fp: Any, positives: Any, negatives: Any) -> dict[str, Any]:
    """Every number that has its bound where these are the positives."""
    tp, fp = scalar_or_array(tp), scalar_or_array(fp)
    fn, tn = positives - tp, negatives - fp
    return {
        "tp": tp, "fp": fp, "fn": fn, "tn": tn,
        "tpr": ratio(tp, positives), "fpr": ratio(fp, negatives),
        "tnr": ratio(tn, negatives), "fnr": ratio(fn, positives),
        "ppv": ratio(tp, tp + fp), "npv": ratio(tn, tn + fn),
        "accuracy": ratio(tp + tn, positives + negatives),
        "f1": ratio(2 * tp, positives + tp + fp), "mcc": matthews(tp, fp, positives, negatives),
    }  # fmt: skip


def matthews(tp: Any, fp: Any, positives: Any, negatives: Any) -> Any:
    """Matthews' correlation coefficient of two classes; 0 where it is undefined.

    From shares, so that products of weights do not overflow.
    """
    recall, fallout = ratio(tp, positives), ratio(fp, negatives)
    total = positives + negatives
    share = ratio(tp + fp, total)
    other = ratio((positives - tp) + (negatives - fp), total)
    spread = np.sqrt(np.asarray(share * other))
    balance = np.sqrt(ratio(positives, total) * ratio(negatives, total))
    return ratio((recall - fallout) * balance, spread)


def counts_at(steps: Cumulative, log_odds: Any) -> tuple[Interval, Interval]:
    """Weight of positives and of negatives whose log odds are those given or more."""
    low = high = np.asarray(log_odds, np.float64)
    if not steps.is_exact:  # bins round log odds to the nearest
        slack = np.where(np.isfinite(low), np.finfo(np.float64).eps * (np.abs(low) + 1.0), 0.0)
        low, high = low - slack, high + slack
    above = np.searchsorted(-steps.log_odds, -high, side="right")
    tops = np.append(steps.upper, -np.inf)[above]  # of the next step, of which some may be above
    is_split = (tops > low) | ((tops == low) & (low == np.inf))
    last = np.minimum(above + is_split, len(steps.log_odds))
    return _between(steps.tp, above, last), _between(steps.fp, above, last)


def _between(sums: NDArray[np.float64], first: Any, last: Any) -> Interval:
    padded = np.append(0.0, sums)
    return Interval(padded[first], padded[last])
