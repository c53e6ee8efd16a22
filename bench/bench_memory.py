"""Memory: the most bytes that fit, predict and predict_proba hold beyond X and their result."""

from __future__ import annotations

import numpy as np
import pytest

from bench import answers, fresh, problems, rivals

pytestmark = pytest.mark.skipif(not fresh.can_measure_memory(), reason="needs Linux's /proc")


def bench_memory(benchmark, size, tmp_path, record):
    problem = problems.standard(size)
    X, y = problem.data()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    words = (fresh.PEAK, tmp_path / "X.npy", tmp_path / "y.npy")
    found = benchmark.pedantic(fresh.python, words, rounds=1).found
    rows = np.arange(min(1000, len(X)))
    labels = np.array(found.pop("labels"))
    answers.check_labels(labels, rivals.OURS, problem, rows)
    record(problem, "fastgnb")
    benchmark.extra_info["bytes"] = found
