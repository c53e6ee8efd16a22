"""Statistics: layouts, types, certified sums, bad input, and the ends of the ranges."""

from __future__ import annotations

import importlib.resources
import itertools
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stats_cases import TOLERANCE, errors, offset_rows, parts

from fastgnb import ClassStats


def test_layouts_give_the_same_bits(rng, tmp_path):
    X, y = offset_rows(rng, 5003, 1e3)
    wide = np.empty((len(X), 7))
    wide[:, 1:7:2] = X
    np.save(tmp_path / "x.npy", X)
    unaligned = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float64)
    readonly = X.copy()
    readonly.flags.writeable = False
    views = {
        "fortran": np.asfortranarray(X),
        "strided": wide[:, 1:7:2],
        "backwards": X[::-1].copy()[::-1],
        "read-only": readonly,
        "memory map": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "big-endian": X.astype(">f8"),
        "unaligned": unaligned.reshape(X.shape),
    }
    want = ClassStats.from_rows(X, y)
    for name, view in views.items():
        got = ClassStats.from_rows(view, y)
        assert got.mean.tobytes() == want.mean.tobytes(), name
        assert got.variance.tobytes() == want.variance.tobytes(), name


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "f2", "f4", "?", "g"])
def test_types_are_summed_exactly(rng, dtype):
    X = (rng.integers(0, 100, size=(4500, 3))).astype(dtype)
    y = np.arange(4500) % 4
    exact = oracles.class_stats(X.astype(np.float64), y)
    for rows in (X, np.asfortranarray(X)):
        assert max(errors(ClassStats.from_rows(rows, y), exact)) < TOLERANCE


def nist(name):
    """Level, response and certified values of one of NIST's one-way ANOVA data sets."""
    text = (
        importlib.resources.files("scipy.stats.tests") / "data" / "nist_anova" / f"{name}.dat"
    ).read_text()
    rows = text[text.rindex("Data:  ") :].splitlines()[1:]
    data = np.array([[float(v) for v in row.split()] for row in rows if row.strip()])
    certified = [
        float(re.search(rf"{label} +\d+ +(\S+)", text).group(1))
        for label in ("Between \\w+", "Within \\w+")
    ]
    return data[:, 0].astype(int), data[:, 1:], certified


@pytest.mark.promise("exact")
@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("SiRstv", 1e-10),
        ("AtmWtAg", 1e-8),
        *((f"SmLs0{i}", 1e-13) for i in (1, 2, 3)),
        *((f"SmLs0{i}", 1e-8) for i in (4, 5, 6)),
        *((f"SmLs0{i}", 1e-2) for i in (7, 8, 9)),
    ],
)
def test_nist_certified_sums_of_squares(name, tolerance):
    """The tolerance is for the decimals that were lost when the data became float64; what is left
    is exact, as the rationals show.
    """
    y, X, (between, within) = nist(name)
    stats = ClassStats.from_rows(X, y)
    assert abs(stats.between()[0] / between - 1) < tolerance
    assert abs(stats.within()[0] / within - 1) < tolerance
    exact = oracles.class_stats(X, y)
    assert max(errors(stats, exact)) < TOLERANCE


@pytest.mark.promise("exact")
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.integers(0, 2), st.sampled_from([0.0, 0.25, 1.0, 3.0])),
        min_size=1,
        max_size=40,
    ),
    st.lists(st.integers(0, 40), max_size=4),
)
def test_any_chunking_and_order_is_one_pass(rows, cuts):
    X = np.array([[r[0]] for r in rows])
    y, weight = np.array([r[1] for r in rows]), np.array([r[2] for r in rows])
    exact = oracles.class_stats(X, y, weight, classes=[0, 1, 2])
    bounds = sorted({0, len(X), *(c for c in cuts if c < len(X))})
    parts = [
        ClassStats.from_rows(X[a:b], y[a:b], weight[a:b], classes=[0, 1, 2])
        for a, b in itertools.pairwise(bounds)
    ]
    size = max(abs(X).max(), 1e-300)
    for stats in (sum(parts), sum(reversed(parts))):
        for c in range(3):
            assert oracles.relative_error(stats.count[c], exact.count[c]) < 1e-14
            mean = float(exact.mean[c][0])
            assert abs(stats.mean[c, 0] - mean) < 1e-14 * size
            scatter = float(exact.scatter[c][0])
            assert abs(stats.scatter[c, 0] - scatter) <= 1e-12 * scatter + 1e-26 * size**2


@pytest.mark.parametrize(
    ("X", "y", "keywords", "error", "message"),
    [
        ([1.0, 2.0], [0, 1], {}, ValueError, "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 0)), [0, 1], {}, ValueError, r"Found array with 0 feature\(s\)"),
        ([[1j]], [0], {}, ValueError, "Complex data not supported"),
        ([["a"]], [0], {}, ValueError, "Expected numeric rows, got dtype"),
        ([[1.0]], [0, 1], {}, ValueError, r"inconsistent numbers of samples: \[1, 2\]"),
        ([[1.0]], [[0]], {}, ValueError, "y should be a 1d array, got an array of shape"),
        ([[1.0], [np.nan]], [0, 1], {}, ValueError, "contains NaN: the value in row 1, column 0"),
        ([[1.0, np.inf]], [0], {}, ValueError, "contains infinity: the value in row 0, column 1"),
        ([[np.inf]], [0], {"missing": "skip"}, ValueError, "not finite or missing"),
        ([[1e200], [-1e200]], [0, 0], {}, ValueError, "variance overflows float64. Scale it down"),
        ([[1.0]], [0], {"missing": "drop"}, ValueError, "missing must be 'error' or 'skip'"),
        ([[1.0]], [2], {"classes": [0, 1]}, ValueError, r"label\(s\) \[2\] in y do not exist"),
        ([[1.0]], [0], {"feature_names": ["a", "b"]}, ValueError, "Expected 1 feature names"),
        ([[1.0]], [0], {"sample_weight": [-1.0]}, ValueError, "weight -1.0 of row 0"),
        ([[1.0]], [0], {"sample_weight": [np.nan]}, ValueError, "sample_weight contains NaN"),
        ([[1.0]], [0], {"sample_weight": [1, 2]}, ValueError, r"sample_weight.shape == \(2,\)"),
        ([[1.0]], [0], {"sample_weight": [[1]]}, ValueError, "must be 1D array or scalar"),
        ([[1.0]], [0], {"sample_weight": ["x"]}, ValueError, "Expected numeric sample_weight"),
    ],
)
def test_bad_input(X, y, keywords, error, message):
    with pytest.raises(error, match=message):
        ClassStats.from_rows(X, y, **keywords)


def test_sparse_rows_are_refused():
    import scipy.sparse

    with pytest.raises(TypeError, match="dense data is required"):
        ClassStats.from_rows(scipy.sparse.csr_matrix(np.eye(2)), [0, 1])


def test_nullable_frames():
    import pandas as pd

    frame = pd.DataFrame(
        {"a": pd.array([1, None], "Int64"), "b": pd.array([True, None], "boolean")}
    )
    stats = ClassStats.from_rows(frame, [0, 0], missing="skip")
    assert stats.feature_count.tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="contains NaN: the value in row 1, column 0"):
        ClassStats.from_rows(frame, [0, 0])


def test_frames_bring_their_names():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {"u": [1.0, 2.0], "v": [3, 4]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        stats = ClassStats.from_rows(frame, [0, 1])
        assert stats.feature_names == ("u", "v")
        assert stats.mean.tolist() == [[1, 3], [2, 4]]


def test_repr_and_frozen():
    stats = ClassStats.from_rows([[1.0]], ["a"])
    assert repr(stats) == "<ClassStats: 1 classes, 1 features, total weight 1>"
    with pytest.raises(AttributeError, match="cannot assign"):
        stats.count = 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_small_shape_and_layout(rng, dtype):
    """Tails of rows and features, and few classes and many, have paths of their own."""
    for n in (*range(1, 19), 63, 64, 65, 80, 130):
        for d in (1, 3, 4, 7, 8, 9, 16, 17, 26):
            k = int(rng.integers(1, 8))
            X = (rng.normal(size=(n, d)) * 3 + 100).astype(dtype)
            y = rng.integers(0, k, n)
            stats = ClassStats.from_rows(X, y)
            for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
                again = ClassStats.from_rows(other, y)
                for name in ("count", "mean", "mean_lo", "variance"):
                    assert (getattr(again, name) == getattr(stats, name)).all()
            for c, label in enumerate(stats.classes):
                rows = X[y == label].astype(np.longdouble)
                assert stats.count[c] == len(rows)
                mean = rows.mean(axis=0)
                np.testing.assert_allclose(stats.mean[c], mean.astype(float), rtol=4e-16)
                exact = ((rows - mean) ** 2).mean(axis=0).astype(float)
                np.testing.assert_allclose(stats.variance[c], exact, rtol=1e-13, atol=1e-26)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
def test_classes_at_both_ends_of_float64_do_not_meet(k):
    ends = np.array([1.7e308, -1.7e308, 1.7e308, -1.7e308, 1.6e308, -1.6e308])[:k]
    y = np.arange(40) % k
    X = np.column_stack([ends[y], y])
    stats = ClassStats.from_rows(X, y)
    assert (stats.mean == np.column_stack([ends, np.arange(k)])).all()
    assert (stats.variance == 0).all()


def test_what_loses_no_rows_keeps_its_bits_and_what_loses_all_is_empty(rng):
    X, y = rng.normal(size=(60, 3)) + 5, np.arange(60) % 3
    whole = ClassStats.from_rows(X[:30], y[:30]) + ClassStats.from_rows(X[30:], y[30:])
    assert (whole.mean_lo != 0).any()
    left = whole - ClassStats.from_rows(X[y == 1], y[y == 1])
    for mine, before in zip(parts(left), parts(whole), strict=True):
        np.testing.assert_array_equal(mine[[0, 2]], before[[0, 2]])
        assert not mine[1].any()
        assert mine.dtype == np.float64


def test_features_that_lose_nothing_keep_their_bits_where_values_are_missing(rng):
    X = rng.normal(size=(40, 3)) + 2
    bad = X[:10].copy()
    bad[:, 1] = np.nan
    X[:10, 1] = np.nan
    whole = ClassStats.from_rows(X, np.zeros(40, int), missing="skip")
    left = whole - ClassStats.from_rows(bad, np.zeros(10, int), missing="skip")
    np.testing.assert_array_equal(left.feature_count, [[30, 30, 30]])
    for mine, before in zip(parts(left)[1:], parts(whole)[1:], strict=True):
        assert mine[0, 1] == before[0, 1]
        assert mine[0, 0] != before[0, 0]


def test_what_is_left_after_subtracting_has_both_parts_of_its_mean(rng):
    """mean + mean_lo hold about 30 digits, also after rows were taken out."""
    X = rng.normal(size=(64, 2)) * 1e-3 + 1e6
    y = np.zeros(64, int)
    whole = ClassStats.from_rows(X, y)
    left = whole - ClassStats.from_rows(X[:32], y[:32])
    for j in range(2):
        exact = sum(map(Fraction, X[32:, j].tolist())) / 32
        mean = Fraction(float(left.mean[0, j])) + Fraction(float(left.mean_lo[0, j]))
        assert abs(mean - exact) < exact * Fraction(1, 10**19)
        assert abs(Fraction(float(left.mean[0, j])) - exact) <= abs(exact) / 2**52


def test_more_values_than_rows_cannot_be_left():
    X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 7.0]])
    whole = ClassStats.from_rows(X, [0, 0, 0], missing="skip")
    other = ClassStats.from_rows([[1.0, np.nan], [3.0, np.nan]], [0, 0], missing="skip")
    text = (
        "Cannot subtract statistics of rows that were not added: more values than rows would be "
        "left."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        whole - other
    one = ClassStats.from_rows([[3.0, np.nan]], [0], missing="skip")
    np.testing.assert_array_equal((whole - one).feature_count, [[2, 2]])


def test_a_scatter_that_cannot_have_been_inside_is_found_however_small():
    """The slack is of the size of rounding: 1e-12 of the largest scatter, not more."""
    y = np.zeros(4, int)
    whole = ClassStats.from_rows(np.array([[0.0], [2.0], [4.0], [6.0]]), y)
    inside = ClassStats.from_rows(np.array([[0.0], [6.0]]), y[:2])
    np.testing.assert_allclose((whole - inside).variance, [[1.0]], rtol=1e-13)
    outside = ClassStats.from_rows(np.array([[-1e-6], [6.0]]), y[:2])
    np.testing.assert_allclose((whole - outside).mean, [[3 + 5e-7]], rtol=1e-12)  # it could be
    for rows in ([[-2.0], [8.0]], [[-0.5], [6.5]]):
        with pytest.raises(ValueError, match="class 0, feature 0 would be left with negative"):
            whole - ClassStats.from_rows(np.array(rows), y[:2])
    with pytest.raises(ValueError, match=r"other rows .* rows that were not added"):
        whole - ClassStats.from_rows(np.array([[0.0], [2.0], [4.0], [6.00001]]), y)


def test_weights_whose_difference_is_rounding_are_none_and_whole_ones_are_exact():
    weights = np.full(10, 0.1)
    X, y = np.arange(10.0)[:, None], np.zeros(10, int)
    whole = ClassStats.from_rows(X, y, weights)
    for i in range(10):
        whole = whole - ClassStats.from_rows(X[i : i + 1], y[:1], weights[:1])
    assert whole.count[0] == 0
    one = ClassStats.from_rows([[0.0]], [0])
    huge = replace(one, count=np.array([2.0**52]), variance=np.ones((1, 1)))
    assert (huge - one).count[0] == 2.0**52 - 1
    text = (
        "Cannot subtract more weight than was added: the statistics on the right are not of rows "
        "among those on the left."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        one - huge


def test_sums_start_from_zero_and_nothing_else(rng):
    stats = ClassStats.from_rows(rng.normal(size=(4, 2)), [0, 0, 1, 1])
    assert 0 + stats is stats
    for other in (5, "a", None):
        with pytest.raises(TypeError):
            other + stats


def test_light_classes_keep_what_they_have(rng):
    """A class of weight below 1, of which nothing or a part is taken."""
    X, y = rng.normal(size=(12, 2)) + 1e6, np.arange(12) % 2
    w = np.full(12, 2.0**-6)
    whole = ClassStats.from_rows(X, y, w)
    untouched = whole - ClassStats.from_rows(X[1::4], y[1::4], w[1::4])  # of class 1 alone
    for name in ("mean", "variance", "mean_lo"):
        assert np.array_equal(getattr(untouched, name)[0], getattr(whole, name)[0])
    rest = np.setdiff1d(np.arange(12), np.arange(12)[1::4])
    exact = oracles.class_stats(X[rest], y[rest], w[rest])
    assert oracles.relative_error(untouched.mean, exact.mean) < 1e-15
    assert oracles.relative_error(untouched.scatter, exact.scatter) < 1e-9


def test_update_skips_what_the_statistics_skip(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    X[15, 1] = np.nan
    stats = ClassStats.from_rows(X[:10], y[:10], missing="skip").update(X[10:], y[10:])
    assert stats.feature_count.tolist() == [[10, 10], [10, 9]]
    with pytest.raises(ValueError, match=r"Input X contains NaN: .* missing='skip' leaves missing"):
        ClassStats.from_rows(X[:10], y[:10]).update(X[10:], y[10:])


@pytest.mark.parametrize("weight", [0.5, 1.0, 1e-3])
@pytest.mark.parametrize("row", [0, 4095, 4096, 9000])
def test_the_first_row_that_counts_is_named(rng, weight, row):
    X, y = rng.normal(size=(9001, 1)), np.arange(9001) % 2
    w = np.full(9001, weight)
    X[row] = X[-1] = np.inf
    X[: row // 2] = np.nan  # of rows that do not count
    w[: row // 2] = 0.0
    with pytest.raises(ValueError, match=rf"infinity: the value in row {row}, column 0 is not"):
        ClassStats.from_rows(X, y, w)


def test_names_that_are_no_list_and_names_twice(rng):
    X, y = rng.normal(size=(4, 2)), [0, 0, 1, 1]
    with pytest.raises(TypeError, match="Expected feature names, each of them text, got 'ab'"):
        ClassStats.from_rows(X, y, feature_names="ab")
    X = rng.normal(size=(4, 3))
    with pytest.raises(ValueError, match="Expected distinct feature names, got more than one 'b'"):
        ClassStats.from_rows(X, y, feature_names=["a", "b", "b"])


def test_collapsing_keeps_names_and_counts(rng):
    X, y = rng.normal(size=(9, 2)), np.arange(9) % 3
    X[4, 1] = np.nan
    stats = ClassStats.from_rows(X, y, missing="skip", feature_names=["a", "b"])
    whole = stats.as_one_class()
    assert whole.classes.tolist() == [0]
    assert whole.classes.dtype == np.int64
    assert whole.count.tolist() == [9]
    assert whole.feature_count.tolist() == [[9, 8]]
    assert whole.feature_names == ("a", "b")
    plain = ClassStats.from_rows(X[:4], y[:4], feature_names=["a", "b"]).as_one_class()
    assert plain.feature_count is None
    assert plain.feature_names == ("a", "b")


def test_extreme_weights_of_values_that_overflow(rng):
    """Weights are scaled twice: as they are extreme, and as variances overflow in sum."""
    X, y = rng.normal(size=(40, 1)) * 1e150, np.arange(40) % 2
    w = np.ldexp(rng.random(40) + 0.5, 200)
    stats = ClassStats.from_rows(X, y, w)
    exact = oracles.class_stats(X, y, w)
    assert oracles.relative_error(stats.count, exact.count) < 1e-15
    wanted = [[s / c for s in row] for row, c in zip(exact.scatter, exact.count, strict=True)]
    assert oracles.relative_error(stats.variance, wanted) < 1e-13
