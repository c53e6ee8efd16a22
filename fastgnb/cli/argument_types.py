"""What the words of a command line stand for: numbers, names, priors. See `argparse`'s `type`."""

from __future__ import annotations

import argparse
import csv
import io
import math
from typing import Any

__all__ = [
    "AddNames",
    "cut_offs",
    "names",
    "names_or_auto",
    "number",
    "positive",
    "priors",
    "shard",
    "smoothing",
]


class AddNames(argparse.Action):
    """Names that add to those of the same option before; "auto" stands alone."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        before = getattr(namespace, self.dest) or ()
        if before and "auto" in (before, values):
            parser.error(f"argument {option}: auto stands alone")
        setattr(namespace, self.dest, values if values == "auto" else (*before, *values))


def names(text: str) -> tuple[str, ...]:
    """Names as a line of CSV, so that one with a comma can be quoted."""
    try:
        (parsed,) = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (ValueError, csv.Error):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a list of names such as A,B or "a, b",C'
        ) from None
    return tuple(parsed)


def names_or_auto(text: str) -> str | tuple[str, ...]:
    return text if text == "auto" else names(text)


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")
    return int(text)


def shard(text: str) -> tuple[int, int]:
    """ "2/8": the second of eight."""
    i, _, n = text.partition("/")
    if not (i.isdecimal() and n.isdecimal() and 1 <= int(i) <= int(n)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shard such as 2/8, the second of 8")
    return int(i), int(n)


def smoothing(text: str) -> float:
    value = number(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number, 0 or more")
    return value


def priors(text: str) -> tuple[float, ...]:
    values = tuple(number(part) for part in text.split(","))
    if min(values) < 0 or not math.isclose(math.fsum(values), 1.0, rel_tol=1e-8):
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers, 0 or more, that sum to 1")
    return values


def cut_offs(text: str) -> tuple[float, ...]:
    values = tuple(number(part) for part in text.split(","))
    if not all(0 < value < 1 for value in values):
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers above 0 and below 1")
    return values


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
