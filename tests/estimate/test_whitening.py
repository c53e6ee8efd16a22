"""What full covariances and principal axes make of low rank, far classes, units and weights."""

from __future__ import annotations

import itertools
import re
from decimal import Decimal

import numpy as np
import pytest
from exact_gaussian import along_axes, gaussians
from numpy.testing import assert_allclose
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB as Plain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fastgnb import ClassStats, GaussianBayes, PCAGaussianNB
from fastgnb.estimate.principal_axes import principal_axes
from fastgnb.estimate.singular import left_singular
from fastgnb.estimators.selection import StatsGridSearchCV

# Class 0 has three rows of three features, and rank two.
FLAT = np.array([
    [-8, -1, 6], [9, -2, 1], [8, -2, -8], [-8, -9, 9], [1, -4, 6], [7, -4, -3], [3, 6, -9],
    [1, -9, -9], [2, -4, 5],
], float)  # fmt: skip
FLAT_Y = np.array([0] * 3 + [1] * 6)
FAR = np.array([-0.1, 0, 0.1, 0, -3, 3, 4, -4, 1e9, 1e9 + 1])[:, None]
FAR_Y = np.array([0] * 4 + [1] * 4 + [2] * 2)


def blobs(rng, n=120, d=3, k=3):
    y = np.arange(n) % k
    X = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) + np.eye(d))
    return X + rng.normal(size=(k, d))[y], y


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_a_class_of_as_many_rows_as_features(order):
    """9.6356786853 is the score with the eigenvalue of 0 as 3 2^-52, in the class's own units.
    Rounding leaves a pivot of 7e-14 of a zero eigenvalue, in some orders."""
    (exact,) = gaussians(FLAT, FLAT_Y, FLAT[:1]).joint
    assert abs(exact[0] - Decimal("9.6356786853")) < Decimal("1e-9")
    X = FLAT[:, order]
    found = GaussianBayes().fit(X, FLAT_Y).predict_joint_log_proba(X[:1])
    assert_allclose(found, [np.array(exact, float)], rtol=1e-13)


def test_tied_of_as_many_rows_as_degrees_of_freedom(rng):
    """Two classes of two and three rows pool to rank three of four features."""
    for _ in range(20):
        X, y = rng.integers(-9, 10, (5, 4)).astype(float), np.array([0, 0, 1, 1, 1])
        (exact,) = gaussians(X, y, X[:1], tied=True).joint
        for order in itertools.permutations(range(4)):
            model = GaussianBayes(tied=True).fit(X[:, order], y)
            found = model.predict_joint_log_proba(X[:1, order])
            assert_allclose(found[0, :1], float(exact[0]), rtol=1e-11)


@pytest.mark.promise("rank")
@pytest.mark.parametrize("d", [2, 4, 7, 12, 25, 50])
def test_low_rank_in_any_order(rng, d):
    """The score of a class's own rows is the same in every order of the features."""
    for _ in range(10):
        X = np.vstack([rng.integers(-9, 10, (d, d)), rng.integers(-9, 10, (2 * d, d))]) + 0.0
        y = np.array([0] * d + [1] * 2 * d)
        wanted = GaussianBayes().fit(X, y).predict_joint_log_proba(X[:d])[:, 0]
        for _ in range(3):
            order = rng.permutation(d)
            model = GaussianBayes().fit(X[:, order], y)
            found = model.predict_joint_log_proba(X[:d, order])[:, 0]
            assert_allclose(found, wanted, rtol=1e-9)


def test_low_rank_is_the_same_in_a_stream(rng):
    """What merges leave of a zero eigenvalue counts as rounding, too."""
    X, y = rng.integers(-9, 10, (400, 3)).astype(float), np.arange(400) % 2
    X[:, 2] = X[:, 0] - 2 * X[:, 1]
    whole = GaussianBayes().fit(X, y)
    for size in (1, 3, 50):
        stream = GaussianBayes()
        for a in range(0, 400, size):
            stream.partial_fit(X[a : a + size], y[a : a + size], classes=[0, 1])
        for found in (stream, GaussianBayes(tied=True).fit_stats(stream.stats_)):
            wanted = whole.reestimate(tied=found.tied)
            assert_allclose(
                found.predict_joint_log_proba(X), wanted.predict_joint_log_proba(X), rtol=1e-8
            )


@pytest.mark.promise("rank")
def test_a_far_class_leaves_the_others_alone():
    model = GaussianBayes().fit(FAR, FAR_Y)
    assert_allclose(model.predict_proba([[1.0]]), [[0, 1, 0]], atol=1e-12)
    (exact,) = gaussians(FAR, FAR_Y, [[1.0]]).joint
    assert_allclose(model.predict_joint_log_proba([[1.0]])[0], np.array(exact, float), rtol=1e-14)


@pytest.mark.parametrize("far", [1e3, 1e8, 1e16, 1e120, 1e200])
@pytest.mark.parametrize("tied", [False, True])
def test_far_classes_in_many_dimensions(rng, far, tied):
    """It changes the others' priors only and, where tied, has a part in the covariance."""
    X, y = blobs(rng, 300, 8, 2)
    more = X[y == 0][::-1] + far if far < 1e10 else np.full((150, 8), far)
    both, labels = np.vstack([X, more]), np.append(y, [2] * len(more))
    model = GaussianBayes(tied=tied).fit(both, labels)
    alone = GaussianBayes(tied=tied).fit(X, y)
    found = model.predict_joint_log_proba(X)[:, :2]
    if tied:
        within = model.covariance_
        wanted = np.transpose([
            np.log(1 / 3) - 0.5 * np.linalg.slogdet(2 * np.pi * within)[1]
            - 0.5 * np.einsum("nd,de,ne->n", z, np.linalg.inv(within), z)
            for z in (X - X[y == c].mean(axis=0) for c in range(2))
        ])  # fmt: skip
        assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    else:
        wanted = alone.predict_joint_log_proba(X) + np.log(2 / 3)
        assert_allclose(found, wanted, rtol=1e-10)
    assert model.predict(more[:1]).tolist() == [2]


def test_a_class_of_one_row_beside_a_far_one(rng):
    """Its unit is the variance within classes, which the distance of another one is no part of."""
    X = np.array([0.0, -3, 3, 4, -4, 1e9, 1e9 + 1])[:, None]
    y = np.array([0, 1, 1, 1, 1, 2, 2])
    assert_allclose(GaussianBayes().fit(X, y).predict_proba([[1.0]]), [[0, 1, 0]], atol=1e-12)
    assert GaussianBayes().fit(X, y).predict([[0.0]]) == [0]
    (exact,) = gaussians(X, y, [[0.0]]).joint
    found = GaussianBayes().fit(X, y).predict_joint_log_proba([[0.0]])[0]
    assert_allclose(found, np.array(exact, float), rtol=1e-13)


def test_features_that_do_not_vary_in_a_class(rng):
    """The unit is then of the variance within classes; of all rows; or one."""
    X, y = blobs(rng, 30, 4, 2)
    X[y == 0, 1] = 0.1  # varies in class 1
    X[:, 2] = y * 8.0  # varies in no class
    X[:, 3] = 0.7  # varies nowhere
    for tied in (False, True):
        exact = np.array(gaussians(X, y, X[:4], tied=tied).joint, float)
        model = GaussianBayes(tied=tied).fit(X, y)
        assert_allclose(model.predict_joint_log_proba(X[:4]), exact, rtol=1e-10)
        assert model.score(X, y) == 1.0


@pytest.mark.parametrize(("weight", "scale"), [
    (5e-324, 1e-20), (1e-320, 1e-20), (1e-290, 1e-20), (1e-290, 1e-150), (1e200, 1e60),
    (1e300, 1e150), (1.0, 5e153),
])  # fmt: skip
@pytest.mark.parametrize("model", [
    GaussianBayes(), GaussianBayes(tied=True), GaussianBayes(tied=True, shrinkage=0.25),
    GaussianBayes(covariance_type="spherical"),
    GaussianBayes(covariance_type="spherical", tied=True),
    GaussianBayes(shrinkage=0.5, shrinkage_target="spherical"),
    PCAGaussianNB(), PCAGaussianNB(rotation="within"), PCAGaussianNB(rotation="class"),
    PCAGaussianNB(standardize=True),
], ids=repr)  # fmt: skip
def test_only_ratios_of_weights_matter(rng, model, weight, scale):
    X, y = blobs(rng)
    X /= 4.0 * np.abs(X).max()
    wanted = model.fit(X, y).predict_proba(X)
    found = model.fit(X * scale, y, np.full(len(y), weight)).predict_proba(X * scale)
    assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("exponent", [-480, -300, -135, -40, 40, 135, 300, 500])
@pytest.mark.parametrize("params", [
    {"shrinkage": "oas"}, {"shrinkage": "oas", "shrinkage_target": "spherical"},
    {"shrinkage": 0.5, "shrinkage_target": "spherical"}, {"covariance_type": "spherical"},
    {"shrinkage": "oas", "tied": True}, {},
], ids=str)  # fmt: skip
def test_units_of_all_features_do_not_matter(rng, exponent, params):
    X, y = blobs(rng)
    unit = 2.0**exponent
    one, other = GaussianBayes(**params).fit(X, y), GaussianBayes(**params).fit(X * unit, y)
    assert_allclose(other.predict_proba(X * unit), one.predict_proba(X), rtol=1e-11, atol=1e-15)
    assert np.array_equal(other.covariance_, one.covariance_ * unit * unit)


@pytest.mark.promise("rank")
@pytest.mark.parametrize("params", [
    {}, {"tied": True}, {"shrinkage": 0.3}, {"shrinkage": "oas"},
    {"shrinkage": "oas", "tied": True},
], ids=str)  # fmt: skip
def test_units_of_each_feature_do_not_matter(rng, params):
    X, y = blobs(rng, d=5)
    units = 10.0 ** np.array([-140, -9, 0, 7, 140])
    one, other = GaussianBayes(**params).fit(X, y), GaussianBayes(**params).fit(X * units, y)
    assert_allclose(other.predict_proba(X * units), one.predict_proba(X), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_the_diagonal_target_is_oas_of_scaled_rows(load):
    """As scikit-learn's OAS of each class's rows over their standard deviations."""
    X, y = load(return_X_y=True)
    model = GaussianBayes(shrinkage="oas").fit(X, y)
    for c, found in enumerate(model.covariance_):
        sd = X[y == c].std(axis=0)
        correlation = OAS().fit(X[y == c] / sd).covariance_
        assert_allclose(found / np.outer(sd, sd), correlation, rtol=1e-9, atol=1e-12)
    given = GaussianBayes(shrinkage=0.25).fit(X, y).covariance_
    plain = GaussianBayes().fit(X, y).covariance_
    assert_allclose(given, 0.75 * plain + 0.25 * plain * np.eye(X.shape[1]), rtol=1e-13)


def test_oas_leaves_out_features_that_do_not_vary(rng):
    X, y = blobs(rng)
    wide = np.insert(X, 1, 5.0, axis=1)
    found = GaussianBayes(shrinkage="oas").fit(wide, y).covariance_
    wanted = GaussianBayes(shrinkage="oas").fit(X, y).covariance_
    assert_allclose(found[:, [[0], [2], [3]], [0, 2, 3]], wanted, rtol=1e-13)
    one = GaussianBayes(shrinkage="oas").fit(X[:1], y[:1])  # nothing varies
    assert not one.covariance_.any()


def test_shrinkage_of_features_of_other_scales(rng):
    """The spherical target drowns a feature of small units; the diagonal one does not."""
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 3)) + np.outer(y, [2.0, 0.0, 0.0])
    X *= [1.0, 1e4, 1e4]
    plain = GaussianBayes().fit(X, y).score(X, y)
    assert plain > 0.8
    for shrinkage in ("oas", 0.5):
        model = GaussianBayes(shrinkage=shrinkage).fit(X, y)
        assert abs(model.score(X, y) - plain) < 0.02
        drowned = model.reestimate(shrinkage_target="spherical", shrinkage=0.5)
        assert drowned.score(X, y) < 0.6
    assert PCAGaussianNB(n_components=3, standardize=True).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
def test_tied_covariances_are_pooled_by_rows(priors):
    """As solver "svd" has them; "lsqr" pools by priors, which is another tied Gaussian."""
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    solvers = {
        name: LinearDiscriminantAnalysis(solver=name, priors=priors).fit(X, y)
        for name in ("svd", "lsqr")
    }
    found = GaussianBayes(tied=True, priors=priors).fit(X, y).predict_proba(X)
    unbiased = GaussianBayes(tied=True, priors=priors, ddof=1).fit(X, y).predict_proba(X)
    svd = solvers["svd"].predict_proba(X)
    assert min(np.abs(svd - found).max(), np.abs(svd - unbiased).max()) < 1e-8
    same = np.abs(solvers["lsqr"].predict_proba(X) - found).max() < 1e-8
    assert same == (priors is None)


@pytest.mark.parametrize("rotation", ["total", "within", "class"])
@pytest.mark.parametrize("n_components", [2, 0.8, None])
def test_standardize_is_scaling_the_rows_first(rng, rotation, n_components):
    X, y = blobs(rng, 200, 5)
    X = X * [1.0, 1e5, 1e-3, 1.0, 1.0] + [1e6, 0.0, 1.0, -5.0, 0.0]
    X[:, 4] = 3.0  # scikit-learn leaves it as it is
    Z = StandardScaler().fit_transform(X)
    ours = PCAGaussianNB(n_components=n_components, rotation=rotation, standardize=True).fit(X, y)
    wanted = PCAGaussianNB(n_components=n_components, rotation=rotation).fit(Z, y)
    assert_allclose(ours.components_, wanted.components_, atol=1e-9)
    assert_allclose(ours.explained_variance_, wanted.explained_variance_, rtol=1e-9)
    assert_allclose(
        ours.predict_joint_log_proba(X), wanted.predict_joint_log_proba(Z), rtol=1e-8, atol=1e-8
    )
    assert_allclose(ours.scale_, StandardScaler().fit(X).scale_, rtol=1e-12)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_standardize_is_scikit_learns_pipeline(load):
    X, y = load(return_X_y=True)
    theirs = make_pipeline(StandardScaler(), PCA(4, svd_solver="full"), Plain()).fit(X, y)
    ours = PCAGaussianNB(n_components=4, standardize=True).fit(X, y)
    assert_allclose(np.abs(ours.components_), np.abs(theirs[1].components_), atol=1e-9)
    assert_allclose(ours.explained_variance_, theirs[1].explained_variance_, rtol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    rows, labels = ours.sample(4000, random_state=0)
    drawn = PCAGaussianNB(n_components=4, standardize=True).fit(rows, labels)
    assert_allclose(drawn.scale_, ours.scale_, rtol=0.5)


@pytest.mark.parametrize("unit", [1e-2, 1e-5, 1e-9, 1e-30, 1e-60])
@pytest.mark.parametrize("rotation", ["total", "within"])
def test_axes_of_features_of_other_units_count(rng, unit, rotation):
    """Their variances are tiny beside the largest, and as exact."""
    X, y = blobs(rng, 30, 3)
    X *= [1.0, unit, 1.0 / unit]
    model = PCAGaussianNB(rotation=rotation, var_smoothing=0.0).fit(X, y)
    assert model.n_components_ == 3
    wanted = np.array(along_axes(X, y, X[:5], rotation=rotation), float)
    assert_allclose(model.predict_joint_log_proba(X[:5]), wanted, rtol=1e-10)


def test_axes_within_classes_that_are_far_apart(rng):
    X, y = blobs(rng, 20, 4, 2)
    X = np.vstack([X, np.round(X[:10] * 1024) / 1024 + 1e8])
    y = np.append(y, [2] * 10)
    model = PCAGaussianNB(var_smoothing=0.0).fit(X, y)
    assert model.n_components_ == 4
    wanted = np.array(along_axes(X, y, X[:5], rotation="total"), float)
    assert_allclose(model.predict_joint_log_proba(X[:5]), wanted, rtol=1e-6, atol=1e-6)


def test_rounding_has_no_axes(rng):
    """Not of features that are sums of others, repeated or weighted, in any units."""
    X, y = rng.integers(-9, 10, (40, 5)).astype(float), np.arange(40) % 3
    X[:, 3], X[:, 4] = X[:, 0] + X[:, 1], X[:, 2] * 3
    times = rng.integers(1, 5, 40)
    repeated = np.repeat(X, times, axis=0), np.repeat(y, times)
    for units in (np.ones(5), 10.0 ** np.array([-7, 3, 0, 9, -20])):
        for rotation in ("total", "within", "class"):
            weighted = PCAGaussianNB(rotation=rotation).fit(X * units, y, times)
            other = PCAGaussianNB(rotation=rotation).fit(repeated[0] * units, repeated[1])
            assert weighted.n_components_ == other.n_components_ == 3


def test_variances_whose_sum_overflows(rng):
    X, y = rng.uniform(-1.2e154, 1.2e154, (60, 8)), np.arange(60) % 3
    with np.errstate(over="ignore"):
        assert np.isinf(X.var(axis=0).sum())
    for model in (
        GaussianBayes(shrinkage=0.5, shrinkage_target="spherical"), GaussianBayes(shrinkage="oas"),
        GaussianBayes(shrinkage="oas", shrinkage_target="spherical"),
        PCAGaussianNB(standardize=True), PCAGaussianNB(),
    ):  # fmt: skip
        wanted = model.fit(X * 2.0**-600, y).predict_proba(X * 2.0**-600)
        assert_allclose(model.fit(X, y).predict_proba(X), wanted, rtol=1e-8, atol=1e-12)


def test_an_axis_whose_variance_overflows():
    X = np.outer([1.0, -1.0, 1.0, -1.0], np.full(4, 1.2e154))
    with pytest.raises(ValueError, match=r"variance along an axis overflows .* standardize=True"):
        PCAGaussianNB().fit(X, [0, 0, 1, 1])
    assert PCAGaussianNB(standardize=True).fit(X, [0, 0, 1, 1]).n_components_ == 1


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("model", [
    GaussianBayes(), GaussianBayes(tied=True),
    PCAGaussianNB(rotation="class", var_smoothing=0.0),
    PCAGaussianNB(rotation="within", tied=True, var_smoothing=0.0),
], ids=repr)  # fmt: skip
def test_evidence_far_from_zero(rng, model, offset):
    """Means have twice the digits of float64, and none is dropped on the way to scores."""
    X, y = blobs(rng, 45, 3)
    X = X + offset
    exact = gaussians(X, y, X[:6], tied=model.tied)
    wanted = [float(sum(v.exp() for v in row).ln()) for row in exact.joint]
    found = model.fit(X, y).predict_log_evidence(X[:6])
    assert_allclose(found, wanted, rtol=1e-15 * 40 * (1 + offset / 1e9))


def test_singular_values_of_rows_of_any_size(rng):
    """Their product is the determinant, whatever their sizes."""
    for d, span in ((3, 20), (8, 200), (20, 60), (40, 30)):
        G = rng.normal(size=(d, d))
        log_size = rng.uniform(-span / 2, span / 2, d)
        U, s = left_singular(10.0 ** log_size[:, None] * G)
        wanted = np.linalg.slogdet(G)[1] + log_size.sum() * np.log(10)
        assert_allclose(np.log(s).sum(), wanted, rtol=1e-12, atol=1e-11)
        assert_allclose(U.T @ U, np.eye(d), atol=1e-13)
        assert (np.diff(s) <= 0).all()


def test_axes_of_nothing():
    for scatter in (np.zeros((1, 3, 3)), np.diag([0.0, 4.0, 1e-300])[None]):
        axes = principal_axes(scatter, 3)
        assert np.count_nonzero(axes.variance) == np.count_nonzero(scatter)
        assert axes.components.shape == (1, 3, 3)


@pytest.mark.parametrize(("model", "message"), [
    (GaussianBayes(shrinkage_target="round"), "'shrinkage_target' parameter of GaussianBayes must"),
    (GaussianBayes(shrinkage_target=None), "'shrinkage_target' parameter of GaussianBayes must"),
    (PCAGaussianNB(standardize="yes"), "'standardize' parameter of PCAGaussianNB must be an inst"),
])  # fmt: skip
def test_wrong_options(rng, model, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(*blobs(rng))
    stats = ClassStats.from_rows(*blobs(rng), scatter="full")
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit_stats(stats)


@pytest.mark.parametrize("kind", ["constant", "sums", "few rows", "one row each"])
def test_what_subtracting_leaves_of_low_rank(rng, kind):
    """Rounding errors of what there was are told from 0 no better than they are known."""
    X, y = blobs(rng, 60, 4, 2)
    A, a = X.copy(), y
    if kind == "constant":
        A[y == 0] = A[0]
    elif kind == "sums":
        A[:, 2] = A[:, 0] + A[:, 1]
    else:
        A, a = (X[:5], y[:5]) if kind == "few rows" else (X[:2], y[:2])
    stats = ClassStats.from_rows(A, a, scatter="full")
    more = ClassStats.from_rows(X * 30 + 5, y, scatter="full")
    for tied in (False, True):
        wanted = GaussianBayes(tied=tied).fit_stats(stats).predict_joint_log_proba(A[:4])
        found = GaussianBayes(tied=tied).fit_stats(stats + more - more)
        assert_allclose(found.predict_joint_log_proba(A[:4]), wanted, rtol=1e-8, atol=1e-6)
    for rotation in ("total", "within", "class"):
        one, other = (
            PCAGaussianNB(rotation=rotation).fit_stats(each)
            for each in (stats, stats + more - more)
        )
        assert other.n_components_ == one.n_components_


def test_targets_and_scaling_can_be_selected(rng):
    y = np.arange(300) % 2
    X = (rng.normal(size=(300, 3)) + np.outer(y, [2.0, 0.0, 0.0])) * [1.0, 1e4, 1e4]
    targets = StatsGridSearchCV(
        GaussianBayes(shrinkage=0.5), {"shrinkage_target": ["spherical", "diagonal"]}, cv=3
    )
    scaled = StatsGridSearchCV(PCAGaussianNB(n_components=2), {"standardize": [False, True]}, cv=3)
    for search in (targets, scaled):
        results = search.fit(X, y).cv_results_
        assert results["rank_test_score"].tolist() == [2, 1]


def test_logarithms_are_of_contiguous_arrays(rng, monkeypatch):
    """NumPy's of a strided array have other last bits where the result lies close after it in
    memory, so that one model in a thousand differed from its twin."""
    plain, seen = np.log, []

    def log(values, *args, **kwargs):
        seen.append(np.asarray(values).flags.forc)
        return plain(values, *args, **kwargs)

    X, y = blobs(rng)
    monkeypatch.setattr(np, "log", log)
    for model in (GaussianBayes(), GaussianBayes(tied=True), PCAGaussianNB(rotation="class")):
        model.fit(X, y).predict_log_proba(X)
        model.fit(np.c_[X, X], y).predict_log_proba(np.c_[X, X])  # of low rank
    assert len(seen) > 4
    assert all(seen)
