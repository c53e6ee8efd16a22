"""MixedNB: continuous and categorical features, their statistics, and what scikit-learn has."""

from __future__ import annotations

import numpy as np
import oracles
import pandas as pd
import pytest
from mixed_cases import CATEGORICAL, PREDICTORS, mixed_data
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.utils.estimator_checks import check_estimator

from fastgnb import GaussianNB, MixedNB


@pytest.fixture
def codes(rng):
    """Integer codes of three features, each of which occurs in each class, and labels 0..3."""
    y = np.arange(300) % 4
    C = np.column_stack([rng.integers(0, m, 300) for m in (2, 5, 3)])
    for c in range(4):
        C[np.flatnonzero(y == c)[:5]] = np.arange(5)[:, None] % [2, 5, 3]
    return C, y


# Their rows have fractions where categories should be; checks that round them pass.
FRACTIONS = "the check's rows are fractions, which are no categories"
FRACTIONAL = {
    "check_sample_weight_equivalence_on_dense_data": FRACTIONS,
    "check_classifiers_one_label_sample_weights": FRACTIONS,
    "check_positive_only_tag_during_fit": FRACTIONS,
    "check_decision_proba_consistency": FRACTIONS,
}


@pytest.mark.parametrize(
    ("params", "failing"),
    [
        ({}, {}),
        ({"missing": "skip", "categorical_features": "auto"}, {}),
        ({"categorical_features": [0]}, FRACTIONAL),
        ({"categorical_features": [0], "missing": "skip"}, FRACTIONAL),
    ],
)
def test_check_estimator(params, failing):
    results = check_estimator(
        MixedNB(**params), expected_failed_checks=failing, on_fail=None, on_skip=None
    )
    assert len(results) > 50
    assert not [r for r in results if r["status"] == "failed"]
    for r in results:
        if r["status"] == "xfail" and "positive" not in r["check_name"]:
            assert any("whole numbers" in str(error) for error in causes(r["exception"]))


def causes(error):
    while error is not None:
        yield error
        error = error.__cause__


@pytest.mark.parametrize("missing", ["error", "skip"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_categories_it_is_gaussian_nb_bit_for_bit(data, missing, dtype):
    X, y = data
    X = np.asfortranarray(X.astype(dtype))
    if missing == "skip":
        X[::7, 1] = np.nan
    w = np.linspace(0, 2, len(X))
    for none in (None, [], np.zeros(5, bool), "auto"):
        mixed = MixedNB(categorical_features=none, missing=missing).fit(X, y, w)
        mixed.partial_fit(X[:50], y[:50])
        plain = GaussianNB(missing=missing).fit(X, y, w).partial_fit(X[:50], y[:50])
        for name in PREDICTORS:
            found, wanted = getattr(mixed, name)(X), getattr(plain, name)(X)
            assert found.dtype == wanted.dtype
            assert np.array_equal(found, wanted)
        for name in ("theta_", "var_", "epsilon_", "class_prior_", "class_count_"):
            assert np.array_equal(getattr(mixed, name), getattr(plain, name))
        assert mixed.categories_ == []
        assert not mixed.is_categorical_.any()
        assert np.array_equal(mixed.sample(5, 3)[0], plain.sample(5, 3)[0])


@pytest.mark.promise("twins")
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 7.5])
@pytest.mark.parametrize("priors", [None, "uniform", [0.1, 0.2, 0.3, 0.4]])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_categorical_is_categorical_nb(codes, alpha, priors, weighted, rng):
    C, y = codes
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    wanted = CategoricalNB(
        alpha=alpha, fit_prior=priors != "uniform",
        class_prior=None if priors == "uniform" else priors,
    ).fit(C, y, w)  # fmt: skip
    ours = MixedNB(
        categorical_features=range(3), alpha=alpha,
        priors=np.full(4, 0.25) if priors == "uniform" else priors,
    ).fit(C, y, w)  # fmt: skip
    for found, want in zip(ours.feature_log_prob_, wanted.feature_log_prob_, strict=True):
        assert_allclose(found, want, rtol=1e-12)
    for found, want in zip(ours.category_count_, wanted.category_count_, strict=True):
        assert_allclose(found, want, rtol=1e-12)
    assert_allclose(ours.class_count_, wanted.class_count_, rtol=1e-12)
    assert ours.theta_.shape == ours.var_.shape == (4, 0)
    for name in PREDICTORS[:4]:
        assert_allclose(getattr(ours, name)(C), getattr(wanted, name)(C), rtol=1e-12)


@pytest.mark.parametrize("least", [4, 9, [2, 9, 5]])
def test_min_categories_as_categorical_nb(codes, least):
    C, y = codes
    C[C[:, 1] == 3, 1] = 2  # a code in between that does not occur
    wanted = CategoricalNB(min_categories=least).fit(C, y)
    ours = MixedNB(categorical_features=[0, 1, 2], min_categories=least)
    if least == 4:
        ours.set_params(min_categories=[4, 5, 4])  # 5 is what scikit-learn makes of codes to 4
    ours.fit(C, y)
    C[:4, 1] = 3
    assert_same_answers_of(ours, wanted, C)


def assert_same_answers_of(ours, wanted, C):
    for name in PREDICTORS[:4]:
        assert_allclose(getattr(ours, name)(C), getattr(wanted, name)(C), rtol=1e-12)


def test_two_categories_are_bernoulli_nb(rng):
    y = np.arange(90) % 3
    B = rng.random((90, 4)) < 0.2 + 0.2 * y[:, None]
    B[:, 3] = False  # BernoulliNB knows that there are two values, even where one never occurs
    wanted = BernoulliNB(alpha=0.7).fit(B, y)
    for X in (B, B.astype(int), B.astype(float), pd.DataFrame(B)):
        ours = MixedNB(categorical_features=np.ones(4, bool), alpha=0.7, min_categories=2)
        ours.fit(X, y)
        assert_same_answers_of(ours, wanted, B.astype(int) if X is not B else B)


@pytest.mark.promise("twins")
def test_mix_is_the_product_of_both(data, model):
    X, y = data
    gaussian = GaussianNB().fit(X[:, [0, 3]], y)
    categorical = CategoricalNB().fit(X[:, CATEGORICAL], y)
    wanted = gaussian.predict_joint_log_proba(X[:, [0, 3]])
    wanted = wanted + categorical.predict_joint_log_proba(X[:, CATEGORICAL])
    wanted = wanted - np.log(model.class_prior_)
    assert_allclose(model.predict_joint_log_proba(X), wanted, rtol=1e-12)
    assert_allclose(model.predict_log_evidence(X), logsumexp(wanted, axis=1), rtol=1e-12)
    assert np.array_equal(model.predict(X), wanted.argmax(axis=1))
    assert np.array_equal(model.theta_, gaussian.theta_)
    assert np.array_equal(model.var_, gaussian.var_)
    assert model.is_categorical_.tolist() == [False, True, True, False, True]


@pytest.mark.parametrize("alpha", [1.0, 0.25, 1e-9])
def test_scores_are_exact_to_1e_12(alpha):
    X, y = mixed_data(60)
    w = np.random.default_rng(2).integers(0, 4, 60) / 4
    X[5::9, 2], X[3::11, 0] = np.nan, np.nan
    X[:2, 4] = 7, -3
    model = MixedNB(categorical_features=CATEGORICAL, alpha=alpha, missing="skip").fit(X, y, w)
    rows = X[:12].copy()
    rows[0, 2] = 40.0
    found = model.predict_joint_log_proba(rows)
    posterior = model.predict_log_proba(rows)
    columns = [[None if np.isnan(v) else v for v in X[:, j]] for j in CATEGORICAL]
    cells = [oracles.categories(column, y, w, range(3)) for column in columns]
    for i, row in enumerate(rows):
        want = oracles.joint(row[[0, 3]], model.class_prior_, model.theta_, model.var_)
        largest = max(abs(float(v)) for v in want)
        for j, cell in zip(CATEGORICAL, cells, strict=True):
            value = None if np.isnan(row[j]) else row[j]
            terms = oracles.category_terms(value, cell, alpha)
            largest = max(largest, *(abs(float(v)) for v in terms))
            want = [a + b for a, b in zip(want, terms, strict=True)]
        assert max(abs(float(v) - f) for v, f in zip(want, found[i], strict=True)) < 1e-12 * largest
        logs = [float(v) for v in oracles.log_proba(want)]
        assert_allclose(posterior[i], logs, rtol=1e-12, atol=2e-12 * largest)
