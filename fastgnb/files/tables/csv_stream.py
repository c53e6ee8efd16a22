"""The text of a CSV file as Arrow reads it: unpacked, in UTF-8, and with plain numbers."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Iterable, Iterator

from ..._system.optional import csv, pa, pc
from ..._system.remote.errors import RemoteError
from ..._system.remote.paths import AnyPath, RemotePath
from ..errors import SourceError
from .csv_dialect import CsvDialect, is_utf8
from .csv_errors import short_line
from .table_file import opened, prefix_path
from .texts import NULLS

__all__ = [
    "convert_options",
    "parse_options",
    "plain_numbers",
    "prefix_text_errors",
    "read_ahead",
    "runs_python",
    "start_of",
    "text_stream",
    "without_words",
]

_PATIENCE = 0.5
"""Seconds that Arrow's thread has for a call into Python, before Python ends."""


def text_stream(path: AnyPath, compression: str | None, dialect: CsvDialect) -> pa.NativeFile:
    """The text of a file in UTF-8, from its beginning. Memory does not grow with the file.

    Nobody closes it: its file is closed when the last lets go of it. Arrow reads CSV ahead in a
    thread that it does not wait for, even when the reader is closed and gone. Were the file closed
    under a read, the operating system could give its descriptor to the file that is opened next,
    whose first rows that read would take.
    """
    stream = opened(path)
    if compression is not None:
        stream = pa.CompressedInputStream(stream, compression)
    if not is_utf8(dialect):
        stream = pa.transcoding_input_stream(stream, dialect.encoding, "utf-8")
    return stream


def runs_python(path: AnyPath, dialect: CsvDialect) -> bool:
    """Whether to read the `text_stream` of a file runs Python, and not Arrow alone."""
    return isinstance(path, RemotePath) or not is_utf8(dialect)


def start_of(stream: pa.NativeFile, size: int) -> bytes:
    """The first bytes of a stream, fewer only where there are no more."""
    parts = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


@contextlib.contextmanager
def read_ahead(source: pa.NativeFile, head: bytes = b"") -> Iterator[pa.NativeFile]:
    """`head` and what is left of a source after it, as a file that Arrow may read ahead of its use.

    For sources that run Python, which Arrow's thread then does: no read goes on when the block
    ends, and Python waits at its end for those of blocks that have not, see `_let_go`.
    """
    file = _ReadAhead(head, source)
    weakref.finalize(file, _let_go, weakref.ref(file))
    try:
        yield pa.PythonFile(file, "r")
    finally:
        file.end()


class _ReadAhead:
    """What Arrow reads of a file in Python, from front to back, until it is told to end."""

    closed = False

    def __init__(self, head: bytes, source: pa.NativeFile) -> None:
        self._head, self._source = head, source
        self._reading = threading.Lock()
        self._has_ended = False

    def read(self, size: int = -1) -> bytes:
        with self._reading:
            return b"" if self._has_ended else self._next(size)

    def _next(self, size: int) -> bytes:
        if not self._head:
            return bytes(self._source.read(size))
        part = self._head if size < 0 else self._head[:size]
        self._head = self._head[len(part) :]
        return part

    def end(self) -> None:
        """Wait for the read that goes on, if any; later ones find nothing."""
        self._has_ended = True
        with self._reading:
            pass

    def close(self) -> None:
        """The source is not closed by hand, see `text_stream`."""


def _let_go(file: weakref.ref[_ReadAhead]) -> None:
    """Have Arrow's thread end its calls into Python: one while Python ends would abort the process.

    Called when the file is gone, or when Python ends. A reader that is open then may have paused,
    and does not tell: it is given a moment.
    """
    if (found := file()) is not None:
        found.end()
        del found
    deadline = time.monotonic() + _PATIENCE
    while file() is not None and time.monotonic() < deadline:
        time.sleep(0.001)


@contextlib.contextmanager
def prefix_text_errors(
    path: AnyPath, compression: str | None, dialect: CsvDialect
) -> Iterator[None]:
    """Put the file's name before what is said of its bytes; ArrowInvalid is left to the caller."""
    try:
        yield
    except pa.ArrowInvalid:  # a ValueError
        raise
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: {_not_decoded(error, dialect)}") from error
    except RemoteError as error:  # which names the path
        raise SourceError(str(error)) from error
    except (pa.ArrowException, OSError) as error:
        if compression is None or not isinstance(error, OSError) or error.errno:
            with prefix_path(path):
                raise
        raise SourceError(
            f"{path}: the {compression} file is damaged or not complete: {short_line(str(error))}"
        ) from error


def _not_decoded(error: UnicodeDecodeError, dialect: CsvDialect) -> str:
    if is_utf8(dialect):
        return f"a name or a text is not UTF-8: {error}; name its encoding, or write it in UTF-8"
    return f"the text is not {dialect.encoding}: {short_line(str(error))}"


def parse_options(dialect: CsvDialect, sep: str) -> csv.ParseOptions:
    return csv.ParseOptions(
        delimiter=sep,
        quote_char=False if dialect.quote is None else dialect.quote,
        # Without it a quoted line break at the edge of a block splits a row.
        newlines_in_values=dialect.quote is not None,
    )


def convert_options(
    dialect: CsvDialect, columns: Iterable[str] = (), types: object = None
) -> csv.ConvertOptions:
    options = {}
    if dialect.na_values:
        options["null_values"] = sorted({*NULLS, *dialect.na_values})
    return csv.ConvertOptions(
        include_columns=list(columns), column_types=types, decimal_point=dialect.decimal, **options
    )


def without_words(column: pa.Array, dialect: CsvDialect) -> pa.Array:
    """Text in which the words of `na_values` are empty fields, as others write them."""
    if not dialect.na_values or not pa.types.is_string(column.type):
        return column
    is_word = pc.is_in(pc.ascii_trim(column, " \t"), pa.array(list(dialect.na_values), pa.string()))
    return pc.if_else(is_word, pa.scalar(""), column)


def plain_numbers(column: pa.Array, dialect: CsvDialect) -> pa.Array:
    """Text of numbers with a decimal point, and without separators of thousands.

    What is no number in the dialect is none in the result.
    """
    if dialect.thousands is not None:
        column = _without_thousands(column, dialect.thousands)
    if dialect.decimal != ".":
        column = pc.replace_substring(column, ".", "\0")  # no decimal point here
        column = pc.replace_substring(column, dialect.decimal, ".")
    return column


def _without_thousands(column: pa.Array, mark: str) -> pa.Array:
    """Numbers grouped by `mark` without it; other text as it is."""
    grouped = rf"^[ \t]*[+-]?[0-9]{{1,3}}(\x{ord(mark):02x}[0-9]{{3}})+([^0-9\x{ord(mark):02x}]|$)"
    is_grouped = pc.match_substring_regex(column, grouped)
    return pc.if_else(is_grouped, pc.replace_substring(column, mark, ""), column)
