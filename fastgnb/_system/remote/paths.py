"""`as_path`: text to a path, local or remote; and `RemotePath`."""

from __future__ import annotations

import datetime
import glob
import os
import pathlib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import total_ordering
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ..optional import MissingExtraError, require
from .errors import RemoteError, RemoteNotFoundError, located

if TYPE_CHECKING:
    from .upload import Upload

__all__ = ["AnyPath", "RemotePath", "Stat", "as_path", "identity_of", "is_remote"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_COLLAPSED = re.compile(r"(s3a?|gs|gcs|abfss?|az|adl|memory|file|https?|hdfs|sftp):/(?!/)")
_LOCAL = {"file", "local"}

# What brings the file systems that are asked for most; of others fsspec knows the package.
_PACKAGES = {
    "s3": "'fastgnb[s3]'", "s3a": "'fastgnb[s3]'", "gs": "gcsfs", "gcs": "gcsfs",
    "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs",
}  # fmt: skip


class Stat(NamedTuple):
    """What `os.stat` calls by the same names, and a token that changes with the content."""

    st_size: int
    st_mtime: float
    token: str


@total_ordering
class RemotePath(os.PathLike[str]):
    """A path of a file system of fsspec, with what this package needs of a `pathlib.Path`.

    Every method that asks the file system raises RemoteError, which is an OSError. `is_listed` says
    that a listing of its folder has shown it to be a file, so that it need not be asked for again.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/") if not url.endswith("://") else url
        self.is_listed = False
        self._target: tuple[Any, str] | None = None

    def __fspath__(self) -> str:
        return self.url

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"RemotePath({self.url!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self.url == other.url

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, RemotePath):
            return self.parts < other.parts
        return False if isinstance(other, pathlib.PurePath) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        """Local paths come first."""
        return isinstance(other, pathlib.PurePath) or (self != other and not self < other)

    def __hash__(self) -> int:
        return hash(self.url)

    def __reduce__(self) -> tuple[type[RemotePath], tuple[str]]:
        return RemotePath, (self.url,)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.url}{name}" if self.url.endswith("/") else f"{self.url}/{name}")

    # ------------------------------------------------------------------ names

    @property
    def scheme(self) -> str:
        return self.url.partition("://")[0].lower()

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in self.url.split("/") if part)

    @property
    def name(self) -> str:
        return self._split()[1]

    @property
    def suffix(self) -> str:
        return pathlib.PurePosixPath(self.name).suffix

    @property
    def stem(self) -> str:
        return pathlib.PurePosixPath(self.name).stem

    @property
    def suffixes(self) -> list[str]:
        return pathlib.PurePosixPath(self.name).suffixes

    @property
    def parent(self) -> RemotePath:
        return RemotePath(self._split()[0])

    def _split(self) -> tuple[str, str]:
        """Its folder and its name within that."""
        scheme, _, rest = self.url.partition("://")
        folder, _, name = rest.rpartition("/")
        return f"{scheme}://{folder}", name

    def with_name(self, name: str) -> RemotePath:
        return self.parent / name

    def absolute(self) -> RemotePath:
        return self

    # ------------------------------------------------------------------ the file system

    @property
    def filesystem(self) -> Any:
        """The file system of fsspec, which keeps no listings: others may write meanwhile."""
        return self._resolve()[0]

    @property
    def key(self) -> str:
        """The name within the file system."""
        return self._resolve()[1]

    def _resolve(self) -> tuple[Any, str]:
        if self._target is None:
            _check_scheme(self)
            with located(self.url):
                core = require("fsspec.core")
                self._target = core.url_to_fs(self.url, use_listings_cache=False)
        return self._target

    def info(self) -> dict[str, Any]:
        """What the file system says of it, now. RemoteNotFoundError where there is nothing."""
        with located(self.url):
            found: dict[str, Any] = self.filesystem.info(self.key)
        return found

    def stat(self) -> Stat:
        return stat_of(self.info())

    def exists(self) -> bool:
        return self._kind() is not None

    def is_file(self) -> bool:
        return self._kind() == "file"

    def is_dir(self) -> bool:
        return self._kind() == "directory"

    def is_symlink(self) -> bool:
        return False

    def _kind(self) -> str | None:
        try:
            return str(self.info()["type"])
        except RemoteNotFoundError as error:
            if "no such file" not in str(error):  # a bucket: no later call would say that
                raise
            return None

    def files_below(self) -> Iterator[tuple[RemotePath, tuple[str, ...]]]:
        """Every file in this folder and below, with the parts of its name below the folder."""
        with located(self.url):
            names = self.filesystem.find(self.key)
        for name in names:
            parts = self._parts_of(name)
            path = self / "/".join(parts)
            path.is_listed = True
            yield path, parts

    def matches(self) -> list[RemotePath]:
        """The files and folders that this path matches as a pattern, such as s3://b/*.csv."""
        base = self
        while glob.has_magic(base.url):
            base = base.parent
        with located(self.url):
            found = self.filesystem.glob(self.key, detail=True)
        paths = []
        for name, info in found.items():
            paths.append(base / "/".join(base._parts_of(name)))
            paths[-1].is_listed = info["type"] == "file"
        return sorted(paths)

    def _parts_of(self, name: str) -> tuple[str, ...]:
        """The parts below this folder of a name within the file system."""
        return tuple(part for part in name[len(self.key.rstrip("/")) :].split("/") if part)

    def open(self, mode: str = "rb") -> BinaryIO:
        """The content, to read by ranges. To write, see `upload`."""
        from .reader import RangeReader

        if mode != "rb":
            raise ValueError(f"mode {mode!r}: a remote file is opened with 'rb'")
        return RangeReader(self)  # type: ignore[return-value]

    def read_bytes(self) -> bytes:
        with self.open() as file:
            return file.read()

    def upload(self, *, final: bool = False) -> AbstractContextManager[Upload]:
        """The content, to write: see `upload.upload`."""
        from .upload import upload

        return upload(self, final=final)

    def write_bytes(self, data: bytes) -> None:
        """Replace the content; it appears whole or not at all."""
        with self.upload() as target:
            target.write_bytes(data)

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        self.write_bytes(text.encode(encoding))

    def unlink(self, missing_ok: bool = False) -> None:
        try:
            with located(self.url):
                self.filesystem.rm_file(self.key)
        except RemoteNotFoundError:
            if not missing_ok:
                raise


AnyPath = pathlib.Path | RemotePath


def as_path(path: str | os.PathLike[str]) -> AnyPath:
    """The path that text stands for: of a file system of fsspec where it has a scheme, else local.

    `pathlib.Path("s3://bucket/key")`, which loses a slash, is taken for what was meant.
    """
    if isinstance(path, (pathlib.Path, RemotePath)):
        text = os.fspath(path)
        lost = _COLLAPSED.match(text) if isinstance(path, pathlib.Path) else None
        if lost is None or os.path.lexists(text) or os.path.lexists(lost[0]):
            return path
        slashes = ":///" if lost[1] in _LOCAL else "://"
        return as_path(text.replace(":/", slashes, 1))
    text = os.fsdecode(path)
    match = _SCHEME.match(text)
    if match is None:
        return as_path(pathlib.Path(text))
    if match[1].lower() in _LOCAL:
        from urllib.request import url2pathname

        return pathlib.Path(url2pathname(text[match.end() :]))
    return RemotePath(text)


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Whether a path is one of a file system of fsspec."""
    return isinstance(as_path(path), RemotePath)


def identity_of(path: str | os.PathLike[str]) -> str:
    """A text that two names of one file share: links of local ones are followed."""
    found = as_path(path)
    if isinstance(found, RemotePath):
        return str(found.filesystem.unstrip_protocol(found.key))
    return os.path.realpath(found)


def stat_of(info: dict[str, Any]) -> Stat:
    """Size, time of change and token of what `info` says."""
    lower = {name.lower(): value for name, value in info.items()}
    size = lower.get("size")
    known = [lower[name] for name in ("etag", "generation", "content_md5") if lower.get(name)]
    token = str(known[0]) if known else repr(sorted(info.items()))
    return Stat(-1 if size is None else int(size), _time(lower), token)


def _time(info: dict[str, Any]) -> float:
    """The time of the last change in seconds since 1970, or 0 where it is not told."""
    for name in ("mtime", "lastmodified", "last_modified", "updated", "modified", "created"):
        value = info.get(name)
        if isinstance(value, str):
            try:
                value = datetime.datetime.fromisoformat(value)
            except ValueError:
                continue
        if isinstance(value, datetime.datetime):
            return value.timestamp()
        if isinstance(value, (int, float)):
            return float(value)
    return 0.0


def _check_scheme(path: RemotePath) -> None:
    """Import what the scheme needs. Raises RemoteError for an unknown one, MissingExtraError."""
    require("fsspec")
    registry = require("fsspec.registry")
    try:
        registry.get_filesystem_class(path.scheme)
    except (ImportError, ValueError) as error:
        package = _PACKAGES.get(path.scheme)
        if package is None and isinstance(error, ValueError):
            raise RemoteError(
                f"{path}: unknown scheme {path.scheme!r}; expected one that fsspec knows, such as "
                "s3, gs, abfs or file"
            ) from error
        if package is None:
            advice = registry.known_implementations[path.scheme].get("err", str(error))
        else:
            advice = f"pip install {package}"
        raise MissingExtraError(
            f"{path}: {path.scheme}:// needs a package that is not installed: {advice}"
        ) from error
