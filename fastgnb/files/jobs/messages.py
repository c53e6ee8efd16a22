"""What a job has to say while it works; who called it decides what becomes of that."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Messages", "collect_messages"]


class Messages(NamedTuple):
    """Functions that take a message.

    note : of a decision that is usually right. finding : of data or a model that deserves a look.
    warning : of what may well be wrong.
    """

    note: Callable[[str], object]
    finding: Callable[[str], object]
    warning: Callable[[str], object]


class collect_messages:
    """Within it, a job's messages for Python: notes are logged, the others warned of at the end.

    Used directly in a public function, so that warnings name the line that calls that.
    """

    def __enter__(self) -> Messages:
        self._texts: list[str] = []
        note = logging.getLogger("fastgnb.files").info
        return Messages(note, self._texts.append, self._texts.append)

    def __exit__(self, *_: object) -> None:
        for text in self._texts:
            warnings.warn(text, UserWarning, stacklevel=3)
