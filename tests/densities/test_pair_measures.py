"""Measures of a pair of classes: against numerical integrals and exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from fastgnb.densities.pair_measures import (
    category_auc,
    category_jeffreys,
    normal_auc,
    normal_jeffreys,
    value_auc,
)

PAIRS = [
    (0.0, 1.0, 1.0), (0.0, 1.0, 4.0), (0.0, 1.0, 1e4), (1.0, 1.0, 1.0), (1.0, 2.0, 0.5),
    (-1.0, 2.0, 0.5), (0.3, 1.0, 1.0001), (3.0, 0.2, 7.0), (4.0, 1.0, 1.0), (2.0, 1e-3, 5.0),
]  # fmt: skip


def log_odds(x, distance, v, w):
    return norm.logpdf(x, 0.0, math.sqrt(v)) - norm.logpdf(x, distance, math.sqrt(w))


def auc_on_a_grid(distance, v, w, n=400_001):
    """Mass of both densities on a fine grid, sorted by log odds: the area under the ROC curve."""
    low = min(-9 * math.sqrt(v), distance - 9 * math.sqrt(w))
    high = max(9 * math.sqrt(v), distance + 9 * math.sqrt(w))
    x = np.linspace(low, high, n)
    p, q = norm.pdf(x, 0.0, math.sqrt(v)), norm.pdf(x, distance, math.sqrt(w))
    order = np.argsort(-log_odds(x, distance, v, w), kind="stable")
    tp, fp = np.cumsum(p[order]) / p.sum(), np.cumsum(q[order]) / q.sum()
    return float((np.diff(fp, prepend=0.0) * (tp + np.r_[0.0, tp[:-1]])).sum() / 2)


@pytest.mark.parametrize("pair", PAIRS)
def test_auc_of_log_odds_on_a_grid(pair):
    assert normal_auc(*pair) == pytest.approx(auc_on_a_grid(*pair), abs=2e-4)


def auc_by_quadrature(distance, v, w):
    """Of each x the chance that a draw of the other class has lower log odds, integrated."""
    turn = -distance * v / (w - v)  # where the log odds turn

    def below(x):
        reach = abs(x - turn)
        inside = norm.cdf(turn + reach, distance, math.sqrt(w))
        inside -= norm.cdf(turn - reach, distance, math.sqrt(w))
        return (inside if v > w else 1.0 - inside) * norm.pdf(x, 0.0, math.sqrt(v))

    points = [turn, 0.0, -3 * math.sqrt(v), 3 * math.sqrt(v)]
    reach = 40 * math.sqrt(v)
    points = [point for point in points if abs(point) < reach]
    return quad(below, -reach, reach, points=points, epsabs=1e-13, epsrel=1e-13, limit=500)[0]


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[1] != pair[2]])
def test_auc_of_log_odds_by_quadrature(pair):
    assert normal_auc(*pair) == pytest.approx(auc_by_quadrature(*pair), abs=1e-11)


@pytest.mark.parametrize("pair", PAIRS)
def test_auc_of_values_by_quadrature(pair):
    distance, v, w = pair

    def above(x):
        return norm.cdf(x, 0.0, math.sqrt(v)) * norm.pdf(x, distance, math.sqrt(w))

    reach = 40 * math.sqrt(w)
    points = [distance - 3 * math.sqrt(w), distance, distance + 3 * math.sqrt(w), 0.0]
    points = [point for point in points if abs(point - distance) < reach]
    area = quad(above, distance - reach, distance + reach, points=points, epsabs=1e-13, limit=500)
    assert value_auc(*pair) == pytest.approx(max(area[0], 1 - area[0]), abs=1e-11)


def test_auc_of_equal_variances_is_that_of_the_values():
    distance = np.linspace(-5, 5, 41)
    assert normal_auc(distance, 1.5, 1.5) == pytest.approx(value_auc(distance, 1.5, 1.5), abs=1e-15)
    for step in 10.0 ** -np.arange(1, 16):
        w = 1.5 * (1 + step)
        gain = normal_auc(distance, 1.5, w) - value_auc(distance, 1.5, w)
        assert (gain >= -4e-16).all()
        assert (gain <= step).all()


def test_auc_does_not_depend_on_order_or_units(rng):
    distance, v, w = rng.normal(size=50), rng.exponential(size=50), rng.exponential(size=50)
    for measure in (normal_auc, value_auc, normal_jeffreys):
        expected = measure(distance, v, w)
        assert measure(-distance, w, v) == pytest.approx(expected, rel=1e-13)
        unit = 2.0**300
        assert measure(unit * distance, unit**2 * v, unit**2 * w) == pytest.approx(expected)


@pytest.mark.parametrize("pair", PAIRS)
def test_jeffreys_by_quadrature(pair):
    distance, v, w = pair

    def term(x):
        odds = log_odds(x, distance, v, w)
        return (norm.pdf(x, 0, math.sqrt(v)) - norm.pdf(x, distance, math.sqrt(w))) * odds

    points = [0.0, distance, *(s * 3 * math.sqrt(u) for u in (v, w) for s in (-1, 1))]
    reach = 12 * math.sqrt(max(v, w)) + abs(distance)
    area = quad(term, -reach, reach, points=points, epsabs=1e-12, epsrel=1e-12, limit=2000)[0]
    assert normal_jeffreys(*pair) == pytest.approx(area, rel=1e-8, abs=1e-12)


def test_jeffreys_is_that_of_exact_rationals(rng):
    for _ in range(20):
        distance, v, w = (Fraction(float(x)) for x in rng.uniform(0.1, 3, 3))
        exact = ((v - w) ** 2 / (v * w) + distance**2 * (1 / v + 1 / w)) / 2
        got = normal_jeffreys(float(distance), float(v), float(w))
        assert float(got) == pytest.approx(float(exact), rel=4e-16 * 4)


def test_points_and_a_point_in_a_density():
    """Variances of 0: alike where both are one point, apart elsewhere."""
    assert normal_auc([0.0, 1.0, 0.0, 1.0], 0.0, [0.0, 0.0, 1.0, 1.0]).tolist() == [0.5, 1, 1, 1]
    assert value_auc([0.0, 1.0, 0.0], 0.0, [0.0, 0.0, 1.0]).tolist() == [0.5, 1.0, 0.5]
    jeffreys = normal_jeffreys([0.0, 1.0, 0.0, 2.0], 0.0, [0.0, 0.0, 1.0, 1.0])
    assert jeffreys.tolist() == [0.0, math.inf, math.inf, math.inf]


# ------------------------------------------------------------------------------- categories


def exact_auc(p, q):
    """Over all pairs of categories, in rationals: larger odds win, equal ones are half a win."""
    area = Fraction(0)
    for a, b in zip(p, q, strict=True):
        for c, d in zip(p, q, strict=True):
            mine, theirs = a * d, c * b  # a / b against c / d
            area += a * d * (1 if mine > theirs else Fraction(1, 2) if mine == theirs else 0)
    return area


def shares(counts):
    total = sum(counts)
    return [Fraction(count, total) for count in counts]


COUNTS = [
    ([1, 2, 3], [3, 2, 1]), ([1, 1], [1, 1]), ([5, 0, 1], [0, 5, 1]), ([1, 0], [0, 1]),
    ([2, 4, 1, 3], [1, 2, 3, 4]), ([0, 7, 0, 1], [0, 1, 2, 5]), ([1], [1]),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), COUNTS)
def test_auc_of_categories_is_that_of_exact_rationals(first, second):
    p, q = shares(first), shares(second)
    got = category_auc(np.array(p, float), np.array(q, float))
    assert float(got) == pytest.approx(float(exact_auc(p, q)), abs=2e-16)
    assert category_auc(np.array(q, float), np.array(p, float)) == pytest.approx(got, abs=2e-16)
    assert 0.5 <= got <= 1.0


def test_auc_of_categories_for_many_pairs(rng):
    counts = rng.integers(0, 9, (6, 11)) + 1
    p = counts / counts.sum(axis=1, keepdims=True)
    got = category_auc(p, p[2])
    for row, value in zip(counts.tolist(), got, strict=True):
        assert value == pytest.approx(float(exact_auc(shares(row), shares(counts[2].tolist()))))


@pytest.mark.parametrize(("first", "second"), COUNTS)
def test_jeffreys_of_categories(first, second):
    p, q = shares(first), shares(second)
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a != b]
    expected = math.inf
    if all(a and b for a, b in pairs):
        expected = math.fsum(float(a - b) * math.log(a / b) for a, b in pairs)
    got = category_jeffreys(np.array(p, float), np.array(q, float))
    assert float(got) == pytest.approx(expected, rel=1e-14, abs=1e-16)
