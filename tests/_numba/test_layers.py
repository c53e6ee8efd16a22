"""Threading layers, or none, and no compiler: the same answers."""

from __future__ import annotations

import sys

import pytest
from installed import CODES, COMMANDS, DONE, GOOD, MODEL, THREADS, recorded
from layers import FOR_LAYERS

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.skipif(sys.platform == "win32", reason="paths and layers are POSIX"),
]


SMALL = """
import numpy as np
from fastgnb import GaussianNB
X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [6.0, 5.0], [7.0, 8.0], [8.0, 5.0]])
y = np.array(["a", "a", "a", "b", "b", "b"])
m = GaussianNB(missing="skip").fit(X, y, [1, 2, 1, 1, 1, 1]).partial_fit(X.astype("f4"), y)
m.partial_fit([[np.nan, 2.0]], ["b"])
with np.errstate(over="ignore"):  # plain Python warns where compiled code does not
    far = m.predict_proba([[1e200, 0]])
print(np.round(m.predict_log_proba(X + 1.5), 9).tolist(), m.predict(X).tolist(), far.tolist())
print(np.round(m.var_, 9).tolist(), GaussianNB().fit(X, [1, 1, 2, 2, 3, 3]).predict(X).tolist())
"""


def test_without_the_compiler_the_answers_are_the_same(python):
    assert python(SMALL, NUMBA_DISABLE_JIT="1") == python(SMALL)


def test_nothing_is_computed_of_memory_that_nothing_was_written_to(python):
    """Numbers left in memory may be so large that products overflow, which NumPy warns of."""
    code = """
import warnings
import numpy as np
from fastgnb import GaussianNB
empty = np.empty
def filled(shape, dtype=float, **options):
    array = empty(shape, dtype, **options)
    if array.dtype.kind == "f":
        array.fill(np.finfo(array.dtype).max)
    return array
rng = np.random.default_rng(0)
y = np.arange(90) % 3
np.empty = filled
warnings.simplefilter("error")
for d in (2, 11):
    X = rng.normal(size=(90, d))
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    for make in (np.ascontiguousarray, np.asfortranarray):
        for weight in (None, y + 0.5):
            model = GaussianNB().fit(make(X), y, weight)
            model.partial_fit(make(X), y, sample_weight=weight).predict_log_proba(make(X))
            GaussianNB(missing="skip").fit(make(holes), y, weight).predict_proba(make(holes))
"""
    assert not python(code, NUMBA_DISABLE_JIT="1")


# threading layers


def without(*layers: str) -> str:
    """Code after which these threading layers cannot be imported."""
    return "import sys\n" + "".join(
        f"sys.modules['numba.np.ufunc.{layer}'] = None\n" for layer in layers
    )


LAST_LAYER = (
    without("omppool", "tbbpool") + "import numba; numba.get_num_threads()\n",
    "print(numba.threading_layer())",
)


def test_the_last_threading_layer_is_enough(python):
    out = python(MODEL.join(LAST_LAYER), NUMBA_NUM_THREADS="2")
    assert out == GOOD + "workqueue\n"


@pytest.mark.slow
def test_the_last_threading_layer_is_enough_to_compile(python, tmp_path):
    cache = {"NUMBA_NUM_THREADS": "2", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert python(THREADS.join(LAST_LAYER), **cache) == "True\nworkqueue\n"


NO_LAYER = {
    "none": (without("omppool", "tbbpool", "workqueue"), None),
    "not the one asked for": (without("tbbpool"), "tbb"),
    "none of that name": ("", "nothing"),
}


@pytest.mark.promise("degraded")
@pytest.mark.parametrize(
    "case", ["none", *(pytest.param(c, marks=pytest.mark.slow) for c in list(NO_LAYER)[1:])]
)
def test_without_a_threading_layer_own_threads_do_the_work(python, case):
    prelude, layer = NO_LAYER[case]
    code = (
        FOR_LAYERS + recorded(MODEL)
        + "print(threads.n_threads(), threads._process.pool is not None)"
    )  # fmt: skip
    out = python(prelude + code, NUMBA_NUM_THREADS="2", NUMBA_THREADING_LAYER=layer)
    assert out == f"{GOOD}2 True\n"


def test_without_a_threading_layer_warming_up_compiles_the_same(python):
    """Only the small kernels: the examples of those that are imported."""
    warming = "from fastgnb._numba.warmup import compile_all\nprint(compile_all())"
    code = recorded(CODES + warming)
    out = python(without("omppool", "tbbpool", "workqueue") + code, NUMBA_NUM_THREADS="2")
    assert out == "[1, 0, 1]\n3\n"


@pytest.mark.promise("degraded")
def test_without_the_compiler_the_command_works(python, tmp_path):
    code = "import sys\n" + COMMANDS + "print(main(['warmup']))"
    # Plain Python warns of lanes beyond the last row, where compiled code does not.
    quiet = {"PYTHONWARNINGS": "ignore::RuntimeWarning"}
    out = python(code, str(tmp_path), NUMBA_DISABLE_JIT="1", **quiet)
    assert out == DONE + "0 kernels: the compiler is switched off (NUMBA_DISABLE_JIT)\n0\n"
