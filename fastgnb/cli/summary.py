"""The line on standard error that a command ends with: what it read, what it wrote, how long."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..files.phrases import cell, counted, listed
from .report import print_stderr

if TYPE_CHECKING:
    from ..model.model import Model

__all__ = ["print_done", "shape_of"]


def shape_of(model: Model) -> list[str]:
    """The features and the classes of a model, with their names."""
    features = counted(model.n_features, "feature")
    if model.feature_names is not None:
        features += f" ({listed(model.feature_names)})"
    classes = model.classes.tolist()
    return [features, f"{counted(len(classes), 'class', 'classes')} ({listed(classes)})"]


def print_done(
    command: str, parts: Sequence[str], output: str | os.PathLike[str] | None, seconds: float
) -> None:
    """Print the line: "fit: 300 rows, 2 features (a, b), ...; wrote model.fgnb in 1.2 s"."""
    took = f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds:.2f} s"
    ending = f"took {took}" if output is None else f"wrote {cell(os.fspath(output))} in {took}"
    print_stderr(f"{command}: {', '.join(parts)}; {ending}")
