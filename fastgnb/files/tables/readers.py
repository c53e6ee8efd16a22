"""Table files as record batches: Parquet, CSV and Arrow IPC, each in bounded memory.

One class a format, all with the same three things: `schema` (for CSV the types of the
first block), `n_rows` (None where only reading tells) and `batches`. No file stays open
between them, so that a plan over ten thousand files holds none.

pyarrow.dataset is not used: its Parquet scan decodes a whole row group before the first
batch (320 MB for two million rows of 20 columns, against 12 MB here), and its CSV scan
does not say in which file a value was wrong.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pathlib
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..._system.optional import csv, ipc, pa, pq
from ..._system.signals import raise_if_noted
from .csv_errors import NotCsvError, check_start, explained, short_line
from .texts import NULLS, kind_of

__all__ = [
    "CSV_BLOCK_BYTES",
    "ENDINGS",
    "SourceError",
    "TableFile",
    "changed",
    "open_table",
    "prefix_path",
    "short_line",
]

CSV_BLOCK_BYTES = 1 << 21
"""Bytes of text parsed at a time. Types are inferred from the first block."""

SAMPLE_ROWS = 1000
"""Rows read at a time where any value of a column will do."""

PARQUET_BUFFER_BYTES = 1 << 18
"""Most read-ahead of a column chunk.

A chunk itself is in memory only where its pages are smaller than 16 kB: Arrow, which looks so far
for a page's header, then keeps what it has passed until the row group ends.
"""

PARQUET_READ_BYTES = 1 << 25
"""Most read-ahead of all column chunks: thousands of columns have little each."""


class SourceError(ValueError):
    """Input that cannot be used; the message names file, column and row where known."""


class TableFile(Protocol):
    """A file of named columns."""

    path: pathlib.Path
    schema: pa.Schema
    n_rows: int | None
    is_text: bool  # the types in `schema` are a guess

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        """Some values of each column, those of CSV as text; [] where none is found.

        They are the distinct ones of the first block that is read, or with `beyond`, of the first
        block that holds a value of that column: it reads the whole file where there is none.
        """
        ...

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        """What the texts of CSV in the first block are: see `_texts.kind_of`.

        `along` are all the columns that will be asked for, which are read at once.
        """
        ...

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, at most `rows` at a time, holding at least `columns`.

        `types` are the types to read columns as; only CSV, which has none, obeys them.
        """
        ...


def open_table(path: pathlib.Path) -> TableFile:
    """The reader for the ending of `path`; SourceError where the file cannot be opened."""
    with prefix_path(path):
        file = _READERS[path.suffix.lower()](path)
        _ = file.schema.names  # now, while a name that is not text can be told of this file
        return file


def changed(path: pathlib.Path) -> SourceError:
    """The error for a file that is no longer the one that was planned with."""
    return SourceError(f"{path}: changed while it was in use, so its rows cannot be trusted")


def _opened(path: pathlib.Path) -> pa.OSFile:
    return pa.OSFile(os.fsencode(path))  # as bytes: a name need not be text


def _sound(batch: pa.RecordBatch, path: pathlib.Path) -> pa.RecordBatch:
    """`batch`, whose offsets stay inside its buffers and whose text is UTF-8.

    Arrow takes both on trust: a damaged file would be read from anywhere in memory. String views,
    which few functions of Arrow take, become strings.
    """
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise SourceError(f"{path}: column {name!r}: {short_line(str(error))}") from error
        columns.append(_without_views(column))
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _without_views(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        if not pa.types.is_string_view(column.type.value_type):
            return column
        return pa.DictionaryArray.from_arrays(column.indices, _without_views(column.dictionary))
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


class _Typed:
    """A file whose columns have types."""

    is_text = False
    n_rows: int | None

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {name: [] for name in columns}
        if self.n_rows == 0 or not columns:
            return found
        with contextlib.closing(self.batches(columns, {}, SAMPLE_ROWS)) as batches:
            return _gathered(batches, found, lambda column: column.drop_null().to_pylist(), beyond)

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        raise NotImplementedError("the types of this file are known")

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[pa.RecordBatch, None, None]:
        raise NotImplementedError


def _gathered(
    batches: Iterable[pa.RecordBatch],
    found: dict[str, list[Any]],
    values: Callable[[pa.Array], list[Any]],
    beyond: bool,
) -> dict[str, list[Any]]:
    for batch in batches:
        raise_if_noted()
        for name in found:
            found[name] = found[name] or values(batch.column(name))
        if not beyond or all(found.values()):
            break
    return found


class _Parquet(_Typed):
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        with self._open(1) as file:
            self.schema = file.schema_arrow
            self.n_rows: int | None = file.metadata.num_rows

    @contextlib.contextmanager
    def _open(self, width: int) -> Iterator[pq.ParquetFile]:
        """The file, to read so many columns of."""
        ahead = max(1 << 12, min(PARQUET_BUFFER_BYTES, PARQUET_READ_BYTES // width))
        with (
            _opened(self.path) as source,
            pq.ParquetFile(
                source, pre_buffer=False, buffer_size=ahead, page_checksum_verification=True
            ) as file,
        ):
            yield file

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[pa.RecordBatch, None, None]:
        rows = min(rows, max(self.n_rows or 0, 1))  # Arrow makes room for all of a batch
        with prefix_path(self.path), self._open(len(columns)) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                yield _sound(batch, self.path)


class _Arrow(_Typed):
    """Arrow IPC, the file format (also Feather version 2) or the stream format."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        with self._mapped() as mapped:
            reader = self._reader(mapped)
            self.schema = reader.schema
            self.n_rows: int | None = _count(reader)

    @contextlib.contextmanager
    def _mapped(self) -> Iterator[mmap.mmap | bytes]:
        # Not closed by hand: arrays may still point into the map, which goes with the last.
        with open(self.path, "rb") as file:
            empty = file.seek(0, 2) == 0  # a map cannot be empty
            yield b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _reader(self, mapped: mmap.mmap | bytes) -> ipc.RecordBatchReader:
        if mapped[:6] == b"ARROW1":
            return ipc.open_file(pa.py_buffer(mapped))
        return ipc.open_stream(pa.py_buffer(mapped))

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[pa.RecordBatch, None, None]:
        with prefix_path(self.path), self._mapped() as mapped:
            for batch in _each(self._reader(mapped)):
                chosen = batch.select(list(columns))
                for start in range(0, batch.num_rows, rows):
                    if isinstance(mapped, mmap.mmap) and mapped.size() < len(mapped):
                        raise changed(self.path)  # to touch what is gone ends the process
                    yield _sound(chosen.slice(start, rows), self.path)
                _forget(mapped)


def _each(reader: ipc.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The record batches of either kind of IPC reader."""
    if isinstance(reader, ipc.RecordBatchFileReader):
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)
    else:
        yield from reader


def _count(reader: ipc.RecordBatchReader) -> int | None:
    """Rows of an IPC file, from the metadata; None for a stream, or where pyarrow is old.

    A stream is known to have none after its batches, which a first row ends the search among.
    """
    if isinstance(reader, ipc.RecordBatchFileReader):
        return int(reader.count_rows()) if hasattr(reader, "count_rows") else None
    return None if any(batch.num_rows for batch in reader) else 0


def _forget(mapped: mmap.mmap | bytes) -> None:
    """Pages already read need not count as this process's memory; they can be read again."""
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


class _Csv:
    n_rows: int | None = None
    is_text = True

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.schema = pa.schema([])
        self._kinds: dict[str, str | None] = {}
        try:
            with open(path, "rb") as file:
                start = file.read(1 << 12)
            if not start.removeprefix(b"\xef\xbb\xbf").strip():
                self.n_rows = _rows_of_blank(path)
                return
            check_start(start)
            self._look(start)
        except NotCsvError as error:
            raise SourceError(f"{path}: {error}") from error
        except pa.ArrowInvalid as error:
            raise SourceError(f"{path}: {self._explained(error)}") from error

    def _look(self, start: bytes) -> None:
        """Read the first block for the names, the types so far, and whether there are rows."""
        only_names = len(start) < 1 << 12 and not start.endswith((b"\n", b"\r"))
        source: pa.NativeFile = _opened(self.path)
        if only_names and not start.strip(b"\r\n").count(b"\n") and b"\r" not in start.strip():
            source = pa.BufferReader(start + b"\n")
        with source, self._open(source, threads=False) as reader:
            self.schema = reader.schema
            if not all(pa.types.is_null(field.type) for field in self.schema):
                return  # a block with a value has rows; to ask for it would parse the next one
            first = next(iter(reader), None)
            if first is None or not first.num_rows:
                self.n_rows = 0

    def _open(
        self,
        source: pa.NativeFile,
        columns: Sequence[str] = (),
        types: Mapping[str, pa.DataType] | None = None,
        threads: bool = True,
    ) -> csv.CSVStreamingReader:
        return csv.open_csv(
            source,
            read_options=csv.ReadOptions(block_size=CSV_BLOCK_BYTES, use_threads=threads),
            # Without it a quoted line break at the edge of a block splits a row.
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(include_columns=columns, column_types=types),
        )

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {name: [] for name in columns}
        if self.n_rows == 0 or not columns:
            return found
        types = dict.fromkeys(columns, pa.string())
        with contextlib.closing(self.batches(columns, types, sys.maxsize, False)) as blocks:
            return _gathered(blocks, found, _texts, beyond)

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        if name not in self._kinds:
            texts = self.first_values(list(dict.fromkeys([name, *along])), beyond=False)
            self._kinds |= {each: kind_of(found) for each, found in texts.items()}
        return self._kinds[name]

    def batches(
        self,
        columns: Sequence[str],
        types: Mapping[str, pa.DataType],
        rows: int,
        threads: bool = True,
    ) -> Generator[pa.RecordBatch, None, None]:
        try:
            with (
                prefix_path(self.path, but=pa.ArrowInvalid),
                _opened(self.path) as source,
                self._open(source, columns, types, threads) as reader,
            ):
                for block in reader:
                    for start in range(0, block.num_rows, rows):
                        yield block.slice(start, rows)
        except pa.ArrowInvalid as error:
            raise SourceError(self._explain(columns, types, error)) from error

    def _explain(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], error: Exception
    ) -> str:
        """Say where `error` is. Only the serial reader counts rows, so it reads once more."""
        try:
            with _opened(self.path) as source:
                for _ in self._open(source, columns, types, threads=False):
                    raise_if_noted()
        except pa.ArrowInvalid as again:
            error = again
        return f"{self.path}: {self._explained(error)}"

    def _explained(self, error: Exception) -> str:
        return explained(str(error), self.schema.names, CSV_BLOCK_BYTES)


def _texts(column: pa.Array) -> list[str]:
    return [text for text in column.unique().to_pylist() if text.strip(" \t") not in NULLS]


def _rows_of_blank(path: pathlib.Path) -> int:
    """0 for a file of nothing but blank lines; NotCsvError for one that only begins so."""
    if path.stat().st_size > 1 << 12:
        raise NotCsvError(f"no line of column names in the first {1 << 12} bytes")
    return 0


@contextlib.contextmanager
def prefix_path(path: pathlib.Path, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Put the file's name before what Arrow or the system says, `but` what the caller explains."""
    try:
        yield
    except but:
        raise
    except UnicodeError as error:
        reason = f"a name or a text is not UTF-8: {error}; write the file in UTF-8"
        raise SourceError(f"{path}: {reason}") from error
    except (pa.ArrowException, OSError) as error:
        known = isinstance(error, OSError) and error.errno
        reason = os.strerror(known) if known else str(error)
        raise SourceError(f"{path}: {short_line(reason)}") from error


_READERS: dict[str, Callable[[pathlib.Path], TableFile]] = {
    ".parquet": _Parquet,
    ".csv": _Csv,
    ".arrow": _Arrow,
    ".feather": _Arrow,
    ".ipc": _Arrow,
}
ENDINGS = tuple(_READERS)
