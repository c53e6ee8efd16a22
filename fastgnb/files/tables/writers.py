"""Tables written a batch at a time: Parquet, CSV, Arrow IPC and .npy, by ending.

A writer is made with the schema of the table, checks that the format can hold it before
a row is scored, and is a context manager; what it writes is whole only once it is closed.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any, Protocol, Self

import numpy as np

from ..._system.optional import csv, ipc, pa, pq
from ..._system.remote.upload import Upload
from ..errors import SourceError
from .formats import FileFormat

__all__ = ["Writer", "open_writer"]

ROW_GROUP = 1 << 17
"""Rows gathered before Parquet writes them: groups much smaller cost time and space."""

ROW_GROUP_BYTES = 1 << 26
"""Bytes gathered before Parquet writes them, however few rows they are."""


class Writer(Protocol):
    """A table under construction."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows, of the schema given at the start."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def open_writer(
    path: pathlib.Path | Upload, form: FileFormat, schema: pa.Schema, text_width: int = 0
) -> contextlib.AbstractContextManager[Writer]:
    """A writer of `schema` to `path`, in a format.

    `text_width` is the most characters of the prediction, which .npy has to know at the start.
    SourceError names a column whose type the format cannot hold.
    """
    if form.kind == "npy":
        return _Npy(path, schema, text_width)
    if form.kind == "parquet":
        return _Parquet(path, schema)
    return _open_plain(path, form, schema)


def _create(path: pathlib.Path | Upload) -> pa.NativeFile:
    if isinstance(path, Upload):
        return pa.PythonFile(path.open(), "w")
    return pa.OSFile(os.fsencode(path), "wb")  # as bytes: a name need not be text


@contextlib.contextmanager
def _open_plain(path: pathlib.Path | Upload, form: FileFormat, schema: pa.Schema) -> Iterator[Any]:
    """CSV and Arrow IPC, whose writers in pyarrow are what is needed, but for their names."""
    if form.kind == "csv":
        for field in schema:
            _check_csv(field)
    with contextlib.ExitStack() as stack:
        sink: pa.NativeFile = stack.enter_context(_create(path))
        if form.compression is not None:
            sink = stack.enter_context(pa.CompressedOutputStream(sink, form.compression))
        try:
            with _plain_writer(sink, form, schema) as writer:
                yield _Plain(writer, form.kind)
        except pa.ArrowException as error:
            raise SourceError(f"the output cannot be written as {form.kind}: {error}") from error


def _plain_writer(sink: pa.NativeFile, form: FileFormat, schema: pa.Schema) -> Any:
    if form.kind == "arrow":
        return ipc.new_file(sink, schema)
    options = csv.WriteOptions(delimiter=form.sep)
    return csv.CSVWriter(sink, schema, write_options=options)


class _Plain:
    """A writer of pyarrow's, whose errors name the column."""

    def __init__(self, writer: Any, kind: str) -> None:
        self._writer, self._kind = writer, kind

    def write(self, batch: pa.RecordBatch) -> None:
        try:
            self._writer.write(batch)
        except pa.ArrowException as error:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                _check_text(name, column, self._kind, error)
            raise


def _check_text(name: str, column: pa.Array, kind: str, error: Exception) -> None:
    """Raise SourceError where the bytes of a column are not text, which CSV has to be."""
    if not pa.types.is_binary(column.type) and not pa.types.is_large_binary(column.type):
        return
    for value in column.to_pylist():
        try:
            _ = b"" if value is None else value.decode("utf-8")
        except UnicodeDecodeError:
            raise SourceError(
                f"column {name!r} is {column.type} and holds {_short(value)}, which is not UTF-8: "
                f"the output cannot be written as {kind}; write Parquet or leave it out of the "
                "kept columns"
            ) from error


def _short(value: bytes) -> str:
    return repr(value if len(value) <= 20 else value[:17] + b"...")


def _check_csv(field: pa.Field) -> None:
    try:
        with csv.CSVWriter(io.BytesIO(), pa.schema([field])) as writer:
            writer.write(pa.record_batch([pa.nulls(1, field.type)], schema=pa.schema([field])))
    except pa.ArrowException as error:
        raise SourceError(
            f"column {field.name!r} is {field.type}, which CSV cannot hold; "
            "write Parquet or leave it out of the kept columns"
        ) from error


class _Parquet:
    """Parquet in row groups of a useful size, however small the batches are."""

    def __init__(self, path: pathlib.Path | Upload, schema: pa.Schema) -> None:
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        # Probabilities hardly repeat, so a dictionary of them only costs.
        repeating = [field.name for field in schema if not pa.types.is_floating(field.type)]
        self._sink = _create(path)
        try:
            self._writer = pq.ParquetWriter(
                self._sink, schema, use_dictionary=repeating, write_page_checksum=True
            )
        except pa.ArrowException as error:
            raise SourceError(f"Parquet cannot hold a kept column: {error}") from error

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= ROW_GROUP or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._rows, self._bytes = [], 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._sink, self._writer:
            if kind is None:
                self._flush()


class _Npy:
    """A .npy array, 1-D: of the only column, or of one structure a row.

    Its header comes first and holds the number of rows, which is known last: it is written
    for no rows, with the room that NumPy leaves in it, and again when closing. A remote file,
    which is written from front to back, is first one in the folder of temporary files.
    """

    def __init__(self, path: pathlib.Path | Upload, schema: pa.Schema, text_width: int) -> None:
        types = [(field.name, _npy_type(field, text_width)) for field in schema]
        self._names = schema.names
        self._dtype = np.dtype(types) if len(types) > 1 else types[0][1]
        self._rows = 0
        self._header = _npy_header(self._dtype)
        self._upload = path if isinstance(path, Upload) else None
        self._file: IO[bytes] = (
            open(path, "wb") if isinstance(path, pathlib.Path) else tempfile.TemporaryFile()  # noqa: SIM115
        )
        self._file.write(self._header)

    def write(self, batch: pa.RecordBatch) -> None:
        columns = [self._values(batch, name) for name in self._names]
        if self._dtype.names:
            rows = np.empty(batch.num_rows, self._dtype)
            for name, column in zip(self._names, columns, strict=True):
                rows[name] = column
        else:
            rows = np.ascontiguousarray(columns[0], self._dtype)
        self._file.write(rows.view(np.uint8).data if rows.size else b"")
        self._rows += len(rows)

    def _values(self, batch: pa.RecordBatch, name: str) -> np.ndarray:
        column = batch.column(name)
        if column.null_count and not pa.types.is_floating(column.type):
            raise SourceError(
                f"column {name!r}, row {self._null_row(column)} of the output: null, which "
                f".npy cannot hold as {column.type}; write Parquet"
            )
        values: np.ndarray = column.to_numpy(zero_copy_only=False)
        return values

    def _null_row(self, column: pa.Array) -> int:
        null = column.is_null().to_numpy(zero_copy_only=False)
        return self._rows + int(np.argmax(null)) + 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._file:
            self._file.seek(0)
            self._file.write(_with_rows(self._header, self._rows))
            if self._upload is not None and kind is None:
                self._file.seek(0)
                with self._upload.open() as sink:
                    shutil.copyfileobj(self._file, sink, 1 << 20)


def _npy_type(field: pa.Field, text_width: int) -> np.dtype[Any]:
    kind = field.type
    if field.name == "prediction" and pa.types.is_string(kind):
        return np.dtype(f"<U{max(text_width, 1)}")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        dtype: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return dtype
    raise SourceError(
        f"column {field.name!r} is {kind}; .npy holds numbers and booleans here: "
        "write Parquet or leave it out of the kept columns"
    )


def _npy_header(dtype: np.dtype[Any]) -> bytes:
    """The start of a .npy file of no rows. Version 3 holds names in any script."""
    start = io.BytesIO()
    version = (3, 0) if dtype.names else (1, 0)
    np.lib.format.write_array(start, np.empty(0, dtype), version=version, allow_pickle=False)
    return start.getvalue()


def _with_rows(header: bytes, rows: int) -> bytes:
    """`header` for so many rows, of the same length: NumPy pads it with spaces to grow into."""
    before, shape, after = header.rpartition(b"'shape': (0,)")
    grown = before + shape.replace(b"0", b"%d" % rows) + after
    spaces = len(grown) - len(header)
    assert grown[-1 - spaces : -1].strip(b" ") == b""
    return grown[: len(grown) - 1 - spaces] + grown[-1:]
