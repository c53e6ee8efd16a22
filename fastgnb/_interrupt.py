"""Ctrl-C and SIGTERM in a long run: noticed for certain, and cleaned up after.

Python raises KeyboardInterrupt wherever it happens to be: it is lost where exceptions are
ignored (in the callback of a weak reference), and where it comes out of `eval` the process
ends by the signal whatever its exit code. So a loop over batches polls instead: the first
signal ends it between two batches, a second one at once.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import TypeVar

__all__ = ["arrow_without_signals", "interruptible", "polled"]

T = TypeVar("T")

_noted = False
_polling = False


def polled(items: Iterable[T]) -> Iterator[T]:
    """The items, with KeyboardInterrupt between two of them if a signal came meanwhile."""
    global _polling
    _polling = True
    try:
        for item in items:
            _raise_if_noted()
            yield item
        _raise_if_noted()
    finally:
        _polling = False


def _raise_if_noted() -> None:
    if _noted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within it, SIGINT and SIGTERM (which a job scheduler sends) raise KeyboardInterrupt.

    Outside the main thread, where Python does not deliver signals, it does nothing.
    """
    global _noted, _polling
    _noted = _polling = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        _noted = _polling = False


def _note(number: int, frame: FrameType | None) -> None:
    global _noted
    again, _noted = _noted, True
    if again or not _polling:
        raise KeyboardInterrupt


@contextlib.contextmanager
def arrow_without_signals() -> Iterator[None]:
    """Leave signals to us: pyarrow takes SIGINT while it reads, and sends it again afterwards."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None:
        yield
        return
    pyarrow.enable_signal_handlers(False)
    try:
        yield
    finally:
        pyarrow.enable_signal_handlers(True)
