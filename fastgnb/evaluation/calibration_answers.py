"""What an evaluation says of probabilities: reliability, calibration error, parts of the Brier."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import calibration
from .calibration import BrierParts, Reliability
from .fields import EvaluationFields

__all__ = ["CalibrationAnswers"]


class CalibrationAnswers(EvaluationFields):
    """Answers from sums over cells of the probability, which are exact for any number of rows."""

    def calibration(self, label: Any = None, n_bins: int = 10) -> Reliability:
        """Return mean probabilities beside shares of rows that are positive.

        Parameters
        ----------
        label : label, default=None
            The positive label. None: the predicted label, whose probability is how sure the model
            is, and a row is positive if the prediction is right.
        n_bins : int, default=10
            Number of bins of equal width: a divisor of 100, or one whose edges are among the
            ``thresholds`` of the evaluation.

        Returns
        -------
        Reliability
            ``lower``, ``upper``, ``weight``, ``prob_pred`` and ``prob_true`` of each bin.

        Raises
        ------
        ValueError
            If the label is not one of the evaluation, or the edges of the bins were not counted.

        Notes
        -----
        ``sklearn.calibration.calibration_curve`` leaves out bins without rows, and counts a
        probability that equals an inner edge in the bin below it.
        """
        return calibration.reliability(self._cells(), self._row(label), n_bins)

    def expected_calibration_error(self, label: Any = None, n_bins: int = 10) -> float:
        """Return how far probabilities are from shares, on average over rows.

        Parameters
        ----------
        label : label, default=None
            The positive label. None: the predicted label; see `calibration`.
        n_bins : int, default=10
            Number of bins; see `calibration`.

        Returns
        -------
        float
            Mean of abs(mean probability - share of positives) of the bin of each row.

        Raises
        ------
        ValueError
            As `calibration`.

        References
        ----------
        C. Guo et al., "On calibration of modern neural networks", ICML 2017.
        """
        return calibration.calibration_error(self._cells(), self._row(label), n_bins)

    def brier_parts(self, label: Any = None, n_bins: int = 10) -> BrierParts:
        """Return the Brier score as calibration + refinement + within_bin.

        Parameters
        ----------
        label : label, default=None
            The positive label. None: all labels, whose parts are those of ``brier``: summed over
            the labels, and halved for two.
        n_bins : int, default=10
            Number of bins; see `calibration`.

        Returns
        -------
        BrierParts
            ``brier``, ``calibration``, ``refinement``, ``uncertainty``, ``within_bin`` and
            ``resolution``.

        Raises
        ------
        ValueError
            As `calibration`.

        References
        ----------
        A. H. Murphy, "A new vector partition of the probability score", Journal of Applied
        Meteorology 12, 1973; D. B. Stephenson, C. A. S. Coelho and I. T. Jolliffe, "Two extra
        components in the Brier score decomposition", Weather and Forecasting 23, 2008.
        """
        cells = self._cells()
        if label is not None:
            return calibration.brier_parts(cells, self._row(label), n_bins)
        parts = [
            calibration.brier_parts(cells, row, n_bins) for row in range(len(cells.positives) - 1)
        ]
        parts += [_never_predicted(share) for share in self._unknown_shares()]
        half = 0.5 if len(self.labels) < 3 else 1.0
        return BrierParts(*(half * float(np.sum(each)) for each in zip(*parts, strict=True)))

    def _row(self, label: Any) -> int:
        """The row of the cells of a label. Raises ValueError for labels without one."""
        if label is None:
            return len(self._cells().positives) - 1
        c = self._class_of(self._label(label))
        if c < 0:
            raise ValueError(f"The model does not know {label!r}: its probability is always 0.")
        return c

    def _unknown_shares(self) -> list[float]:
        """Shares of weight of the labels that the model does not know; unlisted ones are one."""
        known = set(self._curves().classes.tolist())
        pairs = zip(self.labels.tolist(), self.support.tolist(), strict=True)
        shares = [support / self.weight for label, support in pairs if label not in known]
        if self.n_unlisted:
            shares.append(1.0 - float(self.support.sum()) / self.weight)
        return shares


def _never_predicted(share: float) -> BrierParts:
    """The score of a label of probability 0 everywhere."""
    spread = share * (1.0 - share)
    return BrierParts(share, share * share, spread, spread, 0.0)
