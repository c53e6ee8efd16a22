"""CorrelationDisplay: correlations of features within classes, as heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..diagnosis.dependence import correlations_of
from ..diagnosis.diagnosis import Diagnosis
from ..stats.class_stats import ClassStats
from .arguments import class_position, feature_position, model_of, top
from .display import Display, pandas, set_title
from .heat_map import draw_table, label_cells, strongest, write_numbers
from .names import TOP, class_texts, feature_texts, numbered, selection_note
from .palette import DIVERGING

__all__ = ["CorrelationDisplay"]

_POOLED = "pooled"
_NUMBERS = 8
"""Most features whose correlations are also written into the cells."""
_CELL = 0.18
"""Least width of a cell, in inches."""
_PANELS = ((8, 12), (15, 6), (TOP, 4))
"""Most panels by default, for so many features."""


class CorrelationDisplay(Display):
    """Heat maps of correlations within classes: those of the pooled scatter, and of each class.

    Make one by `from_diagnosis`, `from_stats` or `from_estimator`. Features without correlations
    are what naive Bayes assumes.

    Parameters
    ----------
    pooled : ndarray of shape (d, d)
        Correlations of the scatter pooled over classes.
    correlation : ndarray of shape (k, d, d)
        Correlations within each class that is shown.
    classes : ndarray of shape (k,)
        Their labels.
    feature_names : sequence of str of length d
        Names of the features that are shown.
    n_classes, n_features : int
        How many there are in all.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        A panel for the pooled correlations, and one for each class.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
        The figure.
    im_ : list of matplotlib AxesImage
        The image in each panel.
    text_ : list of ndarray of matplotlib Text, or None
        The numbers in the cells, if there are at most eight features.

    See Also
    --------
    fastgnb.diagnose : Correlations, and what they cost.
    NormalityDisplay : The other assumption of naive Bayes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import ClassStats
    >>> from fastgnb.plot import CorrelationDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = CorrelationDisplay.from_stats(ClassStats.from_rows(X, y, scatter="full"))
    >>> len(display.axes_)
    4
    >>> display.frame().query("group == 'pooled'")["correlation"].round(2).max()
    np.float64(0.76)
    """

    def __init__(
        self,
        *,
        pooled: NDArray[np.float64],
        correlation: NDArray[np.float64],
        classes: NDArray[Any],
        feature_names: Sequence[str],
        n_classes: int,
        n_features: int,
    ) -> None:
        self.pooled, self.correlation = pooled, correlation
        self.classes, self.feature_names = classes, tuple(feature_names)
        self.n_classes, self.n_features = n_classes, n_features

    @classmethod
    def from_diagnosis(
        cls,
        diagnosis: Diagnosis,
        *,
        features: Sequence[str | int] | None = None,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
        im_kw: Mapping[str, Any] | None = None,
        colorbar: bool = True,
    ) -> Self:
        """Draw the correlations of a diagnosis.

        Parameters
        ----------
        diagnosis : Diagnosis
            What `fastgnb.diagnose` returns.
        features : sequence of str or int, default=None
            Features to show, by name or position. By default all, or of more than thirty those
            with the strongest correlations.
        classes : sequence of labels, default=None
            Classes to show. By default all, or the ones of most weight that leave each panel large
            enough.
        ax : sequence of matplotlib Axes, default=None
            One for the pooled correlations and one for each class. By default a new figure.
        im_kw : dict, default=None
            Keywords for ``imshow``.
        colorbar : bool, default=True
            Whether to add a color bar.

        Returns
        -------
        CorrelationDisplay
            The display.

        Raises
        ------
        ValueError
            If the diagnosis has no correlations, or no such class or feature.
        """
        if diagnosis.correlation is None or diagnosis.pooled_correlation is None:
            raise ValueError(f"The diagnosis has no correlations: {diagnosis.no_pairs}.")
        display = cls._of(
            diagnosis.correlation, diagnosis.pooled_correlation, diagnosis.class_weight,
            diagnosis.classes, diagnosis.feature_names, features, classes,
        )  # fmt: skip
        return display.plot(ax=ax, im_kw=im_kw, colorbar=colorbar)

    @classmethod
    def from_stats(
        cls,
        stats: ClassStats,
        *,
        features: Sequence[str | int] | None = None,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
        im_kw: Mapping[str, Any] | None = None,
        colorbar: bool = True,
    ) -> Self:
        """Draw the correlations of statistics with full scatter.

        Parameters
        ----------
        stats : ClassStats
            Statistics with ``scatter="full"``.
        features, classes, ax, im_kw, colorbar : optional
            As in `from_diagnosis`.

        Returns
        -------
        CorrelationDisplay
            The display.

        Raises
        ------
        ValueError
            If the statistics have no full scatter, or no such class or feature.
        """
        if getattr(stats, "covariance", None) is None:
            raise ValueError(
                "Correlations need full scatter, which these statistics do not have. Make them by "
                "ClassStats.from_rows(X, y, scatter='full')."
            )
        names = numbered(stats.feature_names, stats.n_features)
        display = cls._of(
            *correlations_of(stats), stats.count, stats.classes, names, features, classes
        )
        return display.plot(ax=ax, im_kw=im_kw, colorbar=colorbar)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        features: Sequence[str | int] | None = None,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
        im_kw: Mapping[str, Any] | None = None,
        colorbar: bool = True,
    ) -> Self:
        """Draw the correlations of the rows that a model has learned, or of other rows.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of fastgnb.
        X : array-like of shape (n_samples, n_features), default=None
            Rows. By default the statistics of the model are drawn, which need full scatter.
        y : array-like of shape (n_samples,), default=None
            Labels of X.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of X.
        features, classes, ax, im_kw, colorbar : optional
            As in `from_diagnosis`.

        Returns
        -------
        CorrelationDisplay
            The display.

        Raises
        ------
        ValueError
            If there are no rows and the model has no full scatter, if there are labels without rows
            or rows without labels, and as `fastgnb.diagnose` does.
        """
        model = model_of(estimator)
        if (X is None) != (y is None):
            raise ValueError("Expected both X and y, or neither of them.")
        options: dict[str, Any] = {
            "features": features, "classes": classes, "ax": ax, "im_kw": im_kw,
            "colorbar": colorbar,
        }  # fmt: skip
        if X is not None and y is not None:
            from ..diagnosis.diagnose import diagnose

            return cls.from_diagnosis(diagnose(estimator, X, y, sample_weight), **options)
        if getattr(model.stats, "covariance", None) is None:
            name = model.member.name
            raise ValueError(
                f"Correlations need full scatter, which this {name} has not learned. Pass X and y, "
                "or make statistics by ClassStats.from_rows(X, y, scatter='full'): from_stats "
                f"draws them"
                f"{'' if model.member.takes_categories else f', and {name}.fit_stats learns them'}."
            )
        return cls.from_stats(model.stats, **options)

    @classmethod
    def _of(
        cls,
        correlation: NDArray[np.float64],
        pooled: NDArray[np.float64],
        weight: NDArray[np.float64],
        labels: NDArray[Any],
        names: Sequence[str],
        features: Sequence[str | int] | None,
        classes: Sequence[Any] | None,
    ) -> Self:
        d = len(names)
        at = strongest(correlation, pooled) if features is None else np.array(
            [feature_position(each, names, d) for each in features], np.intp
        )  # fmt: skip
        if not len(at):
            raise ValueError("Expected one feature or more, got none.")
        if classes is None:
            most = next(n for limit, n in _PANELS if len(at) <= limit or limit == TOP) - 1
            shown = np.sort(top(np.where(weight > 0, weight, np.nan), most))
            shown = shown[weight[shown] > 0] if len(labels) > 1 else shown[:0]
        else:
            shown = np.array([class_position(each, labels) for each in classes], np.intp)
        cells = np.ix_(at, at)
        return cls(
            pooled=pooled[cells], correlation=correlation[shown][:, at[:, None], at],
            classes=labels[shown], feature_names=[names[j] for j in at],
            n_classes=len(labels), n_features=d,
        )  # fmt: skip

    def plot(
        self, ax: Any = None, *, im_kw: Mapping[str, Any] | None = None, colorbar: bool = True
    ) -> Self:
        """Draw the heat maps.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            One for each panel. By default a new figure.
        im_kw : dict, default=None
            Keywords for ``imshow``.
        colorbar : bool, default=True
            Whether to add a color bar.

        Returns
        -------
        CorrelationDisplay
            This display.
        """
        d, n = len(self.feature_names), 1 + len(self.classes)
        side = max(2.6, _CELL * d + 0.5)
        across = 3 if d <= 15 and n > 4 else 2
        panels = self._start_panels(ax, n, columns=across, size=(side + 0.6, side + 0.6))
        keywords = {"cmap": DIVERGING, "vmin": -1.0, "vmax": 1.0, **(im_kw or {})}
        self.im_: list[Any] = []
        self.text_: list[NDArray[Any]] | None = [] if d <= _NUMBERS else None
        texts = feature_texts(self.feature_names)
        titles = [
            "pooled over classes" if n > 1 else "correlations",
            *(f"class {text}" for text in class_texts(self.classes)),
        ]
        for i, (panel, matrix) in enumerate(
            zip(panels, [self.pooled, *self.correlation], strict=True)
        ):
            self.im_.append(draw_table(panel, matrix, **keywords))
            is_left, is_low = ax is not None or i % across == 0, ax is not None or i + across >= n
            label_cells(panel, texts, left=is_left, low=is_low)
            set_title(panel, titles[i], *(self._notes() if i == 0 else ()))
            if self.text_ is not None:
                self.text_.append(write_numbers(panel, matrix, self.im_[-1]))
        if colorbar:
            self.figure_.colorbar(
                self.im_[0], ax=panels, label="correlation within the class", shrink=0.8
            )
        return self

    def _notes(self) -> list[str]:
        shown = len(self.classes)
        return [
            selection_note(len(self.feature_names), self.n_features, "features"),
            selection_note(shown, self.n_classes, "classes", which="") if shown else "",
        ]

    def frame(self) -> Any:
        """Return the correlations as a table.

        Returns
        -------
        pandas.DataFrame
            Columns ``group`` ("pooled", or "class" and its label), ``first``, ``second`` and
            ``correlation``, with a row for each pair of features.
        """
        first, second = np.triu_indices(len(self.feature_names), 1)
        names = np.array(self.feature_names, dtype=object)
        groups = [_POOLED, *(f"class {label}" for label in self.classes.tolist())]
        matrices = [self.pooled, *self.correlation]
        return pandas().DataFrame(
            {
                "group": np.repeat(np.array(groups, dtype=object), len(first)),
                "first": np.tile(names[first], len(groups)),
                "second": np.tile(names[second], len(groups)),
                "correlation": np.concatenate([each[first, second] for each in matrices]),
            }
        )
