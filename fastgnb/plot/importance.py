"""ImportanceDisplay: which features tell classes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..densities.importance import MEASURES, Importance, importance
from .arguments import class_position, curve_options, model_of, model_of_stats, top
from .display import Display, class_legend, pandas, set_title
from .names import TOP, feature_texts, numbered, selection_note
from .palette import COLORS

__all__ = ["ImportanceDisplay"]

LABELS = {
    "auc": "AUC of the feature alone",
    "value_auc": "AUC of the feature's value",
    "jeffreys": "Jeffreys divergence (nats)",
    "fisher_ratio": "Fisher ratio",
}

_WIDE = 100.0
"""The ratio of largest to smallest measure from which the axis is logarithmic."""


class ImportanceDisplay(Display):
    """Features ranked by how well each alone tells the classes apart.

    It is recommended to use :func:`~fastgnb.plot.ImportanceDisplay.from_estimator` or
    :func:`~fastgnb.plot.ImportanceDisplay.from_stats` to create a display. All parameters are
    stored as attributes.

    Parameters
    ----------
    importance : Importance
        The measures, with the fields ``auc``, ``value_auc``, ``jeffreys``, ``fisher_ratio`` and
        ``best_auc`` (n_features,), and ``best_pair`` (n_features, 2), positions of classes.
    classes : ndarray of shape (n_classes,)
        Labels of the model.
    feature_names : sequence of str of length n_features
        Names of the features.
    pair : tuple of two labels or None, default=None
        The classes that were compared. None: all pairs.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that were drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    bars_ : matplotlib.container.BarContainer
        A bar for each feature that is shown, the most important one first.
    order_ : ndarray of shape (n_shown,)
        Positions of these features.

    See Also
    --------
    SeparationDisplay : Which classes are told apart.
    DensityDisplay : A feature in each class.

    Notes
    -----
    The measures come from the model's densities in closed form, and no row is read. Three are means
    over the pairs of classes, in which each pair counts alike:

    - ``auc``: the area under the ROC curve of the log odds of the feature alone. No rule on this
      feature has a larger one. For normal densities N(a, v) and N(b, w) it is 1 - 2 T(D, 2 sqrt(v
      w) / abs(v - w)), where D is abs(a - b) / sqrt(v + w), and T is Owen's function [1]_.
    - ``value_auc``: the area for the feature's value itself, Phi(D), which one cut-off decides by.
      It is smaller than ``auc`` where variances differ: classes of equal means have 1/2. It is NaN
      for categorical features.
    - ``jeffreys``: Jeffreys divergence, the Kullback-Leibler divergences in both directions added
      up, in nats: ((v - w)^2 / (v w) + (a - b)^2 (1 / v + 1 / w)) / 2.
    - ``fisher_ratio``: the variance of the class means over the mean variance within classes, both
      weighted by priors; of a categorical feature that of the indicators of its categories.

    They describe features one by one: features that are copies of each other are all important.

    References
    ----------
    .. [1] D. B. Owen, "Tables for computing bivariate normal probabilities", Annals of Mathematical
       Statistics 27 (1956) 1075-1090.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import ImportanceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> shown = ImportanceDisplay.from_estimator(GaussianNB().fit(X, y))
    >>> shown.frame()["auc"].round(3)
    feature
    petal width (cm)     0.994
    petal length (cm)    0.988
    sepal length (cm)    0.903
    sepal width (cm)     0.803
    Name: auc, dtype: float64
    >>> plt.close(shown.figure_)
    """

    bars_: Any
    order_: NDArray[np.intp]

    def __init__(
        self,
        *,
        importance: Importance,
        classes: NDArray[Any],
        feature_names: Sequence[str],
        pair: tuple[Any, Any] | None = None,
    ) -> None:
        self.importance = importance
        self.classes = classes
        self.feature_names = feature_names
        self.pair = pair

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        pair: tuple[Any, Any] | None = None,
        by: str = "auc",
        n_features: int = TOP,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Rank the features of a fitted model.

        Parameters
        ----------
        estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
            A fitted model.
        pair : tuple of two labels, default=None
            Classes to compare. None: all pairs.
        by : {"auc", "value_auc", "jeffreys", "fisher_ratio"}, default="auc"
            The measure by which features are ranked.
        n_features : int, default=30
            Most features in the picture.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict, default=None
            Keywords of ``Axes.barh``.

        Returns
        -------
        ImportanceDisplay
            The display.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If the model has fewer than two classes that have rows and a prior above 0, if there is
            no such class or measure, or if ``n_features`` is below 1.
        TypeError
            If the estimator is none of this package.
        """
        model = model_of(estimator)
        at = None if pair is None else _positions(pair, model.classes)
        shown = cls(
            importance=importance(model, at), classes=model.classes,
            feature_names=numbered(model.feature_names, model.n_features), pair=pair,
        )  # fmt: skip
        return shown.plot(ax, by=by, n_features=n_features, curve_kwargs=curve_kwargs)

    @classmethod
    def from_stats(
        cls,
        stats: Any,
        *,
        pair: tuple[Any, Any] | None = None,
        by: str = "auc",
        n_features: int = TOP,
        ax: Any = None,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Rank the features of statistics.

        Parameters
        ----------
        stats : ClassStats or MixedStats
            Statistics, of which a model with default options is estimated: `GaussianNB`, of full
            scatter `GaussianBayes`, and of categories `MixedNB`.
        pair : tuple of two labels, default=None
            Classes to compare. None: all pairs.
        by : {"auc", "value_auc", "jeffreys", "fisher_ratio"}, default="auc"
            The measure by which features are ranked.
        n_features : int, default=30
            Most features in the picture.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict, default=None
            Keywords of ``Axes.barh``.

        Returns
        -------
        ImportanceDisplay
            The display.
        """
        return cls.from_estimator(
            model_of_stats(stats), pair=pair, by=by, n_features=n_features, ax=ax,
            curve_kwargs=curve_kwargs,
        )  # fmt: skip

    def plot(
        self,
        ax: Any = None,
        *,
        by: str = "auc",
        n_features: int = TOP,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw a bar for each feature.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        by : {"auc", "value_auc", "jeffreys", "fisher_ratio"}, default="auc"
            The measure by which features are ranked.
        n_features : int, default=30
            Most features in the picture.
        curve_kwargs : dict, default=None
            Keywords of ``Axes.barh``.

        Returns
        -------
        ImportanceDisplay
            The display itself.
        """
        _check_measure(by)
        if n_features < 1:
            raise ValueError(f"Expected n_features of 1 or more, got {n_features}.")
        values = getattr(self.importance, by)
        self.order_ = top(values, n_features)
        names = [feature_texts(self.feature_names)[j] for j in self.order_]
        ax = self._start(ax, size=(6.4, max(2.4, 1.2 + 0.22 * len(names))))
        self.bars_ = _draw_bars(ax, values[self.order_], names, by, curve_kwargs)
        if by == "auc":
            self._draw_marks(ax)
        mean = "" if self.pair is not None or len(self.classes) == 2 else ", mean over pairs"
        ax.set_xlabel(LABELS[by] + (mean if by != "fisher_ratio" else ""))
        between = "" if self.pair is None else f"classes {self.pair[0]} and {self.pair[1]}"
        note = selection_note(len(names), len(values), "features")
        set_title(ax, "", between, note)
        return self

    def frame(self) -> Any:
        """Return the measures of all features, ranked by ``auc``.

        Returns
        -------
        pandas.DataFrame
            One row for each feature, which is the index: the measures, and the two classes that the
            feature tells apart best, with their ``best_auc``.
        """
        order = top(self.importance.auc, len(self.feature_names))
        table = {name: getattr(self.importance, name)[order] for name in MEASURES}
        pairs = np.asarray(self.classes)[self.importance.best_pair[order]]
        table |= {"best_class": pairs[:, 0], "best_other_class": pairs[:, 1]}
        table["best_auc"] = self.importance.best_auc[order]
        index = pandas().Index([self.feature_names[j] for j in order], name="feature")
        return pandas().DataFrame(table, index=index)

    def _draw_marks(self, ax: Any) -> None:
        """Mark the AUC of values, and of the best pair, beside the bars of the AUC."""
        at, color = np.arange(len(self.order_)), ax.xaxis.label.get_color()
        shared = {"linestyle": "none", "color": color, "markerfacecolor": "none"}
        values = self.importance.value_auc[self.order_]
        handles = ax.plot(values, at, marker="|", markersize=9, markeredgewidth=1.6, **shared)
        texts = [LABELS["value_auc"]]
        if self.pair is None and len(self.classes) > 2:
            best = self.importance.best_auc[self.order_]
            handles += ax.plot(best, at, marker="D", markersize=4, **shared)
            texts.append("AUC of the best pair of classes")
        ax.set_ylim(len(at) - 0.2 + max(0.6, 0.08 * len(at)), -0.6)  # room for the legend
        class_legend(ax, handles, texts, loc="lower right", ncols=len(texts))


def _check_measure(by: str) -> None:
    if by not in MEASURES:
        raise ValueError(f"Expected by to be one of {[*MEASURES]}, got {by!r}.")


def _positions(pair: tuple[Any, Any], classes: NDArray[Any]) -> tuple[int, int]:
    """Positions of two labels. Raises ValueError."""
    if isinstance(pair, str) or len(pair) != 2:
        raise ValueError(f"Expected pair to hold two labels, got {pair!r}.")
    a, b = (class_position(label, classes) for label in pair)
    if a == b:
        raise ValueError(f"Expected two different classes, got {pair[0]!r} twice.")
    return a, b


def _draw_bars(
    ax: Any, values: NDArray[np.float64], names: Sequence[str], by: str, kwargs: Any
) -> Any:
    """Bars from 0, or an AUC of 1/2, the first one on top; infinite ones end at the edge."""
    from matplotlib.patches import Rectangle

    (option,) = curve_options(kwargs, [{"color": COLORS[0]}], Rectangle)
    finite = values[np.isfinite(values)]
    is_auc = by.endswith("auc")
    largest = 1.0 if is_auc else float(finite.max(initial=0.0)) or 1.0
    least = float(finite[finite > 0].min(initial=largest))
    is_log = not is_auc and largest > _WIDE * least
    start = 0.5 if is_auc else least / 2.0 if is_log else 0.0
    end = 1.01 if is_auc else largest * (2.0 if is_log else 1.04)
    shown = np.where(np.isinf(values), end, values)
    at = np.arange(len(values))
    bars = ax.barh(at, np.nan_to_num(shown, nan=start) - start, left=start, height=0.7, **option)
    ax.set_yticks(at, names, **({"fontsize": "small"} if len(names) > 12 else {}))
    ax.set_ylim(len(values) - 0.4, -0.6)
    if is_log:
        ax.set_xscale("log")
    ax.set_xlim(start, end)
    return bars
