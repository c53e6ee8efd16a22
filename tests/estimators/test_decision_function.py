"""decision_function: log odds, or joint log likelihoods, that do not saturate."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from members import CATEGORICAL, SHAPES, with_categories
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB

LARGEST = np.finfo(np.float64).max


def rows_of(make_data, k):
    X, y = make_data(300, 4, k)
    return with_categories(X), y


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("name", SHAPES)
def test_two_classes_give_log_odds(make_data, name, dtype):
    X, y = rows_of(make_data, 2)
    X = X.astype(dtype)
    model = SHAPES[name].make().fit(X, y)
    found = model.decision_function(X)
    joint = model.predict_joint_log_proba(X)
    assert found.dtype == np.float64
    assert np.array_equal(found, joint[:, 1] - joint[:, 0])
    assert np.array_equal(model.predict(X), (found > 0).astype(int))


def test_log_odds_are_those_of_exact_arithmetic(make_data):
    X, y = make_data(100, 3, 2)
    model = GaussianNB().fit(X, y)
    for x, found in zip(X[:20], model.decision_function(X[:20]), strict=True):
        first, second = oracles.joint(x, model.class_prior_, model.theta_, model.var_)
        size = max(abs(float(first)), abs(float(second)))
        assert abs(found - float(second - first)) < 1e-12 * size


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("name", SHAPES)
def test_other_numbers_of_classes_give_joint_log_likelihoods(make_data, name, k):
    X, y = rows_of(make_data, k)
    model = SHAPES[name].make().fit(X, y)
    found = model.decision_function(X)
    assert np.array_equal(found, model.predict_joint_log_proba(X))
    assert np.array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", SHAPES)
def test_far_rows_are_finite_and_agree_with_predict(make_data, name, k):
    X, y = rows_of(make_data, k)
    model = SHAPES[name].make().fit(X, y)
    far = X[:8].copy()
    large = [1e200, -1e200, 1e155, -1e155, 1e308, -1e308, 1e180, -1e160]
    far[:, np.arange(4) != CATEGORICAL] = np.array([large]).T
    far[4:, 3] *= -1.0
    found = model.decision_function(far)
    assert np.isfinite(found).all()
    codes = (found > 0).astype(int) if k == 2 else found.argmax(axis=1)
    assert np.array_equal(model.classes_[codes], model.predict(far))


@pytest.mark.parametrize("k", [2, 3])
def test_classes_that_cannot_be_are_lowest(make_data, k):
    X, y = make_data(60, 3, k)
    model = GaussianNB(priors=[0.0] + [1.0 / (k - 1)] * (k - 1)).fit(X, y)
    found = model.decision_function(X)
    assert (found == LARGEST).all() if k == 2 else (found[:, 0] == -LARGEST).all()


@pytest.mark.parametrize("k", [2, 4])
def test_categories_that_exclude_all_classes_keep_their_order(k):
    """With alpha=0 a category that nobody had excludes every class; the fewest exclusions win."""
    y = np.repeat(np.arange(k), 10)
    X = np.column_stack([y % 3, np.arange(10 * k) % 2, np.arange(10 * k) % 7])
    model = MixedNB(categorical_features=[0, 1, 2], alpha=0.0).fit(X, y)
    strange = np.array([[9, 0, 0], [9, 9, 9], [1, 9, 3]])
    found = model.decision_function(strange)
    assert np.isfinite(found).all()
    proba = model.predict_proba(strange)
    if k == 2:
        assert np.array_equal(np.sign(found), np.sign(np.diff(proba, axis=1)[:, 0]))
    else:
        assert np.array_equal(found.argmax(axis=1), proba.argmax(axis=1))


@pytest.fixture
def saturated():
    """Thirty copies of one feature: naive Bayes is certain of every row, and often wrong."""
    draw = np.random.default_rng(3)
    y = np.arange(2000) % 2
    x = draw.normal(size=2000) + 2.0 * y
    return np.repeat(10.0 * x[:, None], 400, axis=1), y


def test_a_roc_curve_sees_what_probabilities_lose(saturated):
    X, y = saturated
    model = GaussianNB().fit(X, y)
    assert len(np.unique(model.predict_proba(X)[:, 1])) < 1500
    truth = roc_auc_score(y, X[:, 0])  # log odds rise with the feature, variances being alike
    assert get_scorer("roc_auc")(model, X, y) == pytest.approx(truth, abs=2e-3)


def test_calibration_is_of_log_odds(saturated):
    X, y = saturated
    found = CalibratedClassifierCV(GaussianNB(), cv=3).fit(X, y).predict_proba(X)[:, 1]
    # The truth, for features of variance 1 at distance 2: a logistic curve in x.
    truth = 1 / (1 + np.exp(-2.0 * (X[:, 0] / 10.0 - 1.0)))
    assert np.abs(found - truth).mean() < 0.03
    assert len(np.unique(found)) > 1900


@pytest.mark.parametrize("member", [GaussianNB, GaussianBayes, PCAGaussianNB, MixedNB])
def test_scikit_learn_checks_still_pass(member):
    for result in check_estimator(member(), on_skip=None, on_fail="warn"):
        assert result["status"] in ("passed", "skipped"), result
