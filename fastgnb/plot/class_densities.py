"""Densities of one feature as tables: of normal classes at points, and of categories."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..densities.marginals import Marginal, axis_marginal, marginal
from ..estimate.parameters import check_possible
from ..model.model import Model
from .arguments import feature_position

__all__ = ["Densities", "along_axis", "categories_of", "curves_of"]

Floats = NDArray[np.float64]

REACH = 4.0
"""How many standard deviations around each mean are in the picture."""


class Densities(NamedTuple):
    """Densities of one variable in the k classes that can win.

    Parameters
    ----------
    position : ndarray of shape (k,)
        Positions of these classes among all of the model.
    prior : ndarray of shape (k,)
        Their priors, which sum to 1.
    points : ndarray of shape (m,)
        Values of the variable, rising; or categories.
    density : ndarray of shape (k, m)
        Density of each class at the points, or probability of the categories. A class whose
        variance is 0 has infinity at its mean, and else 0.
    mean, sd : ndarray of shape (k,)
        Those of the variable; empty for categories.
    """

    position: NDArray[np.intp]
    prior: Floats
    points: NDArray[Any]
    density: Floats
    mean: Floats
    sd: Floats

    @property
    def is_continuous(self) -> bool:
        """Whether points are numbers, and not categories."""
        return len(self.mean) > 0

    def table(self, kind: str) -> Floats:
        """The numbers (k, m) that are drawn: "conditional", "weighted" by prior, or "posterior"."""
        if kind == "conditional":
            return self.density
        joint = self.prior[:, None] * self.density
        if kind == "weighted":
            return joint
        is_point = np.isinf(joint)
        joint = np.where(is_point.any(axis=0), is_point * self.prior[:, None], joint)
        total = joint.sum(axis=0)
        return np.asarray(np.divide(joint, total, out=np.full_like(joint, np.nan), where=total > 0))


def curves_of(model: Model, feature: int) -> Densities:
    """Densities of a continuous feature."""
    return _curves(marginal(model, [feature]))


def along_axis(model: Model, axis: int) -> tuple[Densities, str]:
    """Densities along an axis, and its name. Raises ValueError where there is none such."""
    if not model.member.likelihood.along_axes:
        raise ValueError(
            f"Expected a model along principal axes, such as PCAGaussianNB, for axis={axis!r}; "
            f"got one of {model.member.name}."
        )
    r = model.moments.theta.shape[1]
    at = feature_position(axis, [f"axis {i}" for i in range(r)], r)
    return _curves(axis_marginal(model, at)), f"axis {at}"


def categories_of(model: Model, feature: int) -> Densities:
    """Probabilities of the categories of a feature, and of all others where they have any."""
    possible = model.is_possible
    check_possible(possible)
    order = int(model.stats.is_categorical[:feature].sum())
    p = model.category_probabilities[order][possible]
    names = np.asarray(model.attributes["categories_"][order]).astype(object)
    points = np.append(names, "(others)")
    if not p[:, -1].any():
        p, points = p[:, :-1], points[:-1]
    prior = np.asarray(model.attributes["class_prior_"], np.float64)[possible]
    position, empty = np.flatnonzero(possible), np.empty(0)
    return Densities(position, prior / prior.sum(), points, p, empty, empty)


def _curves(one: Marginal) -> Densities:
    mean, sd = one.mean[:, 0], one.sd[:, 0]
    points = _points(mean, sd)
    has_density = sd > 0
    density = np.where(points == mean[:, None], np.inf, 0.0)
    known = one.only(has_density).log_density(points[:, None])
    density[has_density] = np.exp(known).T
    return Densities(one.position, one.prior, points, density, mean, sd)


def _points(mean: Floats, sd: Floats) -> Floats:
    """Points at which the curves of all classes look smooth, rising."""
    each = min(161, max(3, 1600 // len(mean))) | 1  # odd, so that the means are among them
    steps = np.linspace(-REACH, REACH, each)
    low, high = (mean - REACH * sd).min(), (mean + REACH * sd).max()
    if low == high:  # all classes are one point
        reach = max(1.0, abs(low)) * 0.5
        low, high = low - reach, high + reach
    around = (mean[:, None] + sd[:, None] * steps).ravel()
    return np.unique(np.concatenate([around, np.linspace(low, high, 201)]))
