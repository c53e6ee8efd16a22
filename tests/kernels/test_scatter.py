"""Full scatter against exact rationals, its algebra, its limits, and forgetting."""

from __future__ import annotations

import itertools
import re

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastgnb import ClassStats
from fastgnb.kernels.learn import full as scatter
from fastgnb.stats import checks

TOLERANCE = 1e-13


def correlated(rng, n, d, k=3, offset=0.0):
    """Rows of k classes with full covariances of their own, and means around the offset."""
    y = rng.integers(0, k, n)
    mix = rng.normal(size=(k, d, d))
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mix[y])
    return X + 3 * rng.normal(size=(k, d))[y] + offset * np.linspace(-1, 1, d), y


def check(found, exact):
    assert found.covariance.shape == (len(exact.classes), *np.shape(exact.scatter)[1:])
    assert oracles.scatter_error(found.scatter, exact.scatter) < TOLERANCE
    assert oracles.relative_error(found.count, exact.count) < TOLERANCE
    assert oracles.relative_error(found.mean, exact.mean) < TOLERANCE
    assert np.array_equal(found.covariance, found.covariance.transpose(0, 2, 1))
    assert np.array_equal(np.einsum("cjj->cj", found.covariance), found.variance)


@pytest.mark.promise("twins")
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
def test_scatter_is_exact_to_1e13(rng, offset, weighted):
    X, y = correlated(rng, 1500, 3, offset=offset)
    w = rng.random(1500) * (rng.random(1500) < 0.8) if weighted else None
    exact = oracles.full_stats(X, y, w)
    whole = ClassStats.from_rows(X, y, w, scatter="full")
    parts = [
        ClassStats.from_rows(X[a : a + 97], y[a : a + 97], None if w is None else w[a : a + 97],
                             scatter="full")
        for a in range(0, len(X), 97)
    ]  # fmt: skip
    stream = parts[0]
    for a in range(97, len(X), 251):
        stream = stream.update(
            X[a : a + 251], y[a : a + 251], None if w is None else w[a : a + 251]
        )
    for found in (whole, sum(parts), sum(reversed(parts)), stream):
        check(found, exact)


@pytest.mark.parametrize("d", [1, 7, 8, 9, 15, 16, 17, 24, 33])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_every_small_width(rng, d, k):
    X, y = correlated(rng, 60, d, k, offset=100.0)
    check(ClassStats.from_rows(X, y, scatter="full"), oracles.full_stats(X, y))


@pytest.mark.parametrize("n", [1, 2, 31, 257, 2000])
@pytest.mark.parametrize("d", [3, 17])
def test_every_layout_gives_the_same_bits(rng, n, d):
    X, y = correlated(rng, n, d)
    whole = np.round(X).astype(np.int64)
    wanted = ClassStats.from_rows(X, y, scatter="full")
    for rows in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[::-1][::-1]):
        found = ClassStats.from_rows(rows, y, scatter="full")
        assert np.array_equal(found.covariance, wanted.covariance)
        assert np.array_equal(found.mean, wanted.mean)
    wanted = ClassStats.from_rows(whole.astype(float), y, scatter="full")
    for rows in (whole, whole.astype(np.float32), whole.astype(">f8"), whole.astype(np.int16)):
        assert np.array_equal(
            ClassStats.from_rows(rows, y, scatter="full").covariance, wanted.covariance
        )


def test_several_blocks_tiles_and_pieces(rng, monkeypatch):
    X, y = correlated(rng, 9000, 5, 2, offset=1e6)
    assert scatter.blocks(len(X), 2, 5) > 3
    wanted = ClassStats.from_rows(X, y, scatter="full")
    monkeypatch.setattr(scatter, "_WORK", 1)  # a call for each tile of a block
    found = ClassStats.from_rows(X, y, scatter="full")
    assert np.array_equal(found.covariance, wanted.covariance)
    found = ClassStats.from_rows(np.repeat(X, 2, axis=1)[:, ::2], y, scatter="full")
    assert np.array_equal(found.covariance, wanted.covariance)
    exact = X.astype(np.longdouble)
    for c in range(2):
        z = exact[y == c] - exact[y == c].mean(axis=0)
        sd = np.sqrt((z**2).sum(axis=0))
        assert (np.abs(wanted.scatter[c] - z.T @ z) / np.outer(sd, sd)).max() < TOLERANCE


@pytest.mark.parametrize(
    "make",
    [
        lambda X: np.where(np.arange(len(X))[:, None] == 0, 1e6, X),
        lambda X: np.where(np.arange(len(X))[:, None] < 700, X, X + 1e7),
        lambda X: X + np.arange(len(X))[:, None] * 100.0,
        lambda X: X * 2.0**-180,
        lambda X: X * 2.0**180,
    ],
    ids=["outlier", "jump", "drift", "tiny", "huge"],
)
def test_hard_streams(rng, make):
    X = make(correlated(rng, 1500, 2)[0] + 5)
    y = np.arange(len(X)) % 2
    check(ClassStats.from_rows(X, y, scatter="full"), oracles.full_stats(X, y))


def test_extreme_weights(rng):
    X, y = correlated(rng, 200, 2)
    for scale in (1e-300, 5e-324 * 2**60, 1e250):
        w = rng.random(200) * scale
        exact = oracles.full_stats(X, y, w)
        found = ClassStats.from_rows(X, y, w, scatter="full")
        for c, count in enumerate(exact.count):
            wanted = [[v / count for v in row] for row in exact.scatter[c]]
            assert oracles.scatter_error(found.covariance[c : c + 1], [wanted]) < TOLERANCE


def test_rows_far_apart_in_weight(rng):
    """A heavy row decides the mean; the light ones keep their digits."""
    X, y = correlated(rng, 300, 2, 1)
    w = np.where(np.arange(300) == 7, 1e12, rng.random(300))
    X[3] = 1e9  # light and far
    w[3] = 1e-6
    check(ClassStats.from_rows(X, y, w, scatter="full"), oracles.full_stats(X, y, w))


@settings(max_examples=25)
@given(
    cuts=st.lists(st.integers(0, 40), max_size=4),
    seed=st.integers(0, 2**16),
    taken=st.integers(0, 3),
)
def test_chunks_merge_and_subtract(cuts, seed, taken):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (40, 3)) * 0.37
    y = rng.integers(0, 3, 40)
    bounds = [0, *sorted(cuts), 40]
    parts = [
        ClassStats.from_rows(X[a:b], y[a:b], scatter="full", classes=[0, 1, 2])
        for a, b in itertools.pairwise(bounds)
    ]
    whole = sum(parts)
    exact = oracles.full_stats(X, y)
    some = [c for c in range(3) if (y == c).any()]
    for found in (whole, sum(reversed(parts))):
        assert oracles.scatter_error(found.scatter[some], exact.scatter) < 1e-12
    i = taken % len(parts)
    left = whole - parts[i]
    keep = np.r_[0 : bounds[i], bounds[i + 1] : 40].astype(int)
    rest = oracles.full_stats(X[keep], y[keep])
    for c, scatter_ in zip(rest.classes, rest.scatter, strict=True):
        error = np.abs(left.scatter[c] - np.array(scatter_, float)).max()
        assert error < 1e-12 * whole.scatter[c].max(initial=1.0)
    gone = [c for c in range(3) if c not in rest.classes]
    assert not left.scatter[gone].any()
    assert np.array_equal(left.covariance, left.covariance.transpose(0, 2, 1))


def test_total_within_between_and_diag(rng):
    X, y = correlated(rng, 400, 4)
    found = ClassStats.from_rows(X, y, scatter="full")
    one = oracles.full_stats(X, np.zeros(400, int))
    assert oracles.scatter_error([found.total()], one.scatter) < TOLERANCE
    assert found.within() + found.between() == pytest.approx(found.total(), rel=1e-13, abs=1e-10)
    diag = found.to_diag()
    assert diag.covariance is None
    assert np.array_equal(diag.scatter, found.count[:, None] * found.variance)
    assert diag.within() == pytest.approx(np.diag(found.within()), rel=1e-14)
    assert diag.between() == pytest.approx(np.diag(found.between()), rel=1e-13)
    plain = ClassStats.from_rows(X, y)
    assert diag.mean == pytest.approx(plain.mean, rel=1e-14)
    assert diag.variance == pytest.approx(plain.variance, rel=1e-13)
    assert diag + plain is not None


def test_classes_are_united_by_label(rng):
    X, y = correlated(rng, 300, 3, 4)
    a, b = y < 2, y > 0
    both = ClassStats.from_rows(X[a], y[a], scatter="full") + ClassStats.from_rows(
        X[b & ~a], y[b & ~a], scatter="full"
    )
    check(both, oracles.full_stats(X, y))
    none = np.zeros((0, 0))
    empty = ClassStats(np.zeros(0, int), np.zeros(0), none, none, none)
    assert np.array_equal((empty + both).covariance, both.covariance)
    assert np.array_equal((both + empty).covariance, both.covariance)


def test_what_cannot_be_combined_or_held(rng, monkeypatch):
    X, y = correlated(rng, 30, 3)
    full, diag = ClassStats.from_rows(X, y, scatter="full"), ClassStats.from_rows(X, y)
    with pytest.raises(ValueError, match=r"full and with diagonal scatter .* take to_diag\(\)"):
        full + diag
    with pytest.raises(ValueError, match=r"full and with diagonal scatter"):
        full - diag
    with pytest.raises(ValueError, match=r"scatter must be 'diag' or 'full', got 'spherical'"):
        ClassStats.from_rows(X, y, scatter="spherical")
    with pytest.raises(ValueError, match=r"Full scatter needs whole rows, .* Fill them in"):
        ClassStats.from_rows(X, y, scatter="full", missing="skip")
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN: the value in row 4, column 1"):
        ClassStats.from_rows(X, y, scatter="full")
    X[4, 1] = 1e200
    with pytest.raises(ValueError, match=r"Feature 1 spans values so far apart"):
        ClassStats.from_rows(X, y, scatter="full")


def test_too_large_a_scatter_is_refused_before_memory_is_taken():
    wide = np.broadcast_to(np.float64(0.0), (2, 20_000))
    message = "Full scatter of 2 classes and 20000 features takes 6400000000 bytes, more than"
    with pytest.raises(ValueError, match=re.escape(message) + f" the limit of {checks.MOST_BYTES}"):
        ClassStats.from_rows(wide, [0, 1], scatter="full")


def test_no_rows():
    none = ClassStats.from_rows(np.empty((0, 3)), [], scatter="full")
    assert none.covariance.shape == (0, 3, 3)
    assert none.total().shape == (3, 3)
    assert not none.total().any()


# ------------------------------------------------------------------ forgetting


def test_decay_is_a_weight_for_age(rng):
    X, y = correlated(rng, 600, 2)
    for kind in ("diag", "full"):
        stream = None
        for a in range(0, 600, 100):
            part = ClassStats.from_rows(X[a : a + 100], y[a : a + 100], scatter=kind)
            stream = part if stream is None else stream.decay(0.9) + part
        w = 0.9 ** (5 - np.arange(600) // 100)
        wanted = ClassStats.from_rows(X, y, w, scatter=kind)
        assert stream.count == pytest.approx(wanted.count, rel=1e-14)
        assert stream.mean == pytest.approx(wanted.mean, rel=1e-13)
        assert stream.scatter == pytest.approx(wanted.scatter, rel=1e-12)
    half = wanted.decay(0.5)
    assert np.array_equal(half.mean, wanted.mean)
    assert np.array_equal(half.covariance, wanted.covariance)
    assert np.array_equal(half.count * 2, wanted.count)


def test_decay_of_missing_values(rng):
    X, y = correlated(rng, 50, 2)
    X[::3, 0] = np.nan
    found = ClassStats.from_rows(X, y, missing="skip")
    later = (found - ClassStats.from_rows(X[:5], y[:5], missing="skip")).decay(0.25)
    assert np.array_equal(later.feature_count * 4, (found.feature_count - [
        [np.sum((y[:5] == c) & ~np.isnan(X[:5, j])) for j in range(2)] for c in range(3)
    ]))  # fmt: skip
    assert (later.max_scatter < found.scatter).all()


@pytest.mark.parametrize("factor", [0, -1, 1.5, np.nan, np.inf, "a", None, 1j])
def test_factors_that_are_none(rng, factor):
    found = ClassStats.from_rows(*correlated(rng, 9, 2))
    with pytest.raises(ValueError, match="factor must be a number above 0 and at most 1, got"):
        found.decay(factor)


@pytest.mark.parametrize("steps", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_sliding_window(rng, steps):
    """Each step rounds the same way here, since the rows come round again: the worst case."""
    width = 8
    X = rng.normal(size=(64, 2)) + 1e3
    parts = [ClassStats.from_rows(X[i : i + 1], [0]) for i in range(64)]
    window = sum(parts[:width])
    for i in range(steps):
        window = window + parts[(i + width) % 64] - parts[i % 64]
    rows = [(steps + j) % 64 for j in range(width)]
    exact = oracles.class_stats(X[rows], np.zeros(width, int))
    assert window.count[0] == width
    assert oracles.relative_error(window.mean, exact.mean) < 1e-13
    # The documented bound: a unit in the last place of the largest scatter, for each step.
    assert oracles.relative_error(window.scatter, exact.scatter) < 2.0**-52 * steps
