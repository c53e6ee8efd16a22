"""How many threads the kernels of a task may use, so that tasks share the cores.

A worker or a pool that runs t tasks at a time gives each of them a t-th of the cores. A result does
not depend on that.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import threading
from collections.abc import Iterator
from typing import Any

from .._system import optional
from .._system.thread_limits import threads

__all__ = ["cores_shared", "tasks_at_a_time"]


@contextlib.contextmanager
def cores_shared() -> Iterator[None]:
    """Within it, kernels use a task's share of the cores."""
    cores = int(optional.require("dask.system").CPU_COUNT)
    with threads(max(1, cores // tasks_at_a_time())):
        yield


def tasks_at_a_time() -> int:
    """Return how many tasks run at a time beside the one that asks, which is counted too."""
    worker = _worker()
    if worker is not None:
        return int(worker.state.nthreads)
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and multiprocessing.parent_process() is None:
        return 1  # the scheduler "synchronous"
    config = optional.require("dask").config
    return int(config.get("num_workers", None) or optional.require("dask.system").CPU_COUNT)


def _worker() -> Any:
    """The worker of a cluster that runs this task, or None."""
    module = sys.modules.get("distributed.worker")
    if module is None:
        return None
    try:
        return module.get_worker()
    except ValueError:
        return None
