"""fit: the grid with scikit-learn and NumPy, one problem with all libraries, text labels."""

from __future__ import annotations

import pytest

from bench import checks, problems, rivals, roofline

MAIN = [rivals.OURS, rivals.SKLEARN, rivals.MATRIX]


def PROBLEMS(size):
    both = [p for dtype in ("float64", "float32") for p in problems.grid(size, dtype)]
    return both + problems.variants(size)


@pytest.mark.parametrize("rival", MAIN, ids=lambda rival: rival.name)
def bench_fit(benchmark, problem, rival, usable, record, rounds):
    usable(rival, problem)
    X, y = problem.data()
    model = benchmark.pedantic(rival.fit, (X, y), rounds=rounds, warmup_rounds=1)
    checks.check_fit(model, rival, problem)
    record(problem, rival.name, lambda: roofline.fit(X).seconds())


@pytest.mark.parametrize("rival", rivals.OPTIONAL, ids=lambda rival: rival.name)
def bench_fit_others(benchmark, rival, size, usable, record, rounds):
    problem = problems.standard(size)
    usable(rival, problem)
    X, y = rival.head(*problem.data())
    model = benchmark.pedantic(rival.fit, (X, y), rounds=rounds)
    checks.check_fit(model, rival, problem)
    record(problem._replace(n=len(X)), rival.name)
