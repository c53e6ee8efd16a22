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
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from ._arrow import csv, ipc, pa, pq
from ._interrupt import raise_if_noted

__all__ = [
    "CSV_BLOCK_BYTES",
    "ENDINGS",
    "SourceError",
    "TableFile",
    "changed",
    "naming",
    "open_table",
    "short_line",
]

CSV_BLOCK_BYTES = 1 << 21
"""Bytes of text parsed at a time. Types are inferred from the first block."""

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

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, at most `rows` at a time, holding at least `columns`.

        `types` are the types to read columns as; only CSV, which has none, obeys them.
        """
        ...


def open_table(path: pathlib.Path) -> TableFile:
    """The reader for the ending of `path`; SourceError where the file cannot be opened."""
    with naming(path):
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

    Arrow takes both on trust: a damaged file would be read from anywhere in memory.
    """
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise SourceError(f"{path}: column {name!r}: {short_line(str(error))}") from error
    return batch


class _Parquet:
    is_text = False

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
    ) -> Iterator[pa.RecordBatch]:
        rows = min(rows, max(self.n_rows or 0, 1))  # Arrow makes room for all of a batch
        with naming(self.path), self._open(len(columns)) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                yield _sound(batch, self.path)


class _Arrow:
    """Arrow IPC, the file format (also Feather version 2) or the stream format."""

    is_text = False

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
    ) -> Iterator[pa.RecordBatch]:
        with naming(self.path), self._mapped() as mapped:
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
    """Rows of an IPC file, from the metadata; None for a stream, or where pyarrow is old."""
    if not isinstance(reader, ipc.RecordBatchFileReader) or not hasattr(reader, "count_rows"):
        return None
    return int(reader.count_rows())


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
        _check_text(path)
        try:
            with _opened(path) as source, self._open(source, threads=False) as reader:
                self.schema = reader.schema
        except pa.ArrowInvalid as error:
            raise SourceError(f"{path}: {_explain_csv(str(error), ())}") from error

    def _open(
        self,
        source: pa.OSFile,
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

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Iterator[pa.RecordBatch]:
        try:
            with (
                naming(self.path, but=pa.ArrowInvalid),
                _opened(self.path) as source,
                self._open(source, columns, types) as reader,
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
        return f"{self.path}: {_explain_csv(str(error), self.schema.names)}"


_NOT_TEXT = {
    b"\x1f\x8b": "a gzip file; unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"(\xb5/\xfd": "a zstd file; unpack it first",
    b"\xfd7zXZ": "an xz file; unpack it first",
    b"\xff\xfe": "text in UTF-16; write it in UTF-8",
    b"\xfe\xff": "text in UTF-16; write it in UTF-8",
}


def _check_text(path: pathlib.Path) -> None:
    """Refuse what others also call .csv, of which Arrow would only say what it is not."""
    with open(path, "rb") as file:
        start = file.read(5)
    for magic, what in _NOT_TEXT.items():
        if start.startswith(magic):
            raise SourceError(f"{path}: expected CSV, got {what}")


_WRONG_VALUE = re.compile(
    r"In CSV column #(?P<column>\d+): (?:Row #(?P<row>\d+): )?"
    r"CSV conversion error to (?P<type>.*?): invalid value '(?P<value>.*)'",
    re.DOTALL,
)
_WRONG_WIDTH = re.compile(r"CSV parse error: (?:Row #(?P<row>\d+): )?(?P<what>.*)", re.DOTALL)


def _explain_csv(message: str, names: Sequence[str]) -> str:
    """Arrow's message with the column by name and the row counted as everywhere else.

    Arrow counts the header as row 1; here row 1 is the first row of data.
    """
    if found := _WRONG_VALUE.search(message):
        row = f", row {int(found['row']) - 1}" if found["row"] else ""
        kind = "a number" if found["type"] == "double" else found["type"]
        return (
            f"column {names[int(found['column'])]!r}{row}: expected {kind}, "
            f"got {_short(found['value'])}"
        )
    if "cannot infer number of columns" in message:
        return f"no line of column names ends in the first {CSV_BLOCK_BYTES} bytes"
    if "straddling object" in message:
        return (
            f"a row is longer than {CSV_BLOCK_BYTES} bytes, the most that are read at once; "
            "is a line end or a closing quote missing?"
        )
    if found := _WRONG_WIDTH.search(message):
        row = f"row {int(found['row']) - 1}: " if found["row"] else ""
        return row + short_line(found["what"])
    return short_line(message)


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:37] + "...")


def short_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."


@contextlib.contextmanager
def naming(path: pathlib.Path, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Put the file's name before what Arrow or the system says, `but` what the caller explains."""
    try:
        yield
    except but:
        raise
    except UnicodeError as error:
        raise SourceError(f"{path}: a name or a text is not UTF-8: {error}") from error
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
