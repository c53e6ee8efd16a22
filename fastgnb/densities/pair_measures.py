"""How far apart two densities of one variable are, in closed form: normal ones, and of categories.

For N(a, v) and N(b, w), with D = a - b:

    AUC of the values     Phi(|D| / sqrt(v + w))
    AUC of the log odds   1 - 2 T(|D| / sqrt(v + w), 2 sqrt(v w) / |v - w|), T being Owen's function
    Jeffreys divergence   ((v - w)^2 / (v w) + D^2 (1 / v + 1 / w)) / 2

The log odds are s (x - x0)^2 + t. So they rank a value x of one density above a value y of the
other where (x - y) (x + y - 2 x0) is positive, or where it is negative: the product of two normal
variables of covariance v - w, which Owen's function gives. As w tends to v this AUC tends to that
of the values, which is never larger.

Arrays of any shapes that broadcast together. Variances may be 0: two densities that are points are
alike where they are one point, and else entirely apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

__all__ = ["category_auc", "category_jeffreys", "normal_auc", "normal_jeffreys", "value_auc"]

Floats = NDArray[np.float64]


def value_auc(distance: Any, v: Any, w: Any) -> Floats:
    """AUC of values of two normal densities with means `distance` apart."""
    return np.asarray(ndtr(_standardized(distance, v, w)))


def normal_auc(distance: Any, v: Any, w: Any) -> Floats:
    """AUC of the log odds of two normal densities: no rule has a larger one.

    Error: a few units of 1e-16.
    """
    height = _standardized(distance, v, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.asarray(v / (np.asarray(v) + w))
        slope = 2.0 * np.sqrt(share * (1.0 - share)) / np.abs(2.0 * share - 1.0)
    slope = np.where(np.isnan(slope), np.inf, slope)  # two points
    return np.asarray(1.0 - 2.0 * owens_t(height, slope))


def normal_jeffreys(distance: Any, v: Any, w: Any) -> Floats:
    """Jeffreys divergence of two normal densities, in nats."""
    v, w, distance = np.broadcast_arrays(v, w, distance)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shape = (v - w) / v * ((v - w) / w)
        place = distance / v * distance + distance / w * distance
        total = 0.5 * (shape + place)
    alike = (distance == 0) & (v == w)
    return np.where(alike, 0.0, np.where(np.isnan(total), np.inf, total))


def category_auc(p: Floats, q: Floats) -> Floats:
    """AUC of the log odds of probabilities (..., m) of categories. Ties count one half."""
    with np.errstate(invalid="ignore"):
        odds = p / (p + q)
    order = np.argsort(np.where(np.isnan(odds), 0.5, odds), axis=-1)
    p, q = (np.take_along_axis(each, order, axis=-1) for each in np.broadcast_arrays(p, q))
    # Categories of equal odds contribute alike in any order.
    below = np.cumsum(q, axis=-1) - 0.5 * q
    return np.asarray((p * below).sum(axis=-1))


def category_jeffreys(p: Floats, q: Floats) -> Floats:
    """Jeffreys divergence of probabilities (..., m) of categories, in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (p - q) * (np.log(p) - np.log(q))
    return np.asarray(np.where(p == q, 0.0, terms).sum(axis=-1))


def _standardized(distance: Any, v: Any, w: Any) -> Floats:
    """|distance| / sqrt(v + w), and 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.abs(distance) / np.sqrt(np.asarray(v, np.float64) + w)
    return np.where(np.asarray(distance) == 0, 0.0, height)
