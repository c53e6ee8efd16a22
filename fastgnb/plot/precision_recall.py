"""`PrecisionRecallDisplay`: precision over recall of each class against the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.metrics import PrecisionRecallDisplay as _Filled

from ..evaluation.evaluation import Evaluation
from ..evaluation.thinning import thin
from .evaluated import REFERENCE, LabelCurvesDisplay, chosen_labels, summary_text

__all__ = ["PrecisionRecallDisplay"]


class PrecisionRecallDisplay(LabelCurvesDisplay):
    """Precision over recall: a curve for each class against the rest.

    Parameters
    ----------
    precision, recall, log_odds : list of ndarray
        Precision and recall of each curve, and thresholds of the log odds, in increasing order.
    average_precision : list of float
        Mean precision over recall of each curve.
    prevalence : list of float
        Share of positives: the precision of a choice at random.
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
    displays_ : list of sklearn.metrics.PrecisionRecallDisplay
        The filled display of each label.

    See Also
    --------
    fastgnb.files.Evaluation.precision_recall : The numbers of a curve.
    RocCurveDisplay : Does not depend on how frequent positives are.

    Notes
    -----
    Of curves of many points those that can be seen are kept: at most 1,000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import PrecisionRecallDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = PrecisionRecallDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    >>> [round(each, 3) for each in shown.average_precision]
    [1.0, 0.985, 0.987]
    """

    def __init__(
        self,
        *,
        precision: Sequence[Any],
        recall: Sequence[Any],
        log_odds: Sequence[Any],
        average_precision: Sequence[float],
        prevalence: Sequence[float],
        labels: Sequence[Any],
        note: str = "",
    ) -> None:
        self.precision, self.recall, self.log_odds = precision, recall, log_odds
        self.average_precision, self.prevalence = average_precision, prevalence
        self.labels, self.note = labels, note

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
            curve = evaluation.precision_recall(label)
            kept = thin(curve.recall, curve.precision)
            columns = curve.precision, curve.recall, np.append(curve.log_odds, np.inf)
            curves.append([column[kept] for column in columns])
        precision, recall, log_odds = (list(column) for column in zip(*curves, strict=True))
        shown = cls(
            precision=precision, recall=recall, log_odds=log_odds, labels=labels, note=note,
            average_precision=[float(evaluation.average_precision(label)) for label in labels],
            prevalence=[float(evaluation.rates(0, label).ppv) for label in labels],
        )  # fmt: skip
        return shown.plot(ax, curve_kwargs=curve_kwargs)

    def _frame_axes(self, ax: Any) -> str:
        if len(self.labels) == 1:
            ax.axhline(self.prevalence[0], **REFERENCE)
        return "Precision and recall"

    def _label_axes(self, ax: Any) -> None:
        ax.set(xlabel="recall", ylabel="precision")

    def _filled(self, position: int) -> Any:
        return _Filled(precision=self.precision[position], recall=self.recall[position])

    def _summary(self, position: int) -> str:
        return summary_text("AP", self.average_precision[position])

    def _columns(self, position: int) -> Mapping[str, Any]:
        names = ("precision", "recall", "log_odds")
        return {name: np.asarray(getattr(self, name)[position]) for name in names}
