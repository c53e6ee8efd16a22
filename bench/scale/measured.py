"""Time and memory of this process."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

__all__ = ["peak_mb", "timed"]


def peak_mb() -> float:
    """The most memory that this process has had, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result
