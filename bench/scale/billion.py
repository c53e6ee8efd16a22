"""Rows that are never stored: learned and scored as a stream, in constant memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fastgnb import GaussianNB, files

from .expectation import bayes_accuracy, deviations
from .measured import peak_mb, timed
from .rows import TARGET, Problem, batches, make_rows

__all__ = ["run"]

_WARM = 1_000_000
_SAMPLE = 100_000


def run(n_rows: int) -> dict[str, Any]:
    """Learn and score as many rows, and compare with what is expected of them."""
    problem, threads = Problem(), os.cpu_count() or 1
    _learn(problem, _WARM, threads)  # compiles, or loads, what is needed
    _score(problem, GaussianNB().fit_stats(_learn(problem, 1000, 1)), _WARM, threads)
    memory = peak_mb()
    making, _ = timed(lambda: _make(problem, min(n_rows, 20 * _WARM), threads))
    learning, stats = timed(lambda: _learn(problem, n_rows, threads))
    if stats.count.sum() != n_rows:
        raise ValueError(f"{stats.count.sum():,.0f} of {n_rows:,} rows were counted.")
    model = GaussianNB().fit_stats(stats)
    scoring, right = timed(lambda: _score(problem, model, n_rows, threads))
    X, y = make_rows(problem, 0, _SAMPLE)
    return {
        "rows": n_rows, "features": problem.n_features, "classes": len(problem.prior),
        "rows_made_per_second": min(n_rows, 20 * _WARM) / making,
        "fit_seconds": learning, "fit_rows_per_second": n_rows / learning,
        "predict_seconds": scoring, "predict_rows_per_second": n_rows / scoring,
        "memory_before_mb": memory, "memory_peak_mb": peak_mb(),
        "rows_counted": float(stats.count.sum()), "deviations": deviations(problem, stats),
        "accuracy": right / n_rows, "accuracy_of_the_distribution": bayes_accuracy(problem, X, y),
        "sample": _SAMPLE,
    }  # fmt: skip


def _learn(problem: Problem, n_rows: int, threads: int) -> Any:
    return files.fit_stats(batches(problem, 0, n_rows, threads=threads), target=TARGET)


def _score(problem: Problem, model: GaussianNB, n_rows: int, threads: int) -> int:
    """Number of rows whose label is predicted."""
    stream = batches(problem, 0, n_rows, threads=threads)
    right = 0
    for batch in files.predict_stream(model, stream, keep=TARGET):
        labels, predicted = batch.column(TARGET), batch.column("prediction")
        right += int(np.count_nonzero(labels.to_numpy() == predicted.to_numpy()))
    return right


def _make(problem: Problem, n_rows: int, threads: int) -> None:
    """Only make the rows, as both passes do."""
    for _ in batches(problem, 0, n_rows, threads=threads):
        pass
