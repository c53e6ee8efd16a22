"""Items of work in several processes, which end with the one that started them.

Each process is a new interpreter (`spawn`), makes what it needs once, and takes one item after the
other. It gets its share of the cores. What a worker raises is raised here; a worker that is killed
is an error that says so. Items do not share anything: a result is a file, and is there or not.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from ..._numba.notice import quietly
from ..._system import thread_limits
from ..._system.signals import arrow_without_signals, interruptible

__all__ = ["WorkerError", "in_workers", "threads_of_each"]

Item = TypeVar("Item")

_PATIENCE = 10.0
"""Seconds for a worker to clean up after SIGTERM, before it is killed."""


class WorkerError(ChildProcessError):
    """A worker process has ended before its work was done."""


class _Trace(Exception):
    """The traceback of an error in a worker, as text: the cause of what is raised here."""


def threads_of_each(n: int) -> int:
    """The threads of one of n workers: its share of the cores, or of the limit of this context."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    limit = thread_limits.thread_limit()
    return max(1, (cores if limit is None else min(cores, limit)) // n)


def in_workers(
    start: Callable[[Any], Callable[[Item], Any]],
    spec: Any,
    items: Sequence[Item],
    n: int,
    name_of: Callable[[Item], object] = str,
) -> Iterator[tuple[Item, Any]]:
    """Yield each item with the result of its work, in the order in which they are ready.

    Parameters
    ----------
    start : a function of a module, called in each process with `spec` for what does the work.
    spec, items : plain data, which is sent to the processes.
    n : most processes.
    name_of : what messages call an item.

    Whatever a worker raises is raised, and then all workers end; so they do when the caller stops
    to iterate. Raises WorkerError where a process was killed.
    """
    n, waiting = min(n, len(items)), deque(items)
    workers: list[_Worker] = []
    try:
        with _signals_held():
            workers.extend(_Worker(start, spec, threads_of_each(n), name_of) for _ in range(n))
        for worker in workers:
            worker.give(waiting.popleft())
        busy = {worker.connection: worker for worker in workers}
        while busy:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                item, result = worker.item, worker.result()
                if waiting:
                    worker.give(waiting.popleft())
                else:
                    del busy[worker.connection]
                yield item, result
    finally:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()


class _Worker:
    """A process, seen from the one that started it."""

    def __init__(
        self, start: Any, spec: Any, threads: int, name_of: Callable[[Any], object]
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, start, spec, threads), daemon=True
        )
        self.process.start()
        theirs.close()
        self.item: Any = None
        self._name_of = name_of

    def give(self, item: Any) -> None:
        self.item = item
        try:
            self.connection.send(item)
        except OSError as error:
            raise self._ended() from error

    def result(self) -> Any:
        try:
            is_done, value, trace = self.connection.recv()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        if is_done:
            return value
        raise value from _Trace(trace)

    def _ended(self) -> WorkerError:
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        how = f"ended with exit code {code}"
        if code is not None and code < 0:
            reason = "; memory may have run short" if code == -getattr(signal, "SIGKILL", 9) else ""
            how = f"was killed by signal {signal.Signals(-code).name}{reason}"
        elif code == 1:
            how += (
                ' before it began: a script has to start its work under `if __name__ == "__main__"`'
            )
        return WorkerError(
            f"{self._name_of(self.item)}: the worker process for it {how}; what is done is kept, "
            "so run again"
        )

    def stop(self) -> None:
        """Have the process clean up and end."""
        self.connection.close()
        self.process.terminate()

    def join(self) -> None:
        self.process.join(_PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Signals come after the block, where the system can hold them; processes that are started
    within it hold them until they can clean up."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _serve(connection: Connection, start: Any, spec: Any, threads: int) -> None:
    """The life of a worker. It ends by a signal, or with the process that started it."""
    with contextlib.suppress(KeyboardInterrupt, EOFError, OSError), interruptible():
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        with thread_limits.threads(threads), arrow_without_signals(), quietly():
            work = None
            while True:
                item = connection.recv()
                try:
                    work = work or start(spec)
                    answer = (True, work(item), "")
                except Exception as error:
                    answer = (False, _portable(error), traceback.format_exc())
                connection.send(answer)


def _portable(error: Exception) -> Exception:
    """The error, or one of its text where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
