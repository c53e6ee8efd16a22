"""Rows cut in partitions, and the statistics of these, made one batch after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from engines import engine_module
from members import Case, with_categories

from fastgnb import ClassStats, MixedStats, merge
from fastgnb.stats.tree import batch_rows

da = engine_module("dask.array")
dd = engine_module("dask.dataframe")
delayed = engine_module("dask").delayed

NAMES = list("abcdef")


def labelled_rows(n: int = 900, seed: int = 3) -> tuple[Any, Any, Any]:
    """Rows (n, 6) of 4 classes, one of them rare, with whole numbers in one column, and weights."""
    draw = np.random.default_rng(seed)
    y = draw.choice([3, 5, 7, 11], n, p=[0.5, 0.3, 0.19, 0.01])
    y[:4] = [3, 5, 7, 11]
    X = draw.normal(size=(n, 6)) * [1, 2, 3, 1, 1e-3, 50] + 1e3 + y[:, None] / 4
    return with_categories(X), y, draw.integers(1, 4, n).astype(float)


def sizes_of(n: int, n_partitions: int) -> tuple[int, ...]:
    """Sizes of partitions of n rows: uneven, and from three on every third one is empty."""
    draw = np.random.default_rng([n, n_partitions])
    empty = np.arange(n_partitions) % 3 == 1 if n_partitions > 2 else np.zeros(n_partitions, bool)
    weight = np.where(empty, 0.0, draw.uniform(0.2, 1, n_partitions))
    ends = np.round(n * np.cumsum(weight) / weight.sum()).astype(int)
    return tuple(np.diff(ends, prepend=0).tolist())


def parts_of(values: Any, sizes: tuple[int, ...]) -> list[Any]:
    """The partitions of an array or a frame, in memory."""
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def lazy_array(values: Any, sizes: tuple[int, ...], *, unknown: bool = False) -> Any:
    """A dask array of these chunks of rows; unknown: without their sizes."""
    chunks = (sizes, *((n,) for n in values.shape[1:]))
    lazy = da.from_array(values, chunks=chunks)
    if unknown:
        lazy._chunks = (tuple(float("nan") for _ in sizes), *lazy.chunks[1:])
    return lazy


def lazy_frame(frame: pd.DataFrame, sizes: tuple[int, ...]) -> Any:
    """A dask dataframe of these partitions, with unknown divisions."""
    parts = [delayed(part, traverse=False) for part in parts_of(frame, sizes)]
    return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


def frame_of(X: Any, y: Any = None, weight: Any = None) -> pd.DataFrame:
    """Rows as a frame whose index is no count, with labels and weights if they are given."""
    frame = pd.DataFrame(X, columns=NAMES[: X.shape[1]], index=np.arange(len(X)) * 3 + 100)
    more = {"label": y, "weight": weight}
    return frame.assign(**{name: v for name, v in more.items() if v is not None})


def expected(
    case: Case, X: Any, y: Any, weight: Any, sizes: tuple[int, ...], **options: Any
) -> Any:
    """The oracle: batches of partitions to statistics, merged in their order.

    A partition is cut every `batch_rows` rows; its statistics are `merge` of its batches, and the
    total is `merge` of the partitions. One without rows is None.
    """
    step = batch_rows(X.shape[1])
    totals = []
    for rows, labels, own in zip(*(parts_of(v, sizes) for v in (X, y, weight)), strict=True):
        batches = [
            statistics(case, *(v[at : at + step] for v in (rows, labels, own)), **options)
            for at in range(0, len(rows), step)
        ]
        totals.append(merge(batches) if batches else None)
    return merge(totals)


def statistics(case: Case, X: Any, y: Any, weight: Any, **options: Any) -> Any:
    """Statistics of a batch, of the kind that a member learns."""
    model = case.make()
    options["missing"] = getattr(model, "missing", "error")
    if model._member.takes_categories:
        options["categorical_features"] = model.categorical_features
        return MixedStats.from_rows(X, y, weight, **options)
    scatter = "full" if model._member.needs_full_scatter else "diag"
    return ClassStats.from_rows(X, y, weight, scatter=scatter, **options)
