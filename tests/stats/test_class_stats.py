"""ClassStats against exact rationals, certified values and its own algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from stats_cases import TOLERANCE, errors, offset_rows

from fastgnb import ClassStats


@pytest.mark.promise("exact")
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("order", ["random", "by class"])
def test_mean_and_scatter_are_exact_to_1e13(rng, offset, order):
    X, y = offset_rows(rng, 5000, offset)
    if order == "by class":
        o = np.argsort(y, kind="stable")
        X, y = X[o], y[o]
    exact = oracles.class_stats(X, y)
    whole = ClassStats.from_rows(X, y)
    pieces = [ClassStats.from_rows(X[a : a + 37], y[a : a + 37]) for a in range(0, len(X), 37)]
    stream = ClassStats.from_rows(X[:1], y[:1])
    for a in range(1, len(X), 501):
        stream = stream.update(X[a : a + 501], y[a : a + 501])
    for stats in (whole, sum(pieces), sum(reversed(pieces)), stream):
        assert max(errors(stats, exact)) < TOLERANCE
        assert oracles.relative_error(stats.count, exact.count) == 0


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_float32_rows_are_summed_in_float64(rng, offset):
    X, y = offset_rows(rng, 5000, offset, np.float32)
    exact = oracles.class_stats(X, y)
    merged = ClassStats.from_rows(X[:777], y[:777]) + ClassStats.from_rows(X[777:], y[777:])
    for stats in (ClassStats.from_rows(X, y), merged):
        assert max(errors(stats, exact)) < TOLERANCE
        assert stats.mean.dtype == stats.scatter.dtype == stats.count.dtype == np.float64


@pytest.mark.compiled
def test_three_million_float32_rows_at_mean_1000(rng):
    X = rng.normal(1000, 1, size=(3_000_000, 1)).astype(np.float32)
    stats = ClassStats.from_rows(X, np.zeros(len(X), int))
    assert abs(stats.variance[0, 0] - 1) < 5e-3
    assert abs(stats.variance[0, 0] / X.astype(np.float64).var() - 1) < 1e-10


@pytest.mark.promise("exact")
@pytest.mark.parametrize(
    "make",
    [
        lambda rng, X: np.where(np.arange(len(X))[:, None] == 0, 1e6, X),  # outlier first
        lambda rng, X: np.where(np.arange(len(X))[:, None] < 2500, X, X + 1e7),  # a jump
        lambda rng, X: np.where(rng.random(X.shape) < 0.3, 0.1, 0.7),  # two values only
        lambda rng, X: X + np.arange(len(X))[:, None] * 100.0,  # drift
        lambda rng, X: X * 2.0**-180,
        lambda rng, X: X * 2.0**180,
    ],
    ids=["outlier", "jump", "two values", "drift", "tiny", "huge"],
)
def test_hard_streams(rng, make):
    X = make(rng, rng.normal(size=(5000, 2)) + 5)
    y = np.arange(5000) % 2
    assert max(errors(ClassStats.from_rows(X, y), oracles.class_stats(X, y))) < TOLERANCE


def test_constant_values_have_no_scatter():
    stats = ClassStats.from_rows(np.full((7, 1), 0.1), np.zeros(7, int))
    for n in (1, 5, 300, 4096):
        stats = stats.update(np.full((n, 1), 0.1), np.zeros(n, int))
    assert stats.scatter[0, 0] == 0
    assert stats.mean[0, 0] == 0.1


@pytest.mark.parametrize("missing", ["error", "skip"])
def test_weights_and_missing_values(rng, missing):
    X, y = offset_rows(rng, 3000, 1e8)
    weight = rng.random(3000) * (rng.random(3000) < 0.9)
    if missing == "skip":
        X[rng.random(X.shape) < 0.3] = np.nan
        X[y == 2, 0] = np.nan  # never there
    exact = oracles.class_stats(X, y, weight)
    cuts = range(0, 3000, 401)
    parts = [
        ClassStats.from_rows(X[a : a + 401], y[a : a + 401], weight[a : a + 401], missing=missing)
        for a in cuts
    ]
    for stats in (ClassStats.from_rows(X, y, weight, missing=missing), sum(parts)):
        assert max(errors(stats, exact)) < TOLERANCE
        assert oracles.relative_error(stats.count, exact.count) < TOLERANCE
        assert (stats.feature_count is not None) == (missing == "skip")
        wanted = exact.weight if missing == "skip" else [[row[0]] for row in exact.weight]
        assert oracles.relative_error(stats.weight, wanted) < TOLERANCE


def test_skip_without_missing_values_is_the_plain_result(rng):
    X, y = offset_rows(rng, 3000, 10.0)
    plain, skip = ClassStats.from_rows(X, y), ClassStats.from_rows(X, y, missing="skip")
    np.testing.assert_allclose(skip.scatter, plain.scatter, rtol=1e-13)
    np.testing.assert_allclose((plain + skip).scatter, (skip + plain).scatter, rtol=1e-13)
    assert (plain + skip).feature_count is not None


@pytest.mark.parametrize("scale", [1e-323, 1e-310, 1e-200, 1e200, 1e305])
def test_only_ratios_of_weights_matter(rng, scale):
    X, y = offset_rows(rng, 400, 10.0)
    whole = rng.integers(1, 5, 400).astype(float)
    plain, scaled = ClassStats.from_rows(X, y, whole), ClassStats.from_rows(X, y, whole * scale)
    np.testing.assert_allclose(scaled.mean, plain.mean, rtol=1e-14)
    np.testing.assert_allclose(scaled.variance, plain.variance, rtol=1e-13)
    halves = [ClassStats.from_rows(X[i::2], y[i::2], whole[i::2] * scale) for i in (0, 1)]
    np.testing.assert_allclose(sum(halves).variance, plain.variance, rtol=1e-13)
    one = ClassStats.from_rows(X, y, np.where(y == 1, whole * scale, whole))
    np.testing.assert_allclose(one.variance, plain.variance, rtol=1e-13)


def light_and_far(rng):
    """Streams whose first rows are so far or light that the others must not be rounded to them."""
    near = rng.normal(1, 1, size=(1000, 1))
    for first, weight in [(1e10, 1e-20), (1e8, 1e-14), (1e20, 1e-40), (1e30, 1e-60), (1e6, 1.0)]:
        yield np.vstack([[[first], [-first]], near]), np.r_[[weight] * 2, np.ones(1000)]


def test_a_light_side_however_far_rounds_nothing_away(rng):
    for X, weight in light_and_far(rng):
        y = np.zeros(len(X), int)
        a, b = (ClassStats.from_rows(X[i], y[i], weight[i]) for i in (slice(2), slice(2, None)))
        exact = oracles.class_stats(X, y, weight)
        for stats in (a + b, b + a, ClassStats.from_rows(X, y, weight)):
            assert max(errors(stats, exact)) < TOLERANCE


@pytest.mark.parametrize("at", [0, 300, 2500])
def test_a_light_outlier_first_of_its_class(rng, at):
    """Rows of class 1 begin at `at`, inside the first guess of the means, after it, or in a later
    block, with an outlier of hardly any weight.
    """
    for outlier, weight in [
        (1e14, 1.0),
        (1e8, 1e-12),
        (1e20, 1e-40),
        (1e30, 1e-60),
        (1e200, 1e-300),
    ]:
        X, y, w = rng.normal(3, 1, size=(9000, 1)), np.zeros(9000, int), np.ones(9000)
        y[at::2] = 1
        X[at], w[at] = outlier, weight
        stats = ClassStats.from_rows(X, y, w)
        assert max(errors(stats, oracles.class_stats(X, y, w))) < TOLERANCE


@pytest.mark.compiled
def test_many_classes_are_summed_as_exactly(rng):
    X = np.where(rng.random((60_000, 1)) < 0.3, 0.1, -0.1)
    y, w = np.zeros(60_000, int), np.full(60_000, 0.1)
    for weight in (None, w):
        stats = ClassStats.from_rows(X, y, weight, classes=np.arange(5000))
        exact = oracles.class_stats(X, y, weight)
        assert oracles.relative_error(stats.scatter[0], exact.scatter[0]) < TOLERANCE
        assert oracles.relative_error(stats.count[0], exact.count[0]) < TOLERANCE


def test_what_overflows_is_an_error():
    X, y = [[1.0], [2.0]], [0, 0]
    with pytest.raises(ValueError, match=r"sum of the weights overflows float64. Scale them down"):
        ClassStats.from_rows(X, y, [1e308, 1e308])
    heavy = ClassStats.from_rows(X, y, [8e307, 8e307])
    with pytest.raises(ValueError, match="sum of the weights overflows"):
        heavy + heavy
    a, b = (ClassStats.from_rows([[v]], [0]) for v in (1e200, -1e200))
    with pytest.raises(ValueError, match="Feature 0 spans values so far apart"):
        a + b
    light = ClassStats.from_rows([[1e200]], [0], [1e-300])
    both = light + ClassStats.from_rows([[0.0], [1.0]], [0, 0])
    assert abs(both.variance[0, 0] / 5e99 - 1) < 1e-12


def test_rows_of_weight_zero_are_not_there(rng):
    X, y = offset_rows(rng, 500, 1.0)
    weight = (np.arange(500) % 3 > 0).astype(float)
    filled = X.copy()
    filled[weight == 0] = [1e300, np.nan, -np.inf]
    kept = ClassStats.from_rows(X[weight > 0], y[weight > 0])
    stats = ClassStats.from_rows(filled, y, weight)
    np.testing.assert_allclose(stats.scatter, kept.scatter, rtol=1e-13)
    assert (stats.count == kept.count).all()


@pytest.mark.promise("merging")
def test_merge_is_commutative_associative_and_has_an_identity(rng):
    X, y = offset_rows(rng, 900, 100.0)
    a, b, c = (ClassStats.from_rows(X[i::3], y[i::3]) for i in range(3))
    empty = ClassStats.from_rows(X[:0], y[:0])
    np.testing.assert_allclose((a + b).scatter, (b + a).scatter, rtol=1e-13)
    np.testing.assert_allclose(((a + b) + c).scatter, (a + (b + c)).scatter, rtol=1e-13)
    for same in (a + empty, empty + a, sum([a]), a + ClassStats.from_rows(X[:3], y[:3], 0.0)):
        for name in ("classes", "count", "mean", "variance", "mean_lo"):
            assert getattr(same, name).tobytes() == getattr(a, name).tobytes()


def test_classes_are_aligned_by_label_over_the_union():
    a = ClassStats.from_rows([[0.0], [2.0], [9.0]], ["b", "b", "d"])
    b = ClassStats.from_rows([[4.0], [7.0]], ["b", "a"])
    both = a + b
    assert both.classes.tolist() == ["a", "b", "d"]
    assert both.count.tolist() == [1, 3, 1]
    assert both.mean[:, 0].tolist() == [7, 2, 9]
    assert both.scatter[:, 0].tolist() == [0, 8, 0]
    wider = ClassStats.from_rows([[1.0]], ["a much longer label"]) + a
    assert wider.classes.tolist() == ["a much longer label", "b", "d"]


def test_scatter_decomposes_into_within_and_between(rng):
    X, y = offset_rows(rng, 2000, 50.0)
    weight = rng.random(2000)
    stats = ClassStats.from_rows(X, y, weight)
    total = [oracles.sums(X[:, j], weight).scatter for j in range(3)]
    exact = oracles.class_stats(X, y, weight)
    within = [sum((row[j] for row in exact.scatter), Fraction(0)) for j in range(3)]
    assert oracles.relative_error(stats.total(), total) < TOLERANCE
    assert oracles.relative_error(stats.within(), within) < TOLERANCE
    between = [a - b for a, b in zip(total, within, strict=True)]
    assert oracles.relative_error(stats.between(), between) < TOLERANCE


@pytest.mark.promise("merging")
def test_subtracting_takes_rows_out_again(rng):
    X, y = offset_rows(rng, 3000, 1e4)
    weight = rng.random(3000)
    kept, gone = np.arange(3000) < 2000, np.arange(3000) >= 2000
    whole = ClassStats.from_rows(X, y, weight)
    left = whole - ClassStats.from_rows(X[gone], y[gone], weight[gone])
    exact = oracles.class_stats(X[kept], y[kept], weight[kept])
    assert max(errors(left, exact)) < 1e-12
    nothing = whole - whole
    assert (nothing.count == 0).all()
    assert (nothing.scatter == 0).all()
    alone = whole - ClassStats.from_rows(X[y == 1], y[y == 1], weight[y == 1])
    assert alone.count[1] == 0
    assert alone.scatter[0].tolist() == whole.scatter[0].tolist()


def test_unlearning_rows_one_by_one(rng):
    """What is left has the rounding of what was there, and that is never taken for an error."""
    for scale in (1.0, 1e3):
        for size in (3, 20):
            X, y = rng.normal(5 * scale, 1, size=(size, 2)), np.zeros(size, int)
            left = sum(ClassStats.from_rows(X[i : i + 1], y[:1]) for i in range(size))
            for i in range(size):
                left = left - ClassStats.from_rows(X[i : i + 1], y[:1])
            assert left.count[0] == 0
            assert left.scatter.max() == 0
    b, c = ClassStats.from_rows(X, y), ClassStats.from_rows(X[:1] + 1, y[:1])
    assert ((b + c) - b - c).count[0] == 0


def test_subtracting_a_heavy_row_leaves_the_light_one():
    stats = ClassStats.from_rows([[1.0], [2.0]], [0, 0], [1e13, 1.0])
    left = stats - ClassStats.from_rows([[1.0]], [0], [1e13])
    assert left.count.tolist() == [1.0]
    assert abs(left.mean[0, 0] - 2) < 1e-2  # of 16 digits, 13 went with the heavy row
    declared = ClassStats.from_rows([[1.0]], [0], classes=[0, 7])
    assert (stats - declared).count.tolist() == [1e13, 0.0]


def test_subtracting_missing_values(rng):
    X, y = offset_rows(rng, 600, 10.0)
    X[rng.random(X.shape) < 0.4] = np.nan
    a = ClassStats.from_rows(X[:400], y[:400], missing="skip")
    b = ClassStats.from_rows(X[400:], y[400:], missing="skip")
    left = (a + b) - b
    np.testing.assert_allclose(left.scatter, a.scatter, rtol=1e-11)
    np.testing.assert_allclose(left.feature_count, a.feature_count, rtol=0)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (([[1.0]], ["z"]), r"classes \['z'\]: they were never added"),
        (([[0.0], [1.0], [2.0], [3.0]], ["a"] * 4), "more weight than was added"),
        (([[100.0], [-100.0]], ["a", "a"]), "left with negative scatter"),
        (([[0.0], [1.0], [9.0]], ["a"] * 3), "on both sides.*were not added"),
        (
            ([[0.001], [1.001], [2.001]], ["a"] * 3),
            "other rows .feature 0.*rows that were not added",
        ),
    ],
)
def test_subtracting_rows_that_were_not_added_is_an_error(other, message):
    a = ClassStats.from_rows([[0.0], [1.0], [2.0], [5.0]], ["a", "a", "a", "b"])
    with pytest.raises(ValueError, match=message):
        a - ClassStats.from_rows(*other)


def test_subtracting_rows_with_other_missing_values():
    a = ClassStats.from_rows([[1.0, 1.0], [2.0, 2.0]], [0, 0], missing="skip")
    with pytest.raises(ValueError, match="more values than rows would be left"):
        a - ClassStats.from_rows([[1.0, np.nan]], [0], missing="skip")


def test_different_features_do_not_combine():
    a = ClassStats.from_rows([[0.0]], [1], feature_names=["u"])
    with pytest.raises(ValueError, match="different features cannot be combined"):
        a + ClassStats.from_rows([[0.0]], [1], feature_names=["v"])
    with pytest.raises(ValueError, match="Statistics of 1 features cannot be combined with 2"):
        a + ClassStats.from_rows([[0.0, 1.0]], [1])
    for other in (["x"], [2**53 + 1.0], np.array([2**63 + 1], np.uint64)):
        one = ClassStats.from_rows([[0.0], [0.0]], [2**53 + 1, -1])
        with pytest.raises(TypeError, match="cannot be combined"):
            one + ClassStats.from_rows([[0.0]], other)
    with pytest.raises(ValueError, match="Statistics of 1 features cannot be combined with 2"):
        a + ClassStats.from_rows(np.zeros((0, 2)), np.zeros(0, int))
    assert (a + ClassStats.from_rows([[0.0]], [1])).feature_names == ("u",)
    with pytest.raises(TypeError, match="unsupported operand"):
        a + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        a - 1
