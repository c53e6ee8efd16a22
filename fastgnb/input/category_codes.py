"""Values of a categorical feature as labels and codes.

Labels are whole numbers, booleans or text, of one kind in a feature: see `label_types`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .label_types import EXACT, exact_numbers
from .labels import encode_labels, is_missing
from .rows import NotFiniteError


class CategoricalColumn(NamedTuple):
    """A categorical feature of n rows.

    labels : (m,), sorted and distinct; a label may not occur.
    codes : (n,) int32, the position of each row's label, or -1 where the value is missing.
    """

    labels: NDArray[Any]
    codes: NDArray[np.int32]


def encode_categories(
    values: NDArray[Any], place: NDArray[Any] | None, j: int, name: str, *, skip: bool
) -> CategoricalColumn:
    """Labels and codes of feature j, whose rows have the values at `place` (n,), or one each.

    Raises ValueError or TypeError, which name the feature.
    """
    try:
        if place is None:
            return _encode(values, skip=skip)
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
