"""Tasks that learn the rows of a partition, and that merge what others have learned.

A result is the first and the last partition that is in it, and the bytes of their statistics; or
None, of partitions without rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..files.models.as_bytes import from_bytes, to_bytes
from ..input.categorical import find_categorical
from ..input.frames import check_numeric, check_numeric_columns
from ..input.label_types import check_kind
from ..input.rows import NotFiniteError
from ..stats.class_stats import ClassStats
from ..stats.mixed_stats import MixedStats
from ..stats.tree import MergeTree, batch_rows
from .collections import Collections
from .errors import PartitionError
from .partition import slice_rows
from .tree import merge_states, merged

__all__ = ["Learning", "learned"]

Part = tuple[int, int, bytes]


class Learning(NamedTuple):
    """Which statistics are learned, as `ClassStats.from_rows` and `MixedStats.from_rows` say.

    categorical : "auto", a mask, positions or names, where `is_mixed`.
    """

    is_mixed: bool = False
    categorical: Any = None
    missing: str = "error"
    scatter: str = "diag"
    classes: Any = None


def learned(rows: Collections, how: Learning, split_every: int) -> Any:
    """The statistics of all rows. Raises ValueError where there are none.

    Raises PartitionError where a partition cannot be learned.
    """
    wanted = _plain(rows, how)
    tasks = rows.tasks(partial(learn_partition, how=wanted, names=rows.names))
    found = merged(tasks, merge_statistics, split_every).compute()
    if found is None:
        raise ValueError(f"Expected rows, found none: {rows.n_partitions} partitions are empty.")
    return from_bytes(found[2])


def _plain(rows: Collections, how: Learning) -> dict[str, Any]:
    """What to learn as plain values, with categorical features as positions.

    Raises ValueError where the types of columns tell that they hold no numbers.
    """
    wanted = how._asdict()
    if not how.is_mixed:
        if rows.is_frame:
            check_numeric_columns(rows.meta, takes_categories=False)
        return wanted
    if isinstance(how.categorical, str):
        _check_types(rows)
    mask = find_categorical(how.categorical, rows.meta, rows.names)
    if rows.is_frame:
        check_numeric(rows.meta, np.flatnonzero(~mask))
    return {**wanted, "categorical": np.flatnonzero(mask).tolist()}


def _check_types(rows: Collections) -> None:
    """Raise ValueError for columns of Python objects, of which only rows tell what they hold."""
    dtypes = rows.meta.dtypes.items() if rows.is_frame else ()
    objects = [name for name, dtype in dtypes if isinstance(dtype, np.dtype) and dtype.kind == "O"]
    if objects:
        raise ValueError(
            f"Expected columns of known types for 'auto', got Python objects in {objects}. Name "
            "the categorical features, or convert these columns, as astype('string') does."
        )


def learn_partition(
    X: Any, y: Any, weight: Any, number: int, *, how: dict[str, Any], names: Any
) -> Part | None:
    """Statistics of a partition: of its batches in a tree."""
    tree: MergeTree[Any] = MergeTree()
    step = batch_rows(X.shape[1])
    for start in range(0, X.shape[0], step):
        rows, labels, own = (slice_rows(each, start, start + step) for each in (X, y, weight))
        try:
            tree.add(_statistics(rows, labels, own, how, names))
        except NotFiniteError as error:
            skip, can_skip = how["missing"] == "skip", how["scatter"] != "full"
            raise NotFiniteError(
                error.value, start + error.row, error.column, skip=skip, can_skip=can_skip
            ) from None
    found = tree.result()
    return None if found is None else (number, number, to_bytes(found))


def _statistics(X: Any, y: Any, weight: Any, how: dict[str, Any], names: Any) -> Any:
    options = {"classes": how["classes"], "missing": how["missing"], "feature_names": names}
    if how["is_mixed"]:
        return MixedStats.from_rows(
            X, y, weight, categorical_features=how["categorical"], **options
        )
    return ClassStats.from_rows(X, y, weight, scatter=how["scatter"], **options)


def merge_statistics(parts: list[Part | None]) -> Part | None:
    """The statistics of neighbours, merged in pairs."""
    total: Part | None = merge_states(
        parts,
        load=lambda part: (part[0], part[1], from_bytes(part[2])),
        dump=lambda part: (part[0], part[1], to_bytes(part[2])),
        combine=_both,
    )
    return total


def _both(a: tuple[int, int, Any], b: tuple[int, int, Any]) -> tuple[int, int, Any]:
    """The sum of two results. Raises PartitionError where they are of different kinds."""
    try:
        check_kind(a[2].classes, b[2].classes, "Labels")
    except TypeError as error:  # each of a and of b has labels of one kind
        raise PartitionError(f"partition {b[0]} differs from partition {a[0]}: {error}") from error
    try:
        return a[0], b[1], a[2] + b[2]
    except (TypeError, ValueError) as error:
        raise PartitionError(f"{_span(b)} differs from {_span(a)}: {error}") from error


def _span(part: tuple[int, int, Any]) -> str:
    first, last, _ = part
    return f"partition {first}" if first == last else f"one of the partitions {first} to {last}"
