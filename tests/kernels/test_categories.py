"""Categorical columns that stay in a table of floats: codes, counts and scores as for any other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from fastgnb import MixedNB, MixedStats
from fastgnb.input.category_codes import FloatColumn, float_columns
from fastgnb.kernels.learn import categories
from fastgnb.kernels.learn.categories import find_ranges
from fastgnb.kernels.learn.mixed import look_up

pytestmark = pytest.mark.compiled

LOW = -3
CATEGORICAL = [1, 3, 4]


@pytest.fixture
def problem(rng):
    """Rows of continuous and categorical features, negative ones and gaps among these; labels."""
    n = 2 * categories._BLOCK + 77
    X = rng.normal(size=(n, 6))
    X[:, 1] = rng.integers(LOW, 4, n)
    X[:, 3] = rng.choice([-0.0, 5.0, 1000.0], n)
    X[:, 4] = 2.0**40 + rng.integers(0, 2, n)
    return X, rng.integers(0, 3, n)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_codes_and_other_columns_are_those_of_the_table(problem, dtype, order):
    X = np.asarray(problem[0], dtype, order=order)
    X[5, 1] = X[0, 3] = np.nan
    columns = float_columns(X, np.array(CATEGORICAL))
    for j in CATEGORICAL:
        assert isinstance(columns[j], FloatColumn)
        values = X[:, j].astype(np.float64)
        assert columns[j].has_missing == np.isnan(values).any()
        assert columns[j].labels.tolist() == np.unique(values[~np.isnan(values)]).tolist()
        labels = np.append(columns[j].labels.astype(np.float64), np.nan)
        np.testing.assert_array_equal(labels[columns[j].codes], values)
    table = columns[1].table
    codes = look_up(table.in_ranges(), 3, 3000)
    for q, j in enumerate(CATEGORICAL):
        values = X[3:3000, j].astype(np.float64) - table.low[q]
        wanted = np.nan_to_num(values, nan=table.span[q] + 1) + table.first[q]
        np.testing.assert_array_equal(codes[q], wanted)


@pytest.mark.parametrize("odd", [0.5, np.inf, -np.inf, 2.0**53, -(2.0**63), 1e300, 5e-324, 4096.0])
def test_what_is_no_number_of_a_small_range_is_left_to_others(odd):
    X = np.zeros((300, 2))
    X[299, 1] = odd
    assert float_columns(X, np.arange(2)).keys() == {0}


def test_only_contiguous_tables_of_floats_are_read_in_place():
    for X in (np.zeros((4, 2), int), np.zeros((4, 4))[:, ::2], np.zeros((4, 2), ">f8")):
        assert find_ranges(X, np.arange(2)) is None
        assert float_columns(X, np.arange(2)) == {}
    assert float_columns(np.zeros((0, 2)), np.arange(2)) == {}
    column = float_columns(np.full((3, 1), np.nan), np.arange(1))[0]
    assert column.labels.tolist() == []
    assert column.codes.tolist() == [-1] * 3


def kinds_of(X):
    """The same rows, in memory that kernels read in place and in columns of a frame or objects."""
    yield np.ascontiguousarray(X)
    yield np.asfortranarray(X)
    yield X.repeat(2, axis=1)[:, ::2]
    yield X.astype(object)
    yield pd.DataFrame(X)
    yield pd.DataFrame(X).astype(dict.fromkeys(CATEGORICAL, "category"))


def test_counts_are_exact(problem):
    X, y = problem
    stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL)
    for j, labels, counts in zip(CATEGORICAL, stats.categories, stats.counts, strict=True):
        want = Counter(zip(y.tolist(), X[:, j].tolist(), strict=True))
        got = {(c, v): counts[c, q] for c in range(3) for q, v in enumerate(labels.tolist())}
        assert got == want


@pytest.mark.promise("bits")
@pytest.mark.parametrize("weighted", [False, True])
def test_any_kind_of_rows_gives_the_same_bits(problem, rng, weighted, monkeypatch):
    X, y = problem
    X[:50, 3] = X[7, 0] = np.nan
    weight = rng.uniform(0, 3, len(y)) if weighted else None
    monkeypatch.setattr(categories, "_CACHE_BYTES", 1)  # a block at a time
    first = None
    for rows in kinds_of(X):
        model = MixedNB(categorical_features=CATEGORICAL, missing="skip").fit(rows, y, weight)
        got = [*model.category_count_, model.theta_, model.predict_joint_log_proba(rows)]
        got = [array.tobytes() for array in [*got, model.predict(rows)]]
        first = first or got
        assert got == first


def test_a_row_alone_has_the_bits_that_it_has_among_others(problem):
    X, y = problem
    model = MixedNB(categorical_features=CATEGORICAL).fit(X, y)
    joint = model.predict_joint_log_proba(X)
    for i in (0, 31, 32, categories._BLOCK, len(X) - 1):
        np.testing.assert_array_equal(model.predict_joint_log_proba(X[i : i + 1])[0], joint[i])


def test_categories_that_were_never_seen_or_lie_outside_the_range(problem):
    X, y = problem
    model = MixedNB(categorical_features=CATEGORICAL).fit(X, y)
    rows = X[:40].copy()
    rows[3, 1], rows[4, 3], rows[5, 4] = 99.0, -2000.0, 7.0
    want = MixedNB(categorical_features=CATEGORICAL).fit(X, y)
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(rows), want.predict_joint_log_proba(rows.astype(object))
    )
