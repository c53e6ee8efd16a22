"""Slots of categories in tiles, and the other features of a table, against loops over values."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb import MixedNB
from fastgnb.kernels.learn import mixed
from fastgnb.kernels.learn.categories import find_ranges
from fastgnb.kernels.learn.diagonal import accumulate
from fastgnb.kernels.learn.encode import EncodedLabels
from fastgnb.kernels.learn.mixed import look_up
from fastgnb.kernels.slots import TILE, by_slot, stride_of, table_of, terms_by_slot

# Columns that begin a group, are inside one, end the table, and lie beyond eight features.
CATEGORICAL = np.array([1, 2, 9, 12])
LOW, SPAN = np.array([-2, 0, 5, 0]), np.array([3, 0, 4, 2])
FIRST = np.cumsum(SPAN + 2) - (SPAN + 2)
SIZE = int((SPAN + 2).sum())


@pytest.fixture(params=[1, TILE + 6, TILE + 7, 3 * TILE + 5])
def rows(request, rng):
    """Rows with numbers of the ranges, beside them, and missing ones."""
    X = rng.normal(size=(request.param, 13))
    for q, j in enumerate(CATEGORICAL):
        X[:, j] = rng.integers(LOW[q] - 1, LOW[q] + SPAN[q] + 1, len(X))
        X[rng.random(len(X)) < 0.2, j] = np.nan
    return X


def slots_of(X):
    """The slots (n, q), value by value."""
    place = X[:, CATEGORICAL] - LOW
    place = np.where((place < 0) | (place >= SPAN), SPAN, place)
    place = np.where(np.isnan(X[:, CATEGORICAL]), SPAN + 1, place)
    return place.astype(int) + FIRST


def layouts(X):
    for dtype in (np.float64, np.float32):
        for order in ("C", "F"):
            yield np.array(X, dtype, order=order)


def test_slots_are_those_of_each_value(rows):
    want = slots_of(rows)
    lookup = np.arange(SIZE, dtype=np.int32)[::-1].copy()
    for X in layouts(rows):
        table = table_of(X, CATEGORICAL, (LOW, SPAN, FIRST))
        np.testing.assert_array_equal(look_up(table, 0, len(X)).T, want)
        table = table_of(X, CATEGORICAL, (LOW, SPAN, FIRST), lookup)
        np.testing.assert_array_equal(look_up(table, 0, len(X)).T, lookup[want])


def test_ranges_are_those_of_each_column(rows):
    rows[:, 2] = np.nan
    rows[-1, 12] = 0.5
    present = ~np.isnan(rows)
    for X in layouts(rows):
        ranges = find_ranges(X, CATEGORICAL)
        for q, j in enumerate(CATEGORICAL):
            values = rows[present[:, j], j]
            assert ranges.low[q] == values.min(initial=np.inf)
            assert ranges.high[q] == values.max(initial=-np.inf)
        assert ranges.has_missing.tolist() == (~present)[:, CATEGORICAL].any(axis=0).tolist()
        assert ranges.is_odd.tolist() == [False, False, False, True]


@pytest.mark.parametrize("k", [1, 3])
def test_sums_are_those_of_other_features_and_counts_are_exact(rows, k, rng):
    codes = rng.integers(0, k, len(rows)).astype(np.int32)
    labels, slots = EncodedLabels.from_codes(codes), slots_of(rows)
    others = np.delete(np.arange(13), CATEGORICAL)
    for X in layouts(rows):
        table = table_of(X, CATEGORICAL, (LOW, SPAN, FIRST))
        sums, counts = mixed.accumulate_mixed(table, SIZE, labels, k)
        for got, want in zip(sums, accumulate(X[:, others], labels, None, k), strict=True):
            assert got.tobytes() == want.tobytes()
        want = np.zeros((SIZE, k), int)
        np.add.at(want, (slots, codes[:, None]), 1)
        np.testing.assert_array_equal(counts, want)
        np.testing.assert_array_equal(mixed.occurring(table, SIZE), want.any(axis=1))


@pytest.mark.parametrize("k", [1, 4, 5, 17])
def test_terms_stand_side_by_side_and_are_copied_once(k, rng):
    table = rng.normal(size=(k, 7))
    view = terms_by_slot(table)
    np.testing.assert_array_equal(view, table)
    flat = by_slot(view)
    assert np.shares_memory(flat, view)
    for given in (table, view[:, 1:], view[:, ::-1], view[:, :0], np.asfortranarray(table)):
        flat = by_slot(given)
        width = given.shape[1]
        assert len(flat) == width * stride_of(k) + 8
        assert flat.ctypes.data % 64 == 0
        np.testing.assert_array_equal(flat[:-8].reshape(width, stride_of(k))[:, :k], given.T)


@pytest.mark.parametrize("n", [5, TILE + 40])
@pytest.mark.parametrize("k", [2, 9, 20])
def test_scores_are_the_sums_of_their_terms(n, k, rng):
    X = rng.normal(size=(n, 13))
    X[:, CATEGORICAL] = rng.integers([0, 0, 3, -1], [1, 3, 9, 1], (n, 4))
    X[0, CATEGORICAL] = [0, 2, 8, 0]
    y = np.append(np.arange(k), rng.integers(0, k, n))[:n]
    model = MixedNB(categorical_features=CATEGORICAL).fit(X, y)
    X[1:3, 9] = [77.0, -77.0]  # never seen
    want = model.predict_joint_log_proba(X.astype(object))
    for each in (X, np.asfortranarray(X)):
        got = model.predict_joint_log_proba(each)
        assert got.tobytes() == want.tobytes()
        for table in ("predict", "predict_proba"):
            assert (
                getattr(model, table)(each).tobytes()
                == getattr(model, table)(X.astype(object)).tobytes()
            )
