"""How a CSV file is written: separators, decimal points, missing values, encoding, quotes."""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Iterable

__all__ = ["CsvDialect", "is_utf8", "separator"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CsvDialect:
    r"""How CSV files are written.

    Parameters
    ----------
    sep : str, default=None
        Character between fields. None: a comma, or a tab in files that end in ``.tsv``.
    decimal : str, default="."
        Character before the decimals of a number.
    thousands : str, default=None
        Character between groups of digits. None: there is none.
    na_values : str or iterable of str, default=()
        Words that stand for a missing value, besides an empty field, ``NA``, ``NaN``, ``null`` and
        the like.
    encoding : str, default="utf-8"
        Encoding of the text, such as ``"latin-1"`` or ``"utf-16"``.
    quote : str, default='"'
        Character around a field that holds separators or line ends, in which it is doubled. None:
        nothing is quoted.

    Raises
    ------
    ValueError
        If a character is not one character, two of them are the same, or the encoding is unknown.

    See Also
    --------
    fastgnb.files.fit : Fit an estimator to files.

    Notes
    -----
    Decimal points and separators of thousands are those of features and weights. Labels,
    categories and kept columns are text, and labels are numbers only where they are spelled with a
    decimal point.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> _ = Path("rows.csv").write_text("x;y\n1,5;a\n2,5;a\n?;b\n5,5;b\n6,5;b\n")
    >>> dialect = files.CsvDialect(sep=";", decimal=",", na_values="?")
    >>> model = files.fit("rows.csv", target="y", csv=dialect, on_error="skip")
    >>> model.theta_.tolist()
    [[2.0], [6.0]]
    """

    sep: str | None = None
    decimal: str = "."
    thousands: str | None = None
    na_values: str | Iterable[str] = ()
    encoding: str = "utf-8"
    quote: str | None = '"'

    def __post_init__(self) -> None:
        words = (self.na_values,) if isinstance(self.na_values, str) else tuple(self.na_values)
        if not all(isinstance(word, str) for word in words):
            raise TypeError(f"na_values must be words, got {words!r}.")
        object.__setattr__(self, "na_values", words)
        characters = {
            name: value
            for name in ("sep", "decimal", "thousands", "quote")
            if (value := getattr(self, name)) is not None
        }
        for name, value in characters.items():
            _check_character(name, value)
        _check_distinct(characters)
        _check_encoding(self.encoding)


def is_utf8(dialect: CsvDialect) -> bool:
    """Whether Arrow reads the text as it is."""
    return codecs.lookup(dialect.encoding).name == "utf-8"


def separator(dialect: CsvDialect, default: str) -> str:
    """The character between fields. Raises ValueError for one that numbers hold."""
    sep = default if dialect.sep is None else dialect.sep
    if sep == dialect.decimal:
        raise ValueError(
            f"fields and decimals of CSV are both separated by {sep!r}; name the separator of "
            "fields, such as --sep ';'"
        )
    if sep == dialect.quote:
        raise ValueError(f"{sep!r} cannot both separate and quote fields; name another --sep")
    return sep


def _check_character(name: str, value: object) -> None:
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in "\r\n\0":
        raise ValueError(f"{name} must be one ASCII character, got {value!r}.")


def _check_distinct(characters: dict[str, str]) -> None:
    for first, a in characters.items():
        for second, b in characters.items():
            if first < second and a == b:
                raise ValueError(f"{first} and {second} are both {a!r}, expected two characters.")


def _check_encoding(encoding: str) -> None:
    try:
        found = codecs.lookup(encoding)
    except (LookupError, TypeError) as error:
        raise ValueError(f"encoding {encoding!r} is not known to Python.") from error
    if not found._is_text_encoding:
        raise ValueError(f"encoding {encoding!r} is no encoding of text.")
