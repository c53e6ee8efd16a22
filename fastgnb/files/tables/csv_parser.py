"""Pieces of CSV, which several threads parse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._system.optional import csv, pa
from .csv_dialect import CsvDialect
from .csv_stream import convert_options, parse_options

__all__ = ["CsvParser", "parser_threads"]

_MOST_THREADS = 8
"""Most threads that parse one file: memory grows with them, and scoring has to keep up."""


def parser_threads() -> int:
    """The threads that parse one file: as many as Arrow may use, within bounds."""
    return min(_MOST_THREADS, int(pa.cpu_count()))


@dataclass(frozen=True)
class CsvParser:
    """Parses pieces of text that end where a row does.

    names : all columns of the file. columns, types : those that are read, and their types.
    """

    names: Sequence[str]
    columns: Sequence[str]
    types: Mapping[str, pa.DataType]
    dialect: CsvDialect
    sep: str

    def parse(self, piece: tuple[bytes, bool]) -> list[pa.RecordBatch]:
        """The rows of a text, which begins with the names of the columns if the flag says so.

        Raises ArrowInvalid.
        """
        text, has_names = piece
        parsing = parse_options(self.dialect, self.sep)
        parsing.newlines_in_values = False  # the text is one block, which ends where a row does
        names = None if has_names else list(self.names)
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(
                block_size=len(text) + 1, use_threads=False, column_names=names
            ),
            parse_options=parsing,
            convert_options=convert_options(self.dialect, self.columns, self.types),
        )
        return table.to_batches()  # type: ignore[no-any-return]
