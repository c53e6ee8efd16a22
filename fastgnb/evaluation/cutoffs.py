"""The best cut-off: for the costs of both mistakes, or for a bound of the false positive rate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .curves import Cumulative, Interval
from .ranking import probability
from .rates import Rates, rates_of

__all__ = ["BestCutoff", "cheapest", "most_positives"]


class BestCutoff(NamedTuple):
    """A cut-off, and what it decides.

    Parameters
    ----------
    threshold : float
        Cut-off of the probability: rows at or above it are predicted positive. Infinite if no row
        should be.
    log_odds : float
        The same as log odds, which still differ where probabilities round to 1.
    rates : Rates
        The rates at it.
    cost : float
        Mean cost of a row, if costs were given, else NaN.
    """

    threshold: float
    log_odds: float
    rates: Rates
    cost: float


def cheapest(steps: Cumulative, cost_fp: float, cost_fn: float) -> BestCutoff:
    """Return the cut-off of least cost; of several, that with fewest predicted positives."""
    for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        if not (_is_number(cost) and 0 <= cost < np.inf):
            raise ValueError(f"{name} must be a finite number, 0 or more, got {cost!r}.")
    tp, fp = _with_none(steps)
    total = tp[-1] + fp[-1]
    costs = cost_fp * (fp / total) + cost_fn * ((tp[-1] - tp) / total)
    at = int(np.argmin(costs))
    return _cutoff(steps, at, float(costs[at]))


def most_positives(steps: Cumulative, max_fpr: float) -> BestCutoff:
    """Return the cut-off of most true positives whose false positive rate is within a bound."""
    if not (_is_number(max_fpr) and 0 <= max_fpr <= 1):
        raise ValueError(f"max_fpr must be a number from 0 to 1, got {max_fpr!r}.")
    tp, fp = _with_none(steps)
    allowed = int(np.searchsorted(fp, max_fpr * fp[-1], side="right"))
    return _cutoff(steps, int(np.argmax(tp[:allowed])), float("nan"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _with_none(steps: Cumulative) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums at each threshold, and before them 0, where no row is predicted positive."""
    if not len(steps.tp):
        raise ValueError("no rows to choose a cut-off from, expected at least one")
    return np.append(0.0, steps.tp), np.append(0.0, steps.fp)


def _cutoff(steps: Cumulative, at: int, cost: float) -> BestCutoff:
    """The cut-off behind the first `at` thresholds."""
    tp, fp = _with_none(steps)
    log_odds = _log_odds_behind(steps, at)
    threshold = float(probability(np.asarray(log_odds))) if at else np.inf
    sums = Interval(float(tp[at]), float(tp[at])), Interval(float(fp[at]), float(fp[at]))
    rates = rates_of(threshold, *sums, float(tp[-1]), float(fp[-1]))
    return BestCutoff(threshold, log_odds, rates, cost)


def _log_odds_behind(steps: Cumulative, at: int) -> float:
    """Log odds that part the first `at` thresholds from the others.

    The middle between two rows, where rounding of the probability moves no row across. Behind a
    bin, its lower edge: the rows below it are unknown.
    """
    if at == 0:
        return float("inf")
    if at == len(steps.log_odds):
        return float("-inf")
    last, following = float(steps.log_odds[at - 1]), float(steps.upper[at])
    if not steps.is_exact and np.isfinite(last):  # the rows of a bin begin where keys round up
        last -= 0.5 * float(np.spacing(abs(last) + 1.0))
    middle = 0.5 * last + 0.5 * following
    return middle if following < middle <= last else last
