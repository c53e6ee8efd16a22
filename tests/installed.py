"""Copies of the package, and code to run in them, for tests of caches."""

from __future__ import annotations

import shutil
from pathlib import Path

import fastgnb

PACKAGE = Path(fastgnb.__file__).parent


# Small kernels, which compile in a second or two: labels by a table, labels by hashing.
CODES = """
import numpy as np
from fastgnb.input.labels import encode_labels
print(encode_labels(np.array([3, 1, 3])).codes.tolist())
"""


ONE = CODES.replace("codes", "classes")  # one kernel


HASHED = "print(encode_labels(np.array([2.0, -1.0])).codes.tolist())\n"


RIGHT = "[1, 0, 1]\n[1, 0]\n"


COMPILED = """
from fastgnb._numba.compiler import DISPATCHERS
print("compiled", sum(sum(one.stats.cache_misses.values()) for one in DISPATCHERS))
"""


# The parallel loop too, and two kernels.
THREADS = """
import numpy as np
from fastgnb._numba import threads
from fastgnb.input.labels import encode_labels
threads.PARALLEL_WORK = threads.COMPILING_WORK = 0
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


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def install(folder: Path) -> Path:
    """A copy of the package with nothing compiled; the folder is then one for `sys.path`."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "fastgnb", ignore=ignored)
    return folder


def using(folder: Path, code: str) -> str:
    """The code, run with the package that stands in this folder."""
    return (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}\n"
        f"import fastgnb; assert fastgnb.__file__.startswith({str(folder)!r})\n"
    )


def recorded(code: str) -> str:
    """The code, which then prints category and text of each warning."""
    return (
        "import warnings\nwith warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n    "
        + code.strip().replace("\n", "\n    ")
        + "\nfor each in caught: print(each.category.__name__, each.message)\n"
    )


def one_warning(out: str, right: str) -> str:
    """The text of the only warning after the right answers."""
    assert out.startswith(right), out
    (line,) = out.removeprefix(right).splitlines()
    assert line.startswith("RuntimeWarning "), line
    return line
