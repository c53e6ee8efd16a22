"""Files: `fastgnb fit` and `fastgnb predict` against only reading the same columns."""

from __future__ import annotations

import pytest

from bench import checks, problems, rivals

files = pytest.importorskip("bench.files", exc_type=ImportError)


@pytest.fixture(scope="module", params=files.ENDINGS)
def rows(request, size, tmp_path_factory):
    return files.write(problem_of(size), tmp_path_factory.mktemp("rows"), request.param)


def problem_of(size):
    problem = problems.standard(size)
    return problem._replace(n=problem.n // 4) if size == "quick" else problem


def bench_fit_file(benchmark, rows, size, record, rounds):
    from fastgnb import load

    benchmark.pedantic(rows.fit, rounds=rounds)
    checks.check_fit(load(rows.model), rivals.OURS, problem_of(size))
    record(problem_of(size), "fastgnb")


def bench_predict_file(benchmark, rows, size, tmp_path, record, rounds):
    output = tmp_path / f"scored{rows.data.suffix}"
    benchmark.pedantic(rows.predict, (output,), rounds=rounds)
    checks.check_labels(files.labels(output), rivals.OURS, problem_of(size))
    record(problem_of(size), "fastgnb")


@pytest.mark.parametrize("how", ["whole", "stream"])
def bench_read_file(benchmark, rows, how, size, record, rounds):
    if how not in rows.readers():
        pytest.skip(f"{rows.data.suffix}: is read all at once")
    read = benchmark.pedantic(rows.readers()[how], rounds=rounds)
    assert (read if isinstance(read, int) else len(read)) == problem_of(size).n
    record(problem_of(size), "numpy" if rows.data.suffix == ".npy" else "pyarrow")
