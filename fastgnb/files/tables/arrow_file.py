"""Arrow IPC files and streams as record batches."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial

from ..._system.optional import ipc, pa
from ..._system.remote.paths import AnyPath, RemotePath
from .arrow_map import ArrowMap
from .arrow_pieces import MappedPart, MappedPieces
from .cutting import Pieces, cut, groups
from .table_file import TypedFile, checked, opened, prefix_path

__all__ = ["ArrowFile"]

_MARK = b"ARROW1"
"""The first bytes of the file format."""

_MAPPED_BYTES = 1 << 26
"""Bytes that are read before their pages are given back, which others may still be reading."""


class ArrowFile(TypedFile):
    """Arrow IPC, the file format (also Feather version 2) or the stream format."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        with self._opened() as source:
            reader = self._reader(source)
            self.schema = reader.schema
            self.n_rows: int | None = _count(reader, all_batches=not isinstance(path, RemotePath))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[ArrowMap | pa.NativeFile]:
        """The content: a map, or a remote file, of which a batch is read at a time."""
        if isinstance(self.path, RemotePath):
            with opened(self.path) as file:
                yield file
            return
        yield ArrowMap(self.path)  # not closed by hand: arrays may still point into it

    def _reader(self, source: ArrowMap | pa.NativeFile) -> ipc.RecordBatchReader:
        if isinstance(source, ArrowMap):
            is_file, content = source.starts_with(_MARK), source.buffer()
        else:
            is_file, content = source.read(len(_MARK)) == _MARK, source
            source.seek(0)
        return ipc.open_file(content) if is_file else ipc.open_stream(content)

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[Pieces, None, None]:
        with prefix_path(self.path), self._opened() as source:
            if not isinstance(source, ArrowMap):
                yield from cut(self._pieces(source, columns, rows), rows)
                return
            n_bytes = 0
            joined = partial(MappedPieces.in_memory, source=source)
            for parts in groups(self._mapped(source, columns, rows), rows, joined):
                n_bytes += sum(part.batch.nbytes for part in parts)
                yield MappedPieces(parts, source)
                if n_bytes > _MAPPED_BYTES:
                    source.forget()
                    n_bytes = 0

    def _pieces(
        self, source: pa.NativeFile, columns: Sequence[str], rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The batches of the file, in parts that are checked one by one."""
        for batch in _each(self._reader(source)):
            chosen = batch.select(list(columns))
            for start in range(0, batch.num_rows, rows):
                yield checked(chosen.slice(start, rows), self.path)

    def _mapped(self, source: ArrowMap, columns: Sequence[str], rows: int) -> Iterator[MappedPart]:
        """As `_pieces`, with the places of those columns that are read when they are needed."""
        for batch in _each(self._reader(source), source.check_size):
            chosen = batch.select(list(columns))
            places = {name: source.numbers(chosen.column(name)) for name in columns}
            numbers = {name: place for name, place in places.items() if place is not None}
            others = [name for name in columns if name not in numbers]
            chosen = _with(chosen, others, source.with_dictionary)
            for start in range(0, batch.num_rows, rows):
                piece = _with(chosen.slice(start, rows), others, source.in_memory)
                yield MappedPart(checked(piece, self.path, others), numbers, start)


def _with(
    batch: pa.RecordBatch, names: Sequence[str], change: Callable[[pa.Array], pa.Array]
) -> pa.RecordBatch:
    """The batch, some of whose columns are changed."""
    if not names:
        return batch
    columns = [
        change(column) if name in names else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _each(
    reader: ipc.RecordBatchReader, check: Callable[[], None] = lambda: None
) -> Iterator[pa.RecordBatch]:
    """The record batches of either kind of IPC reader. `check` is called before each is read."""
    is_file = isinstance(reader, ipc.RecordBatchFileReader)
    for i in range(reader.num_record_batches) if is_file else itertools.count():
        check()
        try:
            batch = reader.get_batch(i) if is_file else reader.read_next_batch()
        except StopIteration:
            return
        yield batch


def _count(reader: ipc.RecordBatchReader, *, all_batches: bool) -> int | None:
    """Rows of an IPC file, from the metadata; None for a stream, or where pyarrow is old.

    A stream is known to have none after its batches, which a first row ends the search among.
    So is a file without `all_batches`, each of whose metadata is a request of its own.
    """
    if isinstance(reader, ipc.RecordBatchFileReader) and all_batches:
        return int(reader.count_rows()) if hasattr(reader, "count_rows") else None
    return None if any(batch.num_rows for batch in _each(reader)) else 0
