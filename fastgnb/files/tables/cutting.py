"""Record batches cut anew: the same rows, in batches of one size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np

from ..._system.optional import pa, pc

__all__ = ["Pieces", "cut", "groups", "join", "with_wide_indices"]


_MANY, _FEW_ROWS = 256, 64
"""Pieces that are joined at once where they have so few rows: each takes some kB besides."""


class _Part(Protocol):
    num_rows: int

    def slice(self, start: int, length: int | None = None, /) -> Self: ...


Part = TypeVar("Part", bound=_Part)


class Pieces:
    """A batch of rows in one or more record batches, whose columns may be of type null in some.

    Columns are joined when they are asked for, since many uses can do without the copy.
    """

    is_read_late = False  # whether `read_into` reads what may have changed meanwhile

    def __init__(self, parts: Sequence[pa.RecordBatch]) -> None:
        self._parts = parts
        self.num_rows = sum(part.num_rows for part in parts)

    @property
    def parts(self) -> Sequence[pa.RecordBatch]:
        """The record batches, in memory."""
        return self._parts

    def column(self, name: str) -> pa.Array:
        return join(self.chunks(name))

    def chunks(self, name: str) -> list[pa.Array]:
        return [part.column(name) for part in self.parts]

    def read_into(self, rows: np.ndarray, names: Sequence[str]) -> list[str]:
        """Read columns of numbers into rows (d, n). Those that are not read are returned."""
        return list(names)

    def none(self) -> Pieces:
        """None of the rows."""
        return Pieces([self.parts[0].slice(0, 0)])

    def filter(self, mask: pa.Array) -> Pieces:
        return Pieces([self.joined().filter(mask)])

    def joined(self) -> pa.RecordBatch:
        parts = self.parts
        if len(parts) == 1:
            return parts[0]
        schema = parts[0].schema
        columns = [join([part.column(j) for part in parts]) for j in range(len(schema))]
        if [column.type for column in columns] == schema.types:
            return pa.RecordBatch.from_arrays(columns, schema=schema)
        return pa.RecordBatch.from_arrays(columns, names=schema.names)


def cut(pieces: Iterable[pa.RecordBatch], rows: int) -> Iterator[Pieces]:
    """Yield the rows of all pieces in order, `rows` at a time; the last batch may be shorter.

    The pieces have the same columns, which may be of type null in some. Batches without rows are
    not yielded. Nothing is copied but pieces of few rows, which are joined where there are many.
    Holds at most `rows` rows beside the current piece.
    """
    return (Pieces(parts) for parts in groups(pieces, rows, lambda few: Pieces(few).joined()))


def groups(
    pieces: Iterable[Part], rows: int, joined: Callable[[list[Part]], Part]
) -> Iterator[list[Part]]:
    """As `cut`, of anything that has `num_rows` and `slice` as a record batch does."""
    waiting: list[Part] = []
    lacking, n_joined = rows, 0
    for piece in pieces:
        start = 0
        while piece.num_rows - start >= lacking:
            waiting.append(piece.slice(start, lacking))
            start += lacking
            group, waiting, lacking, n_joined = waiting, [], rows, 0
            yield group
        if start < piece.num_rows:
            waiting.append(piece.slice(start))
            lacking -= piece.num_rows - start
            if len(waiting) - n_joined == _MANY:
                if sum(part.num_rows for part in waiting[n_joined:]) <= _FEW_ROWS * _MANY:
                    waiting[n_joined:] = [joined(waiting[n_joined:])]
                n_joined = len(waiting)
    if waiting:
        yield waiting


def join(parts: Sequence[pa.Array]) -> pa.Array:
    """Parts of a column as one array. Some may be of type null."""
    if len(parts) == 1:
        return parts[0]
    kinds = [part.type for part in parts if not pa.types.is_null(part.type)]
    if 0 < len(kinds) < len(parts):
        parts = [
            pa.nulls(len(part), kinds[0]) if pa.types.is_null(part.type) else part for part in parts
        ]
    if not pa.types.is_dictionary(parts[0].type):
        return pa.concat_arrays(parts)
    parts = [with_wide_indices(part) for part in parts]
    if not any(part.dictionary.null_count for part in parts):
        return pa.concat_arrays(parts)
    # Arrow joins no dictionaries that hold a null.
    plain = pa.concat_arrays([pc.cast(part, part.type.value_type) for part in parts])
    return pc.cast(plain.dictionary_encode(), parts[0].type)


def with_wide_indices(column: pa.Array) -> pa.Array:
    """A dictionary column whose indices have 32 bits at least: joined, it may hold more values."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or kind.index_type.bit_width >= 32:
        return column
    indices = column.indices.cast(pa.int32())
    return pa.DictionaryArray.from_arrays(indices, column.dictionary, ordered=kind.ordered)
