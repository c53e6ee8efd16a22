"""Categorical features: which columns they are, and their values as labels and codes.

Labels are whole numbers, booleans or text, of one kind in a feature: see `_labels` for the rule.
Nothing here imports scikit-learn, pandas or polars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import rows as _validate
from .frames import (
    columns_of,
    holds_categories,
    is_frame,
    label_of,
    not_numeric,
    numbers_of,
    values_of,
)
from .label_types import EXACT, check_kind, exact_numbers, kind_of, positions
from .rows import NotFiniteError

# Fewer distinct values than this look like categories, however few rows there are.
_KEY_LEAST = 100


class Column(NamedTuple):
    """A categorical feature of n rows: `labels` (m,), sorted and distinct, of which some may not
    occur, and `codes` (n,) int32, a row's position in them, or -1 where the value is missing.
    """

    labels: NDArray[Any]
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows taken apart: continuous features (n, c), a `Column` for each of the others, and which
    of the d features are categorical (d,).
    """

    continuous: NDArray[Any]
    columns: tuple[Column, ...]
    is_categorical: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.continuous)

    def check_present(self, weight: NDArray[np.float64] | None = None) -> None:
        """Raise NotFiniteError for a missing category in a row whose weight is not 0."""
        for j, column in zip(np.flatnonzero(self.is_categorical), self.columns, strict=True):
            is_missing = column.codes < 0
            if weight is not None:
                is_missing &= weight > 0
            if is_missing.any():
                raise NotFiniteError(np.nan, int(is_missing.argmax()), int(j), skip=False)

    def check_finite(self, *, skip: bool) -> None:
        """Raise NotFiniteError for a continuous value that is not finite; with skip NaN is."""
        try:
            _validate.check_finite(self.continuous, None, skip=skip)
        except NotFiniteError as error:
            j = int(np.flatnonzero(~self.is_categorical)[error.column])
            raise NotFiniteError(error.value, error.row, j, skip=skip) from None


def find_categorical(wanted: Any, X: Any, names: Sequence[str] | None) -> NDArray[np.bool_]:
    """Which columns of X, a frame or an array (n, d), are categorical: (d,).

    `wanted` is None, "auto", a mask (d,), positions, or names. Raises ValueError for others.
    """
    d = X.shape[1]
    if wanted is None:
        return np.zeros(d, np.bool_)
    if isinstance(wanted, str) and wanted == "auto":
        columns = columns_of(X) if is_frame(X) else []
        return np.array([holds_categories(each) for each in columns] or [False] * d, np.bool_)
    return marked(wanted, d, names)


def marked(wanted: Any, d: int, names: Sequence[str] | None) -> NDArray[np.bool_]:
    """The mask (d,) of features that are named, numbered or marked. Raises ValueError."""
    kind = kind_of_marks(wanted)
    given, mask = np.asarray(wanted), np.zeros(d, np.bool_)
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


def kind_of_marks(wanted: Any) -> str:
    """NumPy's kind of a list that names (U), numbers (i) or marks (b) features. Raises ValueError
    for anything else."""
    given = np.asarray(wanted)
    if given.ndim == 1 and given.size == 0:
        return "i"
    is_text = given.dtype.kind == "U" or (
        given.dtype.kind == "O" and all(isinstance(each, str) for each in given.flat)
    )
    if given.ndim != 1 or (given.dtype.kind not in "bi" and not is_text):
        raise ValueError(
            "categorical_features must be 'auto', None, or a 1D array-like of bool, int or str, "
            f"got: {wanted!r:.80}."
        )
    return "U" if is_text else given.dtype.kind


def _positions_of(wanted: list[str], names: Sequence[str] | None) -> list[int]:
    if names is None:
        raise ValueError(
            "categorical_features should be passed as an array of integers or as a boolean mask "
            "when the model is fitted on data without feature names."
        )
    place = {name: j for j, name in enumerate(names)}
    for name in wanted:
        if name not in place:
            raise ValueError(
                f"categorical_features has an item value '{name}' which is not a valid feature "
                f"name of the training data. Observed feature names: {list(names)}."
            )
    return [place[name] for name in wanted]


def split(X: Any, is_categorical: NDArray[np.bool_], *, skip: bool) -> MixedRows:
    """Take a frame or an array (n, d) apart. Raises ValueError and TypeError for wrong values.

    Missing values (NaN, None, NA) are NaN in what is continuous, and code -1 in what is not;
    without `skip` they are reported before a number that is no category.
    Cost: n codes of 4 bytes a categorical feature, and a copy of the continuous ones unless they
    are at regular distances in an array.
    """
    at, others = np.flatnonzero(is_categorical), np.flatnonzero(~is_categorical)
    values: list[tuple[NDArray[Any], NDArray[Any] | None]]
    if is_frame(X):
        columns = columns_of(X)
        values = [values_of(columns[j]) for j in at]
        names = [label_of(X, j) for j in at.tolist()]
        continuous = _continuous_of(X, others)
    else:
        values = [(X[:, j], None) for j in at]
        names = [f"{j}" for j in at]
        continuous = _numbers_of(_part(X, others), others)
    coded = tuple(
        _encoded(*each, int(j), name, skip=skip)
        for each, j, name in zip(values, at, names, strict=True)
    )
    return MixedRows(continuous, coded, is_categorical)


def slots(
    columns: Sequence[Column], known: Sequence[NDArray[Any]], names: Sequence[str]
) -> NDArray[np.int32]:
    """Where in a table a category of each row (q, n) is.

    The table has for each feature one place a known category (m,), then one for all others, and
    one for a missing value. Raises TypeError, which names the feature, where a value is text and
    those known are numbers, or the other way: it would look like one that was never seen.
    """
    n = len(columns[0].codes) if columns else 0
    out, start = np.empty((len(columns), n), np.int32), 0
    for column, categories, name, row in zip(columns, known, names, out, strict=True):
        if kind_of(categories) != kind_of(column.labels):
            check_kind(categories, _occurring(column), f"Categories of feature {name}")
        m = len(categories)
        to = np.append(positions(column.labels, categories, absent=m), m + 1) + start
        np.take(to.astype(np.int32), column.codes, out=row, mode="wrap")
        start += m + 2
    return out


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
    return _validate.unmasked(X)


def _occurring(column: Column) -> NDArray[Any]:
    """The labels that some row has."""
    return np.asarray(column.labels[np.unique(column.codes[column.codes >= 0])])


def _continuous_of(X: Any, at: NDArray[np.int64]) -> NDArray[Any]:
    if not len(at):
        return np.empty((X.shape[0], 0))
    return numbers_of(X, at)


def _part(X: NDArray[Any], at: NDArray[np.int64]) -> NDArray[Any]:
    """Columns of X, as a view where they are at regular distances."""
    if len(at) == 0:
        return X[:, :0] if X.dtype.kind == "f" else np.empty((len(X), 0))
    step = int(at[1] - at[0]) if len(at) > 1 else 1
    if (np.diff(at) == step).all():
        return X[:, at[0] : at[-1] + 1 : step]
    return X[:, at]


def _numbers_of(rows: NDArray[Any], at: NDArray[np.int64]) -> NDArray[Any]:
    """Continuous features, which are those `at`, as numbers. Raises ValueError for others."""
    if rows.dtype.kind == "O":
        is_missing = _missing_in(rows.ravel()).reshape(rows.shape)
        rows = np.where(is_missing, np.nan, rows)
        is_text = np.array([isinstance(value, (str, bytes)) for value in rows.flat], np.bool_)
        if is_text.any():
            i, j = np.unravel_index(int(is_text.argmax()), rows.shape)
            raise not_numeric(f"text: {rows[i, j]!r:.40}", f"{at[j]}")
    elif rows.dtype.kind not in "fiub" and rows.size:
        raise not_numeric(f"dtype {rows.dtype}", f"{at[0]}")
    return _validate.as_numbers(rows)


def _missing_in(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.fromiter(map(_validate.is_missing, values), np.bool_, len(values))


def _encoded(
    values: NDArray[Any], at: NDArray[Any] | None, j: int, name: str, *, skip: bool
) -> Column:
    """Labels and codes of feature j. Raises ValueError or TypeError, which name it."""
    try:
        column = _encode(values, skip=skip) if at is None else _placed(values, at, skip=skip)
    except NotFiniteError as error:
        raise NotFiniteError(error.value, error.row, j, skip=skip) from None
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"Categories must be whole numbers, booleans or text. Feature {name}: {error}"
        ) from error
    return column


def _encode(values: NDArray[Any], *, skip: bool) -> Column:
    if values.dtype.kind in "OT":
        values = values.astype(object, copy=False)
        is_missing = _missing_in(values)
        if is_missing.any():
            at = np.where(is_missing, -1, np.cumsum(~is_missing) - 1)
            return _placed(values[~is_missing], at, skip=skip)
        values = _checked_objects(values)
    if values.dtype.kind == "f":
        return _encode_floats(values, skip=skip)
    found = _validate.encode(values, "X")
    return Column(plain_labels(found.classes), found.codes)


def _placed(values: NDArray[Any], at: NDArray[Any], *, skip: bool) -> Column:
    """The column whose row i has the value `at[i]`, or none at -1, of values without missing ones.

    Without `skip` a missing value is reported before a value that is no category.
    """
    try:
        within = _encode(values, skip=skip)
    except NotFiniteError as error:
        row = int(np.argmax(at == error.row))
        raise NotFiniteError(error.value, row, 0, skip=skip) from None
    except ValueError:
        if not skip and (at < 0).any():
            raise NotFiniteError(np.nan, int(np.argmax(at < 0)), 0, skip=skip) from None
        raise
    return Column(within.labels, np.append(within.codes, np.int32(-1))[at])


def _checked_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as they are, or as numbers where some are floats and all are numbers.

    Raises TypeError for objects that are neither text nor numbers.
    """
    kinds = set(map(type, values))
    odd = [kind for kind in kinds if not issubclass(kind, (str, Real, np.generic))]
    if odd:
        raise TypeError(f"argument must be a string or a real number, not {odd[0].__name__!r}.")
    if any(issubclass(kind, (float, np.floating)) for kind in kinds) and all(
        issubclass(kind, (Real, np.bool_)) for kind in kinds
    ):
        numbers = exact_numbers(values.tolist())
        return values.astype(np.float64) if numbers is None else numbers
    return values


def _encode_floats(values: NDArray[Any], *, skip: bool) -> Column:
    with np.errstate(over="ignore"):  # an infinity
        values = values.astype(np.float64, copy=False)
    is_missing = np.isnan(values)
    some = bool(is_missing.any())
    numbers = np.where(is_missing, 0.0, values) if some else values
    odd = (numbers != np.floor(numbers)) | (np.abs(numbers) >= EXACT)
    if odd.any():
        infinite = np.isinf(numbers)
        if infinite.any():
            raise NotFiniteError(np.inf, int(infinite.argmax()), 0, skip=skip)
        if some and not skip:
            raise NotFiniteError(np.nan, int(is_missing.argmax()), 0, skip=skip)
        raise ValueError(
            f"got {float(numbers[odd][0])!r}. Leave the feature out of categorical_features, or "
            "make text of it."
        )
    found = _validate.encode(numbers.astype(np.int64), "X")
    codes = np.where(is_missing, np.int32(-1), found.codes) if some else found.codes
    return Column(plain_labels(found.classes), codes)


def plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels of one type a kind, so that those of any two batches can be united, and of one type
    where there are none, whatever batch says so first."""
    if labels.dtype.kind in "UT" or not len(labels):
        return labels.astype(object)
    if labels.dtype.kind in "iu" and labels[-1] <= np.iinfo(np.int64).max:
        return labels.astype(np.int64)
    return labels
