"""Statistics and naive Bayes against exact fractions, for weights and rows of any scale."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import oracles
import pytest

from fastgnb import ClassStats, GaussianNB

MODELS = [
    {"covariance_type": shape, "tied": tied} for shape in ("diag", "spherical") for tied in (0, 1)
]


class Problem(NamedTuple):
    """Rows, labels and weights."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None


def problem(seed):
    """A few rows with weights and features of any scale, in many shapes."""
    draw = np.random.default_rng([20, seed])
    n, d, k = draw.integers(2, 20), draw.integers(1, 4), draw.integers(1, 4)
    y = draw.integers(0, k, n)
    X = draw.normal(size=(n, d)) if draw.random() < 0.5 else draw.integers(-9, 10, (n, d)) * 1.0
    X += y[:, None] * draw.integers(0, 3) + draw.choice([0.0, 1.0, 1e3])
    if draw.random() < 0.3:
        X[:, 0] = X[0, 0]  # constant
    if draw.random() < 0.3:
        X[draw.integers(n)] = X[0]  # twice
    # The square of a feature, and of what is 1e9 times smaller, are in range.
    X = np.ldexp(
        X, draw.integers(-440, 480, d) if draw.random() < 0.6 else draw.integers(-440, 480)
    )
    return Problem(X, y, weights(draw, n, y))


def weights(draw, n, y):
    kind = draw.integers(5)
    if kind == 0:
        return None
    weight = draw.random(n) + 0.1 if kind < 3 else draw.integers(1, 9, n) * 1.0
    if kind == 2:
        weight = np.ldexp(weight, draw.integers(-200, 200, n))  # of rows
    if kind == 4:
        weight = np.ldexp(weight, draw.integers(-400, 400, y.max() + 1)[y])  # of classes
    top = int(np.frexp(weight.max())[1])
    weight = np.ldexp(weight, draw.choice([-1073, -1000, -300, -60, 0, 60, 300, 990]) - top)
    if draw.random() < 0.2:
        weight[draw.integers(n)] = 0.0
    return weight if (weight > 0).any() else None


class Exact(NamedTuple):
    """Of each class and feature: variance; of each feature: over all rows, and within classes."""

    stats: oracles.Stats
    variance: list[list[Fraction]]
    whole: list[Fraction]
    pooled: list[Fraction]


def exact(given):
    stats = oracles.class_stats(given.X, given.y, given.weight)
    variance = [
        [s / w if w else Fraction(0) for s, w in zip(*row, strict=True)]
        for row in zip(stats.scatter, stats.weight, strict=True)
    ]
    whole = [oracles.sums(column, given.weight) for column in given.X.T]
    total = sum(stats.count)
    pooled = [sum(column) / total for column in zip(*stats.scatter, strict=True)]
    return Exact(stats, variance, [s.scatter / s.weight for s in whole], pooled)


def moments(wanted, covariance_type, tied):
    """Exact priors, means and smoothed variances."""
    k, d = len(wanted.variance), len(wanted.whole)
    epsilon = max(wanted.whole) * oracles.exact(1e-9) or oracles.exact(1e-9)
    variance = [wanted.pooled] * k if tied else wanted.variance
    if covariance_type == "spherical":
        variance = [[sum(row) / d] * d for row in variance]
    prior = [n / sum(wanted.stats.count) for n in wanted.stats.count]
    return prior, wanted.stats.mean, [[v + epsilon for v in row] for row in variance], epsilon


def is_near(got, want, rtol, atol=0.0):
    """Whether a number is within relative and absolute errors of an exact one."""
    return abs(oracles.exact(got) - want) <= Fraction(rtol) * abs(want) + Fraction(atol)


def check_stats(found, wanted):
    for c, row in enumerate(wanted.variance):
        for j, variance in enumerate(row):
            mean = wanted.stats.mean[c][j]
            assert is_near(found.variance[c, j], variance, 2e-13, 1e-300), (c, j)
            error = oracles.exact(found.mean[c, j]) - mean
            assert error**2 <= Fraction(1e-28) * (variance + mean**2), (c, j)
        assert is_near(found.count[c], wanted.stats.count[c], 1e-14), c
    whole = found.as_one_class()
    for j, variance in enumerate(wanted.whole):
        assert is_near(whole.variance[0, j], variance, 2e-13, 1e-300), j


def rounding(x, mean, variance):
    """What the rounding of the mean makes of squares, far from 0 in units of the spread."""
    total = Fraction(0)
    for value, m, v in zip(x, mean, variance, strict=True):
        slack = (abs(oracles.exact(value)) + abs(m)) / 2**51
        total += (
            (abs(oracles.exact(value) - m) + slack) ** 2 - (oracles.exact(value) - m) ** 2
        ) / v
    return total


def check_model(model, given, wanted):
    params = model.get_params()
    prior, mean, variance, epsilon = moments(wanted, params["covariance_type"], params["tied"])
    assert is_near(model.epsilon_, epsilon, 2e-13)
    for c, row in enumerate(variance):
        if prior[c]:
            assert all(is_near(v, w, 4e-13) for v, w in zip(model.var_[c], row, strict=True)), c
    if min(p for p in prior if p) < Fraction(2) ** -1022:
        return  # shares that float64 has few digits of
    got = model.predict_joint_log_proba(given.X[:3])
    for x, row in zip(given.X[:3], got, strict=True):
        want = oracles.joint(x, prior, mean, variance)
        for value, target, *own in zip(row, want, mean, variance, strict=True):
            if not target.is_finite():
                assert value == -np.inf
            else:
                error = abs(Fraction(float(value)) - Fraction(target))
                assert error <= Fraction(1e-12) * Fraction(abs(target) + 1) + rounding(x, *own)


def check_identities(given, draw):
    """Other orders, units of weight and pieces give the same statistics."""
    X, y, weight = given
    n, d = X.shape
    plain = np.ones(n) if weight is None else weight
    base = ClassStats.from_rows(X, y, weight)
    rows, columns = draw.permutation(n), draw.permutation(d)
    check_same(base, ClassStats.from_rows(X[rows], y[rows], plain[rows]))
    other = ClassStats.from_rows(X[:, columns], y, weight)
    assert other.variance.tolist() == base.variance[:, columns].tolist()
    assert other.mean.tolist() == base.mean[:, columns].tolist()
    up = int(draw.integers(0, 1000 - np.frexp(plain.sum())[1]))  # no digits are lost upwards
    lifted = ClassStats.from_rows(X, y, np.ldexp(plain, up))
    check_same(base, lifted)
    pieces = [slice(0, n // 2), slice(n // 2, n)]
    parts = [ClassStats.from_rows(X[p], y[p], plain[p], classes=base.classes) for p in pieces]
    check_same(base, parts[0] + parts[1])
    return parts


def check_same(a, b):
    np.testing.assert_array_equal(a.classes, b.classes)
    np.testing.assert_allclose(b.variance, a.variance, rtol=4e-13, atol=1e-300)
    scale = np.sqrt(a.variance) + np.abs(a.mean)
    assert (np.abs(b.mean - a.mean) <= 1e-13 * scale).all()


def check_left(parts):
    """a + b - b is a, unless what is left is below the rounding of the weights."""
    a, b = parts
    try:
        left = a + b - b
    except ValueError as error:
        if "equal to within their rounding error" in str(error):
            return
        raise
    whole = a + b
    for c in np.flatnonzero((a.count > 0) & (b.count > 0) & (left.count > 0)):
        lost = 1e-12 * (whole.count[c] / a.count[c])
        step = np.abs(a.mean[c] - b.mean[c]) + np.sqrt(b.variance[c]) + np.sqrt(a.variance[c])
        size = np.abs(a.mean[c]) + step
        assert (np.abs(left.mean[c] - a.mean[c]) <= lost * step + 1e-13 * size).all()
        assert (np.abs(left.variance[c] - a.variance[c]) <= lost * 8 * step * size).all()


def check(seed):
    given = problem(seed)
    wanted = exact(given)
    check_stats(ClassStats.from_rows(*given), wanted)
    for params in MODELS:
        model = GaussianNB(**params | {"tied": bool(params["tied"])})
        check_model(model.fit(*given), given, wanted)
    with np.errstate(over="ignore"):
        check_left(check_identities(given, np.random.default_rng(seed)))


@pytest.mark.promise("weights")
@pytest.mark.parametrize("part", range(4))
def test_a_few_problems(part):
    for seed in range(15 * part, 15 * part + 15):
        check(seed)


@pytest.mark.promise("weights")
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_problems(part):
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        check(seed)
