"""Batches of rows from files: what `fit` and `predict` see of Parquet, CSV, Arrow and .npy.

`open_rows` looks at every file first (names, types, number of rows), so that a missing
column in the last of a hundred files is an error now and not tonight, and returns a
`RowSource`. Iterating over it reads the rows once, in order, in bounded memory. Columns
are matched by name: each file may have its own order, and its own other columns.

Memory: files of ten columns are read in less than 256 MB beyond what Python and the libraries
take, however many rows they or a row group hold. Read whole are only a page of each Parquet
column (1 MB unless its writer was told otherwise), its dictionary, a compressed batch of Arrow
IPC, and two megabytes of CSV.

Rows are counted from 1, the first row of data, in every message and every format.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from . import _columns
from ._arrow import pa, pc
from ._categories import Column, MixedRows, plain_labels
from ._columns import Columns
from ._readers import ENDINGS, SourceError, TableFile, changed, naming, open_table, short_line

__all__ = [
    "Batch",
    "Columns",
    "RowSource",
    "SourceError",
    "expand",
    "open_rows",
    "rows_in_batch",
]

BATCH_BYTES = 1 << 23
"""Bytes of features in a batch, unless its number of rows is given."""


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
    categorical : the categorical features, as a `Column` each, in their order.
    is_categorical : which features those are, (d,) bool, or None where there are none.
    """

    X: np.ndarray
    y: np.ndarray | None
    weight: np.ndarray | None
    kept: pa.RecordBatch | None
    path: pathlib.Path
    first_row: int
    features: tuple[str, ...] | None
    categorical: tuple[Column, ...] = ()
    is_categorical: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray | MixedRows:
        """All features: X, or rows taken apart where some are categorical."""
        if self.is_categorical is None:
            return self.X
        return MixedRows(self.X, self.categorical, self.is_categorical)

    def error(self, row: int, column: str, reason: str) -> SourceError:
        """The error at `row` of the batch (from 0), located in the file (from 1)."""
        return SourceError(f"{self.path}: {column}, row {self.first_row + row + 1}: {reason}")

    def not_finite(self, row: int, j: int, value: float | None = None) -> SourceError:
        """The error for a value of feature j, by default X[row, j], that the model cannot take."""
        value = self.X[row, j] if value is None else value
        reason = f"{value} is not a finite number"
        if np.isnan(value):
            reason = "missing value (null or NaN); a model fitted with --missing skip takes these"
        name = f"{j} (from 0)" if self.features is None else repr(self.features[j])
        return self.error(row, f"column {name}", reason)


class RowSource:
    """Rows of one or more files; iterate over it for the batches, as often as you like.

    Attributes
    ----------
    paths : list of pathlib.Path, the files in reading order.
    features : tuple of str, or None (.npy).
    n_features : int, of all kinds.
    dtype : numpy dtype of X, float32 only where every feature is float32 or float16.
    n_rows : int, or None where only reading tells (CSV).
    left_out : tuple of str, columns of the first file that could not be features.
    target_kind : "number", "boolean", "text", or None without a target.
    keep_schema : pyarrow.Schema of the kept columns.
    """

    paths: list[pathlib.Path]
    features: tuple[str, ...] | None
    n_features: int
    dtype: np.dtype[Any]
    n_rows: int | None
    left_out: tuple[str, ...] = ()
    target_kind: str | None = None
    keep_schema: pa.Schema

    def __iter__(self) -> Iterator[Batch]:
        raise NotImplementedError


def open_rows(
    data: Sequence[str | os.PathLike[str]],
    columns: Columns | None = None,
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
    columns = columns or Columns()
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
    stamps = [_stamp(path) for path in paths]
    return TableRows([open_table(path) for path in paths], columns, batch_rows, stamps)


def expand(data: Iterable[str | os.PathLike[str]]) -> list[pathlib.Path]:
    """The files that `data` stands for, folders replaced by what is in them, sorted by name."""
    found: list[pathlib.Path] = []
    for path in map(pathlib.Path, data):
        inside = sorted(_inside(path)) if path.is_dir() else [path]
        if not inside:
            raise SourceError(f"{path}: no data file in this folder; {_expected()}")
        for file in inside:
            _check_file(file)
        found += inside
    return found


def _inside(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Data files in a folder and below. A part that cannot be read is an error, not left out."""

    def fail(error: OSError) -> None:
        raise SourceError(f"{error.filename}: {error.strerror}") from error

    seen = set()
    for here, folders, files in os.walk(folder, onerror=fail, followlinks=True):
        real = os.path.realpath(here)
        folders[:] = () if real in seen else sorted(f for f in folders if f[0] not in "._")
        if real not in seen:  # else a link has led here once more
            yield from (pathlib.Path(here, f) for f in files if f[0] not in "._" and _is_data(f))
        seen.add(real)


def _is_data(name: str) -> bool:
    return pathlib.Path(name).suffix.lower() in (*ENDINGS, ".npy")


def _check_file(path: pathlib.Path) -> None:
    if not path.exists():
        link = f"; it is a link to {os.readlink(path)}" if path.is_symlink() else ""
        raise SourceError(f"{path}: no such file or folder{link}")
    _check_no_pipe(path)
    if not _is_data(path.name):
        raise SourceError(f"{path}: unknown ending {path.suffix!r}; {_expected()}")


def _check_no_pipe(path: pathlib.Path) -> None:
    """To open a pipe would wait for one that writes, perhaps for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise SourceError(
            f"{path}: a pipe or a device, expected a file, which can be read more than once"
        )


def _expected() -> str:
    return "expected " + ", ".join((*ENDINGS, ".npy"))


class TableRows(RowSource):
    """Rows of files with named columns."""

    _is_categorical: np.ndarray | None = None

    def __init__(
        self,
        files: Sequence[TableFile],
        columns: Columns,
        batch_rows: int | None,
        stamps: Sequence[tuple[int, ...]],
    ) -> None:
        _columns.check_present(files[0], [*columns.named(), *columns.exclude])
        columns = _columns.find_categorical(files[0], columns)
        if columns.features is None:
            columns, self.left_out = _columns.default_features(files[0], columns)
        for file in files:
            _columns.check_columns(file, columns)
        features = columns.features or ()
        counts = [file.n_rows for file in files]
        self._files, self._parts, self._stamps = files, columns, stamps
        self.paths = [file.path for file in files]
        self.features, self.n_features = features, len(features)
        self._continuous = columns.continuous()
        single = bool(self._continuous) and _columns.is_single(files, self._continuous)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        if columns.marked:
            marked = set(columns.marked)
            self._is_categorical = np.array([name in marked for name in features])
        self._kinds = _columns.category_kinds(files, columns)
        self.n_rows = None if None in counts else sum(n for n in counts if n is not None)
        self.target_kind = _columns.target_kind(files, columns.target)
        texts = {name for name, kind in self._kinds.items() if kind == "text"}
        self.keep_schema = _columns.keep_schema(files, columns.keep, texts)
        rows = batch_rows or rows_in_batch(self.n_features, self.dtype)
        self._batch_rows = min(rows, sys.maxsize)

    def __iter__(self) -> Iterator[Batch]:
        buffer = np.empty(0, self.dtype)
        for file, stamp in zip(self._files, self._stamps, strict=True):
            types = _columns.csv_types(file, self._parts, self.keep_schema, self._kinds)
            first_row = 0
            _check_unchanged(file.path, stamp)
            for table in _ahead(file.batches(self._parts.named(), types, self._batch_rows)):
                _check_unchanged(file.path, stamp)
                size = table.num_rows * len(self._continuous)
                buffer = buffer if buffer.size >= size else np.empty(size, self.dtype)
                if table.num_rows:
                    with naming(file.path):
                        batch = self._batch(file, table, first_row, buffer)
                    yield batch
                first_row += table.num_rows
            _check_unchanged(file.path, stamp)

    def _batch(
        self, file: TableFile, table: pa.RecordBatch, first_row: int, buffer: np.ndarray
    ) -> Batch:
        parts, n, d = self._parts, table.num_rows, len(self._continuous)
        rows = buffer[: n * d].reshape(d, n)
        for row, name in zip(rows, self._continuous, strict=True):
            _fill(row, table.column(name))
        batch = Batch(rows.T, None, None, None, file.path, first_row, self.features)
        found: dict[str, Any] = {}
        if parts.target is not None:
            found["y"] = _labels(batch, parts.target, table.column(parts.target), file.is_text)
        if parts.weight is not None:
            found["weight"] = _weights(batch, parts.weight, table.column(parts.weight))
        if parts.keep:
            found["kept"] = self._kept(table)
        if self._is_categorical is not None:
            marked = set(parts.marked)
            names = [name for name in self.features or () if name in marked]
            found["categorical"] = tuple(
                _categories(batch, name, table.column(name), file.is_text) for name in names
            )
            found["is_categorical"] = self._is_categorical
        return dataclasses.replace(batch, **found)

    def _kept(self, table: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [pc.cast(table.column(f.name), f.type) for f in self.keep_schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self.keep_schema)


def _stamp(path: pathlib.Path) -> tuple[int, ...]:
    with naming(path):
        found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _check_unchanged(path: pathlib.Path, stamp: tuple[int, ...]) -> None:
    """The file is the one that was planned with; a map of one that has shrunk would crash."""
    if _stamp(path) != stamp:
        raise changed(path)


def _ahead(tables: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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


class NpyRows(RowSource):
    """Rows of .npy matrices, whose columns have no names, and labels of a 1-D .npy array."""

    def __init__(
        self,
        paths: list[pathlib.Path],
        columns: Columns,
        target_npy: str | os.PathLike[str] | None,
        batch_rows: int | None,
    ) -> None:
        if columns.categorical:
            raise SourceError(
                f"{paths[0]}: --categorical is about columns of tables; the columns of a .npy "
                "matrix have no names"
            )
        if columns != Columns():
            raise SourceError(
                f"{paths[0]}: a .npy matrix has no column names; give labels with --target-npy "
                "and no other column"
            )
        self._stamps = [_stamp(path) for path in paths]
        # Shapes and types, not the maps themselves: each of them holds a file open.
        shapes, dtypes = zip(*((m.shape, m.dtype) for m in map(_map_matrix, paths)), strict=True)
        self.paths = paths
        self.features, self.n_features = None, shapes[0][1]
        for path, (_, d) in zip(paths, shapes, strict=True):
            if d != self.n_features:
                expected = f"expected {self.n_features} as in {paths[0]}"
                raise SourceError(f"{path}: {d} columns, {expected}")
        single = all(dtype in (np.float16, np.float32) for dtype in dtypes)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.keep_schema = pa.schema([])
        self._lengths = [n for n, _ in shapes]
        self.n_rows = sum(self._lengths)
        self._target = None if target_npy is None else pathlib.Path(target_npy)
        if self._target is not None:
            _check_no_pipe(self._target)
            self._target_stamp = _stamp(self._target)
            self.target_kind = _check_targets(self._target, self.n_rows)
        self._batch_rows = batch_rows or rows_in_batch(self.n_features, self.dtype)

    def __iter__(self) -> Iterator[Batch]:
        before = 0  # rows of the files before this one
        for path, n, stamp in zip(self.paths, self._lengths, self._stamps, strict=True):
            for start in range(0, n, self._batch_rows):
                stop = min(n, start + self._batch_rows)
                _check_unchanged(path, stamp)
                yield self._batch(path, before, start, stop)
            _check_unchanged(path, stamp)
            before += n

    def _batch(self, path: pathlib.Path, before: int, start: int, stop: int) -> Batch:
        # A new map for every batch: pages already read no longer count as our memory.
        rows = _map_matrix(path)[start:stop]
        by_row = rows.flags.c_contiguous
        X = np.asarray(rows, self.dtype, order="C" if by_row else "F")  # not copied if it can be
        batch = Batch(X, None, None, None, path, start, None)
        if self._target is None:
            return batch
        _check_unchanged(self._target, self._target_stamp)
        y = np.array(_map(self._target)[before + start : before + stop])
        _check_unchanged(self._target, self._target_stamp)
        if y.dtype.kind == "f" and np.isnan(y).any():
            row = before + start + int(np.argmax(np.isnan(y))) + 1
            raise SourceError(f"{self._target}: row {row}: the label is NaN")
        return dataclasses.replace(batch, y=y.astype(object) if y.dtype.kind == "U" else y)


def _map(path: pathlib.Path) -> np.ndarray:
    """A .npy file as a read-only memory map; nothing in it is executed."""
    try:
        _check_header(path)
        with np.errstate(all="ignore"):  # the size of an absurd shape overflows
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # its header goes through Python's parser, which raises all sorts
        reason = short_line(str(error) or type(error).__name__)
        raise SourceError(f"{path}: not a .npy array that can be mapped: {reason}") from error
    if not isinstance(array, np.ndarray):
        raise SourceError(f"{path}: not a .npy array but an archive of several")
    return array


def _check_header(path: pathlib.Path) -> None:
    """NumPy makes room for a header of any length before it reads it, and takes 10,000 letters."""
    with open(path, "rb") as file:
        start = file.read(12)
    long = start.startswith(b"\x93NUMPY") and start[6:7] > b"\x01"  # a length of four bytes
    if long and (length := int.from_bytes(start[8:12], "little")) > 1 << 16:
        raise ValueError(f"its header is said to take {length} bytes")


def _map_matrix(path: pathlib.Path) -> np.ndarray:
    matrix = _map(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iubf" or matrix.shape[1] == 0:
        raise SourceError(
            f"{path}: expected a matrix (n, d) of numbers, got {matrix.dtype} {matrix.shape}"
        )
    return matrix


def _check_targets(path: pathlib.Path, n_rows: int) -> str:
    """The kind of the labels in `path`, of which there must be one for each row."""
    y = _map(path)
    kinds = {"i": "number", "u": "number", "f": "number", "b": "boolean", "U": "text"}
    if y.ndim != 1 or y.dtype.kind not in kinds:
        raise SourceError(
            f"{path}: expected labels (n,) of int, float, bool or str, got {y.dtype} {y.shape}"
        )
    if len(y) != n_rows:
        raise SourceError(f"{path}: {len(y)} labels, expected {n_rows}, one for each row")
    return kinds[y.dtype.kind]


def rows_in_batch(n_features: int, dtype: np.dtype[Any]) -> int:
    """Rows that BATCH_BYTES hold, within limits: few for wide rows, not millions for narrow."""
    return max(256, min(1 << 16, BATCH_BYTES // (max(n_features, 1) * dtype.itemsize)))


def _fill(row: np.ndarray, column: pa.Array) -> None:
    """Write a column into its row of the feature-major buffer; nulls become NaN."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        column = pc.cast(column, pa.float64(), safe=False)
    row[:] = column.to_numpy(zero_copy_only=False)


def _labels(batch: Batch, name: str, column: pa.Array, blank_is_null: bool) -> np.ndarray:
    """Labels as numpy has them; text as Python strings, of which equal ones are one object."""
    kind = _columns.plain(column.type)
    column = pc.cast(column, pa.string() if _columns.is_text(kind) else kind)
    if column.null_count:
        null = column.is_null().to_numpy(zero_copy_only=False)
        raise batch.error(int(np.argmax(null)), f"column {name!r}", "the label is null")
    if _columns.is_text(kind):
        return _texts(batch, name, column, blank_is_null)
    y: np.ndarray = column.to_numpy(zero_copy_only=False)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise batch.error(int(np.argmax(np.isnan(y))), f"column {name!r}", "the label is NaN")
    return y


def _texts(batch: Batch, name: str, column: pa.Array, blank_is_null: bool) -> np.ndarray:
    coded = column.dictionary_encode()
    values = np.array(coded.dictionary.to_pylist(), dtype=object)
    codes = coded.indices.to_numpy()
    blank = np.flatnonzero(values == "")
    if blank_is_null and blank.size:
        raise batch.error(
            int(np.argmax(codes == blank[0])), f"column {name!r}", "the label is empty"
        )
    texts: np.ndarray = values[codes]
    return texts


def _categories(batch: Batch, name: str, column: pa.Array, blank_is_null: bool) -> Column:
    """Categories by label, sorted; a missing one is -1, and so is an empty field of CSV."""
    kind = _columns.plain(column.type)
    if pa.types.is_null(kind):
        return Column(np.empty(0, object), np.full(len(column), -1, np.int32))
    is_text = _columns.is_text(kind)
    column = pc.cast(column, pa.string() if is_text else kind)
    if pa.types.is_floating(kind):
        column = _whole(batch, name, column)
    coded = column.dictionary_encode()
    found = coded.dictionary
    labels = (
        np.array(found.to_pylist(), object) if is_text else found.to_numpy(zero_copy_only=False)
    )
    order = np.argsort(labels, kind="stable")
    ranks = np.empty(len(labels) + 1, np.int32)  # the last one for what is missing
    ranks[order], ranks[-1] = np.arange(len(labels)), -1
    if blank_is_null and is_text:
        ranks[:-1][labels == ""] = -1
    codes = ranks[pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)]
    return Column(plain_labels(labels[order]), codes)


def _whole(batch: Batch, name: str, column: pa.Array) -> pa.Array:
    """Floats as whole numbers, where NaN is null."""
    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    with np.errstate(invalid="ignore"):
        odd = ~np.isnan(values) & ((values != np.floor(values)) | (np.abs(values) > 2.0**53))
    if odd.any():
        row = int(np.argmax(odd))
        reason = f"{values[row]} is no category; these are text, booleans or whole numbers"
        raise batch.error(row, f"column {name!r}", reason)
    return pa.array(values, mask=np.isnan(values)).cast(pa.int64())


def _weights(batch: Batch, name: str, column: pa.Array) -> np.ndarray:
    weight = np.empty(len(column))
    _fill(weight, column)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        reason = f"the weight is {weight[row]}, expected a finite number, 0 or more"
        raise batch.error(row, f"column {name!r}", reason)
    return weight
