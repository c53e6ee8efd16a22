"""Memory that does not grow with the number of rows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from fastgnb.cli import main  # noqa: E402

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.skipif(sys.platform != "linux", reason="units of ru_maxrss differ"),
]

D = 8

# Runs the command in a process of its own and prints the most memory it held, in MiB.
PEAK = """
import resource, sys
from fastgnb.cli import main
assert main(sys.argv[1:]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def write_rows(path, n):
    """n rows of D features and a label, a hundred thousand at a time."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(D)]
    writer = None
    for start in range(0, n, 100_000):
        m = min(100_000, n - start)
        y = rng.integers(0, 4, m)
        table = pa.table(
            {name: rng.normal(y, 2.0) for name in names} | {"y": y, "id": np.arange(m) + start}
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return path


def peak(*words):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, words)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


@pytest.mark.promise("memory")
@pytest.mark.slow
def test_eight_million_rows_take_the_memory_of_one_million(tmp_path):
    one, eight = (write_rows(tmp_path / f"{n}.parquet", n * 10**6) for n in (1, 8))
    model = tmp_path / "model"
    fit = ["--target", "y", "--exclude", "id", "--model", model]
    assert main(["fit", str(one), *map(str, fit)]) == 0
    for command in (
        lambda data: ["fit", data, *fit],
        lambda data: ["predict", model, data, "--output", tmp_path / "out.parquet", "--proba",
                      "--keep", "id"],
        lambda data: ["predict", model, data, "--output", tmp_path / "out.csv"],
    ):  # fmt: skip
        small, large = peak(*command(one)), peak(*command(eight))
        assert large < 1.1 * small, command(eight)


@pytest.mark.promise("memory")
def test_extra_memory_of_fit_and_predict_is_small(python):
    """Beyond X and the result: class codes, which are 2.5% of these rows, and little else."""
    code = """
import resource
import numpy as np
from fastgnb import GaussianNB
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
X = np.random.default_rng(0).random((1_000_000, 20))
y = np.arange(len(X)) % 10
model = GaussianNB().fit(X[:300_000], y[:300_000])
model.predict(X[:300_000])
before = peak()
model.fit(X, y)
fitted = peak()
labels = model.predict(X)
print(fitted - before, peak() - fitted - labels.nbytes, X.nbytes)
"""
    fit, predict, size = map(int, python(code).split())
    assert fit < 0.05 * size
    assert predict < 0.05 * size
