"""Noise of every comparison, from all runs of its machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from .noise import between, combine
from .records import Run, Task

__all__ = ["Series", "noises", "series_of"]

Series = tuple[Task, str]


def series_of(run: Run) -> dict[Series, float]:
    """Ratios of a run, by task and library."""
    return {(run.figures[c.ours].task, c.library): c.ratio for c in run.comparisons}


def noises(runs: Sequence[Run]) -> list[list[float | None]]:
    """Noise of each comparison of each run, in their order.

    Noise between runs is that of the comparison's own series where it is long enough. In a shorter
    one it is that of the machine's control series: ratios between two programs of which none is
    fastgnb, so that a change of fastgnb is no noise.
    """
    by_machine: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.date):
        by_machine[run.machine].append(run)
    own, shared = {}, {}
    for machine, members in by_machine.items():
        shared[machine] = between(list(_join(map(_controls, members)).values()))
        for series, ratios in _join(map(series_of, members)).items():
            own[machine, series] = between([ratios])
    result: list[list[float | None]] = []
    for run in runs:
        control = shared[run.machine]
        values = []
        for c in run.comparisons:
            known = own[run.machine, (run.figures[c.ours].task, c.library)]
            values.append(combine(c.noise, control if known is None else known))
        result.append(values)
    return result


def _join(runs: Iterator[dict[Series, float]]) -> dict[Series, list[float]]:
    """The values of each series, in the order of runs."""
    result: dict[Series, list[float]] = defaultdict(list)
    for run in runs:
        for series, value in run.items():
            result[series].append(value)
    return result


def _controls(run: Run) -> dict[Series, float]:
    """Ratios of all libraries and limits of a task to the first of them."""
    result: dict[Series, float] = {}
    first: dict[Task, float] = {}
    for c in run.comparisons:
        task = run.figures[c.ours].task
        if c.kind == "self":
            continue
        if task in first:
            result[task, c.library] = c.ratio / first[task]
        first.setdefault(task, c.ratio)
    return result
