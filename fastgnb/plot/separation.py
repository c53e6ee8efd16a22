"""SeparationDisplay: which classes a model confuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..densities.separation import bhattacharyya_distance, error_bound
from .arguments import model_of, model_of_stats, top
from .display import Display, pandas, set_title
from .heat_map import draw_heat_map, tall_size
from .names import TOP, class_texts, selection_note

__all__ = ["SeparationDisplay"]

Floats = NDArray[np.float64]

LABELS = {
    "bound": "bound on the error, share of all rows",
    "coefficient": "Bhattacharyya coefficient",
}


class SeparationDisplay(Display):
    """Which classes are confused: a bound on the error of each pair.

    It is recommended to use :func:`~fastgnb.plot.SeparationDisplay.from_estimator` or
    :func:`~fastgnb.plot.SeparationDisplay.from_stats` to create a display. All parameters are
    stored as attributes.

    Parameters
    ----------
    distance : ndarray of shape (n_classes, n_classes)
        Bhattacharyya distances.
    class_prior : ndarray of shape (n_classes,)
        Priors of the classes.
    classes : ndarray of shape (n_classes,)
        Their labels.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that were drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    im_ : matplotlib.image.AxesImage
        The heat map.
    order_ : ndarray of shape (n_shown,)
        Positions of the classes that are shown.

    See Also
    --------
    ImportanceDisplay : Which features tell classes apart.

    Notes
    -----
    The Bhattacharyya coefficient of two densities p and q is the integral of sqrt(p q), which is 1
    if they are alike, and 0 if no value is possible in both. Its distance is -log of it. Of two
    classes with priors a and b, the best rule confuses at most sqrt(a b) times the coefficient of
    all rows [1]_. The sum over all pairs bounds the error of the best rule for all classes. All of
    it is of the model's own densities, in closed form: where the model is wrong, the error may be
    larger.

    Of more than thirty classes, those are shown whose bounds are largest.

    References
    ----------
    .. [1] T. Kailath, "The divergence and Bhattacharyya distance measures in signal selection",
       IEEE Transactions on Communication Technology 15 (1967) 52-60.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianBayes
    >>> from fastgnb.plot import SeparationDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = SeparationDisplay.from_estimator(GaussianBayes().fit(X, y))
    >>> shown.frame().iloc[0]
    class             1.000000
    other_class       2.000000
    distance          2.000595
    coefficient       0.135255
    bound             0.045085
    Name: 0, dtype: float64
    >>> plt.close(shown.figure_)
    """

    im_: Any
    order_: NDArray[np.intp]

    def __init__(self, *, distance: Floats, class_prior: Floats, classes: NDArray[Any]) -> None:
        self.distance = distance
        self.class_prior = class_prior
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "bound",
        ax: Any = None,
        im_kw: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw which classes a fitted model confuses.

        Parameters
        ----------
        estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
            A fitted model.
        kind : {"bound", "coefficient"}, default="bound"
            Bounds on the errors of pairs, or Bhattacharyya coefficients.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        im_kw : dict, default=None
            Keywords of ``Axes.imshow``.

        Returns
        -------
        SeparationDisplay
            The display.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If the model has fewer than two classes that have rows and a prior above 0, or compares
            classes along different axes, fewer than there are features.
        TypeError
            If the estimator is none of this package.
        """
        model = model_of(estimator)
        at = np.flatnonzero(model.is_possible)
        if len(at) < 2:
            raise ValueError(
                "Expected a model of two classes or more that have rows and a prior above 0, got "
                f"{len(at)}: there is nothing to tell apart."
            )
        prior = np.asarray(model.attributes["class_prior_"], np.float64)[at]
        distance = bhattacharyya_distance(model)[np.ix_(at, at)]
        shown = cls(distance=distance, class_prior=prior / prior.sum(), classes=model.classes[at])
        return shown.plot(ax, kind=kind, im_kw=im_kw)

    @classmethod
    def from_stats(
        cls,
        stats: Any,
        *,
        kind: str = "bound",
        ax: Any = None,
        im_kw: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw which classes are confused by a model of statistics.

        Parameters
        ----------
        stats : ClassStats or MixedStats
            Statistics, of which a model with default options is estimated: `GaussianNB`, of full
            scatter `GaussianBayes`, and of categories `MixedNB`.
        kind : {"bound", "coefficient"}, default="bound"
            Bounds on the errors of pairs, or Bhattacharyya coefficients.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        im_kw : dict, default=None
            Keywords of ``Axes.imshow``.

        Returns
        -------
        SeparationDisplay
            The display.
        """
        return cls.from_estimator(model_of_stats(stats), kind=kind, ax=ax, im_kw=im_kw)

    @property
    def coefficient(self) -> Floats:
        """Bhattacharyya coefficients (n_classes, n_classes)."""
        return np.asarray(np.exp(-self.distance))

    @property
    def bound(self) -> Floats:
        """Bounds (n_classes, n_classes) on the errors of pairs, as shares of all rows."""
        return error_bound(self.class_prior, self.distance)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "bound",
        im_kw: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw a heat map of pairs of classes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        kind : {"bound", "coefficient"}, default="bound"
            Bounds on the errors of pairs, or Bhattacharyya coefficients.
        im_kw : dict, default=None
            Keywords of ``Axes.imshow``.

        Returns
        -------
        SeparationDisplay
            The display itself.
        """
        if kind not in LABELS:
            raise ValueError(f"Expected kind to be one of {[*LABELS]}, got {kind!r}.")
        values = getattr(self, kind).copy()
        np.fill_diagonal(values, np.nan)
        worst = np.nanmax(values, axis=1)
        self.order_ = np.sort(top(worst, TOP))
        texts = [class_texts(self.classes)[c] for c in self.order_]
        ax = self._start(ax, size=tall_size(len(texts), len(texts), max(map(len, texts))))
        self.im_ = draw_heat_map(
            ax, values[np.ix_(self.order_, self.order_)], texts, texts, label=LABELS[kind],
            **dict(im_kw or {}),
        )  # fmt: skip
        ax.set_xlabel("class")
        ax.set_ylabel("class")
        most = selection_note(len(texts), len(worst), "classes", which="the most confused ")
        total = self.bound[np.triu_indices(len(worst), 1)].sum()
        set_title(ax, "", f"sum of all bounds {total:.2g}" if kind == "bound" else "", most)
        return self

    def frame(self) -> Any:
        """Return all pairs of classes as a table, those that are confused most first.

        Returns
        -------
        pandas.DataFrame
            One row for each pair: ``class`` and ``other_class``, the Bhattacharyya ``distance`` and
            ``coefficient``, and the ``bound`` on the error as a share of all rows.
        """
        a, b = np.triu_indices(len(self.classes), 1)
        order = np.argsort(-self.bound[a, b], kind="stable")
        a, b = a[order], b[order]
        labels = np.asarray(self.classes)
        names = ("distance", "coefficient", "bound")
        table = {"class": labels[a], "other_class": labels[b]}
        return pandas().DataFrame(table | {name: getattr(self, name)[a, b] for name in names})
