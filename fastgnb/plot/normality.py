"""NormalityDisplay: quantiles of features within classes beside those of normal distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..diagnosis.diagnosis import QQ, Diagnosis
from .arguments import class_position, curve_options, feature_position, top
from .display import Display, class_legend, pandas, set_title
from .names import class_texts, feature_texts, selection_note
from .palette import line_style

__all__ = ["NormalityDisplay"]

_FEATURES = 6
_CLASSES = 8
_FEW = 30
"""Most points of a curve that are marked, since a line may not show them."""
_REACH = 4.0
"""Quantiles that are shown at least, in standard deviations."""


class NormalityDisplay(Display):
    """Quantile-quantile curves of features within classes, those that are least normal first.

    Make one by `from_diagnosis` or `from_estimator`. Quantiles are in the standard deviations of
    the rows of a class, from their mean: the curve of a normal distribution is the diagonal. Values
    that are eight or more of the model's standard deviations away are not shown.

    Parameters
    ----------
    curves : sequence of sequences of QQ
        For each feature the quantiles of each class.
    feature_names : sequence of str
        Names of the features.
    classes : ndarray of shape (k,)
        Labels of the classes.
    negentropy : ndarray
        Nats a row by which each feature differs from normal; see `Diagnosis`.
    n_features, n_classes : int
        How many there are in all.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        A panel for each feature.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
        The figure.
    lines_ : list of list of matplotlib Line2D
        For each feature the curve of each class.
    legend_ : matplotlib Legend
        The classes.

    See Also
    --------
    fastgnb.diagnose : How far features are from normal, in numbers.
    CorrelationDisplay : The other assumption of naive Bayes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import NormalityDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = NormalityDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    >>> display.feature_names[0]
    'petal width (cm)'
    """

    def __init__(
        self,
        *,
        curves: Sequence[Sequence[QQ]],
        feature_names: Sequence[str],
        classes: NDArray[Any],
        negentropy: NDArray[np.float64],
        n_features: int,
        n_classes: int,
    ) -> None:
        self.curves, self.feature_names = curves, tuple(feature_names)
        self.classes, self.negentropy = classes, negentropy
        self.n_features, self.n_classes = n_features, n_classes

    @classmethod
    def from_diagnosis(
        cls,
        diagnosis: Diagnosis,
        *,
        features: Sequence[str | int] | None = None,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw the quantiles of a diagnosis.

        Parameters
        ----------
        diagnosis : Diagnosis
            What `fastgnb.diagnose` returns.
        features : sequence of str or int, default=None
            Features to show, by name or position. By default the six that are least normal.
        classes : sequence of labels, default=None
            Classes to show. By default all, or of more than eight those that are least normal.
        ax : sequence of matplotlib Axes, default=None
            One for each feature. By default a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords for the curves: for all of them, or for those of each class.

        Returns
        -------
        NormalityDisplay
            The display.

        Raises
        ------
        ValueError
            If there is no such class or feature.
        """
        names, labels = diagnosis.feature_names, diagnosis.classes
        at = diagnosis.ranking[:_FEATURES].tolist()
        if features is not None:
            at = [feature_position(each, names, len(names)) for each in features]
        if not at:
            raise ValueError("Expected one feature or more, got none.")
        if classes is None:
            # Those that say most of these features, where they are many.
            nats = np.nan_to_num(diagnosis.negentropy[:, at]).sum(axis=1) * diagnosis.class_weight
            shown = np.sort(top(nats, _CLASSES)).tolist()
            shown = [c for c in shown if diagnosis.class_weight[c] > 0]
        else:
            shown = [class_position(each, labels) for each in classes]
        display = cls(
            curves=[[diagnosis.qq(labels[c], j) for c in shown] for j in at],
            feature_names=[names[j] for j in at], classes=labels[shown],
            negentropy=diagnosis.feature_negentropy[at],
            n_features=len(names), n_classes=len(labels),
        )  # fmt: skip
        return display.plot(ax=ax, curve_kwargs=curve_kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        features: Sequence[str | int] | None = None,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Diagnose rows, and draw their quantiles.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of fastgnb.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        features, classes, ax, curve_kwargs : optional
            As in `from_diagnosis`.

        Returns
        -------
        NormalityDisplay
            The display.
        """
        from ..diagnosis.diagnose import diagnose

        return cls.from_diagnosis(
            diagnose(estimator, X, y, sample_weight), features=features, classes=classes, ax=ax,
            curve_kwargs=curve_kwargs,
        )  # fmt: skip

    def plot(
        self,
        ax: Any = None,
        *,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            One for each feature. By default a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords for the curves: for all of them, or for those of each class.

        Returns
        -------
        NormalityDisplay
            This display.
        """
        from matplotlib.lines import Line2D

        n = len(self.feature_names)
        panels = self._start_panels(ax, n, columns=2 if n in (2, 4) else 3)
        styles = [line_style(c) for c in range(len(self.classes))]
        options = curve_options(curve_kwargs, styles, Line2D)
        self.lines_ = []
        for i, (panel, curves) in enumerate(zip(panels, self.curves, strict=True)):
            panel.plot([-_REACH, _REACH], [-_REACH, _REACH], color="0.5", linewidth=0.8, zorder=1)
            marked = [{"marker": "." if len(each.empirical) <= _FEW else ""} for each in curves]
            self.lines_.append(
                [
                    panel.plot(*curve, **{**mark, **given})[0]
                    for curve, mark, given in zip(curves, marked, options, strict=True)
                ]
            )
            self._finish(panel, i)
        note = selection_note(len(self.classes), self.n_classes, "classes", which="")
        title = f"class\n({note})" if note else "class"
        self.legend_ = class_legend(panels[-1], self.lines_[-1], class_texts(self.classes), title)
        note = selection_note(len(panels), self.n_features, "features", which="the least normal ")
        self.figure_.supxlabel("quantiles of a normal distribution", fontsize="medium")
        self.figure_.supylabel("quantiles within the class, in its sd", fontsize="medium")
        if note:
            self.figure_.suptitle(note, fontsize="small")
        return self

    def _finish(self, panel: Any, i: int) -> None:
        """Title and limits of a panel."""
        nats = self.negentropy[i]
        note = f"{nats:.2g} nats per row" if np.isfinite(nats) else "too few rows"
        set_title(panel, feature_texts(self.feature_names)[i], note)
        panel.set_xlim(-_REACH, _REACH)
        shown = [curve.empirical for curve in self.curves[i] if len(curve.empirical)]
        if not shown:
            panel.text(0.0, 0.0, "does not vary", ha="center", va="center", backgroundcolor="1")
        low = min([-_REACH, *(each.min() for each in shown)])
        high = max([_REACH, *(each.max() for each in shown)])
        panel.set_ylim(low - 0.2, high + 0.2)

    def frame(self) -> Any:
        """Return the quantiles as a table.

        Returns
        -------
        pandas.DataFrame
            Columns ``feature``, ``class``, ``theoretical`` and ``empirical``.
        """
        pairs = [
            (name, label, curve)
            for name, curves in zip(self.feature_names, self.curves, strict=True)
            for label, curve in zip(self.classes.tolist(), curves, strict=True)
        ]
        sizes = [len(curve.empirical) for _, _, curve in pairs]
        columns = {
            "feature": np.repeat(np.array([name for name, _, _ in pairs], dtype=object), sizes),
            "class": np.repeat(np.array([label for _, label, _ in pairs]), sizes),
        }
        for field in QQ._fields:
            columns[field] = np.concatenate([getattr(curve, field) for _, _, curve in pairs])
        return pandas().DataFrame(columns)
