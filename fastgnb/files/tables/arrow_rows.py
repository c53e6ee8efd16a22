"""Rows of an Arrow stream as batches of arrays: what `sources` gives of files."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from ..._system.optional import pa
from ..._system.remote.paths import AnyPath
from ...input.arrow import plain_column
from ..errors import SourceError
from .column_kinds import is_numeric, plain
from .columns import ColumnRoles
from .csv_errors import short_line
from .cutting import Pieces, cut
from .sources import TableRows
from .streams import ArrowStream, check_stream
from .table_file import TypedFile, checked, prefix_path

__all__ = ["ArrowRows"]


class ArrowRows(TableRows):
    """Rows of one Arrow stream, cut as the rows of a file are: see `stats.tree.batch_rows`.

    Parameters
    ----------
    stream : what `streams.Batches` takes.
    columns : the parts that columns play.
    name : what messages call the stream, such as "partition 3".
    batch_rows : most rows in a batch; by default what 8 MB of features hold.

    A stream that can be read once only is read once: iterating again is a ValueError. Nothing is
    read ahead, and a batch is in memory until the next one is asked for. Raises SourceError as
    `open_source` does; what the stream raises is its cause.
    """

    reads_ahead = False

    def __init__(
        self,
        stream: Any,
        columns: ColumnRoles | None = None,
        *,
        name: str = "stream",
        batch_rows: int | None = None,
    ) -> None:
        columns = columns or ColumnRoles()
        file = _StreamFile(stream, pathlib.Path(name), columns)
        super().__init__([file], columns, batch_rows, [None])


class _StreamFile(TypedFile):
    """A stream as a table file. It cannot be read ahead for the values of a column.

    Where the type of a column leaves open whether it can play its part, it is taken for a column
    without values, and its first value is an error when it comes.
    """

    n_rows: int | None = None

    def __init__(self, stream: Any, path: AnyPath, columns: ColumnRoles) -> None:
        self.path = path
        self._without_values: set[str] = set()
        weight = [] if columns.weight is None else [columns.weight]
        self._numbers = {*columns.continuous(), *weight}
        check_stream(stream)
        with self._prefix():
            self._stream = ArrowStream(stream, null_is_any=True)
        schema = self._stream.schema
        if schema is None:  # there is no batch
            self.n_rows, schema = 0, pa.schema([(name, pa.null()) for name in columns.named()])
        fields = [field.with_type(_decoded_type(field.type)) for field in schema]
        self.schema = pa.schema(fields, schema.metadata)

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        self._without_values.update(columns)
        return {name: [] for name in columns}

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[Pieces, None, None]:
        with prefix_path(self.path):
            yield from cut(self._pieces(columns), rows)

    def _pieces(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        first_row = 0
        for batch in self._incoming():
            chosen = batch.select(list(columns))
            decoded = [_decoded(column) for column in chosen.columns]
            piece = checked(pa.RecordBatch.from_arrays(decoded, list(columns)), self.path)
            self._check_types(piece, first_row)
            yield piece
            first_row += batch.num_rows

    def _incoming(self) -> Iterator[pa.RecordBatch]:
        batches = self._stream.batches()
        while True:
            with self._prefix():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    @contextlib.contextmanager
    def _prefix(self) -> Iterator[None]:
        """Put the name of the stream before what goes wrong in it."""
        try:
            yield
        except SourceError as error:
            raise SourceError(f"{self.path}: {error}") from error
        except Exception as error:
            reason = short_line(str(error)) or "no reason given"
            raise SourceError(
                f"{self.path}: the stream failed with {type(error).__name__}: {reason}"
            ) from error

    def _check_types(self, piece: pa.RecordBatch, first_row: int) -> None:
        """Raise SourceError for a value where there can be none."""
        for name, column in zip(piece.schema.names, piece.columns, strict=True):
            is_wrong = name in self._numbers and not is_numeric(column.type)
            if (is_wrong or name in self._without_values) and column.null_count < len(column):
                row = first_row + column.is_valid().to_pylist().index(True) + 1
                expected = "numbers" if name in self._numbers else "labels of numbers or text"
                raise SourceError(
                    f"{self.path}: column {name!r}, row {row}: a value of type {column.type}, "
                    f"expected {expected}"
                )


def _decoded_type(kind: pa.DataType) -> pa.DataType:
    return plain(kind.value_type) if pa.types.is_run_end_encoded(kind) else kind


def _decoded(column: pa.Array) -> pa.Array:
    return plain_column(column) if pa.types.is_run_end_encoded(column.type) else column
