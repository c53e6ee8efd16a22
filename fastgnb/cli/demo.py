"""`fastgnb demo`: generate data, train and score from a file, and compare with scikit-learn."""

from __future__ import annotations

import argparse
import functools
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._system.atomic import check_writable
from .._system.optional import pa, pq, require
from ..dashboard import machine
from ..files.jobs.learn_rows import StatsKind, learn
from ..files.jobs.score_rows import evaluate_rows, predict_rows
from ..files.phrases import counted
from ..files.tables.columns import ColumnRoles
from ..files.tables.sources import open_source
from ..model.family import default_member
from ..model.model import Model
from .demo_page import write_demo_page
from .texts import align

__all__ = ["demo"]

N_FEATURES, N_CLASSES = 20, 10
REPEATS = 3

T = TypeVar("T")


class Timing(NamedTuple):
    """A line of the table; `labels` are the predictions, where there are any."""

    step: str
    program: str
    rounds: list[float]
    labels: np.ndarray | None = None

    @property
    def seconds(self) -> float:
        """Those of the fastest round."""
        return min(self.rounds)


def demo(args: argparse.Namespace) -> int:
    """`fastgnb demo`. Exit code 1 if any label differs from scikit-learn's."""
    n, load = args.rows, machine.load()
    if args.html is not None:
        check_writable(args.html)
        require("vl_convert")
    size = f"{counted(n, 'row')} x {N_FEATURES} features, {N_CLASSES} classes"
    print(f"generating {size}", file=sys.stderr)
    X, y = _generate(n)
    print(f"best of {REPEATS} runs, after one that compiles or loads kernels", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "rows.parquet")
        _write(X, y, path)
        timings = [*_in_memory(X, y), *_from_file(path)]
    differing = _print(timings, y)
    if args.html is not None:
        rounds = {(timing.step, timing.program): timing.rounds for timing in timings}
        problem = f"{n:,} x {N_FEATURES} x {N_CLASSES}"
        write_demo_page(args.html, rounds, problem, n, load)
        print(f"wrote {args.html}", file=sys.stderr)
    return 1 if differing else 0


def _generate(n: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n,
        N_FEATURES,
        n_informative=N_FEATURES // 2,
        n_redundant=4,
        n_classes=N_CLASSES,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    return X, y


def _write(X: np.ndarray, y: np.ndarray, path: pathlib.Path) -> None:
    """Plain and uncompressed, so that reading measures the library and not a codec."""
    columns = {f"x{j}": column for j, column in enumerate(X.T)} | {"y": y}
    table = pa.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
    pq.write_table(table, path, compression="none", use_dictionary=False)


def _in_memory(X: np.ndarray, y: np.ndarray) -> list[Timing]:
    from sklearn.naive_bayes import GaussianNB as Theirs

    from ..estimators.naive_bayes import GaussianNB as Ours

    timings = []
    for program, model in [("scikit-learn", Theirs()), ("fastgnb, arrays", Ours())]:
        seconds, _ = _repeated(functools.partial(model.fit, X, y))
        timings.append(Timing("fit", program, seconds))
        seconds, labels = _repeated(functools.partial(model.predict, X))
        timings.append(Timing("predict", program, seconds, labels))
    return timings


def _from_file(path: pathlib.Path) -> list[Timing]:
    output = path.with_name("scored.parquet")
    fit_seconds, saved = _repeated(lambda: _fit(path))
    features = saved.feature_names

    def score() -> None:
        predict_rows(saved, open_source([path], ColumnRoles(features=features)), output)

    score_seconds, _ = _repeated(score)
    labelled = open_source([path], ColumnRoles(target="y", features=features))
    check_seconds, evaluation = _repeated(lambda: evaluate_rows(saved, labelled))
    labels = pq.read_table(output)["prediction"].to_numpy()
    assert evaluation.n_rows == len(labels)
    return [
        Timing("fit", "fastgnb, file", fit_seconds),
        Timing("predict", "fastgnb, file to file", score_seconds, labels),
        Timing("evaluate", "fastgnb, file", check_seconds),
    ]


def _fit(path: pathlib.Path) -> Model:
    stats = learn(open_source([path], ColumnRoles(target="y")), StatsKind())
    assert stats is not None
    return Model.of(default_member(), stats)


def _repeated(call: Callable[[], T]) -> tuple[list[float], T]:
    """Seconds of each call but the first, and what the last one returned."""
    seconds = []
    call()
    for _ in range(REPEATS):
        start = time.perf_counter()
        value = call()
        seconds.append(time.perf_counter() - start)
    return seconds, value


def _print(timings: list[Timing], y: np.ndarray) -> int:
    """Print the table, each time beside scikit-learn's for the same step; count differences."""
    theirs = {t.step: t for t in timings if t.program == "scikit-learn"}
    head = ["step", "program", "seconds", "rows/s", "x scikit-learn", "accuracy", "differing"]
    rows, differing = [head], 0
    for t in sorted(timings, key=lambda t: ["fit", "predict", "evaluate"].index(t.step)):
        base = theirs.get(t.step)
        ratio = "" if base is None else f"{base.seconds / t.seconds:.1f}"
        row = [t.step, t.program, f"{t.seconds:.4f}", f"{len(y) / t.seconds:.3g}", ratio]
        rows.append([*row, *_against(t.labels, y, theirs["predict"].labels)])
        differing += int(rows[-1][-1] or 0)
    print(align(rows))
    print(f"labels that differ from scikit-learn's: {differing}")
    return differing


def _against(labels: np.ndarray | None, y: np.ndarray, theirs: Any) -> tuple[str, str]:
    if labels is None:
        return "", ""
    return f"{np.mean(labels == y):.6f}", str(int(np.sum(labels != theirs)))
