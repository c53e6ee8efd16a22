"""Rows cut into partitions, and what one machine makes of them: the reference of the engines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastgnb import files, merge

from .rows import TARGET, Problem, batches

__all__ = ["OFFSET", "bounds", "local_stats"]

OFFSET = 1e6
"""Means of features in units of about a standard deviation, where squares cancel."""

_MOST = 500_000


def bounds(n_rows: int) -> list[tuple[int, int]]:
    """First row and number of rows of each partition; there are at least four."""
    size = min(_MOST, max(1, -(-n_rows // 4)))
    return [(first, min(size, n_rows - first)) for first in range(0, n_rows, size)]


def local_stats(problem: Problem, n_rows: int) -> Any:
    """Statistics of the partitions, merged by this process; features have no names."""
    parts = (
        files.fit_stats(batches(problem, first, n), target=TARGET) for first, n in bounds(n_rows)
    )
    return replace(merge(parts), feature_names=None)
