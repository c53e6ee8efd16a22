"""Which format a file has, and how its text is compressed: by its name, or as it is told."""

from __future__ import annotations

import os
from typing import NamedTuple

__all__ = [
    "ENDINGS",
    "FORMATS",
    "OUTPUT_ENDINGS",
    "FileFormat",
    "format_of",
    "has_ending",
    "is_npy",
    "output_format",
    "stem_of",
    "unknown_ending",
]

FORMATS = ("csv", "parquet", "arrow", "npy")
"""What `format` may be."""

_KINDS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_PACKED = {*_COMPRESSIONS, ".xz", ".zip", ".lz4", ".7z", ".tar", ".tgz"}

ENDINGS = tuple(ending for ending in _KINDS if ending != ".npy")
"""How files of named columns end; CSV may be compressed, and then ends in one more."""

OUTPUT_ENDINGS = (*ENDINGS, ".npy")
"""How files of predictions end."""


class FileFormat(NamedTuple):
    """The format of a file.

    kind : one of `FORMATS`. compression : what Arrow calls that of CSV, or None. sep : what
    separates the fields of CSV, unless its dialect says.
    """

    kind: str
    compression: str | None = None
    sep: str = ","


Path = str | os.PathLike[str]


def format_of(path: Path, given: str | None = None) -> FileFormat | None:
    """The format that the name of a file tells, or that is given; None where neither does.

    Only text is read compressed: Parquet and Arrow compress inside.
    """
    stem, ending = _split(os.fspath(path))
    compression = _COMPRESSIONS.get(ending)
    if compression is not None:
        _, ending = _split(stem)
    kind = given or _KINDS.get(ending)
    if kind is None or (compression is not None and kind != "csv"):
        return None
    return FileFormat(kind, compression, "\t" if ending == ".tsv" else ",")


def _split(path: str) -> tuple[str, str]:
    stem, ending = os.path.splitext(path)
    return stem, ending.lower()


def has_ending(path: Path) -> bool:
    """Whether a name has an ending, besides that of a compressed file."""
    stem, ending = _split(os.path.basename(os.fspath(path)))
    return _split(stem)[1] != "" if ending in _COMPRESSIONS else ending != ""


def stem_of(name: str) -> str:
    """A name of a file without its ending, and that of a compressed file."""
    stem, ending = _split(name)
    return _split(stem)[0] if ending in _COMPRESSIONS else stem


def is_npy(path: Path, given: str | None = None) -> bool:
    """Whether a file holds a .npy array, whose columns have no names."""
    found = format_of(path, given)
    return found is not None and found.kind == "npy"


def output_format(path: Path, given: str | None = None) -> FileFormat:
    """The format to write a file in. Raises ValueError where neither its name nor `given` tells."""
    found = format_of(path, given)
    if found is None:
        raise ValueError(
            f"{os.fspath(path)!r} does not end in one of {', '.join(OUTPUT_ENDINGS)}, nor does "
            "--output-format tell; a folder ends in /"
        )
    return found


def unknown_ending(path: Path) -> str:
    """What to do about a name that does not tell a format."""
    _, ending = _split(os.fspath(path))
    expected = f"unknown ending {ending!r}; expected {', '.join(OUTPUT_ENDINGS)}"
    if ending in _PACKED:
        return f"{expected}, or CSV in .csv.gz, .csv.bz2, .csv.zst; unpack it first"
    return f"{expected}; or say --format"
