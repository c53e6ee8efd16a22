"""Arrow streams of any library, and `Batches`: their rows in batches of one size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..._system.optional import pa
from ..errors import SourceError
from ..phrases import listed
from .cutting import cut, with_wide_indices

__all__ = ["ArrowStream", "Batches", "check_stream"]

_MARKS = (
    "to_arrow_reader", "__arrow_c_stream__", "__arrow_c_array__", "collect_batches", "__iter__",
)  # fmt: skip
"""Of what a type has one, if its objects are streams."""


class Batches:
    """Rows of an Arrow stream, in record batches of one size.

    Engines hand rows over in batches of any size, often small ones. Larger batches keep the
    threads of a kernel busy, and batches that do not depend on the engine make its results
    reproducible.

    Parameters
    ----------
    stream : iterable or object with ``__arrow_c_stream__``
        An iterable of record batches, tables or data frames; a table or data frame; a
        ``pyarrow.RecordBatchReader``; a Polars ``LazyFrame``; a DuckDB relation.
    rows : int, default=131072
        Number of rows in each batch but the last, which may be shorter.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of all batches: those of the first one. Indices of dictionaries take 32 bits at
        least, as the dictionaries of several batches are joined.

    Raises
    ------
    TypeError
        If this is no stream of Arrow data.
    SourceError
        While iterating, if a batch has other columns than the first one. The message names the
        batch, counted from 1.
    ValueError
        If a stream that can be read once only is read again.

    See Also
    --------
    fastgnb.files.fit_stats : Statistics of a stream.

    Notes
    -----
    A batch that lies within one of the stream is a slice of it, without a copy; others are copied.
    Memory: the current batch of the stream, and at most `rows` rows more. Columns are matched by
    name, and a column of type null, which holds no value, is taken for one of any type. What the
    stream itself raises is passed on.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastgnb import files
    >>> table = pa.table({"x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    >>> [len(batch) for batch in files.Batches(table.to_batches(max_chunksize=2), rows=3)]
    [3, 2]
    """

    def __init__(self, stream: Any, rows: int = 1 << 17) -> None:
        if not hasattr(rows, "__index__") or isinstance(rows, bool) or rows < 1:
            raise ValueError(f"rows must be a whole number, 1 or more, got {rows!r}.")
        self.rows = int(rows)
        self._stream = ArrowStream(stream)

    @property
    def schema(self) -> pa.Schema:
        """The columns of all batches. Raises ValueError where there is no batch that tells them."""
        if self._stream.schema is None:
            raise ValueError("The stream has no batch, so that its columns are not known.")
        return self._stream.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return (batch.joined() for batch in cut(self._stream.batches(), self.rows))


class ArrowStream:
    """Record batches of one schema, of any object that has them: see `Batches`.

    schema : that of the first batch, None where there is no batch. null_is_any : whether a column
        of type null there, which holds no value, may have any type in later batches.
    """

    def __init__(self, stream: Any, *, null_is_any: bool = False) -> None:
        check_stream(stream)
        self._stream, self._null_is_any = stream, null_is_any
        self._batches: Iterator[pa.RecordBatch] | None
        self.schema, self._batches = _opened(stream, null_is_any)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches as they come. Raises ValueError where they have been read, and are gone."""
        batches, self._batches = self._batches, None
        if batches is not None:
            return batches
        if isinstance(self._stream, (Iterator, pa.RecordBatchReader)):
            raise ValueError(
                "The stream was read before, and can be read once only. Pass a table, or a list of "
                "batches, to read it again."
            )
        return _opened(self._stream, self._null_is_any)[1]


def check_stream(stream: Any) -> None:
    """Raise TypeError for what cannot be a stream."""
    is_one = any(hasattr(type(stream), mark) for mark in _MARKS)
    if not is_one or isinstance(stream, (str, bytes, dict)):
        raise TypeError(
            "Expected a stream of Arrow data: record batches or tables, a RecordBatchReader, or an "
            f"object with __arrow_c_stream__; got {type(stream).__name__}."
        )


def _opened(stream: Any, null_is_any: bool) -> tuple[pa.Schema | None, Iterator[pa.RecordBatch]]:
    """The schema, None where there is no batch, and the batches that have it."""
    opened = _reader_of(stream)
    if opened is not None:
        schema = _with_wide_indices(opened[0])
        batches = opened[1]
        return schema, (_matched(b, schema, i, null_is_any) for i, b in enumerate(batches, 1))
    elements = iter(_elements_of(stream))
    first = next(elements, None)
    if first is None:
        return None, iter(())
    schema = _with_wide_indices(_element(first)[0])
    return schema, _batches_of(chain([first], elements), schema, null_is_any)


def _batches_of(
    elements: Iterator[Any], schema: pa.Schema, null_is_any: bool
) -> Iterator[pa.RecordBatch]:
    for i, element in enumerate(elements, 1):
        _, batches = _element(element)
        for batch in batches:
            yield _matched(batch, schema, i, null_is_any)


def _reader_of(stream: Any) -> tuple[pa.Schema, Iterable[pa.RecordBatch]] | None:
    """Schema and batches of an object that has both; None for other objects."""
    if isinstance(stream, pa.RecordBatch):
        return stream.schema, [stream]
    if isinstance(stream, pa.Table):
        return stream.schema, stream.to_batches()
    kind = type(stream)
    for lazy in ("to_arrow_reader", "fetch_arrow_reader"):
        if hasattr(kind, lazy):  # a DuckDB relation; its reader never holds all rows
            return _reader_of(getattr(stream, lazy)())
    if hasattr(kind, "__arrow_c_stream__") and not isinstance(stream, pa.RecordBatchReader):
        stream = pa.RecordBatchReader.from_stream(stream)
    elif hasattr(kind, "to_arrow"):  # a data frame of an old Polars
        return _reader_of(stream.to_arrow())
    if isinstance(stream, pa.RecordBatchReader):
        return stream.schema, stream
    if hasattr(kind, "__arrow_c_array__"):
        return _reader_of(pa.record_batch(stream))
    return None


def _elements_of(stream: Any) -> Iterable[Any]:
    if hasattr(type(stream), "collect_batches"):  # a Polars LazyFrame
        return stream.collect_batches(maintain_order=True)  # type: ignore[no-any-return]
    return stream  # type: ignore[no-any-return]


def _element(element: Any) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    opened = _reader_of(element)
    if opened is None:
        raise TypeError(
            "Expected a stream of record batches, tables or data frames, got an element of type "
            f"{type(element).__name__}."
        )
    return opened


def _with_wide_indices(schema: pa.Schema) -> pa.Schema:
    empty = [with_wide_indices(pa.nulls(0, kind)) for kind in schema.types]
    fields = [field.with_type(a.type) for field, a in zip(schema, empty, strict=True)]
    return pa.schema(fields, schema.metadata)


def _matched(
    batch: pa.RecordBatch, schema: pa.Schema, number: int, null_is_any: bool
) -> pa.RecordBatch:
    """The batch with the columns of `schema`. Raises SourceError, which names the batch."""
    if batch.schema.equals(schema):
        return batch.replace_schema_metadata(schema.metadata)
    names = batch.schema.names
    if names != schema.names:
        if sorted(names) != sorted(schema.names) or len(set(names)) < len(names):
            raise SourceError(f"batch {number} has {_difference(names, schema.names)}")
        batch = batch.select(schema.names)
    columns = [
        column if null_is_any and pa.types.is_null(field.type) else _as_type(column, field, number)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema.names)


def _difference(names: list[str], expected: list[str]) -> str:
    missing = [name for name in expected if name not in names]
    new = [name for name in names if name not in expected]
    parts = [f"no column {listed(missing)}"] if missing else []
    parts += [f"a column {listed(new)}"] if new else []
    return f"{' and '.join(parts) or 'a name twice'}, unlike the first batch"


def _as_type(column: pa.Array, field: pa.Field, number: int) -> pa.Array:
    column, kind = with_wide_indices(column), field.type
    if column.type == kind:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind)
    is_coded = pa.types.is_dictionary(kind) and pa.types.is_dictionary(column.type)
    if is_coded and column.type.value_type == kind.value_type:
        indices = column.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, column.dictionary, ordered=kind.ordered)
    raise SourceError(
        f"batch {number}: column {field.name!r} is {column.type}, but {kind} in the first batch; "
        "cast it, so that all batches have one type"
    )
