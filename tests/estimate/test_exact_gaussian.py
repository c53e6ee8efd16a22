"""Full, tied and rotated Gaussians against exact arithmetic on ten kinds of data."""

from __future__ import annotations

import numpy as np
import pytest
from exact_gaussian import gaussians

from fastgnb import GaussianBayes, PCAGaussianNB

# Errors in units of what one rounding in a matrix of correlations makes of a score.
MOST = 8.0


def normal(rng, n, d, k):
    y = np.arange(n) % k
    mix = rng.normal(size=(k, d, d)) + np.eye(d)
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mix[y]) + 2 * rng.normal(size=(k, d))[y]
    return X, y, None


def rank_deficient(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    X = np.round(X * 8)
    X[:, -1] = X[:, :-1] @ rng.integers(-3, 4, d - 1)
    return X, y, None


def far(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    X[y == k - 1] = np.round(X[y == k - 1] * 64) / 64 + 2.0 ** rng.integers(10, 30)
    return X, y, None


def tiny(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    return X * 10.0 ** -rng.integers(50, 140), y, None


def huge(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    return X * 10.0 ** rng.integers(50, 150), y, None


def weighted(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    scale = [5e-324 * 2**20, 1e-290, 1e-100, 1.0, 1e100, 1e290][rng.integers(6)]
    return X, y, rng.integers(0, 9, n) * scale + (np.arange(n) < 2 * k) * scale


def one_row(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    return np.vstack([X, X[:1] + 3.0]), np.append(y, k), None


def duplicates(rng, n, d, k):
    X, y, _ = normal(rng, max(n // 3, k), d, k)
    return np.repeat(np.round(X * 4) / 4, 3, axis=0), np.repeat(y, 3), None


def high_mean(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    return X + 10.0 ** rng.integers(4, 9), y, None


def mixed_units(rng, n, d, k):
    X, y, _ = normal(rng, n, d, k)
    return X * 10.0 ** rng.integers(-40, 40, d), y, None


def exactly_d_rows(rng, n, d, k):
    X, y, _ = normal(rng, max(n, d + 1), d, k)
    return np.vstack([rng.integers(-9, 10, (d, d)) + 0.0, X]), np.append([k] * d, y), None


KINDS = [
    rank_deficient, far, tiny, huge, weighted, one_row, duplicates, high_mean, mixed_units,
    exactly_d_rows,
]  # fmt: skip


def problem(kind, seed):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    d, k = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    X, y, weight = kind(rng, int(rng.integers(k * (d + 2), k * (d + 6) + 1)), d, k)
    off = X[: 2 * k] + np.std(X, axis=0) * rng.normal(size=(2 * k, d)) * 0.5
    return X, y, weight, np.vstack([X[rng.permutation(len(X))[:3]], off])


def variants(kind, seed, X, weight):
    """Orders, factors and weights (n,) of the same problem in other units and weights."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    order, ones = rng.permutation(d), np.ones(d)
    varies = np.ptp(X, axis=0) > 0  # what does not has no unit
    yield order, ones, weight
    yield np.arange(d), np.where(varies, 2.0 ** rng.integers(-8, 9, d), 1.0), weight
    if kind not in (far, high_mean):  # others lose digits of the distance to 0
        yield order, np.where(varies, rng.uniform(0.1, 10.0, d), 1.0), weight
    if kind is not weighted:
        scale = [5e-324, 1e-300, 1e-17, 1e17, 1e300][rng.integers(5)]
        yield np.arange(d), ones, np.full(n, scale)


def faults(kind, seed):
    """Scores that are off by more than rounding can explain, of every member that applies."""
    X, y, weight, rows = problem(kind, seed)
    out = []
    for tied in (False, True):
        want = gaussians(X, y, rows, weight, tied=tied)
        exact, slack = np.array(want.joint, float), MOST * np.array(want.slack)
        model = GaussianBayes(tied=tied)
        models = [model]
        if min(float(min(values)) for values in want.eigenvalues) > 1e-10:  # of full rank
            rotation = "within" if tied else "class"
            models.append(PCAGaussianNB(rotation=rotation, tied=tied, var_smoothing=0.0))
        found = [
            (repr(model), model.fit(X, y, weight).predict_joint_log_proba(rows)) for model in models
        ]
        for order, units, weights in variants(kind, seed, X, weight):
            got = model.fit((X * units)[:, order], y, weights)
            jll = got.predict_joint_log_proba((rows * units)[:, order])
            found.append((f"{model} {order} {units} {weights}", jll + np.log(units).sum()))
        ranked = np.sort(exact, axis=1)
        sure = np.ones(len(rows), bool)
        if exact.shape[1] > 1:
            sure = ranked[:, -1] - ranked[:, -2] > 2 * slack.max(axis=1)
        for name, jll in found:
            worst = np.max(np.abs(jll - exact) / slack)
            same = (jll.argmax(axis=1) == exact.argmax(axis=1))[sure].all()
            if not worst <= 1 or not same:
                out.append((kind.__name__, seed, name, float(worst)))
    return out


@pytest.mark.promise("rank")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(6))
def test_exact(kind, seed):
    assert not faults(kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_exact_on_many(kind):
    assert not [fault for seed in range(100, 180) for fault in faults(kind, seed)]
