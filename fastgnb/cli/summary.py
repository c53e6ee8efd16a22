"""The line on standard error that a command ends with: what it read, what it wrote, how long."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .report import cell, say

if TYPE_CHECKING:
    from ..model.model import Model

__all__ = ["counted", "listed", "say_done", "shape_of"]

NAMES = 8
"""Most names in a list."""

WIDTH = 80
"""Most letters of a list of names, the first of which is always there."""


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


def shape_of(model: Model) -> list[str]:
    """The features and the classes of a model, with their names."""
    features = counted(model.n_features, "feature")
    if model.feature_names is not None:
        features += f" ({listed(model.feature_names)})"
    classes = model.classes.tolist()
    return [features, f"{counted(len(classes), 'class', 'classes')} ({listed(classes)})"]


def say_done(
    command: str, parts: Sequence[str], output: str | os.PathLike[str] | None, seconds: float
) -> None:
    """Print the line: "fit: 300 rows, 2 features (a, b), ...; wrote model.fgnb in 1.2 s"."""
    took = f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds:.2f} s"
    ending = f"took {took}" if output is None else f"wrote {cell(os.fspath(output))} in {took}"
    say(f"{command}: {', '.join(parts)}; {ending}")
