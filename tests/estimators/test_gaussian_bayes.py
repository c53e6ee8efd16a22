"""GaussianBayes against 60-digit arithmetic, scikit-learn's discriminant analyses and itself."""

from __future__ import annotations

import re

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from fastgnb import ClassStats, GaussianBayes, GaussianNB

LOADERS = [load_iris, load_wine, load_breast_cancer]
TOL = 1e-12  # below scikit-learn's, which takes some classes of these for singular


def correlated(rng, n, d, k=3, offset=0.0):
    y = np.arange(n) % k
    mix = rng.normal(size=(k, d, d)) + 2 * np.eye(d)
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mix[y])
    return X + 2 * rng.normal(size=(k, d))[y] + offset, y


def exact_joint(model, X):
    """Joint log likelihoods of the model's own means, both words of them, and covariances."""
    stats = model.stats_
    means = [
        [oracles.exact(a) + oracles.exact(b) for a, b in zip(*pair, strict=True)]
        for pair in zip(stats.mean, stats.mean_lo, strict=True)
    ]
    covariance = np.broadcast_to(
        model.covariance_, (len(model.classes_), *model.covariance_.shape[-2:])
    )
    return np.array([oracles.full_joint(x, model.class_prior_, means, covariance) for x in X])


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5, 9])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_scores_against_exact_arithmetic(rng, tied, d, offset):
    X, y = correlated(rng, 60, d, offset=offset)
    model = GaussianBayes(tied=tied, priors=[0.2, 0.5, 0.3]).fit(X, y)
    rows = np.vstack([X[:5], X[:3] + 30])
    wanted = exact_joint(model, rows)
    found = model.predict_joint_log_proba(rows)
    condition = max(np.linalg.cond(c) for c in np.atleast_3d(model.covariance_.T).T)
    worst = np.abs(found - wanted.astype(float)) / np.abs(wanted.astype(float)).max(axis=1)[:, None]
    assert worst.max() < 1e-15 * condition * 2
    for row, jll in zip(model.predict_log_proba(rows), wanted, strict=True):
        proba = np.array(oracles.log_proba(list(jll)), float)
        assert_allclose(row, proba, rtol=1e-9, atol=1e-9 * condition)
    evidence = [float(oracles.log_evidence(list(jll))) for jll in wanted]
    assert_allclose(model.predict_log_evidence(rows), evidence, rtol=1e-9)
    assert np.array_equal(model.predict(rows), np.argmax(wanted, axis=1))


def sklearn_ddof(X, y):
    """scikit-learn has divided by n - 1 and by n, as its releases go."""
    own = QuadraticDiscriminantAnalysis(store_covariance=True, tol=TOL).fit(X, y).covariance_[0]
    rows = X[y == y.min()]
    return int(np.abs(own - np.cov(rows.T)).max() < np.abs(own - np.cov(rows.T, bias=True)).max())


@pytest.mark.promise("twins")
@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("reg_param", [0.0, 0.1, 1.0])
def test_quadratic_discriminant_analysis(load, reg_param):
    X, y = load(return_X_y=True)
    X = X / X.std(axis=0)
    theirs = QuadraticDiscriminantAnalysis(reg_param=reg_param, tol=TOL).fit(X, y)
    ours = GaussianBayes(ddof=sklearn_ddof(X, y), reg_param=reg_param).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.promise("twins")
@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_linear_discriminant_analysis(load, solver):
    X, y = load(return_X_y=True)
    X = X / X.std(axis=0)
    theirs = LinearDiscriminantAnalysis(solver=solver, tol=TOL).fit(X, y)
    ddof = sklearn_ddof(X, y) if solver == "svd" else 0
    ours = GaussianBayes(tied=True, ddof=ddof).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0, "oas"])
def test_shrinkage(load, shrinkage):
    X, y = load(return_X_y=True)
    X = X / X.std(axis=0)
    how = {"covariance_estimator": OAS()} if shrinkage == "oas" else {"shrinkage": shrinkage}
    theirs = LinearDiscriminantAnalysis(solver="lsqr", **how).fit(X, y)
    ours = GaussianBayes(tied=True, shrinkage=shrinkage, shrinkage_target="spherical").fit(X, y)
    assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-10, atol=1e-12)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)


def test_iris_is_right_in_98_of_100():
    X, y = load_iris(return_X_y=True)
    assert GaussianBayes(ddof=1).fit(X, y).score(X, y) == 0.98


@parametrize_with_checks([
    GaussianBayes(), GaussianBayes(tied=True, ddof=1), GaussianBayes(shrinkage="oas"),
])  # fmt: skip
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_a_stream_is_one_fit(rng):
    X, y = correlated(rng, 300, 4, offset=100.0)
    w = rng.random(300)
    for params in ({}, {"tied": True, "ddof": 1}, {"reg_param": 0.2, "shrinkage": "oas"}):
        whole = GaussianBayes(**params).fit(X, y, w)
        stream, parts = GaussianBayes(**params), []
        for a in range(0, 300, 70):
            piece = X[a : a + 70], y[a : a + 70]
            stream.partial_fit(*piece, classes=[0, 1, 2], sample_weight=w[a : a + 70])
            parts.append(GaussianBayes(**params).fit(*piece, w[a : a + 70]))
        merged = parts[0]
        for part in parts[1:]:
            merged.merge(part)
        for found in (stream, merged, GaussianBayes(**params).fit_stats(whole.stats_)):
            assert_allclose(found.covariance_, whole.covariance_, rtol=1e-11, atol=1e-12)
            assert_allclose(found.predict_proba(X), whole.predict_proba(X), rtol=1e-8, atol=1e-13)


def test_weights_are_repetitions(rng):
    X, y = correlated(rng, 60, 3)
    times = rng.integers(0, 4, 60)
    weighted = GaussianBayes(ddof=1).fit(X, y, times)
    repeated = GaussianBayes(ddof=1).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_features_may_have_any_units(rng, scale):
    X, y = correlated(rng, 200, 3)
    units = np.array([scale, 1.0, 1.0 / scale])
    one, other = GaussianBayes().fit(X, y), GaussianBayes().fit(X * units, y)
    assert_allclose(other.predict_proba(X * units), one.predict_proba(X), rtol=1e-9, atol=1e-14)


def test_an_invertible_map_changes_nothing_but_the_density(rng):
    X, y = correlated(rng, 200, 4)
    A = rng.normal(size=(4, 4))
    for tied in (False, True):
        one = GaussianBayes(tied=tied).fit(X, y)
        other = GaussianBayes(tied=tied).fit(X @ A + 3.0, y)
        assert_allclose(other.predict_proba(X @ A + 3.0), one.predict_proba(X), atol=1e-9)
        jll = other.predict_joint_log_proba(X @ A + 3.0) + np.linalg.slogdet(A)[1]
        assert_allclose(jll, one.predict_joint_log_proba(X), rtol=1e-8, atol=1e-8)


def test_members_of_the_family_nest(rng):
    X, y = correlated(rng, 200, 4)
    diag, naive = GaussianBayes(covariance_type="diag").fit(X, y), GaussianNB(var_smoothing=0)
    assert_allclose(diag.predict_proba(X), naive.fit(X, y).predict_proba(X), rtol=1e-10)
    for tied in (False, True):
        ball = GaussianBayes(covariance_type="spherical", tied=tied).fit(X, y)
        naive = GaussianNB(covariance_type="spherical", tied=tied, var_smoothing=0).fit(X, y)
        assert_allclose(ball.predict_proba(X), naive.predict_proba(X), rtol=1e-10)
    one = y == 0
    alone = GaussianBayes().fit(X[one], y[one]), GaussianBayes(tied=True).fit(X[one], y[one])
    assert_allclose(*(m.predict_log_evidence(X) for m in alone), rtol=1e-12)


def test_classes_of_low_rank_are_defined(rng):
    X, y = correlated(rng, 90, 5)
    X[y == 1, 4] = X[y == 1, 3]  # rank 4
    X, y = np.vstack([X, X[:1] + 50]), np.append(y, 7)  # one row
    few = GaussianBayes(tied=True, ddof=1).fit(X[-3:], y[-3:])  # of which each is a class
    assert np.array_equal(few.predict(X[-3:]), y[-3:])
    for model in (GaussianBayes(), GaussianBayes(ddof=1), GaussianBayes(tied=True)):
        model.fit(X, y)
        assert np.isfinite(model.predict_joint_log_proba(X)).all()
        assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-13)
        assert model.predict(X[-1:]) == [7]
        assert model.score(X, y) > 0.8
    same = GaussianBayes().fit(np.ones((4, 2)), [0, 0, 1, 1])
    assert_allclose(same.predict_proba(np.ones((1, 2))), [[0.5, 0.5]])


def test_classes_that_weigh_next_to_nothing(rng):
    """The variance of all rows is then far below that of a class."""
    X, y = correlated(rng, 60, 2, 2)
    w = np.where(y == 0, 5e-324, 1.0)
    X[y == 1] *= 1e-3
    for params in ({}, {"reg_param": 1.0}, {"tied": True}):
        model = GaussianBayes(priors=[0.5, 0.5], **params).fit(X * 1e-160, y, w)
        proba = model.predict_proba(X * 1e-160)
        assert_allclose(proba.sum(axis=1), 1.0)


def test_a_first_batch_of_one_row(rng):
    model = GaussianBayes().partial_fit([[1.0, 2.0]], [3], classes=[3, 4])
    assert model.predict([[9.0, 9.0]]) == [3]
    X, y = correlated(rng, 50, 2, 2)
    model.partial_fit(X, y + 3)
    whole = GaussianBayes().fit(np.vstack([[[1.0, 2.0]], X]), np.append(3, y + 3))
    assert_allclose(model.covariance_, whole.covariance_, rtol=1e-12)


def test_rows_at_the_end_of_the_world(rng):
    X, y = correlated(rng, 90, 3)
    model = GaussianBayes().fit(X, y)
    far = np.array([[1e200, 0, 0], [-1e300, 1e300, 0], [0, 0, 1.7e308], *X[:2]])
    proba = model.predict_proba(far)
    assert np.isfinite(proba).all()
    assert_allclose(proba.sum(axis=1), 1.0)
    nearest = model.predict_joint_log_proba(far[:1] / 1e150).argmax()
    assert model.predict(far[:1]) == [nearest]
    assert proba[0, nearest] == 1.0
    assert model.predict_log_evidence(far)[0] == -np.inf
    assert np.array_equal(model.predict_proba(far[3:]), proba[3:])


@pytest.mark.parametrize("tied", [False, True])
def test_bits_are_the_same_alone_in_any_batch_and_layout(rng, tied):
    X, y = correlated(rng, 500, 7)
    model = GaussianBayes(tied=tied).fit(X, y)
    whole = model.predict_joint_log_proba(X)
    assert np.array_equal(model.predict_joint_log_proba(np.asfortranarray(X)), whole)
    assert np.array_equal(model.predict_joint_log_proba(np.repeat(X, 2, axis=1)[:, ::2]), whole)
    for n in (1, 2, 31, 32, 33, 64, 100):
        assert np.array_equal(model.predict_joint_log_proba(X[200 : 200 + n]), whole[200 : 200 + n])
    narrow = X.astype(np.float32)
    assert model.predict_proba(narrow).dtype == np.float32
    assert np.array_equal(
        model.predict_joint_log_proba(narrow), model.predict_joint_log_proba(narrow.astype(float))
    )


@pytest.mark.parametrize("place", [0, 31, 32, 63, 95, 96])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_found(rng, place, value):
    X, y = correlated(rng, 97, 3)
    model = GaussianBayes().fit(X, y)
    X[place, 1] = value
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        model.predict(X)


def test_priors_decide_between_equal_densities():
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]] * 2, [0, 0, 0, 1, 1, 1]
    model = GaussianBayes(priors=[0.25, 0.75]).fit(X, y)
    assert_allclose(model.predict_proba(X), [[0.25, 0.75]] * 6)
    assert GaussianBayes(priors=[1.0, 0.0]).fit(X, y).predict(X).tolist() == [0] * 6


def test_reestimate_is_a_fit_without_rows(rng):
    X, y = correlated(rng, 200, 4)
    model = GaussianBayes().fit(X, y)
    before = model.covariance_.copy()
    for params in (
        {"tied": True}, {"ddof": 1}, {"priors": [0.1, 0.2, 0.7]}, {"reg_param": 0.5},
        {"shrinkage": "oas"}, {"covariance_type": "diag"}, {"var_smoothing": 0.1},
    ):  # fmt: skip
        found, wanted = model.reestimate(**params), GaussianBayes(**params).fit(X, y)
        assert np.array_equal(found.predict_proba(X), wanted.predict_proba(X))
        assert found.get_params() == wanted.get_params()
    assert np.array_equal(model.covariance_, before)
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        model.reestimate(nothing=1)
    with pytest.raises(ValueError, match="reg_param"):
        model.reestimate(reg_param=2)


def test_sampling(rng):
    X, y = correlated(rng, 300, 3)
    model = GaussianBayes(priors=[0.5, 0.3, 0.2]).fit(X, y)
    rows, labels = model.sample(60_000, random_state=0)
    again = model.sample(60_000, random_state=0)
    assert np.array_equal(rows, again[0])
    assert np.array_equal(labels, again[1])
    assert rows.shape == (60_000, 3)
    drawn = ClassStats.from_rows(rows, labels, scatter="full")
    # Four standard errors of 60,000 draws.
    assert_allclose(drawn.count / 60_000, [0.5, 0.3, 0.2], atol=0.009)
    for c in range(3):
        sd = np.sqrt(np.diag(model.covariance_[c]))
        scale = 4 / np.sqrt(drawn.count[c])
        assert (np.abs(drawn.mean[c] - model.means_[c]) / sd).max() < scale
        error = np.abs(drawn.covariance[c] - model.covariance_[c]) / np.outer(sd, sd)
        assert error.max() < 1.5 * scale
    assert GaussianBayes(tied=True).fit(X, y).sample(5, np.random.default_rng(1))[0].shape == (5, 3)
    with pytest.raises(ValueError, match=r"Invalid value for 'n': 0. The sampling requires at"):
        model.sample(0)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"covariance_type": "round"}, "'covariance_type' parameter of GaussianBayes must be"),
        ({"tied": "yes"}, "'tied' parameter of GaussianBayes must be"),
        ({"ddof": 2}, "'ddof' parameter of GaussianBayes must be an int in the range"),
        ({"reg_param": -0.1}, "'reg_param' parameter of GaussianBayes must be a float"),
        ({"shrinkage": "auto"}, "'shrinkage' parameter of GaussianBayes must be"),
        ({"shrinkage": 1.5}, "'shrinkage' parameter of GaussianBayes must be"),
        ({"var_smoothing": -1}, "'var_smoothing' parameter of GaussianBayes must be"),
        ({"priors": [0.5, 0.5]}, "Number of priors must match number of classes."),
        ({"priors": [0.5, 0.6, 0.1]}, "The sum of the priors should be 1."),
    ],
)
def test_wrong_parameters(rng, params, message):
    X, y = correlated(rng, 30, 2)
    with pytest.raises(ValueError, match=re.escape(message)):
        GaussianBayes(**params).fit(X, y)


def test_what_cannot_be_estimated(rng):
    X, y = correlated(rng, 30, 2)
    with pytest.raises(ValueError, match=r"Full covariances need full scatter: .*scatter='full'"):
        GaussianBayes().fit_stats(ClassStats.from_rows(X, y))
    with pytest.raises(TypeError, match=r"a fastgnb.GaussianBayes, got fastgnb.GaussianNB."):
        GaussianBayes().fit(X, y).merge(GaussianNB().fit(X, y))
    model = GaussianBayes().fit(X, y)
    before = model.predict_proba(X)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.partial_fit(X, y)
    assert np.array_equal(model.predict_proba(X[4:]), before[4:])


def test_naive_bayes_of_full_statistics_learns_on(rng):
    X, y = correlated(rng, 120, 3)
    full = ClassStats.from_rows(X[:60], y[:60], scatter="full")
    model = GaussianNB().fit_stats(full).partial_fit(X[60:], y[60:])
    assert model.stats_.covariance is not None
    assert_allclose(model.var_, GaussianNB().fit(X, y).var_, rtol=1e-12)
    richer = GaussianBayes().fit_stats(model.stats_)
    assert_allclose(richer.covariance_, GaussianBayes().fit(X, y).covariance_, rtol=1e-11)
