"""What is measured in clusters of some sizes, whatever their engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from fastgnb import GaussianNB, to_bytes

from .expectation import bayes_accuracy, deviations
from .partitions import OFFSET, bounds, local_stats
from .rows import Problem, make_rows

__all__ = ["SAMPLE", "run_clusters"]

SAMPLE = 100_000
"""Rows on which models are compared with the distribution."""


def run_clusters(
    n_rows: int,
    sizes: Sequence[int],
    start: Callable[[int], AbstractContextManager[Any]],
    ours: Callable[[Problem, int, Any], tuple[dict[str, float], Any]],
    other: Callable[[Problem, int, Any], dict[str, Any]],
) -> dict[str, Any]:
    """Learn and score as many rows in a cluster of each size; the last one also runs `other`."""
    problem = Problem(offset=OFFSET)
    wanted = local_stats(problem, n_rows)
    clusters, rival = [], None
    for n in sizes:
        with start(n) as cluster:
            figures, stats = ours(problem, n_rows, cluster)
            same = to_bytes(replace(stats, feature_names=None)) == to_bytes(wanted)
            clusters.append({"workers": n, "same_bits": same, **figures})
            if n == sizes[-1]:
                rival = other(problem, n_rows, cluster)
    model = GaussianNB().fit_stats(wanted)
    X, y = make_rows(problem, 0, SAMPLE)
    return {
        "rows": n_rows, "features": problem.n_features, "offset": OFFSET, "clusters": clusters,
        "partitions": len(bounds(n_rows)), "deviations": deviations(problem, wanted),
        "accuracy": float((model.predict(X) == y).mean()),
        "accuracy_of_the_distribution": bayes_accuracy(problem, X, y),
        "rival": rival,
    }  # fmt: skip
