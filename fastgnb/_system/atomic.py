"""Files that appear whole or not at all.

A reader of the final name sees the old content or all of the new one: the new
content is written under a temporary name in the same folder (a rename is atomic
only within one file system), flushed to the disk, and then renamed. A path with a scheme,
such as s3://bucket/key, is an upload that is completed at the end, see `remote/upload.py`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import platform
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .remote.paths import RemotePath, as_path, identity_of, is_remote
from .signals import uninterrupted

if TYPE_CHECKING:
    from .remote.upload import Upload

__all__ = ["atomic_write", "check_writable", "is_same_file"]

# Seconds after which the temporary file of a writer on another machine counts as abandoned.
_ABANDONED_AFTER = 86_400.0

# Names of the temporary files that this process writes now.
_ours: set[str] = set()


@contextlib.contextmanager
def atomic_write(
    path: str | os.PathLike[str], *, final: bool = False
) -> Iterator[pathlib.Path | Upload]:
    """Yield a temporary name; when the block succeeds, rename it to `path`.

    Parameters
    ----------
    path : the file to create or replace. A symbolic link is followed, so that the
        file it points to is replaced and the link stays.
    final : whether the run takes effect by the rename, so that a signal during or after it is
        ignored.

    Yields
    ------
    pathlib.Path or Upload
        A name in the same folder that does not exist yet. It begins with a dot and
        ends in ``.tmp``, so that no reader of a folder of data takes it. The block
        must create it and close it. Of a path with a scheme, an `Upload`.

    Raises
    ------
    FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError
        Before the block runs, where `path` cannot be written; of one with a scheme afterwards.

    Whatever the block raises, KeyboardInterrupt included, the temporary file is
    removed and `path` stays as it was. What the system says of a write, such as a
    full disk, is raised again with the name `path`. A process that is killed leaves the
    temporary file behind, and nothing else; the next one that writes `path` removes it.
    Cost: one flush of the file to the disk, and a look at the names in the folder.
    """
    remote = as_path(path)
    if isinstance(remote, RemotePath):
        with remote.upload(final=final) as upload:
            yield upload
        return
    check_writable(path)
    target = pathlib.Path(os.path.realpath(remote))
    _remove_abandoned(target)
    temporary = target.with_name(
        f"{_prefix(target)}{_HOST}-{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp"
    )
    _ours.add(temporary.name)
    try:
        yield temporary
        _flush_file(temporary, target)
        with uninterrupted(final=final):
            os.replace(temporary, target)
            _flush_folder(target.parent)
    except BaseException as error:
        with uninterrupted(), contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno and _is_of(error, temporary):
            reason = f"cannot be written: {os.strerror(error.errno)}"
            raise OSError(error.errno, reason, os.fspath(path)) from error
        raise
    finally:
        _ours.discard(temporary.name)


def _prefix(target: pathlib.Path) -> str:
    """What the temporary names for a file begin with. Names have a longest length."""
    return f".{target.name[:40]}."


def _remove_abandoned(target: pathlib.Path) -> None:
    """Remove temporary files for `target` whose writers are gone; that this fails is no matter."""
    pattern = re.compile(re.escape(_prefix(target)) + r"(?:([0-9a-f]{8})-)?(\d+)\.[0-9a-f]{8}\.tmp")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            match = pattern.fullmatch(entry.name)
            if match and entry.name not in _ours:
                with contextlib.suppress(OSError):
                    if _is_abandoned(entry, match[1], int(match[2])):
                        os.unlink(entry.path)


def _is_abandoned(entry: os.DirEntry[str], host: str | None, pid: int) -> bool:
    """Whether nobody writes to a temporary file any more.

    Processes of other machines and containers, and those of Windows, are not seen from here: their
    files are left alone until nothing was written to them for a day.
    """
    if host == _HOST and os.name == "posix":
        return pid == os.getpid() or not _is_running(pid)
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_AFTER


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def _host() -> str:
    """Eight digits for the machine, and the container, in which a process's number means one."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


_HOST = _host()


def _is_of(error: OSError, temporary: pathlib.Path) -> bool:
    """Whether it is about the temporary file: a failing write does not say of which file."""
    return error.filename is None or os.fspath(error.filename) == os.fspath(temporary)


def is_same_file(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> bool:
    """Whether both names stand for one file: by links of either kind, or in another case."""
    if is_remote(a) != is_remote(b):
        return False
    if identity_of(a) == identity_of(b):
        return True
    if is_remote(a):
        return False
    try:
        return os.path.samefile(as_path(a), as_path(b))
    except OSError:  # one of them is not there yet
        return False


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise now the OSError that writing `path` would meet after hours of work."""
    local = as_path(path)
    if isinstance(local, RemotePath):
        from .remote.upload import check_remote_writable

        check_remote_writable(local)
        return
    shown, target = os.fspath(path), pathlib.Path(os.path.realpath(local))
    folder = target.parent
    if not folder.exists():
        raise FileNotFoundError(f"cannot write {shown}: the folder {folder} does not exist")
    if not folder.is_dir():
        raise NotADirectoryError(f"cannot write {shown}: {folder} is not a folder")
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {shown}: it is a folder, expected a file name")
    if target.exists() and not target.is_file():
        # A rename would replace the device or the pipe itself.
        raise PermissionError(f"cannot write {shown}: it is not a regular file")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write {shown}: the folder {folder} is not writable")


def _flush_file(path: pathlib.Path, target: pathlib.Path) -> None:
    """Bring content and mode to the disk before the name points to them."""
    # Opened before the mode changes, since that of the old file may forbid it.
    with open(path, "rb+") as file:
        if target.exists():
            shutil.copymode(target, path)
        os.fsync(file.fileno())


def _flush_folder(folder: pathlib.Path) -> None:
    """Bring the rename to the disk, where the system can flush a folder (Windows cannot)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
