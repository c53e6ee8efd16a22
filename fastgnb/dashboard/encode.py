"""Runs as compact JSON: names once in tables, numbers in columns, with as many digits as count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from . import noise
from .history import noises
from .records import Figure, Question, Run, Target, Task

__all__ = ["encode"]

Cell = float | int | str | bool | None


class _Table:
    """Distinct rows in the order in which they come."""

    def __init__(self) -> None:
        self.rows: dict[tuple[Cell, ...], int] = {}

    def position(self, *row: Cell) -> int:
        return self.rows.setdefault(row, len(self.rows))

    def columns(self) -> list[list[Cell]]:
        return _columns(list(self.rows))


class _Names:
    """The tables that figures of all runs refer to."""

    def __init__(self) -> None:
        self.words, self.tasks, self.series = _Table(), _Table(), _Table()
        self.libraries, self.targets = _Table(), _Table()

    def task(self, task: Task) -> int:
        return self.tasks.position(*(self.words.position(word) for word in task))

    def figure(self, figure: Figure) -> int:
        key = (figure.program, figure.unit, figure.rows)
        return self.series.position(self.task(figure.task), *key)


def encode(
    runs: Sequence[Run], questions: Sequence[Question] = (), title: str = "", home: str = ""
) -> str:
    """The JSON text that the page's scripts read, oldest run first."""
    runs = sorted(runs, key=lambda run: run.date)
    names = _Names()
    content = [_run(run, of_run, names) for run, of_run in zip(runs, noises(runs), strict=True)]
    libraries = [list(row) for row in names.libraries.rows]
    document = {
        "title": title,
        "home": home,
        "limit": noise.LIMIT,
        "questions": [question._asdict() for question in questions],
        "words": [word for (word,) in names.words.rows],
        "tasks": names.tasks.columns(),
        "series": names.series.columns(),
        "libraries": libraries,
        "targets": names.targets.columns(),
        "runs": content,
    }
    # A script element ends at "</script", wherever it is.
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def _run(run: Run, noise_of: Sequence[float | None], names: _Names) -> dict[str, Any]:
    comparisons = [
        (
            c.ours,
            c.theirs,
            names.libraries.position(c.library, c.kind),
            rounded(c.ratio),
            rounded(value, 2),
        )
        for c, value in zip(run.comparisons, noise_of, strict=True)
    ]
    return {
        **{name: getattr(run, name) for name in ("name", "date", "commit", "dirty", "size")},
        "machine": run.machine,
        "facts": [list(fact) for fact in run.facts],
        "versions": dict(run.versions),
        "notes": list(run.notes),
        "figures": _columns([_figure(figure, names) for figure in run.figures]),
        "comparisons": _columns(comparisons),
        "targets": _columns([_target(target, names) for target in run.targets]),
    }


def _figure(figure: Figure, names: _Names) -> tuple[Cell, ...]:
    """Series, median, best, number of rounds, noise."""
    spread = noise.within(figure.values) if min(figure.values) > 0 else None
    return (
        names.figure(figure),
        rounded(median(figure.values)),
        rounded(min(figure.values)),
        len(figure.values),
        rounded(spread, 2),
    )


def _target(target: Target, names: _Names) -> tuple[Cell, ...]:
    """Position of the text, target, measured, whether it is met, detail."""
    position = names.targets.position(target.what, target.unit, target.at_most)
    return (
        position,
        rounded(target.target),
        rounded(target.measured),
        target.passed,
        target.detail,
    )


def rounded(value: float | None, digits: int = 4) -> float | None:
    """A number of so many digits, an integer where that is shorter."""
    if value is None:
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short


def _columns(rows: Iterable[Sequence[Cell]]) -> list[list[Cell]]:
    return [list(column) for column in zip(*rows, strict=True)]
