"""Checks of an output file, made before any work."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .._system.atomic import check_writable, is_same_file
from .tables.paths import ENDINGS, expand

__all__ = ["OUTPUT_ENDINGS", "check_output"]

OUTPUT_ENDINGS = (*ENDINGS, ".npy")
"""How files of predictions end."""

Path = str | os.PathLike[str]


def check_output(output: Path, others: Iterable[Path | None], data: Iterable[Path] = ()) -> None:
    """Raise OSError or ValueError unless `output` can be written and would replace no input.

    Parameters
    ----------
    output : path of the file to write.
    others : input files.
    data : input files of rows, and folders of them.
    """
    check_writable(output)
    for path in (*expand(data), *others):
        if path is not None and is_same_file(path, output):
            raise ValueError(f"{os.fspath(output)}: the output would replace an input")
