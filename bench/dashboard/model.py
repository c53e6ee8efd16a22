"""Runs of `bench.targets` as runs of a page: what each row measured, and beside what it is put."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fastgnb.dashboard import Comparison, Figure, Run, Target, Task, compare

from .. import runs
from ..targets_table import OTHERS, Table, reading
from ..timing import Row

OURS = "fastgnb"


class Pair(NamedTuple):
    """A program of ours, one to put beside it, and what the other is called on the page."""

    ours: str
    theirs: str
    library: str
    kind: str = "library"


CEILING = Pair(OURS, "ceiling", "ceiling", "limit")
SKLEARN = Pair(OURS, "scikit-learn", "scikit-learn")

# By group, or what a group begins with.
PAIRS: dict[str, list[Pair]] = {
    "grid": [
        SKLEARN,
        CEILING,
        Pair("fastgnb float32", "scikit-learn float32", "scikit-learn"),
        Pair("fastgnb float32", OURS, "fastgnb, float64", "self"),
        Pair("fastgnb F", "ceiling", "ceiling", "limit"),
        Pair("fastgnb F", OURS, "fastgnb, C order", "self"),
    ],
    "others": [
        SKLEARN,
        *(Pair(OURS, name, name) for name in OTHERS),
        CEILING,
    ],
    "many classes": [CEILING],
    "labels": [SKLEARN, CEILING],
    "stream": [
        Pair("fastgnb in chunks", OURS, "fastgnb, one fit", "self"),
        Pair("fastgnb in chunks of 1000", OURS, "fastgnb, one fit", "self"),
    ],
    "single rows": [Pair(OURS, "river", "river")],
    "one row": [SKLEARN],
    "files": [],  # see `_reading`
    "startup": [
        Pair("import fastgnb", "import numpy", "import numpy"),
        Pair("import fastgnb:GaussianNB", "import numpy", "import numpy"),
    ],
    "threads": [Pair("2 threads", "1 threads", "fastgnb, one thread", "self")],
    "busy": [Pair("busy", "alone", "fastgnb, cores idle", "self")],
    "family": [SKLEARN, Pair(OURS, "product", "matrix product", "limit")],
    "scatter": [SKLEARN, Pair(OURS, "product", "matrix product", "limit")],
    "selection": [SKLEARN],
    "leave-one-out": [Pair("fastgnb pass", "fastgnb scoring", "fastgnb, predict", "self")],
}

# Where the question of a group, or an operation, has another name than group and work.
QUESTIONS = {"many classes": "noise", "one row": "one-row", "single rows": "stream"}
OPERATIONS = {
    "fastgnb in chunks": "partial_fit",
    "fastgnb in chunks of 1000": "partial_fit of 1,000 rows",
    "single rows learn": "partial_fit of one row",
    "one row predict": "predict, one row",
    "one row predict_proba": "predict_proba, one row",
    "files fit": "fit from a file",
    "files predict": "predict from a file",
    "startup process": "process start",
    "cold warmup": "compiling",
    "cold fit and predict": "first fit and predict",
    "threads predict": "predict, two threads",
    "threads fit": "fit, two threads",
    "busy predict": "predict, cores busy",
    "scatter statistics": "full scatter",
    "selection cross-validation": "grid search",
    "fastgnb pass": "leave-one-out",
    "fastgnb fit and pass": "fit and leave-one-out",
    "fastgnb refits": "refits",
    "fastgnb scoring": "predict",
}
MEMBERS = ("family", "selection", "leave-one-out")  # whose groups are named by a member
OPTIONS = (" float32", " F")  # what programs of the grid are called beyond their task


def run_of(run: runs.Run) -> Run:
    """A run as the page shows it."""
    rows = runs.rows_of(run)
    figures = [figure for row in rows for figure in figures_of(row, rows)]
    machine = run["environment"]
    return Run(
        name=run["date"][:19].replace(":", ""),
        date=run["date"],
        commit=run["commit"],
        dirty=run["dirty"],
        size=run["size"],
        machine=f"{machine['cpu']}, {machine['cores']} cores",
        facts=list(_facts(run)),
        versions={"python": machine["python"], **machine["versions"]},
        notes=runs.warnings(run),
        figures=figures,
        comparisons=list(comparisons_of(rows, figures)),
        targets=[
            Target(
                line.what, line.target, line.measured, line.unit, line.at_most, line.passed,
                line.detail,
            )
            for line in runs.lines_of(run)
        ],
    )  # fmt: skip


def task_of(row: Row) -> Task:
    """What a row measured."""
    prefix = _prefix(row.group)
    work = OPERATIONS.get(row.program) or OPERATIONS.get(f"{prefix} {row.work}", row.work)
    member = row.group.removeprefix(f"{prefix} ") if prefix in MEMBERS else ""
    return Task(
        question=QUESTIONS.get(prefix, prefix),
        operation=work.partition(" at ")[0],
        problem=row.shape,
        member=member or ("GaussianBayes" if prefix == "scatter" else "GaussianNB"),
        dtype=row.extra["dtype"],
        layout=row.extra["order"],
        detail=_detail(prefix, row),
    )


def _prefix(group: str) -> str:
    """The group without what varies in its name."""
    return next((prefix for prefix in PAIRS if group.startswith(prefix)), group)


def _detail(prefix: str, row: Row) -> str:
    """What else a task depends on, in words."""
    if prefix == "labels":
        return {"U": "labels: text", "object": "labels: Python text"}[row.extra["labels"]]
    if prefix == "many classes":
        return f"data: {row.extra['structure']}"
    if prefix == "others":
        return "all libraries"
    if prefix == "accuracy":
        return f"mean/sd {row.extra['mean_over_sd']:g}"
    if prefix == "files":
        return row.group.removeprefix("files ")
    return row.program if prefix in ("startup", "cold") else ""


def figures_of(row: Row, rows: list[Row]) -> Iterator[Figure]:
    """The figures of a row: its seconds, or its errors, or the bytes of each method."""
    task = task_of(row)
    if row.group == "memory":
        for method in ("fit", "predict", "predict_proba"):
            used = row.extra["bytes"][method]
            yield Figure(task._replace(operation=f"{method}, memory"), OURS, [used], 0, "bytes")
    elif row.group == "accuracy":
        yield Figure(task, row.program, [row.extra["joint"]], 0, "")
    else:
        has_rows = row.group not in ("startup", "cold")
        yield Figure(task, _program(row), _seconds(row, rows), row.rows if has_rows else 0)


def _program(row: Row) -> str:
    """The name of a program without the options that are in the task."""
    name = row.program
    for option in OPTIONS:
        name = name.removesuffix(option)
    return name


def _seconds(row: Row, rows: list[Row]) -> list[float]:
    """Seconds of each round; of processes, less those of an interpreter that does nothing."""
    if row.group != "startup" or row.program == "python":
        return row.seconds
    idle = next(r for r in rows if r.group == "startup" and r.program == "python").median
    return [max(seconds - idle, 1e-6) for seconds in row.seconds]


def comparisons_of(rows: list[Row], figures: list[Figure]) -> Iterator[Comparison]:
    """Each of our figures beside every figure that it is to be judged by."""
    position = {(figure.task, figure.program): i for i, figure in enumerate(figures)}

    def at(row: Row) -> int:
        return position[task_of(row), _program(row)]

    for by_program in _groups(rows):
        for pair in PAIRS.get(_prefix(next(iter(by_program.values())).group), []):
            ours, theirs = by_program.get(pair.ours), by_program.get(pair.theirs)
            if ours is not None and theirs is not None:
                scale = theirs.extra["share"] if pair.theirs == "product" else 1.0
                options = {"kind": pair.kind, "scale": scale}
                yield compare(figures, at(ours), at(theirs), pair.library, **options)
    for row in rows:
        if row.group.startswith("files") and row.program == OURS:
            read = reading(Table(rows), row.group.removeprefix("files "))
            yield compare(figures, at(row), at(read), "only reading", kind="limit")


def _groups(rows: list[Row]) -> list[dict[str, Row]]:
    """Rows of one work at one problem, by program. A slow library may have fewer rows."""
    groups: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        work = "" if row.group == "stream" else row.work
        key = (row.group, work, row.extra["d"], row.extra["k"])
        groups.setdefault(key, {})[row.program] = row
    return list(groups.values())


def _facts(run: runs.Run) -> Iterator[tuple[str, str]]:
    """What figures depend on, as texts."""
    machine = run["environment"]
    rates = machine["ceilings"][-1]
    yield "Processor", machine["cpu"]
    yield "Cores", str(machine["cores"])
    yield "System", machine["platform"]
    yield "Threads", f"{rates['threads']} ({machine['threading_layer']})"
    for name, moment in (("load", "before"), ("load_after", "after")):
        if machine[name] is not None:
            yield f"Load {moment}", f"{machine[name]:.2f}"
    yield "Memory", f"reads {rates['read'] / 1e9:.1f} GB/s, writes {rates['write'] / 1e9:.1f} GB/s"
    yield "Arithmetic", f"{rates['fma'] / 1e9:.1f} G multiply-adds/s"
    yield "Duration", f"{run['seconds']:.0f} s"
    cores = [cores for group, cores in run["neighbours"].items() if cores and group != "busy"]
    yield "Other processes", f"at most {max([0.0, *cores]):.2f} cores in any group"
