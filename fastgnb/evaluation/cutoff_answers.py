"""What an evaluation says of cut-offs: every rate at any of them, and which one is best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .cells import Cells, logit
from .curves import Interval
from .cutoffs import BestCutoff, cheapest, most_positives
from .fields import EvaluationFields
from .rates import Rates, counts_at, rates_of

__all__ = ["CutoffAnswers"]


class _Counts(NamedTuple):
    """Weight of rows at or above cut-offs where it was counted, and of all rows."""

    is_counted: NDArray[np.bool_]
    above: NDArray[np.float64]
    total: float


class CutoffAnswers(EvaluationFields):
    """Answers about decisions by a cut-off of the probability."""

    def rates(self, tau: ArrayLike, label: Any = None) -> Rates:
        """Return every rate of one label against the rest at any cut-off.

        A row is predicted positive if its probability is tau or more.

        Parameters
        ----------
        tau : float or array-like of shape (m,)
            Cut-offs of the probability, from 0 to 1.
        label : label, default=None
            The positive label. By default the second of two classes.

        Returns
        -------
        Rates
            Weights ``tp``, ``fp``, ``fn``, ``tn``, and the rates made of them, each an `Interval`
            of the shape of tau. Bounds are equal where a rate is exact: at 0.01, 0.02, ..., 0.99,
            at the ``thresholds`` of the evaluation, and everywhere if all rows were kept.

        Raises
        ------
        ValueError
            If tau is not within [0, 1], or the label is not one of the evaluation.
        """
        label = self._label(label)
        values = _check_cutoffs(tau)
        steps = self._steps(label)
        totals: Any = [float(sums[-1]) for sums in (steps.tp, steps.fp)]
        tp, fp = counts_at(steps, logit(values))
        c = self._class_of(label)
        if not steps.is_exact and c >= 0 and self.cells is not None:
            pairs = zip(_counted(self.cells, c, values), (tp, fp), totals, strict=True)
            (tp, fp), totals = zip(*(_either(*each) for each in pairs), strict=True)
        return rates_of(values[()], tp, fp, *totals)  # type: ignore[no-any-return]

    def best_cutoff(
        self,
        label: Any = None,
        *,
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        max_fpr: float | None = None,
    ) -> BestCutoff:
        """Return the cut-off that is best for given costs, or for a bound of the FPR.

        Parameters
        ----------
        label : label, default=None
            The positive label. By default the second of two classes.
        cost_fp, cost_fn : float, default=None
            Costs of a false positive and of a false negative. The cut-off has the least mean cost
            on the rows evaluated. If one is given, the other is 1.
        max_fpr : float, default=None
            Bound of the false positive rate. The cut-off has the most true positives within it.

        Returns
        -------
        BestCutoff
            ``threshold``, ``log_odds``, the ``rates`` at it, which are exact, and the mean
            ``cost``.

        Raises
        ------
        ValueError
            Unless either costs or a bound are given, and if they are out of range.

        Notes
        -----
        From a histogram, the cut-offs between bins are compared. If probabilities are calibrated,
        the best cut-off is near ``cost_fp / (cost_fp + cost_fn)``.
        """
        has_costs = cost_fp is not None or cost_fn is not None
        if has_costs == (max_fpr is not None):
            raise ValueError("Give either cost_fp and cost_fn, or max_fpr.")
        steps = self._steps(self._label(label))
        if max_fpr is not None:
            return most_positives(steps, max_fpr)
        fp, fn = (1.0 if cost is None else cost for cost in (cost_fp, cost_fn))
        return cheapest(steps, fp, fn)


def _check_cutoffs(tau: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(tau)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"tau must be numbers from 0 to 1, got {tau!r}.")
    values = values.astype(np.float64)
    outside = values[~((values >= 0) & (values <= 1))]
    if len(outside):
        raise ValueError(f"tau must be from 0 to 1, got {outside[0]}.")
    return values


def _counted(cells: Cells, c: int, tau: NDArray[np.float64]) -> list[_Counts]:
    """Positives and negatives at or above the cut-offs that cells were counted for."""
    at = np.searchsorted(cells.thresholds, tau).clip(max=len(cells.thresholds) - 1)
    is_counted = cells.thresholds[at] == tau
    sums = (np.cumsum(counts[c][::-1])[::-1] for counts in (cells.positives, cells.negatives))
    return [_Counts(is_counted, above[at + 1], float(above[0])) for above in sums]


def _either(counts: _Counts, bounds: Interval, total: float) -> tuple[Interval, Any]:
    """Sums and their totals: of cells where these were counted, and else bounds.

    Both from the same source, so that nothing is left of sums in another order where all is above.
    """
    is_counted = counts.is_counted
    lower, upper = (np.where(is_counted, counts.above, each)[()] for each in bounds)
    return Interval(lower, upper), np.where(is_counted, counts.total, total)[()]
