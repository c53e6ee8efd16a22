"""The one rule for types of labels, of classes and of categories alike.

Two labels are equal where Python says so: 1, 1.0, True and np.uint64(1) are one label, and text
never equals a number. So there are two kinds of labels, text and numbers (whole numbers, floats
that are whole, booleans), and labels of the two kinds are never put together.

Labels of one kind and two types become those of the first type that holds all of them exactly:

- the type of what was there before, so that an update does not turn 1 into 1.0;
- the type of what comes;
- int64, then uint64;
- for text, NumPy's fixed width where both have it, else Python objects.

A whole number becomes a float, or a float a whole number, below 2^53 only: a larger float may be
the rounding of another number. Where no type holds all labels that is a TypeError.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Below this each whole number is a float64, and no float64 is the rounding of another.
EXACT = 2.0**53
_FLOATS = (float, np.floating)
_NUMBERS = (int, float, np.integer, np.floating, np.bool_)
_INTEGERS = (np.dtype(np.int64), np.dtype(np.uint64))


class Union(NamedTuple):
    """Labels of both sides (m,), sorted and distinct, and where those of each side are in them."""

    labels: NDArray[Any]
    at_a: NDArray[np.int64]
    at_b: NDArray[np.int64]


def kind_of(labels: NDArray[Any]) -> str | None:
    """ "text" or "number"; None where there is no label, which says nothing."""
    if not len(labels):
        return None
    if labels.dtype.kind == "O":
        return "text" if isinstance(labels[0], str) else "number"
    return "text" if labels.dtype.kind in "UT" else "number"


def check_kind(known: NDArray[Any], labels: NDArray[Any], what: str) -> None:
    """Raise TypeError, which names both types, where one side is text and the other numbers."""
    kinds = kind_of(known), kind_of(labels)
    if None in kinds or kinds[0] == kinds[1]:
        return
    sides = zip(kinds, (known, labels), strict=True)
    names = {"number": "numbers", "text": "text"}
    shown = " and ".join(
        f"{names[str(kind)]} such as {side.tolist()[0]!r:.40}" for kind, side in sides
    )
    raise TypeError(
        f"{what} of types {known.dtype} and {labels.dtype} cannot be combined: {shown} are never "
        "equal. Convert what comes to the type of what was learned."
    )


def same_labels(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two label arrays hold the same labels of one kind, in one order."""
    return a.shape == b.shape and a.dtype.kind == b.dtype.kind and bool(np.all(a == b))


def union(a: NDArray[Any], b: NDArray[Any], what: str) -> Union:
    """The labels of both, each sorted and distinct, in a type as this module's rule says.

    Labels that all are in `a` leave it as it is. `what` begins the message of the TypeError for
    labels that cannot be combined.
    Cost: O(len(a) + len(b) log len(a)), with one comparison in Python for text each.
    """
    if a is b or same_labels(a, b) or not len(b):
        return Union(a, np.arange(len(a)), np.arange(len(b)))
    if not len(a):
        return Union(b, np.arange(0), np.arange(len(b)))
    check_kind(a, b, what)
    x, y = _texts(a, b) if kind_of(a) == "text" else _numbers(a, b, what)
    place = np.searchsorted(x, y)
    is_new = np.asarray(x[np.minimum(place, len(x) - 1)] != y, np.bool_)
    if not is_new.any():
        return Union(a, np.arange(len(a)), place)
    before = place[is_new]
    labels = np.insert(x, before, y[is_new])
    at_a = np.arange(len(x))
    at_a += np.searchsorted(before, at_a, side="right")
    return Union(labels, at_a, place + np.cumsum(is_new) - is_new)


def positions(labels: NDArray[Any], among: NDArray[Any], *, absent: int) -> NDArray[np.int64]:
    """The position of each label in distinct others (m,), or `absent`.

    Cost: O(m), and O(len(labels) log m) comparisons.
    """
    if not len(labels) or kind_of(labels) != kind_of(among):
        return np.full(len(labels), absent, np.int64)
    x, y = _texts(among, labels) if kind_of(labels) == "text" else (among, labels)
    if x.dtype != y.dtype or not (x[:-1] < x[1:]).all():  # other numbers, or edited categories
        place = {label: i for i, label in enumerate(among.tolist())}
        return np.array([place.get(label, absent) for label in labels.tolist()], np.int64)
    at = np.searchsorted(x, y)
    is_there = np.asarray(x[np.minimum(at, len(x) - 1)] == y, np.bool_)
    return np.where(is_there, at, absent)


def exact_numbers(items: Sequence[Any]) -> NDArray[Any] | None:
    """Python's and NumPy's numbers as an array, in the type that NumPy gives them or in int64 or
    uint64, the first that holds each exactly; None where there is none.

    A float is the type of numbers only where one of them is a float.
    """
    wanted = set(items)
    if not all(isinstance(value, _NUMBERS) for value in wanted):
        return None
    is_large_float = {isinstance(value, _FLOATS) for value in wanted if not -EXACT < value < EXACT}
    has_float = any(isinstance(value, _FLOATS) for value in wanted)
    numbers = np.asarray(items)
    is_held = numbers.dtype.kind in "biu" or (numbers.dtype.kind == "f" and has_float)
    candidates = [numbers] if is_held and not (has_float and False in is_large_float) else []
    for dtype in () if True in is_large_float else _INTEGERS:
        # What is infinite or negative. NumPy 1 only warns of what is negative, and wraps it.
        with contextlib.suppress(OverflowError, ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            candidates.append(np.array(items, dtype))
    return next((array for array in candidates if set(array.tolist()) == wanted), None)


def _texts(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Text in one type, which orders it by code points as every other does."""
    if a.dtype.kind == b.dtype.kind == "U":
        dtype = np.promote_types(a.dtype, b.dtype)
        return a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    return a.astype(object, copy=False), b.astype(object, copy=False)


def _numbers(a: NDArray[Any], b: NDArray[Any], what: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers in the first type that holds all of them exactly. Raises TypeError for none."""
    if a.dtype == b.dtype:
        return a, b
    for dtype in (a.dtype, b.dtype, *_INTEGERS):
        x, y = _held(a, dtype), _held(b, dtype)
        if x is not None and y is not None:
            return x, y
    raise TypeError(
        f"{what} of types {a.dtype} and {b.dtype} cannot be combined: no type holds all of "
        f"{_ends(a)} and {_ends(b)} exactly. Make text of both."
    )


def _held(labels: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Sorted numbers in another type, or None where that does not hold each of them exactly."""
    if labels.dtype == dtype:
        return labels
    first, last = int(labels[0]), int(labels[-1])
    is_change = (labels.dtype.kind == "f") != (dtype.kind == "f")
    if is_change and max(-first, last) >= EXACT:
        return None
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= first <= last <= np.iinfo(dtype).max:
        return None
    with np.errstate(over="ignore"):
        converted = labels.astype(dtype)
    return converted if converted.tolist() == labels.tolist() else None


def _ends(labels: NDArray[Any]) -> str:
    values = labels.tolist()
    return f"{values[0]!r}" if len(values) == 1 else f"{values[0]!r} to {values[-1]!r}"
