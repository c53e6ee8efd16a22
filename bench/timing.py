"""Time several programs side by side: each round calls every one of them once.

Slow drifts of a shared machine then affect all of them alike. A busy neighbour does not cancel out:
see `environment.busy_seconds`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .problems import Problem

Call = Callable[[], Any]


class Timing(NamedTuple):
    """Seconds of each call of one program, and what the last call returned."""

    seconds: list[float]
    result: Any

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)


class Row(NamedTuple):
    """Seconds of one program at one task. `rows` is how many rows each call worked on."""

    group: str
    work: str
    shape: str
    program: str
    rows: int
    median: float
    best: float
    seconds: list[float]
    extra: dict[str, Any]


def row(group: str, work: str, problem: Problem, program: str, timing: Timing, **extra: Any) -> Row:
    """The row of a program's timing. The problem's sizes and options are part of `extra`."""
    extra = {**problem._asdict(), **extra}
    shape = Problem(*problem[:3]).name
    return Row(
        group, work, shape, program, problem.n, timing.median, timing.best, timing.seconds, extra
    )


class Effort(NamedTuple):
    """How often to call: at most `rounds` times, and not again once `budget` seconds are spent."""

    rounds: int
    budget: float


EFFORTS = {"toy": Effort(1, 0.0), "quick": Effort(7, 0.7), "full": Effort(15, 8.0)}


def interleave(calls: dict[str, Call], effort: Effort) -> dict[str, Timing]:
    """Time every call once a round. A slow program drops out when its budget is spent."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    results: dict[str, Any] = {}
    for _ in range(effort.rounds):
        for name, call in calls.items():
            if not seconds[name] or sum(seconds[name]) < effort.budget:
                results.pop(name, None)  # free its memory before the next call allocates
                spent, results[name] = timed(call)
                seconds[name].append(spent)
    return {name: Timing(seconds[name], results[name]) for name in calls}


def timed(call: Call) -> tuple[float, Any]:
    """Seconds that one call took, and what it returned."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def repeated(call: Call, times: int) -> Call:
    """A call that makes `times` calls, for what is too short to be timed alone."""

    def many() -> Any:
        for _ in range(times):
            result = call()
        return result

    return many
