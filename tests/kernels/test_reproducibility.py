"""The same bits whatever runs it, and wherever and in whatever type the numbers lie."""

from __future__ import annotations

import ast
import itertools
import platform
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from exactness import METHODS, bits_of
from layers import FOR_LAYERS, PRELOAD_TBB, has_layer
from numpy.lib.stride_tricks import as_strided

import fastgnb
from fastgnb import ClassStats, GaussianNB
from fastgnb._numba import threads
from fastgnb.kernels.logs import log, log_densities

pytestmark = pytest.mark.no_new_lines


# --- what runs it: threads, layers, BLAS, vector extensions, once more ------------------------

# Prints a digest of all results for shapes that take every way through the kernels: few classes
# and many, one feature, more than a register holds and 200, alone and above the thread threshold.
BITS = """
import hashlib, warnings
import numpy as np
warnings.simplefilter("error")
from fastgnb import GaussianNB
from fastgnb.estimate.diagonal import GaussianParams

METHODS = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
           "predict_log_evidence")

def stats_bits(s):
    arrays = [s.classes, s.count, s.mean, s.mean_lo, s.variance, s.weight, s.within(),
              s.between(), s.total(), s.as_one_class().mean]
    return [np.ascontiguousarray(a) for a in arrays]

def results():
    for n, d, k in ((40_000, 5, 3), (2003, 200, 7), (9000, 9, 100), (70_000, 1, 2), (31, 17, 2)):
        r = np.random.default_rng([n, d, k])
        y, w = np.arange(n) % k, r.random(n)
        X = r.normal(size=(n, d)) * r.uniform(0.1, 9, d) + y[:, None] % 3
        big = X.astype(">f4") if d == 5 else X.astype("f4")
        for rows in (X, np.asfortranarray(X), big, (X * 9).astype("i2")[::-1]):
            for missing in ("error", "skip"):
                m = GaussianNB(missing=missing).fit(rows, y, w if missing == "error" else None)
                yield from stats_bits(m.stats_)
                m.partial_fit(rows[: n // 3], y[: n // 3], sample_weight=w[: n // 3])
                other = GaussianNB(missing=missing).fit(rows[n // 2 :], y[n // 2 :])
                yield from stats_bits(m.merge(other).stats_)
                yield from stats_bits(m.stats_ - other.stats_)
                yield from (m.class_prior_, m.theta_, m.var_, np.array(m.epsilon_))
                p = GaussianParams.from_estimate(
                    m.class_prior_, m.theta_, m.var_, classes=m.classes_)
                yield from (p.log_prior, p.mean, p.inv_sd, p.log_det)
                yield from (getattr(m, name)(rows) for name in METHODS)

def digest():
    sha = hashlib.sha256()
    for array in results():
        sha.update(array.tobytes())
    return sha.hexdigest()
"""


@pytest.fixture(scope="session")
def digest():
    """The function of `BITS`, in this process."""
    scope: dict[str, object] = {}
    exec(BITS, scope)
    return scope["digest"]


@pytest.fixture(scope="session")
def bits(digest):
    return digest()


def test_the_same_bits_once_more(bits, digest):
    assert digest() == bits


slow = pytest.mark.slow


@pytest.mark.promise("bits")
@pytest.mark.parametrize(
    ("layer", "threads"),
    [
        ("omp", "1"), ("omp", "3"), ("workqueue", "2"), ("tbb", "3"),
        pytest.param("omp", "2", marks=slow), pytest.param("workqueue", "1", marks=slow),
        pytest.param("workqueue", "3", marks=slow), pytest.param("tbb", "1", marks=slow),
        pytest.param("tbb", "2", marks=slow),
    ],
)  # fmt: skip
def test_the_same_bits_for_any_threads_and_layer(python, bits, layer, threads):
    if not has_layer(python, layer):
        pytest.skip(f"this machine has no {layer} threading layer")
    code = (PRELOAD_TBB if layer == "tbb" else "") + BITS + FOR_LAYERS
    code += "import numba\nprint(digest(), numba.get_num_threads(), numba.threading_layer())"
    got = python(code, NUMBA_NUM_THREADS=threads, NUMBA_THREADING_LAYER=layer).split()
    assert got == [bits, threads, layer]


@pytest.mark.promise("bits")
def test_the_same_bits_alone_and_in_threads(bits, digest, monkeypatch):
    for work in (0, 2**62):
        monkeypatch.setattr(threads, "PARALLEL_WORK", work)
        assert digest() == bits


on_x86 = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="these are names of x86-64 processors"
)


@pytest.mark.promise("bits")
@on_x86
@pytest.mark.parametrize(
    "kind", ["Prescott", pytest.param("Haswell", marks=slow), pytest.param("Nehalem", marks=slow)]
)
def test_the_same_bits_with_any_blas(python, bits, kind):
    """Kernels of OpenBLAS and MKL for other processors and threads round in another way."""
    got = python(
        BITS + "print(digest())", OPENBLAS_CORETYPE=kind, OPENBLAS_NUM_THREADS="1",
        MKL_CBWR="COMPATIBLE", MKL_NUM_THREADS="1",
    )  # fmt: skip
    assert got.split() == [bits]


# Full covariances and principal axes come out of LAPACK, which their docs say.
WITH_LAPACK = {
    "estimate/full.py", "model/family.py", "estimators/gaussian_bayes.py", "estimators/pca.py",
    "estimate/axes.py", "estimate/singular.py",
}  # fmt: skip


def test_nothing_else_calls_blas():
    calls = {"dot", "vdot", "matmul", "inner", "einsum", "tensordot", "linalg", "cov", "corrcoef"}
    package = Path(fastgnb.__file__).parent
    paths = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    assert paths.keys() > WITH_LAPACK
    for where, path in paths.items():
        if where in WITH_LAPACK:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node, "attr", getattr(node, "id", getattr(node, "name", None)))
            assert name not in calls, f"{path.name} line {node.lineno}"
            assert not isinstance(node, ast.MatMult), path.name


FEATURES_OF_NUMPY = """
try:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
except ImportError:
    from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__.get(name)))
"""


def test_the_same_bits_without_vector_extensions_of_numpy(python, bits):
    there = python(FEATURES_OF_NUMPY).split()
    if not there:
        pytest.skip("NumPy uses no vector extensions on this processor")
    code = FEATURES_OF_NUMPY + BITS + "print(digest())"
    got = python(code, NPY_DISABLE_CPU_FEATURES=" ".join(there)).split()
    assert got == [bits]  # no feature is left, or its name would be here


@pytest.mark.promise("bits")
@pytest.mark.slow
@on_x86
@pytest.mark.parametrize("cpu", ["haswell", "skylake-avx512"])
def test_the_same_bits_on_any_processor_with_fma(python, bits, cpu):
    """Registers of 256 and 512 bits do the same operations; without FMA roundings are others."""
    import llvmlite.binding

    host = llvmlite.binding.get_host_cpu_features()
    needs = "avx512f" if "512" in cpu else "fma"
    if not host.get("fma") or not host.get(needs):
        pytest.skip(f"this processor has no {needs}")
    got = python(BITS + "print(digest())", NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES="", timeout=600)
    assert got.split() == [bits]


def test_logarithms_are_right_and_the_same_at_any_place(rng):
    x = np.concatenate([
        np.exp(rng.uniform(-708, 709, 3000)), rng.uniform(0.5, 2, 3000), 2.0 ** np.arange(-5, 6),
        1 + rng.normal(size=999) * 1e-8, [5e-324, 1e-310, 2.0**-1022, np.finfo(float).max],
    ])  # fmt: skip
    got = log(x)
    for value, a in zip(x.tolist(), got.tolist(), strict=True):
        want = Decimal(value).ln()
        assert abs(Decimal(a) - want) <= Decimal(float(np.spacing(abs(float(want)))))
    for n in (1, 2, 3, 5, 8, 17, 511, 512, 513):
        a = int(rng.integers(0, len(x) - n))
        assert log(x[a : a + n]).tobytes() == got[a : a + n].tobytes()
    assert log(x[:7000].reshape(2, -1).T).tobytes() == got[:7000].reshape(2, -1).T.tobytes()


@pytest.mark.parametrize("scale", [(1, 1), (1e-300, 1), (1e300, 1e-300), (1e-310, 1e308), (1e3, 1)])
@pytest.mark.parametrize("d", [1, 2, 7, 100, 2000])
def test_products_of_variances_neither_overflow_nor_vanish(rng, d, scale):
    prior, possible = np.array([0.25, 0.5, 0.0]), np.array([True, False, False])
    variance = rng.uniform(0.3, 1, size=(3, d)) * rng.choice(scale, size=(3, d))
    for layout in (variance, np.asfortranarray(variance)):
        log_prior, log_det = log_densities(prior, possible, layout)
        assert log_prior.tolist() == [np.log(0.25), -np.inf, -np.inf]
        for got, row in zip(log_det.tolist(), variance.tolist(), strict=True):
            terms = [Decimal(value).ln() for value in row]
            slack = Decimal("3e-16") * (d + max(abs(sum(terms)), 1))
            assert abs(Decimal(got) - sum(terms)) <= slack


# --- where the numbers lie -------------------------------------------------------------------


def layouts(X, folder) -> Iterator[tuple[str, np.ndarray]]:
    """The same numbers (n, d) in every way that NumPy can hold them."""
    n, d = X.shape
    swapped = X.dtype.newbyteorder(">")
    wide, tall = np.zeros((n, 2 * d + 1), X.dtype), np.zeros((3 * n, d), X.dtype)
    wide[:, 1::2], tall[1::3] = X, X
    frozen = X.copy()
    frozen.flags.writeable = False
    files = [folder / f"{len(list(folder.iterdir()))} {order}.npy" for order in "CF"]
    for file, order in zip(files, "CF", strict=True):
        np.save(file, np.asarray(X, order=order))
    odd = np.frombuffer(b"\0" + X.tobytes(), X.dtype, offset=1).reshape(X.shape)
    odd_columns = np.frombuffer(b"\0" + X.T.tobytes(), X.dtype, offset=1).reshape(d, n).T
    assert not odd.flags.aligned
    assert not odd_columns.flags.aligned
    yield "Fortran", np.asfortranarray(X)
    yield "every second column", wide[:, 1::2]
    yield "every third row", tall[1::3]
    yield "every third row of columns", np.asfortranarray(tall)[1::3]
    yield "rows backwards", X[::-1].copy()[::-1]
    yield "columns backwards", X[:, ::-1].copy()[:, ::-1]
    yield "both backwards, by columns", np.asfortranarray(X[::-1, ::-1])[::-1, ::-1]
    yield "read-only", frozen
    yield "memory map", np.load(files[0], mmap_mode="r")
    yield "memory map by columns", np.load(files[1], mmap_mode="r")
    yield "unaligned", odd
    yield "unaligned by columns", odd_columns
    yield "big-endian", X.astype(swapped)
    yield "big-endian by columns", np.asfortranarray(X.astype(swapped))
    yield "big-endian, strided", np.repeat(X.astype(swapped), 2, axis=0)[::2]
    yield "overlapping", as_strided(X, X.shape, X.strides, writeable=False)


SHAPES = [(5003, 6, 3), (2501, 17, 9), (301, 1, 1), (4099, 33, 2), (77, 8, 4), (1200, 3, 40)]


@pytest.mark.promise("bits")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_layouts_give_the_same_bits(make_data, tmp_path, n, d, k, dtype):
    X, y = make_data(n, d, k)
    X, weight = (X * 3 + 1000).astype(dtype), np.random.default_rng(n).random(n)
    missing = X.copy()
    missing[np.random.default_rng(d).random(X.shape) < 0.1] = np.nan
    for rows, w, mode in ((X, None, "error"), (X, weight, "error"), (missing, weight, "skip")):
        model = GaussianNB(missing=mode).fit(rows, y, w)
        want = [getattr(model, name)(rows) for name in METHODS]
        for layout, view in layouts(rows, tmp_path):
            got = GaussianNB(missing=mode).fit(view, y, w)
            assert bits_of(got.stats_) == bits_of(model.stats_), layout
            for name, exact in zip(METHODS, want, strict=True):
                assert getattr(model, name)(view).tobytes() == exact.tobytes(), (layout, name)


def test_types_of_the_same_numbers_give_the_same_bits(make_data):
    X, y = make_data(3001, 7, 4)
    X = np.rint(X * 10)
    want = GaussianNB().fit(X, y)
    tables = [getattr(want, name)(X) for name in METHODS]
    for dtype in ("f4", "f2", "i1", "i2", ">i4", "i8", "g", "O"):
        view = X.astype(dtype)
        assert bits_of(GaussianNB().fit(view, y).stats_) == bits_of(want.stats_)
        for name, table in zip(METHODS, tables, strict=True):
            if dtype != "f4" or "proba" not in name or "joint" in name:
                assert getattr(want, name)(view).tobytes() == table.tobytes()


def test_layouts_of_labels_and_weights_give_the_same_bits(make_data):
    X, y = make_data(3001, 5, 4)
    weight = np.random.default_rng(1).integers(1, 9, len(y)) / 8
    want = bits_of(ClassStats.from_rows(X, y, weight))

    def views(a):
        frozen = a.copy()
        frozen.flags.writeable = False
        yield frozen
        yield np.repeat(a, 3)[::3]
        yield a[::-1].copy()[::-1]
        yield a.astype(a.dtype.newbyteorder(">"))
        yield np.frombuffer(b"\0" + a.tobytes(), a.dtype, offset=1)
        yield a.tolist()

    kinds = [y, y.astype(np.int8), y.astype(np.uint64), y.astype(np.float32), y.astype("U3")]
    for labels in itertools.chain.from_iterable(map(views, kinds)):
        assert bits_of(ClassStats.from_rows(X, labels, weight)) == want
    for weights in itertools.chain(views(weight), views(weight.astype(np.float32))):
        assert bits_of(ClassStats.from_rows(X, y, weights)) == want


@pytest.mark.parametrize(("d", "k"), [(3, 2), (33, 5), (200, 3)])
@pytest.mark.parametrize("missing", ["error", "skip"])
def test_edited_parameters_of_any_layout_score_the_same_bits(make_data, d, k, missing):
    X, y = make_data(400, d, k)
    model = GaussianNB(missing=missing).fit(X, y)
    want = [getattr(model, name)(X).tobytes() for name in METHODS]
    for make in (np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2], lambda a: a[::1]):
        model.theta_, model.var_ = make(model.theta_), make(model.var_)
        assert [getattr(model, name)(X).tobytes() for name in METHODS] == want
