"""Memory that does not grow with the number of rows."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from children import finished

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from fastgnb.cli import main  # noqa: E402

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.skipif(sys.platform != "linux", reason="peaks are read as Linux tells them"),
]

D = 8

# Runs the command in a process of its own and prints the most memory it held, in MiB. `ru_maxrss`
# would not do: it counts what the process held before `exec`, which is the memory of these tests.
PEAK = """
import sys
from fastgnb.cli import main
assert main(sys.argv[1:]) == 0
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024)
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
    return float(finished([sys.executable, "-c", PEAK, *words]).stdout)


@pytest.mark.promise("memory")
@pytest.mark.slow
def test_four_million_rows_take_the_memory_of_one_million(tmp_path):
    one, four = (write_rows(tmp_path / f"{n}.parquet", n * 10**6) for n in (1, 4))
    model = tmp_path / "model"
    fit = ["--target", "y", "--exclude", "id", "--model", model]
    assert main(["fit", str(one), *map(str, fit)]) == 0
    for command in (
        lambda data: ["fit", data, *fit],
        lambda data: ["predict", model, data, "--output", tmp_path / "out.parquet", "--proba",
                      "--keep", "id"],
        lambda data: ["predict", model, data, "--output", tmp_path / "out.csv"],
    ):  # fmt: skip
        small, large = peak(*command(one)), peak(*command(four))
        assert large < 1.1 * small, command(four)


@pytest.mark.promise("memory")
def test_extra_memory_of_fit_and_predict_is_small(python):
    """Beyond X and the result: class codes, which are 2.5% of these rows, and little else."""
    code = """
import numpy as np
from fastgnb import GaussianNB
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
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
    python(code)  # compiling takes more than the bound
    fit, predict, size = map(int, python(code).split())
    assert fit < 0.05 * size
    assert predict < 0.05 * size
