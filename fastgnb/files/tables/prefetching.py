"""Items that threads make while others are used, in order."""

from __future__ import annotations

import contextlib
import contextvars
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["closing_items", "in_order", "prefetch"]

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

    with closing_items(items), ThreadPoolExecutor(1, "fastgnb-reader") as reader:
        following = reader.submit(item_in_context)
        while True:
            coming, following = following, reader.submit(item_in_context)
            item = coming.result()
            if item is None:
                return
            yield item
            del item


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
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        if error is not None:
            raise error
    finally:
        pool.shutdown(cancel_futures=True)
