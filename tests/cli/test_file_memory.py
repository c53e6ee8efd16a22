"""Memory has a bound that does not depend on the number of rows, nor on the size of row groups.

The bound is held by the system: RLIMIT_DATA counts what a process may write to privately, which
is all that decoded rows can be in. RLIMIT_AS would also count maps of libraries and of files, and
stacks and arenas that are reserved and never touched: gigabytes, whatever the data. Arrow's own
allocator reserves a gigabyte at the start, in which a whole file could hide from the limit, so
these processes use that of the system. What a process has before it reads is not counted, since
it is that of Python, NumPy, Numba and Arrow.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

pa = pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA covers maps on Linux only"),
]

ROWS = 5_000_000
D = 7
LIMIT = 256 * 2**20
"""Bytes that a run may take beyond those of a warm process; the features alone are 280 MB."""

MAKE = """
import sys
import numpy as np, pyarrow as pa, pyarrow.csv as pacsv, pyarrow.parquet as pq
n, d, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
y = rng.integers(0, 4, n)
columns = {f"x{j}": rng.normal(y, 2.0).round(3) for j in range(d)} | {"y": y}
data = pa.table(columns)
del columns
for name, rows in [("small", 20_000), ("big", n)]:
    # One row group, and floats as they are, so that its chunks are as large as they can be.
    pq.write_table(data.slice(0, rows), f"{folder}/{name}.parquet", row_group_size=n,
                   use_dictionary=["y"], compression="none")
    pacsv.write_csv(data.slice(0, rows), f"{folder}/{name}.csv")
assert pq.ParquetFile(f"{folder}/big.parquet").num_row_groups == 1
"""

LIMITED = """
import os, resource, sys
import pyarrow.csv, pyarrow.parquet
from fastgnb.cli import main

def held(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name + ":"))

def whole(path):  # what must not be done
    try:
        if path.endswith("parquet"):
            return len(pyarrow.parquet.read_table(path)) and 0
        return len(pyarrow.csv.read_csv(path)) and 0
    except MemoryError:
        return 1

limit, small, big = int(sys.argv[1]), sys.argv[2].split("|"), sys.argv[3].split("|")
run = main if len(big) > 1 else lambda words: whole(words[0])
assert run(small) == 0  # kernels, threads and modules are there
before = held("VmRSS")
most = held("VmData") + limit
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
code = run(big)
print(code, held("VmHWM") - before)
"""


def python(code, *words):
    environment = dict(
        os.environ,
        PYTHONPATH=str(pathlib.Path(__file__).parents[2]),
        ARROW_DEFAULT_MEMORY_POOL="system",
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def limited(command, folder, ending, limit=LIMIT):
    """(exit code, bytes at the peak beyond the warm process) of a command on the big file."""
    small, big = ("|".join(map(str, command(folder / f"{s}.{ending}"))) for s in ["small", "big"])
    ended, shown, error = python(LIMITED, limit, small, big)
    if ended:
        return ended, error
    code, extra = shown.split()[-2:]
    return int(code), int(extra)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small and a big file of each kind, and a model of the small one."""
    found = tmp_path_factory.mktemp("bounds")
    assert python(MAKE, ROWS, D, found)[0] == 0
    from fastgnb.cli import main

    small = found / "small.parquet"
    assert main(["fit", str(small), "--target", "y", "--model", str(found / "model")]) == 0
    yield found
    for path in found.glob("big.*"):  # hundreds of megabytes that pytest would keep
        path.unlink()


@pytest.mark.promise("memory")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("verb", ["fit", "update", "predict", "evaluate", "diagnose"])
def test_five_million_rows_stay_under_the_bound(folder, tmp_path, verb, ending):
    model = folder / "model"
    output = tmp_path / f"o.{ending}"
    command = {
        "fit": lambda data: ["fit", data, "--target", "y", "--model", tmp_path / "m"],
        "update": lambda data: ["update", model, data, "--model", tmp_path / "m", "--again"],
        "predict": lambda data: ["predict", model, data, "--keep", "y", "--output", output],
        "evaluate": lambda data: ["evaluate", model, data, "--target", "y"],
        "diagnose": lambda data: ["diagnose", model, data, "--target", "y"],
    }[verb]
    code, extra = limited(command, folder, ending)
    assert code == 0, extra
    assert extra < LIMIT


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("csv.gz", ["--missing", "skip"]),
        ("csv.zst", ["--na-values", "?"]),
        ("csv", ["--where", "x0 > 0 and y in (1, 2)", "--features", "x1,x2,x3,x4,x5,x6"]),
        ("parquet", ["--where", "x0 > 0 and y in (1, 2)"]),
    ],
)
def test_compressed_text_and_conditions_stay_under_the_bound(folder, tmp_path, ending, words):
    packed = ending.partition(".")[2]
    for name in ["small", "big"] if packed else []:
        source, target = folder / f"{name}.csv", folder / f"{name}.{ending}"
        codec = {"gz": "gzip", "zst": "zstd"}[packed]
        with open(source, "rb") as text, pa.CompressedOutputStream(str(target), codec) as sink:
            shutil.copyfileobj(text, sink, 1 << 20)

    def fit(data):
        return ["fit", data, "--target", "y", "--model", tmp_path / "m", *words]

    code, extra = limited(fit, folder, ending)
    assert code == 0, extra
    assert extra < LIMIT


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_bound_is_one_that_reading_it_all_breaks(folder, ending):
    code, extra = limited(lambda data: [data], folder, ending)
    # Arrow's CSV reader does not survive it, and says so.
    assert code == 1 or "Out of memory" in extra


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy"])
def test_many_classes_stay_under_the_bound(tmp_path, ending):
    """A thousand probabilities a row are more than its two features: batches count both."""
    make = """
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
from fastgnb.cli import main
folder, rng = sys.argv[1], np.random.default_rng(0)
for name, n in [("small", 2000), ("big", 150_000)]:
    data = pa.table({"x0": rng.normal(size=n), "x1": rng.normal(size=n), "y": np.arange(n) % 1000})
    pq.write_table(data, f"{folder}/{name}.parquet")
small = f"{folder}/small.parquet"
assert main(["fit", small, "--target", "y", "--model", f"{folder}/model"]) == 0
"""
    assert python(make, tmp_path)[0] == 0
    output = tmp_path / f"o.{ending}"

    def predict(data):
        return ["predict", tmp_path / "model", data, "--proba", "--output", output]

    code, extra = limited(predict, tmp_path, "parquet", 2 * LIMIT)
    assert code == 0, extra
    assert extra < 2 * LIMIT
    output.unlink()
