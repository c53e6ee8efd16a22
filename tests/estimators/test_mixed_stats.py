"""Statistics of categories: pieces, weights, subtraction and decay."""

from __future__ import annotations

import re

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_cases import CATEGORICAL, COLOURS, assert_same_stats, tables
from numpy.testing import assert_allclose

from fastgnb import MixedNB, MixedStats


def stats_of(X, y, w=None):
    return MixedStats.from_rows(X, y, w, categorical_features=[1, 2], classes=[0, 1, 2])


@settings(max_examples=60)
@given(tables(), st.randoms(use_true_random=False))
def test_pieces_merge_in_any_order(table, random):
    X, y, w = table
    whole = stats_of(X, y, w)
    cuts = sorted(random.sample(range(len(y) + 1), min(3, len(y))))
    edges = list(zip([0, *cuts], [*cuts, len(y)], strict=True))
    parts = [stats_of(X[a:b], y[a:b], w[a:b]) for a, b in edges if b > a]
    random.shuffle(parts)
    assert_same_stats(sum(parts), whole)
    left_first, right_first = parts[0], parts[-1]
    for part in parts[1:]:
        left_first = left_first + part
    for part in parts[-2::-1]:
        right_first = part + right_first
    assert_same_stats(left_first, right_first)
    for a, b in zip((parts[0] + parts[-1]).counts, (parts[-1] + parts[0]).counts, strict=True):
        assert np.array_equal(a, b)


@settings(max_examples=60)
@given(tables())
def test_weights_are_repetitions(table):
    X, y, w = table
    times = w.astype(int)
    if not times.any():
        return
    again = np.repeat(np.arange(len(y)), times)
    assert_same_stats(stats_of(X, y, w), stats_of(X[again], y[again]))
    params = {"categorical_features": [1, 2]}
    a = MixedNB(**params).partial_fit(X, y, [0, 1, 2], w)
    b = MixedNB(**params).partial_fit(X[again], y[again], [0, 1, 2])
    assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6, atol=1e-9)


@settings(max_examples=60)
@given(tables(), tables())
def test_what_was_added_can_be_subtracted(one, other):
    a, b = stats_of(*one), stats_of(*other)
    left = (a + b) - b
    assert_same_stats(left, a, rtol=1e-9)


def test_subtracting_more_than_there_is_raises(data):
    X, y = data
    stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL)
    strange = X[:3].copy()
    strange[:, 4] = 9
    for rows, labels, message in (
        (strange, y[:3], "Cannot subtract rows of categories [9] of feature 4: they were never"),
        (np.vstack([X, X]), np.tile(y, 2), "Cannot subtract more weight than was added"),
        (X[:3], y[:3] + 7, "Cannot subtract rows of classes [7, 8, 9]"),
    ):
        other = MixedStats.from_rows(rows, labels, categorical_features=CATEGORICAL)
        with pytest.raises(ValueError, match=re.escape(message)):
            _ = stats - other
    one = MixedStats.from_rows([[0], [1]], [0, 1], categorical_features=[0])
    two = MixedStats.from_rows([[1], [0]], [0, 1], categorical_features=[0])
    with pytest.raises(ValueError, match="Cannot subtract more weight"):
        _ = one - two


def test_statistics_of_other_features_cannot_be_combined(data):
    X, y = data
    stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL)
    for other, message in (
        (MixedStats.from_rows(X, y, categorical_features=[1]), r"features \[1, 2, 4\] cannot"),
        (MixedStats.from_rows(X[:, :2], y, categorical_features=[1]), "5 features cannot be"),
    ):
        with pytest.raises(ValueError, match=message):
            _ = stats + other
    named = [
        MixedStats.from_rows(X, y, categorical_features=[1], feature_names=names)
        for names in ("abcde", "abcdz")
        for names in [list(names)]
    ]
    with pytest.raises(ValueError, match="Statistics of different features"):
        _ = named[0] + named[1]
    text = MixedStats.from_rows(COLOURS[:, None], range(5), categorical_features=[0])
    number = MixedStats.from_rows([[1], [2]], [0, 1], categorical_features=[0])
    with pytest.raises(TypeError, match=r"Categories of feature 0 of types .* cannot be combined"):
        _ = text + number
    with pytest.raises(TypeError):
        _ = stats + 1
    assert sum([stats]) is stats


def test_decay_and_properties(data):
    X, y = data
    stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL)
    half = stats.decay(0.5)
    assert np.array_equal(half.count, stats.count / 2)
    for a, b in zip(half.counts, stats.counts, strict=True):
        assert np.array_equal(a, b / 2)
    assert np.array_equal(half.gaussian.mean, stats.gaussian.mean)
    with pytest.raises(ValueError, match="factor must be a number above 0"):
        stats.decay(0)
    assert repr(stats) == (
        "<MixedStats: 3 classes, 2 continuous and 3 categorical features, total weight 400>"
    )
    assert [c.dtype for c in stats.categories] == [np.int64] * 3


def test_categories_without_weight_are_not_there():
    stats = MixedStats.from_rows(
        [["a"], ["b"], ["c"]], [0, 1, 1], [1, 0, 2], categorical_features=[0]
    )
    assert stats.categories[0].tolist() == ["a", "c"]
    left = stats - MixedStats.from_rows([["c"]], [1], 2.0, categorical_features=[0])
    assert left.categories[0].tolist() == ["a"]
    assert left.counts[0].tolist() == [[1.0], [0.0]]


@pytest.mark.no_new_lines
def test_many_weights_keep_their_digits():
    """A sum of 4e5 weights in one go would be off by about 1e-12 of itself."""
    n = 400_000
    w = np.full(n, 0.1)
    stats = MixedStats.from_rows(np.zeros((n, 1)), np.zeros(n, int), w, categorical_features=[0])
    exact = float(oracles.exact(0.1) * n)
    assert abs(stats.counts[0][0, 0] / exact - 1) < 1e-13
