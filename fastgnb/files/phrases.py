"""Numbers, names and labels as messages show them, on one line and of bounded length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["cell", "counted", "listed"]

NAMES = 8
"""Most names in a list."""

WIDTH = 80
"""Most characters of a list of names, the first of which is always shown."""


def cell(value: Any) -> str:
    """A label or a name on one line."""
    text = str(value)
    return text if text.isprintable() and text else repr(value)


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: "1 row", "2,000 rows"."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed(values: Iterable[Any]) -> str:
    """Names or labels on one line, shortened where they are many or long: "a, b, ... 7 more"."""
    names = [_quoted(cell(value)) for value in values]
    shown: list[str] = []
    for name in names[:NAMES]:
        if shown and sum(map(len, shown)) + len(name) > WIDTH:
            break
        shown.append(name if len(name) <= WIDTH else f"{name[: WIDTH - 3]}...")
    left = len(names) - len(shown)
    return ", ".join([*shown, *([f"... {left:,} more"] if left else [])])


def _quoted(name: str) -> str:
    return repr(name) if "," in name or name != name.strip() else name
