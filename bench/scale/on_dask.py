"""Dask: clusters of one and of two workers on this machine, and dask-ml beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastgnb import GaussianNB

from .clusters import SAMPLE, run_clusters
from .expectation import relative_error
from .measured import timed
from .partitions import bounds, local_stats
from .rows import Problem, make_labels, make_rows

__all__ = ["run"]


def run(n_rows: int, workers: Sequence[int] = (1, 2)) -> dict[str, Any]:
    """Learn and score as many rows in each cluster; the last one also runs dask-ml."""
    return run_clusters(n_rows, workers, _cluster, _ours, _dask_ml)


@contextlib.contextmanager
def _cluster(n: int) -> Iterator[Any]:
    """A client of a new cluster of n processes, each of which uses one core."""
    from distributed import Client, LocalCluster

    one_core = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    options = {"processes": True, "dashboard_address": None, "memory_limit": 0, "env": one_core}
    with (
        LocalCluster(n_workers=n, threads_per_worker=1, silence_logs=40, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _arrays(problem: Problem, parts: Sequence[tuple[int, int]]) -> tuple[Any, Any]:
    """Rows and labels as Dask arrays, whose chunks are made by the workers."""
    import dask.array as da
    from dask import delayed

    rows = delayed(_rows, pure=True)
    labels = delayed(make_labels, pure=True)
    d = problem.n_features
    X = [da.from_delayed(rows(problem, *part), (part[1], d), np.float64) for part in parts]
    y = [da.from_delayed(labels(problem, *part), (part[1],), np.int64) for part in parts]
    return da.concatenate(X), da.concatenate(y)


def _rows(problem: Problem, first: int, n: int) -> Any:
    return make_rows(problem, first, n)[0]


def _ours(problem: Problem, n_rows: int, client: Any) -> tuple[dict[str, float], Any]:
    """Times of `fit_stats` and `predict`, and the statistics."""
    from fastgnb.dask import Distributed, fit_stats

    _warm(problem, len(client.nthreads()))
    X, y = _arrays(problem, bounds(n_rows))
    learning, stats = timed(lambda: fit_stats(X, y))
    model = Distributed.from_fitted(GaussianNB().fit_stats(stats))
    scoring, right = timed(lambda: int((model.predict(X) == y).sum().compute()))
    figures = {"fit_seconds": learning, "predict_seconds": scoring, "accuracy": right / n_rows}
    return figures, stats


def _warm(problem: Problem, n_workers: int) -> None:
    """Each worker loads what it needs."""
    from fastgnb.dask import Distributed

    X, y = _arrays(problem, [(1000 * i, 1000) for i in range(8 * n_workers)])
    model = Distributed(GaussianNB()).fit(X, y)
    model.predict(X).compute()


def _dask_ml(problem: Problem, n_rows: int, client: Any) -> dict[str, Any]:
    """Time and accuracy of dask-ml on the first of these rows, in the same cluster.

    It counts a class by collecting all of its rows in one worker, so that it is given fewer.
    """
    from dask import compute
    from dask_ml.naive_bayes import GaussianNB as Rival

    n_rows = max(min(n_rows, 1000), n_rows // 4)
    wanted = local_stats(problem, n_rows)
    X, y = _arrays(problem, bounds(n_rows))

    def learn() -> Any:
        model = Rival().fit(X, y)
        lazy = "theta_", "sigma_", "class_prior_"
        for name, value in zip(lazy, compute(*(getattr(model, n) for n in lazy)), strict=True):
            setattr(model, name, value)
        return model

    learning, model = timed(learn)
    head, labels = _arrays(problem, [(0, min(n_rows, SAMPLE))])
    predicted, found = compute(model.predict(head), labels)
    return {
        "name": "dask-ml", "rows": n_rows, "fit_seconds": learning,
        "variance_error": relative_error(model.sigma_, wanted.variance),
        "accuracy": float((np.asarray(predicted) == found).mean()),
    }  # fmt: skip
