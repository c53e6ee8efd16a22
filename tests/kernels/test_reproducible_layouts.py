"""The same answer wherever numbers lie in memory, and whatever rows lie beside a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from same_cases import bits_of

from fastgnb import ClassStats, GaussianNB
from fastgnb._numba import threads
from fastgnb.estimate.parameters import GaussianParams
from fastgnb.model.scoring import score

pytestmark = pytest.mark.no_new_lines
METHODS = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence",
)  # fmt: skip


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
