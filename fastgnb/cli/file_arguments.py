"""How files are read: the arguments that all commands over rows share."""

from __future__ import annotations

import argparse
import codecs
from typing import Any

from ..files.tables.csv_dialect import CsvDialect
from ..files.tables.file_options import FileOptions
from ..files.tables.formats import FORMATS
from .argument_types import AddNames, names

__all__ = ["add_file_arguments", "file_options"]

_CSV = ("sep", "decimal", "thousands", "na_values", "encoding", "quote")


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Which rows of the files are read, and how the files are written."""
    group = parser.add_argument_group("files")
    group.add_argument(
        "--where", metavar="EXPR",
        help="only rows that meet a condition, such as \"year >= 2026 and month in (11, 12)\"; "
        "files and row groups without any are skipped",
    )  # fmt: skip
    group.add_argument(
        "--format", choices=FORMATS, help="the format of DATA, where endings do not tell"
    )
    group.add_argument(
        "--sep", type=_character, metavar="CHAR",
        help="between fields of CSV; tab is a tab; default: a comma, or a tab in .tsv",
    )  # fmt: skip
    group.add_argument(
        "--decimal", type=_character, metavar="CHAR", help="before decimals in CSV; default: ."
    )
    group.add_argument(
        "--thousands", type=_character, metavar="CHAR",
        help="between groups of digits in CSV; default: there is none",
    )  # fmt: skip
    group.add_argument(
        "--na-values", type=names, action=AddNames, metavar="A,B",
        help="further words of CSV for a missing value; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--encoding", type=_encoding, metavar="NAME", help="of CSV, such as latin-1; default: utf-8"
    )
    group.add_argument(
        "--quote", type=_quote, metavar="CHAR",
        help="around fields of CSV that hold separators; none: no field is quoted; default: \"",
    )  # fmt: skip


def file_options(args: argparse.Namespace) -> FileOptions:
    """How files are read, as the arguments say."""
    given: dict[str, Any] = {name: getattr(args, name) for name in _CSV}
    dialect = {name: value for name, value in given.items() if value is not None}
    if dialect.get("quote") == "":
        dialect["quote"] = None
    return FileOptions(
        format=args.format, csv=CsvDialect(**dialect), where=args.where,
        output_format=getattr(args, "output_format", None),
    )  # fmt: skip


def _character(text: str) -> str:
    text = "\t" if text in ("tab", r"\t") else text
    if len(text) != 1 or not text.isascii() or not (text.isprintable() or text == "\t"):
        raise argparse.ArgumentTypeError(f"{text!r} is not one ASCII character")
    return text


def _quote(text: str) -> str:
    return "" if text in ("", "none") else _character(text)


def _encoding(text: str) -> str:
    try:
        known = codecs.lookup(text)._is_text_encoding
    except LookupError:
        known = False
    if not known:
        raise argparse.ArgumentTypeError(f"{text!r} is no encoding of text that Python knows")
    return text
