"""What a measurement depends on: versions, processor, threads, threading layer, load, ceilings."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numba

from fastgnb.dashboard.machine import cpu_name, load, versions

from . import ceilings

_PACKAGES = (
    "numpy", "numba", "scikit-learn", "scipy", "pyarrow", "mlpack", "dask-ml", "river", "pyspark",
    "h2o",
)  # fmt: skip


def describe() -> dict[str, Any]:
    """Properties of this machine and process that a reader of results needs."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": versions(_PACKAGES),
        "threads": numba.get_num_threads(),
        "threading_layer": threading_layer(),
        "load": load(),
    }


def with_ceilings() -> dict[str, Any]:
    """`describe`, and the measured ceilings with one thread and with all."""
    n = numba.get_num_threads()
    rates = [ceilings.machine(n_threads)._asdict() for n_threads in sorted({1, n})]
    return {**describe(), "ceilings": rates}


def busy_seconds() -> float | None:
    """Core-seconds that other processes have used so far; None where the system does not say.

    Interleaving does not cancel out a busy neighbour: threads that wait for each other lose several
    times what one thread loses, so that ratios between programs change with the load. Processes
    that this one has started, such as Spark's, are not others.
    """
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    fields = [int(field) for field in stat.read_text().split("\n", 1)[0].split()[1:9]]
    all_busy = (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")
    return all_busy - sum(os.times()[:4]) - _seconds_of_descendants()


def _seconds_of_descendants() -> float:
    """Core-seconds of processes that run, and were started by this one or by one of them."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(path.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    total, started = 0, {os.getpid()}
    while started:
        started = {pid for pid, parent in parents.items() if parent in started}
        total += sum(ticks[pid] for pid in started)
    return float(total / os.sysconf("SC_CLK_TCK"))


def threading_layer() -> str:
    """Numba's threading layer, which is known once a parallel kernel has run."""
    try:
        return str(numba.threading_layer())
    except ValueError:
        return "not started"
