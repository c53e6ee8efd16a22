"""What a page shows: runs, their figures, comparisons of figures, and targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from . import noise

__all__ = ["Comparison", "Figure", "Question", "Run", "Target", "Task", "compare"]


class Task(NamedTuple):
    """What was done: one operation on one problem, with its options."""

    question: str
    operation: str
    problem: str
    member: str = "GaussianNB"
    dtype: str = "float64"
    layout: str = "C"
    detail: str = ""


class Figure(NamedTuple):
    """A measured number: seconds of rounds, or a size or an error.

    Attributes
    ----------
    task : what was done.
    program : who did it.
    values : one number a round; the figure is their median.
    rows : rows that a call worked on; 0 where that means nothing.
    unit : "s", "bytes" or "" for an error.
    """

    task: Task
    program: str
    values: Sequence[float]
    rows: int = 0
    unit: str = "s"


class Comparison(NamedTuple):
    """One of our figures beside another one of the same run.

    Attributes
    ----------
    ours, theirs : positions among the figures of the run.
    library : what ours is compared with.
    ratio : their time over ours, per row: above 1, ours is faster.
    noise : standard deviation of the ratio's logarithm within the run; None if not known.
    kind : "library"; "limit" for what no program can beat, where the ratio is a share; "self"
        for fastgnb with other options.
    """

    ours: int
    theirs: int
    library: str
    ratio: float
    noise: float | None
    kind: str = "library"


class Target(NamedTuple):
    """A stated target and what was measured; the target may be missing."""

    what: str
    target: float | None
    measured: float
    unit: str
    at_most: bool
    passed: bool | None
    detail: str


class Question(NamedTuple):
    """A question that benchmarks answer. All but the identifier are sentences."""

    identifier: str
    title: str
    timed: str
    checked: str
    why: str


class Run(NamedTuple):
    """All that was measured at one time on one machine.

    Attributes
    ----------
    name : identifies the run, as in addresses of the page.
    date : in ISO format.
    commit, dirty : what was measured, and whether files differed from it; None if not recorded.
    size : name of the set of problems.
    machine : name of the machine; runs of one name are compared.
    facts : what figures depend on, as pairs of a name and a text.
    versions : version by package.
    notes : what a reader must know before believing the figures.
    """

    name: str
    date: str
    commit: str | None
    dirty: bool | None
    size: str
    machine: str
    facts: Sequence[tuple[str, str]]
    versions: Mapping[str, str]
    notes: Sequence[str]
    figures: Sequence[Figure]
    comparisons: Sequence[Comparison]
    targets: Sequence[Target] = ()


def compare(
    figures: Sequence[Figure], ours: int, theirs: int, library: str, **options: Any
) -> Comparison:
    """The comparison of two figures by their medians, per row where both have rows.

    `scale` multiplies the ratio, and `kind` is as in `Comparison`.
    """
    a, b = figures[ours], figures[theirs]
    scale = options.pop("scale", 1.0)
    if a.rows and b.rows:
        scale *= a.rows / b.rows
    ratio = scale * median(b.values) / median(a.values)
    return Comparison(ours, theirs, library, ratio, noise.within(a.values, b.values), **options)
