"""Log odds of scores against extended precision, and of models against 60-digit arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import oracles
import pytest
from members import CASES, with_categories

from fastgnb import GaussianNB
from fastgnb.kernels.score.log_odds import to_log_odds


def log_odds(scores):
    table = np.array(scores, np.float64, order="C", ndmin=2)
    to_log_odds(table)
    return table


def expect(got, scores):
    """Infinities are exact; errors are a few units in the last place of the scores."""
    want = oracles.log_odds(scores)
    finite = np.isfinite(want)
    assert (got[~finite] == want[~finite].astype(float)).all()
    size = np.abs(np.where(np.isfinite(scores), scores, 0.0)).max(axis=1, keepdims=True)
    slack = np.broadcast_to(8 * np.finfo(float).eps * (1 + size), want.shape)
    assert (np.abs(got[finite] - want[finite]) <= slack[finite]).all()


@pytest.mark.parametrize("k", [2, 3, 7, 8, 9, 16, 33])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e5, 1e300])
def test_log_odds_are_exact_to_rounding(rng, k, scale):
    scores = rng.normal(size=(200, k)) * scale
    expect(log_odds(scores), scores)


@pytest.mark.parametrize("n", [1, 7, 31, 32, 33, 64, 71, 1023, 1024, 1025, 2100])
@pytest.mark.parametrize("k", [1, 2, 5, 8, 11])
def test_a_row_has_the_same_bits_alone_and_anywhere(rng, n, k):
    scores = rng.normal(size=(n, k)) * 5
    got = log_odds(scores)
    for row in {0, n // 2, n - 1}:
        assert log_odds(scores[row]).tobytes() == got[row].tobytes()
    assert log_odds(scores[n // 3 :]).tobytes() == got[n // 3 :].tobytes()
    if k > 1:
        expect(got, scores)


def test_impossible_classes(rng):
    scores = rng.normal(size=(300, 5))
    scores[rng.random(scores.shape) < 0.5] = -np.inf
    scores[:, 3] = rng.normal(size=300)
    got = log_odds(scores)
    expect(got, scores)
    alone = np.isneginf(scores).sum(axis=1) == 4
    assert alone.any()
    assert (got[alone, 3] == np.inf).all()
    assert np.isneginf(got[np.isneginf(scores)]).all()


def test_one_class_is_certain():
    assert log_odds([[-3.0], [1e300]]).tolist() == [[np.inf], [np.inf]]


def test_nothing_is_lost_in_either_tail():
    """p and 1 - p of 1e-300 both keep their digits, where p itself would be 0 or 1."""
    for gap in (1e-17, 1e-9, 1.0, 40.0, 700.0, 1e4):
        (low, high), (a, b, c) = log_odds([0.0, gap])[0], log_odds([0.0, gap, gap])[0]
        assert (low, high) == (-gap, gap)
        assert a == pytest.approx(-gap - math.log(2), rel=1e-15)
        assert b == c == pytest.approx(-math.log1p(math.exp(-gap)), rel=1e-15)


def test_equal_scores_have_equal_log_odds(rng):
    scores = rng.normal(size=(500, 6))
    scores[:, 4] = scores[:, 1]
    scores[::2, 3] = scores[::2, :].max(axis=1)
    got = log_odds(scores)
    assert (got[:, 4] == got[:, 1]).all()
    best = scores.argmax(axis=1)
    rows = np.arange(0, 500, 2)
    assert (got[rows, 3] == got[rows, best[rows]]).all()


def test_two_classes_have_opposite_log_odds(rng):
    scores = rng.normal(size=(500, 2)) * 100
    got = log_odds(scores)
    assert (got[:, 0] == -got[:, 1]).all()
    assert (got[:, 1] == scores[:, 1] - scores[:, 0]).all()


def test_of_a_model_against_decimals(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + y[:, None]
    model = GaussianNB().fit(X, y)
    got = model.to_model().score(X, table="log_odds").table
    for x, row in zip(X, got, strict=True):
        jll = oracles.joint(x, model.class_prior_, model.theta_, model.var_)
        for c, value in enumerate(row.tolist()):
            others = oracles.log_evidence([a for j, a in enumerate(jll) if j != c])
            assert abs(Decimal(value) - (jll[c] - others)) < Decimal("1e-13")


@pytest.mark.parametrize("name", CASES)
def test_of_every_member_belong_to_its_probabilities(rng, name):
    case = CASES[name]
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 4)) + y[:, None] * 0.7
    if case.has_categories:
        X = with_categories(X)
    model = case.make().fit(X, y)
    if case.options.get("missing") == "skip":
        X = X.copy()
        X[rng.random(X.shape) < 0.2] = np.nan
    scores = model.to_model().score(X, table="log_odds")
    proba = model.predict_proba(X)
    np.testing.assert_allclose(1 / (1 + np.exp(-scores.table)), proba, rtol=1e-11, atol=1e-15)
    assert scores.codes.tolist() == scores.table.argmax(axis=1).tolist()
    assert scores.bad == -1


def test_rows_that_overflow_have_the_log_odds_of_their_probabilities():
    X = np.array([[0.0], [0.2], [3.0], [3.5]])
    model = GaussianNB().fit(X, [0, 0, 1, 1])
    far = np.array([[1e250], [-1e250], [0.1]])
    odds = model.to_model().score(far, table="log_odds").table
    assert odds[:2].tolist() == [[-np.inf, np.inf]] * 2  # the wider class is the nearest
    assert np.isfinite(odds[2]).all()
    same = GaussianNB(priors=[0.25, 0.75]).fit([[-1.0], [1.0]] * 2, [0, 0, 1, 1])
    shared = same.to_model().score(far[:1], table="log_odds").table
    np.testing.assert_allclose(shared, [[-math.log(3), math.log(3)]], rtol=1e-14)


def test_float32_rows_have_log_odds_in_float64(rng):
    X = rng.normal(size=(40, 3)).astype(np.float32)
    model = GaussianNB().fit(X, np.arange(40) % 2)
    table = model.to_model().score(X, table="log_odds").table
    assert table.dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
def test_bits_do_not_depend_on_layout(rng, order):
    X = rng.normal(size=(3001, 5))
    model = GaussianNB().fit(X, np.arange(3001) % 4)
    want = model.to_model().score(X, table="log_odds").table
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    for other in (np.array(X, order=order), wide, X[::-1].copy()[::-1]):
        assert model.to_model().score(other, table="log_odds").table.tobytes() == want.tobytes()
