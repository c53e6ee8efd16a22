"""What is wrong with a CSV file, in words that say what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .texts import advice

__all__ = ["NotCsvError", "check_start", "explained", "short_line", "unnamed_header"]


class NotCsvError(ValueError):
    """The file is no CSV that can be read; the message says what it is."""


_MAGIC = {
    b"\x1f\x8b": "a gzip file; name it .csv.gz, or unpack it first",
    b"BZh": "a bzip2 file; name it .csv.bz2, or unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first, or save an Excel workbook as CSV",
    b"(\xb5/\xfd": "a zstd file; name it .csv.zst, or unpack it first",
    b"\x04\x22\x4d\x18": "an lz4 file; unpack it first",
    b"\xfd7zXZ": "an xz file; unpack it first",
    b"\xd0\xcf\x11\xe0": "an Excel workbook; save it as CSV first",
    b"PAR1": "a Parquet file; name it .parquet",
    b"ARROW1": "an Arrow file; name it .arrow",
    b"\x93NUMPY": "a NumPy array; name it .npy",
    b"\xff\xfe": "text in UTF-16; say --encoding utf-16, or write it in UTF-8",
    b"\xfe\xff": "text in UTF-16; say --encoding utf-16, or write it in UTF-8",
}
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


def check_start(start: bytes, sep: str = ",", quote: str | None = '"') -> None:
    """Refuse what others also call .csv, of which Arrow would only say what it is not.

    Raises NotCsvError. `start` is the first few kilobytes of text whose fields `sep` separates.
    """
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise NotCsvError(f"expected CSV, got {what}")
    lines = start.removeprefix(b"\xef\xbb\xbf").splitlines()
    header = next((line for line in lines if line), b"")
    if b"\0" in header:
        raise NotCsvError(
            "expected CSV, got NUL bytes, as UTF-16 has them; name its encoding, "
            "or write text in UTF-8"
        )
    _check_header(header.decode("utf-8", "replace"), sep, quote)


def _check_header(header: str, sep: str, quote: str | None) -> None:
    """Raise NotCsvError where the only name in the header holds another separator."""
    mark = "" if quote is None else re.escape(quote)
    unquoted = re.sub(f"{mark}(?:[^{mark}]|{mark}{mark})*{mark}", "", header) if mark else header
    if sep in unquoted:
        return
    for other, name in _SEPARATORS.items():
        if other in unquoted:
            shown = "tab" if other == "\t" else repr(other)
            raise NotCsvError(
                f"the columns are separated by {other!r}, {name}, expected {sep!r}; say --sep "
                f"{shown}, and --decimal ',' where numbers have decimal commas"
            )


_WRONG_VALUE = re.compile(
    r"In CSV column #(?P<column>\d+): (?:Row #(?P<row>\d+): )?"
    r"CSV conversion error to (?P<type>.*?): invalid value '(?P<value>.*)'",
    re.DOTALL,
)
_NOT_UTF8 = re.compile(
    r"In CSV column #(?P<column>\d+): (?:Row #(?P<row>\d+): )?"
    r"CSV conversion error to string: invalid UTF8"
)
_WRONG_WIDTH = re.compile(
    r"CSV parse error: (?:Row #(?P<row>\d+): )?"
    r"(?P<what>Expected (?P<wanted>\d+) columns, got (?P<got>\d+).*)",
    re.DOTALL,
)
_PARSE = re.compile(r"CSV parse error: (?:Row #(?P<row>\d+): )?(?P<what>.*)", re.DOTALL)


def explained(message: str, names: Sequence[str], block: int) -> str:
    """Arrow's message with the column by name and the row counted as everywhere else.

    Arrow counts the header as row 1; here row 1 is the first row of data. `block` is the number of
    bytes that are parsed at a time.
    """
    if match := _WRONG_VALUE.search(message):
        kinds = {"double": "a number", "bool": "true or false"}
        value = match["value"]
        return (
            f"{_place(match, names)}: expected {kinds.get(match['type'], match['type'])}, "
            f"got {_short(value)}{advice(value)}"
        )
    if match := _NOT_UTF8.search(message):
        return (
            f"{_place(match, names)}: text that is not UTF-8; name its encoding, such as "
            "--encoding latin-1, or write the file in UTF-8"
        )
    if "cannot infer number of columns" in message:
        return f"no line of column names ends in the first {block} bytes"
    if "straddling object" in message:
        return (
            f"a row is longer than {block} bytes, the most that are read at once; "
            "is a line end or a closing quote missing?"
        )
    if match := _WRONG_WIDTH.search(message):
        return _row(match) + short_line(match["what"]) + _width_advice(match)
    if match := _PARSE.search(message):
        return _row(match) + short_line(match["what"])
    return short_line(message)


def _place(match: re.Match[str], names: Sequence[str]) -> str:
    row = f", row {int(match['row']) - 1}" if match["row"] else ""
    return f"column {names[int(match['column'])]!r}{row}"


def _row(match: re.Match[str]) -> str:
    return f"row {int(match['row']) - 1}: " if match["row"] else ""


def _width_advice(match: re.Match[str]) -> str:
    """The first row shows whether every row is too wide; a later one, that a comma is a part of
    a value."""
    wanted, got = int(match["wanted"]), int(match["got"])
    if got == wanted + 1 and match["row"] == "2":
        return (
            "; the names are one fewer than the values, as where R writes row names: write them "
            "with a name, or not at all (row.names=FALSE)"
        )
    if got > wanted:
        return "; a value that holds a comma, such as 1,234, has to be in quotes"
    return ""


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:37] + "...")


def short_line(text: str) -> str:
    """One line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."


def unnamed_header(names: Sequence[str]) -> bool:
    """Whether the names look like values: a file without a line of names."""
    numbers = 0
    for name in names:
        try:
            float(name)
        except ValueError:
            continue
        numbers += 1
    return 2 * numbers > len(names)
