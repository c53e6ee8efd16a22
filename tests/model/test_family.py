"""GaussianNB's shared and spherical variances, unbiased ones, reestimating and sampling."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks

from fastgnb import ClassStats, GaussianNB


@pytest.fixture
def data(rng):
    y = rng.integers(0, 3, 300)
    return rng.normal(size=(300, 4)) * [1, 2, 3, 4] + rng.normal(size=(3, 4))[y], y


def variances(X, y, *, tied, ddof, spherical):
    """By the definition, from centred rows."""
    z = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    if tied:
        var = np.tile((z**2).sum(axis=0) / (len(X) - 3 * ddof), (3, 1))
    else:
        var = np.array([(z[y == c] ** 2).sum(axis=0) / ((y == c).sum() - ddof) for c in range(3)])
    return np.tile(var.mean(axis=1, keepdims=True), (1, X.shape[1])) if spherical else var


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("covariance_type", ["diag", "spherical"])
def test_variances_by_definition(data, tied, ddof, covariance_type):
    X, y = data
    model = GaussianNB(covariance_type=covariance_type, tied=tied, ddof=ddof).fit(X, y)
    wanted = variances(X, y, tied=tied, ddof=ddof, spherical=covariance_type == "spherical")
    assert_allclose(model.var_ - model.epsilon_, wanted, rtol=1e-12)
    assert_allclose(model.epsilon_, 1e-9 * X.var(axis=0).max(), rtol=1e-12)
    again = GaussianNB(covariance_type=covariance_type, tied=tied, ddof=ddof)
    for a in range(0, 300, 77):
        again.partial_fit(X[a : a + 77], y[a : a + 77], classes=[0, 1, 2])
    assert_allclose(again.var_, model.var_, rtol=1e-12)


@pytest.mark.promise("twins")
def test_tied_diagonal_is_linear_discriminant_analysis_of_uncorrelated_features(rng):
    """Where the pooled covariance is diagonal, LDA is the same classifier."""
    half = np.diag([1.0, 2.0, 3.0])
    X = np.vstack([half, -half, half + 1, -half + 1])
    y = np.repeat([0, 1], 6)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    rows = rng.normal(size=(50, 3))
    ours = GaussianNB(tied=True, var_smoothing=0).fit(X, y)
    assert_allclose(ours.predict_proba(rows), lda.predict_proba(rows), rtol=1e-10)


@pytest.mark.promise("twins")
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_tied_spherical_is_the_nearest_centroid(load):
    X, y = load(return_X_y=True)
    k = len(np.unique(y))
    model = GaussianNB(covariance_type="spherical", tied=True, priors=np.full(k, 1 / k)).fit(X, y)
    assert np.array_equal(model.predict(X), NearestCentroid().fit(X, y).predict(X))


def test_missing_values_and_sharing(data, rng):
    X, y = data
    X[rng.random(X.shape) < 0.2] = np.nan
    model = GaussianNB(missing="skip", tied=True, ddof=1).fit(X, y)
    z = X - np.array([np.nanmean(X[y == c], axis=0) for c in range(3)])[y]
    wanted = np.nansum(z**2, axis=0) / ((~np.isnan(X)).sum(axis=0) - 3)
    assert_allclose(model.var_ - model.epsilon_, np.tile(wanted, (3, 1)), rtol=1e-12)


def test_one_row_classes_with_ddof():
    model = GaussianNB(ddof=1).fit([[1.0], [2.0], [9.0]], [0, 0, 1])
    assert_allclose(model.var_ - model.epsilon_, [[0.5], [0.0]], atol=1e-15)
    tied = GaussianNB(ddof=1, tied=True).fit([[1.0], [9.0]], [0, 1])
    assert np.array_equal(tied.var_, np.full((2, 1), tied.epsilon_))
    assert tied.predict([[1.1], [8.0]]).tolist() == [0, 1]


@parametrize_with_checks([
    GaussianNB(covariance_type="spherical"), GaussianNB(tied=True, ddof=1),
])  # fmt: skip
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_reestimate_is_a_fit_without_rows(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    before = dict(model.__dict__)
    for params in (
        {"tied": True}, {"ddof": 1}, {"covariance_type": "spherical"}, {"var_smoothing": 0.5},
        {"priors": [0.2, 0.3, 0.5]}, {"priors": [0.2, 0.3, 0.5], "tied": True},
    ):  # fmt: skip
        found, wanted = model.reestimate(**params), GaussianNB(**params).fit(X, y)
        assert np.array_equal(found.predict_proba(X), wanted.predict_proba(X))
        assert found.stats_ is model.stats_
    assert model.__dict__ == before
    with pytest.raises(ValueError, match="Number of priors must match number of classes"):
        model.reestimate(priors=[0.5, 0.5])


def test_sampling_follows_the_model(data):
    X, y = data
    model = GaussianNB(priors=[0.5, 0.3, 0.2]).fit(X, np.array(["a", "b", "c"])[y])
    rows, labels = model.sample(60_000, random_state=7)
    drawn = ClassStats.from_rows(rows, labels)
    assert drawn.classes.tolist() == ["a", "b", "c"]
    assert_allclose(drawn.count / 60_000, [0.5, 0.3, 0.2], atol=0.009)
    bound = 4 / np.sqrt(drawn.count)[:, None]  # four standard errors
    assert (np.abs(drawn.mean - model.theta_) / np.sqrt(model.var_) < bound).all()
    assert (np.abs(drawn.variance / model.var_ - 1) < 1.5 * bound).all()
    refit = GaussianNB().fit(rows, labels)
    assert refit.score(rows, labels) == pytest.approx(model.score(rows, labels), abs=0.01)


def test_sampling_repeats_with_its_seed(data):
    model = GaussianNB().fit(*data)
    for seed in (3, np.int64(3)):
        assert np.array_equal(model.sample(9, seed)[0], model.sample(9, 3)[0])
    old, new = np.random.RandomState(3), np.random.default_rng(3)
    assert np.array_equal(model.sample(9, old)[0], model.sample(9, 3)[0])
    assert not np.array_equal(model.sample(9, new)[0], model.sample(9, new)[0])
    assert model.sample(1)[0].shape == (1, 4)
    for n in (0, -1, 1.5, "many"):
        with pytest.raises(ValueError, match=re.escape(f"Invalid value for 'n': {n!r}. The sa")):
            model.sample(n)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"covariance_type": "full"}, "'covariance_type' parameter of GaussianNB must be"),
        ({"covariance_type": []}, "'covariance_type' parameter of GaussianNB must be"),
        ({"tied": 1}, "'tied' parameter of GaussianNB must be an instance of 'bool'"),
        ({"ddof": 2}, "'ddof' parameter of GaussianNB must be an int in the range [0, 1]"),
        ({"ddof": 0.5}, "'ddof' parameter of GaussianNB must be"),
    ],
)
def test_wrong_parameters(data, params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GaussianNB(**params).fit(*data)
