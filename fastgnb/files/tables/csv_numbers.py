"""Numbers of CSV that Arrow does not parse: those with separators of thousands, read as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..._system.optional import pa, pc
from ..._system.remote.paths import AnyPath
from ..errors import SourceError
from .csv_dialect import CsvDialect
from .csv_stream import plain_numbers
from .texts import NULLS, advice

__all__ = ["as_numbers", "number_names", "numbers_of_text", "read_types"]


class _File(Protocol):
    path: AnyPath
    dialect: CsvDialect


def read_types(types: Mapping[str, pa.DataType], dialect: CsvDialect) -> dict[str, pa.DataType]:
    """The types to read columns as: text instead of numbers that hold separators of thousands."""
    if dialect.thousands is None:
        return dict(types)
    return {
        name: pa.string() if pa.types.is_floating(kind) else kind for name, kind in types.items()
    }


def as_numbers(
    block: pa.RecordBatch, types: Mapping[str, pa.DataType], file: _File, first_row: int
) -> pa.RecordBatch:
    """A block whose numbers were read as text. Raises SourceError for a text that is none."""
    if file.dialect.thousands is None:
        return block
    columns = []
    for name, column in zip(block.schema.names, block.columns, strict=True):
        if name not in types or not pa.types.is_floating(types[name]):
            columns.append(column)
            continue
        parsed, row = numbers_of_text(column, file.dialect)
        if parsed is None:
            text = column[row].as_py()
            raise SourceError(
                f"{file.path}: column {name!r}, row {first_row + row + 1}: expected a number, "
                f"got {text!r}{advice(text)}"
            )
        columns.append(parsed)
    return pa.RecordBatch.from_arrays(columns, block.schema.names)


def number_names(block: pa.RecordBatch, dialect: CsvDialect) -> set[str]:
    """Names of columns of text that are numbers wherever they have a value."""
    return {
        name
        for name, column in zip(block.schema.names, block.columns, strict=True)
        if pa.types.is_string(column.type) and numbers_of_text(column, dialect)[0] is not None
    }


def numbers_of_text(column: pa.Array, dialect: CsvDialect) -> tuple[pa.Array | None, int]:
    """Text (n,) as float64, or None and the first row that holds no number."""
    bare = pc.ascii_trim(column, " \t")
    is_null = pc.is_in(bare, pa.array(sorted({*NULLS, *dialect.na_values})))
    values = plain_numbers(pc.if_else(is_null, pa.scalar(None, pa.string()), bare), dialect)
    for kind in (pa.float64(), pa.bool_()):
        try:
            return pc.cast(pc.cast(values, kind), pa.float64()), -1
        except pa.ArrowInvalid:
            continue
    texts = values.to_pylist()
    return None, next(i for i, t in enumerate(texts) if t is not None and not _is_number(t))


def _is_number(text: str) -> bool:
    try:
        pc.cast(pa.scalar(text), pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
