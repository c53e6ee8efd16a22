"""The same statistics with their features in another order, or under other names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .class_stats import ClassStats
from .mixed_stats import MixedStats

__all__ = ["feature_name_differences", "match_feature_order", "rename_features", "reorder_features"]

# The fields with an entry for each class and feature.
_BY_FEATURE = "mean", "variance", "mean_lo", "feature_count", "max_scatter"


def reorder_features(stats: Any, names: Sequence[str]) -> Any:
    """Statistics with their features in the order of `names`. Exact; cost: a copy.

    Parameters
    ----------
    stats : ClassStats or MixedStats with feature names.
    names : the same names, d of them, in another order.

    Raises
    ------
    ValueError
        Where the statistics have no names, or others.
    """
    if stats.feature_names is None or sorted(stats.feature_names) != sorted(names):
        raise ValueError(f"Expected features {list(names)}, got {stats.feature_names}.")
    position = {name: j for j, name in enumerate(stats.feature_names)}
    order = np.array([position[name] for name in names], np.intp)
    if isinstance(stats, MixedStats):
        return _reorder_mixed(stats, order, tuple(names))
    return _reorder_gaussian(stats, order, tuple(names))


def match_feature_order(stats: Any, like: Any) -> Any:
    """The statistics in the order of others of the same names; as they are where names differ."""
    names, wanted = stats.feature_names, like.feature_names
    if names is None or wanted is None or names == wanted or sorted(names) != sorted(wanted):
        return stats
    return reorder_features(stats, wanted)


def feature_name_differences(a: Any, b: Any) -> tuple[list[str], list[str]]:
    """Names of features of the statistics a that b lacks, and the other way round, in order."""
    names_a, names_b = a.feature_names or (), b.feature_names or ()
    only_a = [name for name in names_a if name not in set(names_b)]
    only_b = [name for name in names_b if name not in set(names_a)]
    return only_a, only_b


def rename_features(stats: Any, names: tuple[str, ...] | None) -> Any:
    """The statistics with other names of their features."""
    if isinstance(stats, MixedStats):
        return stats.renamed(names)
    return replace(stats, feature_names=names)


def _reorder_gaussian(
    stats: ClassStats, order: NDArray[np.intp], names: tuple[str, ...] | None
) -> ClassStats:
    fields: dict[str, Any] = {
        name: np.ascontiguousarray(values[:, order])
        for name in _BY_FEATURE
        if (values := getattr(stats, name)) is not None
    }
    if stats.covariance is not None:
        fields["covariance"] = np.ascontiguousarray(stats.covariance[:, order][:, :, order])
    return replace(stats, feature_names=names, **fields)


def _reorder_mixed(
    stats: MixedStats, order: NDArray[np.intp], names: tuple[str, ...]
) -> MixedStats:
    is_categorical = stats.is_categorical[order]
    # The rank of each feature among those of its kind.
    rank = np.where(
        stats.is_categorical,
        np.cumsum(stats.is_categorical) - 1,
        np.cumsum(~stats.is_categorical) - 1,
    )[order]
    reordered = MixedStats(
        _reorder_gaussian(stats.gaussian, rank[~is_categorical], None),
        tuple(stats.categories[j] for j in rank[is_categorical]),
        tuple(stats.counts[j] for j in rank[is_categorical]),
        is_categorical,
    )
    return reordered.renamed(names)
