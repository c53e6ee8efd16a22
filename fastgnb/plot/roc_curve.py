"""`RocCurveDisplay`: the receiver operating characteristic of each class against the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.metrics import RocCurveDisplay as _Filled

from ..evaluation.evaluation import Evaluation
from ..evaluation.thinning import thin
from .evaluated import REFERENCE, LabelCurvesDisplay, chosen_labels, summary_text

__all__ = ["RocCurveDisplay"]


class RocCurveDisplay(LabelCurvesDisplay):
    """Receiver operating characteristic: a curve for each class against the rest.

    Parameters
    ----------
    fpr, tpr, log_odds : list of ndarray
        False and true positive rates of each curve, and thresholds of the log odds.
    roc_auc : list of float
        Areas under the curves.
    labels : list
        The label of each curve.
    note : str, default=""
        What is left out of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves were drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The curves.
    displays_ : list of sklearn.metrics.RocCurveDisplay
        The filled display of each label.
    chance_level_ : matplotlib Line2D
        The diagonal.

    See Also
    --------
    fastgnb.files.Evaluation.roc : The numbers of a curve.
    PrecisionRecallDisplay : Shows more where positives are rare.

    Notes
    -----
    Of curves of many points those that can be seen are kept: at most 1,000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import RocCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = RocCurveDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    >>> [round(area, 3) for area in shown.roc_auc]
    [1.0, 0.992, 0.992]
    """

    def __init__(
        self,
        *,
        fpr: Sequence[Any],
        tpr: Sequence[Any],
        log_odds: Sequence[Any],
        roc_auc: Sequence[float],
        labels: Sequence[Any],
        note: str = "",
    ) -> None:
        self.fpr, self.tpr, self.log_odds = fpr, tpr, log_odds
        self.roc_auc, self.labels, self.note = roc_auc, labels, note

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, labels: Any = None, ax: Any = None, curve_kwargs: Any = None
    ) -> Self:
        """Draw the curves of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            What ``fastgnb.evaluate`` or ``fastgnb.files.evaluate`` returned.
        labels : label or list of labels, default=None
            The positive label of each curve. None: the second of two classes, or the classes of
            most rows, at most 20.
        ax : matplotlib Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords of ``Axes.plot``, for all curves or for each.

        Returns
        -------
        Self
            The display, drawn.

        Raises
        ------
        ValueError
            If the model does not know a label.
        """
        labels, note = chosen_labels(evaluation, labels)
        curves = []
        for label in labels:
            roc = evaluation.roc(label)
            kept = thin(roc.fpr, roc.tpr)
            curves.append([column[kept] for column in roc])
        fpr, tpr, log_odds = (list(column) for column in zip(*curves, strict=True))
        areas = [float(evaluation.auc(label)) for label in labels]
        shown = cls(fpr=fpr, tpr=tpr, log_odds=log_odds, roc_auc=areas, labels=labels, note=note)
        return shown.plot(ax, curve_kwargs=curve_kwargs)

    def _frame_axes(self, ax: Any) -> str:
        (self.chance_level_,) = ax.plot([0, 1], [0, 1], **REFERENCE)
        return "ROC"

    def _label_axes(self, ax: Any) -> None:
        ax.set(xlabel="false positive rate", ylabel="true positive rate")

    def _filled(self, position: int) -> Any:
        return _Filled(fpr=self.fpr[position], tpr=self.tpr[position])

    def _summary(self, position: int) -> str:
        return summary_text("AUC", self.roc_auc[position])

    def _columns(self, position: int) -> Mapping[str, Any]:
        names = ("fpr", "tpr", "log_odds")
        return {name: np.asarray(getattr(self, name)[position]) for name in names}
