"""The names of outputs in a folder: those of the inputs, below the folders that were given."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence

from ..._system.atomic import is_same_file
from ..._system.remote.paths import AnyPath, as_path, identity_of
from ..errors import SourceError
from ..tables.file_options import FileOptions
from ..tables.formats import format_of, stem_of
from ..tables.paths import expand

__all__ = ["check_outside", "output_names"]

Data = Iterable[str | os.PathLike[str]]


def output_names(data: Data, options: FileOptions | None = None) -> dict[AnyPath, str]:
    """The name of the output of each file that `data` stands for, of folders joined by "/".

    Files of a folder keep their names below it; others have their own. The ending is that of the
    format that is written, where `options` name one. Raises SourceError where two outputs would
    have one name.
    """
    options = options or FileOptions()
    names: dict[AnyPath, str] = {}
    first: dict[str, AnyPath] = {}
    for base, path in _with_bases(data, options.format):
        name = _name(path, base, options.output_format)
        other = first.setdefault(name.casefold(), path)
        if other is not path:
            raise SourceError(
                f"{path}: its output would have the name {name!r}, as that of {other}; give the "
                "folder that holds both, or score them into two folders"
            )
        names[path] = name
    return names


def _with_bases(data: Data, given_format: str | None) -> Iterator[tuple[AnyPath, AnyPath]]:
    """The files of `data`, each after the folder below which its name is kept."""
    for given in map(as_path, data):
        base = given if given.is_dir() else given.parent
        while not given.exists() and glob.has_magic(os.fspath(base)):  # of a pattern
            base = base.parent
        for file in expand([given], given_format):
            yield base, file


def _name(file: AnyPath, base: AnyPath, written: str | None) -> str:
    below, above = ([part for part in path.parts if part] for path in (file, base))
    *folders, name = below[len(above) :]
    its = format_of(file)
    if its is None or (written is not None and its.kind != written):
        name = f"{name if its is None else stem_of(name)}.{written or 'parquet'}"
    return "/".join([*folders, name])


def check_outside(
    folder: AnyPath,
    data: Sequence[str | os.PathLike[str]],
    names: Iterable[str],
    given_format: str | None = None,
) -> None:
    """Raise SourceError where outputs would be inputs of this or of the next run."""
    for given in map(as_path, data):
        below = _parts_below(folder, given)
        # Hidden folders are passed over.
        if below is not None and given.is_dir() and not any(part[0] in "._" for part in below):
            raise SourceError(
                f"{folder}: is in {given}, so that the next run would take its files for data; "
                "name a folder outside"
            )
    inputs = [path for path in expand(data, given_format) if _parts_below(path, folder) is not None]
    for name in names:
        for path in inputs:
            if is_same_file(path, folder / name):
                raise SourceError(f"{folder / name}: the output would replace an input")


def _parts_below(path: AnyPath, folder: AnyPath) -> list[str] | None:
    """The parts of a path below a folder, or None where it is elsewhere."""
    below, above = (identity_of(each).replace(os.sep, "/").split("/") for each in (path, folder))
    return below[len(above) :] if below[: len(above)] == above else None
