"""Options, layers and caches: the same bits, and nothing of it reaches the user."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from layers import FOR_LAYERS, PRELOAD_TBB, has_layer

import fastgnb
from fastgnb._numba import decorators, threads

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


# The smallest kernels, which compile in a second or two.
QUICK = """
import numpy as np
from fastgnb.input.labels import encode_labels
for y in (np.array([3, 1, 3]), np.array([2.0, -1.0])):
    print(encode_labels(y).classes, encode_labels(y).codes)
"""


def copy_of_package(folder: Path) -> Path:
    shutil.copytree(
        Path(fastgnb.__file__).parent, folder / "fastgnb",
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    return folder


def test_no_place_for_a_cache_costs_one_warning(python, tmp_path):
    where = copy_of_package(tmp_path)
    for folder in (where / "fastgnb", where / "fastgnb" / "kernels"):
        (folder / "__pycache__").write_text("a file where the folder should be")
    code = (
        f"import sys, warnings; sys.path.insert(0, {str(where)!r})\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n    "
        + QUICK.strip().replace("\n", "\n    ")
        + "\nassert [w.category for w in caught] == [RuntimeWarning], caught\n"
        "assert 'NUMBA_CACHE_DIR' in str(caught[0].message)\n"
        "import fastgnb; assert fastgnb.__file__.startswith(sys.path[0])\n"
    )
    nowhere = "/dev/null/nowhere"
    got = python(
        code, HOME=nowhere, XDG_CACHE_HOME=nowhere, NUMBA_CACHE_DIR=None, LOCALAPPDATA=nowhere,
        PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    assert got == python(QUICK)


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty"])
def test_damaged_cache_files_are_compiled_anew(python, tmp_path, damage):
    want = python(QUICK, NUMBA_CACHE_DIR=str(tmp_path))
    files = [f for f in tmp_path.rglob("*.nb?") if f.suffix in (".nbi", ".nbc")]
    assert files
    for file in files:
        whole = file.read_bytes()
        broken = {"truncated": whole[: len(whole) // 2], "garbage": b"\x80garbage", "empty": b""}
        file.write_bytes(broken[damage])
    code = "import warnings; warnings.simplefilter('ignore', RuntimeWarning)\n" + QUICK
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path)) == want


def test_the_cache_is_used(python, tmp_path):
    code = (
        QUICK
        + "from fastgnb._numba.compiler import DISPATCHERS\n"
        + "print('COMPILED', sum(sum(one.stats.cache_misses.values()) for one in DISPATCHERS))"
    )
    first = python(code, NUMBA_CACHE_DIR=str(tmp_path)).split("COMPILED")[1]
    second = python(code, NUMBA_CACHE_DIR=str(tmp_path)).split("COMPILED")[1]
    assert int(first) > 0
    assert int(second) == 0


def test_importing_compiles_nothing(python):
    code = (
        "import fastgnb.estimators.naive_bayes\n"
        "from fastgnb._numba.warmup import n_compiled\nprint(n_compiled())"
    )
    assert python(code).strip() == "0"


@pytest.mark.promise("kernels")
def test_the_number_of_variants_is_bounded(python, tmp_path):
    """Whatever comes in, kernels see float32 or float64 in C order, read-only."""
    code = """
import numpy as np
from fastgnb import GaussianNB, kernels
from fastgnb._numba import decorators, threads, warmup
threads.PARALLEL_WORK = threads.LARGE_WORK = 0
before = kernels.warmup()
y = np.array([0, 0, 1, 1])
for dtype in ("f2", "f4", "f8", "i1", "u2", "i4", "i8", "?"):
    for make in (np.ascontiguousarray, np.asfortranarray, lambda a: a.repeat(2, axis=1)[:, ::2]):
        for writeable in (True, False):
            X = make(np.array([[0, 1], [1, 0], [7, 1], [6, 0]]).astype(dtype))
            X.flags.writeable = writeable
            for missing in ("error", "skip"):
                for w in (None, np.ones(4), np.ones(4, "f4")):
                    m = GaussianNB(missing=missing).fit(X, y, w)
                for name in ("predict", "predict_proba", "predict_log_proba",
                             "predict_joint_log_proba", "predict_log_evidence"):
                    getattr(m, name)(X)
print(before, warmup.n_compiled())
"""
    before, after = map(int, python(code).split())
    assert before == after <= 43


def test_a_change_in_any_kernel_file_makes_the_cache_stale(python, tmp_path):
    package = tmp_path / "fastgnb"
    shutil.copytree(Path(fastgnb.__file__).parent, package, ignore=shutil.ignore_patterns("*.nb?"))
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import numpy as np
from fastgnb.kernels.learn import encode
encode.encode_integers(np.arange(3))
print(encode.__file__, sum(encode._mark.body.stats.cache_misses.values()))
"""

    def misses():
        where, count = python(code, NUMBA_CACHE_DIR=str(tmp_path / "cache")).split()
        assert where.startswith(str(tmp_path))
        return int(count)

    assert [misses(), misses()] == [1, 0]
    lanes = package / "_numba" / "vectors.py"
    lanes.write_text(lanes.read_text() + "# changed\n")
    assert [misses(), misses()] == [1, 0]


def test_frozen_is_a_view():
    a = np.zeros(3)
    view = decorators.readonly(a)
    assert view.base is a
    assert not view.flags.writeable
    assert a.flags.writeable
