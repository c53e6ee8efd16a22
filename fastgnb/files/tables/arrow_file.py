"""Arrow IPC files and streams as record batches."""

from __future__ import annotations

import contextlib
import mmap
import pathlib
from collections.abc import Generator, Iterator, Mapping, Sequence

from ..._system.optional import ipc, pa
from .table_file import TypedFile, changed, checked, prefix_path

__all__ = ["ArrowFile"]


class ArrowFile(TypedFile):
    """Arrow IPC, the file format (also Feather version 2) or the stream format."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        with self._mapped() as mapped:
            reader = self._reader(mapped)
            self.schema = reader.schema
            self.n_rows: int | None = _count(reader)

    @contextlib.contextmanager
    def _mapped(self) -> Iterator[mmap.mmap | bytes]:
        # Not closed by hand: arrays may still point into the map, which goes with the last.
        with open(self.path, "rb") as file:
            empty = file.seek(0, 2) == 0  # a map cannot be empty
            yield b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _reader(self, mapped: mmap.mmap | bytes) -> ipc.RecordBatchReader:
        if mapped[:6] == b"ARROW1":
            return ipc.open_file(pa.py_buffer(mapped))
        return ipc.open_stream(pa.py_buffer(mapped))

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[pa.RecordBatch, None, None]:
        with prefix_path(self.path), self._mapped() as mapped:
            for batch in _each(self._reader(mapped)):
                chosen = batch.select(list(columns))
                for start in range(0, batch.num_rows, rows):
                    if isinstance(mapped, mmap.mmap) and mapped.size() < len(mapped):
                        raise changed(self.path)  # to touch what is gone ends the process
                    yield checked(chosen.slice(start, rows), self.path)
                _forget(mapped)


def _each(reader: ipc.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The record batches of either kind of IPC reader."""
    if isinstance(reader, ipc.RecordBatchFileReader):
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)
    else:
        yield from reader


def _count(reader: ipc.RecordBatchReader) -> int | None:
    """Rows of an IPC file, from the metadata; None for a stream, or where pyarrow is old.

    A stream is known to have none after its batches, which a first row ends the search among.
    """
    if isinstance(reader, ipc.RecordBatchFileReader):
        return int(reader.count_rows()) if hasattr(reader, "count_rows") else None
    return None if any(batch.num_rows for batch in reader) else 0


def _forget(mapped: mmap.mmap | bytes) -> None:
    """Pages already read need not count as this process's memory; they can be read again."""
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
