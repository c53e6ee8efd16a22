"""Which files a model has learned, so that a job that is run again does not count them twice.

A model file keeps a fingerprint of each file: name, size and a digest of content. The digest covers
all of a file of up to 4 MB, and 4 MB spread over a longer one: a file that differs elsewhere only
holds nearly the same rows, which are not to be counted twice either. With `--target-npy` it covers
the labels too. Names are there for messages only: a copy under another name is the same file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, BinaryIO, NamedTuple

from ..._system.remote.paths import AnyPath, as_path, identity_of
from ..._system.remote.reader import RangeReader

__all__ = [
    "MOST",
    "LearnedFile",
    "check_new",
    "check_once",
    "fingerprint",
    "joined",
    "restore",
]

MOST = 4096
"""Most fingerprints in a model file; of more, those that were added last are kept."""

_BLOCK, _BLOCKS = 1 << 15, 128
_LONGEST_NAME = 100


class LearnedFile(NamedTuple):
    """A file that was learned: its name without folders, size in bytes, and digest of content."""

    name: str
    size: int
    digest: str


def fingerprint(path: AnyPath, target_npy: str | os.PathLike[str] | None = None) -> LearnedFile:
    """The fingerprint of a file, with its labels where they are in a file of their own.

    Raises OSError. Cost: reads at most 4 MB of each file.
    """
    digest = hashlib.sha256()
    size = _add_content(digest, path)
    if target_npy is not None:
        _add_content(digest, as_path(target_npy))
    name = path.name.encode("utf-8", "replace").decode()
    return LearnedFile(name[-_LONGEST_NAME:], size, digest.hexdigest()[:32])


def _add_content(digest: Any, path: AnyPath) -> int:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        digest.update(f"{size} ".encode())
        for block in _blocks(file, _starts(size)):
            digest.update(block)
    return size


def _blocks(file: BinaryIO | RangeReader, starts: Sequence[int]) -> Iterable[bytes]:
    if isinstance(file, RangeReader):
        return file.read_ranges(starts, _BLOCK)
    return (_read_at(file, start) for start in starts)


def _starts(size: int) -> Sequence[int]:
    """Where the blocks begin that are read: all of them, or some, the first and last included."""
    if size <= _BLOCK * _BLOCKS:
        return range(0, size, _BLOCK)
    return [i * (size - _BLOCK) // (_BLOCKS - 1) for i in range(_BLOCKS)]


def _read_at(file: BinaryIO, start: int) -> bytes:
    file.seek(start)
    return file.read(_BLOCK)


def check_once(paths: Sequence[AnyPath]) -> None:
    """Raise ValueError where one file is given twice. Copies and hard links are other files."""
    seen: set[str] = set()
    for path in paths:
        real = identity_of(path)
        if real in seen:
            raise ValueError(
                f"{path}: given twice, so that its rows would count twice. Leave one out, or say "
                "--again."
            )
        seen.add(real)


def check_new(
    known: Collection[LearnedFile], new: Sequence[LearnedFile], model: str, *, what: str = "learned"
) -> None:
    """Raise ValueError where some of the new files are known to the model already."""
    digests = {file.digest for file in known}
    twice = [file.name for file in new if file.digest in digests]
    if twice:
        shown = ", ".join(twice[:5]) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
        raise ValueError(
            f"{model}: has {what} {shown} already, so that these rows would count twice. Leave "
            "them out, or say --again."
        )


def joined(first: Sequence[LearnedFile], then: Sequence[LearnedFile]) -> tuple[LearnedFile, ...]:
    """Both, each file once, at most the last `MOST`."""
    return tuple({file.digest: file for file in (*first, *then)}.values())[-MOST:]


def restore(value: Any) -> tuple[LearnedFile, ...]:
    """Fingerprints from what JSON holds. Raises ValueError for all that are none."""
    if type(value) is not list or len(value) > MOST:
        raise ValueError(f"learned is not a list of at most {MOST} files")
    for item in value:
        if type(item) is not list or list(map(type, item)) != [str, int, str]:
            raise ValueError("a learned file is not a name, a size and a digest")
        if item[1] < 0 or not re.fullmatch("[0-9a-f]{32}", item[2]):
            raise ValueError("a learned file has no valid size and digest")
    return tuple(LearnedFile(*item) for item in value)
