"""Files: `fastgnb fit` and `fastgnb predict` against only reading the same columns."""

from __future__ import annotations

import pytest

from bench import answers, problems, rivals

files = pytest.importorskip("bench.files", exc_type=ImportError)


@pytest.fixture(scope="module", params=files.ENDINGS)
def rows(request, size, tmp_path_factory):
    return files.write(problem_of(size), tmp_path_factory.mktemp("rows"), request.param)


def problem_of(size):
    usual = problems.standard(size)
    return usual._replace(n=usual.n // 4) if size == "quick" else usual


def bench_fit_file(benchmark, rows, size, record, rounds):
    from fastgnb import load

    benchmark.pedantic(rows.fit, rounds=rounds)
    answers.check_fit(load(rows.model), rivals.OURS, problem_of(size))
    record(problem_of(size), "fastgnb")


def bench_predict_file(benchmark, rows, size, tmp_path, record, rounds):
    output = tmp_path / f"scored{rows.data.suffix}"
    benchmark.pedantic(rows.predict, (output,), rounds=rounds)
    answers.check_labels(files.labels(output), rivals.OURS, problem_of(size))
    record(problem_of(size), "fastgnb")


@pytest.mark.parametrize("way", ["whole", "stream"])
def bench_read_file(benchmark, rows, way, size, record, rounds):
    if way not in rows.readers():
        pytest.skip(f"{rows.data.suffix}: is read whole")
    got = benchmark.pedantic(rows.readers()[way], rounds=rounds)
    assert (got if isinstance(got, int) else len(got)) == problem_of(size).n
    record(problem_of(size), "numpy" if rows.data.suffix == ".npy" else "pyarrow")
