"""Files of which only the rows are read that meet a condition.

Whole files are skipped by the keys of their folders, before they are opened, and row groups of
Parquet by their statistics. Every other row is looked at. Rows that are left out keep their place,
so that batches are cut where they would be cut without a condition, and row numbers in messages
are those of the file: a column of booleans says which rows count.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from ..._system.optional import pa
from .column_kinds import plain
from .columns import check_present
from .cutting import Pieces
from .parquet_file import ParquetFile
from .partitions import KeyedFile
from .table_file import TableFile, without_view
from .where_rows import RowFilter
from .where_tree import Leaf, Node, columns_of, may_hold, reduced

__all__ = ["COUNTS", "FilteredFile", "described", "file_condition"]

COUNTS = "__fastgnb_row_counts__"
"""The column that says which rows count."""


def file_condition(node: Node, keys: Mapping[str, int | str | None], path: object) -> Node | bool:
    """The condition on the rows of a file whose folders have these keys; False skips the file."""

    def known(leaf: Leaf) -> bool | None:
        names = columns_of(leaf)
        if not set(names) <= keys.keys():
            return None
        row = {name: _one(keys[name]) for name in names}
        filter_ = RowFilter(leaf, path, None)
        return bool(filter_.mask(pa.RecordBatch.from_pydict(row), 0)[0])

    return reduced(node, known)


def described(file: TableFile) -> dict[str, Any]:
    """The keys that are added to a file, and the condition on its rows, as JSON holds them."""
    if isinstance(file, FilteredFile):
        return {**described(file.base), "where": repr(file.node)}
    return {"keys": file.keys} if isinstance(file, KeyedFile) else {}


def _one(value: int | str | None) -> pa.Array:
    return pa.array([value], pa.string() if isinstance(value, str) else None)


class FilteredFile:
    """The rows of a file that meet a condition on its columns, and the others marked."""

    def __init__(self, file: TableFile, node: Node) -> None:
        self.base, self.node = file, node
        self._columns = columns_of(node)
        self.path, self.schema, self.n_rows = file.path, file.schema, file.n_rows
        self.is_text, self.dialect = file.is_text, file.dialect
        self.n_groups = self.n_skipped = 0
        self._skipped: list[tuple[int, int]] = []
        if self.n_rows == 0:  # it says nothing about columns
            return
        check_present([file], self._columns)
        self._filter = RowFilter(node, file.path, file.dialect if file.is_text else None)
        self._check_types()
        plain_file = file.base if isinstance(file, KeyedFile) else file
        if isinstance(plain_file, ParquetFile):
            self._skip_groups(plain_file, node)

    def _check_types(self) -> None:
        """Whether the columns can be compared as they are, told before a row is read."""
        kinds = {
            name: pa.string() if self.is_text else plain(self.schema.field(name).type)
            for name in self._columns
        }
        empty = {name: pa.array([], without_view(kind)) for name, kind in kinds.items()}
        self._filter.mask(pa.RecordBatch.from_pydict(empty), 0)

    def _skip_groups(self, plain_file: ParquetFile, node: Node) -> None:
        """Skip the row groups whose statistics say that no row meets the condition."""
        groups = plain_file.row_groups(self._columns)
        ends = np.cumsum([n for n, _ in groups], dtype=np.int64).tolist()
        skipped = [i for i, (_, bounds) in enumerate(groups) if not may_hold(node, bounds)]
        plain_file.skipped = frozenset(skipped)
        self._skipped = [(ends[i] - groups[i][0], ends[i]) for i in skipped]
        self.n_groups, self.n_skipped = len(groups), len(skipped)
        if self.n_skipped == self.n_groups:
            self.n_rows = 0

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        return self.base.first_values(columns, beyond=beyond)

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        return self.base.first_kind(name, along)

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[Pieces, None, None]:
        read = list(dict.fromkeys([*columns, *self._columns]))
        types = {**dict.fromkeys(self._columns, pa.string()), **types}
        first_row = 0
        for batch in self.base.batches(read, types, rows):
            parts = []
            for part in batch.parts:
                mask = self._mask(part, first_row)
                first_row += part.num_rows
                arrays = [*(part.column(name) for name in columns), pa.array(mask)]
                parts.append(pa.RecordBatch.from_arrays(arrays, [*columns, COUNTS]))
            yield Pieces(parts)

    def _mask(self, batch: pa.RecordBatch, first_row: int) -> np.ndarray:
        """The rows that count: of those that are read, whose values are there."""
        is_read = np.ones(batch.num_rows, np.bool_)
        for start, stop in self._skipped:
            is_read[max(0, start - first_row) : max(0, stop - first_row)] = False
        return is_read & self._filter.mask(batch, first_row) if is_read.any() else is_read
