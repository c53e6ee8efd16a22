"""What `fastgnb demo` measured as a page of benchmarks."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterator, Mapping

from .._numba.threads import n_threads
from ..dashboard import Comparison, Figure, Question, Run, Task, compare, machine, write_page

__all__ = ["write_demo_page"]

Rounds = Mapping[tuple[str, str], list[float]]

_LIBRARY = "scikit-learn"

_QUESTION = Question(
    "demo",
    "How fast are fit and predict on this machine, from arrays and from a file?",
    "Each program is called a few times in a row, after a call that compiles. The file is Parquet, "
    "uncompressed, and in the page cache.",
    "The labels of all rows have to be scikit-learn's.",
    "fastgnb reads the rows once and allocates the result only. Commands on files also read and "
    "write, and evaluate counts right answers while it scores.",
)

_PACKAGES = ("numpy", "numba", "scikit-learn", "scipy", "pyarrow")


def write_demo_page(
    path: str | os.PathLike[str], rounds: Rounds, problem: str, n_rows: int, load: float | None
) -> None:
    """Write the page of one run, of this machine now.

    `rounds` are the seconds of each round, by step and program; `load` is that before the run.
    """
    figures = [
        Figure(_task(step, program, problem), program.partition(",")[0], seconds, n_rows)
        for (step, program), seconds in rounds.items()
    ]
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    cores = os.cpu_count()
    run = Run(
        name=date[:19].replace(":", ""),
        date=date,
        commit=None,
        dirty=None,
        size="demo",
        machine=f"{machine.cpu_name()}, {cores} cores",
        facts=list(_facts(load)),
        versions={"python": platform.python_version(), **machine.versions(_PACKAGES)},
        notes=(),
        figures=figures,
        comparisons=list(_comparisons(figures)),
    )
    write_page(path, [run], [_QUESTION], "fastgnb on this machine")


def _task(step: str, program: str, problem: str) -> Task:
    return Task("demo", step, problem, detail=program.partition(", ")[2])


def _comparisons(figures: list[Figure]) -> Iterator[Comparison]:
    """Each of ours beside scikit-learn's at the same step, where it has one."""
    theirs = {f.task.operation: i for i, f in enumerate(figures) if f.program == _LIBRARY}
    for i, figure in enumerate(figures):
        if figure.program != _LIBRARY and figure.task.operation in theirs:
            yield compare(figures, i, theirs[figure.task.operation], _LIBRARY)


def _facts(load: float | None) -> Iterator[tuple[str, str]]:
    yield "Processor", machine.cpu_name()
    yield "Cores", str(os.cpu_count())
    yield "System", platform.platform()
    yield "Threads", str(n_threads())
    for name, value in (("Load before", load), ("Load after", machine.load())):
        if value is not None:
            yield name, f"{value:.2f}"
