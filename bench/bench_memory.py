"""Peak memory of fit, predict and predict_proba beyond X and their result."""

from __future__ import annotations

import numpy as np
import pytest

from bench import checks, problems, rivals, snippets

pytestmark = pytest.mark.skipif(not snippets.can_measure_memory(), reason="needs Linux's /proc")


def bench_memory(benchmark, size, tmp_path, record):
    problem = problems.standard(size)
    X, y = problem.data()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    words = (snippets.PEAK, tmp_path / "X.npy", tmp_path / "y.npy")
    sizes = benchmark.pedantic(snippets.python, words, rounds=1).output
    rows = np.arange(min(1000, len(X)))
    labels = np.array(sizes.pop("labels"))
    checks.check_labels(labels, rivals.OURS, problem, rows)
    record(problem, "fastgnb")
    benchmark.extra_info["bytes"] = sizes
