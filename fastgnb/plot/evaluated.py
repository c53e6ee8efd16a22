"""What pictures of an evaluation share: rows to an evaluation, labels, a curve for each label."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from ..evaluation.evaluate import evaluate
from ..evaluation.evaluation import Evaluation
from .arguments import class_position, curve_options, top
from .display import INSIDE, LEGEND, Display, class_legend, pandas, set_title
from .names import class_texts, selection_note
from .palette import line_style

__all__ = [
    "CURVES",
    "REFERENCE",
    "EvaluationDisplay",
    "LabelCurvesDisplay",
    "chosen_labels",
    "summary_text",
]

CURVES = 20
"""Most labels of a picture that has a curve for each."""

REFERENCE: Mapping[str, Any] = {"color": "0.5", "linewidth": 1, "zorder": 1}
"""How the line of a model without skill, or of a perfect one, is drawn."""


class EvaluationDisplay(Display):
    """A picture made from an `Evaluation`."""

    @classmethod
    @abstractmethod
    def from_evaluation(cls, *args: Any, **options: Any) -> Self:
        """Draw an evaluation."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Evaluate an estimator on rows, and draw the result.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of fastgnb.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None: 1 each.
        ax : matplotlib Axes, default=None
            Where to draw. None: on a new figure.
        **options : dict
            Further arguments of `from_evaluation`.

        Returns
        -------
        Self
            The display, drawn.

        Raises
        ------
        ValueError
            As ``fastgnb.evaluate`` and `from_evaluation`.
        TypeError
            If `estimator` is not one of fastgnb.
        """
        evaluation = evaluate(estimator, X, y, sample_weight)
        return cls.from_evaluation(evaluation, ax=ax, **options)


def summary_text(name: str, value: float) -> str:
    """A measure for a legend. It is undefined for a label that all rows have, or none."""
    return f"{name} {value:.3f}" if np.isfinite(value) else f"{name} undefined"


def chosen_labels(evaluation: Evaluation, labels: Any) -> tuple[list[Any], str]:
    """Labels to draw, and a note of what is left out.

    By default the second of two classes, or the classes of most rows in their order. Raises
    ValueError for labels that the model does not know.
    """
    classes = evaluation.classes
    known = classes.tolist()
    if labels is not None:
        given = [labels] if isinstance(labels, str) or np.ndim(labels) == 0 else list(labels)
        return [known[class_position(label, classes)] for label in given], ""
    if len(known) == 2:
        return known[1:], ""
    place = {label: i for i, label in enumerate(evaluation.labels.tolist())}
    support = evaluation.support[[place[label] for label in known]]
    used = np.sort(top(support, CURVES))
    return [known[i] for i in used], selection_note(len(used), len(known), "classes", which="")


def _draw_filled(display: Any, ax: Any, options: Mapping[str, Any], more: Mapping[str, Any]) -> Any:
    """Draw a display of scikit-learn with keywords of the curve, and return its line."""
    if "curve_kwargs" in inspect.signature(display.plot).parameters:
        display.plot(ax=ax, curve_kwargs=dict(options), **more)
    else:
        display.plot(ax=ax, **options, **more)
    return display.line_


class LabelCurvesDisplay(EvaluationDisplay):
    """A picture with a curve for each of some labels, each a filled display of scikit-learn's."""

    labels: Sequence[Any]
    note: str

    _keywords: ClassVar[Mapping[str, Any]] = {}
    """More keywords of the `plot` of scikit-learn's display."""

    def plot(self, ax: Any = None, *, curve_kwargs: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords of ``Axes.plot``, for all curves or for each.

        Returns
        -------
        Self
            The display.
        """
        ax = self._start_curves(ax)
        self._draw(ax, curve_kwargs, self._frame_axes(ax))
        self._label_axes(ax)
        return self

    @abstractmethod
    def _frame_axes(self, ax: Any) -> str:
        """Draw what is behind the curves, and return the title."""

    @abstractmethod
    def _label_axes(self, ax: Any) -> None:
        """Set labels and limits of the axes."""

    @abstractmethod
    def _filled(self, position: int) -> Any:
        """The display of scikit-learn, or another with `plot` and `line_`, of one label."""

    @abstractmethod
    def _summary(self, position: int) -> str:
        """What the legend says after the label."""

    @abstractmethod
    def _columns(self, position: int) -> Mapping[str, Any]:
        """The table of one label."""

    def _style(self, position: int) -> Mapping[str, Any]:
        return line_style(position)

    def _start_curves(self, ax: Any) -> Any:
        """As `_start`, on a new figure with place for a legend beside the axes."""
        texts = self._texts()
        if len(texts) <= INSIDE:
            return self._start(ax)
        width, height = 6.8 + 0.07 * max(map(len, texts)), 0.27 * min(len(texts), LEGEND)
        return self._start(ax, size=(width, max(4.8, height)))

    def _texts(self) -> list[str]:
        """What the legend says of each curve."""
        return [f"{text} ({self._summary(i)})" for i, text in enumerate(class_texts(self.labels))]

    def _draw(self, ax: Any, curve_kwargs: Any, title: str) -> None:
        """Draw all curves on axes, with a legend and a title that says of which class they are."""
        from matplotlib.lines import Line2D

        count, texts = range(len(self.labels)), self._texts()
        options = curve_options(curve_kwargs, [self._style(i) for i in count], Line2D)
        self.displays_ = [self._filled(i) for i in count]
        self.lines_ = [
            _draw_filled(display, ax, {"label": text, **each}, self._keywords)
            for display, text, each in zip(self.displays_, texts, options, strict=True)
        ]
        class_legend(ax, self.lines_, [line.get_label() for line in self.lines_])
        which = class_texts(self.labels)[0] if len(texts) == 1 else "each class"
        set_title(ax, f"{title}, {which} against the rest", self.note)

    def frame(self) -> Any:
        """Return the points of all curves as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each point, with its label in the first column.
        """
        pd = pandas()
        tables = [
            pd.DataFrame({"label": label, **self._columns(i)})
            for i, label in enumerate(self.labels)
        ]
        return pd.concat(tables, ignore_index=True)
