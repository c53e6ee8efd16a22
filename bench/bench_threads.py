"""fit and predict with one thread and with two, whose bits have to be equal."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bench import ceilings, problems, rivals


def PROBLEMS(size):
    return problems.grid(size)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("work", ["fit", "predict"])
def bench_threads(benchmark, problem, work, n_threads, record, rounds):
    if n_threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip(f"{n_threads} threads: the machine has {numba.config.NUMBA_NUM_THREADS}")
    X, y = problem.data()
    model = rivals.OURS.fit(X, y)
    call = {"fit": lambda: rivals.OURS.fit(X, y).theta_, "predict": lambda: model.predict(X)}[work]
    with ceilings.threads(1):
        expected = call()
    with ceilings.threads(n_threads):
        result = benchmark.pedantic(call, rounds=rounds, warmup_rounds=1)
        record(problem, "fastgnb")
    np.testing.assert_array_equal(result, expected)
