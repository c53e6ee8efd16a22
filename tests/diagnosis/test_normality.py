"""Normality of a diagnosis against scipy.stats and plain sums over bins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fastgnb import GaussianNB, diagnose
from fastgnb.diagnosis.diagnosis import Diagnosis
from fastgnb.diagnosis.normality import edges_of


@pytest.fixture(scope="module")
def rows():
    """Two classes, of a normal, a skewed and a heavy-tailed feature."""
    rng = np.random.default_rng(5)
    n = 4000
    y = rng.integers(0, 2, n)
    X = np.column_stack([rng.normal(size=n), rng.gamma(2.0, size=n), rng.standard_t(4, n)])
    return X * [1.0, 3.0, 0.1] + 1e3 + y[:, None], y


@pytest.fixture(scope="module")
def found(rows) -> Diagnosis:
    return diagnose(GaussianNB(var_smoothing=0).fit(*rows), *rows)


def test_moments_are_those_of_scipy(rows, found):
    X, y = rows
    for c in range(2):
        own = X[y == c]
        np.testing.assert_allclose(found.skewness[c], stats.skew(own), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.excess_kurtosis[c], stats.kurtosis(own), rtol=1e-9)
        z = (own - own.mean(axis=0)) / own.std(axis=0)
        np.testing.assert_allclose(found.beyond_3sd[c], (np.abs(z) > 3).mean(axis=0), rtol=1e-13)
    assert found.normal_beyond_3sd == pytest.approx(2 * stats.norm.sf(3), rel=1e-14)
    np.testing.assert_allclose(found.mean_z, 0, atol=1e-9)
    np.testing.assert_allclose(found.sd_z, 1, rtol=1e-9)


def test_kolmogorov_distance_is_that_at_the_edges(rows, found):
    X, y = rows
    for c in range(2):
        for j in range(3):
            own = X[y == c, j]
            z = (own - own.mean()) / own.std()
            below = np.array([(z < edge).mean() for edge in found.z_edges[1:-1]])
            expected = np.abs(below - stats.norm.cdf(found.z_edges[1:-1])).max()
            assert found.kolmogorov[c, j] == pytest.approx(expected, abs=2e-3)
            # No bin is so wide that more than this can be missed.
            exact = stats.kstest(z, "norm").statistic
            assert expected - 1e-12 <= exact <= expected + 1 / 16 * stats.norm.pdf(0) + 0.01


def plain_negentropy(counts, edges, mean, sd):
    """Groups from the left, by a loop: nats less chance, the G statistic, and their number."""
    n = counts.sum()
    q = np.diff(stats.norm.cdf(edges, mean, sd))
    groups, p_sum, q_sum, left = [], 0.0, 0.0, 1.0
    for b, (p, share) in enumerate(zip(counts / n, q, strict=True)):
        p_sum, q_sum = p_sum + p, q_sum + share
        ends = q_sum * n >= 5 and (left - q_sum) * n >= 5
        if ends or b == len(q) - 1:
            groups.append((p_sum, q_sum))
            left, p_sum, q_sum = left - q_sum, 0.0, 0.0
    nats = sum(p * np.log(p / q) for p, q in groups if p > 0)
    return max(nats - (len(groups) - 3) / (2 * n), 0.0), 2 * n * nats, len(groups)


def test_negentropy_and_p_value_are_those_of_a_loop(found):
    statistic, freedom = np.zeros(3), np.zeros(3)
    for c in range(2):
        for j in range(3):
            nats, g, groups = plain_negentropy(
                found.z_counts[c, j], found.z_edges, found.mean_z[c, j], found.sd_z[c, j]
            )
            assert found.negentropy[c, j] == pytest.approx(nats, rel=1e-6, abs=1e-9)
            statistic[j] += g
            freedom[j] += groups - 1
    np.testing.assert_allclose(found.p_value, stats.chi2.sf(statistic, freedom), rtol=1e-4)
    weights = found.class_weight / found.class_weight.sum()
    np.testing.assert_allclose(found.feature_negentropy, weights @ found.negentropy)


@pytest.mark.compiled
def test_negentropy_approaches_that_of_the_density():
    """An exponential distribution is log(sqrt(2 pi e)) - 1 nats from normal; groups lose some."""
    X = stats.expon.ppf((np.arange(400_000) + 0.5) / 400_000)[:, None]
    y = np.zeros(len(X), int)
    found = diagnose(GaussianNB().fit(X, y), X, y)
    exact = 0.5 * np.log(2 * np.pi * np.e) - 1
    assert exact - 0.02 < found.negentropy[0, 0] < exact
    assert found.skewness[0, 0] == pytest.approx(2, abs=0.01)
    assert found.kolmogorov[0, 0] == pytest.approx(stats.norm.cdf(-1), abs=0.02)


def test_features_are_ranked_by_what_they_lose(found):
    assert found.ranking[-1] == 0
    assert found.p_value[0] > 1e-3
    assert found.p_value[1:].max() < 1e-9
    assert found.feature_negentropy[0] < 0.01 < found.feature_negentropy[1:].min()
    assert "fails in 2 of 3 features, most in feature 1" in found.findings[0]


def test_quantiles_are_those_of_the_rows(rows, found):
    X, y = rows
    own = X[y == 1, 2]
    z = (own - own.mean()) / own.std()
    theoretical, empirical = found.qq(1, "feature 2")
    assert len(theoretical) > 50
    assert (np.diff(theoretical) > 0).all()
    half = 1 / 32 + 1e-9
    for normal, value in zip(theoretical, empirical, strict=True):
        share = stats.norm.cdf(normal)
        assert (z < value - half).mean() < share < (z < value + half).mean()
    np.testing.assert_array_equal(found.qq(1, 2).empirical, empirical)


def test_weights_are_as_many_rows(rows):
    X, y = rows[0][:600], rows[1][:600]
    weight = np.random.default_rng(0).integers(0, 4, 600)
    model = GaussianNB().fit(X, y)
    weighted = diagnose(model, X, y, weight)
    copied = diagnose(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for name in ("mean_z", "sd_z", "skewness", "excess_kurtosis", "beyond_3sd", "kolmogorov"):
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(copied, name), rtol=1e-10, atol=1e-12
        )
    np.testing.assert_allclose(weighted.z_counts, copied.z_counts)
    np.testing.assert_allclose(weighted.correlation, copied.correlation, atol=1e-12)
    assert weighted.n_rows == (weight > 0).sum()
    # As evidence they are fewer.
    assert (weighted.p_value >= copied.p_value).all()
    assert (weighted.total_by_chance > copied.total_by_chance).all()


def test_rows_far_from_the_model_are_judged_by_their_own_mean(rows):
    X, y = rows
    model = GaussianNB().fit(X, y)
    moved = diagnose(model, X * 0.5 + 3e3, y)
    own = X[y == 0]
    np.testing.assert_allclose(moved.skewness[0], stats.skew(own), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(moved.sd_z, 0.5, rtol=1e-6)
    assert np.isnan(moved.negentropy).all()  # all rows are in a tail
    assert any("in the means of 6 of 6" in text for text in moved.findings)


@pytest.mark.parametrize("n_bins", [34, 66, 258])
def test_edges_are_symmetric_and_meet_three_standard_deviations(n_bins):
    edges = edges_of(n_bins)
    assert len(edges) == n_bins + 1
    np.testing.assert_array_equal(edges, -edges[::-1])
    assert 3.0 in edges


def test_classes_are_worked_on_in_blocks(rows, found, monkeypatch):
    monkeypatch.setattr("fastgnb.diagnosis.normality._BLOCK", 1)
    again = diagnose(GaussianNB(var_smoothing=0).fit(*rows), *rows)
    for name in ("negentropy", "kolmogorov", "p_value", "feature_negentropy"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))


def test_equal_values_away_from_the_mean_of_the_model_are_constant():
    """Their standardized values have rounding errors, in which no quantile means anything."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1], 30)
    model = GaussianNB().fit(X, y)
    later = rng.normal(size=(60, 2))
    later[y == 0, 1] = 1 / 3
    found = diagnose(model, later, y)
    assert found.sd_z[0, 1] == 0.0
    assert np.isnan(found.skewness[0, 1])
    assert len(found.qq(0, 1).empirical) == 0
    assert found.sd_z[1, 1] > 0.5
