"""What every reader of a table file offers, and the checks that they share."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..._system.optional import pa
from ..._system.remote.errors import RemoteError
from ..._system.remote.paths import AnyPath, RemotePath
from ..._system.signals import raise_if_noted
from ..errors import SourceError
from .csv_dialect import CsvDialect
from .csv_errors import short_line
from .cutting import Pieces

__all__ = [
    "TableFile",
    "TypedFile",
    "changed",
    "checked",
    "gather_values",
    "opened",
    "prefix_path",
    "without_view",
]

SAMPLE_ROWS = 1000
"""Rows read at a time where any value of a column will do."""


class TableFile(Protocol):
    """A file of named columns."""

    path: AnyPath
    schema: pa.Schema
    n_rows: int | None
    is_text: bool  # the types in `schema` are a guess
    dialect: CsvDialect  # how text spells numbers

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        """Some values of each column, those of CSV as text; [] where none is found.

        They are the distinct ones of the first block that is read, or with `beyond`, of the first
        block that holds a value of that column: it reads the whole file where there is none.
        """
        ...

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        """What the texts of CSV in the first block are: see `texts.kind_of`.

        `along` are all the columns that will be asked for, which are read at once.
        """
        ...

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Iterator[Pieces]:
        """Yield the rows in order, `rows` at a time, holding at least `columns`.

        The last batch is shorter, and no batch ends where a block of the file does.

        `types` are the types to read columns as; only CSV, which has none, obeys them.
        """
        ...


def changed(path: AnyPath) -> SourceError:
    """The error for a file that is no longer the one that was planned with."""
    return SourceError(f"{path}: changed while it was in use, so its rows cannot be trusted")


@contextlib.contextmanager
def prefix_path(path: AnyPath, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Put the file's name before what Arrow or the system says, `but` what the caller explains."""
    try:
        yield
    except but:
        raise
    except RemoteError as error:  # which names the path
        raise SourceError(str(error)) from error
    except UnicodeError as error:
        reason = f"a name or a text is not UTF-8: {error}; write the file in UTF-8"
        raise SourceError(f"{path}: {reason}") from error
    except (pa.ArrowException, OSError) as error:
        known = isinstance(error, OSError) and error.errno
        reason = os.strerror(known) if known else str(error)
        raise SourceError(f"{path}: {short_line(reason)}") from error


def opened(path: AnyPath) -> pa.NativeFile:
    if isinstance(path, RemotePath):
        return pa.PythonFile(path.open(), "r")
    return pa.OSFile(os.fsencode(path))  # as bytes: a name need not be text


def checked(
    batch: pa.RecordBatch, path: AnyPath, names: Collection[str] | None = None
) -> pa.RecordBatch:
    """`batch`, whose offsets stay inside its buffers and whose text is UTF-8.

    Arrow takes both on trust: a damaged file would be read from anywhere in memory. String views,
    which few functions of Arrow take, become strings. `names` are columns that are not known to be
    right, by default all.
    """
    if names is not None and not names:
        return batch
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if names is not None and name not in names:
            columns.append(column)
            continue
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
    kind = without_view(column.type)
    return column if kind == column.type else column.cast(kind)


def without_view(kind: pa.DataType) -> pa.DataType:
    """The type that `checked` makes of a type: strings instead of string views."""
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return pa.dictionary(kind.index_type, pa.string(), kind.ordered)
    return pa.string() if pa.types.is_string_view(kind) else kind


class TypedFile:
    """A file whose columns have types."""

    is_text = False
    dialect = CsvDialect()
    n_rows: int | None

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        result: dict[str, list[Any]] = {name: [] for name in columns}
        if self.n_rows == 0 or not columns:
            return result
        with contextlib.closing(self.batches(columns, {}, SAMPLE_ROWS)) as batches:
            return gather_values(
                batches, result, lambda column: column.drop_null().to_pylist(), beyond
            )

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        raise NotImplementedError("the types of this file are known")

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[Pieces, None, None]:
        raise NotImplementedError


def gather_values(
    batches: Iterable[Pieces | pa.RecordBatch],
    result: dict[str, list[Any]],
    values: Callable[[pa.Array], list[Any]],
    beyond: bool,
) -> dict[str, list[Any]]:
    for batch in batches:
        raise_if_noted()
        for name in result:
            result[name] = result[name] or values(batch.column(name))
        if not beyond or all(result.values()):
            break
    return result
