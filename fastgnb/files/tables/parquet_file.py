"""Parquet files as record batches."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from typing import Any

from ..._system.optional import pa, pq
from ..._system.remote.paths import AnyPath, RemotePath
from .cutting import Pieces, cut
from .table_file import TypedFile, checked, opened, prefix_path, without_view
from .where_tree import Bounds

__all__ = ["ParquetFile"]

PARQUET_BUFFER_BYTES = 1 << 16
"""Most read-ahead of a column chunk: those of many columns stay in the cache until they are used.

A chunk itself is in memory only where its pages are smaller than 16 kB: Arrow, which looks so far
for a page's header, then keeps what it has passed until the row group ends.
"""

PARQUET_READ_BYTES = 1 << 25
"""Most read-ahead of all column chunks: thousands of columns have little each."""

_BUSY_CORES = 2
"""Cores that one thread that reads and one that scores keep busy: more threads only take turns."""

REMOTE_BUFFER_BYTES = 1 << 22
"""Most read-ahead of a column chunk of a remote file, each of which is one request."""

REMOTE_READ_BYTES = 1 << 26
"""Most read-ahead of all column chunks of a remote file."""


class ParquetFile(TypedFile):
    """`skipped` are row groups that are not read: their rows come without values."""

    skipped: Collection[int] = ()

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        with self._open(1) as file:
            self.schema = file.schema_arrow
            self.n_rows: int | None = file.metadata.num_rows

    @contextlib.contextmanager
    def _open(self, width: int) -> Iterator[pq.ParquetFile]:
        """The file, to read so many columns of."""
        most, together = PARQUET_BUFFER_BYTES, PARQUET_READ_BYTES
        if isinstance(self.path, RemotePath):
            most, together = REMOTE_BUFFER_BYTES, REMOTE_READ_BYTES
        ahead = max(1 << 12, min(most, together // width))
        with (
            opened(self.path) as source,
            pq.ParquetFile(
                source, pre_buffer=False, buffer_size=ahead, page_checksum_verification=True
            ) as file,
        ):
            yield file

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[Pieces, None, None]:
        with prefix_path(self.path), self._open(len(columns)) as file:
            pieces = self._pieces(file, columns, rows)
            # Row groups end batches of text.
            yield from cut(pieces, rows)

    def _pieces(
        self, file: pq.ParquetFile, columns: Sequence[str], rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows of all row groups, those of skipped ones without values."""
        size = min(rows, max(self.n_rows or 0, 1))  # Arrow makes room for all of a batch
        for is_skipped, groups in itertools.groupby(
            range(file.num_row_groups), lambda i: i in self.skipped
        ):
            if is_skipped:
                n = sum(file.metadata.row_group(i).num_rows for i in groups)
                yield from self._blank(columns, n, rows)
                continue
            for batch in file.iter_batches(
                batch_size=size, columns=list(columns), row_groups=list(groups),
                use_threads=pa.cpu_count() > _BUSY_CORES,
            ):  # fmt: skip
                yield checked(batch, self.path)

    def _blank(self, columns: Sequence[str], n: int, rows: int) -> Iterator[pa.RecordBatch]:
        """Rows without values in the place of those that are skipped."""
        arrays = [pa.nulls(min(n, rows), without_view(self.schema.field(c).type)) for c in columns]
        blank = pa.RecordBatch.from_arrays(arrays, list(columns))
        for start in range(0, n, rows):
            yield blank.slice(0, min(rows, n - start))

    def row_groups(self, columns: Collection[str]) -> list[tuple[int, dict[str, Bounds]]]:
        """How many rows each row group holds, and what statistics say of its columns."""
        with prefix_path(self.path), self._open(1) as file:
            meta = file.metadata
            paths = [meta.schema.column(i).path for i in range(meta.num_columns)]
            # The column "a.b" and the field b of a structure a have one path.
            wanted = {name: paths.index(name) for name in columns if paths.count(name) == 1}
            return [_bounds_of(meta.row_group(i), wanted) for i in range(meta.num_row_groups)]


def _bounds_of(group: Any, columns: Mapping[str, int]) -> tuple[int, dict[str, Bounds]]:
    bounds = {}
    for name, i in columns.items():
        statistics = group.column(i).statistics
        if statistics is not None:
            bounds[name] = _bounds(statistics, group.num_rows)
    return group.num_rows, bounds


def _bounds(statistics: Any, n_rows: int) -> Bounds:
    """Numbers with a sign and text; the order of other values is not that of Python."""
    has_null, has_value = True, True
    if statistics.has_null_count:
        has_null, has_value = statistics.null_count > 0, statistics.null_count < n_rows
    logical = statistics.logical_type.type
    is_number = statistics.physical_type in ("INT32", "INT64", "FLOAT", "DOUBLE")
    is_plain = (is_number and logical == "NONE") or (logical == "STRING")
    has_null |= statistics.physical_type in ("FLOAT", "DOUBLE")  # NaN, which no one counts
    if not (is_plain or _is_signed(statistics)) or not statistics.has_min_max:
        return Bounds(None, None, has_value, has_null)
    return Bounds(statistics.min, statistics.max, has_value, has_null)


def _is_signed(statistics: Any) -> bool:
    logical = statistics.logical_type
    return logical.type == "INT" and "isSigned=true" in str(logical)
