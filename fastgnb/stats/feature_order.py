"""Statistics of the same features in another order: the same statistics, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .class_stats import ClassStats
from .mixed_stats import MixedStats

__all__ = ["feature_name_differences", "match_feature_order", "rename_features", "reorder_features"]


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
    at = {name: j for j, name in enumerate(stats.feature_names)}
    order = np.array([at[name] for name in names], np.intp)
    if isinstance(stats, MixedStats):
        return _mixed(stats, order, tuple(names))
    return _gaussian(stats, order, tuple(names))


def match_feature_order(stats: Any, like: Any) -> Any:
    """The statistics in the order of others of the same names; as they are where names differ."""
    names, wanted = stats.feature_names, like.feature_names
    if names is None or wanted is None or names == wanted or sorted(names) != sorted(wanted):
        return stats
    return reorder_features(stats, wanted)


def feature_name_differences(a: Any, b: Any) -> tuple[list[str], list[str]]:
    """Names of features of the statistics a that b lacks, and the other way round, in order."""
    here, there = a.feature_names or (), b.feature_names or ()
    return [n for n in here if n not in set(there)], [n for n in there if n not in set(here)]


def _gaussian(
    stats: ClassStats, order: NDArray[np.intp], names: tuple[str, ...] | None
) -> ClassStats:
    def moved(values: Any) -> Any:
        return None if values is None else np.ascontiguousarray(values[:, order])

    full = stats.covariance
    return replace(
        stats,
        mean=moved(stats.mean),
        variance=moved(stats.variance),
        mean_lo=moved(stats.mean_lo),
        feature_count=moved(stats.feature_count),
        max_scatter=moved(stats.max_scatter),
        covariance=None if full is None else np.ascontiguousarray(moved(full)[:, :, order]),
        feature_names=names,
    )


def _mixed(stats: MixedStats, order: NDArray[np.intp], names: tuple[str, ...]) -> MixedStats:
    is_categorical = stats.is_categorical[order]
    # The rank of each feature among those of its kind.
    rank = np.where(
        stats.is_categorical,
        np.cumsum(stats.is_categorical) - 1,
        np.cumsum(~stats.is_categorical) - 1,
    )[order]
    moved = MixedStats(
        _gaussian(stats.gaussian, rank[~is_categorical], None),
        tuple(stats.categories[j] for j in rank[is_categorical]),
        tuple(stats.counts[j] for j in rank[is_categorical]),
        is_categorical,
    )
    return moved.renamed(names)


def rename_features(stats: Any, names: tuple[str, ...] | None) -> Any:
    """The statistics with other names of their features."""
    if isinstance(stats, MixedStats):
        return stats.renamed(names)
    return replace(stats, feature_names=names)
