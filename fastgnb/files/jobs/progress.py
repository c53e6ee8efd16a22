"""Batches with a report of how far the reading is: a bar, a call for each batch, or nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

from ..._system.optional import require
from ..._system.signals import interruptible_iter
from ..tables.batch import Batch, RowSource

__all__ = ["Progress", "map_with_progress", "reporting", "with_progress"]

T = TypeVar("T")

Progress = bool | Callable[[int, int | None], object]
"""True for a bar; or what is called after each batch with the number of rows read so far, and that
of all rows, None where only reading tells."""


def with_progress(source: RowSource, progress: Progress = False) -> Iterator[Batch]:
    """The batches. A signal ends the iteration between two of them."""
    with reporting(source.n_rows, progress) as report:
        for batch in interruptible_iter(source):
            yield batch
            report(len(batch.X))


def map_with_progress(
    source: RowSource, work: Callable[[Batch], T], progress: Progress = False
) -> Iterator[T]:
    """As `with_progress`, of what several threads make of the batches: see `RowSource.map`."""
    with reporting(source.n_rows, progress) as report:
        counted = source.map(lambda batch: (len(batch.X), work(batch)))
        for n_rows, result in interruptible_iter(counted):
            yield result
            report(n_rows)


@contextlib.contextmanager
def reporting(total: int | None, progress: Progress) -> Iterator[Callable[[int], object]]:
    """Yield what is told how many further rows were read, of `total` ones."""
    if callable(progress):
        yield _sums(total, progress)
    elif progress and sys.stderr is not None:
        # A bar on standard error: rows, rows/s, and the time left where known.
        tqdm = require("tqdm").tqdm
        with tqdm(total=total, unit=" rows", unit_scale=True, file=sys.stderr) as bar:
            yield bar.update
    else:
        yield lambda _: None


def _sums(
    total: int | None, report: Callable[[int, int | None], object]
) -> Callable[[int], object]:
    n_rows = 0

    def add(further: int) -> None:
        nonlocal n_rows
        n_rows += further
        report(n_rows, total)

    return add
