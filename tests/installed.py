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
