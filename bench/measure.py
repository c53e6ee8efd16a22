"""Measure arrays for the table of targets: every group of programs in interleaved rounds.

Each function yields `Row`s, one a program and task. What they mean is judged in `lines`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np

from . import accuracy, answers, bounds, ceilings, problems, rivals, stream
from .problems import Problem
from .rivals import OURS, SKLEARN, Rival
from .timing import EFFORTS, Call, Timing, interleave, repeated

SMALL_CALLS = 200


class Row(NamedTuple):
    """Seconds of one program at one task. `seconds` are all calls, `rows` what each worked on."""

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
    """The row of a program's timing; the problem's full name and sizes go with it."""
    extra = {**problem._asdict(), **extra}
    shape = Problem(*problem[:3]).name
    return Row(
        group, work, shape, program, problem.n, timing.median, timing.best, timing.seconds, extra
    )


class Side(NamedTuple):
    """A rival at a problem, by the name that its rows have."""

    program: str
    rival: Rival
    problem: Problem


def grid(size: str) -> Iterator[Row]:
    """fit, predict and predict_proba over grid P: both types, C and Fortran order, ceilings."""
    for problem in problems.grid(size):
        narrow = problem._replace(dtype="float32")
        sides = [
            Side("fastgnb", OURS, problem),
            Side("scikit-learn", SKLEARN, problem),
            Side("fastgnb float32", OURS, narrow),
            Side("scikit-learn float32", SKLEARN, narrow),
            Side("fastgnb F", OURS, problem._replace(order="F")),
        ]
        yield from compare("grid", sides, size, ["fit", "predict", "predict_proba"])


def others(size: str) -> Iterator[Row]:
    """fit and predict of every rival that is installed, at the standard problem."""
    problem = problems.standard(size)
    for rival in rivals.RIVALS:
        if rival.missing:
            print(f"{rival.name}: not installed, left out: {', '.join(rival.missing)}")
    sides = [Side(r.name, r, problem) for r in rivals.RIVALS if not r.missing]
    yield from compare("others", sides, size, ["fit", "predict"])


def labels(size: str) -> Iterator[Row]:
    """fit with text labels, of fixed width and as Python objects."""
    for problem in problems.variants(size):
        if problem.labels != "int":
            sides = [Side(r.name, r, problem) for r in (OURS, SKLEARN)]
            yield from compare(f"labels {problem.labels}", sides, size, ["fit"])


def noise(size: str) -> Iterator[Row]:
    """predict of many classes, on data with structure and on data without any."""
    for problem in problems.many_classes(size):
        sides = [Side("fastgnb", OURS, problem)]
        yield from compare(f"many classes, {problem.structure}", sides, size, ["predict"])


def compare(group: str, sides: list[Side], size: str, works: list[str]) -> Iterator[Row]:
    """Time each kind of work of all sides, interleaved, with the ceiling of the first's problem."""
    models = {side.program: _fit(side) for side in sides}
    for work in works:
        calls = {side.program: _call(side, work, models[side.program]) for side in sides}
        bound = _bound(work, sides[0].problem)
        timings = interleave(calls | ({"ceiling": bound.move} if bound else {}), EFFORTS[size])
        for side in sides:
            timing = timings[side.program]
            _check(side, work, timing.answer)
            (X,) = side.rival.head(side.problem.data()[0])
            yield row(group, work, side.problem._replace(n=len(X)), side.program, timing)
        if bound:
            move, low = timings["ceiling"], bound.arithmetic
            limit = Timing([max(low, seconds) for seconds in move.seconds], None)
            extra = {"moving": move.median, "arithmetic": low}
            yield row(group, work, sides[0].problem, "ceiling", limit, **extra)


def _fit(side: Side) -> Any:
    return side.rival.fit(*side.rival.head(*side.problem.data()))


def _call(side: Side, work: str, model: Any) -> Call:
    """The call to time, after one that compiles where the program is ours."""
    X, y = side.rival.head(*side.problem.data())
    if work == "fit":
        return functools.partial(side.rival.fit, X, y)
    if side.rival is OURS:
        getattr(model, work)(X)
    return functools.partial(getattr(model, work), X)


def _bound(work: str, problem: Problem) -> bounds.Bound | None:
    X, _ = problem.data()
    if work == "predict_proba":
        return None
    bound = bounds.fit(X) if work == "fit" else bounds.predict(X, problem.k)
    bound.move()
    return bound


def _check(side: Side, work: str, answer: Any) -> None:
    check = {
        "fit": answers.check_fit,
        "predict": answers.check_labels,
        "predict_proba": answers.check_proba,
    }[work]
    check(answer, side.rival, side.problem)


def streaming(size: str) -> Iterator[Row]:
    """One fit against partial_fit in chunks of 10,000 rows."""
    problem = problems.standard(size)
    X, y = problem.data()
    calls = {
        "fastgnb": functools.partial(OURS.fit, X, y),
        "fastgnb in chunks": functools.partial(stream.learn, OURS, X, y),
    }
    calls["fastgnb in chunks"]()
    for program, timing in interleave(calls, EFFORTS[size]).items():
        answers.check_fit(timing.answer, OURS, problem)
        yield row("stream", "fit", problem, program, timing)


def one_row(size: str) -> Iterator[Row]:
    """predict and predict_proba of one row, where what surrounds the kernel is all there is."""
    problem = problems.standard(size)
    X, y = problem.data()
    models = {rival.name: rival.fit(X, y) for rival in (OURS, SKLEARN)}
    for method in ("predict", "predict_proba"):
        want = getattr(models["fastgnb"], method)(X)[:1]
        getattr(models["fastgnb"], method)(X[:1])  # one row takes another kernel, to compile
        calls = {
            name: repeated(functools.partial(getattr(model, method), X[:1]), SMALL_CALLS)
            for name, model in models.items()
        }
        for program, timing in interleave(calls, EFFORTS[size]).items():
            np.testing.assert_allclose(timing.answer, want, rtol=1e-9)
            each = Timing([seconds / SMALL_CALLS for seconds in timing.seconds], None)
            yield row("one row", method, problem._replace(n=1), program, each)


def threads(size: str) -> Iterator[Row]:
    """predict with one thread and with two, where arithmetic is the ceiling."""
    if numba.config.NUMBA_NUM_THREADS < 2:
        print("threads: the machine has one, left out")
        return
    for problem in problems.grid(size):
        if problem.k < 10:
            continue
        X, y = problem.data()
        model = OURS.fit(X, y)
        calls = {f"{n} threads": functools.partial(_with_threads, n, model, X) for n in (1, 2)}
        for call in calls.values():  # one thread takes another kernel, to compile
            call()
        timings = interleave(calls, EFFORTS[size])
        np.testing.assert_array_equal(*[timing.answer for timing in timings.values()])
        for program, timing in timings.items():
            yield row("threads", "predict", problem, program, timing)


def _with_threads(n: int, model: Any, X: np.ndarray) -> np.ndarray:
    with ceilings.threads(n):
        return model.predict(X)


def accurate(size: str) -> Iterator[Row]:
    """Error against exact arithmetic at mean/sd of 1e8, beside the time of the same calls."""
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
