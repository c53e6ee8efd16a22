"""How many threads a call uses, without a change that others in the process would notice.

The limit of our own kernels belongs to a context (see `contextvars`), so that two calls in two
Python threads have their own. Arrow has one pool of threads for the whole process. While calls
with a limit run, it has as many threads as they ask for together, and afterwards as many as before.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator
from typing import Any

from .context import ContextValue

__all__ = ["kernel_threads", "thread_limit", "threads"]

_limit: ContextValue[int | None] = ContextValue("fastgnb threads", None)


def thread_limit() -> int | None:
    """The most threads that a kernel called from this context may use, or None."""
    return _limit.get()


@contextlib.contextmanager
def threads(n: int | None) -> Iterator[None]:
    """Limit the threads of calls from this Python thread: a context manager.

    Parameters
    ----------
    n : int or None
        Most threads that a call within the ``with`` block uses, 1 or more. None changes nothing.

    Yields
    ------
    None
        The block runs.

    Raises
    ------
    ValueError
        If n is no whole number of 1 or more.

    See Also
    --------
    fastgnb.files.fit : Its parameter `threads` is this limit.

    Notes
    -----
    The limit is that of a context, see `contextvars`: calls from other Python threads keep theirs,
    and so does what a task of `asyncio` runs meanwhile. A limit above the number of cores, or above
    ``NUMBA_NUM_THREADS``, is no limit. Blocks may be nested; the innermost counts. Results have the
    same bits for any number of threads.

    A worker of a cluster that runs t tasks at once in one process gives each of them cores // t
    threads. pyarrow, if it is installed, has one pool for the process: while such blocks run, it
    has as many threads as they ask for together.

    Examples
    --------
    >>> import fastgnb
    >>> with fastgnb.threads(1):
    ...     model = fastgnb.GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1])
    """
    is_whole = hasattr(n, "__index__") and not isinstance(n, bool)
    if n is not None and not (is_whole and n >= 1):
        raise ValueError(f"threads must be a whole number, 1 or more, got {n!r}.")
    token = _limit.set(_limit.get() if n is None else n)
    try:
        with _arrow_pool.shared(n):
            yield
    finally:
        _limit.reset(token)


@contextlib.contextmanager
def kernel_threads(n: int | None) -> Iterator[None]:
    """Limit the threads of our own kernels alone, in a thread of ours. None changes nothing."""
    token = _limit.set(_limit.get() if n is None else n)
    try:
        yield
    finally:
        _limit.reset(token)


class _ArrowPool:
    """Arrow's pool of threads, shared by the calls that run now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[int | None] = []
        self._before = self._set = 0

    def __reduce__(self) -> tuple[type[_ArrowPool], tuple[()]]:
        return _ArrowPool, ()

    @contextlib.contextmanager
    def shared(self, n: int | None) -> Iterator[None]:
        """A part of n threads of the pool, or with None what the pool has anyway."""
        try:
            # Without a limit nothing changes, and nothing is imported that was not there before.
            arrow = importlib.import_module("pyarrow") if n is not None else None
        except ImportError:  # commands that need it say so
            arrow = None
        self._change(arrow, self._asked.append, n)
        try:
            yield
        finally:
            self._change(arrow, self._asked.remove, n)

    def _change(self, arrow: Any, change: Any, n: int | None) -> None:
        """Note that a call begins or ends, and give the pool the size that the others need."""
        with self._lock:
            if not any(self._asked) and arrow is not None:
                self._before = self._set = arrow.cpu_count()
            change(n)
            asked = [one for one in self._asked if one is not None]
            if not self._set:
                return
            arrow = arrow or importlib.import_module("pyarrow")
            if self._set == arrow.cpu_count():  # else somebody else has set it since
                without_limit = self._before if None in self._asked else 0
                self._resize(arrow, max(sum(asked), without_limit) if asked else self._before)
            if not asked:
                self._before = self._set = 0

    def _resize(self, arrow: Any, n: int) -> None:
        if n != self._set:
            arrow.set_cpu_count(n)
            self._set = n


_arrow_pool = _ArrowPool()
