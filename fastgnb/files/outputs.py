"""Checks of an output file, made before any work."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable

from .._system.atomic import check_writable, is_same_file
from .._system.remote.paths import AnyPath, as_path
from .tables.formats import OUTPUT_ENDINGS
from .tables.paths import expand

__all__ = ["OUTPUT_ENDINGS", "check_output", "is_folder", "make_folder"]

Path = str | os.PathLike[str]


def check_output(
    output: Path,
    others: Iterable[Path | None],
    data: Iterable[Path] = (),
    given: str | None = None,
) -> None:
    """Raise OSError or ValueError unless `output` can be written and would replace no input.

    Parameters
    ----------
    output : path of the file to write.
    others : input files.
    data : input files of rows, and folders of them. given : their format, where names do not tell.
    """
    check_writable(output)
    for path in (*expand(data, given), *others):
        if path is not None and is_same_file(path, output):
            raise ValueError(f"{os.fspath(output)}: the output would replace an input")


def is_folder(output: Path) -> bool:
    """Whether an output is a folder: it ends in a slash, or is one on this machine."""
    text = os.fspath(output)
    return text.endswith(("/", os.sep)) or os.path.isdir(text)


def make_folder(path: Path) -> AnyPath:
    """The folder, which is made unless it is there. Raises OSError where files cannot be written.

    Object stores have no folders to be made.
    """
    folder = as_path(path)
    if isinstance(folder, pathlib.Path) and not folder.is_dir():
        check_writable(folder)
        if folder.exists():
            raise NotADirectoryError(f"cannot write {folder}: it is a file, expected a folder")
        folder.mkdir(exist_ok=True)
    check_writable(folder / "file")
    return folder
