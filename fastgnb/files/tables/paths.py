"""Which files a list of files and folders stands for."""

from __future__ import annotations

import glob
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..._system.remote.errors import RemoteError
from ..._system.remote.paths import AnyPath, RemotePath, as_path
from ..errors import SourceError
from ..phrases import counted, listed
from .formats import OUTPUT_ENDINGS, format_of, has_ending, unknown_ending

__all__ = ["Listing", "check_no_pipe", "expand", "list_files"]


class Listing(NamedTuple):
    """The files that a list of files, folders and patterns stands for.

    passed_over : those in folders that are no data, by their names.
    """

    files: list[AnyPath]
    passed_over: list[AnyPath]

    def notes(self) -> list[str]:
        """Which files of folders were passed over, if any were."""
        if not self.passed_over:
            return []
        names = sorted({_ending(path) or path.name for path in self.passed_over})
        files = counted(len(self.passed_over), "file")
        return [f"passed over in folders, no data by ending: {files} ({listed(names)})"]


def expand(data: Iterable[str | os.PathLike[str]], given: str | None = None) -> list[AnyPath]:
    """The files that `data` stands for, folders replaced by what is in them, sorted by name."""
    return list_files(data, given).files


def list_files(data: Iterable[str | os.PathLike[str]], given: str | None = None) -> Listing:
    """The files that `data` stands for, and what was passed over in folders.

    A pattern such as ``data/*.parquet`` or ``**/*.csv`` stands for the files and folders that it
    matches, sorted by name, and must match one. With a `given` format, files that are named are of
    that format whatever their ending, and those in folders by it or without any ending.
    """
    listing = Listing([], [])
    for path in data:
        _add(listing, as_path(path), given)
    for file in listing.files:
        _check_file(file, given)
    return listing


def _add(listing: Listing, path: AnyPath, given: str | None) -> None:
    """Add the files that a path or a pattern stands for. Raises SourceError for none."""
    is_pattern = _is_pattern(path)
    files, passed_over = [], []
    for found in _matches(path) if is_pattern else [path]:
        inside = _files_of(found)
        if inside == [path]:  # named, whatever its ending
            files.append(path)
            continue
        files += [file for file in inside if _is_data(file, given)]
        passed_over += [file for file in inside if not _is_data(file, given)]
    if not files:
        what = "matches this pattern" if is_pattern else "in this folder"
        raise SourceError(f"{path}: no data file {what}; {_expected()}")
    listing.files.extend(files)
    listing.passed_over.extend(passed_over)


def _files_of(path: AnyPath) -> list[AnyPath]:
    """The files in a folder, or the file itself."""
    try:
        if isinstance(path, RemotePath) and path.is_listed:
            return [path]
        return sorted(_inside(path)) if path.is_dir() else [path]
    except RemoteError as error:  # which names the path
        raise SourceError(str(error)) from error


def _is_pattern(path: AnyPath) -> bool:
    if not glob.has_magic(str(path)):
        return False
    return not (os.path.lexists(path) if isinstance(path, pathlib.Path) else path.exists())


def _matches(pattern: AnyPath) -> list[AnyPath]:
    """The files and folders that a pattern matches, sorted by name; with ** only files.

    Raises SourceError where there is none.
    """
    text = str(pattern)
    found: list[AnyPath] = (
        [*pattern.matches()]
        if isinstance(pattern, RemotePath)
        else [pathlib.Path(name) for name in sorted(glob.glob(text, recursive=True))]
    )
    kept = [
        path
        for path in found
        if not _is_hidden(path, pattern) and not ("**" in text and path.is_dir())
    ]
    if not kept:
        raise SourceError(f"{pattern}: no file matches this pattern")
    return kept


def _is_hidden(path: AnyPath, pattern: AnyPath) -> bool:
    """Whether a match is no data by its name, such as _SUCCESS, or in such a folder."""
    fixed = set(pattern.parts)
    return any(part[0] in "._" and part not in fixed for part in path.parts) and not any(
        part[0] in "._" and glob.has_magic(part) for part in fixed
    )


def _inside(folder: AnyPath) -> Iterator[AnyPath]:
    """Files in a folder and below, but hidden ones. What cannot be read is an error."""
    if isinstance(folder, RemotePath):
        for path, parts in folder.files_below():
            if not any(part[0] in "._" for part in parts):
                yield path
        return

    def fail(error: OSError) -> None:
        raise SourceError(f"{error.filename}: {error.strerror}") from error

    seen = set()
    for here, folders, files in os.walk(folder, onerror=fail, followlinks=True):
        real = os.path.realpath(here)
        folders[:] = () if real in seen else sorted(f for f in folders if f[0] not in "._")
        if real not in seen:  # else a link has led here once more
            yield from (pathlib.Path(here, f) for f in files if f[0] not in "._")
        seen.add(real)


def _ending(path: AnyPath) -> str:
    return path.suffix.lower()


def _is_data(path: AnyPath, given: str | None) -> bool:
    """Whether a file in a folder is data: by its ending, or without one as is `given`."""
    by_name = format_of(path)
    if by_name is not None:
        return given in (None, by_name.kind)
    return given is not None and not has_ending(path)


def _check_file(path: AnyPath, given: str | None) -> None:
    is_listed = isinstance(path, RemotePath) and path.is_listed
    if not is_listed and not path.exists():
        is_link = isinstance(path, pathlib.Path) and path.is_symlink()
        link = f"; it is a link to {os.readlink(path)}" if is_link else ""
        raise SourceError(f"{path}: no such file or folder{link}")
    check_no_pipe(path)
    if format_of(path, given) is None:
        raise SourceError(f"{path}: {unknown_ending(path)}")


def _expected() -> str:
    return "expected " + ", ".join(OUTPUT_ENDINGS)


def check_no_pipe(path: AnyPath) -> None:
    """To open a pipe would wait for one that writes, perhaps for ever."""
    if isinstance(path, RemotePath):
        return
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise SourceError(
            f"{path}: a pipe or a device, expected a file, which can be read more than once"
        )
