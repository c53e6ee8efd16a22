"""predict and predict_proba: the grid, one problem with all libraries, many classes, one row."""

from __future__ import annotations

import numpy as np
import pytest

from bench import checks, problems, rivals, roofline, timing
from bench.bench_fit import MAIN


def PROBLEMS(size):
    both = [p for dtype in ("float64", "float32") for p in problems.grid(size, dtype)]
    return both + problems.variants(size) + problems.many_classes(size)[1::2]


def scorer(rival, problem):
    """A model of the problem, and the rows to score."""
    X, y = rival.head(*problem.data())
    return rival.fit(X, y), X


@pytest.mark.parametrize("rival", MAIN, ids=lambda rival: rival.name)
def bench_predict(benchmark, problem, rival, usable, record, rounds):
    usable(rival, problem)
    model, X = scorer(rival, problem)
    labels = benchmark.pedantic(model.predict, (X,), **effort(rival, problem, rounds))
    checks.check_labels(labels, rival, problem)
    record(problem, rival.name, lambda: roofline.predict(X, problem.k).seconds())


@pytest.mark.parametrize("rival", MAIN, ids=lambda rival: rival.name)
def bench_predict_proba(benchmark, problem, rival, usable, record, rounds):
    usable(rival, problem)
    if problem.labels != "int" or problem.structure == "noise":
        pytest.skip("probabilities do not depend on the type of labels, nor on their meaning")
    model, X = scorer(rival, problem)
    proba = benchmark.pedantic(model.predict_proba, (X,), **effort(rival, problem, rounds))
    checks.check_proba(proba, rival, problem)
    record(problem, rival.name)


@pytest.mark.parametrize("rival", rivals.OPTIONAL, ids=lambda rival: rival.name)
def bench_predict_others(benchmark, rival, size, usable, record):
    problem = problems.standard(size)
    usable(rival, problem)
    model, X = scorer(rival, problem)
    labels = benchmark.pedantic(model.predict, (X,), rounds=1)
    checks.check_labels(labels, rival, problem)
    record(problem._replace(n=len(X)), rival.name)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("rival", MAIN, ids=lambda rival: rival.name)
def bench_one_row(benchmark, rival, method, size, usable, record, rounds):
    problem = problems.standard(size)
    usable(rival, problem)
    model, X = scorer(rival, problem)
    call = timing.repeated(lambda: getattr(model, method)(X[:1]), 100)
    result = benchmark.pedantic(call, rounds=10 * rounds, warmup_rounds=1)
    many = getattr(model, method)(X[:100])
    np.testing.assert_allclose(result[0], many[0], rtol=1e-9)
    record(problem._replace(n=1), rival.name)
    benchmark.extra_info["calls"] = 100


def effort(rival, problem, rounds):
    """Rounds of a benchmark: one for the longest of scikit-learn's, which take seconds each."""
    is_long = rival is rivals.SKLEARN and problem.n * problem.d * problem.k > 5e7
    return {"rounds": 1 if is_long else rounds, "warmup_rounds": 0 if is_long else 1}
