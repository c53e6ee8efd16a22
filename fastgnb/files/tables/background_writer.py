"""A table that a thread writes, while the next rows are read and scored."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self

from ..._system.optional import pa
from .prefetching import join
from .writers import Writer

__all__ = ["BackgroundWriter"]


class BackgroundWriter:
    """Hands record batches to a writer in another thread, in order.

    `write` returns once the batch before has been written: the caller makes one batch while at most
    one other is written. What the writer raises is raised by the next call, or at the end. `after`
    is called in the thread after each batch. Nothing is written any more when the context ends,
    however it ends, so that the file can be closed.
    """

    def __init__(self, writer: Writer, after: Callable[[], object] = lambda: None) -> None:
        self._writer, self._after = writer, after
        self._pool = ThreadPoolExecutor(1, "fastgnb-writer")
        self._pending: Future[None] | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows. Raises what the writer raised for those before."""
        self._wait()
        self._pending = self._pool.submit(self._write, batch)

    def _write(self, batch: pa.RecordBatch) -> None:
        self._writer.write(batch)
        self._after()

    def _wait(self) -> None:
        if self._pending is not None:
            wait([self._pending])  # it stays pending where an interrupt comes meanwhile
            pending, self._pending = self._pending, None
            pending.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        join(self._pool, [] if self._pending is None else [self._pending])
        if kind is None or issubclass(kind, Exception):
            self._wait()  # an error of rows that come before those of `error`
