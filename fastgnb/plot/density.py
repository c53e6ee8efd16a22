"""DensityDisplay: a feature's density in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from .arguments import class_position, feature_position, model_of, model_of_stats, top
from .class_densities import Densities, along_axis, categories_of, curves_of
from .density_curves import BARS, draw_categories, draw_curves
from .display import Display, pandas, set_title
from .histograms import Histogram, histogram_of
from .names import class_texts, numbered, selection_note, shorten
from .rows import check_both

__all__ = ["DensityDisplay"]

Kwargs = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None

LABELS = {
    "conditional": ("density", "probability in the class"),
    "weighted": ("density, weighted by prior", "probability, weighted by prior"),
    "posterior": ("probability of the class", "probability of the class"),
}
"""Kinds of tables, with what the axis says for numbers and for categories."""

CLASSES = 20
"""Most classes that are drawn."""


class DensityDisplay(Display):
    """A feature's density in each class.

    It is recommended to use :func:`~fastgnb.plot.DensityDisplay.from_estimator` or
    :func:`~fastgnb.plot.DensityDisplay.from_stats` to create a display. All parameters are stored
    as attributes.

    Parameters
    ----------
    densities : Densities
        The curves, with the fields ``points`` (n_points,), values of the feature or its categories;
        ``density`` (n_classes, n_points), densities of the classes or probabilities of the
        categories; ``prior`` (n_classes,), which sum to 1; ``mean`` and ``sd`` (n_classes,), empty
        for categories; and ``position`` (n_classes,), positions of the classes in the model.
    classes : ndarray of shape (n_classes,)
        Labels of the classes.
    feature_name : str
        Name of the feature.
    selected : ndarray of shape (n_selected,) or None, default=None
        Which of the classes are shown. None: all.
    histogram : Histogram or None, default=None
        How rows are distributed in each class, with the fields ``edges`` (n_classes, n_bins + 1),
        ``density`` (n_classes, n_bins), ``share`` (n_classes,), the classes' shares of the rows,
        ``n_rows`` and ``n_outside``, the rows in no bin.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that were drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    artists_ : list
        For each class that is drawn its curve, a ``matplotlib.lines.Line2D``, or its bars, a
        ``matplotlib.container.BarContainer``; or of more than seven classes the heat map of their
        categories, a ``matplotlib.image.AxesImage``.

    See Also
    --------
    EllipseDisplay : Two features together.
    ImportanceDisplay : Which features tell classes apart.

    Notes
    -----
    The density is the model's, with all other features integrated out: exact for every member.
    What `PCAGaussianNB` says of a feature is what its ``sample`` draws. There all rows are at the
    centre across the axes that are left out, so that with few axes the curves are narrower than
    the rows. Pass ``axis`` to see the densities by which it decides.

    The picture reaches four standard deviations around each mean, and holds the twenty classes of
    largest prior. Where few peaks are much taller than most, they are cut off. A note says so.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.plot import DensityDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = GaussianNB().fit(X, y)
    >>> shown = DensityDisplay.from_estimator(model, X, y, feature="petal length (cm)")
    >>> shown.ax_.get_xlabel()
    'petal length (cm)'
    >>> plt.close(shown.figure_)
    """

    artists_: list[Any]

    def __init__(
        self,
        *,
        densities: Densities,
        classes: NDArray[Any],
        feature_name: str,
        selected: NDArray[np.intp] | None = None,
        histogram: Histogram | None = None,
    ) -> None:
        self.densities = densities
        self.classes = classes
        self.feature_name = feature_name
        self.selected = selected
        self.histogram = histogram

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        feature: int | str = 0,
        axis: int | None = None,
        diagnosis: Any = None,
        classes: Sequence[Any] | None = None,
        kind: str = "conditional",
        ax: Any = None,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw a feature's density in each class of a fitted model.

        Parameters
        ----------
        estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
            A fitted model.
        X : array-like of shape (n_samples, n_features), default=None
            Rows whose histogram is drawn too.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        feature : int or str, default=0
            The feature, by position or name.
        axis : int, default=None
            A principal axis of `PCAGaussianNB`, in place of a feature.
        diagnosis : Diagnosis, default=None
            Where the histogram comes from, in place of rows.
        classes : sequence of labels, default=None
            The classes to show. None: all.
        kind : {"conditional", "weighted", "posterior"}, default="conditional"
            Densities within each class, these times the priors, or the probability of each class
            given the feature alone.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords of ``Axes.plot``, or of ``Axes.bar`` for categories: for all curves, or one
            dictionary for each.

        Returns
        -------
        DensityDisplay
            The display.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If there is no such feature, axis, class or kind, if only one of X and y is given, and
            if X has other features, or y other labels, than the model.
        TypeError
            If the estimator is none of this package.
        """
        model = model_of(estimator)
        if axis is not None:
            densities, name = along_axis(model, axis)
            histogram = None
            if check_both(X, y):
                raise ValueError("Expected rows beside a feature; along an axis none are drawn.")
        else:
            j = feature_position(feature, model.feature_names, model.n_features)
            name = numbered(model.feature_names, model.n_features)[j]
            densities = (curves_of if model.is_continuous[j] else categories_of)(model, j)
            histogram = histogram_of(model, j, densities, X, y, diagnosis)
        shown = cls(
            densities=densities, classes=model.classes[densities.position], feature_name=name,
            selected=_selected(model, densities, classes), histogram=histogram,
        )  # fmt: skip
        return shown.plot(ax, kind=kind, curve_kwargs=curve_kwargs)

    @classmethod
    def from_stats(
        cls,
        stats: Any,
        *,
        feature: int | str = 0,
        classes: Sequence[Any] | None = None,
        kind: str = "conditional",
        ax: Any = None,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw the normal densities, or the probabilities of categories, of statistics.

        Parameters
        ----------
        stats : ClassStats or MixedStats
            Statistics, of which a model with default options is estimated: `GaussianNB`, of full
            scatter `GaussianBayes`, and of categories `MixedNB`.
        feature : int or str, default=0
            The feature, by position or name.
        classes : sequence of labels, default=None
            The classes to show. None: all.
        kind : {"conditional", "weighted", "posterior"}, default="conditional"
            As for `from_estimator`.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            As for `from_estimator`.

        Returns
        -------
        DensityDisplay
            The display.
        """
        return cls.from_estimator(
            model_of_stats(stats), feature=feature, classes=classes, kind=kind, ax=ax,
            curve_kwargs=curve_kwargs,
        )  # fmt: skip

    def plot(
        self, ax: Any = None, *, kind: str = "conditional", curve_kwargs: Kwargs = None
    ) -> Self:
        """Draw the densities.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        kind : {"conditional", "weighted", "posterior"}, default="conditional"
            As for `from_estimator`.
        curve_kwargs : dict or list of dict, default=None
            As for `from_estimator`.

        Returns
        -------
        DensityDisplay
            The display itself.
        """
        _check_kind(kind)
        selected = self._selected()
        chosen = np.sort(selected[top(self.densities.prior[selected], CLASSES)])
        ax = self._start(ax)
        texts = class_texts(self.classes)
        draw = draw_curves if self.densities.is_continuous else draw_categories
        self.artists_, notes = draw(ax, self, kind, chosen, texts, curve_kwargs)
        ax.set_xlabel(shorten(self.feature_name, 60).replace("$", r"\$"))
        is_map = not self.densities.is_continuous and len(chosen) > BARS
        name = LABELS[kind][0 if self.densities.is_continuous else 1]
        (self.artists_[0].colorbar.set_label if is_map else ax.set_ylabel)(name)
        which = selection_note(len(chosen), len(selected), "classes", which="the largest ")
        set_title(ax, "", which, *notes)
        return self

    def frame(self, kind: str = "conditional") -> Any:
        """Return the densities as a table.

        Parameters
        ----------
        kind : {"conditional", "weighted", "posterior"}, default="conditional"
            As for `from_estimator`.

        Returns
        -------
        pandas.DataFrame
            One row for each point or category, which are the index, and one column for each class.
        """
        _check_kind(kind)
        selected = self._selected()
        index = pandas().Index(self.densities.points, name=self.feature_name)
        return pandas().DataFrame(
            self.densities.table(kind)[selected].T, index=index,
            columns=np.asarray(self.classes)[selected].tolist(),
        )  # fmt: skip

    def _selected(self) -> NDArray[np.intp]:
        return np.arange(len(self.classes)) if self.selected is None else self.selected


def _check_kind(kind: str) -> None:
    if kind not in LABELS:
        raise ValueError(f"Expected kind to be one of {[*LABELS]}, got {kind!r}.")


def _selected(
    model: Model, densities: Densities, classes: Sequence[Any] | None
) -> NDArray[np.intp] | None:
    """Positions of labels among the classes of the densities."""
    if classes is None:
        return None
    known = densities.position.tolist()
    wanted = [class_position(label, model.classes) for label in classes]
    for at, label in zip(wanted, classes, strict=True):
        if at not in known:
            raise ValueError(f"Class {label!r} has no density: it has no rows, or a prior of 0.")
    if not wanted:
        raise ValueError("Expected one class or more to show, got none.")
    return np.array([known.index(at) for at in wanted])
