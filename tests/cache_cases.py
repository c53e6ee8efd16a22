"""Code that tests of caches and interpreters run in fresh processes."""

from __future__ import annotations

from pathlib import Path

# The parallel loop too, compiled for two kernels.
THREADS = """
import numpy as np
from fastgnb._numba import compiler, threads, warmup
from fastgnb.input.labels import encode_labels
threads.PARALLEL_WORK = threads.LARGE_WORK = 0
y = np.arange(40_000) * 5 % 7
print((encode_labels(y).codes == y).all())
"""

# All that most users do; of a size at which threads start.
MODEL = """
import numpy as np
from fastgnb import GaussianNB
r = np.random.default_rng(0)
y = np.arange(50_000) % 3
X = r.normal(size=(50_000, 6)) + 20 * y[:, None]
model = GaussianNB().fit(X[:25_000], y[:25_000]).partial_fit(X[25_000:], y[25_000:])
print((model.predict(X) == y).all(), np.abs(model.theta_.T - [0, 20, 40]).max() < 0.1)
try:
    model.predict(X * np.nan)
except ValueError as error:
    print("NaN" in str(error))
"""
GOOD = "True True\nTrue\n"


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


COMMANDS = """
import csv
from pathlib import Path
from fastgnb.cli import main
folder = Path(sys.argv[1])
lines = [f"{i % 2 * 9},{i % 3},{'ab'[i % 2]}" for i in range(60)]
(folder / "rows.csv").write_text("\\n".join(["x,z,y", *lines]))
model, rows, found = (str(folder / name) for name in ("m.fgnb", "rows.csv", "found.csv"))
print(main(["fit", rows, "--target", "y", "--model", model, "--quiet"]),
      main(["predict", model, rows, "--output", found, "--quiet"]))
with open(found) as file:
    got = [line[0] for line in csv.reader(file)]
print(got[1:] == [line[-1] for line in lines])
"""
DONE = "0 0\nTrue\n"
