"""Ctrl-C and SIGTERM in a long run: never lost, and followed by cleaning up.

Python raises KeyboardInterrupt wherever it happens to be. The exception is lost where exceptions
are ignored (in the callback of a weak reference), and where it leaves `eval` the process ends by
the signal, whatever its exit code. So a loop over batches polls instead: the first signal ends it
between two batches, a second one at once. A batch may take some time after a signal (the first may
wait for kernels to compile); then this module sends the signal again.

A run that ends by a signal has changed nothing. So a signal during or after the final rename, by
which a run takes effect, is ignored: it does not even change the exit code.
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
from typing import NoReturn, TypeVar

__all__ = [
    "arrow_without_signals",
    "interruptible",
    "interruptible_iter",
    "listen_in_runs_only",
    "raise_if_noted",
    "uninterrupted",
]

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that a batch may still take after a signal."""

GRACE = 1.0
"""Seconds after a KeyboardInterrupt in which further signals are ignored, since they would disturb
the cleaning up. Afterwards they count again, since the first may have been lost."""

_is_noted = False
_is_polling = False
_is_repeated = False
_is_held = False
_has_ended = False
_ignored_until = 0.0
_run: object = None
# Held while a run ends, and while a signal is sent again: no signal reaches what follows the run.
# The handler does not take it, since it may interrupt the holder.
_ending = threading.Lock()


def interruptible_iter(items: Iterable[T]) -> Iterator[T]:
    """Yield the items, and raise KeyboardInterrupt between two of them if a signal came meanwhile.

    Signals belong to the run in the main thread: in other threads it only iterates.
    """
    global _is_polling
    if not _is_main_thread():
        yield from items
        return
    _is_polling = True
    try:
        for item in items:
            raise_if_noted()
            yield item
        raise_if_noted()
    finally:
        _is_polling = False


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def raise_if_noted() -> None:
    """KeyboardInterrupt if a signal has come: for loops that `interruptible_iter` does not see."""
    if _is_noted:
        _interrupt()


@contextlib.contextmanager
def uninterrupted(*, final: bool = False) -> Iterator[None]:
    """A step that happens or does not: a signal within it is noted, for whoever polls next.

    With `final` the run has taken effect when the step succeeds, and later signals are ignored.
    Other threads than the main one get no signals, and so nothing is done for them.
    """
    global _is_held, _has_ended
    if not _is_main_thread():
        yield
        return
    before, _is_held = _is_held, True
    try:
        yield
        _has_ended = _has_ended or final
    finally:
        _is_held = before


def listen_in_runs_only() -> None:
    """For a process that ends with its run, whose exit code no later signal may change."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within it, SIGINT and SIGTERM (which a job scheduler sends) raise KeyboardInterrupt.

    Outside the main thread, where Python does not deliver signals, it does nothing.
    """
    global _is_noted, _is_polling, _is_repeated, _has_ended, _ignored_until, _run
    if not _is_main_thread():
        yield
        return
    _is_noted = _is_polling = _is_repeated = _has_ended = False
    _ignored_until = 0.0
    _run = object()
    before = {number: signal.signal(number, _note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        _has_ended = True
        with _ending:
            _run = None
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        _is_noted = _is_polling = False


def _note(number: int, frame: FrameType | None) -> None:
    global _is_noted, _is_polling, _is_repeated
    repeated, _is_repeated = _is_repeated, False
    if _has_ended or time.monotonic() < _ignored_until or (repeated and not _is_polling):
        return  # the run has ended, or is ending
    again, _is_noted = _is_noted, True
    if _is_held:
        return
    if again or not _is_polling:
        _is_polling = False
        _interrupt()
    _thread.start_new_thread(_repeat, (number, _run))  # no lock, which we may just hold


def _interrupt() -> NoReturn:
    global _ignored_until
    _ignored_until = time.monotonic() + GRACE
    raise KeyboardInterrupt


def _repeat(number: int, run: object) -> None:
    """Send the signal once more, unless `run` has ended by then."""
    global _is_repeated
    time.sleep(PATIENCE)
    with _ending:
        if not _is_polling or run is not _run:
            return
        _is_repeated = True
        main = threading.main_thread().ident
        if hasattr(signal, "pthread_kill") and main is not None:
            signal.pthread_kill(main, number)  # also wakes it where it waits
        else:
            _thread.interrupt_main(signal.Signals(number))


@contextlib.contextmanager
def arrow_without_signals() -> Iterator[None]:
    """Leave signals to us: pyarrow takes SIGINT while it reads, and sends it again afterwards.

    It does so in the main thread only. Elsewhere nothing is changed: the setting is the process's.
    """
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not _is_main_thread():
        yield
        return
    pyarrow.enable_signal_handlers(False)
    try:
        yield
    finally:
        pyarrow.enable_signal_handlers(True)
