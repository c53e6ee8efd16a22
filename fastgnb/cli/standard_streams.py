"""`-` in place of a file: rows from standard input, and results to standard output.

Rows are looked at more than once, so that standard input is first written to a temporary file, and
a result is written to one, too: whoever reads standard output gets all of it or nothing. Memory
does not grow with the rows; the folder of temporary files (TMPDIR) has to hold them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from ..files.errors import SourceError
from ..files.outputs import is_folder
from .streams import prefix_stdout

__all__ = ["STDIN", "STDOUT", "deliver", "shown", "standard_streams"]

STDIN, STDOUT = "standard input", "standard output"

_BUFFER = 1 << 20
_RESULTS = {
    "fit": "model", "update": "output", "merge": "output", "reestimate": "output",
    "predict": "output", "report": "output",
}  # fmt: skip
"""The argument of each command that names the file of its result."""

_ENDINGS = {"csv": ".csv", "parquet": ".parquet", "arrow": ".arrow", "npy": ".npy"}
_STARTS = {
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",  # a stream
    b"PAR1": ".parquet",
    b"\x93NUMPY": ".npy",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"(\xb5/\xfd": ".csv.zst",
}


@contextlib.contextmanager
def standard_streams(args: argparse.Namespace) -> Iterator[None]:
    """Within it, the arguments name files where they were `-`; `deliver` writes the result."""
    data, names = getattr(args, "data", None) or [], _output_of(args)
    if "-" not in data and names is None:
        yield
        return
    if "-" in data and _is_resumed(args):
        raise SourceError(
            "standard input (-) cannot be read again, as a run that goes on after a crash has to: "
            "a checkpoint, and a folder of outputs, are for files"
        )
    with tempfile.TemporaryDirectory(prefix="fastgnb-") as folder, _renamed(args, folder):
        if "-" in data:
            args.data = _with_stdin(data, pathlib.Path(folder), args.format)
        if names is None:
            yield
            return
        sink, ending = _binary(sys.stdout, STDOUT), _ending_of(args)
        if ending not in (".csv", ".html") and sink.isatty():
            raise SourceError("the result is no text, and standard output is a terminal")
        path = os.path.join(folder, f"{STDOUT}{ending}")
        setattr(args, names, path)
        args.deliver = lambda: _copy(path, sink)
        yield


def deliver(args: argparse.Namespace) -> None:
    """Write the result to standard output, if it goes there. Raises OSError."""
    if (copy := getattr(args, "deliver", None)) is not None:
        with prefix_stdout():
            copy()


def shown(args: argparse.Namespace, text: str) -> str:
    """A message as users know the files: temporary ones are the streams that they stand for."""
    folder = getattr(args, "temporary_folder", None)
    if folder is None:
        return text
    for stream in (STDIN, STDOUT):
        for ending in (*_STARTS.values(), *_ENDINGS.values(), ".html", ""):
            text = text.replace(os.path.join(folder, stream + ending), stream)
    return text


def _output_of(args: argparse.Namespace) -> str | None:
    """The argument that is `-` and names the file of the result."""
    name = _RESULTS.get(args.command)
    if getattr(args, "shard", None) is not None:  # which writes no model
        return None
    return name if name is not None and getattr(args, name) == "-" else None


def _is_resumed(args: argparse.Namespace) -> bool:
    """Whether a rerun takes what an earlier run has done."""
    if args.command == "predict":
        return is_folder(args.output)
    return getattr(args, "checkpoint", None) is not None


def _ending_of(args: argparse.Namespace) -> str:
    """What the result is: a page, a model, or a table, CSV by default."""
    if args.command == "report":
        return ".html"
    return _ENDINGS[args.output_format or "csv"] if args.command == "predict" else ""


@contextlib.contextmanager
def _renamed(args: argparse.Namespace, folder: str) -> Iterator[None]:
    """Name the streams in errors."""
    args.temporary_folder = folder
    try:
        yield
    except OSError as error:
        if error.filename is None or not error.errno:
            raise
        raise type(error)(error.errno, error.strerror, shown(args, str(error.filename))) from error
    except ValueError as error:
        told = shown(args, str(error))
        if told == str(error):
            raise
        raise SourceError(told) from error


def _with_stdin(data: list[str], folder: pathlib.Path, given: str | None) -> list[str]:
    if data.count("-") > 1:
        raise SourceError("standard input (-) is given twice, and can be read once")
    source = _binary(sys.stdin, STDIN)
    if source.isatty():
        raise SourceError("standard input is a terminal, expected rows from a pipe or a file")
    start = source.read(16)
    ending = next((e for magic, e in _STARTS.items() if start.startswith(magic)), None)
    path = folder / f"{STDIN}{ending or _ENDINGS[given or 'csv']}"
    with open(path, "wb") as file:
        file.write(start)
        shutil.copyfileobj(source, file, _BUFFER)
    return [str(path) if each == "-" else each for each in data]


def _binary(stream: Any, name: str) -> IO[bytes]:
    """The bytes of a standard stream, which may be none or one of text alone."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        raise SourceError(f"{name} is closed, or takes no bytes")
    found: IO[bytes] = buffer
    return found


def _copy(path: str, sink: IO[bytes]) -> None:
    """Write a file to a stream; that of Arrow in the format of streams, which needs no seeking."""
    if path.endswith(".arrow"):
        from .._system.optional import ipc  # of the extra `cli`, which models do without

        with ipc.open_file(path) as reader, ipc.new_stream(sink, reader.schema) as writer:
            for i in range(reader.num_record_batches):
                writer.write_batch(reader.get_batch(i))
    else:
        with open(path, "rb") as file:
            shutil.copyfileobj(file, sink, _BUFFER)
    sink.flush()
