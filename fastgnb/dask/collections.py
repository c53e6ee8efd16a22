"""Rows, labels and weights as Dask collections: checked, aligned, and cut in the same partitions.

Nothing here computes a partition. What only the rows can tell, such as the lengths of chunks of
unknown sizes, is checked in the task of each partition: see `partition`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._system import optional
from ..input.rows import check_feature_names, feature_names_of
from ..input.type_names import type_name
from .partition import Layout, run_on_block, run_on_frame

__all__ = ["Collections", "collected", "is_lazy"]


class Collections(NamedTuple):
    """Rows, labels and weights that are cut in the same partitions.

    parts : X, and y and weights where these are collections of their own. meta : rows of the types
    of X, without any of them. names : of the d features, or None. layout : how a task finds labels
    and weights.
    """

    parts: tuple[Any, ...]
    is_frame: bool
    meta: Any
    names: tuple[str, ...] | None
    layout: Layout

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return int(self.parts[0].npartitions)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.meta.shape[1])

    def tasks(self, work: Callable[..., Any], **shared: Any) -> list[Any]:
        """A task (Delayed) for each partition: work(X, y, weight, number, **shared)."""
        if self.is_frame:
            # What tasks return is no frame, and nothing but `to_delayed` looks at the collection.
            lazy = optional.dd.map_partitions(
                partial(run_on_frame, work=work, layout=self.layout), *self.parts, **shared,
                meta=self.meta, enforce_metadata=False, align_dataframes=False,
            )  # fmt: skip
            # Simplified, so that columns which nobody needs are not read, and no more: optimized,
            # Dask may read some small files as one partition, to other bits.
            return list(lazy.simplify().to_delayed(optimize_graph=False))
        lazy = self.blocks(work, "i", np.empty(0, object), **shared)
        return list(lazy.to_delayed().ravel())

    def blocks(
        self, work: Callable[..., Any], index: str, meta: Any, n_columns: int = 0, **shared: Any
    ) -> Any:
        """As `tasks`, for arrays: an array of what work returns, (i,) or (i, k)."""
        function = partial(run_on_block, work=work, layout=self.layout)
        name = f"{work_name(work)}-{_token(function, index, meta, n_columns, self.parts, shared)}"
        arguments: list[Any] = [self.parts[0], "ij"]
        for part in self.parts[1:]:
            arguments += [part, "i"]
        number = optional.require("dask.layers").ArrayBlockIdDep(self.parts[0].chunks[:1])
        return optional.da.blockwise(
            function, index, *arguments, number, "i", name=name, dtype=meta.dtype, meta=meta,
            new_axes={"k": n_columns} if "k" in index else None, align_arrays=False, **shared,
        )  # fmt: skip


def work_name(work: Any) -> str:
    """The name of a function, or of what a partial calls."""
    return str(getattr(work, "func", work).__name__)


def _token(*values: Any) -> str:
    return str(optional.require("dask.base").tokenize(*values))


def is_lazy(X: Any) -> bool:
    """Whether X is a Dask collection."""
    return hasattr(type(X), "__dask_graph__")


def collected(
    X: Any, y: Any = None, sample_weight: Any = None, *, has_labels: bool = True
) -> Collections:
    """Rows with their labels and weights, which are columns of X where they are given by name.

    Raises ValueError for collections that cannot be aligned, and TypeError for other objects.
    """
    if _is_frame(X):
        return _of_frame(X, y, sample_weight, has_labels=has_labels)
    if not isinstance(X, optional.da.Array):
        raise TypeError(
            f"Expected a dask array or dataframe, got {type_name(X)}. The estimators of fastgnb "
            "take rows in memory, and dask.array.from_array makes an array of partitions."
        )
    return _of_array(X, y, sample_weight, has_labels=has_labels)


def _is_frame(X: Any, kind: str = "DataFrame") -> bool:
    frames = sys.modules.get("dask.dataframe")  # who has a frame has imported it
    return frames is not None and isinstance(X, getattr(frames, kind))


# ---------------------------------------------------------------------------------------- arrays


def _of_array(X: Any, y: Any, sample_weight: Any, *, has_labels: bool) -> Collections:
    if not hasattr(X, "to_delayed"):
        raise TypeError(
            "Expected a dask array without query planning, which is an experiment of Dask's: unset "
            "'array.query-planning' in its configuration."
        )
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    if np.isnan(X.shape[1]) or X.shape[1] == 0:
        raise ValueError(
            f"Expected rows of 1 or more features, whose number is known, got shape {X.shape}."
        )
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    parts, layout = [X], Layout(None, int(X.shape[1]))
    if has_labels:
        parts.append(_aligned(X, y, "y"))
    if _is_scalar(sample_weight):
        layout = layout._replace(weight_value=sample_weight)
    elif sample_weight is not None:
        parts.append(_aligned(X, sample_weight, "sample_weight"))
        layout = layout._replace(has_weight=True)
    layout = layout._replace(has_labels=has_labels)
    meta = np.empty((0, X.shape[1]), X.dtype)
    return Collections(tuple(parts), False, meta, None, layout)


def _aligned(X: Any, values: Any, what: str) -> Any:
    """Labels or weights in the chunks of the rows. Raises ValueError where that cannot be."""
    if not isinstance(values, optional.da.Array):
        raise TypeError(
            f"Expected {what} as a dask array, as X is one, got {type_name(values)}. "
            f"dask.array.from_array({what}, chunks=X.chunks[0]) makes one of an array."
        )
    if values.ndim != 1:
        raise ValueError(f"{what} should be a 1d array, got an array of shape {values.shape}.")
    rows, own = X.chunks[0], values.chunks[0]
    if np.isnan([*rows, *own]).any():
        if len(rows) != len(own):
            raise ValueError(
                f"X of shape {X.shape} in {len(rows)} chunks of rows and {what} of shape "
                f"{values.shape} in {len(own)} chunks cannot be aligned, as sizes of chunks are "
                "unknown. Cut both in the same chunks, or call compute_chunk_sizes() on both."
            )
        return values
    if sum(rows) != sum(own):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has shape {X.shape}, "
            f"and {what} has shape {values.shape}."
        )
    return values if rows == own else values.rechunk((rows,))


# ---------------------------------------------------------------------------------------- frames


def _of_frame(X: Any, y: Any, sample_weight: Any, *, has_labels: bool) -> Collections:
    target = y if isinstance(y, str) else None
    weight = sample_weight if isinstance(sample_weight, str) else None
    columns = list(X.columns)
    for name, what in ((target, "labels"), (weight, "weights")):
        if name is not None and columns.count(name) != 1:
            raise ValueError(f"Expected a column {name!r} of {what}, the columns are {columns}.")
    features = [name for name in columns if name not in {target, weight} - {None}]
    if not features:
        raise ValueError(f"Found no features: the columns are {columns}.")
    meta = X._meta[features]
    names = feature_names_of(meta)
    if names is not None:
        check_feature_names(names)
    layout = Layout(tuple(features), len(features), target, weight, has_labels=has_labels)
    parts = [X]
    if has_labels and target is None:
        parts.append(_checked_series(X, y, "y"))
    if _is_scalar(sample_weight):
        layout = layout._replace(weight_value=sample_weight)
    elif sample_weight is not None and weight is None:
        parts.append(_checked_series(X, sample_weight, "sample_weight"))
        layout = layout._replace(has_weight=True)
    return Collections(tuple(parts), True, meta, names, layout)


def _checked_series(X: Any, values: Any, what: str) -> Any:
    """Labels or weights beside a frame. Raises ValueError unless their partitions are its own."""
    if not _is_frame(values, "Series"):
        raise TypeError(
            f"Expected {what} as a dask Series or the name of a column, as X is a dask DataFrame, "
            f"got {type_name(values)}. dask.dataframe.from_dask_array makes one of an array."
        )
    is_known = X.known_divisions and values.known_divisions
    if X.npartitions != values.npartitions or (is_known and X.divisions != values.divisions):
        raise ValueError(
            f"X of {_cut(X)} and {what} of {_cut(values)} cannot be aligned. Take both from one "
            "frame, or repartition both to the same divisions."
        )
    return values


def _cut(frame: Any) -> str:
    """How a frame is cut, in words."""
    columns = f"{len(frame.columns)} columns in " if frame.ndim == 2 else ""
    known = f"divisions {frame.divisions}" if frame.known_divisions else "unknown divisions"
    return f"{columns}{frame.npartitions} partitions with {known}"


def _is_scalar(weight: Any) -> bool:
    return weight is not None and not isinstance(weight, str) and np.isscalar(weight)
