"""AxesDisplay: the principal axes of PCAGaussianNB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from .arguments import check_stats, class_position, curve_options, model_of, top
from .display import Display, class_legend, pandas, set_title
from .heat_map import draw_heat_map, tall_size
from .names import TOP, class_texts, feature_texts, numbered, selection_note
from .palette import COLORS, line_style, style_numbers

__all__ = ["AxesDisplay"]

Floats = NDArray[np.float64]
Kwargs = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None

SHOWN = 10
"""Most axes whose loadings are drawn."""

CLASSES = 20
"""Most classes whose explained variance is drawn."""


class AxesDisplay(Display):
    """Explained variance and loadings of principal axes, of all classes or of each class.

    It is recommended to use :func:`~fastgnb.plot.AxesDisplay.from_estimator` or
    :func:`~fastgnb.plot.AxesDisplay.from_stats` to create a display. All parameters are stored as
    attributes.

    Parameters
    ----------
    components : ndarray of shape (n_axes, n_features) or (n_classes, n_axes, n_features)
        Axes of length 1, of all classes or of each class.
    explained_variance : ndarray of shape (n_axes,) or (n_classes, n_axes)
        Variance along each axis.
    explained_variance_ratio : ndarray of shape (n_axes,) or (n_classes, n_axes)
        Its share of the total variance.
    feature_names : sequence of str of length n_features
        Names of the features.
    classes : ndarray of shape (n_classes,)
        Labels of the model.

    Attributes
    ----------
    axes_ : ndarray of shape (2,)
        The axes that were drawn on: explained variance, and loadings.
    ax_ : matplotlib.axes.Axes
        The first of them.
    figure_ : matplotlib.figure.Figure
        Their figure.
    lines_ : list of matplotlib.lines.Line2D
        Cumulative shares of the variance: one curve, or one for each class that is drawn.
    im_ : matplotlib.image.AxesImage
        The loadings, features down and axes across.
    order_ : ndarray of shape (n_shown,)
        Positions of the features that are shown.

    See Also
    --------
    EllipseDisplay : Two features, with ellipses that axes turn.
    DensityDisplay : Densities along an axis.

    Notes
    -----
    Of more than thirty features, those are shown whose loading on one of the shown axes is largest.
    With ``standardize=True``, loadings are of features in units of their standard deviations.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import PCAGaussianNB
    >>> from fastgnb.plot import AxesDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = AxesDisplay.from_estimator(PCAGaussianNB().fit(X, y))
    >>> shown.explained_variance_ratio.round(3)
    array([0.925, 0.053, 0.017, 0.005])
    >>> plt.close(shown.figure_)
    """

    axes_: NDArray[Any]
    lines_: list[Any]
    im_: Any
    order_: NDArray[np.intp]

    def __init__(
        self,
        *,
        components: Floats,
        explained_variance: Floats,
        explained_variance_ratio: Floats,
        feature_names: Sequence[str],
        classes: NDArray[Any],
    ) -> None:
        self.components = components
        self.explained_variance = explained_variance
        self.explained_variance_ratio = explained_variance_ratio
        self.feature_names = feature_names
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label: Any = None,
        n_axes: int = SHOWN,
        ax: Any = None,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw the axes of a fitted model.

        Parameters
        ----------
        estimator : PCAGaussianNB
            A fitted model.
        label : label, default=None
            The class whose loadings are drawn, where each class has axes of its own. None: the
            first class.
        n_axes : int, default=10
            Most axes whose loadings are drawn.
        ax : sequence of two matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords of ``Axes.plot`` for the cumulative shares.

        Returns
        -------
        AxesDisplay
            The display.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If the model has no principal axes, if there is no such class, if ``n_axes`` is below 1,
            or if ``ax`` does not hold two axes.
        TypeError
            If the estimator is none of this package.
        """
        model = model_of(estimator)
        if not model.member.likelihood.along_axes:
            raise ValueError(
                "Expected a model along principal axes, such as PCAGaussianNB, got one of "
                f"{model.member.name}."
            )
        _ = model.params  # raises for edited attributes as scoring does
        names = "components_", "explained_variance_", "explained_variance_ratio_"
        fields = [np.asarray(value, np.float64) for value in _fitted(estimator, model, names)]
        shown = cls(
            components=fields[0], explained_variance=fields[1], explained_variance_ratio=fields[2],
            feature_names=numbered(model.feature_names, model.n_features), classes=model.classes,
        )  # fmt: skip
        return shown.plot(ax, label=label, n_axes=n_axes, curve_kwargs=curve_kwargs)

    @classmethod
    def from_stats(
        cls,
        stats: Any,
        *,
        rotation: str = "total",
        standardize: bool = False,
        label: Any = None,
        n_axes: int = SHOWN,
        ax: Any = None,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw the principal axes of statistics.

        Parameters
        ----------
        stats : ClassStats
            Statistics with full scatter.
        rotation : {"total", "within", "class"}, default="total"
            Axes of all rows, of the scatter within classes, or of each class.
        standardize : bool, default=False
            Whether features are divided by their standard deviations first.
        label : label, default=None
            The class whose loadings are drawn, where each class has axes of its own.
        n_axes : int, default=10
            Most axes whose loadings are drawn.
        ax : sequence of two matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords of ``Axes.plot`` for the cumulative shares.

        Returns
        -------
        AxesDisplay
            The display.
        """
        check_stats(stats)
        model = Model.of("PCAGaussianNB", stats, rotation=rotation, standardize=standardize)
        return cls.from_estimator(
            model, label=label, n_axes=n_axes, ax=ax, curve_kwargs=curve_kwargs
        )

    def plot(
        self,
        ax: Any = None,
        *,
        label: Any = None,
        n_axes: int = SHOWN,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw explained variance and loadings.

        Parameters
        ----------
        ax : sequence of two matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        label : label, default=None
            The class whose loadings are drawn, as for `from_estimator`.
        n_axes : int, default=10
            Most axes whose loadings are drawn.
        curve_kwargs : dict or list of dict, default=None
            Keywords of ``Axes.plot`` for the cumulative shares.

        Returns
        -------
        AxesDisplay
            The display itself.
        """
        if n_axes < 1:
            raise ValueError(f"Expected n_axes of 1 or more, got {n_axes}.")
        c = 0 if label is None else class_position(label, self.classes)
        rows = min(TOP, len(self.feature_names))
        width, height = tall_size(rows, min(n_axes, self.components.shape[-2]))
        left, right = self._start_panels(ax, 2, columns=2, size=(0.75 * width, height))
        self._draw_variance(left, curve_kwargs)
        self._draw_loadings(right, c, n_axes)
        return self

    def frame(self) -> Any:
        """Return the axes as a table.

        Returns
        -------
        pandas.DataFrame
            One row for each axis, or for each class and axis, which are the index: the variance
            along it, its share and the cumulative share, and the loading of each feature.
        """
        d, r = self.components.shape[-1], self.components.shape[-2]
        table = {
            "explained_variance": self.explained_variance.ravel(),
            "explained_variance_ratio": self.explained_variance_ratio.ravel(),
            "cumulative_ratio": np.cumsum(self.explained_variance_ratio, axis=-1).ravel(),
        }
        loadings = self.components.reshape(-1, d)
        table |= {name: loadings[:, j] for j, name in enumerate(self.feature_names)}
        if not self.is_by_class:
            return pandas().DataFrame(table, index=pandas().RangeIndex(r, name="axis"))
        labels = np.asarray(self.classes).tolist()
        index = pandas().MultiIndex.from_product([labels, range(r)], names=["class", "axis"])
        return pandas().DataFrame(table, index=index)

    @property
    def is_by_class(self) -> bool:
        """Whether each class has axes of its own."""
        return self.components.ndim == 3

    def _draw_variance(self, ax: Any, kwargs: Kwargs) -> None:
        from matplotlib.lines import Line2D

        share = np.atleast_2d(self.explained_variance_ratio)
        at = np.arange(share.shape[1])
        chosen = np.arange(min(len(share), CLASSES))
        styles = [line_style(i) for i in style_numbers(chosen.tolist())]
        if not self.is_by_class:
            ax.bar(at, share[0], color=COLORS[0], label="of the axis")
            styles = [{"color": COLORS[1], "label": "cumulative"}]
        dots = {"marker": "."} if len(at) <= TOP else {}
        options = curve_options(kwargs, [{**dots, **style} for style in styles], Line2D)
        rows = zip(np.cumsum(share, axis=1)[chosen], options, strict=True)
        self.lines_ = [ax.plot(at, row, **option)[0] for row, option in rows]
        if self.is_by_class:
            class_legend(ax, self.lines_, [class_texts(self.classes)[c] for c in chosen], "class")
        else:
            ax.legend(fontsize="small", loc="best")
        ax.set_ylim(0.0, 1.04)
        ax.set_xlabel("axis")
        cumulative = "cumulative " if self.is_by_class else ""
        ax.set_ylabel(f"{cumulative}share of the variance")
        ax.xaxis.get_major_locator().set_params(integer=True)
        which = selection_note(len(chosen), len(share), "classes", which="the first ")
        set_title(ax, "Explained variance", which)

    def _draw_loadings(self, ax: Any, c: int, n_axes: int) -> None:
        components = self.components[c] if self.is_by_class else self.components
        shown = components[:n_axes]
        self.order_ = np.sort(top(np.abs(shown).max(axis=0, initial=0.0), TOP))
        names = [feature_texts(self.feature_names)[j] for j in self.order_]
        self.im_ = draw_heat_map(
            ax, shown[:, self.order_].T, names, [str(i) for i in range(len(shown))],
            label="loading", is_signed=True, number_format=".2f",
        )  # fmt: skip
        ax.set_xlabel("axis")
        which = f" of class {class_texts(self.classes)[c]}" if self.is_by_class else ""
        features = selection_note(len(names), components.shape[1], "features")
        axes = selection_note(len(shown), len(components), "axes", which="the first ")
        set_title(ax, f"Loadings{which}", features, axes)


def _fitted(estimator: Any, model: Model, names: Sequence[str]) -> list[Any]:
    """Fitted attributes of an estimator, or of a model, estimated again where it lacks them."""
    if estimator is not model:
        return [getattr(estimator, name) for name in names]
    attributes = model.attributes
    if not all(name in attributes for name in names):
        attributes = model.with_stats(model.stats).attributes
    return [attributes[name] for name in names]
