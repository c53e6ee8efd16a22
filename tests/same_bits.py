"""Whether statistics are the same to the bit."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

__all__ = ["assert_same_bits", "bits_of"]


def bits_of(stats: Any) -> dict[str, Any]:
    """The fields of statistics by name, arrays as their type, shape and bytes."""
    return {field.name: _bits(getattr(stats, field.name)) for field in dataclasses.fields(stats)}


def assert_same_bits(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    first, second = bits_of(a), bits_of(b)
    differing = {name: (first[name], second[name]) for name in first if first[name] != second[name]}
    assert not differing, differing


def _bits(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return bits_of(value)
    if isinstance(value, tuple):
        return tuple(map(_bits, value))
    if isinstance(value, np.ndarray):
        numbers = value.tolist() if value.dtype.kind == "O" else value.tobytes()
        return value.dtype.str, value.shape, numbers
    return value
