"""Items that threads make while others are used, in order."""

from __future__ import annotations

import contextlib
import contextvars
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

__all__ = ["closing_items", "in_order", "join", "prefetch"]

T = TypeVar("T")
Item = TypeVar("Item")
Result = TypeVar("Result")


@contextlib.contextmanager
def closing_items(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Close what reads a file, whatever ends the reading."""
    try:
        yield items
    finally:
        if isinstance(items, Generator):
            items.close()


def prefetch(items: Iterator[T]) -> Generator[T, None, None]:
    """The same items, of which the next is made in another thread while one is used.

    Two are there at most: the thread goes on with the one after next as soon as the caller, who
    waits for the next one, has done with that before.
    """
    context = contextvars.copy_context()

    def item_in_context() -> T | None:
        return context.run(next, items, None)

    pool = ThreadPoolExecutor(1, "fastgnb-reader")
    with closing_items(items):
        waiting = deque([pool.submit(item_in_context)])
        try:
            while True:
                waiting.append(pool.submit(item_in_context))
                item = _first_result(waiting)
                if item is None:
                    return
                yield item
                del item
        finally:
            join(pool, waiting, cancel=True)


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int, ahead: int, name: str
) -> Generator[Result, None, None]:
    """Yield ``work(item)`` of each item, in order, of which as many as `threads` are made at once.

    While one is used, as many as `ahead` are made or wait. What `items` or `work` raise is raised
    after the results of the items before. `name` is that of the threads.
    """
    pool = ThreadPoolExecutor(threads, name)
    waiting: deque[Future[Result]] = deque()
    coming, error = iter(items), None
    try:
        while error is None:
            try:
                item = next(coming)
            except StopIteration:
                break
            except Exception as raised:
                error = raised
                break
            waiting.append(pool.submit(work, item))
            del item
            if len(waiting) > ahead:
                yield _first_result(waiting)
        while waiting:
            yield _first_result(waiting)
        if error is not None:
            raise error
    finally:
        join(pool, waiting, cancel=True)


def _first_result(waiting: deque[Future[Result]]) -> Result:
    """Take the first of those that wait, but not before it has ended: see `join`."""
    result = waiting[0].result()
    waiting.popleft()
    return result


def join(pool: ThreadPoolExecutor, work: Collection[Future[Any]], *, cancel: bool = False) -> None:
    """Wait for the threads of a pool, also where an interrupt comes meanwhile; it is raised then.

    The work that goes on or waits is waited for by itself, since before Python 3.13 a thread counts
    as ended once an interrupt came while its end was waited for. cancel : leave out what has not
    begun.
    """
    try:
        if cancel:
            pool.shutdown(wait=False, cancel_futures=True)
        wait([each for each in work if not each.cancelled()])
        pool.shutdown()
    except BaseException:
        join(pool, work, cancel=cancel)
        raise
