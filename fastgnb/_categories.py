"""Categorical features: which columns they are, and their values as labels and codes.

Labels are whole numbers, booleans or text. Nothing here imports scikit-learn, pandas or polars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._validate import NotFiniteError

# Whole numbers up to here are float64 numbers, each.
_EXACT = 2.0**53
_POLARS_KINDS = {"Boolean", "Categorical", "Enum", "String"}


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


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas or polars, whose columns have types of their own."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_columns"))


def find_categorical(wanted: Any, X: Any, names: Sequence[str] | None) -> NDArray[np.bool_]:
    """Which columns of X, a frame or an array (n, d), are categorical: (d,).

    `wanted` is None, "auto", a mask (d,), positions, or names. Raises ValueError for others.
    """
    d = X.shape[1]
    if wanted is None:
        return np.zeros(d, np.bool_)
    if isinstance(wanted, str) and wanted == "auto":
        columns = _columns_of(X) if is_frame(X) else []
        return np.array([_holds_categories(each) for each in columns] or [False] * d, np.bool_)
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
    if is_frame(X):
        columns = _columns_of(X)
        values = [_values_of(columns[j]) for j in at]
        names = [repr(X.columns[j]) for j in at]
        continuous = _continuous_of(X, others)
    else:
        values = [X[:, j] for j in at]
        names = [f"{j}" for j in at]
        continuous = _numbers_of(_part(X, others))
    coded = tuple(
        _encoded(each, int(j), name, skip=skip)
        for each, j, name in zip(values, at, names, strict=True)
    )
    return MixedRows(continuous, coded, is_categorical)


def slots(columns: Sequence[Column], known: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
    """Where in a table a category of each row (q, n) is.

    The table has for each feature one place a known category (m,), then one for all others, and
    one for a missing value.
    """
    n = len(columns[0].codes) if columns else 0
    out, start = np.empty((len(columns), n), np.int32), 0
    for column, categories, row in zip(columns, known, out, strict=True):
        m = len(categories)
        to = np.append(positions(column.labels, categories, absent=m), m + 1) + start
        np.take(to.astype(np.int32), column.codes, out=row, mode="wrap")
        start += m + 2
    return out


def positions(labels: NDArray[Any], among: NDArray[Any], *, absent: int) -> NDArray[np.int64]:
    """The position of each label in others (m,), or `absent`."""
    place = {label: i for i, label in enumerate(among.tolist())}
    return np.array([place.get(label, absent) for label in labels.tolist()], np.int64)


def _columns_of(X: Any) -> list[Any]:
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return list(X.get_columns())


def _holds_categories(column: Any) -> bool:
    """Whether the type of a frame's column is for categories, text or booleans."""
    if not hasattr(column, "iloc"):
        return column.dtype.base_type().__name__ in _POLARS_KINDS
    kind = getattr(column.dtype, "kind", "O")
    if hasattr(column, "cat") or kind in "bU":
        return True
    return kind == "O" and any(isinstance(value, (str, bool)) for value in column)


def _values_of(column: Any) -> Any:
    """What a frame's column holds, as an array, or as pandas' own type where that is not NumPy's"""
    if not hasattr(column, "iloc"):
        return column.to_numpy()
    return column.to_numpy() if isinstance(column.dtype, np.dtype) else column


def _continuous_of(X: Any, at: NDArray[np.int64]) -> NDArray[Any]:
    if not len(at):
        return np.empty((X.shape[0], 0))
    part = X.iloc[:, at] if hasattr(X, "iloc") else X[:, at.tolist()]
    return _validate.check_rows(part)


def _part(X: NDArray[Any], at: NDArray[np.int64]) -> NDArray[Any]:
    """Columns of X, as a view where they are at regular distances."""
    if len(at) == 0:
        return X[:, :0] if X.dtype.kind == "f" else np.empty((len(X), 0))
    step = int(at[1] - at[0]) if len(at) > 1 else 1
    if (np.diff(at) == step).all():
        return X[:, at[0] : at[-1] + 1 : step]
    return X[:, at]


def _numbers_of(rows: NDArray[Any]) -> NDArray[Any]:
    if rows.dtype.kind == "O":
        is_missing = _missing_in(rows.ravel()).reshape(rows.shape)
        rows = np.where(is_missing, np.nan, rows)
    return _validate.as_numbers(rows)


def _missing_in(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.fromiter(map(_validate.is_missing, values), np.bool_, len(values))


def _encoded(values: Any, j: int, name: str, *, skip: bool) -> Column:
    """Labels and codes of feature j. Raises ValueError or TypeError, which name it."""
    try:
        column = _encode(values, skip=skip)
    except NotFiniteError as error:
        raise NotFiniteError(error.value, error.row, j, skip=skip) from None
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"Categories must be whole numbers, booleans or text. Feature {name}: {error}"
        ) from error
    return column


def _encode(values: Any, *, skip: bool) -> Column:
    if not isinstance(values, np.ndarray):  # a type of pandas' own
        codes, found = values.factorize()
        return _placed(np.asarray(codes), _encode(np.asarray(found, object), skip=skip))
    if values.dtype.kind == "O":
        is_missing = _missing_in(values)
        if is_missing.any():
            codes = np.where(is_missing, -1, np.cumsum(~is_missing) - 1)
            return _placed(codes, _encode(values[~is_missing], skip=skip))
        values = _checked_objects(values)
    if values.dtype.kind == "f":
        return _encode_floats(values, skip=skip)
    found = _validate.encode(values, "X")
    return Column(plain_labels(found.classes), found.codes)


def _checked_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as they are, or as float64 where some are floats and all are numbers.

    Raises TypeError for objects that are neither text nor numbers.
    """
    kinds = set(map(type, values))
    odd = [kind for kind in kinds if not issubclass(kind, (str, Real, np.generic))]
    if odd:
        raise TypeError(f"argument must be a string or a real number, not {odd[0].__name__!r}.")
    if any(issubclass(kind, (float, np.floating)) for kind in kinds) and all(
        issubclass(kind, (Real, np.bool_)) for kind in kinds
    ):
        return values.astype(np.float64)
    return values


def _placed(codes: NDArray[Any], within: Column) -> Column:
    """The column whose values are those of `within` at positions `codes`, or missing at -1."""
    to = np.append(within.codes, np.int32(-1))
    return Column(within.labels, to[codes])


def _encode_floats(values: NDArray[Any], *, skip: bool) -> Column:
    with np.errstate(over="ignore"):  # an infinity
        values = values.astype(np.float64, copy=False)
    is_missing = np.isnan(values)
    some = bool(is_missing.any())
    numbers = np.where(is_missing, 0.0, values) if some else values
    odd = (numbers != np.floor(numbers)) | (np.abs(numbers) > _EXACT)
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
    """Labels of one type a kind, so that those of any two batches can be united."""
    if labels.dtype.kind in "US":
        return labels.astype(object)
    if labels.dtype.kind in "iu" and (not len(labels) or labels[-1] <= np.iinfo(np.int64).max):
        return labels.astype(np.int64)
    return labels
