"""Measure work on arrays for the table of targets, each group of programs in interleaved rounds.

Each function yields `Row`s, one per program and task. `targets_table` judges them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np

from . import accuracy, ceilings, checks, problems, rivals, roofline, stream
from .problems import Problem
from .rivals import OURS, SKLEARN, Rival
from .timing import EFFORTS, Call, Row, Timing, interleave, repeated, row

SMALL_CALLS = 200


class Entry(NamedTuple):
    """A library at a problem, and the name of the program in its rows."""

    program: str
    rival: Rival
    problem: Problem


def grid(size: str) -> Iterator[Row]:
    """fit, predict and predict_proba over the grid, of both types and orders, with ceilings."""
    for problem in problems.grid(size):
        single = problem._replace(dtype="float32")
        entries = [
            Entry("fastgnb", OURS, problem),
            Entry("scikit-learn", SKLEARN, problem),
            Entry("fastgnb float32", OURS, single),
            Entry("scikit-learn float32", SKLEARN, single),
            Entry("fastgnb F", OURS, problem._replace(order="F")),
        ]
        yield from compare("grid", entries, size, ["fit", "predict", "predict_proba"])


def others(size: str) -> Iterator[Row]:
    """fit and predict of every library that is installed, at the standard problem."""
    problem = problems.standard(size)
    for rival in rivals.RIVALS:
        if rival.missing:
            print(f"{rival.name}: skipped, not installed: {', '.join(rival.missing)}")
    entries = [Entry(r.name, r, problem) for r in rivals.RIVALS if not r.missing]
    yield from compare("others", entries, size, ["fit", "predict"])


def labels(size: str) -> Iterator[Row]:
    """fit with text labels, of fixed width and as Python objects."""
    for problem in problems.variants(size):
        if problem.labels != "int":
            entries = [Entry(r.name, r, problem) for r in (OURS, SKLEARN)]
            yield from compare(f"labels {problem.labels}", entries, size, ["fit"])


def noise(size: str) -> Iterator[Row]:
    """predict with many classes, on data with structure and on noise."""
    for problem in problems.many_classes(size):
        entries = [Entry("fastgnb", OURS, problem)]
        yield from compare(f"many classes, {problem.structure}", entries, size, ["predict"])


def compare(group: str, entries: list[Entry], size: str, works: list[str]) -> Iterator[Row]:
    """Time each kind of work of all entries, interleaved, with the first problem's ceiling."""
    models = {entry.program: _fit(entry) for entry in entries}
    for work in works:
        calls = {entry.program: _call(entry, work, models[entry.program]) for entry in entries}
        ceiling = _ceiling(work, entries[0].problem)
        timings = interleave(calls | ({"ceiling": ceiling.move} if ceiling else {}), EFFORTS[size])
        for entry in entries:
            timing = timings[entry.program]
            _check(entry, work, timing.result)
            (X,) = entry.rival.head(entry.problem.data()[0])
            yield row(group, work, entry.problem._replace(n=len(X)), entry.program, timing)
        if ceiling:
            move, arithmetic = timings["ceiling"], ceiling.arithmetic
            limit = Timing([max(arithmetic, seconds) for seconds in move.seconds], None)
            extra = {"moving": move.median, "arithmetic": arithmetic}
            yield row(group, work, entries[0].problem, "ceiling", limit, **extra)


def _fit(entry: Entry) -> Any:
    return entry.rival.fit(*entry.rival.head(*entry.problem.data()))


def _call(entry: Entry, work: str, model: Any) -> Call:
    """The call to time, after one call that compiles where the library is ours."""
    X, y = entry.rival.head(*entry.problem.data())
    if work == "fit":
        return functools.partial(entry.rival.fit, X, y)
    if entry.rival is OURS:
        getattr(model, work)(X)
    return functools.partial(getattr(model, work), X)


def _ceiling(work: str, problem: Problem) -> roofline.Ceiling | None:
    X, _ = problem.data()
    if work == "predict_proba":
        return None
    ceiling = roofline.fit(X) if work == "fit" else roofline.predict(X, problem.k)
    ceiling.move()
    return ceiling


def _check(entry: Entry, work: str, result: Any) -> None:
    check = {
        "fit": checks.check_fit,
        "predict": checks.check_labels,
        "predict_proba": checks.check_proba,
    }[work]
    check(result, entry.rival, entry.problem)


def streaming(size: str) -> Iterator[Row]:
    """One fit, partial_fit in chunks, and of single rows beside river's `learn_one`."""
    problem = problems.standard(size)
    X, y = problem.data()
    calls = {"fastgnb": functools.partial(OURS.fit, X, y)}
    for chunk in stream.CHUNKS:
        name = stream.program(chunk)
        calls[name] = stream.learner(OURS, X, y, chunk)
        calls[name]()
    for program, timing in interleave(calls, EFFORTS[size]).items():
        checks.check_fit(timing.result, OURS, problem)
        yield row("stream", "fit", problem, program, timing)
    few = [array[:SMALL_CALLS].copy() for array in (X, y)]
    singles = {"fastgnb": stream.learner(OURS, *few, chunk=1)}
    river = rivals.named("river")
    if not river.missing:
        singles["river"] = functools.partial(river.fit, *few)
    singles["fastgnb"]()
    for program, timing in interleave(singles, EFFORTS[size]).items():
        per_call = Timing([seconds / SMALL_CALLS for seconds in timing.seconds], None)
        yield row("single rows", "learn", problem._replace(n=1), program, per_call)


def one_row(size: str) -> Iterator[Row]:
    """predict and predict_proba of one row, where validation takes longer than the kernel."""
    problem = problems.standard(size)
    X, y = problem.data()
    models = {rival.name: rival.fit(X, y) for rival in (OURS, SKLEARN)}
    for method in ("predict", "predict_proba"):
        expected = getattr(models["fastgnb"], method)(X)[:1]
        getattr(models["fastgnb"], method)(X[:1])  # one row uses another kernel: compile it
        calls = {
            name: repeated(functools.partial(getattr(model, method), X[:1]), SMALL_CALLS)
            for name, model in models.items()
        }
        for program, timing in interleave(calls, EFFORTS[size]).items():
            np.testing.assert_allclose(timing.result, expected, rtol=1e-9)
            per_call = Timing([seconds / SMALL_CALLS for seconds in timing.seconds], None)
            yield row("one row", method, problem._replace(n=1), program, per_call)


def threads(size: str) -> Iterator[Row]:
    """fit and predict with one thread and with two, where arithmetic is the ceiling."""
    if numba.config.NUMBA_NUM_THREADS < 2:
        print("threads: skipped, the machine has one")
        return
    for problem in problems.grid(size):
        if problem.k < 10:
            continue
        X, y = problem.data()
        model = OURS.fit(X, y)
        works: dict[str, Call] = {"predict": functools.partial(model.predict, X)}
        if problem.k >= 100:
            works["fit"] = functools.partial(OURS.fit, X, y)
        for work, call in works.items():
            calls = {f"{n} threads": functools.partial(_with_threads, n, call) for n in (1, 2)}
            for each in calls.values():  # one thread uses another kernel: compile it
                each()
            timings = interleave(calls, EFFORTS[size])
            results = [timing.result for timing in timings.values()]
            results = [getattr(result, "theta_", result) for result in results]
            np.testing.assert_array_equal(*results)
            for program, timing in timings.items():
                yield row("threads", work, problem, program, timing)


def _with_threads(n: int, call: Call) -> Any:
    with ceilings.threads(n):
        return call()


def accurate(size: str) -> Iterator[Row]:
    """Errors against exact arithmetic at mean/sd up to 1e8, with the time of the same calls."""
    for offset in (1.0, 1e4, 1e8):
        X, _ = accuracy.rows(offset)
        for rival in (OURS, SKLEARN, rivals.MATRIX):
            model, errors = accuracy.measure(rival, offset)
            call = functools.partial(model.predict, X)
            call()
            timing = interleave({"": call}, EFFORTS[size])[""]
            problem = Problem(len(X), accuracy.D, accuracy.K)
            extra = {**errors._asdict(), "mean_over_sd": offset}
            yield row("accuracy", f"predict at {offset:g}", problem, rival.name, timing, **extra)
