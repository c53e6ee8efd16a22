"""Which files a list of files and folders stands for."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Iterator

from ..errors import SourceError

__all__ = ["ENDINGS", "check_no_pipe", "expand"]

ENDINGS = (".parquet", ".csv", ".arrow", ".feather", ".ipc")
"""How files of named columns end; those of matrices end in .npy."""

_PACKED = {".gz", ".bz2", ".xz", ".zst", ".zip", ".lz4", ".7z", ".tar"}


def expand(data: Iterable[str | os.PathLike[str]]) -> list[pathlib.Path]:
    """The files that `data` stands for, folders replaced by what is in them, sorted by name."""
    files: list[pathlib.Path] = []
    for path in map(pathlib.Path, data):
        inside = sorted(_inside(path)) if path.is_dir() else [path]
        if not inside:
            raise SourceError(f"{path}: no data file in this folder; {_expected()}")
        for file in inside:
            _check_file(file)
        files += inside
    return files


def _inside(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Data files in a folder and below. A part that cannot be read is an error, not left out."""

    def fail(error: OSError) -> None:
        raise SourceError(f"{error.filename}: {error.strerror}") from error

    seen = set()
    for here, folders, files in os.walk(folder, onerror=fail, followlinks=True):
        real = os.path.realpath(here)
        folders[:] = () if real in seen else sorted(f for f in folders if f[0] not in "._")
        if real not in seen:  # else a link has led here once more
            yield from (pathlib.Path(here, f) for f in files if f[0] not in "._" and _is_data(f))
        seen.add(real)


def _is_data(name: str) -> bool:
    return pathlib.Path(name).suffix.lower() in (*ENDINGS, ".npy")


def _check_file(path: pathlib.Path) -> None:
    if not path.exists():
        link = f"; it is a link to {os.readlink(path)}" if path.is_symlink() else ""
        raise SourceError(f"{path}: no such file or folder{link}")
    check_no_pipe(path)
    if not _is_data(path.name):
        packed = "; unpack it first" if path.suffix.lower() in _PACKED else ""
        raise SourceError(f"{path}: unknown ending {path.suffix!r}; {_expected()}{packed}")


def _expected() -> str:
    return "expected " + ", ".join((*ENDINGS, ".npy"))


def check_no_pipe(path: pathlib.Path) -> None:
    """To open a pipe would wait for one that writes, perhaps for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise SourceError(
            f"{path}: a pipe or a device, expected a file, which can be read more than once"
        )
