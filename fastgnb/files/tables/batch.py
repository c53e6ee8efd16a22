"""What reading files gives: `RowSource`, and the `Batch` that it yields."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from ..._system.optional import pa
from ..._system.remote.paths import AnyPath, RemotePath
from ..._system.thread_limits import kernel_threads, thread_limit
from ...input.categorical import MixedRows
from ...input.category_codes import CategoricalColumn
from ...input.labels import Labels
from ..errors import SourceError
from .prefetching import closing_items, in_order, prefetch
from .table_file import changed, prefix_path

__all__ = [
    "ADVICE",
    "Batch",
    "Buffer",
    "Read",
    "RowSource",
    "Stamp",
    "check_unchanged",
    "stamp_of",
    "with_notes",
]

ADVICE = "--drop-null-target leaves such rows out"
"""What to do about a label that is null."""

Stamp = tuple[int | str, ...]
"""What tells whether a file is still the same."""

T = TypeVar("T")

_MOST_THREADS = 4
"""Most threads that read and work on batches of one file at once, each with memory of its own."""


class Buffer:
    """Memory for one batch after the other. It grows to what the largest takes."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint8)

    def array(self, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        """Numbers (size,) that hold anything."""
        n_bytes = size * dtype.itemsize
        if self._memory.size < n_bytes:
            self._memory = np.empty(n_bytes, np.uint8)
        return self._memory[:n_bytes].view(dtype)


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive rows of one file.

    Attributes
    ----------
    X : ndarray (n, d), float32 or float64, missing values as NaN, of the features that are not
        categorical. Valid until the next batch is asked for: the memory is used again.
    y : ndarray (n,) of int, bool, float or object (str), or None without a target.
    weight : ndarray (n,) float64, or None.
    kept : pyarrow.RecordBatch of the kept columns, or None.
    path : the file.
    first_row : number of rows of `path` before this batch.
    features : names of all features, those of `X` and others, or None where the file has none.
    coded : the labels of `y` as classes and codes, where reading has told them already, else None.
    row_numbers : ndarray (n,) int64, the number of each row in `path`, from 0, where rows were
        dropped; else None, and the rows are consecutive.
    categorical : the categorical features, as a `CategoricalColumn` each, in their order.
    is_categorical : which features those are, (d,) bool, or None where there are none.
    """

    X: np.ndarray
    y: np.ndarray | None
    weight: np.ndarray | None
    kept: pa.RecordBatch | None
    path: AnyPath
    first_row: int
    features: tuple[str, ...] | None
    categorical: tuple[CategoricalColumn, ...] = ()
    is_categorical: np.ndarray | None = None
    row_numbers: np.ndarray | None = None
    coded: Labels | None = None

    @property
    def rows(self) -> np.ndarray | MixedRows:
        """All features: X, or rows taken apart where some are categorical."""
        if self.is_categorical is None:
            return self.X
        return MixedRows(self.X, self.categorical, self.is_categorical)

    @property
    def categorical_names(self) -> list[str]:
        """Names of the categorical features."""
        mask = self.is_categorical
        if mask is None:
            return []
        pairs = zip(self.features or (), mask, strict=True)
        return [name for name, is_marked in pairs if is_marked]

    def row_number(self, row: int) -> int:
        """The number in the file, from 1, of `row` of the batch, from 0."""
        if self.row_numbers is None:
            return self.first_row + row + 1
        return int(self.row_numbers[row]) + 1

    def error(self, row: int, column: str, reason: str) -> SourceError:
        """The error at `row` of the batch (from 0), located in the file (from 1)."""
        return SourceError(f"{self.path}: {column}, row {self.row_number(row)}: {reason}")

    def select(self, mask: np.ndarray) -> Batch:
        """The batch of the rows (n,) that are marked, which know their numbers in the file."""
        numbers = self.row_numbers
        if numbers is None:
            numbers = np.arange(self.first_row, self.first_row + len(mask))
        return dataclasses.replace(
            self,
            X=self.X.T[:, mask].T,
            y=None if self.y is None else self.y[mask],
            weight=None if self.weight is None else self.weight[mask],
            kept=None if self.kept is None else self.kept.filter(pa.array(mask)),
            categorical=tuple(
                CategoricalColumn(each.labels, each.codes[mask]) for each in self.categorical
            ),
            row_numbers=numbers[mask],
            coded=None,  # some of the classes may be left without rows
        )

    def not_finite(
        self, row: int, j: int, value: float | None = None, advice: str = ""
    ) -> SourceError:
        """The error for a value of feature j, by default X[row, j], that the model cannot take."""
        value = self.X[row, j] if value is None else value
        reason = f"{value} is not a finite number"
        if np.isnan(value):
            reason = "missing value (null or NaN)"
        reason += f"; {advice}" if advice else ""
        name = f"{j} (from 0)" if self.features is None else repr(self.features[j])
        return self.error(row, f"column {name}", reason)


Read = Callable[[Buffer], Batch | None]
"""Reads a batch into a buffer, in any thread; None where none of its rows count."""


class RowSource:
    """Rows of one or more files; iterate over it for the batches, as often as you like.

    A source defines `reads` and `plan_of`, and calls `__init__`.

    Attributes
    ----------
    paths : list of pathlib.Path or RemotePath, the files in reading order.
    features : tuple of str, or None (.npy).
    n_features : int, of all kinds.
    dtype : numpy dtype of X, float32 only where every feature is float32 or float16.
    batch_rows : int, rows at multiples of which each file is cut into batches.
    n_rows : int, or None where only reading tells (CSV).
    left_out : tuple of str, columns that are no features by default, since they hold no numbers.
    notes : tuple of str, what else the plan decided, one line each.
    warnings : tuple of str, what it decided and may well be wrong, to tell in any case.
    n_dropped : int, rows without a label that the last iteration left out so far.
    n_filtered : int, rows that it left out as they do not meet the condition.
    target_kind : "number", "boolean", "text", or None without a target or a label.
    target_example : a label of CSV that makes it "text", or None.
    keep_schema : pyarrow.Schema of the kept columns.
    is_categorical : which features are categorical, (d,) bool, or None where none are.
    reads_ahead : bool, whether batches may be read before they are asked for.
    """

    paths: list[AnyPath]
    features: tuple[str, ...] | None
    n_features: int
    dtype: np.dtype[Any]
    batch_rows: int
    n_rows: int | None
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    n_dropped: int = 0
    n_filtered: int = 0
    target_kind: str | None = None
    target_example: str | None = None
    keep_schema: pa.Schema
    is_categorical: np.ndarray | None = None
    reads_ahead: bool = True

    def __init__(self) -> None:
        self._counting = threading.Lock()

    def __iter__(self) -> Iterator[Batch]:
        self.n_dropped = self.n_filtered = 0
        for at in range(len(self.paths)):
            yield from self.batches(at)

    def batches(self, at: int) -> Iterator[Batch]:
        """The rows of ``paths[at]`` alone, of which a thread reads the next while some are used."""
        with closing_items(self.reads(at)) as reads:
            if not (self.may_read_ahead and self.reads_late(at)):
                yield from _in_turn(reads, [Buffer()])
                return
            with closing_items(prefetch(_in_turn(reads, [Buffer(), Buffer()]))) as batches:
                yield from batches

    def map(self, work: Callable[[Batch], T]) -> Iterator[T]:
        """`map_file` of all files, from the beginning."""
        self.n_dropped = self.n_filtered = 0
        for at in range(len(self.paths)):
            yield from self.map_file(at, work)

    def map_file(self, at: int, work: Callable[[Batch], T]) -> Iterator[T]:
        """Yield ``work(batch)`` of each batch of ``paths[at]``, in order.

        Where reading can wait until then, several threads read batches and work on them, each on
        those that it has read: its core has them at hand. ``batch.X`` is valid until `work`
        returns. What reading or `work` raises is raised after the results before.
        """
        cores = max(1, thread_limit() or int(pa.cpu_count()))
        threads = min(cores, _MOST_THREADS)
        if threads == 1 or not (self.may_read_ahead and self.reads_late(at)):
            with closing_items(self.batches(at)) as batches:
                yield from map(work, batches)
            return
        with closing_items(self.reads(at)) as reads:
            yield from _at_once(reads, work, threads, cores - threads + 1)

    @property
    def may_read_ahead(self) -> bool:
        """Whether batches may be read before they are asked for, if there is more than one."""
        return self.reads_ahead and (self.n_rows is None or self.n_rows > self.batch_rows)

    def reads_late(self, at: int) -> bool:
        """Whether batches of ``paths[at]`` are read only when `reads` says so, in any thread."""
        return True

    def reads(self, at: int) -> Generator[Read, None, None]:
        """What reads the batches of ``paths[at]``, in order. Reading adds to the counts."""
        raise NotImplementedError

    def count(self, n_dropped: int = 0, n_filtered: int = 0) -> None:
        """Add to the counts, from any thread."""
        with self._counting:
            self.n_dropped += n_dropped
            self.n_filtered += n_filtered

    def plan_of(self, at: int) -> dict[str, Any]:
        """How ``paths[at]`` is read, as JSON holds it: files of the same plan give the same rows.

        It depends on the other files where all decide together what a column holds.
        """
        raise NotImplementedError


def _in_turn(reads: Iterable[Read], buffers: list[Buffer]) -> Iterator[Batch]:
    """The batches, in buffers that take turns."""
    for read in reads:
        batch = read(buffers[0])
        if batch is not None:
            yield batch
            buffers.append(buffers.pop(0))


def _at_once(
    reads: Iterable[Read], work: Callable[[Batch], T], threads: int, kernel: int
) -> Iterator[T]:
    """What several threads make of the batches that they read, each with a buffer.

    kernel : threads that the kernels of each of them may use.
    """
    free: deque[Buffer] = deque(Buffer() for _ in range(threads))
    context = contextvars.copy_context()

    def run(read: Read) -> tuple[T] | None:
        buffer = free.pop()  # that of the batch before, which may still be in the cache
        try:
            with kernel_threads(kernel):
                batch = read(buffer)
                return None if batch is None else (work(batch),)
        finally:
            free.append(buffer)

    def run_in_context(read: Read) -> tuple[T] | None:
        return context.copy().run(run, read)

    results = in_order(run_in_context, reads, threads, threads + 1, "fastgnb-reader")
    with contextlib.closing(results):
        for result in results:
            if result is not None:
                yield result[0]


def with_notes(source: RowSource, notes: Iterable[str]) -> RowSource:
    """The source, with more notes on what was decided before its columns were."""
    source.notes = (*notes, *source.notes)
    return source


def stamp_of(path: AnyPath) -> Stamp:
    """Size, time of change and inode of a file, which tell whether it is still the same.

    Of an object of a store its size and its entity tag.
    """
    with prefix_path(path):
        if isinstance(path, RemotePath):
            state = path.stat()
            return state.st_size, state.token
        found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def check_unchanged(path: AnyPath, stamp: Stamp, *, within: bool = False) -> None:
    """The file is the one that was planned with; a map of one that has shrunk would crash.

    `within` a file, after each batch, a remote one is not asked for: it is not mapped.
    """
    if within and isinstance(path, RemotePath):
        return
    if stamp_of(path) != stamp:
        raise changed(path)
