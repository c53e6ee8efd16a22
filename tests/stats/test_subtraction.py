"""Rows leave statistics: at any ratio of weights, and at any scale of weights and rows."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import oracles
import pytest
from sklearn.base import clone

from fastgnb import ClassStats, GaussianBayes, GaussianNB, PCAGaussianNB
from fastgnb.stats.mixed_stats import MixedStats

NONE = np.nan
of = ClassStats.from_rows
BELOW = (
    "Cannot subtract: the weights of class 0, 10000000000000.6 less 10000000000000, are equal to "
    "within their rounding error, and the rows are not (feature {}). What would be left cannot be "
    "told from rounding. Add the statistics of the rows that stay instead."
)


def below(feature):
    return f"^{re.escape(BELOW.format(feature))}$"


def light(**how):
    return of([[0.0, 1], [1, 3]], [0, 0], [0.3, 0.3], **how)


@pytest.mark.promise("merging")
@pytest.mark.parametrize("scatter", ["diag", "full"])
def test_what_is_left_below_rounding_is_called_that(scatter):
    heavy = of([[1000.0, 5]], [0], [1e13], scatter=scatter)
    whole = light(scatter=scatter) + heavy
    with pytest.raises(ValueError, match=below(0)):
        whole - heavy
    nothing = whole - (heavy + light(scatter=scatter))
    assert not nothing.count.any()
    assert not nothing.mean.any()
    assert not nothing.scatter.any()


@pytest.mark.parametrize("row", [[NONE, 5.0], [NONE, NONE]])
def test_values_of_a_class_without_weight_are_below_rounding_too(row):
    heavy = of([row], [0], [1e13], missing="skip")
    with pytest.raises(ValueError, match=below(0)):
        light(missing="skip") + heavy - heavy


@pytest.mark.parametrize("categorical", [[1], [0, 1]])
def test_counts_of_categories_below_rounding(categorical):
    def mixed(rows, weight):
        return MixedStats.from_rows(
            np.array(rows), [0] * len(rows), weight, categorical_features=categorical
        )

    heavy = mixed([[9.0, 1]], [1e13])
    with pytest.raises(ValueError, match=below(0)):
        mixed([[0.0, 1], [1, 2]], [0.3, 0.3]) + heavy - heavy


@pytest.mark.parametrize("ratio", [1e9, 1e10, 1e11, 1e12, 5e12])
@pytest.mark.parametrize("how", [{}, {"scatter": "full"}, {"missing": "skip"}])
def test_what_is_left_is_within_the_rounding_of_the_weights(ratio, how):
    heavy = of([[1000.0, 5]], [0], [ratio], **how)
    left = light(**how) + heavy - heavy
    error = np.spacing(ratio) / 0.6 * 4
    assert abs(left.count[0] / 0.6 - 1) <= error
    np.testing.assert_allclose(left.mean, [[0.5, 2]], atol=1000 * error)
    np.testing.assert_allclose(left.variance, [[0.25, 1]], atol=1e6 * error + 1e-12)


def test_whole_weights_leave_exact_ones_at_any_ratio():
    heavy = of([[1000.0, 5]], [0], [2.0**50])
    left = of([[0.0, 1], [1, 3]], [0, 0]) + heavy - heavy
    assert left.count[0] == 2
    np.testing.assert_allclose(left.mean, [[0.5, 2]], rtol=1e-9)
    strange = of([[999.0, 5]], [0], [2.0**50])
    with pytest.raises(ValueError, match=r"class 0 .* on both sides, .* rows that were not added"):
        heavy - strange


@pytest.mark.parametrize("weight", [1e-320, 1e-290, 1.0, 1e200, 1e290])
@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1.0, 1e60, 1e150])
@pytest.mark.parametrize("scatter", ["diag", "full"])
def test_any_scale(weight, unit, scatter):
    X = np.array([[1.0, 2], [3, 5], [4, 9], [7, 1]]) * unit
    y, w = np.zeros(4, int), np.full(4, weight)

    def part(rows, times=1):
        return of(times * X[rows], y[rows], w[rows], scatter=scatter)

    whole = part([0, 1, 2, 3])
    left = whole - part([1, 2])
    exact = oracles.class_stats(X[[0, 3]], [0, 0])
    variance = np.array([[float(s / 2) for s in row] for row in exact.scatter])
    np.testing.assert_allclose(left.variance, variance, rtol=1e-13)
    np.testing.assert_allclose(left.mean, [[float(m) for m in row] for row in exact.mean])
    if scatter == "full":
        wanted = part([0, 3]).covariance
        assert np.abs(left.covariance - wanted).max() <= 1e-13 * variance.max()
    last = left - part([0])
    np.testing.assert_allclose(last.mean, X[3:], rtol=1e-13)
    assert last.variance.max() < 1e-13 * variance.max()
    assert not (last - part([3])).count.any()
    with pytest.raises(ValueError, match="rows that were not added"):
        whole - part([1, 2], times=2)


@pytest.mark.parametrize("weight", [1e-320, 1e-290, 1e200, 1e290])
@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1e60, 1e140])
@pytest.mark.parametrize(
    "model", [GaussianNB(tied=True), GaussianBayes(), PCAGaussianNB()], ids=str
)
def test_models_of_what_is_left_at_any_scale(rng, weight, unit, model):
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X += y[:, None]
    wanted = clone(model).fit(X[20:], y[20:]).predict_proba(X)
    parts = [
        of(X[rows] * unit, y[rows], np.full(20, weight), scatter="full")
        for rows in (slice(0, 20), slice(20, 40))
    ]
    left = clone(model).fit_stats(parts[0] + parts[1] - parts[0])
    np.testing.assert_allclose(left.predict_proba(X * unit), wanted, rtol=1e-9, atol=1e-12)


def test_windows_at_any_scale(rng):
    """Sums that come and go, with peaks of scatter that float64 does not hold."""
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    for weight, unit in ((1e-310, 1e-60), (1.0, 1.0), (1e250, 1e80)):
        parts = [
            of(X[a : a + 10] * unit, y[a : a + 10], np.full(10, weight)) for a in range(0, 60, 10)
        ]
        window = sum(parts[:3])
        for old, new in zip(parts, parts[3:], strict=False):
            window = window + new - old
        exact = oracles.class_stats(X[30:] * unit, y[30:])
        for got, scatter, count in zip(window.variance, exact.scatter, exact.count, strict=True):
            for value, wanted in zip(got, scatter, strict=True):
                assert abs(Fraction(float(value)) / (wanted / count) - 1) < 1e-12


def test_decay_to_nothing_leaves_no_rows_behind():
    stats = of([[1.0, 2], [3, 5], [4, 9]], ["a", "a", "b"], [1.0, 1.0, 1e-310])
    for _ in range(10):
        stats = stats.decay(2.0**-10)
    assert stats.count.tolist() == [2 * 2.0**-100, 0]
    assert stats.mean.tolist() == [[2, 3.5], [0, 0]]
    assert (stats + of([[8.0, 9]], ["b"])).mean[1].tolist() == [8, 9]


@pytest.mark.parametrize(
    ("light", "heavy"), [(1e-5, 2.0**40), (1e-3, 1e14), (0.3, 2.0**52), (1e-17, 1.0), (1e-9, 8e6)]
)
@pytest.mark.parametrize("scatter", ["diag", "full"])
def test_weights_that_round_away_beside_whole_numbers(light, heavy, scatter):
    """Their sum is a whole number, as if it were exact."""
    a = ClassStats.from_rows([[1.0], [2.0]], [0, 0], [light / 2, light / 2], scatter=scatter)
    b = ClassStats.from_rows([[5.0]], [0], [heavy], scatter=scatter)
    with pytest.raises(ValueError, match="cannot be told from rounding"):
        (a + b) - b


def test_categories_of_weights_that_round_away():
    def stats(code, weight):
        return MixedStats.from_rows([[code]], ["x"], [weight], categorical_features=[0])

    a, b = stats(1, 0.1), stats(2, 6e15)
    with pytest.raises(ValueError, match=r"other rows .* cannot be told from rounding"):
        (a + b) - b


def test_more_values_than_rows_is_told_apart_from_rounding():
    a = ClassStats.from_rows([[1.0], [2.0]], [0, 0], missing="skip")
    b = ClassStats.from_rows([[np.nan], [np.nan]], [0, 0], missing="skip")
    with pytest.raises(ValueError, match="rows that were not added: more values than rows"):
        a - b
