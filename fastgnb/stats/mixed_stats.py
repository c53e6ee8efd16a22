"""MixedStats: statistics of continuous and categorical features; numbers that add and subtract.

The operations on counts of categories are in `category_counts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.categorical import MixedRows, check_table, find_categorical, split_columns
from ..input.frames import in_memory
from ..input.labels import Labels
from ..input.rows import check_missing, resolve_feature_names
from ..input.targets import encode_targets
from .alignment import align, check_same_kinds, match_kinds
from .category_counts import (
    add_counts,
    check_category_number,
    count_categories,
    counts_in,
    subtract_counts,
    without_empty_categories,
)
from .checks import check_counts_size, check_name_count
from .class_stats import ClassStats
from .mixed_sums import continuous_stats, stats_of_table, table_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MixedStats:
    """Sufficient statistics of rows of k classes over continuous and categorical features.

    They are added, subtracted and down-weighted as `ClassStats` are, and are immutable too.

    Parameters
    ----------
    gaussian : ClassStats
        Statistics of the c continuous features, in their order; c may be 0.
    categories : tuple of ndarray of shape (m,)
        Sorted distinct labels of each categorical feature, in their order: int64, uint64 or bool,
        or object where they are text. Each has weight in some class.
    counts : tuple of ndarray of shape (k, m), float64
        For each of them, sums of the weights of the rows of a class that have the category.
    is_categorical : ndarray of shape (d,), bool
        Which of the d features are categorical.
    feature_names : tuple of str of length d, or None
        Names of the features, None where the rows had none.

    See Also
    --------
    ClassStats : Statistics of continuous features.
    MixedNB.fit_stats : A model of statistics.

    Notes
    -----
    Classes and categories are matched by label. Counts of whole weights up to 2^53 are exact,
    whatever the order; of other weights, their relative error is below 1e-11 at a hundred million
    rows. For `gaussian` see `ClassStats`. Categories of `a` keep their type where it holds those of
    `b` exactly; text and numbers are never put together. Merging takes O(k (c + m)), with m
    categories in all.

    Examples
    --------
    >>> from fastgnb import MixedStats
    >>> rows = [[1.0, "red"], [3.0, "blue"], [8.0, "red"]]
    >>> stats = MixedStats.from_rows(rows, [0, 0, 1], categorical_features=[1])
    >>> stats
    <MixedStats: 2 classes, 1 continuous and 1 categorical features, total weight 3>
    >>> stats.categories[0]
    array(['blue', 'red'], dtype=object)
    >>> stats.counts[0]
    array([[1., 1.],
           [0., 1.]])
    >>> (stats + stats).counts[0].sum()
    np.float64(6.0)
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
        """Make statistics of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, an object array, or a frame.
        y : array-like of shape (n_samples,)
            Labels, as `ClassStats.from_rows` takes them.
        sample_weight : array-like of shape (n_samples,), float, or None
            Weights of 0 or more, a number for equal weights, or None for 1.
        categorical_features : "auto", array-like of {bool, int, str}, or None
            Which features are categorical: a mask, positions or names; "auto" for those of a frame
            whose type is for categories, text or booleans; None for no feature.
        classes : array-like of shape (n_classes,), or None
            Labels that may occur, when y need not hold all of them. None: those of y.
        missing : {"error", "skip"}
            What to do with missing values: raise, or leave each out of its feature's sums.
        feature_names : sequence of str of length n_features, or None
            Names of the features. None: the columns' where X is a frame.

        Returns
        -------
        MixedStats
            Statistics of k = n_classes classes and d = n_features features.

        Raises
        ------
        ValueError
            As `ClassStats.from_rows` does, and for categories that are not whole numbers, booleans
            or text, for a continuous column of text or dates, and for more than 4 GiB of counts.
        TypeError
            Also for a feature that mixes text and numbers, and for frames that are not in memory.
        """
        skip = check_missing(missing)
        X = in_memory(X)
        names = resolve_feature_names(X, feature_names)
        table = check_table(X)
        mask = find_categorical(categorical_features, table, names)
        rows = split_columns(table, mask, skip=skip)
        labels, weight = encode_targets(rows, y, sample_weight, classes)
        return from_mixed_rows(rows, labels, weight, skip=skip, feature_names=names)

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
        """Give the features other names.

        Parameters
        ----------
        names : tuple of str of length d, or None
            Names of all features, or None for none.

        Returns
        -------
        MixedStats
            The same statistics under these names.
        """
        continuous = None if names is None else self.continuous_names(names)
        gaussian = replace(self.gaussian, feature_names=continuous)
        return replace(self, gaussian=gaussian, feature_names=names)

    def continuous_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Select the names of the continuous features.

        Parameters
        ----------
        names : sequence of str of length d
            Names of all features.

        Returns
        -------
        tuple of str of length c
            Names of the continuous ones, in their order.
        """
        return tuple(names[int(j)] for j in np.flatnonzero(~self.is_categorical))

    def categorical_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Name the categorical features as messages do: by name if known, else by position.

        Parameters
        ----------
        names : sequence of str of length d, or None
            Names of all features. None: those of the statistics.

        Returns
        -------
        list of str of length q
            Names in quotes, or positions among all features.
        """
        names = self.feature_names if names is None else names
        positions = np.flatnonzero(self.is_categorical).tolist()
        return [f"{j}" if names is None else repr(names[j]) for j in positions]

    def __add__(self, other: object) -> MixedStats:
        """Statistics of the rows of both."""
        if not isinstance(other, MixedStats):
            return NotImplemented
        a, b = match_kinds(self, other)
        names = check_same_kinds(a, b)
        gaussian = a.gaussian + b.gaussian
        categories, counts = add_counts(a, b, gaussian.classes, a.categorical_names(names))
        return MixedStats(gaussian, tuple(categories), tuple(counts), a.is_categorical, names)

    def __radd__(self, other: object) -> MixedStats:
        """Statistics as they are beside the 0 that `sum` starts from."""
        return self if other == 0 else NotImplemented

    def __sub__(self, other: object) -> MixedStats:
        """Statistics of this one's rows without the other's (unlearning).

        A category of which no row is left goes too, as does one whose weight would be below 1e-13
        of what it was, which is the rounding error of weights. Raises ValueError where the other's
        rows cannot all be among this one's: see `ClassStats`; a category unknown, or with more
        weight; and where categories would be left of a class whose weight is that little.
        """
        if not isinstance(other, MixedStats):
            return NotImplemented
        a, b = match_kinds(self, other)
        names = check_same_kinds(a, b)
        aligned = align(a.gaussian, b.gaussian)
        gaussian = aligned[0] - aligned[1]
        counts = subtract_counts(a, b, aligned, gaussian, a.categorical_names(names))
        left = MixedStats(gaussian, a.categories, tuple(counts), a.is_categorical, names)
        return without_empty_categories(left)

    def decay(self, factor: float) -> MixedStats:
        """Down-weight all rows, so that old ones are forgotten exponentially.

        Parameters
        ----------
        factor : float
            What all weights are multiplied by, above 0 and at most 1.

        Returns
        -------
        MixedStats
            Statistics of the same rows with smaller weights, as `ClassStats.decay` gives them.

        Raises
        ------
        ValueError
            For another factor.
        """
        gaussian = self.gaussian.decay(factor)
        counts = tuple(table * float(factor) for table in self.counts)
        return without_empty_categories(replace(self, gaussian=gaussian, counts=counts))

    def __repr__(self) -> str:
        """Numbers of classes and of features of both kinds, and the total weight."""
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
    if feature_names is not None:
        check_name_count(feature_names, len(mask))
    if not skip:
        rows.check_present(weight)
    table = table_of(rows, weight, len(labels.classes))
    if table is None:
        gaussian = continuous_stats(rows, labels, weight, skip=skip, names=feature_names)
    else:
        gaussian, slots = stats_of_table(rows, table, labels, skip=skip, names=feature_names)
    for j, column in zip(np.flatnonzero(mask).tolist(), rows.columns, strict=True):
        name = f"{j}" if feature_names is None else repr(feature_names[j])
        check_category_number(len(column.labels), name, max_categories)
        check_counts_size(len(labels.classes), len(column.labels), name)
    if table is None:
        counts = count_categories(rows.columns, labels, weight)
    else:
        counts = counts_in(table, slots)
    categories = tuple(column.labels for column in rows.columns)
    return without_empty_categories(MixedStats(gaussian, categories, counts, mask, feature_names))
