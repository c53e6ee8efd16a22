"""Counts and moments of standardized values against plain loops in long doubles."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb._numba import threads
from fastgnb.kernels.learn import standardized
from fastgnb.kernels.learn.standardized import Moments, describe, merge_moments, take_turns

N_BINS = 34
EDGES = np.r_[-np.inf, np.linspace(-8.0, 8.0, N_BINS - 1), np.inf]


def plain_moments(z, w):
    """Weight, mean and central sums of powers, by their definitions."""
    z, w = z.astype(np.longdouble), w.astype(np.longdouble)
    if not w.sum():
        return np.zeros(5)
    mean = (w * z).sum() / w.sum()
    return np.array([w.sum(), mean, *((w * (z - mean) ** p).sum() for p in (2, 3, 4))], np.float64)


def check(X, codes, weight, units, *, skip=False):
    moments, counts = describe(X, codes, weight, units, N_BINS, skip=skip)
    mean, inv_sd = units
    w = np.ones(len(X)) if weight is None else weight
    for c in range(len(mean)):
        for j in range(X.shape[1]):
            z = (X[codes == c, j].astype(np.float64) - mean[c, j]) * inv_sd[c, j]
            there = ~np.isnan(z)
            z, own = z[there], w[codes == c][there]
            expected = plain_moments(z, own)
            found = np.array([field[c, j] for field in moments])
            size = max(np.sqrt(expected[2] / max(expected[0], 1.0)), 1.0)
            scale = max(expected[0], 1.0) * size ** np.arange(5)
            scale[1] = 1.0 + abs(expected[1])
            np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=2e-12)
            np.testing.assert_allclose(
                counts[c, j], np.histogram(z, EDGES, weights=own)[0], rtol=0, atol=1e-11
            )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (300, 3, 2), (1500, 8, 3), (700, 17, 5)])
def test_counts_and_moments_are_those_of_plain_loops(rng, dtype, order, n, d, k):
    codes = rng.integers(0, k, n).astype(np.int32)
    X = np.asarray(rng.gamma(2.0, size=(n, d)), dtype, order=order)
    units = rng.normal(size=(k, d)), rng.uniform(0.5, 4.0, (k, d))
    check(X, codes, None, units)
    check(X, codes, rng.uniform(0.1, 2.0, n), units)
    check(np.repeat(X, 2, axis=1)[:, ::2], codes, None, units)
    X[rng.random((n, d)) < 0.2] = np.nan
    check(X, codes, rng.uniform(0.1, 2.0, n), units, skip=True)


def test_nothing_cancels_where_the_rows_are_far_from_the_model(rng):
    """Skewness of rows 1e7 standard deviations away, which raw powers would lose."""
    z = rng.exponential(size=(4000, 1)) + 1e7
    moments, counts = describe(
        z, np.zeros(4000, np.int32), None, (np.zeros((1, 1)), np.ones((1, 1))), N_BINS
    )
    expected = plain_moments(z[:, 0], np.ones(4000))
    for found, value in zip(moments, expected, strict=True):
        assert found[0, 0] == pytest.approx(value, rel=1e-9)
    assert counts[0, 0, -1] == 4000


def test_edges_belong_to_the_bin_above():
    z = np.array([[-8.0], [-3.0], [3.0], [8.0], [8.0 - 1e-12]])
    _, counts = describe(
        z, np.zeros(5, np.int32), None, (np.zeros((1, 1)), np.ones((1, 1))), N_BINS
    )
    np.testing.assert_array_equal(counts[0, 0], np.histogram(z[:, 0], EDGES)[0])


@pytest.mark.compiled  # NumPy warns of infinities
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_shows(bad):
    X = np.zeros((5, 2))
    X[3, 1] = bad
    units = np.zeros((1, 2)), np.ones((1, 2))
    moments, counts = describe(X, np.zeros(5, np.int32), None, units, N_BINS)
    assert np.isfinite(moments.fourth[0, 0])
    assert not np.isfinite(moments.fourth[0, 1])
    assert counts[0, 0].sum() == 5


def test_merged_moments_are_those_of_all_rows(rng):
    z, w = rng.gamma(1.0, size=(500, 1)), rng.random(500)
    codes, units = np.zeros(500, np.int32), (np.zeros((1, 1)), np.ones((1, 1)))
    total = Moments(*np.zeros((5, 1, 1)))
    for at in range(0, 500, 60):
        part = slice(at, at + 60)
        total = merge_moments(total, describe(z[part], codes[part], w[part], units, N_BINS)[0])
        total = merge_moments(total, Moments(*np.zeros((5, 1, 1))))
    for found, value in zip(total, plain_moments(z[:, 0], w), strict=True):
        assert found[0, 0] == pytest.approx(value, rel=1e-12)


@pytest.mark.no_new_lines
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bits_for_any_threads_and_layout(rng, monkeypatch, weighted):
    n, d, k = 20_000, 11, 3
    X, codes = rng.normal(size=(n, d)), rng.integers(0, k, n).astype(np.int32)
    weight = rng.random(n) if weighted else None
    units = rng.normal(size=(k, d)), np.ones((k, d))
    results = []
    for work in (0, 2**62):
        monkeypatch.setattr(threads, "PARALLEL_WORK", work)
        for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
            moments, counts = describe(rows, codes, weight, units, N_BINS)
            results.append(np.array([*moments]).tobytes() + counts.tobytes())
    assert standardized.n_segments(n, k, d, N_BINS) > 1
    assert len(set(results)) == 1


def test_rows_take_turns_within_their_class(rng):
    codes = rng.integers(0, 3, 200).astype(np.int32)
    seen = np.zeros(3, np.int64)
    turns = np.concatenate([take_turns(codes[:70], seen), take_turns(codes[70:], seen)])
    for c in range(3):
        own = turns[codes == c]
        np.testing.assert_array_equal(own, np.arange(len(own)) % 2)
        assert seen[c] == len(own)
