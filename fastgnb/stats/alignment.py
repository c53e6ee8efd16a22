"""Two statistics over the same classes and features, before they are added or subtracted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..input.label_types import same_labels, union
from .checks import check_size

if TYPE_CHECKING:
    from .class_stats import ClassStats
    from .mixed_stats import MixedStats

Floats = NDArray[np.float64]

# The fields with an entry for each class.
_BY_CLASS = "count", "mean", "variance", "mean_lo", "feature_count", "max_scatter", "covariance"


def align(a: ClassStats, b: ClassStats) -> tuple[ClassStats, ClassStats]:
    """Both over the union of their classes, in sorted order, with missing counts of one kind."""
    # No rows and no features, as of `np.empty((0, 0))`, go with everything.
    a, b = (match_empty(one, other) for one, other in ((a, b), (b, a)))
    names = common_feature_names(a, b)
    if (a.feature_count is None) != (b.feature_count is None):
        a, b = _with_feature_count(a), _with_feature_count(b)
    if (a.covariance is None) != (b.covariance is None):
        raise ValueError(
            "Statistics with full and with diagonal scatter cannot be combined: take to_diag() of "
            "the full ones."
        )
    if a.feature_names != b.feature_names:
        a = replace(a, feature_names=names)
    if a.classes is b.classes or same_labels(a.classes, b.classes):
        return a, b
    labels, at_a, at_b = union(a.classes, b.classes, "Classes")
    check_size(len(labels), a.n_features)
    return reindex(a, labels, at_a), reindex(b, labels, at_b)


def common_feature_names(a: Any, b: Any) -> tuple[str, ...] | None:
    """The names of the features of two statistics. Raises ValueError unless they are the same."""
    if a.n_features != b.n_features:
        raise ValueError(
            f"Statistics of {a.n_features} features cannot be combined with {b.n_features}."
        )
    names = {a.feature_names, b.feature_names} - {None}
    if len(names) > 1:
        raise ValueError(
            f"Statistics of different features cannot be combined: {_difference_of(a, b)}."
        )
    return names.pop() if names else None


def _difference_of(a: Any, b: Any) -> str:
    """Names that only one of two statistics has, or that they differ in order alone."""
    parts = []
    for names, others, which in ((a, b, "first"), (b, a, "second")):
        only = [name for name in names.feature_names if name not in set(others.feature_names)]
        if only:
            more = f" and {len(only) - 8} more" if len(only) > 8 else ""
            parts.append(f"only the {which} have {only[:8]}{more}")
    return "; ".join(parts) or f"they are in another order, {a.feature_names} and {b.feature_names}"


def match_empty(stats: ClassStats, other: ClassStats) -> ClassStats:
    """Statistics without rows and features, given the number of features of others."""
    if stats.n_features or len(stats.classes):
        return stats
    d = other.n_features
    empty = np.zeros((0, d))
    full = None if other.covariance is None else np.zeros((0, d, d))
    return replace(
        stats, classes=other.classes[:0], mean=empty, variance=empty, mean_lo=empty, covariance=full
    )


def _with_feature_count(stats: ClassStats) -> ClassStats:
    """Statistics with a weight for each feature, also where no value was missing."""
    if stats.feature_count is not None:
        return stats
    shape = stats.mean.shape
    return replace(stats, feature_count=np.broadcast_to(stats.count[:, None], shape).copy())


def reindex(stats: ClassStats, classes: NDArray[Any], place: NDArray[np.int64]) -> ClassStats:
    """The same statistics over more classes, of weight 0 where they are new.

    place : (k,), the positions of the classes that there were.
    """
    if classes is stats.classes:
        return stats
    fields: dict[str, Any] = {"classes": classes}
    for name in _BY_CLASS:
        values = getattr(stats, name)
        if values is not None:
            fields[name] = np.zeros((len(classes), *np.shape(values)[1:]))
            fields[name][place] = values
    return replace(stats, **fields)


def match_kinds(a: MixedStats, b: MixedStats) -> tuple[MixedStats, MixedStats]:
    """Both, with a continuous feature that has no value made categorical if it is so in the other.

    "auto" sees no text in a part of the rows where all of a column is missing.
    """
    if a.n_features != b.n_features or np.array_equal(a.is_categorical, b.is_categorical):
        return a, b
    return _as_categorical(a, b.is_categorical), _as_categorical(b, a.is_categorical)


def _as_categorical(stats: MixedStats, wanted: NDArray[np.bool_]) -> MixedStats:
    """The statistics where those of the wanted features (d,) that have no value are categorical."""
    gaussian, mask = stats.gaussian, stats.is_categorical.copy()
    if gaussian.feature_count is None:  # no value is missing
        return stats
    continuous = np.flatnonzero(~mask)
    stay = gaussian.feature_count.any(axis=0) | ~wanted[continuous]
    mask[continuous[~stay]] = True
    names = gaussian.feature_names
    gaussian = replace(
        gaussian,
        mean=gaussian.mean[:, stay],
        variance=gaussian.variance[:, stay],
        mean_lo=gaussian.mean_lo[:, stay],
        # As of rows without continuous features, whose weights are those of the classes.
        feature_count=gaussian.feature_count[:, stay] if stay.any() else None,
        max_scatter=None if gaussian.max_scatter is None else gaussian.max_scatter[:, stay],
        feature_names=None if names is None else tuple(np.array(names, object)[stay]),
    )
    known = iter(zip(stats.categories, stats.counts, strict=True))
    no_category = np.empty(0, object), np.zeros((len(stats.classes), 0))
    parts = [next(known) if stats.is_categorical[j] else no_category for j in np.flatnonzero(mask)]
    return replace(
        stats,
        gaussian=gaussian,
        categories=tuple(labels for labels, _ in parts),
        counts=tuple(counts for _, counts in parts),
        is_categorical=mask,
    )


def check_same_kinds(a: MixedStats, b: MixedStats) -> tuple[str, ...] | None:
    """Their feature names. Raises ValueError unless both are of the same features."""
    names = common_feature_names(a, b)
    if not np.array_equal(a.is_categorical, b.is_categorical):
        positions = [np.flatnonzero(stats.is_categorical).tolist() for stats in (a, b)]
        raise ValueError(
            f"Statistics with categorical features {positions[0]} cannot be combined with "
            f"{positions[1]}. "
            "Give categorical_features by name or position, not 'auto', to both."
        )
    return names
