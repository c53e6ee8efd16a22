"""Code that is measured in a new process: start-up, cold compilation, peak memory.

The code prints one line of JSON. Everything else about the process, such as the start and end of
its interpreter, is timed from outside.
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
    output: dict[str, Any]


def python(code: str, *args: object, cache: Path | None = None) -> Run:
    """Run code in a new interpreter; `cache` is where Numba keeps compiled kernels."""
    return _run([sys.executable, "-c", code, *map(str, args)], cache)


def command(*words: object, cache: Path | None = None) -> Run:
    """Run the `fastgnb` command in a new interpreter."""
    return _run([sys.executable, "-m", "fastgnb", *map(str, words)], cache)


def _run(words: list[str], cache: Path | None) -> Run:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
    if PEAK in words:  # glibc then returns freed arrays at once, and no later peak hides in them
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
module, _, name = sys.argv[1].partition(":")
getattr(importlib.import_module(module), name or "__name__")
print(json.dumps({"seconds": time.perf_counter() - start}))
"""

# A service that starts: the time of each step to its first prediction, without scikit-learn.
FIRST_PREDICT = """
import json, sys, time
marks = [("", time.perf_counter())]
def mark(step): marks.append((step, time.perf_counter()))
import numpy as np
mark("import numpy")
import numba
mark("import numba")
from fastgnb.files.models.model_file import read
mark("import fastgnb.files")
model = read(sys.argv[1]).model
X = np.load(sys.argv[2])
mark("read model and rows")
codes = model.score(X[:1]).codes
mark("first row")
codes = model.score(X).codes
mark("all rows")
assert "sklearn" not in sys.modules
steps = {b[0]: b[1] - a[1] for a, b in zip(marks, marks[1:])}
print(json.dumps({"steps": steps, "labels": model.classes[codes].tolist()}))
"""

# The first fit and predict of a process, of rows that are made there.
FIRST_FIT = """
import json, time
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(1000, 20)), rng.integers(0, 3, 1000)
start = time.perf_counter()
from fastgnb import GaussianNB
marks = [time.perf_counter()]
model = GaussianNB().fit(X, y)
marks += [time.perf_counter()]
model.predict(X)
marks += [time.perf_counter()]
print(json.dumps({"import": marks[0] - start, "fit": marks[1] - marks[0],
                  "predict": marks[2] - marks[1]}))
"""

# Peak memory beyond what was allocated before. The kernel's high-water mark (VmHWM) is reset first;
# getrusage's would include what the parent process held when it started this one.
PEAK = """
import json, sys
import numpy as np
from fastgnb import GaussianNB
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
def status_bytes(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))
def peak_beyond(call):
    with open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")
    before = status_bytes("VmRSS")
    result = call()
    return status_bytes("VmHWM") - before, result
model = GaussianNB().fit(X, y)  # all rows: loading a kernel takes megabytes once, which is not
for method in ("predict", "predict_proba"):  # the cost of rows; few rows use another kernel
    getattr(model, method)(X)
fit, model = peak_beyond(lambda: GaussianNB().fit(X, y))
sizes = {"X": X.nbytes, "fit": fit}
for method in ("predict", "predict_proba"):
    sizes[method], result = peak_beyond(lambda: getattr(model, method)(X))
    sizes[method] -= result.nbytes
    sizes[method + " output"] = result.nbytes
    if method == "predict":
        sizes["labels"] = result[:1000].tolist()
    del result
print(json.dumps(sizes))
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

    def command(self, folder: Path) -> Run:
        """Predict 1,000 rows by the command line."""
        rows, output = folder / "few.npy", folder / "labels.npy"
        if not rows.exists():
            np.save(rows, np.load(self.X)[:1000])
        output.unlink(missing_ok=True)
        return command("predict", self.model, rows, "--output", output, cache=self.cache)


def service(problem: Problem, folder: Path, *, own_cache: bool) -> Service:
    """Save model, rows and labels of a problem in `folder`, and compile what scoring them needs.

    With `own_cache` the kernels go into an empty cache, and compiling them takes some seconds.
    """
    import fastgnb

    X, y = problem.data()
    cache = folder / "cache" if own_cache else None
    paths = Service(folder / "model", folder / "X.npy", folder / "y.npy", cache)
    fastgnb.save(rivals.OURS.fit(X, y), paths.model)
    np.save(paths.X, X)
    np.save(paths.y, y)
    paths.first_predict()
    return paths


def can_measure_memory() -> bool:
    """Whether the system lets a process reset its own peak, as Linux does."""
    return os.access("/proc/self/clear_refs", os.W_OK)
