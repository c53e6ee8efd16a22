"""`CalibrationDisplay`: mean probabilities beside shares of positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.calibration import CalibrationDisplay as _Filled

from ..evaluation.calibration import Reliability
from ..evaluation.evaluation import Evaluation
from ..files.phrases import counted
from .evaluated import REFERENCE, LabelCurvesDisplay, chosen_labels, summary_text
from .palette import line_style, marker_style

__all__ = ["CalibrationDisplay"]


class CalibrationDisplay(LabelCurvesDisplay):
    """Reliability diagram: shares of positives over mean probabilities, for each class.

    Points above the diagonal belong to probabilities that are too low, and points below it to
    probabilities that are too high.

    Parameters
    ----------
    tables : list of Reliability
        Bins of each curve; see ``Evaluation.calibration``.
    calibration_error : list of float
        Expected calibration error of each curve.
    labels : list
        The label of each curve.
    min_weight : float, default=0.0
        Bins of less weight have no point.
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
    displays_ : list of sklearn.calibration.CalibrationDisplay
        The filled display of each label.

    See Also
    --------
    fastgnb.files.Evaluation.calibration : The numbers of a curve.
    fastgnb.files.Evaluation.expected_calibration_error : Mean distance from the diagonal.

    Notes
    -----
    Bins of few rows have no point: their shares are mostly chance. `frame` has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import CalibrationDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> shown = CalibrationDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    >>> round(shown.calibration_error[0], 3)
    0.056
    """

    _keywords: ClassVar[Mapping[str, Any]] = {"ref_line": False}

    def __init__(
        self,
        *,
        tables: Sequence[Reliability],
        calibration_error: Sequence[float],
        labels: Sequence[Any],
        min_weight: float = 0.0,
        note: str = "",
    ) -> None:
        self.tables, self.calibration_error = tables, calibration_error
        self.labels, self.min_weight, self.note = labels, min_weight, note

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        labels: Any = None,
        n_bins: int = 10,
        min_rows: float = 10,
        ax: Any = None,
        curve_kwargs: Any = None,
    ) -> Self:
        """Draw the calibration of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            What ``fastgnb.evaluate`` or ``fastgnb.files.evaluate`` returned.
        labels : label or list of labels, default=None
            The positive label of each curve. None: the second of two classes, or the classes of
            most rows, at most 20.
        n_bins : int, default=10
            Number of bins; see ``Evaluation.calibration``.
        min_rows : float, default=10
            Bins of fewer rows, of mean weight, have no point.
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
            If the model does not know a label, or the edges of the bins were not counted.
        """
        labels, note = chosen_labels(evaluation, labels)
        tables = [evaluation.calibration(label, n_bins) for label in labels]
        min_weight = min_rows * evaluation.weight / evaluation.n_rows
        few = sum(int(((t.weight > 0) & (t.weight < min_weight)).sum()) for t in tables)
        if few:
            verb = "is" if few == 1 else "are"
            left_out = f"{counted(few, 'bin')} of fewer than {min_rows:g} rows {verb} left out"
            note = "; ".join(filter(None, [note, left_out]))
        errors = [evaluation.expected_calibration_error(label, n_bins) for label in labels]
        shown = cls(
            tables=tables, calibration_error=errors, labels=labels, min_weight=min_weight, note=note
        )
        return shown.plot(ax, curve_kwargs=curve_kwargs)

    def _frame_axes(self, ax: Any) -> str:
        ax.plot([0, 1], [0, 1], **REFERENCE)
        return "Calibration"

    def _label_axes(self, ax: Any) -> None:
        ax.set(
            xlabel="mean probability of the bin", ylabel="share of positives",
            xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal",
        )  # fmt: skip

    def _style(self, position: int) -> Mapping[str, Any]:
        return {"markersize": 4, **line_style(position), **marker_style(position)}

    def _filled(self, position: int) -> Any:
        table = self.tables[position]
        used = (table.weight > 0) & (table.weight >= self.min_weight)
        return _Filled(table.prob_true[used], table.prob_pred[used], None)

    def _summary(self, position: int) -> str:
        return summary_text("ECE", self.calibration_error[position])

    def _columns(self, position: int) -> Mapping[str, Any]:
        return {name: np.asarray(v) for name, v in self.tables[position]._asdict().items()}
