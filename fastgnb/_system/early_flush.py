"""The content of a growing file on its way to the disk, long before the flush that waits for it."""

from __future__ import annotations

import contextlib
import os
import pathlib

__all__ = ["EarlyFlush"]

_LEAST_BYTES = 1 << 20


class EarlyFlush:
    """Called now and then, it has the system write what a file has grown by. It does not wait.

    Linux begins to write pages when it is told that they will not be read again. Pages that are
    not on the disk yet stay in memory. Where the system does not offer that, nothing is done.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path, self._start = path, 0

    def __call__(self) -> None:
        if not hasattr(os, "posix_fadvise"):
            return
        with contextlib.suppress(OSError), open(self._path, "rb", buffering=0) as file:
            n_bytes = os.fstat(file.fileno()).st_size - self._start
            if n_bytes >= _LEAST_BYTES:
                os.posix_fadvise(file.fileno(), self._start, n_bytes, os.POSIX_FADV_DONTNEED)
                self._start += n_bytes
