"""An object as a file: read by ranges, again where a connection was cut, unless it has changed."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Sequence
from typing import Any

from ..optional import require
from ..signals import raise_if_noted
from .errors import RemoteChangedError, RemoteError, is_lasting, located, reason_of
from .paths import RemotePath, stat_of

__all__ = ["AHEAD", "PAUSE", "TRIES", "RangeReader"]

AHEAD = 1 << 23
"""Bytes that are read at once where a file is read from front to back."""

TRIES = 3
"""How often a range is asked for, each with the retries of the file system itself."""

PAUSE = 0.5
"""Seconds before the second try; each further pause is twice as long."""


class _Turns:
    """A lock. A pickle of it, as cloudpickle makes of modules, is a new one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[_Turns], tuple[()]]:
        return _Turns, ()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


# Some file systems, such as memory://, have one position for all who read a file.
_one_at_a_time = _Turns()


class RangeReader(io.RawIOBase):
    """The content of a remote file, to read and to seek in.

    A read gives all that is asked for, or up to the end. Reads that follow one another fetch
    `AHEAD` bytes, others what is asked for. Memory: `AHEAD` and the largest read.

    Raises
    ------
    RemoteChangedError
        Where the file is no longer the one that was opened. S3 itself compares, with each range.
    RemoteError
        Where a range could not be read `TRIES` times; the cause is that of the last one.
    """

    def __init__(self, path: RemotePath) -> None:
        self.path = path
        self.name = path.url
        self._file: Any = None
        self._stat = self._open()
        self.size = self._stat.st_size
        if self.size < 0:
            raise RemoteError(f"{path}: the server does not tell its size, which reading needs")
        self._at = 0
        self._buffer, self._start = b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        start = {0: 0, 1: self._at, 2: self.size}[whence]
        if start + offset < 0:
            raise ValueError(f"{self.path}: a position before the start")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1) -> bytes:
        left = max(self.size - self._at, 0)
        n = left if size is None or size < 0 else min(size, left)
        data = self._take(n)
        self._at += n
        return data

    def read_ranges(self, starts: Sequence[int], length: int) -> list[bytes]:
        """The bytes at `starts`, at most `length` of each: requested at once where possible."""
        ends = [min(start + length, self.size) for start in starts]
        if list(starts[1:]) == ends[:-1]:  # one after the other
            data = self._fetch(starts[0], ends[-1]) if starts else b""
            return [data[i : i + length] for i in range(0, len(data), length)]
        if self._file is not None:
            keys = [self.path.key] * len(starts)
            with located(self.path.url):
                blocks = self.path.filesystem.cat_ranges(
                    keys, list(starts), ends, on_error="return"
                )
            wanted = [end - start for start, end in zip(starts, ends, strict=True)]
            if [len(b) if isinstance(b, bytes) else -1 for b in blocks] == wanted:
                return list(blocks)
        return [self._fetch(start, end) for start, end in zip(starts, ends, strict=True)]

    def close(self) -> None:
        if not self.closed and self._file is not None:
            self._file.close()
        self._buffer = b""
        super().close()

    # ------------------------------------------------------------------ ranges

    def _take(self, n: int) -> bytes:
        """The `n` bytes from here on, which are there."""
        end = self._start + len(self._buffer)
        if self._start <= self._at and self._at + n <= end:
            return self._buffer[self._at - self._start : self._at - self._start + n]
        if self._at != end:  # not one after the other
            data = self._fetch(self._at, self._at + n)
            self._buffer, self._start = b"", self._at + n
            return data
        data = self._fetch(end, min(self.size, end + max(n, AHEAD)))
        self._buffer, self._start = (data, end) if n < AHEAD else (b"", end + n)
        return data[:n]

    def _fetch(self, start: int, end: int) -> bytes:
        if start >= end:
            return b""
        for attempt in range(TRIES):
            try:
                return self._fetch_once(start, end)
            except Exception as error:
                with located(self.path.url):
                    if is_lasting(error):
                        raise
                    raise_if_noted()
                    if attempt + 1 == TRIES:
                        raise RemoteError(
                            f"{self.path}: the connection was cut at byte {start} of {self.size}, "
                            f"{TRIES} times in a row ({reason_of(error)})"
                        ) from error
            time.sleep(PAUSE * 2**attempt)
            self._reopen()
        raise AssertionError("unreachable")

    def _fetch_once(self, start: int, end: int) -> bytes:
        if self._file is not None:
            self._file.seek(start)
            data = self._file.read(end - start)
        else:
            with _one_at_a_time:
                data = self.path.filesystem.cat_file(self.path.key, start=start, end=end)
        if len(data) != end - start:
            raise ConnectionError(f"{len(data)} of {end - start} bytes came")
        return bytes(data)

    def _open(self) -> Any:
        """Open the file where that is one of ours alone. Returns its state."""
        with located(self.path.url):
            filesystem, key = self.path.filesystem, self.path.key
            if not isinstance(filesystem, require("fsspec.asyn").AsyncFileSystem):
                return self.path.stat()
            self._file = filesystem.open(key, "rb", cache_type="none")
            return stat_of(getattr(self._file, "details", None) or self.path.info())

    def _reopen(self) -> None:
        """Open it again, after a cut. A failure is that of the next try."""
        try:
            stat = self._open()
        except RemoteError as error:
            if is_lasting(error):
                raise
            return
        if stat != self._stat:
            raise RemoteChangedError(
                f"{self.path}: changed while it was in use, so its rows cannot be trusted"
            )
