"""Rows in the order of their log odds, all of them or in bins, against sums over the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastgnb.evaluation.curves import (
    ExactCurves,
    HistogramCurves,
    Interval,
    key_of,
    log_odds_of,
)


def rows(n=300, k=3, seed=0, weighted=True, decimals=1):
    """Log odds with ties, codes with labels the model does not know, weights with zeros."""
    rng = np.random.default_rng(seed)
    log_odds = np.round(rng.normal(scale=4, size=(n, k)), decimals)
    log_odds[:5, 0] = [np.inf, -np.inf, np.inf, 0.0, -0.0]
    weight = rng.integers(0, 5, n) / 4 if weighted else None
    return log_odds, rng.integers(-1, k, n), weight


def histogram(log_odds, codes, weight, shift, by_class=True):
    """Counts in bins, a row at a time, by the definition."""
    n, k = log_odds.shape
    number = key_of(log_odds) >> shift
    first = number.min(axis=0)
    counts = np.zeros((k, k + 1 if by_class else 2, int((number - first).max()) + 1))
    for i in range(n):
        for c in range(k):
            side = codes[i] % (k + 1) if by_class else int(codes[i] != c)
            counts[c, side, number[i, c] - first[c]] += 1.0 if weight is None else weight[i]
    return HistogramCurves(np.arange(k), counts, first, np.full(k, shift))


def expect_sums(found, log_odds, positive, negative, weight):
    weight = np.ones(len(log_odds)) if weight is None else weight
    for threshold, tp, fp in zip(found.log_odds, found.tp, found.fp, strict=True):
        above = log_odds >= threshold
        assert tp == math.fsum(weight[above & positive])
        assert fp == math.fsum(weight[above & negative])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("against", [None, 2])
def test_exact_sums_at_every_distinct_log_odds(weighted, against):
    log_odds, codes, weight = rows(weighted=weighted)
    curves = ExactCurves(np.arange(3), log_odds, codes, weight)
    found = curves.cumulative(0, against)
    used = np.ones(len(codes), bool) if weight is None else weight > 0
    if against is not None:
        used &= (codes == 0) | (codes == against)
    assert found.log_odds.tolist() == np.unique(log_odds[used, 0])[::-1].tolist()
    assert found.is_exact
    assert found.upper is found.log_odds
    expect_sums(found, log_odds[:, 0], codes == 0, used & (codes != 0), weight)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("shift", [40, 50, 62])
def test_bins_hold_the_rows_between_their_edges(shift, by_class):
    log_odds, codes, weight = rows(decimals=3)
    curves = histogram(log_odds, codes, weight, shift, by_class)
    for c in range(3):
        found = curves.cumulative(c)
        assert (np.diff(found.log_odds) < 0).all()
        assert (found.upper[1:] <= found.log_odds[:-1]).all()
        expect_sums(found, log_odds[:, c], codes == c, codes != c, weight)
        counted = np.zeros(len(codes), bool)
        for lower, upper in zip(found.log_odds, found.upper, strict=True):
            at_top = (log_odds[:, c] == np.inf) & (upper == np.inf)
            counted |= (lower <= log_odds[:, c]) & ((log_odds[:, c] < upper) | at_top)
        assert counted[weight > 0].all()


def test_bins_of_pairs():
    log_odds, codes, weight = rows()
    curves = histogram(log_odds, codes, weight, 45)
    expect_sums(curves.cumulative(2, 1), log_odds[:, 2], codes == 2, codes == 1, weight)


def test_pairs_that_are_not_counted():
    curves = histogram(*rows(), 45, by_class=False)
    assert not curves.has_pairs
    with pytest.raises(ValueError, match=r"Pairs of 3 classes are not counted.*exact_rows"):
        curves.cumulative(0, 1)


def test_one_column_of_two_classes():
    log_odds, codes, weight = rows(k=2)
    column = log_odds[:, 1:]
    whole = ExactCurves(np.arange(2), np.hstack([-column, column]), codes, weight)
    short = ExactCurves(np.arange(2), column, codes, weight)
    for c in range(2):
        for a, b in zip(whole.cumulative(c), short.cumulative(c), strict=True):
            assert np.array_equal(a, b)


def test_no_rows():
    found = ExactCurves(np.arange(2), np.empty((0, 2)), np.empty(0, int)).cumulative(0)
    assert [len(found.log_odds), len(found.tp), len(found.fp)] == [0, 0, 0]


def test_sums_of_many_weights_are_accurate():
    rng = np.random.default_rng(1)
    n = 300_000
    weight, log_odds = rng.random(n) + 0.1, rng.normal(size=(n, 1))
    found = ExactCurves(np.arange(2), log_odds, np.ones(n, int), weight).cumulative(1)
    order = np.argsort(-log_odds[:, 0])
    for at in (n // 2, n - 1):
        assert found.tp[at] == pytest.approx(math.fsum(weight[order[: at + 1]]), rel=3e-15)
    assert (np.diff(found.tp) >= 0).all()


def test_keys_keep_order_and_sign_and_are_inverted():
    rng = np.random.default_rng(2)
    special = [0.0, -0.0, np.inf, -np.inf, 1e308, -1e308, 5e-324, 2.0**-52, 709.78]
    log_odds = np.sort(np.concatenate([special, rng.normal(scale=30, size=1000)]))
    keys = key_of(log_odds)
    assert keys.dtype == np.int64
    assert (np.diff(keys) >= 0).all()
    assert (key_of(-log_odds) == -keys).all()
    finite = np.isfinite(log_odds)
    back = log_odds_of(keys)
    np.testing.assert_allclose(back[finite], log_odds[finite], rtol=2.3e-16, atol=2.3e-16)
    assert (back[~finite] == log_odds[~finite]).all()


def test_intervals():
    assert Interval(0.25, 0.5).value == 0.375
    assert float(Interval(0.25, 0.5)) == 0.375
    assert Interval(0.25, 0.5).width == 0.25
    assert Interval(0.1, 0.1).value == 0.1
    both = Interval(np.array([0.1, 0.2]), np.array([0.1, 0.4]))
    assert both.value == pytest.approx([0.1, 0.3])
    assert both.width == pytest.approx([0.0, 0.2])
    assert Interval(np.inf, np.inf).value == np.inf
