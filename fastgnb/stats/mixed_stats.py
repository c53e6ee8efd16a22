"""MixedStats: statistics of continuous and categorical features; numbers that add and subtract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.categorical import MixedRows, exact_table, find_categorical, split_columns
from ..input.category_codes import CategoricalColumn
from ..input.frames import in_memory, is_frame
from ..input.label_types import check_kind, positions, union
from ..input.labels import Labels, as_labels, classes_of, encode_labels, locate_labels
from ..input.rows import (
    NotFiniteError,
    check_dense,
    check_feature_names,
    check_lengths,
    check_missing,
    feature_names_of,
)
from ..input.weights import check_weight
from .class_stats import MOST_BYTES, ClassStats, aligned, common_names, from_arrays
from .subtraction import check_values_left, subtract_weights

Floats = NDArray[np.float64]

# Most categories of a feature, unless more are asked for: postal codes of a large country fit.
MAX_CATEGORIES = 50_000

# Rows whose weights are summed one after the other, which bounds the rounding error, and rows that
# are counted at once, which bounds the memory.
_SHORT, _LONG = 1 << 11, 1 << 20


@dataclass(frozen=True, eq=False)
class MixedStats:
    """Sufficient statistics of the rows of k classes over continuous and categorical features.

    Attributes
    ----------
    gaussian : ClassStats of the c continuous features, in their order; c may be 0.
    categories : for each categorical feature, in their order, its sorted distinct labels (m,):
        int64, uint64 or bool, or object where they are text. Each has weight in some class.
    counts : for each of them (k, m) float64, sums of the weights of the rows of a class that have
        the category.
    is_categorical : (d,) bool, which of the d = c + q features are categorical.
    feature_names : tuple of d str, or None where the rows had none.

    Notes
    -----
    `a + b` are the statistics of the rows of both, `a - b` those of a's rows without b's; classes
    and categories are matched by label. Counts of whole weights up to 2^53 are exact, whatever the
    order; of other weights, their relative error is below 1e-11 at a hundred million rows. For
    `gaussian` see `ClassStats`. Categories of `a` keep their type where it holds those of `b`
    exactly; text and numbers are never put together. Cost: merging takes O(k (c + m)), with m
    categories in all.
    """

    gaussian: ClassStats
    categories: tuple[NDArray[Any], ...]
    counts: tuple[Floats, ...]
    is_categorical: NDArray[np.bool_]
    feature_names: tuple[str, ...] | None = None

    @classmethod
    def from_rows(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        categorical_features: Any = None,
        classes: ArrayLike | None = None,
        missing: str = "error",
        feature_names: Sequence[str] | None = None,
    ) -> MixedStats:
        """Statistics of rows X (n, d) with labels y (n,) and weights (n,).

        X : numbers, an object array, or a frame. categorical_features, missing : as of `MixedNB`.
        y, sample_weight, classes, feature_names : as of `ClassStats.from_rows`, which says what is
        raised too; ValueError also for categories that are not whole numbers, booleans or text,
        for a continuous column of text or dates, and for more than 4 GiB of counts; TypeError for
        a feature that mixes text and numbers, and for frames that are not in memory.
        """
        skip = check_missing(missing)
        X = in_memory(X)
        names = feature_names_of(X) if feature_names is None else feature_names
        names = None if names is None else check_feature_names(names)
        table = _table_of(X)
        mask = find_categorical(categorical_features, table, names)
        rows = split_columns(table, mask, skip=skip)
        labels = as_labels(y)
        check_lengths(rows, labels)
        weight = check_weight(sample_weight, len(rows))
        found = encode_labels(labels)
        if classes is not None:
            found = locate_labels(found, classes_of(classes))
        return from_mixed_rows(rows, found, weight, skip=skip, feature_names=names)

    @property
    def classes(self) -> NDArray[Any]:
        """The k sorted labels."""
        return self.gaussian.classes

    @property
    def count(self) -> Floats:
        """Sum of weights of each class (k,)."""
        return self.gaussian.count

    @property
    def n_features(self) -> int:
        """Number of features d, of both kinds."""
        return len(self.is_categorical)

    def renamed(self, names: tuple[str, ...] | None) -> MixedStats:
        """The statistics with other names of the d features."""
        own = None if names is None else self.continuous_names(names)
        gaussian = replace(self.gaussian, feature_names=own)
        return replace(self, gaussian=gaussian, feature_names=names)

    def continuous_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names of all features that are of continuous ones."""
        return tuple(names[int(j)] for j in np.flatnonzero(~self.is_categorical))

    def __add__(self, other: object) -> MixedStats:
        if not isinstance(other, MixedStats):
            return NotImplemented
        mine, other = _of_same_kinds(self, other)
        names = _check_alike(mine, other)
        gaussian = mine.gaussian + other.gaussian
        at = [positions(each.classes, gaussian.classes, absent=-1) for each in (mine, other)]
        categories, counts = [], []
        sides = zip(mine.categories, other.categories, mine.counts, other.counts, strict=True)
        for j, (own, more, here, there) in enumerate(sides):
            name = mine.categorical_names(names)[j]
            both = union(own, more, f"Categories of feature {name}")
            _check_size(len(gaussian.classes), len(both.labels), name)
            total = np.zeros((len(gaussian.classes), len(both.labels)))
            total[np.ix_(at[0], both.at_a)] = here
            total[np.ix_(at[1], both.at_b)] += there
            categories.append(both.labels)
            counts.append(total)
        return MixedStats(gaussian, tuple(categories), tuple(counts), mine.is_categorical, names)

    def __radd__(self, other: object) -> MixedStats:
        return self if other == 0 else NotImplemented  # sum() starts from 0

    def __sub__(self, other: object) -> MixedStats:
        """The statistics of this one's rows without the other's (unlearning).

        A category of which no row is left goes too, as does one whose weight would be below 1e-13
        of what it was, which is the rounding error of weights. Raises ValueError where the other's
        rows cannot all be among this one's: see `ClassStats`; a category unknown, or with more
        weight; and where categories would be left of a class whose weight is that little.
        """
        if not isinstance(other, MixedStats):
            return NotImplemented
        mine, other = _of_same_kinds(self, other)
        names = _check_alike(mine, other)
        a, b = aligned(mine.gaussian, other.gaussian)
        gaussian = a - b
        left = []
        sides = zip(mine.categories, other.categories, mine.counts, other.counts, strict=True)
        rows = [positions(each.classes, gaussian.classes, absent=-1) for each in (mine, other)]
        for j, (own, less, here, there) in enumerate(sides):
            name = mine.categorical_names(names)[j]
            check_kind(own, less, f"Categories of feature {name}")
            at = positions(less, own, absent=-1)
            if (at < 0).any():
                raise ValueError(
                    f"Cannot subtract rows of categories {less[at < 0].tolist()[:5]} of feature "
                    f"{name}: they were never added."
                )
            before, taken = np.zeros((2, len(gaussian.classes), len(own)))
            before[rows[0]], taken[np.ix_(rows[1], at)] = here, there
            rest = subtract_weights(before, taken)
            values = rest.sum(axis=1, keepdims=True)
            check_values_left(a, b, gaussian.count, values, [mine._at()[j]])
            left.append(rest)
        return _without_empty(
            MixedStats(gaussian, mine.categories, tuple(left), mine.is_categorical, names)
        )

    def decay(self, factor: float) -> MixedStats:
        """The statistics with all weights times `factor`, from above 0 to 1. See `ClassStats`."""
        gaussian = self.gaussian.decay(factor)
        counts = tuple(each * float(factor) for each in self.counts)
        return _without_empty(replace(self, gaussian=gaussian, counts=counts))

    def categorical_names(self, names: Sequence[str] | None = None) -> list[str]:
        """The categorical features as messages name them: by name if known, else by position."""
        names = self.feature_names if names is None else names
        return [f"{j}" if names is None else repr(names[j]) for j in self._at()]

    def _at(self) -> list[int]:
        """Positions of the categorical features among all."""
        return [int(j) for j in np.flatnonzero(self.is_categorical)]

    def __repr__(self) -> str:
        c, q = self.gaussian.n_features, len(self.categories)
        return (
            f"<MixedStats: {len(self.classes)} classes, {c} continuous and {q} categorical "
            f"features, total weight {self.count.sum():g}>"
        )


def from_mixed_rows(
    rows: MixedRows,
    labels: Labels,
    weight: Floats | None,
    *,
    skip: bool,
    feature_names: tuple[str, ...] | None,
    max_categories: int | None = None,
) -> MixedStats:
    """`MixedStats.from_rows` for input that is checked and taken apart already.

    Raises NotFiniteError, with a column of all features, where a value is missing or infinite, and
    ValueError for a feature of more than max_categories.
    """
    mask = rows.is_categorical
    if feature_names is not None and len(feature_names) != len(mask):
        raise ValueError(
            f"Expected {len(mask)} feature names, one a column, got {len(feature_names)}."
        )
    if not skip:
        rows.check_present(weight)
    gaussian = _gaussian(rows, labels, weight, skip=skip, names=feature_names)
    for j, column in zip(np.flatnonzero(mask).tolist(), rows.columns, strict=True):
        name = f"{j}" if feature_names is None else repr(feature_names[j])
        _check_few(len(column.labels), name, max_categories)
        _check_size(len(labels.classes), len(column.labels), name)
    counts = tuple(_counts(each, labels, weight) for each in rows.columns)
    categories = tuple(each.labels for each in rows.columns)
    return _without_empty(MixedStats(gaussian, categories, counts, mask, feature_names))


def _table_of(X: Any) -> Any:
    """X as a frame or an array (n, d). Raises ValueError, and TypeError where it is sparse."""
    check_dense(X, "X")
    if is_frame(X):
        return X
    # NumPy makes text of numbers that stand beside text.
    rows = np.asarray(exact_table(X), object if isinstance(X, (list, tuple)) else None)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(
            f"Expected 2D array with at least 1 feature, got shape {rows.shape}. Reshape your data."
        )
    return rows


def _gaussian(
    rows: MixedRows,
    labels: Labels,
    weight: Floats | None,
    *,
    skip: bool,
    names: tuple[str, ...] | None,
) -> ClassStats:
    """Statistics of the continuous features."""
    others = np.flatnonzero(~rows.is_categorical)
    own = None if names is None else tuple(names[j] for j in others)
    if not len(others):  # counts of classes come with a feature
        nothing = np.zeros((len(rows), 1), np.float32)
        found = from_arrays(nothing, labels, weight, skip=False, feature_names=None)
        none = np.zeros((len(found.count), 0))
        return replace(found, mean=none, variance=none, mean_lo=none, feature_names=own)
    try:
        return from_arrays(rows.continuous, labels, weight, skip=skip, feature_names=own)
    except NotFiniteError as error:
        column = int(others[error.column])
        raise NotFiniteError(error.value, error.row, column, skip=skip) from None


def _counts(column: CategoricalColumn, labels: Labels, weight: Floats | None) -> Floats:
    """Sums of weights (k, m) of each class and category, in parts that keep digits."""
    k, m = len(labels.classes), len(column.labels)
    size, n = k * (m + 1), len(column.codes)
    codes, out = labels.codes, np.zeros(size)
    step = _LONG if weight is None else max(_SHORT, size // 8)
    for a in range(0, n, step):
        part = slice(a, a + step)
        place = codes[part].astype(np.int64) * (m + 1) + column.codes[part] % (m + 1)
        out += np.bincount(place, None if weight is None else weight[part], size)
    return np.ascontiguousarray(out.reshape(k, m + 1)[:, :m])


def check_few_categories(stats: MixedStats, max_categories: int | None) -> None:
    """Raise ValueError, which names it, for a feature of more than max_categories; None: any."""
    for name, labels in zip(stats.categorical_names(), stats.categories, strict=True):
        _check_few(len(labels), name, max_categories)


def _check_few(m: int, name: str, max_categories: int | None) -> None:
    if max_categories is not None and m > max_categories:
        raise ValueError(
            f"Feature {name} has {m} categories so far, more than max_categories={max_categories}. "
            "Leave it out of the features if it identifies rows, else raise max_categories."
        )


def _check_size(k: int, m: int, name: str) -> None:
    """Raise ValueError where the counts of m categories in k classes would take too much memory."""
    size = 8 * k * m
    if size > MOST_BYTES:
        raise ValueError(
            f"Counts of {m} categories of feature {name} in {k} classes take {size} bytes, more "
            f"than the limit of {MOST_BYTES}. Leave the feature out if it identifies rows."
        )


def _without_empty(stats: MixedStats) -> MixedStats:
    """The statistics without categories of no weight: rows of weight 0 are as if not there."""
    if all(each.any(axis=0).all() for each in stats.counts):
        return stats
    some = [each.any(axis=0) for each in stats.counts]
    return replace(
        stats,
        categories=tuple(each[at] for each, at in zip(stats.categories, some, strict=True)),
        counts=tuple(each[:, at] for each, at in zip(stats.counts, some, strict=True)),
    )


def _of_same_kinds(a: MixedStats, b: MixedStats) -> tuple[MixedStats, MixedStats]:
    """Both, where a continuous feature without any value is categorical if it is so on the other
    side: "auto" sees no text in a part of the rows where all of a column is missing."""
    if a.n_features != b.n_features or np.array_equal(a.is_categorical, b.is_categorical):
        return a, b
    return _as_categorical(a, b.is_categorical), _as_categorical(b, a.is_categorical)


def _as_categorical(stats: MixedStats, wanted: NDArray[np.bool_]) -> MixedStats:
    """The statistics where those of the wanted features (d,) that have no value are categorical."""
    gaussian, mask = stats.gaussian, stats.is_categorical.copy()
    if gaussian.feature_count is None:  # no value is missing
        return stats
    at = np.flatnonzero(~mask)
    stay = gaussian.feature_count.any(axis=0) | ~wanted[at]
    mask[at[~stay]] = True
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
    own = iter(zip(stats.categories, stats.counts, strict=True))
    nothing = np.empty(0, object), np.zeros((len(stats.classes), 0))
    parts = [next(own) if stats.is_categorical[j] else nothing for j in np.flatnonzero(mask)]
    return replace(
        stats,
        gaussian=gaussian,
        categories=tuple(labels for labels, _ in parts),
        counts=tuple(counts for _, counts in parts),
        is_categorical=mask,
    )


def _check_alike(a: MixedStats, b: MixedStats) -> tuple[str, ...] | None:
    """Their feature names. Raises ValueError unless both are of the same features."""
    names = common_names(a, b)
    if not np.array_equal(a.is_categorical, b.is_categorical):
        raise ValueError(
            f"Statistics with categorical features {a._at()} cannot be combined with {b._at()}. "
            "Give categorical_features by name or position, not 'auto', to both."
        )
    return names
