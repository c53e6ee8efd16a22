"""Categorical features: which columns they are, and rows taken apart by kind of feature.

Nothing here imports scikit-learn, pandas or polars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .category_codes import (
    MOST_SPAN,
    Column,
    FloatColumn,
    FloatTable,
    encode_categories,
    first_slots,
    float_columns,
    missing_in,
)
from .frames import (
    columns_of,
    holds_categories,
    is_frame,
    label_of,
    non_numeric_error,
    numbers_of,
    values_of,
)
from .label_types import EXACT, check_kind, kind_of, positions
from .rows import NotFiniteError, as_numbers, check_dense, check_finite, unmasked

if TYPE_CHECKING:
    from ..kernels.slots import Table

# Fewer distinct values than this look like categories, however few rows there are.
_KEY_LEAST = 100


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows taken apart by kind of feature.

    continuous : (n, c), the continuous features.
    columns : a `CategoricalColumn`, or what has its fields, for each of the others.
    is_categorical : (d,), which of the d features are categorical.
    """

    continuous: NDArray[Any]
    columns: tuple[Column, ...]
    is_categorical: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.continuous)

    def table(self) -> FloatTable | None:
        """The table of floats that holds both kinds of features, if one does."""
        first = self.columns[0] if self.columns else None
        if not isinstance(first, FloatColumn) or len(first.table.column) < len(self.columns):
            return None
        # A column of a frame is a table of its own.
        is_whole = first.table.X.shape[1] == len(self.is_categorical)
        return first.table if is_whole else None

    def in_table(self, error: NotFiniteError, *, skip: bool) -> NotFiniteError:
        """An error of a continuous feature, with its column among all features."""
        j = int(np.flatnonzero(~self.is_categorical)[error.column])
        return NotFiniteError(error.value, error.row, j, skip=skip)

    def check_present(self, weight: NDArray[np.float64] | None = None) -> None:
        """Raise NotFiniteError for a missing category in a row whose weight is not 0."""
        for j, column in zip(np.flatnonzero(self.is_categorical), self.columns, strict=True):
            if isinstance(column, FloatColumn) and not column.has_missing:
                continue
            is_missing = column.codes < 0
            if weight is not None:
                is_missing &= weight > 0
            if is_missing.any():
                raise NotFiniteError(np.nan, int(is_missing.argmax()), int(j), skip=False)

    def check_finite(self, *, skip: bool) -> None:
        """Raise NotFiniteError for a continuous value that is not finite; with skip NaN is."""
        try:
            check_finite(self.continuous, None, skip=skip)
        except NotFiniteError as error:
            raise self.in_table(error, skip=skip) from None


def check_table(X: Any) -> Any:
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


def find_categorical(spec: Any, X: Any, names: Sequence[str] | None) -> NDArray[np.bool_]:
    """Which columns of X, a frame or an array (n, d), are categorical: (d,).

    `spec` is None, "auto", a mask (d,), positions, or names. Raises ValueError for others.
    """
    d = X.shape[1]
    if spec is None:
        return np.zeros(d, np.bool_)
    if isinstance(spec, str) and spec == "auto":
        columns = columns_of(X) if is_frame(X) else []
        return np.array([holds_categories(column) for column in columns] or [False] * d, np.bool_)
    return categorical_mask(spec, d, names)


def categorical_mask(spec: Any, d: int, names: Sequence[str] | None) -> NDArray[np.bool_]:
    """The mask (d,) of a spec: names, positions or a mask. Raises ValueError for others."""
    kind = spec_kind(spec)
    given, mask = np.asarray(spec), np.zeros(d, np.bool_)
    if given.size == 0:
        return mask
    if kind == "U":
        mask[_positions_of(given.tolist(), names)] = True
    elif kind == "b":
        if given.shape != (d,):
            raise ValueError(
                "categorical_features set as a boolean mask must have shape (n_features,) = "
                f"{(d,)}, got: {given.shape}."
            )
        mask[:] = given
    elif given.min() < 0 or given.max() >= d:
        raise ValueError(
            "categorical_features set as integer indices must be in [0, n_features - 1] = "
            f"[0, {d - 1}], got: {given.tolist()}."
        )
    else:
        mask[given] = True
    return mask


def spec_kind(spec: Any) -> str:
    """NumPy's kind of a spec: names (U), positions (i) or a mask (b). Raises ValueError."""
    given = np.asarray(spec)
    if given.ndim == 1 and given.size == 0:
        return "i"
    is_text = given.dtype.kind == "U" or (
        given.dtype.kind == "O" and all(isinstance(item, str) for item in given.flat)
    )
    if given.ndim != 1 or (given.dtype.kind not in "bi" and not is_text):
        raise ValueError(
            "categorical_features must be 'auto', None, or a 1D array-like of bool, int or str, "
            f"got: {spec!r:.80}."
        )
    return "U" if is_text else given.dtype.kind


def _positions_of(spec: list[str], names: Sequence[str] | None) -> list[int]:
    if names is None:
        raise ValueError(
            "categorical_features should be passed as an array of integers or as a boolean mask "
            "when the model is fitted on data without feature names."
        )
    place = {name: j for j, name in enumerate(names)}
    for name in spec:
        if name not in place:
            raise ValueError(
                f"categorical_features has an item value '{name}' which is not a valid feature "
                f"name of the training data. Observed feature names: {list(names)}."
            )
    return [place[name] for name in spec]


def split_columns(X: Any, is_categorical: NDArray[np.bool_], *, skip: bool) -> MixedRows:
    """Take a frame or an array (n, d) apart. Raises ValueError and TypeError for wrong values.

    Missing values (NaN, None, NA) are NaN in what is continuous, and code -1 in what is not;
    without `skip` they are reported before a number that is no category.
    Cost: n codes of 4 bytes a categorical feature, and a copy of the continuous ones unless they
    are at regular distances in an array.
    """
    categorical, others = np.flatnonzero(is_categorical), np.flatnonzero(~is_categorical)
    values: list[tuple[NDArray[Any], NDArray[Any] | None]]
    if is_frame(X):
        columns = columns_of(X)
        values = [values_of(columns[j]) for j in categorical]
        names = [label_of(X, j) for j in categorical.tolist()]
        continuous = _continuous_of(X, others)
        coded: dict[int, FloatColumn] = {}
    else:
        coded = float_columns(X, categorical)
        values = [(X[:, j], None) for j in categorical]
        names = [f"{j}" for j in categorical]
        continuous = _numbers_of(_take_columns(X, others), others)
    encoded = tuple(
        coded.get(j) or encode_categories(labels, place, j, name, skip=skip)
        for (labels, place), j, name in zip(values, categorical.tolist(), names, strict=True)
    )
    return MixedRows(continuous, encoded, is_categorical)


def table_indices(
    columns: Sequence[Column], known: Sequence[NDArray[Any]], names: Sequence[str]
) -> NDArray[np.int32]:
    """Positions (q, n) of the category of each row in a table of categories.

    The table has for each feature one place a known category (m,), then one for all others, and
    one for a missing value. Raises TypeError, which names the feature, where a value is text and
    those known are numbers, or the other way: it would look like one that was never seen.
    """
    places = _places(columns, known, names)
    out = np.empty((len(columns), len(columns[0].codes) if columns else 0), np.int32)
    for column, to, row in zip(columns, places, out, strict=True):
        np.take(to, column.codes, out=row, mode="wrap")
    return out


def table_lookup(
    rows: MixedRows, known: Sequence[NDArray[Any]], names: Sequence[str]
) -> NDArray[np.int32] | Table:
    """As `table_indices`, or what finds them where all columns are in one table of floats."""
    table = rows.table()
    ranges = None if table is None else ranges_of(known)
    if table is None or ranges is None:
        return table_indices(rows.columns, known, names)
    from ..kernels.slots import table_of

    return table_of(table.X, table.column, *ranges)


def ranges_of(
    known: Sequence[NDArray[Any]],
) -> tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[np.int32] | None] | None:
    """Ranges of known categories and their first slots, and slots by number if there are gaps.

    None unless all are sorted whole numbers that lie near each other.
    """
    if any(each.dtype.kind not in "ib" or each.ndim != 1 for each in known):
        return None
    size = np.array([len(each) for each in known], np.int64)
    labels = np.concatenate([each.astype(np.int64) for each in known])
    end = np.cumsum(size)
    step, begins = np.diff(labels), np.zeros(len(labels) + 1, np.bool_)
    begins[end - size] = True
    begins[end] = True
    if (step <= 0)[~begins[1:-1]].any():
        return None
    padded = np.append(labels, 0)
    low = np.where(size > 0, padded[end - size], 0)
    span = np.where(size > 0, padded[end - 1] - low + 1, 0)
    slots = end - size + 2 * np.arange(len(size))
    if np.array_equal(span, size):
        return (low, span, slots), None
    if not ((span > 0) | (size == 0)).all() or span.max() > MOST_SPAN:
        return None
    first = first_slots(span)
    lookup = np.repeat(slots + size, span + 2)
    column = np.repeat(np.arange(len(size)), size)
    lookup[labels - low[column] + first[column]] = np.arange(len(labels)) + 2 * column
    lookup[first + span + 1] += 1
    return (low, span, first), lookup.astype(np.int32)


def _places(
    columns: Sequence[Column], known: Sequence[NDArray[Any]], names: Sequence[str]
) -> list[NDArray[np.int32]]:
    """For each column, where in the table its labels are, and behind these a missing value."""
    places, start = [], 0
    for column, categories, name in zip(columns, known, names, strict=True):
        if kind_of(categories) != kind_of(column.labels):
            check_kind(categories, _occurring(column), f"Categories of feature {name}")
        m = len(categories)
        to = np.append(positions(column.labels, categories, absent=m), m + 1) + start
        places.append(to.astype(np.int32))
        start += m + 2
    return places


def looks_like_key(n_categories: int, n_values: int) -> bool:
    """Whether a column of so many values, so many of them distinct, identifies rows.

    That is where more than half of the values are distinct, and a hundred or more. `auto` leaves
    such a column out.
    """
    return n_categories >= _KEY_LEAST and 2 * n_categories > n_values


def exact_table(X: Any) -> Any:
    """X, where masked values of an array are NaN. Whole numbers that float64 would round become
    objects for it."""
    is_wide = isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "iu" and X.dtype.itemsize == 8
    if is_wide and X.mask.any() and np.ma.max(np.abs(X.astype(np.float64))) >= EXACT:
        return X.astype(object).filled(np.nan)
    return unmasked(X)


def _occurring(column: Column) -> NDArray[Any]:
    """The labels that some row has."""
    if isinstance(column, FloatColumn):
        return column.labels
    return np.asarray(column.labels[np.unique(column.codes[column.codes >= 0])])


def _continuous_of(X: Any, features: NDArray[np.int64]) -> NDArray[Any]:
    if not len(features):
        return np.empty((X.shape[0], 0))
    return numbers_of(X, features)


def _take_columns(X: NDArray[Any], features: NDArray[np.int64]) -> NDArray[Any]:
    """Columns of X, as a view where they are at regular distances."""
    if len(features) == 0:
        return X[:, :0] if X.dtype.kind == "f" else np.empty((len(X), 0))
    step = int(features[1] - features[0]) if len(features) > 1 else 1
    if (np.diff(features) == step).all():
        return X[:, features[0] : features[-1] + 1 : step]
    return X[:, features]


def _numbers_of(rows: NDArray[Any], features: NDArray[np.int64]) -> NDArray[Any]:
    """Values of these continuous features as numbers. Raises ValueError for others."""
    if rows.dtype.kind == "O":
        absent = missing_in(rows.ravel()).reshape(rows.shape)
        rows = np.where(absent, np.nan, rows)
        is_text = np.array([isinstance(value, (str, bytes)) for value in rows.flat], np.bool_)
        if is_text.any():
            i, j = np.unravel_index(int(is_text.argmax()), rows.shape)
            raise non_numeric_error(f"text: {rows[i, j]!r:.40}", f"{features[j]}")
    elif rows.dtype.kind not in "fiub" and rows.size:
        raise non_numeric_error(f"dtype {rows.dtype}", f"{features[0]}")
    return as_numbers(rows)
