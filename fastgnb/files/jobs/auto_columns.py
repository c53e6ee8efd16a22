"""Categorical columns that `--categorical auto` took and that turn out to identify rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from ...input.categorical import looks_like_key
from ...stats.mixed_stats import MixedStats
from ..errors import SourceError
from ..tables.batch import Batch

__all__ = ["AutoColumns"]


class AutoColumns:
    """Leaves out categorical columns that look like keys, or have more categories than allowed.

    All rows decide what looks like a key, so that neither the order of the files nor the size of
    the batches matters. Too many categories are too many in any order, so that such a column is
    left out as soon as a sum has them, which bounds memory. `left_out` names the columns, and
    `values` counts the values of each.
    """

    def __init__(self, max_categories: int | None) -> None:
        self.most = max_categories
        self.left_out: list[str] = []
        self.values: dict[str, int] = {}

    def reduced(self, batch: Batch) -> Batch:
        """The batch without the columns that are left out so far."""
        names, dropped = batch.features or (), set(self.left_out)
        if batch.is_categorical is None or dropped.isdisjoint(names):
            return batch
        mask = np.array([name not in dropped for name in names])
        self.check(int(mask.sum()), batch.path)
        marked = batch.categorical_names
        return replace(
            batch,
            features=tuple(name for name in names if name not in dropped),
            categorical=tuple(
                column
                for name, column in zip(marked, batch.categorical, strict=True)
                if name not in dropped
            ),
            is_categorical=batch.is_categorical[mask],
        )

    def count(self, batch: Batch) -> None:
        """Count the values of a batch that is learned."""
        for name, column in zip(batch.categorical_names, batch.categorical, strict=True):
            present = int(np.count_nonzero(column.codes >= 0))
            self.values[name] = self.values.get(name, 0) + present

    def extend(self, left_out: Iterable[str], values: Mapping[str, int]) -> None:
        """Take what was left out and counted in other rows."""
        self.left_out += [name for name in left_out if name not in self.left_out]
        for name, n in values.items():
            self.values[name] = self.values.get(name, 0) + n

    def decide(self, stats: MixedStats) -> None:
        """Leave out what looks like a key in the statistics of all rows."""
        names = stats.feature_names or ()
        at = np.flatnonzero(stats.is_categorical).tolist()
        for j, labels in zip(at, stats.categories, strict=True):
            if looks_like_key(len(labels), self.values[names[j]]):
                self.left_out.append(names[j])

    def bound(self, stats: MixedStats) -> None:
        """Leave out columns with too many categories in the statistics of some of the rows."""
        names = stats.feature_names or ()
        at = np.flatnonzero(stats.is_categorical).tolist()
        for j, labels in zip(at, stats.categories, strict=True):
            beyond = self.most is not None and len(labels) > self.most
            if beyond and names[j] not in self.left_out:
                self.left_out.append(names[j])

    def without(self, stats: MixedStats) -> MixedStats:
        """Statistics without the columns that are left out."""
        names = stats.feature_names or ()
        dropped = set(self.left_out)
        if dropped.isdisjoint(names):
            return stats
        at = np.flatnonzero(stats.is_categorical).tolist()
        stay = [i for i, j in enumerate(at) if names[j] not in dropped]
        return replace(
            stats,
            categories=tuple(stats.categories[i] for i in stay),
            counts=tuple(stats.counts[i] for i in stay),
            is_categorical=stats.is_categorical[[name not in dropped for name in names]],
            feature_names=tuple(name for name in names if name not in dropped),
        )

    def check(self, n_features: int, path: object) -> None:
        """Raise SourceError where no feature is left."""
        if n_features == 0:
            raise SourceError(
                f"{path}: every column looks like an identifier; name those that are features "
                "with --features, and those of them that are categories with --categorical"
            )
