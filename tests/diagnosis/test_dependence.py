"""Dependence within classes against NumPy's correlations and determinants, and simulations."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb import ClassStats, GaussianNB, diagnose
from fastgnb.diagnosis.dependence import dependence_of, pair_nats
from fastgnb.diagnosis.diagnosis import Diagnosis


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 900)
    mix = rng.normal(size=(3, 4, 4))
    return np.einsum("nd,nde->ne", rng.normal(size=(900, 4)), mix[y]) + 50 * y[:, None], y


@pytest.fixture(scope="module")
def found(rows) -> Diagnosis:
    return diagnose(GaussianNB().fit(*rows), *rows)


def test_correlations_are_those_of_numpy(rows, found):
    X, y = rows
    for c in range(3):
        R = np.corrcoef(X[y == c].T)
        np.testing.assert_allclose(found.correlation[c], R, atol=1e-12)
        total = -0.5 * np.linalg.slogdet(R)[1]
        assert found.total_correlation[c] + found.total_by_chance[c] == pytest.approx(total)
    centred = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    np.testing.assert_allclose(found.pooled_correlation, np.corrcoef(centred.T), atol=1e-12)
    share = np.bincount(y) / len(y)
    assert found.dependence == pytest.approx(share @ found.total_correlation)
    assert not found.is_bound.any()


def test_pairs_are_those_that_share_most(rows, found):
    X, y = rows
    share = np.bincount(y) / len(y)
    expected = {}
    for i in range(4):
        for j in range(i + 1, 4):
            r = np.array([np.corrcoef(X[y == c][:, [i, j]].T)[0, 1] for c in range(3)])
            expected[f"feature {i}", f"feature {j}"] = share @ (-0.5 * np.log(1 - r**2))
    pairs = found.pairs(100)
    assert [each.nats for each in pairs] == sorted((each.nats for each in pairs), reverse=True)
    for pair in pairs:
        assert pair.nats == pytest.approx(expected.pop((pair.first, pair.second)))
        i, j = (int(name[-1]) for name in pair[:2])
        assert pair.correlation == found.pooled_correlation[i, j]
    assert not expected
    assert found.pairs(0) == []


@pytest.mark.compiled
def test_chance_is_the_mean_of_independent_rows(rng):
    n, d, repeats = 30, 5, 400
    X = rng.normal(size=(n * repeats, d)) * rng.uniform(1, 9, d)
    stats = ClassStats.from_rows(X, np.repeat(np.arange(repeats), n), scatter="full")
    plain = [-0.5 * np.linalg.slogdet(np.corrcoef(each.T))[1] for each in X.reshape(-1, n, d)]
    result = dependence_of(stats, np.full(repeats, float(n)))
    error = result.noise[0] / np.sqrt(repeats)
    assert abs(np.mean(plain) - result.chance[0]) < 4 * error
    assert np.std(plain) == pytest.approx(result.noise[0], rel=0.15)
    assert result.chance[0] == pytest.approx(d * (d - 1) / (4 * n), rel=0.15)
    np.testing.assert_allclose(result.total, np.maximum(np.array(plain) - result.chance, 0))


def test_copies_are_named_and_bound_the_total():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3)) + y[:, None]
    wide = np.column_stack([X, X[:, 1], -7 * X[:, 0] + 3, X[:, 0] - 2 * X[:, 1] + 0.5 * X[:, 2]])
    found = diagnose(GaussianNB().fit(wide, y), wide, y)
    assert found.copies == ((3, 1), (4, 0), (5, -1))
    assert found.is_bound.all()
    assert (found.total_correlation > 3 * 0.5 * 30).all()  # three eigenvalues of about 2^-50
    text = next(text for text in found.findings if "copy" in text)
    assert "feature 3 is a copy of feature 1" in text
    assert "others determine feature 5" in text
    chance = diagnose(GaussianNB().fit(X, y), X, y).total_by_chance
    np.testing.assert_allclose(found.total_by_chance, chance)


def test_constants_have_no_correlation_and_are_listed():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 3))
    X[y == 1, 2] = 0.1
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert found.constant.tolist() == [[False] * 3, [False, False, True]]
    np.testing.assert_array_equal(found.correlation[1, 2], [0, 0, 1])
    assert np.isfinite(found.total_correlation).all()
    assert not found.is_bound.any()
    assert "Features do not vary within a class: feature 2 in class 1." in found.findings
    assert np.isnan([found.skewness[1, 2], found.negentropy[1, 2], found.kolmogorov[1, 2]]).all()
    assert len(found.qq(1, 2).empirical) == 0


def test_fewer_rows_than_features_say_nothing():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [5, 100])
    X = rng.normal(size=(105, 6))
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert np.isnan(found.total_correlation[0])
    assert found.is_bound[0]
    assert found.dependence == found.total_correlation[1]
    only = diagnose(GaussianNB().fit(X[:5], y[:5]), X[:5], y[:5])
    assert np.isnan(only.dependence)
    assert not any("Independence" in text for text in only.findings)


def test_pair_nats_of_copies_are_finite():
    R = np.array([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    nats = pair_nats(R, np.array([1.0, 3.0]))
    assert nats[0, 1] == nats[1, 0] == pytest.approx(0.25 * -0.5 * np.log(2 * 2.0**-52))
    assert nats[0, 0] == 0


@pytest.mark.parametrize(("k", "n", "d"), [(30, 3, 5), (30, 5, 5), (2, 20, 40), (200, 10, 3)])
def test_independent_features_of_few_rows_say_nothing(k, n, d):
    """Neither too few rows nor chance that adds up over classes is taken for dependence."""
    rng = np.random.default_rng(d)
    y = np.arange(k * n) % k
    model = GaussianNB().fit(rng.normal(size=(50 * k, d)), np.arange(50 * k) % k)
    for weight in (None, np.full(k * n, 0.1)):
        found = diagnose(model, rng.normal(size=(k * n, d)), y, weight)
        assert found.findings == ()
        assert np.isnan(found.total_correlation).all() == (n <= d)


def test_copies_are_found_in_few_rows(rng):
    X, y = rng.normal(size=(20, 12)), np.arange(20) % 2
    X = np.column_stack([X, -2 * X[:, 3], X[:, 0]])
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert found.copies == ((12, 3), (13, 0))
    few = diagnose(GaussianNB().fit(X, y), X[:4], y[:4])
    assert set(few.copies) == {(12, 3), (13, 0)}
    assert diagnose(GaussianNB().fit(X, y), X[:3], y[:3]).copies == ()
