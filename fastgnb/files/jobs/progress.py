"""Batches with a report of how far the reading is: a bar, a call for each batch, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from ..._system.optional import require
from ..._system.signals import interruptible_iter
from ..tables.batch import Batch, RowSource

__all__ = ["Progress", "with_progress"]

Progress = bool | Callable[[int, int | None], object]
"""True for a bar; or what is called after each batch with the number of rows read so far, and that
of all rows, None where only reading tells."""


def with_progress(source: RowSource, progress: Progress = False) -> Iterator[Batch]:
    """The batches. A signal ends the iteration between two of them."""
    batches = interruptible_iter(source)
    if callable(progress):
        yield from _reported(batches, source.n_rows, progress)
    elif progress and sys.stderr is not None:
        yield from _with_bar(batches, source.n_rows)
    else:
        yield from batches


def _reported(
    batches: Iterator[Batch], total: int | None, report: Callable[[int, int | None], object]
) -> Iterator[Batch]:
    n_rows = 0
    for batch in batches:
        yield batch
        n_rows += len(batch.X)
        report(n_rows, total)


def _with_bar(batches: Iterator[Batch], total: int | None) -> Iterator[Batch]:
    """A bar on standard error: rows, rows/s, and the time left where known."""
    tqdm = require("tqdm").tqdm
    with tqdm(total=total, unit=" rows", unit_scale=True, file=sys.stderr) as bar:
        for batch in batches:
            yield batch
            bar.update(len(batch.X))
