"""CSV files as record batches."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ..._system.optional import csv, pa
from ..._system.signals import raise_if_noted
from ..errors import SourceError
from .csv_errors import NotCsvError, check_start, explained
from .table_file import gather_values, opened, prefix_path
from .texts import NULLS, kind_of

__all__ = ["CSV_BLOCK_BYTES", "CsvFile"]

CSV_BLOCK_BYTES = 1 << 21
"""Bytes of text parsed at a time. Types are inferred from the first block."""


class CsvFile:
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
        source: pa.NativeFile = opened(self.path)
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
        result: dict[str, list[Any]] = {name: [] for name in columns}
        if self.n_rows == 0 or not columns:
            return result
        types = dict.fromkeys(columns, pa.string())
        with contextlib.closing(self.batches(columns, types, sys.maxsize, False)) as blocks:
            return gather_values(blocks, result, _texts, beyond)

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        if name not in self._kinds:
            texts = self.first_values(list(dict.fromkeys([name, *along])), beyond=False)
            self._kinds |= {each: kind_of(result) for each, result in texts.items()}
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
                opened(self.path) as source,
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
            with opened(self.path) as source:
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
