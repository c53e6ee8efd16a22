"""`LiftDisplay`: how many more positives the rows of highest probability hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..evaluation.evaluation import Evaluation
from ..evaluation.thinning import thin
from .evaluated import REFERENCE, LabelCurvesDisplay, chosen_labels

__all__ = ["LiftDisplay"]

_KINDS = ["lift", "gain"]

_STEEP = 20
"""Lift above which the axes are logarithmic."""


class LiftDisplay(LabelCurvesDisplay):
    """Lift or gain where the rows of highest probability are chosen, for each class.

    Parameters
    ----------
    share, gain, lift : list of ndarray
        For each curve the share of rows that is chosen, the share of positives among them, and
        gain / share.
    labels : list
        The label of each curve.
    kind : {"lift", "gain"}, default="lift"
        What is drawn over the share.
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

    See Also
    --------
    fastgnb.files.Evaluation.lift : The numbers of a curve.

    Notes
    -----
    Of curves of many points those that can be seen are kept: at most 2,000. If lifts are above 20,
    both axes are logarithmic.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import LiftDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> shown = LiftDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    >>> round(float(shown.lift[0][0]), 2)
    1.59
    """

    def __init__(
        self,
        *,
        share: Sequence[Any],
        gain: Sequence[Any],
        lift: Sequence[Any],
        labels: Sequence[Any],
        kind: str = "lift",
        note: str = "",
    ) -> None:
        if kind not in _KINDS:
            raise ValueError(f"kind must be one of {_KINDS}, got {kind!r}.")
        self.share, self.gain, self.lift = share, gain, lift
        self.labels, self.kind, self.note = labels, kind, note

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        labels: Any = None,
        kind: str = "lift",
        ax: Any = None,
        curve_kwargs: Any = None,
    ) -> Self:
        """Draw the lift or gain of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            What ``fastgnb.evaluate`` or ``fastgnb.files.evaluate`` returned.
        labels : label or list of labels, default=None
            The positive label of each curve. None: the second of two classes, or the classes of
            most rows, at most 20.
        kind : {"lift", "gain"}, default="lift"
            What is drawn over the share of rows that is chosen.
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
            If the model does not know a label, and for another kind.
        """
        labels, note = chosen_labels(evaluation, labels)
        curves = []
        for label in labels:
            curve = evaluation.lift(label)
            kept = _thinned(curve.share, curve.lift if kind == "lift" else curve.gain)
            curves.append([column[kept] for column in curve[:3]])
        share, gain, lift = (list(column) for column in zip(*curves, strict=True))
        shown = cls(share=share, gain=gain, lift=lift, labels=labels, kind=kind, note=note)
        return shown.plot(ax, curve_kwargs=curve_kwargs)

    def _frame_axes(self, ax: Any) -> str:
        is_lift = self.kind == "lift"
        ax.plot([0, 1], [1, 1] if is_lift else [0, 1], **REFERENCE)
        return "Lift" if is_lift else "Gain"

    def _label_axes(self, ax: Any) -> None:
        is_lift = self.kind == "lift"
        ax.set(xlabel="share of rows chosen, most probable first")
        ax.set_ylabel("positives, as a multiple of chance" if is_lift else "positives found")
        if is_lift and any((np.asarray(each) > _STEEP).any() for each in self.lift):
            row = min(float(np.asarray(each)[1]) for each in self.share)  # a row, or a few
            ax.set(xscale="log", yscale="log", xlim=(min(10 * row, 0.1), 1.1), ylim=(0.1, None))
        else:
            ax.set(xlim=(-0.01, 1.01), ylim=(0, None))

    def _filled(self, position: int) -> Any:
        return _Curve(self.share[position], getattr(self, self.kind)[position])

    def _summary(self, position: int) -> str:
        tenth = np.searchsorted(self.share[position], 0.1)
        lift = self.lift[position][min(tenth, len(self.lift[position]) - 1)]
        return f"{lift:.2f} at 10%" if np.isfinite(lift) else "undefined"

    def _columns(self, position: int) -> Mapping[str, Any]:
        names = ("share", "gain", "lift")
        return {name: np.asarray(getattr(self, name)[position]) for name in names}


def _thinned(share: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions of points that look like all of them, on linear axes and on logarithmic ones."""
    return np.union1d(thin(share, y), 1 + thin(np.log(share[1:]), y[1:]))


class _Curve:
    """A line with the `plot` of scikit-learn's displays, which has none for lift."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def plot(self, ax: Any, *, curve_kwargs: Mapping[str, Any]) -> None:
        (self.line_,) = ax.plot(self.x, self.y, **curve_kwargs)
