"""Chunks of rows into mixed statistics: the short way has the bits of the long one, and errors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from fastgnb import MixedNB, MixedStats
from fastgnb.stats.mixed_chunks import RunningMixed, running_mixed

CATEGORICAL, K = [1, 3, 4], 3
CLASSES = np.arange(K)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(400, 6))
    X[:, 1] = rng.integers(-3, 4, 400)
    X[:, 3] = rng.choice([0.0, 5.0, 1000.0], 400)
    X[:, 4] = rng.integers(0, 2, 400)
    X[:7, 1], X[:3, 3], X[:2, 4] = np.arange(-3, 4), [0, 5, 1000], [0, 1]
    return X, rng.integers(0, K, 400)


def stats_of(X, y, weight=None):
    return MixedStats.from_rows(X, y, weight, categorical_features=CATEGORICAL, classes=CLASSES)


def bits(stats):
    gaussian = stats.gaussian
    arrays = gaussian.count, gaussian.mean, gaussian.mean_lo, gaussian.variance
    return [each.tobytes() for each in (*arrays, *stats.counts, *stats.categories)]


@pytest.mark.promise("bits")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("labels", [np.int64, np.uint8])
def test_chunks_have_the_bits_of_sums_of_statistics(rows, dtype, order, labels):
    X, y = np.array(rows[0], dtype, order=order), rows[1].astype(labels)
    stats = stats_of(X[:100], y[:100])
    running = running_mixed(stats)
    for start, stop in ((100, 101), (101, 140), (140, 400)):
        part = np.array(X[start:stop], order=order)
        running = running.add(part, y[start:stop])
        stats = stats + stats_of(part, y[start:stop])
        assert bits(running.stats()) == bits(stats)


def test_statistics_with_weights_go_on(rows):
    X, y = rows
    stats = stats_of(X[:100], y[:100], np.linspace(0.5, 2, 100)).decay(0.7)
    got = running_mixed(stats).add(X[100:], y[100:]).stats()
    assert bits(got) == bits(stats + stats_of(X[100:], y[100:]))


ODD = {
    "half": 0.5, "missing": np.nan, "infinite": np.inf, "between": 1.0, "beyond": 99.0,
    "below": -0.25, "huge": 1e300,
}  # fmt: skip


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("odd", ODD)
def test_rows_that_are_odd_go_the_long_way(rows, odd, order):
    X, y = np.array(rows[0], order=order), rows[1]
    running = running_mixed(stats_of(X[:100], y[:100]))
    part = np.array(X[100:150], order=order)
    for i in (0, 33, 49):
        other = part.copy(order)
        other[i, 3] = ODD[odd]
        assert running.add(other, y[100:150]) is None
    other = part.copy(order)
    other[7, 0] = np.nan
    assert running.add(other, y[100:150]) is None
    assert running.add(part, y[100:150] + 1) is None
    assert running.add(part, y[100:150], np.ones(50)) is None
    assert running.add(part[:, :5], y[100:150]) is None
    assert running.add(part[::2], y[100:150:2]) is None
    assert running.add(part.astype(object), y[100:150]) is None
    assert running.add(part, y[100:150].astype("U")) is None


def test_statistics_that_take_no_chunks(rows):
    X, y = rows
    assert running_mixed(MixedStats.from_rows(X, y)) is None
    assert running_mixed(MixedStats.from_rows(X[:, [1]], y, categorical_features=[0])) is None
    text = MixedStats.from_rows(X, y.astype("U"), categorical_features=CATEGORICAL)
    assert running_mixed(text) is None
    words = X.astype(object)
    words[:, 3] = X[:, 3].astype("U")
    assert running_mixed(stats_of(words, y)) is None
    skipped = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL, missing="skip")
    assert running_mixed(skipped) is None


def test_partial_fit_goes_the_short_way_and_stays_as_it_was_where_that_fails(rows):
    X, y = rows
    model = MixedNB(categorical_features=CATEGORICAL).partial_fit(X[:100], y[:100], CLASSES)
    stats = stats_of(X[:100], y[:100])
    for start in range(100, 400, 100):
        part = X[start : start + 100], y[start : start + 100]
        model.partial_fit(*part)
        assert type(model.__dict__["_held"]._running) is RunningMixed
        stats = stats + stats_of(*part)
    assert bits(model.stats_) == bits(stats)
    want = MixedNB(categorical_features=CATEGORICAL).fit_stats(stats)
    assert model.predict_proba(X).tobytes() == want.predict_proba(X).tobytes()
    for each in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert bits(each.stats_) == bits(stats)
    held = model.__dict__["_held"]
    for value, text in ((0.5, "whole numbers"), (np.nan, "contains NaN"), (np.inf, "infinity")):
        other = X[:50].copy()
        other[3, 4] = value
        with pytest.raises(ValueError, match=text):
            model.partial_fit(other, y[:50])
        assert model.__dict__["_held"] is held
    other = X[:50].copy()
    other[3, 4] = 7.0
    model.partial_fit(other, y[:50])
    assert model.categories_[2].tolist() == [0, 1, 7]
    assert bits(model.stats_) == bits(stats + stats_of(other, y[:50]))
    model.max_categories = 2
    with pytest.raises(ValueError, match="more than max_categories=2"):
        model.partial_fit(X[:50], y[:50])
