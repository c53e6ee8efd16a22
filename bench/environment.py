"""What a measurement depends on: versions, processor, threads, threading layer, load, ceilings."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

import numba

from . import ceilings

_PACKAGES = (
    "fastgnb", "numpy", "numba", "scikit-learn", "scipy", "pyarrow", "mlpack", "dask-ml", "river",
)  # fmt: skip


def describe() -> dict[str, Any]:
    """Properties of this machine and process that a reader of results needs."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": versions(),
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
    times what one thread loses, so that ratios between programs change with the load.
    """
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    fields = [int(field) for field in stat.read_text().split("\n", 1)[0].split()[1:9]]
    all_busy = (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")
    return all_busy - sum(os.times()[:4])


def versions() -> dict[str, str]:
    """Versions of the packages that are installed."""
    import fastgnb

    installed = {"fastgnb": fastgnb.__version__}
    for name in _PACKAGES[1:]:
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed


def threading_layer() -> str:
    """Numba's threading layer, which is known once a parallel kernel has run."""
    try:
        return str(numba.threading_layer())
    except ValueError:
        return "not started"


def load() -> float | None:
    """The load average of the last minute; None where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    info = Path("/proc/cpuinfo")
    if sys.platform == "linux" and info.exists():
        match = re.search(r"model name\s*:\s*(.+)", info.read_text())
        if match:
            return match[1]
    return platform.processor() or platform.machine()
