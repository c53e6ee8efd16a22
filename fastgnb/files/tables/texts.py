"""What the text of a CSV field means as a label or a category.

CSV has no types, and a guess at them loses what distinguishes values: 007 would become 7. So
these columns, and those that are kept, are read as text:

- A kept column is copied as it is written.
- Labels and categories are numbers where every value of the first block is spelled as a number,
  booleans where each is true or false, and otherwise text as it is written. An empty field, NA and
  the like (`NULLS`) do not count; beside text they are text themselves, but for the empty field.
- A number is spelled as JSON spells it: 1, -1, 1.0, 1e3, with spaces around it or not. 1, 1.0 and
  " 1" are one label. 007, +7, 1_000 and 0x1F are text, and so is a column with whole numbers that
  64 bits do not hold, or with a number that a float would round to a whole one.
- What contradicts the decision later in the file is an error. Nothing is converted silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NULLS", "OddText", "advice", "decoded", "is_ambiguous", "kind_of", "nearly_numbers"]

NULLS = frozenset(
    [
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "n/a",
        "nan",
        "null",
    ]
) | {""}
"""What Arrow reads as a missing number."""

_BOOLEANS = {
    word: word.lower() == "true" for word in ["true", "True", "TRUE", "false", "False", "FALSE"]
}
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.0*)?")
_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_EXACT = 2**53
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:[, '][0-9]{3})+(?:\.[0-9]+)?")
_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9]+")
_UNIT = re.compile(r"[$€£+-]*[0-9.]+ ?[%$€£]?")
_PLACEHOLDERS = frozenset(
    [
        "?",
        "-",
        "--",
        ".",
        "*",
        "none",
        "None",
        "NONE",
        "missing",
        "unknown",
        "<NA>",
        "Null",
        "nil",
        "#VALUE!",
        "#DIV/0!",
    ]
)


class OddText(ValueError):
    """The text at `at` is not of the kind that was decided."""

    def __init__(self, at: int, text: str, kind: str) -> None:
        self.at, self.text = at, text
        expected = "true or false" if kind == "boolean" else "a number"
        super().__init__(f"expected {expected}, got {_short(text)}{_as_text(text, kind)}")


def _as_text(text: str, kind: str) -> str:
    if kind == "number" and re.fullmatch(r"[+-]?[0-9]+(\.0*)?", text.strip(" \t")):
        return (
            ", which as a number would lose its spelling or its last digits; where the column is "
            "text throughout, write it as text to Parquet"
        )
    return advice(text)


def kind_of(texts: Iterable[str]) -> str | None:
    """ "number", "boolean" or "text"; None where no text is a value."""
    values = [text for text in texts if text.strip(" \t") not in NULLS]
    if not values:
        return None
    for kind in ("number", "boolean"):
        try:
            decoded(values, kind)
        except OddText:
            continue
        return kind
    return "text"


def decoded(texts: Sequence[str], kind: str) -> NDArray[Any]:
    """Values, none of them null, as an array (n,) of int64, uint64, float64 or bool.

    `kind` is "number" or "boolean". Raises OddText where a text is neither.
    """
    if kind == "boolean":
        return np.array([_boolean(i, text) for i, text in enumerate(texts)], np.bool_)
    parsed = [_number(i, text) for i, text in enumerate(texts)]
    if any(isinstance(value, float) for value in parsed):
        return _floats(texts, parsed)
    whole = [int(value) for value in parsed]
    least, most = min(whole, default=0), max(whole, default=0)
    wide = np.iinfo(np.uint64 if least >= 0 and most >= 2**63 else np.int64)
    for i, value in enumerate(whole):
        if not wide.min <= value <= wide.max:
            raise OddText(i, texts[i], kind)
    return np.array(whole, wide.dtype)


def _boolean(i: int, text: str) -> bool:
    try:
        return _BOOLEANS[text.strip(" \t")]
    except KeyError:
        raise OddText(i, text, "boolean") from None


def _number(i: int, text: str) -> int | float:
    bare = text.strip(" \t")
    if len(bare) <= 400 and (whole := _WHOLE.fullmatch(bare)):
        return int(whole[1])
    if len(bare) <= 400 and _NUMBER.fullmatch(bare):
        value = float(bare)
        if not value.is_integer():
            return value
        if Decimal(bare) == Decimal(value):
            return int(value) if abs(value) <= _EXACT else value
    raise OddText(i, text, "number")


def _floats(texts: Sequence[str], parsed: Sequence[float]) -> NDArray[np.float64]:
    for i, value in enumerate(parsed):
        if isinstance(value, int) and abs(value) > _EXACT:
            raise OddText(i, texts[i], "number")
    return np.array(parsed, np.float64)


def is_ambiguous(text: str) -> bool:
    """Whether a text could be taken for a number or a boolean, however it is spelled: 007, +7."""
    return text.strip(" \t") in _BOOLEANS or _is_float(text)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def nearly_numbers(texts: Sequence[str]) -> str | None:
    """The first text that keeps a column from being numbers, where all such are easily mended."""
    first, some = None, False
    for text in texts:
        if kind_of([text]) != "text":
            some = True
        elif not advice(text):
            return None
        else:
            first = first or text
            some = some or text.strip() not in _PLACEHOLDERS
    return first if some else None


def advice(text: str) -> str:
    """What to do about a text where a number is expected, or ""."""
    bare = text.strip()
    if bare in _PLACEHOLDERS:
        return "; write a missing value as an empty field or NA, or name the word in --na-values"
    if _GROUPED.fullmatch(bare):
        return "; write numbers without separators of thousands, or name theirs with --thousands"
    if _COMMA.fullmatch(bare):
        return "; write numbers with a decimal point, or name theirs with --decimal"
    if "\0" in bare:
        return "; the file holds NUL bytes: it is damaged, or not in UTF-8"
    if _UNIT.fullmatch(bare) and not _is_float(bare):
        return "; write numbers without their unit"
    return ""


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:37] + "...")
