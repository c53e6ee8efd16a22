"""Labels and other values of a model's JSON text: types are checked, and nothing is converted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "check_names", "from_zero_up", "labels_as_json", "list_of", "restore_labels", "text_or_none",
    "typed",
]  # fmt: skip

# Python's types of labels by NumPy's kinds, "O" being text as objects.
_PYTHON_TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}


def labels_as_json(labels: NDArray[Any]) -> dict[str, Any]:
    """Labels by their type. Raises ValueError where a file cannot hold them."""
    values = labels.tolist()
    is_text = all(isinstance(value, str) for value in values)
    is_object = labels.dtype.kind in "OT" and is_text  # T: NumPy 2's text of any length
    if is_object:
        values = [str.__str__(value) for value in values]  # an enumeration's text, not its name
    elif labels.dtype.kind not in "biufU" or (labels.dtype.itemsize > 8 and not is_text):
        raise ValueError(
            f"Labels of dtype {labels.dtype} cannot be saved: use text, whole numbers or booleans."
        )
    return {"dtype": "object" if is_object else labels.dtype.str, "values": values}


def restore_labels(field: Any, what: str, *, least: int = 1) -> NDArray[Any]:
    """Labels (k,) in native byte order. Raises ValueError unless they are sorted and distinct."""
    check_names(field, {"dtype", "values"})
    name = str(typed(field, "dtype", str))
    match = re.fullmatch(r"[<>=|]?(?:b1|[iu][1248]|f[248]|U[1-9][0-9]{0,7})", name, re.ASCII)
    if name != "object" and not match:  # NumPy would take arrays, records and more in its place
        raise ValueError(f"labels of dtype {name!r:.40}")
    dtype = np.dtype(object if name == "object" else name).newbyteorder("=")
    values = list_of(field["values"], _PYTHON_TYPES[dtype.kind], what)
    if len(values) < least or any(a >= b for a, b in pairwise(values)):
        raise ValueError(f"{what} are not sorted and distinct")
    if dtype.kind == "f" and not all(value.is_integer() for value in values):
        raise ValueError(f"{what} are not whole numbers")
    limits = np.iinfo(dtype.str) if dtype.kind in "iu" and values else None
    if limits and not limits.min <= values[0] <= values[-1] <= limits.max:
        raise ValueError(f"{what} do not fit dtype {name}")
    with np.errstate(over="ignore"):
        labels = np.array(values, _bounded(dtype, values))
    if labels.tolist() != values:
        raise ValueError(f"{what} do not fit dtype {name}")
    return labels


def _bounded(dtype: np.dtype[Any], values: list[str]) -> np.dtype[Any]:
    """The dtype, unless that takes far more memory than its text: a narrower one, or objects."""
    if dtype.kind != "U" or not values:
        return dtype
    longest = max(map(len, values))
    most = (1 << 18) + 8 * sum(map(len, values))
    if len(values) * dtype.itemsize // 4 <= most:
        return dtype
    return np.dtype(f"U{longest or 1}" if len(values) * longest <= most else object)


def check_names(
    found: Mapping[str, Any], required: Collection[str], optional: Collection[str] = ()
) -> None:
    for name in sorted(required):
        if name not in found:
            raise ValueError(f"{name!r} is missing")
    for name in found:
        if name not in required and name not in optional:
            raise ValueError(f"{name!r:.40} is unknown")


def typed(fields: Mapping[str, Any], name: str, kind: type) -> Any:
    value = fields[name]
    if type(value) is not kind:  # not isinstance, since True is an int
        raise ValueError(f"{name} is a {type(value).__name__}, expected {kind.__name__}")
    return value


def from_zero_up(fields: Mapping[str, Any], name: str) -> float:
    value = fields[name]
    if type(value) is not float or not 0.0 <= value < float("inf"):
        raise ValueError(f"{name} must be a number from 0 up, got {value!r:.40}")
    return value


def text_or_none(fields: Mapping[str, Any], name: str) -> str | None:
    return None if fields[name] is None else typed(fields, name, str)


def list_of(values: Any, kind: type, name: str) -> list[Any]:
    if type(values) is not list or not all(type(value) is kind for value in values):
        raise ValueError(f"{name} are not a list of {kind.__name__}")
    return values
