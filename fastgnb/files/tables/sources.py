"""Batches of rows from files: what `fit` and `predict` see of Parquet, CSV, Arrow and .npy.

`open_source` looks at every file first (names, types, number of rows), so that a missing
column in the last of a hundred files is an error now and not tonight, and returns a
`RowSource`. Iterating over it reads the rows once, in order, in bounded memory. Columns
are matched by name: each file may have its own order, and its own other columns.

All files decide together, in any order alike, what a column holds. A file without rows says nothing
about it, nor does a column without values. Indexes and row numbers (`index_columns`) are features
only where they are named. What text of CSV stands for is told in `texts`.

Memory: files of ten columns are read in less than 256 MB beyond what Python and the libraries
take, however many rows they or a row group hold. Read whole are only a page of each Parquet
column (1 MB unless its writer was told otherwise), its dictionary, a compressed batch of Arrow
IPC, and two megabytes of CSV.

Rows are counted from 1, the first row of data, in every message and every format.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..._system.optional import pa
from ..errors import SourceError
from .batch import Batch, RowSource, check_unchanged, rows_in_batch, stamp_of
from .column_kinds import (
    category_kinds,
    check_numbers,
    csv_types,
    is_single,
    keep_schema,
    label_kinds,
)
from .columns import ColumnRoles, check_excluded, check_present, with_rows
from .default_features import planned
from .npy import NpyRows
from .paths import expand
from .readers import open_table
from .table_file import TableFile, prefix_path
from .values import as_int64, categories, fill, has_label, kept, labels, weights

__all__ = ["TableRows", "open_source"]


def open_source(
    data: Sequence[str | os.PathLike[str]],
    columns: ColumnRoles | None = None,
    *,
    target_npy: str | os.PathLike[str] | None = None,
    batch_rows: int | None = None,
) -> RowSource:
    """Plan the reading of `data`: files and folders of Parquet, CSV, Arrow IPC or .npy.

    Parameters
    ----------
    data : paths of regular files. A folder stands for the files in it and below, by name,
        links followed; names that begin with "." or "_" and endings that are not data are
        passed over.
    columns : the parts that columns play.
    target_npy : a 1-D .npy array of labels, for .npy data.
    batch_rows : most rows in a batch; by default what 8 MB of features hold.

    Raises
    ------
    SourceError
        File not found, not readable or of an unknown kind; a column that is missing, named
        twice in the file, or of a type that cannot play its part. While iterating: a value
        that cannot be converted, a null label, a bad weight, a file that has changed since.

    Cost: opens every file once for its metadata; for CSV reads the first block.
    """
    columns = columns or ColumnRoles()
    paths = expand(data)
    if all(path.suffix.lower() == ".npy" for path in paths):
        return NpyRows(paths, columns, target_npy, batch_rows)
    for path in paths:
        if path.suffix.lower() == ".npy":
            raise SourceError(f"{path}: .npy and tables cannot be read together")
    if target_npy is not None:
        raise SourceError(
            f"{paths[0]}: --target-npy goes with .npy data; name the target column of a table"
        )
    stamps = [stamp_of(path) for path in paths]
    return TableRows([open_table(path) for path in paths], columns, batch_rows, stamps)


class TableRows(RowSource):
    """Rows of files with named columns."""

    _is_categorical: np.ndarray | None = None

    def __init__(
        self,
        files: Sequence[TableFile],
        columns: ColumnRoles,
        batch_rows: int | None,
        stamps: Sequence[tuple[int, ...]],
    ) -> None:
        self.paths = [file.path for file in files]
        counts = [file.n_rows for file in files]
        self.n_rows = None if None in counts else sum(n for n in counts if n is not None)
        by_path = dict(zip(self.paths, stamps, strict=True))
        files = with_rows(files)
        check_excluded(files, columns.exclude)
        check_present(files, columns.named())
        plan = planned(files, columns)
        self.left_out, self.notes, self.warnings = plan.left_out, plan.notes, plan.warnings
        columns = plan.columns
        features = columns.features or ()
        check_present(files, columns.named())
        check_numbers(files, columns)
        self._files, self._parts = files, columns
        self._stamps = [by_path[file.path] for file in files]
        self.features, self.n_features = features, len(features)
        self._continuous = columns.continuous()
        single = bool(self._continuous) and is_single(files, self._continuous)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        if columns.categorical_names:
            marked = set(columns.categorical_names)
            self._is_categorical = np.array([name in marked for name in features])
        self._set_kinds(files, columns)
        rows = batch_rows or rows_in_batch(self.n_features, self.dtype)
        self._batch_rows = min(rows, sys.maxsize)

    def _set_kinds(self, files: Sequence[TableFile], columns: ColumnRoles) -> None:
        """What text of CSV stands for, and the types of what is kept."""
        target = label_kinds(files, columns)
        kinds = category_kinds(files, columns)
        self.target_kind, self.target_example = target.kind, target.example
        self._target_of_text, self._as_int64 = target.of_text, target.widths_differ
        self._categories_of_text = {name: kind.of_text for name, kind in kinds.items()}
        self.keep_schema = keep_schema(files, columns.keep)

    def __iter__(self) -> Iterator[Batch]:
        buffer = np.empty(0, self.dtype)
        self.n_dropped = 0
        for at, (file, stamp) in enumerate(zip(self._files, self._stamps, strict=True)):
            types = csv_types(file, self._parts)
            first_row = 0
            check_unchanged(file.path, stamp)
            if file.n_rows == 0:
                continue
            for table in prefetch(file.batches(self._parts.named(), types, self._batch_rows)):
                check_unchanged(file.path, stamp)
                size = table.num_rows * len(self._continuous)
                buffer = buffer if buffer.size >= size else np.empty(size, self.dtype)
                with prefix_path(file.path):
                    rows, numbers = self._with_label(at, table, first_row)
                    batch = self._batch(at, rows, first_row, numbers, buffer)
                if rows.num_rows:
                    yield batch
                first_row += table.num_rows
            check_unchanged(file.path, stamp)

    def _with_label(
        self, at: int, table: pa.RecordBatch, first_row: int
    ) -> tuple[pa.RecordBatch, np.ndarray | None]:
        """The rows that are not to be dropped, and their numbers in the file if some are."""
        if self._parts.target is None or not self._parts.drop_null_target:
            return table, None
        mask = has_label(table.column(self._parts.target), self._target_of_text.get(at))
        if mask.all():
            return table, None
        self.n_dropped += int(len(mask) - mask.sum())
        return table.filter(pa.array(mask)), first_row + np.flatnonzero(mask)

    def _batch(
        self,
        at: int,
        table: pa.RecordBatch,
        first_row: int,
        numbers: np.ndarray | None,
        buffer: np.ndarray,
    ) -> Batch:
        """The rows of file `at`, whose features go into `buffer`."""
        parts, n, d = self._parts, table.num_rows, len(self._continuous)
        path, rows = self._files[at].path, buffer[: n * d].reshape(d, n)
        batch = Batch(rows.T, None, None, None, path, first_row, self.features, row_numbers=numbers)
        for row, name in zip(rows, self._continuous, strict=True):
            fill(row, table.column(name), batch, name)
        fields: dict[str, Any] = {}
        if parts.target is not None:
            column, of_text = table.column(parts.target), self._target_of_text.get(at)
            y = labels(batch, parts.target, column, of_text)
            fields["y"] = as_int64(y) if self._as_int64 else y
        if parts.weight is not None:
            fields["weight"] = weights(batch, parts.weight, table.column(parts.weight))
        if parts.keep:
            fields["kept"] = kept(batch, table, self.keep_schema)
        if self._is_categorical is not None:
            names = [name for name in self.features or () if name in self._categories_of_text]
            fields["categorical"] = tuple(
                categories(batch, name, table.column(name), self._categories_of_text[name].get(at))
                for name in names
            )
            fields["is_categorical"] = self._is_categorical
        return dataclasses.replace(batch, **fields)


def prefetch(tables: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same tables, of which the next is read in another thread while one is used."""
    try:
        with ThreadPoolExecutor(1, "fastgnb-reader") as reader:
            coming = reader.submit(next, tables, None)
            while (table := coming.result()) is not None:
                coming = reader.submit(next, tables, None)
                yield table
    finally:
        if isinstance(tables, Generator):
            tables.close()
