"""Judge measured rows: the lines of the table of targets.

Ratios are between medians of one interleaved run, and `best` is the same ratio between the fastest
calls. A line over several problems shows its worst one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from .stream import program as chunks_of
from .timing import Row

Key = tuple[str, str, str, str]


class Line(NamedTuple):
    """A target and what was measured. Without a target, the line is for information."""

    what: str
    target: float | None
    measured: float
    best: float
    unit: str = "x"
    at_most: bool = False
    detail: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether the median meets the target; None without one."""
        if self.target is None:
            return None
        return self.measured <= self.target if self.at_most else self.measured >= self.target


class Ratio(NamedTuple):
    """The time of one program divided by that of another, at a shape."""

    median: float
    best: float
    shape: str


class Table:
    """Rows by group, work, shape and program."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows: dict[Key, Row] = {(r.group, r.work, r.shape, r.program): r for r in rows}

    def of(self, group: str, work: str, program: str) -> list[Row]:
        """All rows of a program at a kind of work, in the order of measurement."""
        key = (group, work, program)
        return [row for row in self.rows.values() if (row.group, row.work, row.program) == key]

    def ratios(self, group: str, work: str, a: str, b: str) -> list[Ratio]:
        """Seconds of b over seconds of a, per row of data, at each shape that has both."""
        result = []
        for row in self.of(group, work, a):
            other = next((r for r in self.of(group, work, b) if _same_shape(row, r)), None)
            if other is not None:
                median, best = other.median / row.median, other.best / row.best
                scale = row.rows / other.rows
                result.append(Ratio(median * scale, best * scale, row.shape))
        return result


def _same_shape(a: Row, b: Row) -> bool:
    """Whether features and classes are the same; a slow library may be given fewer rows."""
    return (a.extra["d"], a.extra["k"]) == (b.extra["d"], b.extra["k"])


def judge(rows: list[Row]) -> list[Line]:
    """Every line that the measured rows allow, in the order of the targets."""
    table = Table(rows)
    sections = (
        _against_sklearn, _others, _shares, _single, _fortran, _labels, _stream, _one_row, _memory,
        _files, _startup, _threads, _busy, _accuracy, _family, _scatter, _selection,
        _leave_one_out,
    )  # fmt: skip
    return [line for section in sections for line in section(table)]


def mean_line(what: str, target: float | None, ratios: list[Ratio]) -> Iterator[Line]:
    """The geometric mean of ratios, where there are any."""
    if ratios:
        median, best = (geometric_mean([ratio[i] for ratio in ratios]) for i in (0, 1))
        yield Line(what, target, median, best, detail=f"{len(ratios)} problems")


def worst_line(
    what: str, target: float | None, ratios: list[Ratio], **style: Any
) -> Iterator[Line]:
    """The worst ratio, where there are any, and where it was."""
    if ratios:
        worst = (max if style.get("at_most") else min)(ratios)
        yield Line(what, target, worst.median, worst.best, detail=worst.shape, **style)


def _against_sklearn(table: Table) -> Iterator[Line]:
    targets = {"fit": (25, 10), "predict": (60, 25), "predict_proba": (40, None)}
    for work, (mean, worst) in targets.items():
        both = [
            ratio._replace(shape=ratio.shape + dtype)
            for dtype in ("", " float32")
            for ratio in table.ratios("grid", work, f"fastgnb{dtype}", f"scikit-learn{dtype}")
        ]
        yield from mean_line(f"{work} against scikit-learn, geometric mean", mean, both)
        yield from worst_line(f"{work} against scikit-learn, worst", worst, both)


OTHERS = ("mlpack", "numpy matrix", "dask-ml", "river", "Spark ML", "H2O", "R e1071")


def _others(table: Table) -> Iterator[Line]:
    targets = {("fit", "mlpack"): 2, ("predict", "numpy matrix"): 4}
    for work in ("fit", "predict"):
        for program in OTHERS:
            what = f"{work} against {program}"
            ratios = table.ratios("others", work, "fastgnb", program)
            yield from worst_line(what, targets.get((work, program)), ratios)


def fit_share(d: int, k: int) -> float:
    """The share of the ceiling that fit should reach."""
    if k <= 10:
        return 0.8 if d <= 20 else 0.5
    return 0.6


def predict_share(d: int, k: int) -> float:
    """The share of the ceiling that predict should reach."""
    if k >= 100:
        return 0.8
    if d >= 20:
        return 0.85
    return 0.6 if d >= 8 else 0.4


def _shares(table: Table) -> Iterator[Line]:
    for work, target in (("fit", fit_share), ("predict", predict_share)):
        for group in ("grid", "many classes, classes", "many classes, noise"):
            extra = "" if group == "grid" else f", {group}"
            for row in table.of(group, work, "fastgnb"):
                limit = table.rows[group, work, row.shape, "ceiling"]
                bound = "multiply-adds" if _is_compute(limit) else "memory"
                yield Line(
                    f"{work}, share of the ceiling, {row.shape}{extra}",
                    target(row.extra["d"], row.extra["k"]),
                    limit.median / row.median, limit.best / row.best, "", detail=bound,
                )  # fmt: skip


def _is_compute(ceiling: Row) -> bool:
    return bool(ceiling.extra["arithmetic"] > ceiling.extra["moving"])


def _single(table: Table) -> Iterator[Line]:
    """float32 against float64. Work is memory-bound at half of the memory bandwidth or more."""
    names = ("fastgnb float32", "fastgnb")
    for work in ("fit", "predict"):
        ratios = table.ratios("grid", work, *names)
        yield from worst_line(f"{work}, float32 against float64, worst", 1.0, ratios)
        memory_bound = {
            row.shape
            for row in table.of("grid", work, "fastgnb")
            if table.rows["grid", work, row.shape, "ceiling"].extra["moving"] > 0.5 * row.median
        }
        what = f"{work}, float32 against float64, worst of memory-bound"
        yield from worst_line(what, 1.6, [r for r in ratios if r.shape in memory_bound])


def _fortran(table: Table) -> Iterator[Line]:
    for work in ("fit", "predict"):
        ratios = table.ratios("grid", work, "fastgnb F", "fastgnb")
        yield from worst_line(f"{work}, Fortran against C order, worst", 0.95, ratios)


def _labels(table: Table) -> Iterator[Line]:
    for kind in ("U", "object"):
        ratios = table.ratios(f"labels {kind}", "fit", "fastgnb", "scikit-learn")
        yield from worst_line(f"fit with {kind} labels against scikit-learn", 5, ratios)


def _stream(table: Table) -> Iterator[Line]:
    for chunk, target in ((10_000, 0.8), (1_000, 0.4)):
        ratios = table.ratios("stream", "fit", chunks_of(chunk), "fastgnb")
        yield from worst_line(f"partial_fit in chunks of {chunk:,} against one fit", target, ratios)
    ratios = table.ratios("single rows", "learn", "river", "fastgnb")
    what = "partial_fit of one row, against river's learn_one"
    yield from worst_line(what, 3.0, ratios, at_most=True)


def _one_row(table: Table) -> Iterator[Line]:
    for work in ("predict", "predict_proba"):
        ratios = table.ratios("one row", work, "scikit-learn", "fastgnb")
        what = f"{work} of one row, share of scikit-learn's time"
        yield from worst_line(what, 0.35, ratios, unit="", at_most=True)


def _memory(table: Table) -> Iterator[Line]:
    for row in table.of("memory", "all", "fastgnb"):
        size = row.extra["bytes"]
        for work in ("fit", "predict", "predict_proba"):
            share = 100 * size[work] / size["X"]
            what = f"{work}, peak memory beyond X and output"
            shape = " ".join([row.shape, *[row.extra["dtype"]] * (row.extra["dtype"] != "float64")])
            yield Line(what, 0.5 if work == "fit" else 2.0, share, share, "% of X", True, shape)


def _files(table: Table) -> Iterator[Line]:
    """Commands on files, against the faster way of only reading them."""
    for ending, target in (("parquet", 1.25), ("csv", 1.25), ("npy", 1.5), ("arrow", 1.25)):
        for work in ("predict", "fit"):
            for row in table.of(f"files {ending}", work, "fastgnb"):
                read = reading(table, ending)
                yield Line(
                    f"`fastgnb {work}` on {ending}, against only reading",
                    target,
                    row.median / read.median, row.best / read.best, "x", True,
                    f"{row.median:.3f} s, {read.work} {read.median:.3f} s",
                )  # fmt: skip


def reading(table: Table, ending: str) -> Row:
    """The faster way of only reading a file: all at once, or as a stream."""
    program = "numpy" if ending == "npy" else "pyarrow"
    reads = [
        row
        for how in ("whole", "stream")
        for row in table.of(f"files {ending}", f"read {how}", program)
    ]
    return min(reads, key=lambda row: row.median)


IMPORTS = {"fastgnb": 1.3, "fastgnb:GaussianNB": None}
STARTS = (
    "python", "import numpy", "import numba", *(f"import {name}" for name in IMPORTS),
    "first predict", "fastgnb predict",
)  # fmt: skip


def _startup(table: Table) -> Iterator[Line]:
    """Times of whole processes, less that of an interpreter that does nothing."""
    rows = {name: row for name in STARTS for row in table.of("startup", "process", name)}
    if rows:
        python = rows["python"]
        net = {
            name: (row.median - python.median, row.best - python.best) for name, row in rows.items()
        }
        numpy = net["import numpy"]
        for name, target in IMPORTS.items():
            ratio = [
                ours / theirs for ours, theirs in zip(net[f"import {name}"], numpy, strict=True)
            ]
            what = f"`import {name}` against `import numpy`"
            yield Line(what, target, *ratio, at_most=True, detail=f"numpy {numpy[0]:.2f} s")
        steps = rows["first predict"].extra["output"]["steps"]
        detail = ", ".join(f"{name} {seconds:.2f}" for name, seconds in steps.items())
        what = "process start to first predict, cached"
        total = net["first predict"]
        yield Line(f"{what}, less interpreter start", None, *total, "s", True, detail)
        if "import numba" in net:
            ratio = [ours / theirs for ours, theirs in zip(total, net["import numba"], strict=True)]
            yield Line(f"{what}, against `import numba`", 2.0, *ratio, at_most=True)
        if "fastgnb predict" in rows:
            row = rows["fastgnb predict"]
            what = "`fastgnb predict` of 1,000 rows, cached"
            yield Line(what, 1.0, row.median, row.best, "s", True)
    for row in table.of("cold", "fit and predict", "fastgnb"):
        yield Line("first fit and predict, cold", 5.0, row.median, row.best, "s", True)
    for row in table.of("cold", "warmup", "fastgnb"):
        # Without the path of the cache, which is a temporary folder.
        detail = row.extra["output"]["printed"].partition("; ")[0]
        yield Line("all kernels compiled cold", 30.0, row.median, row.best, "s", True, detail)


def _threads(table: Table) -> Iterator[Line]:
    for work, target in (("fit", 1.8), ("predict", 1.7)):
        for ratio in table.ratios("threads", work, "2 threads", "1 threads"):
            what = f"{work}, two threads against one, {ratio.shape}"
            yield Line(what, target, ratio.median, ratio.best)


def _busy(table: Table) -> Iterator[Line]:
    rows = {name: table.of("busy", "predict", name) for name in ("alone", "busy")}
    means = [
        busy.extra["mean"] / alone.extra["mean"] for alone, busy in zip(*rows.values(), strict=True)
    ]
    ratios = table.ratios("busy", "predict", "alone", "busy")
    for ratio, mean in zip(ratios, means, strict=True):
        what = f"predict while every core is busy, against alone, {ratio.shape}"
        yield Line(
            what, 3.0, ratio.median, ratio.best, at_most=True, detail=f"by means {mean:.1f} x"
        )


def _accuracy(table: Table) -> Iterator[Line]:
    """Errors at mean/sd of 1e8; other libraries have no target."""
    for program in ("fastgnb", "scikit-learn", "numpy matrix"):
        for row in table.of("accuracy", "predict at 1e+08", program):
            error = row.extra["joint"]
            target = 1e-12 if program == "fastgnb" else None
            what = f"error of the joint log likelihood at mean/sd 1e8, {program}"
            yield Line(what, target, error, error, "", True, f"variances {row.extra['var']:.1e}")


# How many times as fast as scikit-learn's estimators members should be.
MEMBERS = {
    ("GaussianBayes", "predict"): 5.0,
    ("GaussianBayes, tied", "predict"): 1.5,
    ("MixedNB", "fit"): 10.0,
    ("MixedNB", "predict"): 10.0,
}


def _family(table: Table) -> Iterator[Line]:
    """Members against their counterparts, and full covariances against matrix products."""
    for group in family_groups(table):
        member = group.removeprefix("family ")
        for work in ("fit", "predict"):
            for row in table.of(group, work, "fastgnb"):
                other = table.rows[group, work, row.shape, "scikit-learn"]
                what = f"{member}: {work} against scikit-learn, {row.shape}"
                target = MEMBERS.get((member, work))
                if member == "GaussianBayes" and row.extra["d"] != 20:
                    target = None
                yield Line(what, target, other.median / row.median, other.best / row.best)
        yield from _product_shares(table, group, "predict", 0.4)


def family_groups(table: Table) -> list[str]:
    """Groups of rows of members, in the order of measurement."""
    return list(dict.fromkeys(key[0] for key in table.rows if key[0].startswith("family ")))


def _scatter(table: Table) -> Iterator[Line]:
    ratios = table.ratios("scatter", "statistics", "fastgnb", "scikit-learn")
    yield from worst_line("full scatter against scikit-learn's covariances, worst", 1.0, ratios)
    yield from _product_shares(table, "scatter", "statistics", 0.6)


def _product_shares(table: Table, group: str, work: str, target: float) -> Iterator[Line]:
    """Shares of the rate of the machine's own matrix product, from 64 features on."""
    for row in table.of(group, work, "fastgnb"):
        product = table.rows.get((group, work, row.shape, "product"))
        if product is not None and row.extra["d"] >= 64:
            share = product.extra["share"]
            name = group.removeprefix("family ")
            yield Line(
                f"{name}: {work}, share of the matrix product, {row.shape}", target,
                share * product.median / row.median, share * product.best / row.best, "",
            )  # fmt: skip


def _selection(table: Table) -> Iterator[Line]:
    for name in ("GaussianNB", "GaussianBayes"):
        ratios = table.ratios(f"selection {name}", "cross-validation", "fastgnb", "scikit-learn")
        what = f"StatsGridSearchCV of {name}, 5 folds and 10 candidates, against GridSearchCV"
        yield from worst_line(what, 20.0, ratios)


def _leave_one_out(table: Table) -> Iterator[Line]:
    """The pass over all rows against `predict`, and with the fit before it against refits."""
    names = dict.fromkeys(key[0] for key in table.rows if key[0].startswith("leave-one-out "))
    for group in names:
        member = group.removeprefix("leave-one-out ")
        for ratio in table.ratios(group, "rows", "fastgnb scoring", "fastgnb pass"):
            what = f"leave-one-out of {member}, against predict, {ratio.shape}"
            yield Line(what, 3.0, ratio.median, ratio.best, "x", True)
        ratios = table.ratios(group, "rows", "fastgnb fit and pass", "fastgnb refits")
        for ratio, row in zip(ratios, table.of(group, "rows", "fastgnb refits"), strict=True):
            scale = row.rows / row.extra["scored"]
            what = f"leave-one-out of {member}, against refits, {ratio.shape}"
            yield Line(what, None, ratio.median * scale, ratio.best * scale)


def geometric_mean(values: list[float]) -> float:
    """The geometric mean of values above 0."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))
