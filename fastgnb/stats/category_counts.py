"""Counts of categories: weights summed by class and category, and tables of these combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..input.category_codes import CategoricalColumn, Column, FloatColumn, FloatTable
from ..input.label_types import check_kind, positions, union
from ..input.labels import Labels
from .checks import check_counts_size
from .subtraction import check_values_left, subtract_weights

if TYPE_CHECKING:
    from .class_stats import ClassStats
    from .mixed_stats import MixedStats

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

# Most categories of a feature, unless more are asked for: postal codes of a large country fit.
MAX_CATEGORIES = 50_000


def count_categories(
    columns: Sequence[Column], labels: Labels, weight: Floats | None
) -> tuple[Floats, ...]:
    """Sums of weights (k, m) of each class and category of every feature.

    They are summed in parts that keep digits, the same for all kinds of columns.
    """
    from ..kernels.learn.categories import count_codes

    k, codes = len(labels.classes), labels.codes
    tables = {id(each.table): each.table for each in columns if isinstance(each, FloatColumn)}
    counts: dict[int, Floats] = {}
    for table in tables.values():
        its = [q for q, each in enumerate(columns) if getattr(each, "table", None) is table]
        counts.update(zip(its, _weights_in(table, codes, weight, k), strict=True))
    for q, column in enumerate(columns):
        if isinstance(column, CategoricalColumn):
            counted = count_codes(column.codes, len(column.labels) + 1, codes, weight, k)
            counts[q] = np.ascontiguousarray(counted[:, :-1])
    return tuple(counts[q] for q in range(len(columns)))


def _weights_in(
    table: FloatTable, codes: NDArray[np.int32], weight: Floats | None, k: int
) -> list[Floats]:
    """Sums of weights (k, m) of the labels of all columns of a table of floats."""
    from ..kernels.learn.categories import add_weights

    sizes = np.array([len(each) for each in table.labels()], np.int64)
    counts = add_weights(table.coded(), sizes + 1, codes, weight, k)
    return [np.ascontiguousarray(each[:, :-1]) for each in counts]


def counts_in(table: FloatTable, slots: NDArray[np.int64]) -> tuple[Floats, ...]:
    """Counts (k, m) of the labels of all columns of a table, of those (size, k) of its slots."""
    places = zip(table.first, table.low, table.labels(), strict=True)
    parts = [slots[at + labels - low].T for at, low, labels in places]
    return tuple(np.ascontiguousarray(part, np.float64) for part in parts)


def add_counts(
    a: MixedStats, b: MixedStats, classes: NDArray[Any], names: Sequence[str]
) -> tuple[list[NDArray[Any]], list[Floats]]:
    """Categories and counts of the rows of both, over `classes`, of features with these names."""
    rows_a, rows_b = (positions(stats.classes, classes, absent=-1) for stats in (a, b))
    categories, counts = [], []
    sides = zip(names, a.categories, b.categories, a.counts, b.counts, strict=True)
    for name, labels_a, labels_b, counts_a, counts_b in sides:
        labels, at_a, at_b = union(labels_a, labels_b, f"Categories of feature {name}")
        shape = len(classes), len(labels)
        check_counts_size(*shape, name)
        total = reindex_counts(counts_a, rows_a, at_a, shape)
        total[np.ix_(rows_b, at_b)] += counts_b
        categories.append(labels)
        counts.append(total)
    return categories, counts


def subtract_counts(
    a: MixedStats, b: MixedStats, gaussian: tuple[ClassStats, ClassStats], left: ClassStats,
    names: Sequence[str],
) -> list[Floats]:  # fmt: skip
    """Counts of a's rows without b's, over the classes of `left`, of features with these names.

    gaussian : the continuous statistics of both, over these classes. left : their difference.
    Raises ValueError where b's categories cannot be of rows among a's.
    """
    classes, counts = left.classes, []
    rows_a, rows_b = (positions(stats.classes, classes, absent=-1) for stats in (a, b))
    features = np.flatnonzero(a.is_categorical).tolist()
    sides = zip(features, names, a.categories, b.categories, a.counts, b.counts, strict=True)
    for feature, name, labels_a, labels_b, counts_a, counts_b in sides:
        at_b = _places_of(labels_b, labels_a, name)
        shape = len(classes), len(labels_a)
        before = reindex_counts(counts_a, rows_a, np.arange(len(labels_a)), shape)
        difference = subtract_weights(before, reindex_counts(counts_b, rows_b, at_b, shape))
        values = difference.sum(axis=1, keepdims=True)
        check_values_left(*gaussian, left.count, values, [feature])
        counts.append(difference)
    return counts


def reindex_counts(counts: Floats, rows: Places, columns: Places, shape: tuple[int, int]) -> Floats:
    """Counts as part of a table of this shape: at these rows and columns, and 0 elsewhere."""
    table = np.zeros(shape)
    table[np.ix_(rows, columns)] = counts
    return table


def _places_of(labels: NDArray[Any], known: NDArray[Any], name: str) -> Places:
    """The positions of labels among known ones. Raises ValueError for others."""
    check_kind(known, labels, f"Categories of feature {name}")
    place = positions(labels, known, absent=-1)
    if (place < 0).any():
        raise ValueError(
            f"Cannot subtract rows of categories {labels[place < 0].tolist()[:5]} of feature "
            f"{name}: they were never added."
        )
    return place


def without_empty_categories(stats: MixedStats) -> MixedStats:
    """The statistics without categories of no weight: rows of weight 0 are as if not there."""
    masks = [counts.any(axis=0) for counts in stats.counts]
    if all(mask.all() for mask in masks):
        return stats
    return replace(
        stats,
        categories=tuple(
            labels[mask] for labels, mask in zip(stats.categories, masks, strict=True)
        ),
        counts=tuple(counts[:, mask] for counts, mask in zip(stats.counts, masks, strict=True)),
    )


def check_few_categories(stats: MixedStats, max_categories: int | None) -> None:
    """Raise ValueError, which names it, for a feature of more than max_categories; None: any."""
    for name, labels in zip(stats.categorical_names(), stats.categories, strict=True):
        check_category_number(len(labels), name, max_categories)


def check_category_number(m: int, name: str, max_categories: int | None) -> None:
    """Raise ValueError where feature `name` has m categories, more than max_categories."""
    if max_categories is not None and m > max_categories:
        raise ValueError(
            f"Feature {name} has {m} categories so far, more than max_categories={max_categories}. "
            "Leave it out of the features if it identifies rows, else raise max_categories."
        )
