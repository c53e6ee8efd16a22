"""Values of a categorical feature as labels and codes.

Labels are whole numbers, booleans or text, of one kind in a feature: see `label_types`.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .label_types import EXACT, exact_numbers
from .labels import encode_labels, is_missing
from .rows import NotFiniteError

if TYPE_CHECKING:
    from ..kernels.slots import Table

# Width of the range of numbers that are looked up where they lie, and the largest of them.
MOST_SPAN, _LARGE = 1 << 12, 2.0**50


def first_slots(span: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first slot of each column (q,): one for each number of its range, one more, and one for a
    missing value."""
    width = span + 2
    return np.asarray(np.cumsum(width) - width)


class CategoricalColumn(NamedTuple):
    """A categorical feature of n rows.

    labels : (m,), sorted and distinct; a label may not occur.
    codes : (n,) int32, the position of each row's label, or -1 where the value is missing.
    """

    labels: NDArray[Any]
    codes: NDArray[np.int32]


class FloatTable:
    """Columns (q,) of a table X (n, d) of floats that are NaN, or whole numbers near each other.

    Statistics and scores look up their categories where the rows lie. column (q,): which features
    they are, sorted. low, span (q,): ranges of the numbers, empty where all values are missing.
    """

    def __init__(
        self, X: NDArray[Any], column: NDArray[np.int64], low: NDArray[Any], span: NDArray[Any]
    ) -> None:
        self.X, self.column, self.low, self.span = X, column, low, span
        self._labels: list[NDArray[np.int64]] | None = None

    @property
    def first(self) -> NDArray[np.int64]:
        """The first slot of each column (q,)."""
        return first_slots(self.span)

    @property
    def size(self) -> int:
        """How many slots the columns have."""
        return int((self.span + 2).sum())

    def in_ranges(self) -> Table:
        """The columns as kernels take them, with these slots."""
        from ..kernels.slots import table_of

        return table_of(self.X, self.column, (self.low, self.span, self.first))

    def coded(self, chosen: slice = slice(None)) -> Table:
        """Columns whose slots are the positions of their labels, and what follows for a missing
        value."""
        from ..kernels.slots import table_of

        low, span, column = self.low[chosen], self.span[chosen], self.column[chosen]
        lookups = []
        for start, size, labels in zip(low, span, self.labels()[chosen], strict=True):
            lookup = np.full(size + 2, len(labels), np.int32)
            lookup[labels - start] = np.arange(len(labels))
            lookups.append(lookup)
        ranges = low, span, first_slots(span)
        return table_of(self.X, column, ranges, np.concatenate(lookups))

    def labels(self) -> list[NDArray[np.int64]]:
        """The sorted labels (m,) of each column."""
        # No `cached_property`: see `Model.params`.
        if self._labels is None:
            from ..kernels.learn.mixed import occurring

            self.note(occurring(self.in_ranges(), self.size))
        assert self._labels is not None
        return self._labels

    def note(self, seen: NDArray[np.bool_]) -> None:
        """Note which of the slots (size,) occur."""
        parts = zip(self.low, self.first, self.span, strict=True)
        self._labels = [low + np.flatnonzero(seen[at : at + span]) for low, at, span in parts]


class FloatColumn:
    """A categorical feature of n rows in a table of floats.

    It has the fields of `CategoricalColumn`, which are made when they are asked for.
    """

    def __init__(self, table: FloatTable, q: int, *, has_missing: bool) -> None:
        self.table, self.q, self.has_missing = table, q, has_missing
        self._codes: NDArray[np.int32] | None = None

    @property
    def labels(self) -> NDArray[np.int64]:
        """(m,), sorted and distinct; each occurs."""
        return self.table.labels()[self.q]

    @property
    def codes(self) -> NDArray[np.int32]:
        """(n,) int32, the position of each row's label, or -1 where the value is missing."""
        if self._codes is None:
            from ..kernels.learn.mixed import look_up

            codes = look_up(self.table.coded(slice(self.q, self.q + 1)), 0, len(self.table.X))[0]
            codes[codes == len(self.labels)] = -1
            self._codes = codes
        return self._codes


Column = CategoricalColumn | FloatColumn


def float_columns(X: NDArray[Any], columns: NDArray[np.int64]) -> dict[int, FloatColumn]:
    """Those of these columns of X (n, d) whose floats are NaN, or whole and near each other."""
    if not len(columns) or not len(X) or X.dtype.kind != "f":
        return {}
    from ..kernels.learn.categories import find_ranges

    ranges = find_ranges(X, columns)
    if ranges is None:
        return {}
    nothing = ranges.low == np.inf  # but missing values
    low, high = np.where(nothing, 0.0, ranges.low), np.where(nothing, -1.0, ranges.high)
    is_near = ~ranges.is_odd & (np.abs(low) < _LARGE) & (high - low < MOST_SPAN)
    low, span = low[is_near].astype(np.int64), (high - low + 1.0)[is_near].astype(np.int64)
    table = FloatTable(X, columns[is_near], low, span)
    missing = ranges.has_missing[is_near].tolist()
    return {
        j: FloatColumn(table, q, has_missing=missing[q])
        for q, j in enumerate(table.column.tolist())
    }


def encode_categories(
    values: NDArray[Any], place: NDArray[Any] | None, j: int, name: str, *, skip: bool
) -> Column:
    """Labels and codes of feature j, whose rows have the values at `place` (n,), or one each.

    Raises ValueError or TypeError, which name the feature.
    """
    try:
        if place is None:
            in_place = float_columns(values.reshape(-1, 1), np.zeros(1, np.int64))
            return in_place.get(0) or _encode(values, skip=skip)
        return _encode_placed(values, place, skip=skip)
    except NotFiniteError as error:
        raise NotFiniteError(error.value, error.row, j, skip=skip) from None
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"Categories must be whole numbers, booleans or text. Feature {name}: {error}"
        ) from error


def _encode(values: NDArray[Any], *, skip: bool) -> CategoricalColumn:
    if values.dtype.kind in "OT":
        values = values.astype(object, copy=False)
        absent = missing_in(values)
        if absent.any():
            place = np.where(absent, -1, np.cumsum(~absent) - 1)
            return _encode_placed(values[~absent], place, skip=skip)
        values = _checked_objects(values)
    if values.dtype.kind == "f":
        return _encode_floats(values, skip=skip)
    labels = encode_labels(values, "X")
    return CategoricalColumn(plain_labels(labels.classes), labels.codes)


def _encode_placed(values: NDArray[Any], place: NDArray[Any], *, skip: bool) -> CategoricalColumn:
    """The column whose row i has the value `place[i]`, or none at -1. No value is missing.

    Without `skip` a missing value is reported before a value that is no category.
    """
    try:
        within = _encode(values, skip=skip)
    except NotFiniteError as error:
        row = int(np.argmax(place == error.row))
        raise NotFiniteError(error.value, row, 0, skip=skip) from None
    except ValueError:
        if not skip and (place < 0).any():
            raise NotFiniteError(np.nan, int(np.argmax(place < 0)), 0, skip=skip) from None
        raise
    return CategoricalColumn(within.labels, np.append(within.codes, np.int32(-1))[place])


def _checked_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as they are, or as numbers where some are floats and all are numbers.

    Raises TypeError for objects that are neither text nor numbers.
    """
    kinds = set(map(type, values))
    others = [kind for kind in kinds if not issubclass(kind, (str, Real, np.generic))]
    if others:
        raise TypeError(f"argument must be a string or a real number, not {others[0].__name__!r}.")
    if any(issubclass(kind, (float, np.floating)) for kind in kinds) and all(
        issubclass(kind, (Real, np.bool_)) for kind in kinds
    ):
        numbers = exact_numbers(values.tolist())
        return values.astype(np.float64) if numbers is None else numbers
    return values


def _encode_floats(values: NDArray[Any], *, skip: bool) -> CategoricalColumn:
    with np.errstate(over="ignore"):  # an infinity
        values = values.astype(np.float64, copy=False)
    absent = np.isnan(values)
    has_missing = bool(absent.any())
    numbers = np.where(absent, 0.0, values) if has_missing else values
    inexact = (numbers != np.floor(numbers)) | (np.abs(numbers) >= EXACT)
    if inexact.any():
        infinite = np.isinf(numbers)
        if infinite.any():
            raise NotFiniteError(np.inf, int(infinite.argmax()), 0, skip=skip)
        if has_missing and not skip:
            raise NotFiniteError(np.nan, int(absent.argmax()), 0, skip=skip)
        raise ValueError(
            f"got {float(numbers[inexact][0])!r}. Leave the feature out of "
            "categorical_features, or make text of it."
        )
    labels = encode_labels(numbers.astype(np.int64), "X")
    codes = np.where(absent, np.int32(-1), labels.codes) if has_missing else labels.codes
    return CategoricalColumn(plain_labels(labels.classes), codes)


def plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels of one type a kind, so that those of any two batches can be united, and of one type
    where there are none, whatever batch says so first."""
    if labels.dtype.kind in "UT" or not len(labels):
        return labels.astype(object)
    if labels.dtype.kind in "iu" and labels[-1] <= np.iinfo(np.int64).max:
        return labels.astype(np.int64)
    return labels


def missing_in(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.fromiter(map(is_missing, values), np.bool_, len(values))
