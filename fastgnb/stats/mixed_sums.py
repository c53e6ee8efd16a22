"""Checked rows of both kinds of features to statistics of the continuous ones, and counts.

Rows of one table of floats, without weights, are summed and counted as they are read once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..input.categorical import MixedRows
from ..input.category_codes import FloatTable
from ..input.labels import Labels
from ..input.rows import NotFiniteError
from .accumulation import accumulate_table
from .checks import check_overflow
from .class_stats import ClassStats, from_arrays

Floats = NDArray[np.float64]

# The most counts of slots and classes that are summed block by block.
_MOST_COUNTS = 1 << 22


def table_of(rows: MixedRows, weight: Floats | None, k: int) -> FloatTable | None:
    """The table whose rows of k classes are summed and counted at once, or None."""
    table = rows.table() if weight is None else None
    return None if table is None or table.size * k > _MOST_COUNTS else table


def stats_of_table(
    rows: MixedRows,
    table: FloatTable,
    labels: Labels,
    *,
    skip: bool,
    names: tuple[str, ...] | None,
) -> tuple[ClassStats, NDArray[np.int64]]:
    """Statistics of the continuous features, and counts (size, k) of the slots of the others."""
    names = _continuous_names(rows, names)
    try:
        fields, slots = accumulate_table(rows.continuous, table, labels, skip=skip)
    except NotFiniteError as error:
        raise rows.in_table(error, skip=skip) from None
    if not rows.continuous.shape[1]:  # every row has a slot of the first feature
        fields |= {"count": slots[: table.span[0] + 2].sum(axis=0).astype(np.float64)}
        fields |= {"feature_count": None}
    stats = ClassStats(labels.classes, feature_names=names, **fields)
    check_overflow(stats)
    table.note(np.asarray(slots.any(axis=1)))
    return stats, slots


def continuous_stats(
    rows: MixedRows,
    labels: Labels,
    weight: Floats | None,
    *,
    skip: bool,
    names: tuple[str, ...] | None,
) -> ClassStats:
    """Statistics of the continuous features, of which there may be none."""
    names = _continuous_names(rows, names)
    if rows.is_categorical.all():  # counts of classes come with a feature
        zeros = np.zeros((len(rows), 1), np.float32)
        stats = from_arrays(zeros, labels, weight, skip=False, feature_names=None)
        empty = np.zeros((len(stats.count), 0))
        return replace(stats, mean=empty, variance=empty, mean_lo=empty, feature_names=names)
    try:
        return from_arrays(rows.continuous, labels, weight, skip=skip, feature_names=names)
    except NotFiniteError as error:
        raise rows.in_table(error, skip=skip) from None


def _continuous_names(rows: MixedRows, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names of the continuous features."""
    if names is None:
        return None
    return tuple(names[j] for j in np.flatnonzero(~rows.is_categorical))
