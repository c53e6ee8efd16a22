"""The same answer, always: bits that depend on the numbers alone, and algebra on rationals."""

from __future__ import annotations

import ast
import functools
import itertools
import platform
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracles
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layers import FOR_LAYERS, PRELOAD_TBB, has_layer
from numpy.lib.stride_tricks import as_strided

import fastgnb
from fastgnb import ClassStats, GaussianNB
from fastgnb._numba import threads
from fastgnb.cli import main
from fastgnb.estimate.diagonal import estimate_diagonal
from fastgnb.estimate.parameters import GaussianParams
from fastgnb.files.models import model_file as persist
from fastgnb.kernels.learn.diagonal import accumulate
from fastgnb.kernels.learn.encode import EncodedLabels
from fastgnb.kernels.logs import log, log_densities
from fastgnb.model.scoring import score

pytestmark = pytest.mark.no_new_lines

TOLERANCE = 1e-13
NAMES = ("count", "mean", "mean_lo", "variance")
METHODS = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence",
)  # fmt: skip


def bits_of(stats):
    """Everything that statistics hold, as bytes."""
    feature_count = b"" if stats.feature_count is None else stats.feature_count.tobytes()
    return [getattr(stats, name).tobytes() for name in NAMES] + [feature_count]


def assert_exact(stats, exact, tolerance=TOLERANCE):
    """Statistics against rationals: means in units of |mean| + sd, variances relative.

    A variance is also right within a few of the smallest number that float64 holds.
    """
    weight = np.broadcast_to(stats.weight, stats.mean.shape)
    least = 8 * Fraction(5e-324)
    for c, j in np.ndindex(stats.mean.shape):
        total, mean, scatter = exact.weight[c][j], exact.mean[c][j], exact.scatter[c][j]
        variance = scatter / total if total else Fraction(0)
        off = abs(Fraction(stats.mean[c, j]) - mean)
        assert off**2 <= Fraction(tolerance) ** 2 * (mean**2 + variance) + least**2
        wrong = abs(Fraction(stats.variance[c, j]) - variance)
        assert wrong <= Fraction(tolerance) * variance + least
        assert abs(Fraction(weight[c, j]) - total) <= Fraction(tolerance) * total
    for got, want in zip(stats.count, exact.count, strict=True):
        assert abs(Fraction(got) - want) <= Fraction(tolerance) * want


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


# --- a row and its neighbours ----------------------------------------------------------------

TABLES = ("joint", "proba", "log_proba")


def everything(rows, params, skip):
    """All that scoring can tell of rows, each as (n, anything)."""
    out = []
    for table in TABLES:
        for dtype in (np.float64, np.float32):
            got = score(rows, params, table=table, evidence=True, skip=skip, dtype=dtype)
            assert got.bad == -1
            out += [got.table, got.evidence, got.codes]
    out.append(score(rows, params, skip=skip).codes)
    assert (out[-1] == out[2]).all()
    return out


def rows_with_bad_company(rng, n, d, dtype, skip):
    """Rows near, far and too far for float64, and with `skip` some or no values."""
    far = 1e200 if dtype == np.float64 else 3e38
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1, 30], size=(n, 1))
    X = X.astype(dtype)
    X[rng.random(n) < 0.1] = far
    X[rng.random(n) < 0.1, 0] = -far
    if skip:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[rng.random(n) < 0.1] = np.nan
    return X


def model_of(rng, k, d, dtype):
    """Parameters; for odd k with variances so small that float32 can be too far as well."""
    var = rng.uniform(0.5, 4, size=(k, d))
    if dtype == np.float32 and k % 2:
        var *= 1e-240
    return GaussianParams.from_estimate(
        rng.dirichlet(np.ones(k) * 3), rng.normal(size=(k, d)), var, classes=np.arange(k)
    )


@pytest.mark.promise("neighbours")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 17, 100])
def test_a_rows_scores_do_not_depend_on_its_neighbours(k, skip, dtype):
    """In batches of 1 to 70 rows, at any place of one, and among thousands, in any layout."""
    for d in (1, 2, 7, 8, 9, 16, 17, 33, 100):
        rng = np.random.default_rng([k, d, skip])
        params = model_of(rng, k, d, dtype)
        X = rows_with_bad_company(rng, 193, d, dtype, skip)
        whole = everything(X, params, skip)
        sizes = range(1, 71) if d in (2, 9) else (1, 2, 7, 8, 31, 32, 33, 39, 40, 63, 64, 65, 70)
        for m in sizes:
            a = int(rng.integers(0, len(X) - m + 1))
            part = X[a : a + m] if m % 2 else np.asfortranarray(X[a : a + m])
            for got, want in zip(everything(part, params, skip), whole, strict=True):
                assert got.tobytes() == want[a : a + m].tobytes(), (d, m)
        for place in (0, 5, 31, 32, 68):
            other = rows_with_bad_company(rng, 69, d, dtype, skip)
            other[place] = X[place]
            for got, want in zip(everything(other, params, skip), whole, strict=True):
                assert got[place].tobytes() == want[place].tobytes(), (d, place)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize(("d", "k"), [(1, 2), (6, 3), (9, 17), (33, 2), (16, 100)])
def test_blocks_and_threads_cut_between_rows(d, k, skip):
    """Sizes around the ends of blocks, of converted pieces, and of what one thread does alone."""
    rng = np.random.default_rng([d, k])
    params = model_of(rng, k, d, np.float64)
    alone = threads.PARALLEL_WORK // (d * k)
    sizes = [m + e for m in (2048, 4096, alone) for e in (-8, -1, 0, 1, 7, 8)]
    X = rows_with_bad_company(rng, max(sizes), d, np.float64, skip)
    # As pieces of any other size give it.
    cuts = [0, *np.sort(rng.integers(0, len(X), 40)).tolist(), len(X)]
    pieces = [score(X[a:b], params, table="proba", evidence=True, skip=skip)
              for a, b in itertools.pairwise(cuts) if b > a]  # fmt: skip
    tables = np.concatenate([piece.table for piece in pieces])
    evidence = np.concatenate([piece.evidence for piece in pieces])
    codes = np.concatenate([piece.codes for piece in pieces])
    for m in sizes:
        for view in (X[:m], np.asfortranarray(X[:m]), X[:m].astype(">f8"), X[-m:][::-1]):
            got = score(view, params, table="proba", evidence=True, skip=skip)
            at = slice(None, -m - 1, -1) if view.strides[0] < 0 else slice(0, m)
            assert got.table.tobytes() == tables[at].tobytes()
            assert got.evidence.tobytes() == evidence[at].tobytes()
            assert got.codes.tobytes() == codes[at].tobytes()


def test_a_row_that_is_refused_spoils_no_later_call(make_data):
    X, y = make_data(200, 5, 3)
    model = GaussianNB().fit(X, y)
    want = [getattr(model, name)(X).tobytes() for name in METHODS]
    for value in (np.nan, np.inf, -np.inf):
        bad = X.copy()
        bad[77, 2] = value
        for name in METHODS:
            with pytest.raises(ValueError, match="Input X contains"):
                getattr(model, name)(bad)
        assert [getattr(model, name)(X).tobytes() for name in METHODS] == want


def test_labels_come_out_as_they_went_in():
    """They travel through registers of floats: no bit pattern may change on the way."""
    bits = [0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1]
    nan, infinity = 0x7FF0000000000001, 0x7FF0000000000000  # as floats; the NaN is a signalling one
    labels = np.unique(np.array([*bits, nan, infinity, nan - 2**63, 0x7FF8000000000000], np.int64))
    X = np.arange(len(labels), dtype=float)[:, None]
    model = GaussianNB(var_smoothing=1e-6).fit(X, labels)
    for m in (1, len(labels), 50):
        rows = np.resize(X, (m, 1))
        assert model.predict(rows).tolist() == np.resize(labels, m).tolist()


# --- algebra ---------------------------------------------------------------------------------

deterministic = settings(
    deadline=None, max_examples=150, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


@st.composite
def data(draw, most=30, features=2):
    """Rows on a grid of 1e-3 around an offset of up to 1e8, in units from 1e-150 to 1e150; labels
    0 to 2; weights that are small whole numbers, in a unit of 1e-300 to 1e300 for each class.
    """
    n = draw(st.integers(1, most))
    unit = draw(st.sampled_from([1.0, 1.0, 1e-150, 1e-100, 1e-3, 1e100, 1e150]))
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, 1e4, 1e8]))
    grid = draw(st.lists(st.integers(-1000, 1000), min_size=n * features, max_size=n * features))
    X = (np.array(grid).reshape(n, features) / 1000 + offset) * unit
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    whole = np.array(draw(st.lists(st.sampled_from([0, 1, 1, 2, 5]), min_size=n, max_size=n)))
    units = draw(
        st.sampled_from([(1.0,) * 3, (1.0,) * 3, (1e-300, 1.0, 1e300), (1e50, 0.1, 1e-40)])
    )
    return X, y, whole * np.array(units)[y]


def stats_of(X, y, weight=None, **keywords):
    return ClassStats.from_rows(X, y, weight, classes=[0, 1, 2], **keywords)


def exact_of(X, y, weight=None):
    return oracles.class_stats(X, y, weight, classes=[0, 1, 2])


@pytest.mark.promise("exact", "merging")
@deterministic
@given(data(), st.randoms(use_true_random=False))
def test_any_cut_order_and_tree_of_merges_is_one_pass(rows, random):
    """Merging is associative and commutative, and rows have no order, to 1e-13."""
    X, y, weight = rows
    exact = exact_of(X, y, weight)
    assert_exact(stats_of(X, y, weight), exact)
    order = list(range(len(X)))
    random.shuffle(order)
    cuts = sorted(random.choices(range(len(X) + 1), k=random.randint(0, 8)))
    trees = []
    for a, b in itertools.pairwise([0, *cuts, len(X)]):
        i = order[a:b]
        mode = random.choice(["error", "skip"])
        trees.append(ClassStats.from_rows(X[i], y[i], weight[i], missing=mode))
    while len(trees) > 1:
        a = trees.pop(random.randrange(len(trees)))
        b = trees.pop(random.randrange(len(trees)))
        trees.append(a + b)
    assert_exact(trees[0] + stats_of(X[:0], y[:0]), exact)


@deterministic
@given(data(), st.randoms(use_true_random=False))
def test_missing_values_merge_as_exactly(rows, random):
    X, y, weight = rows
    X = np.where([[random.random() < 0.3 for _ in row] for row in X], np.nan, X)
    exact = exact_of(X, y, weight)
    cuts = sorted(random.choices(range(len(X) + 1), k=random.randint(0, 8)))
    pieces = [
        ClassStats.from_rows(X[a:b], y[a:b], weight[a:b], missing="skip")
        for a, b in itertools.pairwise([0, *cuts, len(X)])
    ]
    random.shuffle(pieces)
    for stats in (stats_of(X, y, weight, missing="skip"), sum(pieces)):
        assert_exact(stats + stats_of(X[:0], y[:0]), exact)


@deterministic
@given(data(), st.permutations([0, 1, 2]))
def test_renamed_classes_permute_the_statistics(rows, new):
    X, y, weight = rows
    want = stats_of(X, y, weight)
    for names in (np.array(new), np.array(["x", "a", "μ"])[new], np.array([2**62, -7, 0])[new]):
        got = ClassStats.from_rows(X, names[y], weight, classes=names)
        at = np.searchsorted(got.classes, names)
        for name in NAMES:
            assert getattr(got, name)[at].tobytes() == getattr(want, name).tobytes()


@deterministic
@given(data(features=3), st.permutations(range(3)))
def test_permuted_features_permute_the_statistics(rows, order):
    X, y, weight = rows
    want, got = stats_of(X, y, weight), stats_of(X[:, order], y, weight)
    for name in NAMES[1:]:
        assert getattr(got, name).tobytes() == getattr(want, name)[:, order].tobytes()
    merged = got + got.update(X[:, order], y, weight)
    plain = want + want.update(X, y, weight)
    for name in NAMES[1:]:
        assert getattr(merged, name).tobytes() == getattr(plain, name)[:, order].tobytes()


@deterministic
@given(data(), st.integers(1, 4))
def test_whole_weights_are_repetitions(rows, times):
    X, y, weight = rows
    whole = (weight > 0) * (1 + np.arange(len(y)) % times)
    exact = exact_of(X, y, whole.astype(float))
    assert_exact(stats_of(X, y, whole), exact)
    assert_exact(stats_of(np.repeat(X, whole, axis=0), np.repeat(y, whole)), exact)


def normal(X, factor):
    """X in units in which its squares times weights of this factor are far from 1e-308 and 1e308.

    Weights between 1e-30 and 1e30 are taken as they are, and all others are brought near 1.
    """
    if 1e-31 < factor < 1 and abs(X).max() < 1e-120:
        return X * 1e150
    return X / 1e150 if 1 < factor < 1e31 and abs(X).max() > 1e120 else X


@deterministic
@given(data(), st.integers(-700, 700))
def test_weights_times_a_power_of_two_change_no_bit_of_the_moments(rows, power):
    X, y, weight = rows
    X = normal(X, 2.0**power)
    weight = np.where(weight > 0, 1.0 + np.arange(len(y)) % 3, 0.0)
    for mode in ("error", "skip"):
        plain, scaled = (stats_of(X, y, w, missing=mode) for w in (weight, weight * 2.0**power))
        for name in NAMES[1:]:
            assert getattr(scaled, name).tobytes() == getattr(plain, name).tobytes()
        assert (scaled.count == plain.count * 2.0**power).all()
        assert (scaled.weight == plain.weight * 2.0**power).all()
        twice = scaled + scaled.update(X[::2], y[::2], weight[::2] * 2.0**power)
        once = plain + plain.update(X[::2], y[::2], weight[::2])
        for name in NAMES[1:]:
            assert getattr(twice, name).tobytes() == getattr(once, name).tobytes()


@deterministic
@given(data(), st.floats(1e-290, 1e290), st.sampled_from([0.0, 0.5, 1e-9]))
def test_weights_times_any_factor_leave_moments_and_model(rows, factor, smoothing):
    X, y, weight = rows
    X = normal(X, factor)
    weight = np.where(weight > 0, 1.0 + np.arange(len(y)) % 3, 0.0)
    exact = exact_of(X, y, weight)
    stats = stats_of(X, y, weight * factor)
    scaled = [[w * Fraction(factor) for w in row] for row in exact.weight]
    count = [w * Fraction(factor) for w in exact.count]
    scatter = [[s * Fraction(factor) for s in row] for row in exact.scatter]
    assert_exact(stats, exact._replace(weight=scaled, count=count, scatter=scatter))
    if weight.any():
        one, two = (
            estimate_diagonal(s, var_smoothing=smoothing) for s in (stats, stats_of(X, y, weight))
        )
        np.testing.assert_allclose(one.class_prior, two.class_prior, rtol=1e-13)
        np.testing.assert_allclose(one.var, two.var, rtol=2e-13)


@deterministic
@given(data())
def test_rows_of_weight_zero_are_not_there_whatever_they_hold(rows):
    X, y, weight = rows
    kept = weight > 0
    filled = np.where(kept[:, None], X, np.resize([1e300, np.nan, -np.inf], X.shape))
    exact = exact_of(X[kept], y[kept], weight[kept])
    assert_exact(stats_of(filled, y, weight), exact)
    assert_exact(stats_of(X[kept], y[kept], weight[kept]), exact)


@deterministic
@given(data(), st.integers(-900, 900))
def test_units_of_features_that_are_powers_of_two_change_exponents_only(rows, power):
    X, y, weight = rows
    X = np.rint(X / X.ravel()[np.argmax(abs(X))] * 2**20) if X.any() else X
    power //= 2 if abs(power) > 450 else 1
    plain, scaled = stats_of(X, y, weight), stats_of(X * 2.0**power, y, weight)
    assert scaled.mean.tobytes() == (plain.mean * 2.0**power).tobytes()
    assert scaled.variance.tobytes() == (plain.variance * 4.0**power).tobytes()


@deterministic
@given(data(), st.integers(-(10**9), 10**9))
def test_a_constant_added_to_a_feature_moves_means_only(rows, constant):
    """Here all sums are exact, so that nothing but the library can round."""
    X, y, weight = rows
    X = np.rint(X / abs(X).max() * 1000) / 8 if X.any() else X
    exact, moved = exact_of(X, y, weight), exact_of(X + constant, y, weight)
    assert moved.scatter == exact.scatter
    stats = stats_of(X + constant, y, weight)
    assert_exact(stats, moved)
    parts = [stats_of(X[i::3] + constant, y[i::3], weight[i::3]) for i in range(3)]
    assert_exact(sum(parts), moved)
    np.testing.assert_allclose(stats.variance, stats_of(X, y, weight).variance, rtol=TOLERANCE)


@pytest.mark.parametrize("unit", [1e-162, 1e-160, 1e-158, 1e-155, 1e-153])
def test_variances_below_the_normal_range_round_to_what_there_is(rng, unit):
    """A variance of 1e-320 has three digits; a merge may lose one unit of them."""
    X, y = rng.normal(size=(200, 2)) * unit, np.arange(200) % 3
    exact = exact_of(X, y)
    pieces = [stats_of(X[a : a + 7], y[a : a + 7]) for a in range(0, 200, 7)]
    for stats, merges in ((stats_of(X, y), 1), (sum(pieces), len(pieces))):
        for c, j in np.ndindex(3, 2):
            variance = exact.scatter[c][j] / exact.weight[c][j]
            wrong = abs(Fraction(stats.variance[c, j]) - variance)
            assert wrong <= Fraction(TOLERANCE) * variance + 2 * merges * Fraction(5e-324)


@pytest.mark.parametrize("k", [3, 9, 40])
@pytest.mark.parametrize("d", [1, 5, 8, 9, 20])
def test_renamed_classes_and_permuted_features_permute_scores(make_data, rng, k, d):
    X, y = make_data(2000, d, k)
    weight = rng.integers(1, 5, len(y))
    new, order = rng.permutation(k), rng.permutation(d)
    plain = GaussianNB(var_smoothing=0).fit(X, y, weight)
    renamed = GaussianNB(var_smoothing=0).fit(X, new[y], weight)
    names = [f"class {c:03}" for c in new]
    texts = GaussianNB(var_smoothing=0).fit(X, np.array(names)[y], weight)
    joint = plain.predict_joint_log_proba(X)
    for model in (renamed, texts):
        assert bits_of(model.stats_) == [
            getattr(plain.stats_, name)[np.argsort(new)].tobytes() for name in NAMES
        ] + [b""]
        assert model.predict_joint_log_proba(X)[:, new].tobytes() == joint.tobytes()
        np.testing.assert_allclose(
            model.predict_proba(X)[:, new], plain.predict_proba(X), rtol=1e-12, atol=1e-300
        )
    assert (renamed.predict(X) == new[plain.predict(X)]).all()
    assert (texts.predict(X) == np.array(names)[plain.predict(X)]).all()
    turned = GaussianNB(var_smoothing=0).fit(X[:, order], y, weight)
    for name in NAMES[1:]:
        own, other = getattr(plain.stats_, name), getattr(turned.stats_, name)
        assert other.tobytes() == own[:, order].tobytes()
    np.testing.assert_allclose(turned.predict_joint_log_proba(X[:, order]), joint, rtol=1e-13)


def test_weights_and_rows_whose_scatter_overflows_and_variance_does_not(rng):
    """One pass says what pieces of the rows say: the variance fits, the scatter alone does not."""
    X, y = rng.normal(size=(300, 2)) * [1e150, 1e-140], np.arange(300) % 3
    for weight in (np.full(300, 1e10), np.full(300, 1e50), rng.random(300) * 1e29):
        exact = exact_of(X, y, weight)
        pieces = (stats_of(X[i : i + 1], y[i : i + 1], weight[i : i + 1]) for i in range(300))
        assert_exact(stats_of(X, y, weight), exact)
        assert_exact(functools.reduce(ClassStats.__add__, pieces), exact)
    X[:, 0] *= 3e3  # the squares of a few hundred rows of weight 1
    missing = X.copy()
    missing[::5, 1] = np.nan
    assert_exact(stats_of(X, y), exact_of(X, y))
    assert_exact(stats_of(missing, y, missing="skip"), exact_of(missing, y))


def test_light_weights_keep_the_digits_of_small_variances(rng):
    X, y = rng.normal(size=(300, 2)) * 1e-130, np.arange(300) % 3
    for unit in (1e-29, 1e-35, 1e-58, 1e-200):
        weight = rng.random(300) * unit
        assert_exact(stats_of(X, y, weight), exact_of(X, y, weight))


def test_the_weight_of_a_class_of_missing_values_can_overflow_too():
    with pytest.raises(ValueError, match="sum of the weights overflows float64"):
        ClassStats.from_rows([[np.nan], [np.nan]], [0, 0], [1e308, 1e308], missing="skip")


def test_counts_with_missing_values_are_those_without():
    n = 3_000_000
    X, y, weight = np.zeros((n, 1), np.float32), np.zeros(n, np.int8), np.full(n, 0.1)
    plain, skip = (ClassStats.from_rows(X, y, weight, missing=m) for m in ("error", "skip"))
    assert skip.count.tobytes() == plain.count.tobytes()
    assert abs(Fraction(skip.count[0]) / (Fraction(0.1) * n) - 1) < TOLERANCE


# --- ten thousand partitions -----------------------------------------------------------------


@pytest.fixture(scope="module")
def partitions():
    """Rows at 1e6 sd, of 12 classes, in 10,000 partitions that hold three classes at most."""
    rng = np.random.default_rng(5)
    n, k = 60_000, 12
    X = np.rint(rng.normal(1e6, 1, size=(n, 3)) * 2**20) / 2**20
    y = rng.integers(0, k, n)
    X += y[:, None]
    part = rng.integers(0, 10_000, n)
    keep = (part + y * 5) % k < 4  # which classes a partition has
    X, y, part = X[keep], y[keep], part[keep]
    order = np.argsort(part, kind="stable")
    X, y, part = X[order], y[order], part[order]
    bounds = np.searchsorted(part, np.arange(10_001))
    stats = [ClassStats.from_rows(X[a:b], y[a:b]) for a, b in itertools.pairwise(bounds)]
    assert 1 < np.mean([len(s.classes) for s in stats]) < 6
    assert sum(len(s.classes) == 0 for s in stats) > 0
    return X, y, part, stats


@pytest.mark.promise("exact")
def test_ten_thousand_partitions_in_any_tree_are_one_pass(partitions):
    X, y, _, stats = partitions
    whole = ClassStats.from_rows(X, y)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        trees = [stats[i] for i in rng.permutation(len(stats))]
        while len(trees) > 1:
            i, j = (int(v * len(trees)) for v in rng.random(2) ** (1 + seed))
            if i != j:
                trees[i] = trees[i] + trees[j]
                trees[j] = trees[-1]
                trees.pop()
        assert_same_statistics(trees[0], whole)
        assert_exactly_rows(trees[0], X, y)


def test_ten_thousand_partitions_one_after_the_other(partitions):
    X, y, _, stats = partitions
    assert_same_statistics(sum(stats), ClassStats.from_rows(X, y))
    assert_exactly_rows(sum(stats), X, y)


@pytest.mark.promise("merging")
def test_partitions_taken_out_leave_the_others(partitions):
    """Half of the partitions, each merged before, in another order."""
    X, y, part, stats = partitions
    gone = np.random.default_rng(1).permutation(len(stats))[:5000]
    left = functools.reduce(lambda a, i: a - stats[i], gone, sum(stats))
    kept = ~np.isin(part, gone)
    assert_same_statistics(left, ClassStats.from_rows(X[kept], y[kept]), 1e-11)
    assert_exactly_rows(left, X[kept], y[kept], 1e-11)


def assert_same_statistics(got, want, tolerance=1e-12):
    assert got.classes.tolist() == want.classes.tolist()
    assert (got.count == want.count).all()
    np.testing.assert_allclose(got.mean, want.mean, rtol=tolerance)
    np.testing.assert_allclose(got.variance, want.variance, rtol=tolerance)


def assert_exactly_rows(stats, X, y, tolerance=1e-12):
    for c, j in ((0, 0), (7, 2)):
        exact = oracles.sums(X[y == c, j])
        assert stats.count[c] == exact.weight
        assert abs(Fraction(stats.mean[c, j]) / exact.mean - 1) < tolerance
        assert abs(Fraction(stats.scatter[c, j]) / exact.scatter - 1) < tolerance


# --- counts ----------------------------------------------------------------------------------


def exact_of_values(values, counts):
    """Exact mean and scatter of values that occur so many times."""
    pairs = [(Fraction(float(v)), int(c)) for v, c in zip(values, counts, strict=True) if c]
    total = sum(c for _, c in pairs)
    mean = sum(c * v for v, c in pairs) / total
    return mean, sum(c * (v - mean) ** 2 for v, c in pairs)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_counts_go_past_two_to_the_24(dtype):
    n = 2**24 + 1001
    X = (np.arange(n) % 251).astype(dtype)[:, None]
    stats = ClassStats.from_rows(X, np.zeros(n, np.bool_))
    mean, scatter = exact_of_values(range(251), np.bincount(np.arange(n) % 251))
    assert stats.count.tolist() == [n]
    assert abs(Fraction(stats.mean[0, 0]) / mean - 1) < TOLERANCE
    assert abs(Fraction(stats.scatter[0, 0]) / scatter - 1) < TOLERANCE
    more = stats.update(X[:1], [False]).update(X[:1], [False])
    assert more.count.tolist() == [n + 2]


@pytest.mark.parametrize("missing", ["error", "skip"])
def test_statistics_doubled_sixty_times_keep_their_moments(rng, missing):
    X, y = rng.normal(1e8, 1, size=(301, 3)), np.arange(301) % 2
    if missing == "skip":
        X[::7, 1] = np.nan
    once = stats = ClassStats.from_rows(X, y, missing=missing)
    for _ in range(60):
        stats = stats + stats
    for name in NAMES[1:]:
        assert getattr(stats, name).tobytes() == getattr(once, name).tobytes()
    assert (stats.count == once.count * 2.0**60).all()
    assert (stats.weight == once.weight * 2.0**60).all()
    half = stats - ClassStats.from_rows(X, y, np.full(301, 2.0**59), missing=missing)
    np.testing.assert_allclose(half.variance, once.variance, rtol=1e-12)
    assert (half.count == once.count * 2.0**59).all()


def test_a_row_more_than_two_to_the_53(rng):
    """The count cannot hold it, and the mean moves by less than float64 holds; mean_lo does."""
    X, y = rng.normal(5, 1, size=(4, 2)), np.zeros(4, int)
    many = ClassStats.from_rows(X, y)
    for _ in range(51):
        many = many + many
    row = np.array([[1e6, -3.0]])
    for both in (many.update(row, [0]), ClassStats.from_rows(row, [0]) + many):
        weight = np.r_[np.full(4, 2.0**51), 1.0]
        exact = oracles.class_stats(np.vstack([X, row]), np.zeros(5, int), weight)
        assert both.count.tolist() == [2.0**53]
        for j in range(2):
            mean = Fraction(both.mean[0, j]) + Fraction(both.mean_lo[0, j])
            moved = exact.mean[0][j] - oracles.sums(X[:, j]).mean
            first = Fraction(many.mean[0, j]) + Fraction(many.mean_lo[0, j])
            assert abs((mean - first) / moved - 1) < 1e-12
            variance = exact.scatter[0][j] / exact.weight[0][j]
            assert abs(Fraction(both.variance[0, j]) / variance - 1) < TOLERANCE


@pytest.mark.parametrize("light", [5e-324, 1e-310, 1e-300, 1.0])
@pytest.mark.parametrize("heavy", [1e-310, 1.0, 1e300])
def test_weights_as_small_and_large_as_there_are(rng, light, heavy):
    X, y = rng.normal(3, 2, size=(40, 2)), np.zeros(40, int)
    a, b = np.full(20, light), np.full(20, heavy)
    exact = oracles.class_stats(X, y, np.r_[a, b])
    one, two = ClassStats.from_rows(X[:20], y[:20], a), ClassStats.from_rows(X[20:], y[20:], b)
    for stats in (one + two, two + one, ClassStats.from_rows(X, y, np.r_[a, b])):
        assert_exact(stats, exact)
    assert_exact(one, oracles.class_stats(X[:20], y[:20], a))


# --- streams and files -----------------------------------------------------------------------


@settings(deterministic, max_examples=100)
@given(data(most=40), st.sampled_from([0.0, 1e-9, 0.3]), st.randoms(use_true_random=False))
def test_a_stream_has_the_exact_moments_and_smoothing_of_all_rows(rows, smoothing, random):
    X, y, weight = rows
    weight = np.where(weight > 0, 1.0 + np.arange(len(y)) % 3, 1.0)
    exact, epsilon = exact_of(X, y, weight), oracles.epsilon(X, smoothing, weight)
    if not epsilon:
        epsilon = Fraction(smoothing)  # nothing varies
    cuts = sorted(set(random.choices(range(1, len(X) + 1), k=random.randint(0, 9))) | {len(X)})
    stream = GaussianNB(var_smoothing=smoothing)
    for a, b in itertools.pairwise([0, *cuts]):
        stream.partial_fit(X[a:b], y[a:b], [0, 1, 2], weight[a:b])
    for model in (stream, GaussianNB(var_smoothing=smoothing).fit_stats(stats_of(X, y, weight))):
        assert abs(Fraction(model.epsilon_) - epsilon) <= Fraction(1e-12) * epsilon
        for c, j in np.ndindex(model.var_.shape):
            total = exact.weight[c][j]
            variance = (exact.scatter[c][j] / total if total else 0) + epsilon
            assert abs(Fraction(model.var_[c, j]) - variance) <= Fraction(1e-12) * variance
        for c, prior in enumerate(model.class_prior_):
            assert abs(Fraction(prior) - exact.count[c] / sum(exact.count)) < 1e-15


@pytest.mark.promise("exact")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("missing", ["error", "skip"])
@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy"])
def test_files_give_the_bits_of_arrays(rng, tmp_path, ending, missing, dtype):
    """In one batch; and in many, what a stream of these gives."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    X = (rng.normal(1e4, 3, size=(3001, 5))).astype(dtype)
    y, weight = rng.integers(0, 4, len(X)), rng.random(len(X))
    if missing == "skip":
        X[rng.random(X.shape) < 0.1] = np.nan
    path = tmp_path / f"rows.{ending}"
    names = [f"f{j}" for j in range(X.shape[1])]
    table = pa.table({**dict(zip(names, X.T, strict=True)), "y": y, "w": weight})
    options = ["--target", "y", "--weight", "w"]
    if ending == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif ending == "arrow":
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    else:
        np.save(path, X)
        np.save(tmp_path / "labels.npy", y)
        weight, options = None, ["--target-npy", str(tmp_path / "labels.npy")]
    for size in (len(X), 100):
        model = tmp_path / f"model{size}"
        argv = ["fit", str(path), *options, "--missing", missing, "--quiet", "--model", str(model)]
        assert main([*argv, "--batch-rows", str(size)]) == 0
        api = GaussianNB(missing=missing)
        for a in range(0, len(X), size):
            w = None if weight is None else weight[a : a + size]
            api.partial_fit(X[a : a + size], y[a : a + size], np.arange(4), sample_weight=w)
        saved = persist.read(model).model
        assert bits_of(saved.stats) == bits_of(api.stats_)
        assert saved.moments.var.tobytes() == api.var_.tobytes()
        assert saved.moments.theta.tobytes() == api.theta_.tobytes()


# --- long arrays -----------------------------------------------------------------------------


def two_values(n, value):
    """Rows whose squares all round to one side when they are summed, and their exact moments."""
    X = np.zeros((n, 1), np.float32)
    X[1::2] = value
    return X, exact_of_values([0.0, X[1, 0]], [n - n // 2, n // 2])


@pytest.mark.parametrize(
    ("n", "values"),
    [
        (3_000_000, (0.6, 0.9)),
        pytest.param(300_000_000, (0.6, 1 / 3), marks=pytest.mark.slow),
    ],
)
def test_long_arrays_are_as_exact_as_short_ones(n, values):
    """The error must not grow with the number of rows, also where roundings do not cancel."""
    coded = EncodedLabels.from_codes(np.zeros(n, np.int32))
    for value in values:
        X, (mean, scatter) = two_values(n, value)
        for k in (1, 5):  # a class in registers, and among records
            sums = accumulate(X, coded, None, k)
            assert sums.weight[0, 0] == n
            assert abs(Fraction(sums.mean[0, 0]) / mean - 1) < TOLERANCE
            assert abs(Fraction(sums.scatter[0, 0]) / scatter - 1) < TOLERANCE


@pytest.mark.promise("exact")
@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("d", [1, 3])
def test_fifty_million_values_are_exact(order, d):
    """Whole numbers, whose sums can be known without rounding."""
    n = 50_000_000 // d
    rng = np.random.default_rng(d)
    X = np.asarray(rng.integers(-128, 128, (n, d), np.int8), order=order)
    y = rng.integers(0, 3, n, np.int8)
    for rows in (X, X.astype(np.float32, order=order)):
        stats = ClassStats.from_rows(rows, y)
        for c in range(3):
            for j in range(d):
                counts = np.bincount(X[y == c, j].view(np.uint8), minlength=256)
                values = np.arange(256).astype(np.uint8).view(np.int8)
                mean, scatter = exact_of_values(values, counts)
                assert stats.count[c] == counts.sum()
                # The mean of these is near 0, so its error is counted in standard deviations.
                assert abs(Fraction(stats.mean[c, j]) - mean) < TOLERANCE * 74
                assert abs(Fraction(stats.scatter[c, j]) / scatter - 1) < TOLERANCE


@pytest.mark.slow
def test_many_updates_by_one_row_keep_thirteen_digits(rng):
    X = rng.normal(1e6, 1, size=(250_000, 1))
    X = np.rint(X * 2**20) / 2**20
    y = np.zeros(1, int)
    stats = ClassStats.from_rows(X[:1], y)
    for i in range(1, len(X)):
        stats = stats.update(X[i : i + 1], y)
    base = int(X[0, 0] * 2**20)
    off = [int(v) - base for v in (X[:, 0] * 2**20).tolist()]
    one, two = sum(off), sum(v * v for v in off)
    n = len(off)
    mean = Fraction(base * n + one, n * 2**20)
    scatter = Fraction(two * n - one * one, n * 2**40)
    assert stats.count.tolist() == [n]
    assert abs(Fraction(stats.mean[0, 0]) / mean - 1) < TOLERANCE
    assert abs(Fraction(stats.scatter[0, 0]) / scatter - 1) < TOLERANCE
