"""Errors against exact arithmetic at mean/sd up to 1e8, with the time of predict."""

from __future__ import annotations

import pytest

from bench import accuracy, rivals
from bench.bench_fit import MAIN
from bench.problems import Problem


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("rival", MAIN, ids=lambda rival: rival.name)
def bench_accuracy(benchmark, rival, offset, usable, record, rounds):
    X, _ = accuracy.rows(offset)
    problem = Problem(len(X), accuracy.D, accuracy.K)
    usable(rival, problem)
    model, errors = accuracy.measure(rival, offset)
    benchmark.pedantic(model.predict, (X,), rounds=10 * rounds, warmup_rounds=1)
    if rival is rivals.OURS:
        assert errors.var < 1e-12
        assert errors.joint < 1e-12
    record(problem, rival.name)
    benchmark.extra_info.update(errors._asdict(), mean_over_sd=offset)
