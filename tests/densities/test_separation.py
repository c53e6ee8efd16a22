"""Separation of classes: against numerical integrals, and bounds against the error itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from members import CASES, with_categories
from threadpoolctl import threadpool_info, threadpool_limits

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.densities import separation
from fastgnb.densities.separation import bhattacharyya_distance, error_bound

PAIRS = list(itertools.combinations(range(3), 2))

MODELS = [
    GaussianNB(var_smoothing=0.0),
    GaussianNB(tied=True),
    GaussianBayes(),
    GaussianBayes(tied=True),
    PCAGaussianNB(),
    PCAGaussianNB(standardize=True, rotation="within"),
    PCAGaussianNB(rotation="class"),
]


@pytest.fixture
def data(rng):
    y = np.repeat([0, 1, 2], [50, 60, 40])
    mix = rng.normal(size=(3, 2, 2))
    X = np.einsum("nf,nfg->ng", rng.normal(size=(150, 2)), mix[y]) + y[:, None] * [1.0, 0.5]
    return X * [1.0, 3.0], y


def joint_on_a_grid(model, X):
    """Densities times priors (n, k) on a grid, and the area of a cell."""
    reach = np.linspace(-12.0, 12.0, 1201)
    axes = X.mean(axis=0) + reach[:, None] * X.std(axis=0)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes.T)], axis=1)
    joint = model.predict_joint_log_proba(grid)
    if hasattr(model, "scale_"):
        joint = joint - np.log(model.scale_).sum()
    return np.exp(joint), float(np.prod(axes[1] - axes[0]))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_coefficients_by_numerical_integral(model, data):
    X, y = data
    model.fit(X, y)
    joint, area = joint_on_a_grid(model, X)
    assert joint.sum() * area == pytest.approx(1.0, abs=1e-9)  # the grid holds all densities
    distance = bhattacharyya_distance(model.to_model())
    assert np.array_equal(distance, distance.T)
    assert np.diagonal(distance).tolist() == [0.0] * 3
    bound = error_bound(model.class_prior_, distance)
    assert np.diagonal(bound).tolist() == [0.0] * 3
    for a, b in PAIRS:
        integral = np.sqrt(joint[:, a] * joint[:, b]).sum() * area
        assert bound[a, b] == pytest.approx(integral, rel=1e-8)
        error = np.minimum(joint[:, a], joint[:, b]).sum() * area
        assert error <= bound[a, b]
    bayes_error = (joint.sum(axis=1) - joint.max(axis=1)).sum() * area
    assert bayes_error <= bound[np.triu_indices(3, 1)].sum()


def test_both_ways_of_full_covariances_agree(rng, monkeypatch):
    d, y = 12, np.repeat([0, 1, 2], 100)
    mix = rng.normal(size=(3, d, d))
    X = np.einsum("nf,nfg->ng", rng.normal(size=(300, d)), mix[y]) + 3 * rng.normal(size=(3, d))[y]
    X *= 10.0 ** rng.integers(-6, 6, d)  # of other units
    model = GaussianBayes().fit(X, y).to_model()
    by_cholesky = bhattacharyya_distance(model)
    monkeypatch.setattr(separation, "_LEAST_PIVOT", 2.0)
    assert bhattacharyya_distance(model) == pytest.approx(by_cholesky, rel=1e-9)


def test_low_rank_classes_are_apart(data):
    """A class of one row, and one whose features are copies of each other."""
    X, y = data
    X[y == 1, 1] = 2.0 * X[y == 1, 0] + 1.0
    X, y = np.vstack([X, [[0.3, 0.4]]]), np.append(y, 3)
    distance = bhattacharyya_distance(GaussianBayes().fit(X, y).to_model())
    others = distance[~np.eye(4, dtype=bool)]
    assert np.isfinite(distance).all()
    assert others.min() > 1.0
    assert distance[1, 3] > 10.0


def test_far_classes_with_shared_axes(data):
    """Scoring gives each class a centre of its own there; the axes are still those of all."""
    X, y = data
    far = np.column_stack([X + 1e6 * y[:, None], X[:, 0]])
    for model in (PCAGaussianNB(n_components=1, rotation="within"), GaussianBayes(tied=True)):
        distance = bhattacharyya_distance(model.fit(far, y).to_model())
        assert np.isfinite(distance).all()
        assert distance[0, 1] > 1e6
        assert distance[0, 2] == pytest.approx(4 * distance[0, 1], rel=0.1)


def test_few_axes_of_each_class_have_no_common_values(data):
    X, y = data
    model = PCAGaussianNB(n_components=1, rotation="class").fit(X, y).to_model()
    with pytest.raises(ValueError, match="cannot be compared along 1 axes of their own out of 2"):
        bhattacharyya_distance(model)


def test_categories_multiply_the_coefficient(rng):
    y = np.repeat([0, 1], 60)
    X = np.column_stack([y + rng.normal(size=120), rng.integers(0, 3 - y), 2 * rng.random(120)])
    model = MixedNB(categorical_features=[1]).fit(X, y)
    p = np.exp(model.feature_log_prob_[0])
    normal = GaussianNB().fit(X[:, [0, 2]], y)
    expected = bhattacharyya_distance(normal.to_model())[0, 1] - np.log(np.sqrt(p[0] * p[1]).sum())
    got = bhattacharyya_distance(model.to_model())
    assert got[0, 1] == pytest.approx(expected, rel=1e-12)
    assert np.diagonal(got).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("scale", [2.0**-514, 2.0**500])
def test_units_do_not_matter(data, scale):
    X, y = data
    model = GaussianNB(var_smoothing=0.0).fit(X, y).to_model()
    scaled = GaussianNB(var_smoothing=0.0).fit(scale * X, y).to_model()
    expected = bhattacharyya_distance(model)
    assert bhattacharyya_distance(scaled) == pytest.approx(expected, rel=1e-10)


def test_categories_in_common_with_none():
    model = MixedNB(categorical_features=[0], alpha=0.0).fit([[0], [0], [1], [1]], [0, 0, 1, 1])
    distance = bhattacharyya_distance(model.to_model())
    assert distance.tolist() == [[0.0, np.inf], [np.inf, 0.0]]
    assert error_bound(model.class_prior_, distance).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_classes_alike_have_the_smallest_prior_as_bound(data):
    X, _ = data
    model = GaussianNB(priors=[0.5, 0.5]).fit(np.vstack([X, X]), np.repeat([0, 1], 150))
    distance = bhattacharyya_distance(model.to_model())
    assert distance == pytest.approx(np.zeros((2, 2)), abs=1e-20)
    assert error_bound(model.class_prior_, distance)[0, 1] == pytest.approx(0.5)


def test_classes_that_cannot_win_are_nan(data):
    X, y = data
    model = GaussianNB(priors=[0.5, 0.0, 0.5]).fit(X, y).to_model()
    distance = bhattacharyya_distance(model)
    assert np.isnan(distance[1]).all()
    assert np.isfinite(distance[0, [0, 2]]).all()
    bound = error_bound(np.array([0.5, 0.0, 0.5]), distance)
    assert np.isnan(bound[1]).all()
    assert np.isnan(bound[:, 1]).all()
    assert bound[0, 0] == 0.0


@pytest.mark.parametrize("name", CASES)
def test_all_members(name, make_data):
    X, y = make_data(150, 4, 3)
    case = CASES[name]
    if case.has_categories:
        X = with_categories(X)
    model = case.make().fit(X, y)
    if np.ndim(getattr(model, "components_", None)) == 3:
        model = model.reestimate(n_components=None)
    distance = bhattacharyya_distance(model.to_model())
    assert (distance[np.triu_indices(3, 1)] > 0).all()


def test_covariances_of_pairs_take_one_thread_of_blas(monkeypatch, data):
    """NumPy's threads and SciPy's would wait for each other in each pair of classes."""

    def threads():
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    seen, of_a_pair = set(), separation._by_cholesky
    monkeypatch.setattr(
        separation, "_by_cholesky", lambda *args: seen.update(threads()) or of_a_pair(*args)
    )
    X, y = data
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        bhattacharyya_distance(GaussianBayes().fit(X, y).to_model())
        assert seen == {1}
        assert threads() == before
