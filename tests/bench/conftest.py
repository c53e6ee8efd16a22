"""The benchmarks, which are beside the package and not installed, and a small run of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(monkeypatch):
    """The folder of the `bench` package, which can be imported now."""
    if not (ROOT / "bench").is_dir():
        pytest.skip("the tests are installed without the benchmarks")
    monkeypatch.syspath_prepend(str(ROOT))
    yield ROOT / "bench"
    for name in [name for name in sys.modules if name.partition(".")[0] == "bench"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def run(bench):
    """A run of two programs at one problem, as `bench.targets` keeps it."""
    from bench import problems, runs, targets_table
    from bench.timing import Row

    extra = problems.Problem(10**6, 20, 10)._asdict() | {"moving": 0.5, "arithmetic": 0.1}
    seconds = {"fastgnb": 1.0, "scikit-learn": 30.0, "ceiling": 0.5}
    rows = [
        Row("grid", work, "1M x 20 x 10", program, 10**6, s, s, [s], extra)
        for work in ("fit", "predict")
        for program, s in seconds.items()
    ]
    rates = {"threads": 2, "read": 1e10, "write": 1e10, "fma": 1e10}
    environment = {
        "cpu": "a processor", "cores": 2, "platform": "Linux", "python": "3",
        "threading_layer": "omp", "load": 0.0, "load_after": 0.0,
        "versions": {"numpy": "2"}, "ceilings": [rates],
    }  # fmt: skip
    return {
        "schema": runs.SCHEMA, "date": "2024-01-01T00:00:00", "commit": "0123abc", "dirty": False,
        "size": "quick", "seconds": 60.0,
        "environment": environment, "neighbours": {"grid": 0.0},
        "rows": [row._asdict() for row in rows],
        "lines": [line._asdict() for line in targets_table.judge(rows)],
    }  # fmt: skip
