"""An object that appears once it is complete, and not at all where writing fails.

A store of objects gets parts of `PART_BYTES`, of which the object is made at the end, or all of a
small one in one request. On other file systems it is a temporary file that is renamed.
"""

from __future__ import annotations

import contextlib
import io
import uuid
from collections.abc import Iterator
from typing import Any

from ..optional import require
from ..signals import uninterrupted
from .errors import RemoteError, RemoteNotFoundError, RemotePermissionError, located
from .paths import RemotePath

__all__ = ["PART_BYTES", "Upload", "check_remote_writable", "upload"]

PART_BYTES = 1 << 24
"""Bytes of a part. S3 takes 10,000 parts, which are 160 GB."""

_PROBED = {"s3", "s3a"}
_READ_ONLY = {"http", "https"}


class Upload:
    """A remote file under construction: what `atomic_write` yields for a path with a scheme.

    Either `open` it once and write, or give all of it to `write_bytes` or `write_text`.
    """

    def __init__(self, path: RemotePath) -> None:
        self.path = path
        self._data: bytes | None = None
        self._file: Any = None
        # Stores of objects show one when its last request has come; others show a file as it grows.
        asyn = require("fsspec.asyn")
        self._is_store = isinstance(path.filesystem, asyn.AsyncFileSystem)
        self._temporary = path if self._is_store else path.with_name(f".{uuid.uuid4().hex}.tmp")

    def open(self, mode: str = "wb") -> io.RawIOBase:
        """A file to write; closing it does not yet make it appear."""
        assert mode == "wb"
        with located(self.path.url):
            self._file = self.path.filesystem.open(
                self._temporary.key, "wb", block_size=PART_BYTES, autocommit=False
            )
        return _Sink(self.path, self._file)

    def write_bytes(self, data: bytes) -> None:
        self._data = data

    def write_text(self, text: str, encoding: str = "utf-8", newline: str | None = None) -> None:
        """As that of `pathlib.Path`, but that line ends stay as they are."""
        self.write_bytes(text.encode(encoding))

    def finish(self) -> None:
        """Make it appear."""
        filesystem = self.path.filesystem
        with located(self.path.url):
            if self._data is not None:
                filesystem.pipe_file(self._temporary.key, self._data)
            else:
                self._file.close()
                if self._is_store:
                    self._file.commit()
            if not self._is_store:
                filesystem.mv(self._temporary.key, self.path.key)

    def discard(self) -> None:
        """Leave nothing behind; what was there before stays."""
        filesystem = self.path.filesystem
        if self._is_store and self._file is not None:
            self._file.closed = True  # else it would be completed where it is collected
            self._file.discard()
        elif not self._is_store:
            if self._file is not None:
                self._file.close()
            filesystem.rm_file(self._temporary.key)


class _Sink(io.RawIOBase):
    """The writing end of an upload, whose errors name the path."""

    def __init__(self, path: RemotePath, file: Any) -> None:
        self._path, self._out = path, file
        self._n = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._n

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        with located(self._path.url):
            self._out.write(view)
        self._n += len(view)
        return len(view)


@contextlib.contextmanager
def upload(path: RemotePath, *, final: bool = False) -> Iterator[Upload]:
    """Yield an `Upload`; when the block succeeds, the file appears, complete.

    Whatever the block raises, KeyboardInterrupt included, an upload of parts is aborted and what
    was at `path` stays. `final`: see `atomic_write`.
    """
    _check_not_web(path)
    target = Upload(path)
    try:
        yield target
        with uninterrupted(final=final):
            target.finish()
    except BaseException:
        with uninterrupted(), contextlib.suppress(Exception):
            target.discard()
        raise


def check_remote_writable(path: RemotePath) -> None:
    """Raise now the RemoteError that writing `path` would meet after hours of work.

    For S3 an upload is begun and aborted. Elsewhere the folder has to be there, if that is told.
    """
    _check_not_web(path)
    try:
        is_folder = path.is_dir()
    except RemotePermissionError as error:
        if "no credentials" in str(error):
            raise
        is_folder = False  # to write may be allowed where to look is not
    if is_folder:
        raise RemoteError(f"cannot write {path}: it is a folder, expected a file name")
    if path.scheme in _PROBED:
        _probe(path)
    elif path.filesystem.protocol != "memory":
        _check_container(path)


def _check_not_web(path: RemotePath) -> None:
    if path.scheme in _READ_ONLY:
        raise RemoteError(f"cannot write {path}: a web server takes no files; name another place")


def _probe(path: RemotePath) -> None:
    target = Upload(path)
    target.open()
    try:
        with located(f"cannot write {path}"):
            target._file._initiate_upload()
    finally:
        with contextlib.suppress(Exception):
            target.discard()


def _check_container(path: RemotePath) -> None:
    """RemoteNotFoundError where the bucket or container is known not to be there."""
    container = path.key.lstrip("/").partition("/")[0]
    try:
        with located(path.url):
            missing = not path.filesystem.exists(container)
    except RemotePermissionError:
        return
    if missing:
        raise RemoteNotFoundError(f"cannot write {path}: {container!r} does not exist")
