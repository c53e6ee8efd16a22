"""Time several programs side by side: each round calls every one of them once.

Slow drifts of a shared machine then fall on all of them. A busy neighbour does not cancel: see
`environment.busy_seconds`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Call = Callable[[], Any]


class Timing(NamedTuple):
    """Seconds of each call of one program, and what the last one returned."""

    seconds: list[float]
    answer: Any

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)


class Effort(NamedTuple):
    """How often to call: `rounds` times, but none that has taken `budget` seconds already."""

    rounds: int
    budget: float


EFFORTS = {"toy": Effort(1, 0.0), "quick": Effort(7, 0.7), "full": Effort(15, 8.0)}


def interleave(calls: dict[str, Call], effort: Effort) -> dict[str, Timing]:
    """Time every call once a round; slow ones leave when their budget is spent."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    answers: dict[str, Any] = {}
    for _ in range(effort.rounds):
        for name, call in calls.items():
            if not seconds[name] or sum(seconds[name]) < effort.budget:
                answers.pop(name, None)  # its memory is free before the next one is asked for
                spent, answers[name] = timed(call)
                seconds[name].append(spent)
    return {name: Timing(seconds[name], answers[name]) for name in calls}


def timed(call: Call) -> tuple[float, Any]:
    """Seconds that one call took, and what it returned."""
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


def repeated(call: Call, times: int) -> Call:
    """A call that makes `times` calls, for what is too short to time alone."""

    def many() -> Any:
        for _ in range(times):
            answer = call()
        return answer

    return many
