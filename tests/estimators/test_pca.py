"""PCAGaussianNB against scikit-learn's pipeline, and its rotations against each other."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as Plain
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fastgnb import ClassStats, GaussianBayes, GaussianNB, PCAGaussianNB
from fastgnb.estimate.principal_axes import principal_axes
from fastgnb.stats.rotation import rotate

LOADERS = [load_iris, load_wine, load_breast_cancer]


def correlated(rng, n, d, k=3, offset=0.0):
    y = np.arange(n) % k
    mix = rng.normal(size=(k, d, d)) + np.diag(np.arange(1, d + 1))
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mix[y])
    return X + 2 * rng.normal(size=(k, d))[y] + offset, y


@pytest.mark.parametrize(
    ("load", "right"),
    [(load_iris, (45, 45)), (load_wine, (52, 54)), (load_breast_cancer, (160, 171))],
)
def test_published_accuracies(load, right):
    X, y = load(return_X_y=True)
    A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=0)
    model = PCAGaussianNB(n_components=4).fit(A, a)
    assert (int((model.predict(B) == b).sum()), len(b)) == right


@pytest.mark.promise("twins")
@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("n_components", [1, 3, None, 0.5, 0.9, 0.999])
def test_total_is_scikit_learns_pipeline(load, n_components):
    X, y = load(return_X_y=True)
    X = X / X.std(axis=0)
    theirs = make_pipeline(PCA(n_components, svd_solver="full"), Plain()).fit(X, y)
    ours = PCAGaussianNB(n_components=n_components).fit(X, y)
    pca = theirs[0]
    assert ours.n_components_ == pca.n_components_
    assert_allclose(ours.mean_, pca.mean_, rtol=1e-12)
    assert_allclose(np.abs(ours.components_), np.abs(pca.components_), atol=1e-9)
    assert_allclose(ours.explained_variance_, pca.explained_variance_, rtol=1e-9)
    assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-9)
    assert_allclose(ours.epsilon_, theirs[1].epsilon_, rtol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_far_from_zero_it_stays_exact(rng):
    X, y = correlated(rng, 300, 5)
    near = PCAGaussianNB(n_components=3).fit(X, y).predict_proba(X)
    far = np.round(X * 2**20) / 2**20 + 2**27  # no digit of the rows is lost
    model = PCAGaussianNB(n_components=3).fit(far, y)
    assert_allclose(model.predict_proba(far), near, atol=1e-4)
    exact = PCAGaussianNB(n_components=3).fit(far - 2**27, y)
    assert_allclose(model.predict_proba(far), exact.predict_proba(far - 2**27), rtol=1e-7)


@parametrize_with_checks([
    PCAGaussianNB(), PCAGaussianNB(rotation="within"), PCAGaussianNB(rotation="class"),
])  # fmt: skip
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rotation", ["total", "within", "class"])
@pytest.mark.parametrize("n_components", [2, 0.9, None])
def test_a_stream_is_one_fit(rng, rotation, n_components):
    X, y = correlated(rng, 400, 4, offset=50.0)
    w = rng.random(400)
    make = {"rotation": rotation, "n_components": n_components}
    whole = PCAGaussianNB(**make).fit(X, y, w)
    stream, parts = PCAGaussianNB(**make), []
    for a in range(0, 400, 90):
        at = slice(a, a + 90)
        stream.partial_fit(X[at], y[at], classes=[0, 1, 2], sample_weight=w[at])
        parts.append(ClassStats.from_rows(X[at], y[at], w[at], scatter="full"))
    for found in (stream, PCAGaussianNB(**make).fit_stats(sum(parts))):
        assert_allclose(found.components_, whole.components_, atol=1e-10)
        assert_allclose(found.var_, whole.var_, rtol=1e-10)
        assert_allclose(found.predict_proba(X), whole.predict_proba(X), atol=1e-10)


def test_within_is_the_pooled_scatter(rng):
    X, y = correlated(rng, 300, 4)
    model = PCAGaussianNB(n_components=2, rotation="within").fit(X, y)
    centred = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    pca = PCA(2, svd_solver="full").fit(centred)
    assert_allclose(np.abs(model.components_), np.abs(pca.components_), atol=1e-10)
    turned = (X - X.mean(axis=0)) @ model.components_.T
    assert_allclose(
        model.predict_proba(X), GaussianNB().fit(turned, y).predict_proba(turned), atol=1e-10
    )


def test_class_is_a_pca_of_each_class(rng):
    X, y = correlated(rng, 300, 4)
    model = PCAGaussianNB(n_components=2, rotation="class", var_smoothing=0).fit(X, y)
    jll = []
    for c in range(3):
        pca = PCA(2, svd_solver="full").fit(X[y == c])
        assert_allclose(np.abs(model.components_[c]), np.abs(pca.components_), atol=1e-10)
        assert_allclose(model.explained_variance_[c], pca.explained_variance_, rtol=1e-10)
        z, var = pca.transform(X), pca.explained_variance_ * 99 / 100
        jll.append(np.log(1 / 3) - 0.5 * (np.log(2 * np.pi * var) + z**2 / var).sum(axis=1))
    assert_allclose(model.predict_joint_log_proba(X), np.transpose(jll), rtol=1e-9)


def test_all_axes_of_each_class_are_the_full_covariance(rng):
    X, y = correlated(rng, 300, 4)
    model = PCAGaussianNB(rotation="class", var_smoothing=0).fit(X, y)
    full = GaussianBayes().fit(X, y)
    assert_allclose(model.predict_joint_log_proba(X), full.predict_joint_log_proba(X), rtol=1e-9)


def test_no_rotation_where_features_are_uncorrelated(rng):
    """Axes are then the features, in falling order of variance."""
    half = np.eye(4) * [4.0, 3.0, 2.0, 1.0]
    X = np.vstack([half, -half, half + 9, -half + 9])
    y = np.repeat([0, 1], 8)
    naive = GaussianNB(var_smoothing=0).fit(X, y)
    model = PCAGaussianNB(rotation="within", var_smoothing=0).fit(X, y)
    assert_allclose(np.abs(model.components_), np.eye(4), atol=1e-12)
    assert_allclose(model.predict_proba(X), naive.predict_proba(X), atol=1e-12)


def test_rotation_of_statistics(rng):
    X, y = correlated(rng, 200, 4, offset=1e3)
    full = ClassStats.from_rows(X, y, scatter="full")
    basis = np.linalg.qr(rng.normal(size=(4, 4)))[0][:3]
    centre = full.as_one_class().mean
    seen = rotate(full, centre, basis[None])
    wanted = ClassStats.from_rows((X - centre) @ basis.T, y)
    assert_allclose(seen.mean, wanted.mean, atol=1e-11)
    assert_allclose(seen.variance, wanted.variance, rtol=1e-11)
    assert seen.covariance is None
    with pytest.raises(ValueError, match=r"A rotation needs full scatter: .* scatter='full'"):
        rotate(full.to_diag(), centre, basis[None])


def test_axes_have_fixed_signs_and_lengths(rng):
    A = rng.normal(size=(6, 6))
    axes = principal_axes((A @ A.T)[None], None)
    (components,), (variance,), (share,) = axes
    assert_allclose(components @ components.T, np.eye(6), atol=1e-13)
    assert (components[np.arange(6), np.abs(components).argmax(axis=1)] > 0).all()
    assert (np.diff(variance) <= 0).all()
    assert_allclose(share.sum(), 1.0)
    none = principal_axes(np.zeros((1, 3, 3)), 0.5)
    assert not none.variance.any()
    assert not none.share.any()
    assert not none.components.any()


def test_axes_along_which_nothing_varies(rng):
    """They have no direction, so that rows off the plane of the others tell nothing."""
    basis = rng.normal(size=(2, 5))
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) @ basis + y[:, None] * basis[0]
    off = X + 3 * np.linalg.svd(basis)[2][4]
    for rotation in ("total", "within", "class"):
        model = PCAGaussianNB(rotation=rotation).fit(X, y)
        assert model.n_components_ == 2
        assert_allclose(model.predict_proba(off), model.predict_proba(X), rtol=1e-9)
        more = model.reestimate(n_components=4)
        assert more.n_components_ == 4
        assert not more.components_[..., 2:, :].any()
        assert_allclose(more.predict_proba(off), model.predict_proba(X), rtol=1e-9)


def test_tied_and_spherical_along_axes(rng):
    X, y = correlated(rng, 300, 4)
    turned = PCA(3, svd_solver="full").fit_transform(X)
    for params in ({"tied": True, "ddof": 1}, {"covariance_type": "spherical"}):
        model = PCAGaussianNB(n_components=3, **params).fit(X, y)
        naive = GaussianNB(**params).fit(turned, y)
        assert_allclose(model.predict_proba(X), naive.predict_proba(turned), atol=1e-9)


def test_reestimate_is_a_fit_without_rows(rng):
    X, y = correlated(rng, 200, 4)
    model = PCAGaussianNB().fit(X, y)
    for params in (
        {"n_components": 2}, {"n_components": 0.7}, {"rotation": "class"}, {"rotation": "within"},
        {"tied": True}, {"var_smoothing": 0.1}, {"priors": [0.2, 0.2, 0.6]}, {"ddof": 1},
    ):  # fmt: skip
        wanted = PCAGaussianNB(**params).fit(X, y).predict_proba(X)
        assert np.array_equal(model.reestimate(**params).predict_proba(X), wanted)


@pytest.mark.parametrize("rotation", ["total", "class"])
def test_sampling(rng, rotation):
    X, y = correlated(rng, 300, 3)
    model = PCAGaussianNB(n_components=2, rotation=rotation).fit(X, y)
    rows, labels = model.sample(40_000, random_state=3)
    assert rows.shape == (40_000, 3)
    for c in range(3):
        own = rows[labels == c]
        basis = model.components_[c] if rotation == "class" else model.components_
        centre = model.mean_[c] if rotation == "class" else model.mean_
        z = (own - centre) @ basis.T
        sd = np.sqrt(model.var_[c])
        assert (np.abs(z.mean(axis=0) - model.theta_[c]) / sd).max() < 4 / len(own) ** 0.5
        assert_allclose(z.std(axis=0), sd, rtol=4 / len(own) ** 0.5)
        assert_allclose(z @ basis + centre, own, atol=1e-10)  # nothing across the axes


def test_many_features_and_few_axes():
    X, y = load_digits(return_X_y=True)
    theirs = make_pipeline(PCA(20, svd_solver="full"), Plain()).fit(X, y)
    ours = PCAGaussianNB(n_components=20).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert ours.score(X, y) > 0.93
    assert PCAGaussianNB(n_components=20, rotation="class").fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "'n_components' parameter of PCAGaussianNB must be"),
        ({"n_components": 1.5}, "'n_components' parameter of PCAGaussianNB must be"),
        ({"n_components": "mle"}, "'n_components' parameter of PCAGaussianNB must be"),
        ({"n_components": 5}, "n_components=5 must be between 1 and n_features=4"),
        ({"rotation": "varimax"}, "'rotation' parameter of PCAGaussianNB must be"),
        ({"covariance_type": "full"}, "'covariance_type' parameter of PCAGaussianNB must be"),
        ({"var_smoothing": -1.0}, "'var_smoothing' parameter of PCAGaussianNB must be"),
    ],
)
def test_wrong_parameters(rng, params, message):
    X, y = correlated(rng, 30, 4)
    with pytest.raises(ValueError, match=re.escape(message)):
        PCAGaussianNB(**params).fit(X, y)


def test_statistics_that_are_diagonal(rng):
    X, y = correlated(rng, 30, 4)
    for rotation in ("total", "within", "class"):
        with pytest.raises(ValueError, match=r"Principal axes need full scatter: make the"):
            PCAGaussianNB(rotation=rotation).fit_stats(ClassStats.from_rows(X, y))
