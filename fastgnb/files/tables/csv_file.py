"""CSV files as record batches."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..._system.optional import csv, pa
from ..._system.remote.paths import AnyPath
from ..._system.signals import raise_if_noted
from ..errors import SourceError
from .csv_dialect import CsvDialect, separator
from .csv_errors import NotCsvError, check_start, explained
from .csv_numbers import as_numbers, number_names, read_types
from .csv_parser import CsvParser, parser_threads
from .csv_pieces import cut_text
from .csv_stream import (
    convert_options,
    parse_options,
    prefix_text_errors,
    read_ahead,
    runs_python,
    start_of,
    text_stream,
    without_words,
)
from .cutting import Pieces, cut
from .formats import FileFormat
from .prefetching import in_order
from .table_file import gather_values
from .texts import NULLS, kind_of

__all__ = ["CSV_BLOCK_BYTES", "CsvFile"]

CSV_BLOCK_BYTES = 1 << 21
"""Bytes of text parsed at a time. Types are inferred from the first block."""

_START = 1 << 12
"""Bytes looked at before they are parsed."""

_PLAIN = FileFormat("csv")


class CsvFile:
    """CSV, compressed or not, in any dialect."""

    n_rows: int | None = None
    is_text = True

    def __init__(
        self,
        path: AnyPath,
        format_: FileFormat = _PLAIN,
        dialect: CsvDialect | None = None,
    ) -> None:
        self.path, self.dialect = path, dialect or CsvDialect()
        self._compression = format_.compression
        self._sep = separator(self.dialect, format_.sep)
        self.schema = pa.schema([])
        self._kinds: dict[str, str | None] = {}
        try:
            with self._text() as stream:
                start = start_of(stream, _START)
            if not start.removeprefix(b"\xef\xbb\xbf").strip():
                self.n_rows = _rows_of_blank(start)
                return
            check_start(start, self._sep, self.dialect.quote)
            self._look(start)
        except NotCsvError as error:
            raise SourceError(f"{path}: {error}") from error
        except pa.ArrowInvalid as error:
            raise SourceError(f"{path}: {self._explained(error)}") from error

    @contextlib.contextmanager
    def _text(self) -> Iterator[pa.NativeFile]:
        with prefix_text_errors(self.path, self._compression, self.dialect):
            yield text_stream(self.path, self._compression, self.dialect)

    def _look(self, start: bytes) -> None:
        """Read the first block for the names, the types so far, and whether there are rows."""
        only_names = len(start) < _START and not start.endswith((b"\n", b"\r"))
        is_line = (
            only_names and not start.strip(b"\r\n").count(b"\n") and b"\r" not in start.strip()
        )
        with self._text() as text:
            source = pa.BufferReader(start + b"\n") if is_line else text
            with self._open(source, threads=False) as reader:
                self.schema = reader.schema
                if self.dialect.thousands is not None:
                    self._find_numbers(next(iter(reader), None))
                    return
                if not all(pa.types.is_null(field.type) for field in self.schema):
                    return  # a block with a value has rows; to ask for it would parse the next one
                first = next(iter(reader), None)
                if first is None or not first.num_rows:
                    self.n_rows = 0

    def _find_numbers(self, first: pa.RecordBatch | None) -> None:
        """Columns of text that are numbers with separators of thousands are numbers."""
        if first is None or not first.num_rows:
            self.n_rows = 0
            return
        numbers = number_names(first, self.dialect)
        self.schema = pa.schema(
            [field.with_type(pa.float64()) if field.name in numbers else field
             for field in self.schema]
        )  # fmt: skip

    @contextlib.contextmanager
    def _open(
        self,
        source: pa.NativeFile,
        columns: Sequence[str] = (),
        types: Mapping[str, pa.DataType] | None = None,
        threads: bool = True,
        *,
        head: bytes = b"",
        names: Sequence[str] | None = None,
    ) -> Iterator[csv.CSVStreamingReader]:
        """Arrow's reader of `head` and `source`; `names` if the text does not begin with them."""
        in_python = bool(head) or runs_python(self.path, self.dialect)
        with (
            read_ahead(source, head) if in_python else contextlib.nullcontext(source) as text,
            csv.open_csv(
                text,
                read_options=csv.ReadOptions(
                    block_size=CSV_BLOCK_BYTES, use_threads=threads, column_names=names
                ),
                parse_options=parse_options(self.dialect, self._sep),
                convert_options=convert_options(self.dialect, columns, types),
            ) as reader,
        ):
            yield reader

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        result: dict[str, list[Any]] = {name: [] for name in columns}
        if self.n_rows == 0 or not columns:
            return result
        types = dict.fromkeys(columns, pa.string())
        with contextlib.closing(self._blocks(columns, types, threads=False)) as blocks:
            return gather_values(blocks, result, _texts, beyond)

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        if name not in self._kinds:
            texts = self.first_values(list(dict.fromkeys([name, *along])), beyond=False)
            self._kinds |= {each: kind_of(result) for each, result in texts.items()}
        return self._kinds[name]

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[Pieces, None, None]:
        with contextlib.closing(self._blocks(columns, types)) as blocks:
            yield from cut(blocks, rows)

    def _blocks(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], threads: bool = True
    ) -> Generator[pa.RecordBatch, None, None]:
        as_text = read_types(types, self.dialect)
        n_threads = parser_threads() if threads and set(columns) <= as_text.keys() else 1
        first_row = 0
        try:
            with self._text() as source:
                reader: contextlib.AbstractContextManager[Iterable[pa.RecordBatch]] = (
                    contextlib.closing(self._parsed(source, columns, as_text, n_threads))
                    if n_threads > 1
                    else self._open(source, columns, as_text, threads)
                )
                with reader as texts:
                    for text in texts:
                        block = as_numbers(self._mended(text), types, self, first_row)
                        first_row += block.num_rows
                        yield block
        except pa.ArrowInvalid as error:
            raise SourceError(self._explain(columns, as_text, error)) from error

    def _parsed(
        self,
        source: pa.NativeFile,
        columns: Sequence[str],
        types: Mapping[str, pa.DataType],
        threads: int,
    ) -> Generator[pa.RecordBatch, None, None]:
        """The rows by several threads, up to where the text cannot be cut between rows."""
        quote = None if self.dialect.quote is None else self.dialect.quote.encode()
        cut_rows = cut_text(source.read, CSV_BLOCK_BYTES, self._sep.encode(), quote)
        left: list[bytes] = []
        n_cut = 0

        def pieces() -> Iterator[tuple[bytes, bool]]:
            nonlocal n_cut
            for text, is_cut in cut_rows:
                if not is_cut:
                    left.append(text)
                    return
                yield text, n_cut == 0
                n_cut += 1

        parser = CsvParser(self.schema.names, columns, types, self.dialect, self._sep)
        parsed = in_order(parser.parse, pieces(), threads, threads + 1, "fastgnb-parser")
        with contextlib.closing(parsed) as results:
            for batches in results:
                yield from batches
        if left:
            names = self.schema.names if n_cut else None
            with self._open(source, columns, types, head=left[0], names=names) as reader:
                yield from reader

    def _mended(self, block: pa.RecordBatch) -> pa.RecordBatch:
        """A block whose words for missing values are empty fields, where these are given."""
        if not self.dialect.na_values:
            return block
        columns = [without_words(column, self.dialect) for column in block.columns]
        return pa.RecordBatch.from_arrays(columns, block.schema.names)

    def _explain(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], error: Exception
    ) -> str:
        """Say where `error` is. Only the serial reader counts rows, so it reads once more."""
        try:
            with (
                self._text() as source,
                self._open(source, columns, types, threads=False) as reader,
            ):
                for _ in reader:
                    raise_if_noted()
        except pa.ArrowInvalid as again:
            error = again
        return f"{self.path}: {self._explained(error)}"

    def _explained(self, error: Exception) -> str:
        return explained(str(error), self.schema.names, CSV_BLOCK_BYTES)


def _texts(column: pa.Array) -> list[str]:
    return [text for text in column.unique().to_pylist() if text.strip(" \t") not in NULLS]


def _rows_of_blank(start: bytes) -> int:
    """0 for a file of nothing but blank lines; NotCsvError for one that only begins so."""
    if len(start) >= _START:
        raise NotCsvError(f"no line of column names in the first {_START} bytes")
    return 0
