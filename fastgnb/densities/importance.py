"""How well each feature alone tells classes apart, in closed form from a model's densities.

No row is read. See `pair_measures` for the measures of a pair of classes: AUC of the log odds, AUC
of the values, Jeffreys divergence. The Fisher ratio is of all classes at once: the variance of the
class means over the mean variance of the classes, both weighted by priors; of a categorical feature
it is that of the indicators of its categories together, which is Gini's impurity between classes
over that within.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from .pair_measures import category_auc, category_jeffreys, normal_auc, normal_jeffreys, value_auc

__all__ = ["MEASURES", "Importance", "importance"]

Floats = NDArray[np.float64]

MEASURES = ("auc", "value_auc", "jeffreys", "fisher_ratio")
"""The measures by which features can be ranked."""

_Measures = tuple[Floats, Floats, Floats]


class Importance(NamedTuple):
    """Measures of d features; but for the Fisher ratio, means over the pairs of classes.

    auc : (d,), AUC of the log odds of the feature alone: no rule on this feature has a larger one.
    value_auc : (d,), AUC of the feature's value, which one cut-off decides by; NaN for categories.
    jeffreys : (d,), Jeffreys divergence in nats.
    fisher_ratio : (d,), variance between classes over the variance within.
    best_pair : (d, 2), positions of the classes that the feature tells apart best, by `auc`.
    best_auc : (d,), the `auc` of these two.
    """

    auc: Floats
    value_auc: Floats
    jeffreys: Floats
    fisher_ratio: Floats
    best_pair: NDArray[np.intp]
    best_auc: Floats


def importance(model: Model, pair: tuple[int, int] | None = None) -> Importance:
    """Measures of each feature, over all pairs of classes that can win, or of one pair.

    Every pair counts alike, as in Hand and Till's AUC of many classes. `pair` holds the positions
    of two classes. Cost: O(k^2 d) for k classes and d continuous features, and O(k^2 m log m) for
    a feature of m categories. Raises ValueError for fewer than two classes.
    """
    classes = np.flatnonzero(model.is_possible) if pair is None else np.asarray(pair, np.intp)
    if len(classes) < 2:
        raise ValueError(
            f"Expected a model of two classes or more that have rows and a prior above 0, got "
            f"{len(classes)}: there is nothing to tell apart."
        )
    prior = np.asarray(model.attributes["class_prior_"], np.float64)[classes]
    prior = prior / prior.sum()
    is_continuous = model.is_continuous
    columns = [_of_normals(model, classes, prior)]
    columns += [_of_categories(p[classes], prior) for p in model.category_probabilities]
    order = np.argsort(np.r_[np.flatnonzero(is_continuous), np.flatnonzero(~is_continuous)])
    fields = Importance(*(np.concatenate(each)[order] for each in zip(*columns, strict=True)))
    return fields._replace(best_pair=classes[fields.best_pair])


def _of_normals(model: Model, classes: NDArray[np.intp], prior: Floats) -> Importance:
    mean, var = (each[classes] for each in model.feature_moments)

    def measured(i: int, others: slice) -> _Measures:
        terms = mean[others] - mean[i], var[i], var[others]
        return normal_auc(*terms), value_auc(*terms), normal_jeffreys(*terms)

    centre = prior @ mean
    ratio = _ratio(prior @ (mean - centre) ** 2, prior @ var)
    return _over_pairs(measured, ratio, len(classes))


def _of_categories(p: Floats, prior: Floats) -> Importance:
    """Of one categorical feature with probabilities (k, m)."""

    def measured(i: int, others: slice) -> _Measures:
        auc = category_auc(p[others], p[i])[:, None]
        return auc, np.full_like(auc, np.nan), category_jeffreys(p[others], p[i])[:, None]

    centre = prior @ p
    within = prior @ (p * (1.0 - p)).sum(axis=1)
    ratio = _ratio(np.array([(prior @ (p - centre) ** 2).sum()]), np.array([within]))
    return _over_pairs(measured, ratio, len(prior))


def _over_pairs(
    measured: Callable[[int, slice], _Measures], fisher_ratio: Floats, k: int
) -> Importance:
    """Means over pairs of classes, and the best pair; measures are of one class and all later."""
    c = len(fisher_ratio)
    sums, best, pair = np.zeros((3, c)), np.full(c, -1.0), np.zeros((c, 2), np.intp)
    for i in range(k - 1):
        measures = measured(i, slice(i + 1, k))
        sums += [each.sum(axis=0) for each in measures]
        auc, last = measures[0].max(axis=0), measures[0].argmax(axis=0)
        better = auc > best
        best = np.where(better, auc, best)
        pair[better] = np.column_stack([np.full(c, i), i + 1 + last])[better]
    auc, values, jeffreys = sums / (k * (k - 1) / 2)
    return Importance(auc, values, jeffreys, fisher_ratio, pair, best)


def _ratio(between: Floats, within: Floats) -> Floats:
    """Between over within; 0 where both are 0, so that a constant feature is worth nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = between / within
    return np.where(between == 0, 0.0, ratio)
