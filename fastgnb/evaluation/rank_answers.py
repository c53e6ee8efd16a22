"""What an evaluation says of the order of rows: ROC, areas, precision and recall, lift, top k."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import ranking
from .curves import Interval
from .fields import EvaluationFields
from .ranking import LiftCurve, PrecisionRecallCurve, RocCurve

__all__ = ["RankAnswers"]

_AVERAGES = ["macro", "weighted", "pairs"]


class RankAnswers(EvaluationFields):
    """Answers from the rows of a label and the others, in the order of their log odds."""

    def roc(self, label: Any = None) -> RocCurve:
        """Return the receiver operating characteristic of one label against the rest.

        Parameters
        ----------
        label : label, default=None
            The positive label. By default the second of two classes.

        Returns
        -------
        RocCurve
            ``fpr``, ``tpr`` and ``log_odds``, a point for each threshold, as
            ``sklearn.metrics.roc_curve`` of the log odds with ``drop_intermediate=False``. A rate
            is NaN if it has no rows.

        Raises
        ------
        ValueError
            If the label is not one of the evaluation.

        Notes
        -----
        From a histogram there is a point for each bin that holds rows, and it is exact.
        """
        return ranking.roc(self._steps(self._label(label)))

    def precision_recall(self, label: Any = None) -> PrecisionRecallCurve:
        """Return precision and recall of one label against the rest.

        Parameters
        ----------
        label : label, default=None
            The positive label. By default the second of two classes.

        Returns
        -------
        PrecisionRecallCurve
            ``precision``, ``recall`` and ``log_odds``, in increasing order of the threshold, as
            ``sklearn.metrics.precision_recall_curve`` of the log odds.

        Raises
        ------
        ValueError
            If the label is not one of the evaluation.
        """
        return ranking.precision_recall(self._steps(self._label(label)))

    def lift(self, label: Any = None) -> LiftCurve:
        """Return gain and lift where the rows of highest probability are chosen.

        Parameters
        ----------
        label : label, default=None
            The positive label. By default the second of two classes.

        Returns
        -------
        LiftCurve
            ``share`` of the rows that is chosen, ``gain``, ``lift`` and ``log_odds``.

        Raises
        ------
        ValueError
            If the label is not one of the evaluation.
        """
        return ranking.lift(self._steps(self._label(label)))

    def auc(self, label: Any = None) -> Interval:
        """Return the area under the ROC curve of one label against the rest.

        Parameters
        ----------
        label : label, default=None
            The positive label. By default the second of two classes.

        Returns
        -------
        Interval
            ``lower`` and ``upper``, equal where the area is exact; ``value`` is the middle. NaN
            unless there are rows of the label and of others. 0.5 for a label that the model does
            not know, whose probability is 0 in every row.

        Raises
        ------
        ValueError
            If the label is not one of the evaluation.
        """
        return self._areas(self._label(label))[0]

    def average_precision(self, label: Any = None) -> Interval:
        """Return the mean precision over recall of one label against the rest.

        Parameters
        ----------
        label : label, default=None
            The positive label. By default the second of two classes.

        Returns
        -------
        Interval
            ``lower`` and ``upper``, equal where it is exact; ``value`` is the middle. NaN if there
            are no rows of the label.

        Raises
        ------
        ValueError
            If the label is not one of the evaluation.
        """
        return self._areas(self._label(label))[1]

    def mean_auc(self, average: str = "macro") -> Interval:
        """Return the mean area under the ROC curve.

        Parameters
        ----------
        average : {"macro", "weighted", "pairs"}, default="macro"
            "macro" is the mean over labels, each against the rest, and "weighted" that by the
            weight of their rows. "pairs" is the mean over pairs of classes, each against the other
            alone (Hand and Till), which does not depend on how frequent classes are.

        Returns
        -------
        Interval
            Bounds of the mean. Labels without an area of their own are left out; NaN if none has
            one.

        Raises
        ------
        ValueError
            For another average, and for "pairs" if rows were counted in bins of more classes than
            can be compared pair by pair.

        References
        ----------
        D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for
        multiple class classification problems", Machine Learning 45, 2001.
        """
        if average not in _AVERAGES:
            raise ValueError(f"average must be one of {_AVERAGES}, got {average!r}.")
        if average == "pairs":
            pairs = [self._curves().pair_auc(c) for c in range(len(self._curves().classes))]
            lower, upper = (np.concatenate(bounds) for bounds in zip(*pairs, strict=True))
            weight = np.ones(len(lower))
        else:
            areas = [self._areas(label)[0] for label in self.labels.tolist()]
            lower, upper = np.array(areas).T
            weight = np.ones(len(lower)) if average == "macro" else self.support.astype(np.float64)
        defined = ~np.isnan(lower)
        if not defined.any():
            return Interval(float("nan"), float("nan"))
        share = weight[defined] / weight[defined].sum()
        return Interval(float(share @ lower[defined]), float(share @ upper[defined]))

    def top_k_accuracy(self, k: int = 2) -> float:
        """Return the share of rows whose label is among the k most probable classes.

        Parameters
        ----------
        k : int, default=2
            Number of classes.

        Returns
        -------
        float
            Share of the weight of all rows. Of classes that are equally probable the first ones
            count as more probable, as in ``predict``, so that k = 1 gives the accuracy.

        Raises
        ------
        ValueError
            If k is below 1.
        """
        is_whole = isinstance(k, (int, np.integer)) and not isinstance(k, bool)
        if not is_whole or k < 1:
            raise ValueError(f"k must be a whole number, 1 or more, got {k!r}.")
        if self.rank_weight is None:
            raise ValueError("This evaluation holds no ranks of the true labels.")
        return float(self.rank_weight[:k].sum() / self.weight)

    def _areas(self, label: Any) -> tuple[Interval, Interval]:
        """AUC and average precision of a label: computed once, from one order of the rows."""
        kept = self.__dict__.setdefault("_kept_areas", {})
        if label not in kept:
            steps = self._steps(label)
            is_counted = self.total_weight is None
            precision = ranking.average_precision(steps, is_counted=is_counted)
            kept[label] = ranking.auc(steps), precision
        areas: tuple[Interval, Interval] = kept[label]
        return areas
