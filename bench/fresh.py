"""Measurements that need a process of their own: start-up, cold compiling, peak memory.

The code that is measured prints one line of JSON; everything else about a process (its start, the
end of its interpreter) is timed from outside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import rivals
from .problems import Problem

ROOT = Path(__file__).resolve().parents[1]


class Run(NamedTuple):
    """Seconds from start to end of a process, and the JSON that it printed last."""

    seconds: float
    found: dict[str, Any]


def python(code: str, *args: object, cache: Path | None = None) -> Run:
    """Run code in a fresh interpreter; `cache` is where Numba keeps compiled kernels."""
    return _run([sys.executable, "-c", code, *map(str, args)], cache)


def command(*words: object, cache: Path | None = None) -> Run:
    """Run the `fastgnb` command in a fresh interpreter."""
    return _run([sys.executable, "-m", "fastgnb", *map(str, words)], cache)


def _run(words: list[str], cache: Path | None) -> Run:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
    if PEAK in words:  # glibc gives freed arrays back at once, so that no later peak hides in them
        environment["MALLOC_MMAP_THRESHOLD_"] = "65536"
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    start = time.perf_counter()
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    last = done.stdout.strip().splitlines()[-1:] or ["{}"]
    return Run(seconds, json.loads(last[0]) if last[0].startswith("{") else {"printed": last[0]})


NOTHING = "pass"

IMPORT = """
import importlib, json, sys, time
start = time.perf_counter()
importlib.import_module(sys.argv[1])
print(json.dumps({"seconds": time.perf_counter() - start}))
"""

# A service that starts: the parts of the way to its first answer, without scikit-learn.
FIRST_PREDICT = """
import json, sys, time
marks = [("", time.perf_counter())]
def mark(name): marks.append((name, time.perf_counter()))
import numpy as np
mark("import numpy")
import numba
mark("import numba")
from fastgnb.files.models import saved as persist
mark("import fastgnb.files.models.saved")
model = persist.read(sys.argv[1])
X = np.load(sys.argv[2])
mark("read model and rows")
codes = model.score(X[:1]).codes
mark("first row")
codes = model.score(X).codes
mark("all rows")
assert "sklearn" not in sys.modules
parts = {b[0]: b[1] - a[1] for a, b in zip(marks, marks[1:])}
print(json.dumps({"parts": parts, "labels": model.classes[codes].tolist()}))
"""

# The most memory held beyond what was held before. The kernel's own mark (VmHWM) is set back first;
# getrusage's would include what the parent process held when it started this one.
PEAK = """
import json, sys
import numpy as np
from fastgnb import GaussianNB
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
def held(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))
def extra(call):
    with open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")
    before = held("VmRSS")
    answer = call()
    return held("VmHWM") - before, answer
model = GaussianNB().fit(X, y)  # all rows: loading a kernel takes megabytes, once, and is not
for method in ("predict", "predict_proba"):  # what rows cost; few rows take another kernel
    getattr(model, method)(X)
fit, model = extra(lambda: GaussianNB().fit(X, y))
found = {"X": X.nbytes, "fit": fit}
for method in ("predict", "predict_proba"):
    found[method], answer = extra(lambda: getattr(model, method)(X))
    found[method] -= answer.nbytes
    found[method + " output"] = answer.nbytes
    if method == "predict":
        found["labels"] = answer[:1000].tolist()
    del answer
print(json.dumps(found))
"""


class Service(NamedTuple):
    """Files of a saved model, its rows and labels, and the folder of kernels that it needs."""

    model: Path
    X: Path
    y: Path
    cache: Path | None

    def first_predict(self) -> Run:
        """Start a process that reads the model and scores."""
        return python(FIRST_PREDICT, self.model, self.X, cache=self.cache)


def service(problem: Problem, folder: Path, *, own_cache: bool) -> Service:
    """Save model, rows and labels of a problem in `folder`; compile what scoring them needs.

    With a cache of its own, only these kernels are in it; compiling them takes some seconds.
    """
    import fastgnb

    X, y = problem.data()
    cache = folder / "cache" if own_cache else None
    made = Service(folder / "model", folder / "X.npy", folder / "y.npy", cache)
    fastgnb.save(rivals.OURS.fit(X, y), made.model)
    np.save(made.X, X)
    np.save(made.y, y)
    made.first_predict()
    return made


def can_measure_memory() -> bool:
    """Whether the system lets a process set back its own peak: Linux does."""
    return os.access("/proc/self/clear_refs", os.W_OK)
