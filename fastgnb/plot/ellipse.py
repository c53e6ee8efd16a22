"""EllipseDisplay: the densities of two features, and the regions that they decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..densities.marginals import marginal
from ..model.model import Model
from .arguments import feature_position, model_of, model_of_stats
from .display import Display, pandas
from .ellipse_curves import CLASSES, Rows, draw_ellipses, limits_of, rows_of
from .names import numbered
from .regions import Regions, regions_of

__all__ = ["EllipseDisplay"]

Floats = NDArray[np.float64]
Kwargs = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


class EllipseDisplay(Display):
    """Densities of two features in each class as ellipses, over the regions that they decide.

    It is recommended to use :func:`~fastgnb.plot.EllipseDisplay.from_estimator` or
    :func:`~fastgnb.plot.EllipseDisplay.from_stats` to create a display. All parameters are stored
    as attributes.

    Parameters
    ----------
    mean : ndarray of shape (n_classes, 2)
        Means of the two features in each class.
    covariance : ndarray of shape (n_classes, 2, 2)
        Their covariances.
    class_prior : ndarray of shape (n_classes,)
        Priors of the classes, which sum to 1.
    classes : ndarray of shape (n_classes,)
        Their labels.
    feature_names : tuple of str of length 2
        Names of the features.
    position : ndarray of shape (n_classes,), default=None
        Positions of the classes in the model, which decide their styles. None: 0, 1, ...
    regions : Regions or None, default=None
        Scores on a grid, with the fields ``x``, ``y``, and ``winner`` (n_y, n_x), positions of
        classes.
    rows : Rows or None, default=None
        Rows, with the fields ``values`` (n_rows, 2) and ``codes`` (n_rows,).
    notes : sequence of str, default=()
        What the picture says under its title.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that were drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    ellipses_ : list of list of matplotlib.lines.Line2D
        For each class that is drawn its ellipses, the smallest first.

    See Also
    --------
    DensityDisplay : One feature.
    AxesDisplay : The principal axes of `PCAGaussianNB`.

    Notes
    -----
    An ellipse of r sigma is where the Mahalanobis distance from the mean is r: those of 1, 2 and 3
    hold 39 %, 86 % and 99 % of the density of two features. Ellipses lie along the axes where
    features are independent, as in `GaussianNB`, and are turned by covariances and rotations. What
    `PCAGaussianNB` says of features is what its ``sample`` draws; see `DensityDisplay`.

    A region is where a class has the largest posterior probability given these two features alone.
    The others are integrated out of the model's densities, exactly, and not set to their means.
    Boundaries are interpolated on a grid of 240 by 240 exact scores. There are none where a class
    has no density of two features, as with one principal axis.

    Up to 2,000 rows are drawn, chosen at random, and the same in each call.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianBayes
    >>> from fastgnb.plot import EllipseDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = EllipseDisplay.from_estimator(GaussianBayes().fit(X, y), X, y, features=(2, 3))
    >>> len(shown.ellipses_)
    3
    >>> plt.close(shown.figure_)
    """

    ellipses_: list[list[Any]]

    def __init__(
        self,
        *,
        mean: Floats,
        covariance: Floats,
        class_prior: Floats,
        classes: NDArray[Any],
        feature_names: tuple[str, str],
        position: NDArray[np.intp] | None = None,
        regions: Regions | None = None,
        rows: Rows | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.mean = mean
        self.covariance = covariance
        self.class_prior = class_prior
        self.classes = classes
        self.feature_names = feature_names
        self.position = position
        self.regions = regions
        self.rows = rows
        self.notes = notes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: Sequence[int | str] = (0, 1),
        regions: bool = True,
        sigmas: Sequence[float] | None = None,
        ax: Any = None,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw two features of a fitted model.

        Parameters
        ----------
        estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
            A fitted model.
        X : array-like of shape (n_samples, n_features), default=None
            Rows to draw.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        features : sequence of two int or str, default=(0, 1)
            The features, by position or name; no categorical ones.
        regions : bool, default=True
            Whether to draw the decision regions.
        sigmas : sequence of float, default=None
            Radii of the ellipses in standard deviations. None: 1, 2 and 3, or 1 for more than seven
            classes.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            Keywords of ``Axes.plot`` for the ellipses of all classes, or one dictionary for each.

        Returns
        -------
        EllipseDisplay
            The display.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If there are no such features, if one of them is categorical, if they are not two, if
            only one of X and y is given, and if X has other features, or y other labels, than the
            model.
        TypeError
            If the estimator is none of this package.
        """
        model = model_of(estimator)
        pair = _pair(features, model)
        names = numbered(model.feature_names, model.n_features)
        densities = marginal(model, pair)
        limits = limits_of(densities)
        has_density = bool(densities.has_density.all())
        has_regions = regions and len(densities.prior) > 1 and has_density
        shown = cls(
            mean=densities.mean, covariance=densities.covariance, class_prior=densities.prior,
            classes=model.classes[densities.position], position=densities.position,
            feature_names=(names[pair[0]], names[pair[1]]),
            regions=regions_of(densities, *limits, CLASSES) if has_regions else None,
            notes=["no regions: two features have no density"] * (regions and not has_density),
            rows=rows_of(model, densities, X, y, pair, limits),
        )  # fmt: skip
        return shown.plot(ax, sigmas=sigmas, curve_kwargs=curve_kwargs)

    @classmethod
    def from_stats(
        cls,
        stats: Any,
        *,
        features: Sequence[int | str] = (0, 1),
        regions: bool = True,
        sigmas: Sequence[float] | None = None,
        ax: Any = None,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw two features of statistics.

        Parameters
        ----------
        stats : ClassStats or MixedStats
            Statistics, of which a model with default options is estimated: `GaussianNB`, of full
            scatter `GaussianBayes`, and of categories `MixedNB`.
        features : sequence of two int or str, default=(0, 1)
            The features, by position or name; no categorical ones.
        regions : bool, default=True
            Whether to draw the decision regions.
        sigmas : sequence of float, default=None
            Radii of the ellipses, as for `from_estimator`.
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        curve_kwargs : dict or list of dict, default=None
            As for `from_estimator`.

        Returns
        -------
        EllipseDisplay
            The display.
        """
        return cls.from_estimator(
            model_of_stats(stats), features=features, regions=regions, sigmas=sigmas, ax=ax,
            curve_kwargs=curve_kwargs,
        )  # fmt: skip

    def plot(
        self,
        ax: Any = None,
        *,
        sigmas: Sequence[float] | None = None,
        curve_kwargs: Kwargs = None,
    ) -> Self:
        """Draw the ellipses, means, regions and rows.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None: on a new figure.
        sigmas : sequence of float, default=None
            Radii of the ellipses, as for `from_estimator`.
        curve_kwargs : dict or list of dict, default=None
            As for `from_estimator`.

        Returns
        -------
        EllipseDisplay
            The display itself.
        """
        draw_ellipses(self, ax, sigmas, curve_kwargs)
        return self

    def frame(self) -> Any:
        """Return the densities of the classes as a table.

        Returns
        -------
        pandas.DataFrame
            One row for each class, which is the index: its prior, and the means, standard
            deviations and correlation of the two features.
        """
        sd = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        product = sd.prod(axis=1)
        both = self.covariance[:, 0, 1]
        a, b = self.feature_names
        table = {
            "prior": self.class_prior,
            f"mean of {a}": self.mean[:, 0],
            f"mean of {b}": self.mean[:, 1],
            f"sd of {a}": sd[:, 0],
            f"sd of {b}": sd[:, 1],
            "correlation": np.divide(both, product, out=np.zeros_like(both), where=product > 0),
        }
        index = pandas().Index(np.asarray(self.classes).tolist(), name="class")
        return pandas().DataFrame(table, index=index)


def _pair(features: Sequence[int | str], model: Model) -> list[int]:
    """Positions of two features. Raises ValueError."""
    if isinstance(features, str) or np.shape(features) != (2,):
        raise ValueError(f"Expected features to be two names or positions, got {features!r}.")
    pair = [feature_position(each, model.feature_names, model.n_features) for each in features]
    if pair[0] == pair[1]:
        raise ValueError(f"Expected two different features, got {features[0]!r} twice.")
    return pair
