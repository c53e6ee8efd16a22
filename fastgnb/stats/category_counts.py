"""Counts of categories: weights summed by class and category, and tables of these combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..input.category_codes import CategoricalColumn
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

# Rows whose weights are summed one after the other, which bounds the rounding error, and rows that
# are counted at once, which bounds the memory.
_SHORT, _LONG = 1 << 11, 1 << 20


def count_categories(column: CategoricalColumn, labels: Labels, weight: Floats | None) -> Floats:
    """Sums of weights (k, m) of each class and category, in parts that keep digits."""
    k, m = len(labels.classes), len(column.labels)
    size, n = k * (m + 1), len(column.codes)
    codes, sums = labels.codes, np.zeros(size)
    step = _LONG if weight is None else max(_SHORT, size // 8)
    for start in range(0, n, step):
        part = slice(start, start + step)
        place = codes[part].astype(np.int64) * (m + 1) + column.codes[part] % (m + 1)
        sums += np.bincount(place, None if weight is None else weight[part], size)
    return np.ascontiguousarray(sums.reshape(k, m + 1)[:, :m])


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
