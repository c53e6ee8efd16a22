"""partial_fit in chunks of 10,000 rows, of fastgnb and scikit-learn."""

from __future__ import annotations

import pytest

from bench import checks, problems, rivals, stream


@pytest.mark.parametrize("rival", [rivals.OURS, rivals.SKLEARN], ids=lambda rival: rival.name)
def bench_partial_fit(benchmark, rival, size, usable, record, rounds):
    problem = problems.standard(size)
    usable(rival, problem)
    X, y = problem.data()
    model = benchmark.pedantic(stream.learner(rival, X, y), rounds=rounds, warmup_rounds=1)
    if rival is rivals.OURS:
        checks.check_fit(model, rival, problem)
    else:  # it smooths with the last chunk's variance: its parameters are not those of one fit
        checks.check_labels(model.predict(X), rival, problem)
    record(problem, rival.name)
    benchmark.extra_info["chunk"] = stream.CHUNK
