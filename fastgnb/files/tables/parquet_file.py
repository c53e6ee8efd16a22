"""Parquet files as record batches."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Generator, Iterator, Mapping, Sequence

from ..._system.optional import pa, pq
from .table_file import TypedFile, checked, opened, prefix_path

__all__ = ["ParquetFile"]

PARQUET_BUFFER_BYTES = 1 << 18
"""Most read-ahead of a column chunk.

A chunk itself is in memory only where its pages are smaller than 16 kB: Arrow, which looks so far
for a page's header, then keeps what it has passed until the row group ends.
"""

PARQUET_READ_BYTES = 1 << 25
"""Most read-ahead of all column chunks: thousands of columns have little each."""


class ParquetFile(TypedFile):
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        with self._open(1) as file:
            self.schema = file.schema_arrow
            self.n_rows: int | None = file.metadata.num_rows

    @contextlib.contextmanager
    def _open(self, width: int) -> Iterator[pq.ParquetFile]:
        """The file, to read so many columns of."""
        ahead = max(1 << 12, min(PARQUET_BUFFER_BYTES, PARQUET_READ_BYTES // width))
        with (
            opened(self.path) as source,
            pq.ParquetFile(
                source, pre_buffer=False, buffer_size=ahead, page_checksum_verification=True
            ) as file,
        ):
            yield file

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[pa.RecordBatch, None, None]:
        rows = min(rows, max(self.n_rows or 0, 1))  # Arrow makes room for all of a batch
        with prefix_path(self.path), self._open(len(columns)) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                yield checked(batch, self.path)
