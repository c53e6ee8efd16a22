"""Labels by several models at once, against the labels by each of them.

Sets of a few dozen rows run every line of the kernel, also without the compiler.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fastgnb import GaussianBayes
from fastgnb.estimate.shared_axes import shared_axes
from fastgnb.kernels.score.shared_axes import label_by_models

# Two groups of rows and a tail.
N = 77
OPTIONS = [
    {"reg_param": 0.0}, {"reg_param": 0.5}, {"reg_param": 1.0}, {"var_smoothing": 0.1},
    {"priors": [0.7, 0.1, 0.2]}, {"priors": [0.5, 0.5, 0.0], "reg_param": 0.1},
]  # fmt: skip


def three_classes(rng, n=N, d=9, spread=1.0):
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + spread * y[:, None], y


def models_of(X, y, options=OPTIONS):
    """Models of the same rows, and their parameters together."""
    models = [GaussianBayes(**each).fit(X, y) for each in options]
    return models, shared_axes(models[0].stats_, [each._checked_options() for each in models])


def check(models, shared, X):
    """Labels that lead are those of each model; return the share of these."""
    found = label_by_models(X, shared)
    for labels, model in zip(found, models, strict=True):
        wanted = model.predict(X)
        assert_array_equal(labels[labels >= 0], wanted[labels >= 0])
    return (found >= 0).mean()


@pytest.mark.parametrize("d", [1, 4, 9])
@pytest.mark.parametrize("m", [1, 4, 6])
def test_labels_are_those_of_each_model(rng, d, m):
    X, y = three_classes(rng, d=d)
    models, shared = models_of(X, y, OPTIONS[:m])
    assert check(models, shared, X) == 1.0


def test_layouts(rng):
    X, y = three_classes(rng)
    X = np.round(64 * X) / 64
    _, shared = models_of(X, y)
    wanted = label_by_models(X, shared)
    for rows in (np.asfortranarray(X), X.astype(np.float32), np.repeat(X, 2, axis=0)[::2]):
        assert_array_equal(label_by_models(rows, shared), wanted)
    for i in (0, 40, 76):
        assert_array_equal(label_by_models(X[i : i + 1], shared)[:, 0], wanted[:, i])


def test_ties_and_rows_that_are_not_finite_have_no_label(rng):
    """Rows in the middle between two classes of the same covariance, and next to it."""
    half = rng.normal(size=(30, 3))
    X, y = np.concatenate([half + 4.0, half - 4.0]), np.repeat([0, 1], 30)
    models, shared = models_of(X, y, [{}, {"reg_param": 0.2}])
    axis = models[0].means_[0] - models[0].means_[1]
    middle = 0.5 * (models[0].means_[0] + models[0].means_[1])
    steps = np.array([0.0, 1e-15, -1e-15, 1e-3, np.nan, np.inf])
    rows = middle + steps[:, None] * axis
    with np.errstate(invalid="ignore"):
        found = label_by_models(rows, shared)
    assert_array_equal(found[:, [0, 1, 2, 4, 5]], -1)
    assert_array_equal(found[:, 3], 0)
    near = middle + 1e-13 * rng.normal(size=(200, 1)) * axis
    assert check(models, shared, near) < 0.5
    assert check(models, shared, 1e9 * near) == 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        assert_array_equal(label_by_models(np.full((1, 3), 1e200), shared), -1)


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
def test_scores_are_within_the_bound(rng, condition):
    """Of sums of squares in double precision, for covariances that are badly conditioned."""
    d = 6
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.sqrt(np.geomspace(1, condition, d))
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, d)) @ basis.T + y[:, None]
    models, shared = models_of(X, y, [{}, {"reg_param": 0.1}])
    for e, model in enumerate(models):
        joint = model.predict_joint_log_proba(X)
        u = X[:, None] - shared.centre
        squares = (np.einsum("kij,nkj->nki", shared.axes, u) - shared.shift) ** 2
        scores = shared.const[e] - (squares * shared.steep[e]).sum(axis=2)
        bound = 0.5 * (shared.floor[e] + shared.slope[e] * (2.0 * (shared.top[e] - scores)))
        assert (np.abs(scores - joint) < bound).all()
        assert bound.max() < 0.1
    assert check(models, shared, X) > 0.99


def test_what_is_not_shared(rng):
    X, y = three_classes(rng)
    for options in ({"tied": True}, {"covariance_type": "diag"}, {"shrinkage": 0.1}):
        model = GaussianBayes(**options).fit(X, y)
        assert shared_axes(model.stats_, [model._checked_options()]) is None
    # A feature that is the sum of two others, next to nothing of others, or far from 0.
    for column in (X[:, 1] + X[:, 2], 1e-9 * X[:, 1], 1e15 + np.round(X[:, 0])):
        rows = X.copy()
        rows[:, 0] = column
        models, shared = models_of(rows, y)
        assert shared is None or check(models, shared, rows) < 1.0
        assert models_of(rows, y, OPTIONS[:1])[1] is None
    # A class of no rows is never certain, but is no hindrance.
    y[y == 2] = 1
    both = GaussianBayes().partial_fit(X, y, classes=[0, 1, 2])
    shared = shared_axes(both.stats_, [both._checked_options()])
    assert check([both], shared, X) == 1.0
