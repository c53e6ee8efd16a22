"""Axes of all rows where a class is so far away that the others are below rounding beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import full_stats

from fastgnb import PCAGaussianNB

D = 4
DIRECTION = np.array([3.0, -1.0, 2.0, 5.0])


def _rows(far: float) -> tuple[Any, Any]:
    draw = np.random.default_rng(8)
    X = draw.normal(size=(300, D)) @ draw.normal(size=(D, D))
    y = np.repeat([0, 1, 2], 100)
    X[y == 1] += [1.0, 0.5, 0.0, -1.0]
    X[y == 2] = far * DIRECTION * (1.0 + 1e-6 * draw.normal(size=(100, 1)))
    X[y == 2] *= 1.0 + 1e-7 * draw.normal(size=(100, D))
    return X, y


def _limit(X: Any, y: Any) -> Any:
    """The axes: to the far class, and then those of what varies across that direction. What is
    left of the far class there is taken from its rows."""
    share = np.array([1 / 3, 1 / 3, 1 / 3])
    means = np.array([X[y == c].mean(axis=0) for c in range(2)])
    first = DIRECTION / np.linalg.norm(DIRECTION)
    across = np.eye(D) - np.outer(first, first)
    within = sum(share[c] * np.cov(X[y == c].T, bias=True) for c in range(2))
    step = means[1] - means[0]
    between = share[0] * share[1] / (share[0] + share[1]) * np.outer(step, step)
    return first, across, within + between


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("far", [1e4, 1e12, 1e16, 1e20, 1e60, 1e140])
def test_all_axes_exist(far: float, standardize: bool) -> None:
    X, y = _rows(far)
    model = PCAGaussianNB(var_smoothing=0.0, standardize=standardize).fit(X, y)
    assert model.n_components_ == D
    product = model.components_ @ model.components_.T
    assert np.allclose(product, np.eye(D), atol=1e-14)
    first = DIRECTION / np.linalg.norm(DIRECTION)
    if not standardize:
        assert np.allclose(model.components_[0], first, atol=1e-5)
    near = y < 2
    assert model.score(X[near], y[near]) > 0.6


@pytest.mark.parametrize("far", [1e9, 1e20, 1e60, 1e140])
def test_axes_are_those_of_the_limit(far: float) -> None:
    X, y = _rows(0.0)
    X[y == 2] = far * DIRECTION
    model = PCAGaussianNB(var_smoothing=0.0, priors=[0.5, 0.5, 0.0]).fit(X, y)
    first, across, scatter = _limit(X, y)
    values, vectors = np.linalg.eigh(across @ scatter @ across)
    expected = np.vstack([first, vectors[:, :0:-1].T])
    cosines = np.abs((model.components_ * expected).sum(axis=1))
    assert np.allclose(cosines, 1.0, atol=1e-9)
    assert np.allclose(model.explained_variance_[1:] * 299 / 300, values[:0:-1], rtol=1e-6)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e12, 1e14, 1e20])
def test_variances_multiply_to_the_exact_determinant(far: float) -> None:
    draw = np.random.default_rng(2)
    X = draw.normal(size=(60, 3)) @ draw.normal(size=(3, 3))
    y = np.repeat([0, 1, 2], 20)
    X[y == 2] += far * np.array([0.3, -1.0, 0.7])
    total = full_stats(X, [0] * 60).scatter[0]
    (a, b, c), (_, e, f), (_, _, i) = [[v / 60 for v in row] for row in total]
    determinant = a * (e * i - f * f) - b * (b * i - f * c) + c * (b * f - e * c)
    model = PCAGaussianNB(var_smoothing=0.0, n_components=3).fit(X, y)
    product = np.prod(model.explained_variance_ * 59 / 60)
    assert product == pytest.approx(float(determinant), rel=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_class_whose_share_of_weight_is_below_float64_has_no_step(standardize):
    rng = np.random.default_rng(0)
    common = rng.normal(size=(40, 1))
    X = common + rng.normal(size=(40, 3)) * [1e-3, 2e-3, 3e-3]
    y = np.repeat([0, 1], 20)
    weight = np.where(y == 0, 5e-324, 1e300)
    both = PCAGaussianNB(standardize=standardize).fit(X, y, sample_weight=weight)
    alone = PCAGaussianNB(standardize=standardize).fit(X[y == 1], y[y == 1])
    np.testing.assert_allclose(
        both.explained_variance_ratio_, alone.explained_variance_ratio_, rtol=1e-9
    )
