"""How far probabilities can be trusted: reliability, expected calibration error, Brier score.

All of it comes from sums over cells of the probability (`Cells`), and is exact in any mode.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cells import Cells

__all__ = ["BrierParts", "Reliability", "brier_parts", "calibration_error", "reliability"]


class Reliability(NamedTuple):
    """Probabilities beside the shares of rows that are positive, in bins of equal width.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_bins,)
        Edges: a bin holds the rows with lower <= p < upper, and the last one those of p = 1.
    weight : ndarray of shape (n_bins,)
        Weight of the rows of each bin.
    prob_pred : ndarray of shape (n_bins,)
        Mean probability; NaN in a bin without rows.
    prob_true : ndarray of shape (n_bins,)
        Share of positives; NaN in a bin without rows.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    weight: NDArray[np.float64]
    prob_pred: NDArray[np.float64]
    prob_true: NDArray[np.float64]


class BrierParts(NamedTuple):
    """The Brier score in parts: brier = calibration + refinement + within_bin.

    Parameters
    ----------
    brier : float
        Mean of (p - y)^2.
    calibration : float
        Mean of (mean p of the bin - share of positives in it)^2. Less is better; recalibrated
        probabilities have 0.
    refinement : float
        Mean of share (1 - share): what remains if each row gets the share of its bin. Less is
        better.
    uncertainty : float
        Share (1 - share) of all rows: the score of a constant probability. It says nothing about
        the model.
    within_bin : float
        Variance of p within bins less twice its covariance with y: what bins of some width leave
        over. It vanishes as bins get narrow.
    """

    brier: float
    calibration: float
    refinement: float
    uncertainty: float
    within_bin: float

    @property
    def resolution(self) -> float:
        """Uncertainty less refinement: what the model gains by telling rows apart."""
        return self.uncertainty - self.refinement


class _Bins(NamedTuple):
    """Cells of one label, merged to bins: weights, and sums of errors of p."""

    edges: NDArray[np.float64]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]
    miss_positives: NDArray[np.float64]
    miss_negatives: NDArray[np.float64]
    square: NDArray[np.float64]

    @property
    def weight(self) -> NDArray[np.float64]:
        return self.positives + self.negatives

    @property
    def excess(self) -> NDArray[np.float64]:
        """Sums of p - y."""
        return self.miss_negatives - self.miss_positives


def reliability(cells: Cells, row: int, n_bins: int) -> Reliability:
    """Return mean probabilities and shares of positives of the label in a row of `cells`."""
    bins = _merged(cells, row, n_bins)
    weight = np.where(bins.weight > 0, bins.weight, np.nan)
    prob_true = bins.positives / weight
    prob_pred = (bins.positives - bins.miss_positives + bins.miss_negatives) / weight
    return Reliability(bins.edges[:-1], bins.edges[1:], bins.weight, prob_pred, prob_true)


def calibration_error(cells: Cells, row: int, n_bins: int) -> float:
    """Mean over rows of |mean p - share of positives| of their bin; NaN without rows."""
    bins = _merged(cells, row, n_bins)
    return float(np.abs(bins.excess).sum() / (bins.weight.sum() or np.nan))


def brier_parts(cells: Cells, row: int, n_bins: int) -> BrierParts:
    """Return the Brier score of one label against the rest, in parts; NaN without rows."""
    bins = _merged(cells, row, n_bins)
    bins = _Bins(bins.edges, *(np.asarray(each)[bins.weight > 0] for each in bins[1:]))
    weight, total = bins.weight, float(bins.weight.sum()) or np.nan
    share = float(bins.positives.sum()) / total
    calibration = float(np.sum(bins.excess * (bins.excess / weight)))
    refinement = float(np.sum(bins.positives * (bins.negatives / weight)))
    return BrierParts(
        float(bins.square.sum()) / total, calibration / total, refinement / total,
        share * (float(bins.negatives.sum()) / total), _within(bins) / total,
    )  # fmt: skip


def _within(bins: _Bins) -> float:
    """Weight times variance of p - y within bins, less that of y.

    Of p - y: square - excess^2 / weight; of y: positives negatives / weight.
    """
    between = bins.excess * (bins.excess / bins.weight)
    of_y = bins.positives * (bins.negatives / bins.weight)
    return float(np.sum((bins.square - between) - of_y))


def _merged(cells: Cells, row: int, n_bins: int) -> _Bins:
    """Cells between the edges 0, 1 / n_bins, ..., 1. Raises ValueError where no cell ends there."""
    is_whole = isinstance(n_bins, (int, np.integer)) and not isinstance(n_bins, bool)
    if not is_whole or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number, 1 or more, got {n_bins!r}.")
    edges = np.arange(n_bins + 1) / n_bins
    missing = np.setdiff1d(edges[1:-1], cells.thresholds)
    if len(missing):
        raise ValueError(
            f"n_bins={n_bins} needs a bin edge at {missing[0]:.6g}, which was not counted. Use a "
            "divisor of 100, or evaluate with such `thresholds`."
        )
    first = np.searchsorted(cells.thresholds, edges[1:-1]) + 1
    starts = np.concatenate([[0], first]).astype(np.intp)
    return _Bins(edges, *(np.add.reduceat(sums[row], starts) for sums in cells[1:]))
