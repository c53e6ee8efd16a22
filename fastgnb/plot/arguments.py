"""Arguments of displays as users give them: models, features, classes, keywords and rows."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.family import MEMBERS
from ..model.model import Model
from ..stats.class_stats import ClassStats
from ..stats.mixed_stats import MixedStats
from .names import listed, numbered

__all__ = [
    "check_stats",
    "class_position",
    "curve_options",
    "feature_position",
    "model_of",
    "model_of_stats",
    "sampled",
    "top",
]

SAMPLE = 2000
"""Most rows that are drawn as points."""


def model_of(estimator: Any) -> Model:
    """Return the model of a fitted estimator, or a model as it is.

    Raises scikit-learn's NotFittedError for an estimator that is not fitted, and TypeError for
    other objects.
    """
    if isinstance(estimator, Model):
        return estimator
    if isinstance(estimator, type) or not hasattr(estimator, "to_model"):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"Expected a fitted estimator of fastgnb, such as GaussianNB, got {name}. Estimators "
            "of scikit-learn hold no statistics: fit one of fastgnb."
        )
    model: Model = estimator.to_model()
    return model


def check_stats(stats: Any) -> None:
    """Raise TypeError for objects that are no statistics."""
    if not isinstance(stats, (ClassStats, MixedStats)):
        raise TypeError(f"Expected ClassStats or MixedStats, got {type(stats).__name__}.")


def model_of_stats(stats: Any) -> Model:
    """Return the first member of the family that takes such statistics, with default options.

    That is naive Bayes, or with full scatter the one whose covariances are full. Raises TypeError
    for other objects.
    """
    check_stats(stats)
    is_mixed = isinstance(stats, MixedStats)
    is_full = isinstance(stats, ClassStats) and stats.covariance is not None
    members = (m for m in MEMBERS.values() if m.needs_full_scatter == is_full)
    return Model.of(next(m for m in members if m.takes_categories == is_mixed), stats)


def feature_position(feature: Any, names: Sequence[str] | None, n: int) -> int:
    """Position of a feature among n, given by its name or by its position.

    Raises ValueError that names the features there are.
    """
    if isinstance(feature, str):
        known = numbered(names, n)
        if feature in known:
            return known.index(feature)
        raise ValueError(f"Expected a feature among {listed(known)}; got {feature!r}.")
    try:
        position = operator.index(feature)
    except TypeError:
        raise TypeError(
            "Expected a feature's name or its position, a whole number; got "
            f"{type(feature).__name__}."
        ) from None
    if not -n <= position < n:
        raise ValueError(
            f"Expected a feature from 0 to {n - 1}: {listed(numbered(names, n))}; got {position}."
        )
    return position % n


def class_position(label: Any, classes: NDArray[Any]) -> int:
    """Position of a label among classes (k,). Raises ValueError that names the labels there are."""
    known = np.asarray(classes).tolist()
    if label in known:
        position: int = known.index(label)
        return position
    raise ValueError(f"Expected a class among {listed(known)}; got {label!r}.")


def curve_options(
    curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
    defaults: Sequence[Mapping[str, Any]],
    artist: Any,
) -> list[dict[str, Any]]:
    """Keywords for each curve: the defaults, and over them `curve_kwargs`.

    That is one dictionary for all curves, or a list of one for each; aliases such as "c" and "lw"
    are those of the class `artist`. Raises ValueError for a list of another length.
    """
    from matplotlib.cbook import normalize_kwargs

    n = len(defaults)
    if curve_kwargs is None or isinstance(curve_kwargs, Mapping):
        given: Sequence[Mapping[str, Any]] = [curve_kwargs or {}] * n
    else:
        given = list(curve_kwargs)
    if len(given) != n:
        raise ValueError(
            f"Expected curve_kwargs to be None, a dictionary, or a list of {n} dictionaries, one "
            f"for each curve; got a list of {len(given)}."
        )
    pairs = zip(defaults, given, strict=True)
    return [normalize_kwargs(dict(a), artist) | normalize_kwargs(dict(b), artist) for a, b in pairs]


def top(values: Any, most: int) -> NDArray[np.intp]:
    """Positions of the `most` largest values (n,), largest first and earlier ones before ties.

    NaN come last.
    """
    amount = np.asarray(values, np.float64)
    return np.argsort(-np.where(np.isnan(amount), -np.inf, amount), kind="stable")[:most]


def sampled(n: int, most: int = SAMPLE) -> NDArray[np.intp]:
    """Positions of `most` of n rows in their order, or all of them; the same in each call."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False, shuffle=False))
