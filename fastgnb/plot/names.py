"""Labels and names as text in a picture, and the notes that say what is left out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = [
    "TOP", "class_texts", "feature_texts", "is_crowded", "listed", "numbered", "selection_note",
    "shorten",
]  # fmt: skip

TOP = 30
"""Most features, or classes in a matrix, that one picture shows."""

WIDTH = 24
"""Most characters of a name in a picture."""

_LEAST = 3
"""Characters that are kept at least of what long names have in common, at either end."""


def numbered(names: Sequence[str] | None, n: int, noun: str = "feature") -> list[str]:
    """Names as they are, or "feature 0", "feature 1" and so on where there are none."""
    return [f"{noun} {j}" for j in range(n)] if names is None else [str(name) for name in names]


def shorten(text: str, width: int = WIDTH) -> str:
    """Text on one line, with an ellipsis in its middle if it is longer than `width`."""
    line = " ".join(text.split()) or repr(text)
    if len(line) <= width:
        return line
    tail = (width - 1) // 2
    return f"{line[: width - 1 - tail]}…{line[-tail:]}"


def feature_texts(names: Sequence[str], width: int = WIDTH) -> list[str]:
    """Shortened names, which stay distinct.

    Of what long names have in common, little is kept. Names that would still be alike end in their
    positions. Dollar signs are escaped, since matplotlib reads mathematics between them.
    """
    long = [name for name in names if len(name) > width]
    start, end = _common(long)
    middle = max((len(name) - start - end for name in long), default=0)
    kept = max(_LEAST, (width - middle - 2) // 2)
    texts = [
        shorten(_without_common(name, start, end, kept) if len(name) > width else name, width)
        for name in names
    ]
    texts = [text.replace("$", r"\$") for text in texts]
    seen: dict[str, int] = {}
    for text in texts:
        seen[text] = seen.get(text, 0) + 1
    return [
        text if seen[text] == 1 else f"{text[: width - 2 - len(str(j))]}… {j}"
        for j, text in enumerate(texts)
    ]


def _common(names: Sequence[str]) -> tuple[int, int]:
    """How many characters all names begin with, and how many they end in, alike."""
    if len(names) < 2:
        return 0, 0
    start = _alike(names)
    return start, _alike([name[start:][::-1] for name in names])


def _alike(names: Sequence[str]) -> int:
    """How many characters all names begin with alike."""
    differ = (i for i, letters in enumerate(zip(*names, strict=False)) if len({*letters}) > 1)
    return next(differ, min(map(len, names)))


def _without_common(name: str, start: int, end: int, kept: int) -> str:
    """A name whose common beginning and end are cut to `kept` characters each."""
    first = name[:start] if start <= kept + 1 else f"{name[:kept]}…"
    last = name[len(name) - end :] if end <= kept + 1 else f"…{name[len(name) - kept :]}"
    return f"{first}{name[start : len(name) - end]}{last}"


def class_texts(classes: Iterable[Any], width: int = WIDTH) -> list[str]:
    """Labels as text for legends and axes."""
    return feature_texts([str(label) for label in np.asarray(classes).tolist()], width)


def is_crowded(texts: Sequence[str]) -> bool:
    """Whether names side by side under an axis of the default size would touch each other."""
    return len(texts) * (max(map(len, texts), default=0) + 2) > 60


def listed(names: Sequence[Any], most: int = 12) -> str:
    """Names for an error message: all of them, or the first ones and how many follow."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def selection_note(shown: int, total: int, noun: str, *, which: str = "top ") -> str:
    """Text such as "top 30 of 240 features", or "" where all are shown."""
    return "" if shown >= total else f"{which}{shown} of {total:,} {noun}"
