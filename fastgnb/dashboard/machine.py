"""What figures depend on: processor, cores, load and versions of packages."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
import re
import sys
from collections.abc import Iterable

from .._version import __version__

__all__ = ["cpu_name", "load", "versions"]


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    info = pathlib.Path("/proc/cpuinfo")
    if sys.platform == "linux" and info.exists():
        match = re.search(r"model name\s*:\s*(.+)", info.read_text(encoding="utf-8"))
        if match:
            return match[1]
    return platform.processor() or platform.machine()


def load() -> float | None:
    """The load average of the last minute; None where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of fastgnb and of those packages that are installed."""
    installed = {"fastgnb": __version__}
    for name in packages:
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed
