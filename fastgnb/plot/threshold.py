"""`ThresholdDisplay`: rates over the cut-off of the probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..evaluation.cutoffs import BestCutoff
from ..evaluation.evaluation import Evaluation
from ..evaluation.ranking import probability
from ..evaluation.rates import Rates
from .arguments import curve_options
from .display import class_legend, pandas, set_title
from .evaluated import EvaluationDisplay
from .names import class_texts
from .palette import line_style

__all__ = ["ThresholdDisplay"]

_NAMES = {
    "tpr": "TPR (recall)", "fpr": "FPR", "tnr": "TNR (specificity)", "fnr": "FNR",
    "ppv": "PPV (precision)", "npv": "NPV", "accuracy": "accuracy", "f1": "F1", "mcc": "MCC",
    "positive_rate": "predicted positive",
}  # fmt: skip


class ThresholdDisplay(EvaluationDisplay):
    """Rates of one class against the rest, over the cut-off of its probability.

    Parameters
    ----------
    rates : Rates
        Rates at cut-offs; see ``Evaluation.rates``.
    label : label
        The positive label.
    names : sequence of str
        The rates to draw.
    best : BestCutoff, default=None
        A cut-off to mark; see ``Evaluation.best_cutoff``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves were drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The curves.
    best_ : matplotlib Line2D or None
        The mark of the best cut-off.

    See Also
    --------
    fastgnb.files.Evaluation.rates : The numbers at any cut-off.
    fastgnb.files.Evaluation.best_cutoff : The best cut-off for given costs.

    Notes
    -----
    Rates are drawn at the 99 cut-offs 0.01, 0.02, ..., 0.99, where they are exact.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import ThresholdDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> shown = ThresholdDisplay.from_estimator(GaussianNB().fit(X, y), X, y, cost_fp=5)
    >>> round(float(shown.best.rates.fpr), 3)
    0.019
    """

    def __init__(
        self, *, rates: Rates, label: Any, names: Sequence[str], best: BestCutoff | None = None
    ) -> None:
        unknown = [name for name in names if name not in _NAMES]
        if unknown or not names:
            raise ValueError(f"names must be some of {list(_NAMES)}, got {list(names)}.")
        self.rates, self.label, self.names, self.best = rates, label, list(names), best

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        label: Any = None,
        names: Sequence[str] = ("tpr", "fpr", "ppv", "f1", "mcc"),
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        max_fpr: float | None = None,
        ax: Any = None,
        curve_kwargs: Any = None,
    ) -> Self:
        """Draw the rates of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            What ``fastgnb.evaluate`` or ``fastgnb.files.evaluate`` returned.
        label : label, default=None
            The positive label. By default the second of two classes.
        names : sequence of str, default=("tpr", "fpr", "ppv", "f1", "mcc")
            The rates to draw, of those of `Rates`.
        cost_fp, cost_fn, max_fpr : float, default=None
            The costs, or the bound, for which the best cut-off is marked.
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
            If the label is not one of the evaluation, and for other rates.
        """
        label = evaluation._label(label)
        best = None
        if any(given is not None for given in (cost_fp, cost_fn, max_fpr)):
            best = evaluation.best_cutoff(label, cost_fp=cost_fp, cost_fn=cost_fn, max_fpr=max_fpr)
        rates = evaluation.rates(np.arange(1, 100) / 100, label)
        return cls(rates=rates, label=label, names=names, best=best).plot(
            ax, curve_kwargs=curve_kwargs
        )

    def plot(self, ax: Any = None, *, curve_kwargs: Any = None) -> Self:
        """Draw the rates.

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
        from matplotlib.lines import Line2D

        ax = self._start(ax, size=(8.0, 4.8) if len(self.names) > 3 else None)
        styles: list[Mapping[str, Any]] = [
            {"label": _NAMES[name], **line_style(i)} for i, name in enumerate(self.names)
        ]
        options = curve_options(curve_kwargs, styles, Line2D)
        self.lines_ = [
            ax.plot(self.rates.threshold, getattr(self.rates, name).value, **each)[0]
            for name, each in zip(self.names, options, strict=True)
        ]
        self.best_ = None if self.best is None else self._mark(ax)
        handles = [*self.lines_, *([] if self.best_ is None else [self.best_])]
        class_legend(ax, handles, [line.get_label() for line in handles])
        ax.set(xlabel="cut-off of the probability", ylabel="rate", xlim=(-0.01, 1.01))
        ax.set_ylim(min(-0.01, ax.get_ylim()[0]), 1.01)
        set_title(ax, f"Rates of {class_texts([self.label])[0]} against the rest")
        return self

    def _mark(self, ax: Any) -> Any:
        """A vertical line at the best cut-off; at 1 where it is above every probability."""
        assert self.best is not None
        at = min(self.best.threshold, 1.0)
        text = f"best: {_cutoff_text(self.best)}"
        return ax.axvline(at, color="0.5", linewidth=1, linestyle=(0, (2, 2)), label=text)

    def frame(self) -> Any:
        """Return all rates at the cut-offs drawn.

        Returns
        -------
        pandas.DataFrame
            A row for each cut-off, a column for each rate, and weights ``tp``, ``fp``, ``fn`` and
            ``tn``.
        """
        columns = {name: getattr(self.rates, name).value for name in Rates._fields[1:]}
        return pandas().DataFrame({"threshold": self.rates.threshold, **columns})


def _cutoff_text(best: BestCutoff) -> str:
    """A cut-off as text, that stays apart from 1."""
    if best.threshold == np.inf:
        return "none is positive"
    if best.threshold < 0.999:
        return f"{best.threshold:.3g}"
    return f"1 - {probability(np.asarray(-best.log_odds)):.2g}"
