"""Names and numbers as the page shows them, of bounded length."""

from __future__ import annotations

import html
import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..evaluation.evaluation import Evaluation
from ..files.phrases import cell

__all__ = [
    "LONGEST",
    "NOTHING",
    "bytes_text",
    "first_of",
    "number",
    "percent",
    "rate",
    "short",
    "signed",
    "unit_of",
]

LONGEST = 48
"""Most characters of a name. Longer ones lose their middle."""


NOTHING = "\N{EN DASH}"
"""What stands for a number that there is not."""


def unit_of(evaluation: Evaluation) -> str:
    """What its counts are: rows, or weight where rows were weighted."""
    return "Rows" if evaluation.total_weight is None else "Weight"


def signed(text: str) -> str:
    """The text of a number, with a minus sign as typeset."""
    return f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text


def rate(value: float) -> str:
    """A rate with four decimals, as the script of the page writes it."""
    return NOTHING if math.isnan(value) else signed(f"{value:.4f}")


def short(name: Any) -> str:
    """A label or a name on one line of at most `LONGEST` characters, or half as many.

    Half as many of characters that take many bytes in HTML, so that the size of a page is bounded.
    """
    text = cell(name)
    head = text[:LONGEST]
    is_heavy = len(html.escape(head).encode("utf-8", "replace")) > 2 * LONGEST
    longest = LONGEST // 2 if is_heavy else LONGEST
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}…{text[-half:]}"


def number(value: Any, digits: int = 4) -> str:
    """A number: whole ones with all their digits, others with `digits` significant ones."""
    if value is None:
        return NOTHING
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return signed(f"{int(value):,}")
    if isinstance(value, numbers.Real):
        return _real(float(value), digits)
    return short(value)


def _real(value: float, digits: int) -> str:
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return signed(f"{value:.0f}".replace("inf", "\N{INFINITY}"))
    if value == int(value) and abs(value) < 1e15:
        text = f"{int(value):,}"
    else:
        text = f"{value:.{digits}g}"
    return signed(text)


def percent(value: float, digits: int = 1) -> str:
    """A share, in percent. One that is not 0 or 1 never reads as such."""
    if math.isnan(value):
        return NOTHING
    text = f"{100 * value:.{digits}f}%"
    if value < 1 and text == f"{100:.{digits}f}%":
        return f"over {100 - 10.0**-digits:.{digits}f}%"
    if value > 0 and text == f"{0:.{digits}f}%":
        return f"under {10.0**-digits:.{digits}f}%"
    return text


def bytes_text(size: int) -> str:
    """A size in bytes, in the unit that suits it."""
    value, units = float(size), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.0f} {units[0]}" if units[0] == "bytes" else f"{value:.1f} {units[0]}"


def first_of(names: Iterable[Any], most: int) -> str:
    """The first names of a list, and how many more there are."""
    every = list(names)
    text = ", ".join(short(name) for name in every[:most])
    left = len(every) - most
    return text if left <= 0 else f"{text} and {left:,} more"
