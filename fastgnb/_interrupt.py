"""Ctrl-C and SIGTERM in a long run: noticed for certain, and cleaned up after.

Python raises KeyboardInterrupt wherever it happens to be: it is lost where exceptions are
ignored (in the callback of a weak reference), and where it comes out of `eval` the process
ends by the signal whatever its exit code. So a loop over batches polls instead: the first
signal ends it between two batches, a second one at once. A batch that takes long (the first one of
all may wait for kernels to compile) is given a moment; then the signal is sent again from here.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import TypeVar

__all__ = ["arrow_without_signals", "interruptible", "polled", "raise_if_noted"]

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that a batch may still take after a signal."""

_noted = False
_polling = False
_repeating = False
_run: object = None


def polled(items: Iterable[T]) -> Iterator[T]:
    """The items, with KeyboardInterrupt between two of them if a signal came meanwhile."""
    global _polling
    _polling = True
    try:
        for item in items:
            raise_if_noted()
            yield item
        raise_if_noted()
    finally:
        _polling = False


def raise_if_noted() -> None:
    """KeyboardInterrupt if a signal has come: for loops that `polled` does not see."""
    if _noted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within it, SIGINT and SIGTERM (which a job scheduler sends) raise KeyboardInterrupt.

    Outside the main thread, where Python does not deliver signals, it does nothing.
    """
    global _noted, _polling, _repeating, _run
    _noted = _polling = _repeating = False
    _run = object()
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
    global _noted, _polling, _repeating
    repeated, _repeating = _repeating, False
    if repeated and not _polling:
        return  # the batch has ended meanwhile, and with it the run
    again, _noted = _noted, True
    if again or not _polling:
        _polling = False
        raise KeyboardInterrupt
    _thread.start_new_thread(_repeat, (number, _run))  # no lock, which we may just hold


def _repeat(number: int, run: object) -> None:
    """Send the signal once more, unless `run` has ended by then."""
    global _repeating
    time.sleep(PATIENCE)
    if not _polling or run is not _run:
        return
    _repeating = True
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)  # also wakes it where it waits
    else:
        _thread.interrupt_main(signal.Signals(number))


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
