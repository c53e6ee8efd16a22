"""Thousands of partitions, large counts, streams, files and long arrays stay exact."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_cases import (
    NAMES,
    TOLERANCE,
    assert_exact,
    bits_of,
    data,
    deterministic,
    exact_of,
    stats_of,
)

import fastgnb
from fastgnb import ClassStats, GaussianNB
from fastgnb.cli import main
from fastgnb.files.models import model_file as persist
from fastgnb.kernels.learn.diagonal import accumulate
from fastgnb.kernels.learn.encode import EncodedLabels

pytestmark = pytest.mark.no_new_lines


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
    """In one batch; and in many, what their merge gives."""
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
        pieces = [slice(a, a + size) for a in range(0, len(X), size)]
        api = GaussianNB(missing=missing).fit_stats(
            fastgnb.merge(
                ClassStats.from_rows(
                    X[rows], y[rows], None if weight is None else weight[rows],
                    missing=missing, feature_names=None if ending == "npy" else names,
                )
                for rows in pieces
            )
        )  # fmt: skip
        saved = persist.read(model).model
        assert bits_of(saved.stats) == bits_of(api.stats_)
        assert saved.moments.var.tobytes() == api.var_.tobytes()
        assert saved.moments.theta.tobytes() == api.theta_.tobytes()


def two_values(n, value):
    """Rows whose squares all round to one side when they are summed, and their exact moments."""
    X = np.zeros((n, 1), np.float32)
    X[1::2] = value
    return X, exact_of_values([0.0, X[1, 0]], [n - n // 2, n // 2])


@pytest.mark.parametrize(
    ("n", "values"),
    [
        (3_000_000, (0.6, 0.9)),
        pytest.param(100_000_000, (0.6, 1 / 3), marks=pytest.mark.slow),
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
    X = rng.normal(1e6, 1, size=(100_000, 1))
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
