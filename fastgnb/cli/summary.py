"""What a command says on standard error: notes, warnings, and the line that it ends with."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..files.jobs.messages import Messages
from ..files.phrases import cell, counted, listed
from .standard_streams import shown
from .streams import print_stderr

if TYPE_CHECKING:
    from ..model.model import Model

__all__ = ["messages_of", "print_done", "shape_of"]


def messages_of(args: argparse.Namespace) -> Messages:
    """What a job says, as lines; with --quiet only warnings."""

    def note(text: str) -> None:
        if not args.quiet:
            print_stderr(f"note: {shown(args, text)}")

    return Messages(note, note, lambda text: print_stderr(f"warning: {shown(args, text)}"))


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
