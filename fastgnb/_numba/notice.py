"""A line, once a process, that says why the first calls take long: kernels are being compiled.

It goes to the logger `fastgnb`, which shows it on standard error unless the program sets up logging
of its own. To switch it off, set FASTGNB_QUIET=1, or call
``logging.getLogger("fastgnb").setLevel(logging.ERROR)``. It is not written where standard error and
standard output go to the same program or file, whose reader would take the line for output.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator

from .._system.context import ContextValue

__all__ = ["is_switched_off", "note_kernel", "quietly", "watcher", "watching_kernels"]

_is_shown = False
_is_quiet = ContextValue("fastgnb quiet", False)
_watcher: ContextValue[Callable[[], None] | None] = ContextValue("fastgnb kernels", None)


def note_kernel(*, compiling: bool, folder: str | None) -> None:
    """Note that one variant of a kernel was loaded, or that its compilation begins.

    `folder` is where compiled code is kept, or None where it cannot be kept.
    """
    if compiling and not (_is_shown or _is_quiet.get() or is_switched_off() or _output_is_shared()):
        _show(folder)
    watcher()()


def _show(folder: str | None) -> None:
    global _is_shown
    _is_shown = True
    kept = "cannot be cached" if folder is None else f"cached in {folder}"
    often = "in each process" if folder is None else "once"
    logging.getLogger("fastgnb").warning(
        "fastgnb: compiling kernels %s, about 20 s; %s", often, kept
    )


@contextlib.contextmanager
def quietly(quiet: bool = True) -> Iterator[None]:
    """Within it, no line is written: the call was told to be quiet, or shows its own progress."""
    token = _is_quiet.set(quiet or _is_quiet.get())
    try:
        yield
    finally:
        _is_quiet.reset(token)


def watcher() -> Callable[[], None]:
    """What is called for each variant in this context."""
    return _watcher.get() or _ignore


def _ignore() -> None:
    """For contexts that watch nothing."""


@contextlib.contextmanager
def watching_kernels(call: Callable[[], None]) -> Iterator[None]:
    """Make a call for each variant that is compiled or loaded within it."""
    token = _watcher.set(call)
    try:
        yield
    finally:
        _watcher.reset(token)


def _output_is_shared() -> bool:
    """Whether standard error and standard output go to the same program or file."""
    if logging.getLogger("fastgnb").hasHandlers():
        return False  # the program decides where records go
    try:
        return not os.isatty(2) and os.path.sameopenfile(1, 2)
    except OSError:  # one of them is closed
        return False


def is_switched_off() -> bool:
    """Whether FASTGNB_QUIET asks for silence."""
    return os.environ.get("FASTGNB_QUIET", "") not in ("", "0")
