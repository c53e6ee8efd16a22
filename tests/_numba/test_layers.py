"""Threading layers, or none, and no compiler: the same answers."""

from __future__ import annotations

import sys

import pytest
from installed import CODES, COMMANDS, DONE, GOOD, MODEL, THREADS, recorded
from layers import FOR_LAYERS, PRELOAD_TBB, has_layer

from fastgnb._numba import threads

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.skipif(sys.platform == "win32", reason="paths and layers are POSIX"),
]


# Prints a digest of everything that fitting and scoring give, for work above the thread threshold.
BITS = """
import hashlib, sys, warnings
import numpy as np
warnings.simplefilter("error")
from fastgnb import ClassStats, GaussianNB
from fastgnb.kernels.score.outputs import Wanted
from fastgnb.kernels.score.whitened import WhitenedTerms, score_whitened
r = np.random.default_rng(0)
W = r.normal(size=(3, 4, 6))
X = r.normal(size=(60_001, 6)) + np.arange(60_001)[:, None] % 3
y, w = np.arange(60_001) % 3, r.random(60_001)
sha = hashlib.sha256()
for rows in (X, np.asfortranarray(X), X.astype("f4"), (X * 9).astype("i2")):
    for weight in (None, w):
        m = GaussianNB(missing="skip" if weight is None else "error").fit(rows, y, weight)
        for name in ("class_count_", "theta_", "var_"):
            sha.update(getattr(m, name).tobytes())
    for name in ("predict", "predict_proba", "predict_log_proba", "predict_log_evidence"):
        sha.update(getattr(m, name)(rows).tobytes())
    full = ClassStats.from_rows(rows, y, w, scatter="full")
    for part in (full.count, full.mean, full.mean_lo, full.covariance):
        sha.update(part.tobytes())
    terms = WhitenedTerms(full.mean, W, np.zeros((3, 4)), np.ones((3, 4)), np.zeros(3))
    for table in ("joint", "proba"):
        sha.update(score_whitened(rows, terms, Wanted(table=table)).table.tobytes())
"""


@pytest.fixture(scope="session")
def bits(tmp_path_factory):
    """The digest in this process, with as many threads as there are."""
    scope: dict[str, object] = {}
    exec(BITS, scope)
    return scope["sha"].hexdigest()


@pytest.mark.parametrize("n", ["1", "2", "3"])
@pytest.mark.parametrize("layer", ["omp", "workqueue", "tbb"])
def test_the_same_bits_for_any_threads_and_layer(python, bits, n, layer):
    code = FOR_LAYERS + BITS + "import numba\nprint(sha.hexdigest(), numba.threading_layer())"
    if layer == "tbb":
        code = PRELOAD_TBB + code
    if not has_layer(python, layer):
        pytest.skip(f"this machine has no {layer} threading layer")
    digest, used = python(code, NUMBA_NUM_THREADS=n, NUMBA_THREADING_LAYER=layer).split()
    assert digest == bits
    assert used == layer


def test_the_serial_twin_gives_the_same_bits(bits, monkeypatch):
    monkeypatch.setattr(threads, "PARALLEL_WORK", 2**62)
    scope: dict[str, object] = {}
    exec(BITS, scope)
    assert scope["sha"].hexdigest() == bits


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


# threading layers


def without(*layers: str) -> str:
    """Code after which these threading layers cannot be imported."""
    return "import sys\n" + "".join(
        f"sys.modules['numba.np.ufunc.{layer}'] = None\n" for layer in layers
    )


LAST_LAYER = without("omppool", "tbbpool"), "import numba; print(numba.threading_layer())"


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


def test_without_a_threading_layer_warming_up_compiles_what_is_left(python):
    """Only the small kernels: the examples of those that are imported."""
    warming = "from fastgnb._numba.warmup import compile_all\nprint(compile_all())"
    code = recorded(CODES + warming)
    out = python(without("omppool", "tbbpool", "workqueue") + code, NUMBA_NUM_THREADS="2")
    assert out == "[1, 0, 1]\n5\n"


@pytest.mark.promise("degraded")
def test_without_the_compiler_the_command_works(python, tmp_path):
    code = "import sys\n" + COMMANDS + "print(main(['warmup']))"
    out = python(code, str(tmp_path), NUMBA_DISABLE_JIT="1")
    assert out == DONE + "0 kernels: the compiler is switched off (NUMBA_DISABLE_JIT)\n0\n"
