"""One partition in a task: its rows, labels and weights, and errors that name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .errors import naming_partition
from .workers import cores_shared

__all__ = ["Layout", "run_on_block", "run_on_frame", "slice_rows"]


class Layout(NamedTuple):
    """How a task finds features, labels and weights in what it is called with.

    features : names of the columns of features in a frame; None for an array. target, weight :
    columns of X, or None. has_labels, has_weight : whether labels, and weights, come from somewhere
    else. weight_value : the weight of all rows, or None.
    """

    features: tuple[Any, ...] | None
    n_features: int
    target: str | None = None
    weight: str | None = None
    weight_value: float | None = None
    has_labels: bool = False
    has_weight: bool = False


def run_on_block(
    X: Any, *others: Any, work: Callable[..., Any], layout: Layout, **shared: Any
) -> Any:
    """Call work(X, y, weight, number) for a chunk of an array, whose number comes last."""
    *rest, (number,) = others
    return _run(X[0], rest, number, work, layout, shared)  # one chunk holds all columns


def run_on_frame(
    X: Any,
    *others: Any,
    work: Callable[..., Any],
    layout: Layout,
    partition_info: Any = None,
    **shared: Any,
) -> Any:
    """Call work(X, y, weight, number) for a partition of a frame."""
    return _run(X, list(others), partition_info["number"], work, layout, shared)


def _run(
    X: Any,
    others: list[Any],
    number: int,
    work: Callable[..., Any],
    layout: Layout,
    shared: dict[str, Any],
) -> Any:
    def checked_work() -> Any:
        rows, y, weight = _parts_of(X, others, layout)
        _check_lengths(rows, y=y, sample_weight=weight)
        return work(rows, y, weight, number, **shared)

    with cores_shared():
        return naming_partition(number, checked_work)


def _check_lengths(rows: Any, **beside: Any) -> None:
    """Raise ValueError for labels or weights of other rows."""
    for name, values in beside.items():
        if np.ndim(values) and len(values) != rows.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {rows.shape[0]} rows "
                f"of X, {len(values)} of {name}."
            )


def _parts_of(X: Any, others: list[Any], layout: Layout) -> tuple[Any, Any, Any]:
    """Features, labels or None, and weights or None."""
    if layout.features is None:
        if np.ndim(X) != 2 or X.shape[1] != layout.n_features:
            raise ValueError(f"Expected {layout.n_features} columns, got shape {np.shape(X)}.")
        rows = X
    else:
        wanted = {*layout.features, layout.target, layout.weight} - {None}
        if wanted - set(X.columns) or set(X.columns) - wanted:
            raise ValueError(
                f"Expected the columns {sorted(wanted, key=str)}, got {list(X.columns)}."
            )
        rows = X[list(layout.features)]
    y = X[layout.target] if layout.target is not None else None
    if layout.has_labels and layout.target is None:
        y, *others = others
    weight = X[layout.weight] if layout.weight is not None else layout.weight_value
    if layout.has_weight:
        (weight,) = others
    return rows, y, weight


def slice_rows(values: Any, start: int, stop: int) -> Any:
    """Some rows of an array, a frame or a series; what has no length stays as it is."""
    if not np.ndim(values):
        return values
    return values.iloc[start:stop] if hasattr(values, "iloc") else values[start:stop]
