"""Digests of values: the same for the same bits, types and shapes, and for nothing else."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Case = dict[str, Any]


class Record:
    """Cases by name. Each call adds one case."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        """Record what a call returns or raises. Returns its value, or None where it raised."""
        if name in self.cases:
            raise ValueError(f"Expected distinct names of cases, got {name!r} twice.")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value = call()
            except Exception as error:
                value, case = None, {"error": type(error).__name__, "message": str(error)}
            else:
                case = {"digest": digest(value), "summary": summary(value)}
        if caught:
            case["warnings"] = sorted({warning.category.__name__ for warning in caught})
        self.cases[name] = case
        return value


def digest(value: Any) -> str:
    """SHA-256 of a value, its types and its shapes.

    Lists and tuples of the same items are equal, and a mapping is the list of its sorted items.
    """
    sha = hashlib.sha256()
    _feed(sha, value)
    return sha.hexdigest()


def _feed(sha: Any, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OT":
        sha.update(f"array {value.dtype.str} {value.shape} ".encode())
        sha.update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
    elif isinstance(value, np.ndarray):
        sha.update(f"array {value.dtype.kind} {value.shape} ".encode())
        _feed(sha, value.ravel().tolist())
    elif isinstance(value, np.generic):
        _feed(sha, np.asarray(value))
    elif isinstance(value, Mapping):
        _feed(sha, [(name, value[name]) for name in sorted(value)])
    elif isinstance(value, (list, tuple)):
        sha.update(f"items {len(value)} ".encode())
        for item in value:
            _feed(sha, item)
    elif isinstance(value, float):
        sha.update(f"float {value.hex()} {math.copysign(1.0, value)} ".encode())
    elif isinstance(value, bytes):
        sha.update(b"bytes %d " % len(value) + value)
    elif value is None or isinstance(value, (bool, int, str)):
        sha.update(f"{type(value).__name__} {value!r} ".encode("utf-8", "backslashreplace"))
    else:
        raise TypeError(f"Expected arrays, numbers, text and their containers, got {type(value)}.")


def summary(value: Any) -> str:
    """A short text that shows roughly how much two values differ."""
    if isinstance(value, np.ndarray):
        text = f"{value.dtype.str}{list(value.shape)}"
        if value.dtype.kind in "fiub" and value.size:
            with np.errstate(all="ignore"):
                finite = value[np.isfinite(value)].astype(np.float64)
                text += f" sum {finite.sum():.17g}, last {value.ravel()[-1]!s}"
                text += f", {value.size - finite.size} not finite"
        return text
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {summary(value[name])}" for name in sorted(value))[:600]
    if isinstance(value, (list, tuple)) and any(isinstance(item, np.ndarray) for item in value):
        return "; ".join(map(summary, value))[:600]
    return repr(value)[:200]
