"""Ctrl-C and SIGTERM in a long run: noticed for certain, once, and cleaned up after.

Python raises KeyboardInterrupt wherever it happens to be, and loses it where exceptions
are ignored (in a weak reference's callback, in `__del__`). So the signal is also noted, and
the loop over batches asks.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["arrow_without_signals", "check_interrupt", "interruptible"]

_noted = False


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if a signal came since `interruptible` was entered."""
    if _noted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within it, SIGINT and SIGTERM (which a job scheduler sends) raise KeyboardInterrupt.

    Outside the main thread, where Python does not deliver signals, it does nothing.
    """
    global _noted
    _noted = False
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        _noted = False


def _note(number: int, frame: FrameType | None) -> None:
    global _noted
    _noted = True
    raise KeyboardInterrupt


@contextlib.contextmanager
def arrow_without_signals() -> Iterator[None]:
    """pyarrow handles SIGINT itself and sends it again, which interrupts the cleaning up."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None:
        yield
        return
    pyarrow.enable_signal_handlers(False)
    try:
        yield
    finally:
        pyarrow.enable_signal_handlers(True)
