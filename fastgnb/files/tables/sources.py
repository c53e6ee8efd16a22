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
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._system.optional import pa
from ..._system.remote.paths import RemotePath
from ...stats import tree
from ..errors import SourceError
from .arrow_file import ArrowFile
from .batch import Batch, Buffer, Read, RowSource, Stamp, check_unchanged, stamp_of, with_notes
from .column_kinds import (
    category_kinds,
    check_numbers,
    csv_types,
    is_single,
    keep_schema,
    label_kinds,
)
from .columns import ColumnRoles, check_excluded, check_present, with_rows
from .cutting import Pieces
from .default_features import planned
from .file_options import FileOptions
from .filtered_file import COUNTS, FilteredFile, described
from .formats import is_npy
from .npy import NpyRows
from .paths import list_files
from .prefetching import closing_items, prefetch
from .table_file import TableFile, prefix_path
from .values import as_int64, categories, fill, has_label, kept, labels, weights
from .where_files import open_files

__all__ = ["TableRows", "open_source"]


def open_source(
    data: Sequence[str | os.PathLike[str]],
    columns: ColumnRoles | None = None,
    *,
    target_npy: str | os.PathLike[str] | None = None,
    batch_rows: int | None = None,
    options: FileOptions | None = None,
) -> RowSource:
    """Plan the reading of `data`: files and folders of Parquet, CSV, Arrow IPC or .npy.

    Parameters
    ----------
    data : paths of regular files, local or with a scheme such as s3://. A folder stands for the
        files in it and below, by name, links followed; names that begin with "." or "_" and endings
        that are not data are passed over.
    columns : the parts that columns play.
    target_npy : a 1-D .npy array of labels, for .npy data.
    batch_rows : rows of a batch; by default what 8 MB of features hold. The rows of each file are
        cut after so many, whatever its format and its own blocks: see `stats.tree`.
    options : how the files are read.

    Raises
    ------
    SourceError
        File not found, not readable or of an unknown kind; a column that is missing, named
        twice in the file, or of a type that cannot play its part. While iterating: a value
        that cannot be converted, a null label, a bad weight, a file that has changed since.

    Cost: opens every file once for its metadata; for CSV reads the first block.
    """
    columns, options = columns or ColumnRoles(), options or FileOptions()
    listing = list_files(data, options.format)
    paths = listing.files
    are_npy = [is_npy(path, options.format) for path in paths]
    if all(are_npy) and options.where is not None:
        raise SourceError(f"{paths[0]}: --where is about columns, and those of .npy have no names")
    if all(are_npy):
        return with_notes(NpyRows(paths, columns, target_npy, batch_rows), listing.notes())
    if any(are_npy):
        path = paths[are_npy.index(True)]
        raise SourceError(f"{path}: .npy and tables cannot be read together")
    if target_npy is not None:
        raise SourceError(
            f"{paths[0]}: --target-npy goes with .npy data; name the target column of a table"
        )
    stamps = {path: stamp_of(path) for path in paths}
    files, notes = open_files(paths, columns, options)
    source = TableRows(files, columns, batch_rows, [stamps[file.path] for file in files])
    return with_notes(source, [*listing.notes(), *notes])


class TableRows(RowSource):
    """Rows of files with named columns."""

    def __init__(
        self,
        files: Sequence[TableFile],
        columns: ColumnRoles,
        batch_rows: int | None,
        stamps: Sequence[Stamp | None],
    ) -> None:
        super().__init__()
        self.paths = [file.path for file in files]
        counts = [file.n_rows for file in files]
        self.n_rows = None if None in counts else sum(n for n in counts if n is not None)
        by_path = dict(zip(self.paths, stamps, strict=True))
        every, files = files, with_rows(files)
        at = {id(file): i for i, file in enumerate(files)}
        self._places = [at.get(id(file)) for file in every]
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
            self.is_categorical = np.array([name in marked for name in features])
        self._set_kinds(files, columns)
        rows = batch_rows or tree.batch_rows(self.n_features)
        self.batch_rows = min(rows, sys.maxsize)

    def _set_kinds(self, files: Sequence[TableFile], columns: ColumnRoles) -> None:
        """What text of CSV stands for, and the types of what is kept."""
        target = label_kinds(files, columns)
        kinds = category_kinds(files, columns)
        self.target_kind, self.target_example = target.kind, target.example
        self._target_of_text, self._as_int64 = target.of_text, target.widths_differ
        self._categories_of_text = {name: kind.of_text for name, kind in kinds.items()}
        self.keep_schema = keep_schema(files, columns.keep)

    def reads_late(self, at: int) -> bool:
        """Columns of a local Arrow file are read as they are converted; others are parsed first."""
        place = self._places[at]
        file = None if place is None else self._files[place]
        return isinstance(file, ArrowFile) and not isinstance(file.path, RemotePath)

    def reads(self, at: int) -> Generator[Read, None, None]:
        place = self._places[at]
        if place is None:
            return
        file, first_row = self._files[place], 0
        self._check_unchanged(place)
        if file.n_rows == 0:
            return
        tables = file.batches(self._parts.named(), csv_types(file, self._parts), self.batch_rows)
        reads_ahead = self.may_read_ahead and not self.reads_late(at)
        with closing_items(prefetch(tables) if reads_ahead else tables) as tables:
            for table in tables:
                yield partial(self._read, place, table, first_row)
                first_row += table.num_rows
        self._check_unchanged(place)

    def _read(self, place: int, table: Pieces, first_row: int, buffer: Buffer) -> Batch | None:
        """The rows of a table that count, as arrays in a buffer."""
        self._check_unchanged(place, within=True)
        with prefix_path(self._files[place].path):
            rows, numbers = self._with_label(place, table, first_row)
            batch = self._batch(place, rows, first_row, numbers, buffer)
        if table.is_read_late:
            self._check_unchanged(place, within=True)
        return batch if rows.num_rows else None

    def plan_of(self, at: int) -> dict[str, Any]:
        place = self._places[at]
        kinds: dict[str, str | None] = {}
        if place is not None:
            kinds = {name: of.get(place) for name, of in self._categories_of_text.items()}
        return {
            "columns": dataclasses.asdict(self._parts),
            "rows": {} if place is None else described(self._files[place]),
            "dtype": self.dtype.str,
            "batch_rows": self.batch_rows,
            "labels": None if place is None else self._target_of_text.get(place),
            "labels_as_int64": self._as_int64,
            "categories": kinds,
            "kept": [[field.name, str(field.type)] for field in self.keep_schema],
        }

    def _check_unchanged(self, at: int, *, within: bool = False) -> None:
        stamp = self._stamps[at]
        if stamp is not None:
            check_unchanged(self._files[at].path, stamp, within=within)

    def _with_label(
        self, at: int, table: Pieces, first_row: int
    ) -> tuple[Pieces, np.ndarray | None]:
        """The rows that are not to be left out, and their numbers in the file if some are."""
        rows, numbers = table, None
        if isinstance(self._files[at], FilteredFile):
            counts = table.column(COUNTS).to_numpy(zero_copy_only=False)
            rows, numbers = _selected(table, numbers, counts, first_row)
            self.count(n_filtered=table.num_rows - rows.num_rows)
        if self._parts.target is None or not self._parts.drop_null_target:
            return rows, numbers
        mask = has_label(rows.column(self._parts.target), self._target_of_text.get(at))
        labelled, numbers = _selected(rows, numbers, mask, first_row)
        self.count(n_dropped=rows.num_rows - labelled.num_rows)
        return labelled, numbers

    def _batch(
        self,
        at: int,
        table: Pieces,
        first_row: int,
        numbers: np.ndarray | None,
        buffer: Buffer,
    ) -> Batch:
        """The rows of file `at`, whose features go into `buffer`."""
        parts, n, d = self._parts, table.num_rows, len(self._continuous)
        path, dialect = self._files[at].path, self._files[at].dialect
        rows = buffer.array(n * d, self.dtype).reshape(d, n)
        batch = Batch(rows.T, None, None, None, path, first_row, self.features, row_numbers=numbers)
        left = set(table.read_into(rows, self._continuous))
        for row, name in zip(rows, self._continuous, strict=True):
            if name in left:
                fill(row, table.chunks(name), batch, name, dialect)
        fields: dict[str, Any] = {}
        if parts.target is not None:
            column, of_text = table.column(parts.target), self._target_of_text.get(at)
            y, coded = labels(batch, parts.target, column, of_text)
            fields |= {"y": as_int64(y) if self._as_int64 else y, "coded": coded}
        if parts.weight is not None:
            fields["weight"] = weights(batch, parts.weight, table.column(parts.weight), dialect)
        if parts.keep:
            fields["kept"] = kept(batch, table, self.keep_schema)
        if self.is_categorical is not None:
            names = [name for name in self.features or () if name in self._categories_of_text]
            fields["categorical"] = tuple(
                categories(batch, name, table.column(name), self._categories_of_text[name].get(at))
                for name in names
            )
            fields["is_categorical"] = self.is_categorical
        return dataclasses.replace(batch, **fields)


def _selected(
    rows: Pieces, numbers: np.ndarray | None, mask: np.ndarray, first_row: int
) -> tuple[Pieces, np.ndarray | None]:
    """The rows (n,) of a mask, and their numbers in the file unless these are consecutive."""
    if mask.all():
        return rows, numbers
    at = np.flatnonzero(mask)
    chosen = rows.filter(pa.array(mask)) if at.size else rows.none()
    return chosen, first_row + at if numbers is None else numbers[at]
