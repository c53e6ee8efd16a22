"""Measure whole processes, memory and files for the table of targets."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from . import checks, problems, snippets
from .rivals import OURS
from .timing import EFFORTS, Call, Effort, Row, Timing, interleave, row, timed

SPIN = "print(flush=True)\nwhile True: pass"


def memory(size: str) -> Iterator[Row]:
    """Peak bytes beyond X and the output, in a process of its own."""
    if not snippets.can_measure_memory():
        print("memory: skipped, it needs Linux's /proc")
        return
    wide = next(each for each in problems.grid(size, "float32") if each.d == 100)
    for problem in (problems.standard(size), wide):
        X, y = problem.data()
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("X.npy", "y.npy")]
            for path, array in zip(paths, (X, y), strict=True):
                np.save(path, array)
            run = snippets.python(snippets.PEAK, *paths)
        rows = np.arange(min(1000, len(X)))
        checks.check_labels(np.array(run.output.pop("labels")), OURS, problem, rows)
        timing = Timing([run.seconds], None)
        yield row("memory", "all", problem, "fastgnb", timing, bytes=run.output)


def startup(size: str) -> Iterator[Row]:
    """Imports, and the first prediction of a saved model."""
    problem = problems.standard("toy")
    effort = Effort(1 if size == "toy" else 5, 60.0)
    with tempfile.TemporaryDirectory() as folder:
        service = snippets.service(problem, Path(folder), own_cache=size != "toy")
        calls = {
            "python": functools.partial(snippets.python, snippets.NOTHING),
            "import numpy": functools.partial(snippets.python, snippets.IMPORT, "numpy"),
            "import numba": functools.partial(snippets.python, snippets.IMPORT, "numba"),
            "import fastgnb": functools.partial(snippets.python, snippets.IMPORT, "fastgnb"),
            "import fastgnb:GaussianNB": functools.partial(
                snippets.python, snippets.IMPORT, "fastgnb:GaussianNB"
            ),
            "first predict": service.first_predict,
            "fastgnb predict": functools.partial(service.command, Path(folder)),
        }
        timings = interleave(calls, effort)
    for program, timing in timings.items():
        yield row("startup", "process", problem, program, timing, output=timing.result.output)
    labels = timings["first predict"].result.output.pop("labels")
    checks.check_labels(np.array(labels), OURS, problem)


def cold(size: str) -> Iterator[Row]:
    """Every kernel compiled into an empty cache; not at toy size, where seconds count."""
    if size == "toy":
        return
    with tempfile.TemporaryDirectory() as folder:
        run = snippets.command("warmup", cache=Path(folder))
    assert "compiled" in run.output["printed"], run.output
    problem = problems.standard("toy")
    timing = Timing([run.seconds], None)
    yield row("cold", "warmup", problem, "fastgnb", timing, output=run.output)
    with tempfile.TemporaryDirectory() as folder:
        run = snippets.python(snippets.FIRST_FIT, cache=Path(folder))
    timing = Timing([run.seconds], None)
    yield row("cold", "fit and predict", problem, "fastgnb", timing, output=run.output)


def in_files(size: str) -> Iterator[Row]:
    """`fastgnb fit` and `predict` on files, against only reading the same columns."""
    try:
        from . import files
    except ImportError as error:
        print(f"files: skipped: {error}")
        return
    problem = problems.standard(size)
    for ending in files.ENDINGS:
        with tempfile.TemporaryDirectory() as folder:
            table = files.write(problem, Path(folder), ending)
            output = Path(folder, f"scored.{ending}")
            table.predict(output)
            reading = {f"read {how}": call for how, call in table.readers().items()}
            calls = {"fit": table.fit, "predict": functools.partial(table.predict, output)}
            for name, timing in interleave(calls | reading, EFFORTS[size]).items():
                yield row(f"files {ending}", name, problem, _program(name, ending), timing)
            checks.check_labels(files.labels(output), OURS, problem)


def _program(name: str, ending: str) -> str:
    if not name.startswith("read"):
        return "fastgnb"
    return "numpy" if ending == "npy" else "pyarrow"


def with_busy_processes(size: str) -> Iterator[Row]:
    """predict of 1,000 rows, alone and while one process per core computes without end."""
    rounds = {"toy": 1, "quick": 5, "full": 15}[size]
    for d in (20, 100):
        problem = problems.Problem(1000, d, 10)
        X, y = problem.data()
        model = OURS.fit(X, y)
        checks.check_labels(model.predict(X), OURS, problem, np.arange(len(X)))
        call = functools.partial(model.predict, X)
        seconds: dict[str, list[float]] = {"alone": [], "busy": []}
        for _ in range(rounds):
            seconds["alone"] += _timed_calls(call)
            with _busy_processes(os.cpu_count() or 1):
                seconds["busy"] += _timed_calls(call)
        for program, times in seconds.items():
            mean = float(np.mean(times))
            yield row("busy", "predict", problem, program, Timing(times, None), mean=mean)


def _timed_calls(call: Call) -> list[float]:
    call()
    return [timed(call)[0] for _ in range(100)]


@contextlib.contextmanager
def _busy_processes(n: int) -> Iterator[None]:
    processes = [
        subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE) for _ in range(n)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()  # it has started
        time.sleep(0.1)
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()
