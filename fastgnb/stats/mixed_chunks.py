"""Chunks of rows into mixed statistics whose classes and categories are known.

As `chunks` has it, for rows of floats in which categories are whole numbers. A row with a category
that is not known, or a missing value, goes the long way, and so do weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..input.categorical import ranges_of
from ..input.plain import are_plain
from ..kernels.learn.chunk import is_one_call
from ..kernels.learn.mixed_chunk import merge_mixed_chunk
from ..kernels.slots import Columns, Table, table_of
from .chunks import Running, RunningStats

if TYPE_CHECKING:
    from .mixed_stats import MixedStats

Floats = NDArray[np.float64]

# The most counts that are copied for each chunk.
_MOST_COUNTS = 1 << 16


class _Known(NamedTuple):
    """What stays the same from one chunk to the next.

    columns: by rows, and by columns. first (q,): the first slot of each feature, and end (q,): that
    behind its categories.
    """

    stats: MixedStats
    columns: tuple[Columns, Columns]
    first: NDArray[np.int64]
    end: NDArray[np.int64]
    refused: NDArray[np.int64]


class RunningMixed:
    """Mixed statistics to which chunks of plain rows are added. Nothing changes an instance."""

    __slots__ = ("_counts", "_gaussian", "_known")

    skips = False
    _known: _Known
    _gaussian: RunningStats
    _counts: Floats

    @property
    def classes(self) -> NDArray[Any]:
        """The sorted labels."""
        return self._gaussian.classes

    def has_classes(self, classes: NDArray[Any]) -> bool:
        """Whether these are the classes, in their order and of their type."""
        return self._gaussian.has_classes(classes)

    def stats(self) -> MixedStats:
        """These as `MixedStats`."""
        known, k = self._known, len(self.classes)
        slots = self._counts.reshape(-1, k)
        parts = zip(known.first, known.end, strict=True)
        counts = tuple(np.ascontiguousarray(slots[at:end].T) for at, end in parts)
        return type(known.stats)(
            self._gaussian.stats(), known.stats.categories, counts, known.stats.is_categorical,
            known.stats.feature_names,
        )  # fmt: skip

    def add(self, X: Any, y: Any, weight: Any = None) -> Self | None:
        """The statistics with rows added, or None where these are for the long way.

        Cost: one read of the rows, a copy of the counts, and a few microseconds.
        """
        if weight is not None or not are_plain(X, y):
            return None
        d = len(self._known.stats.is_categorical)
        if X.shape[1] != d or not is_one_call(len(y), d) or not X.flags.aligned:
            return None
        labels = self._gaussian.encoded(y)
        if labels is None or not X.flags.forc:
            return None
        table = Table(X, self._known.columns[not X.flags.c_contiguous])
        before = self._gaussian.packed, self._counts
        found, packed, counts = merge_mixed_chunk(
            table, labels, before, self._known.refused, len(self.classes)
        )
        if found & 7:
            return None
        new = object.__new__(type(self))
        new._known, new._counts = self._known, counts
        new._gaussian = self._gaussian.with_packed(packed)
        return new


def running_mixed(stats: MixedStats) -> RunningMixed | None:
    """Statistics as they take chunks, or None where they do not."""
    gaussian = Running.of(stats.gaussian)
    if type(gaussian) is not RunningStats or not stats.categories:
        return None
    ranges = ranges_of(stats.categories)
    k, sizes = len(stats.classes), [len(each) for each in stats.categories]
    if ranges is None or (sum(sizes) + 2 * len(sizes)) * k > _MOST_COUNTS:
        return None
    size = np.array(sizes, np.int64)
    end = np.cumsum(size + 2) - 2
    counts = np.zeros((end[-1] + 2, k))
    for at, part in zip(end - size, stats.counts, strict=True):
        if part.shape[0] != k or part.dtype != np.float64:
            return None
        counts[at : at + part.shape[1]] = part.T
    column, d = np.flatnonzero(stats.is_categorical), len(stats.is_categorical)
    if len(column) != len(size):
        return None
    tables = (table_of(np.zeros((2, d), order=order), column, *ranges) for order in ("C", "F"))
    by_rows, by_columns = (table.columns for table in tables)
    new = object.__new__(RunningMixed)
    refused = np.concatenate([end, end + 1])
    new._known = _Known(stats, (by_rows, by_columns), end - size, end, refused)
    new._gaussian, new._counts = gaussian, counts.reshape(-1)
    return new
