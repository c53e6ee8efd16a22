"""Marginals: against a numerical integral of the model's own joint density."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.densities.marginals import axis_marginal, marginal

MODELS = [
    GaussianNB(),
    GaussianNB(covariance_type="spherical", tied=True),
    GaussianBayes(),
    GaussianBayes(tied=True),
    GaussianBayes(covariance_type="diag", shrinkage=0.3),
    PCAGaussianNB(),
    PCAGaussianNB(standardize=True, rotation="within"),
    PCAGaussianNB(rotation="class"),
]


@pytest.fixture
def data(rng):
    y = np.repeat([0, 1, 2], [40, 60, 30])
    mix = np.array([[1.0, 0.6, 0.0], [0.0, 1.0, -0.8], [0.3, 0.0, 0.7]])
    X = rng.normal(size=(130, 3)) @ mix + y[:, None] * [1.0, -0.5, 0.3]
    return X * [1.0, 2.0, 0.5] + [0.0, 10.0, -3.0], y


def density(model, X):
    """Density of features in each class: that along axes, times the units' part."""
    joint = model.predict_joint_log_proba(X) - np.log(model.class_prior_)
    if hasattr(model, "scale_"):
        joint = joint - np.log(model.scale_).sum()
    return np.exp(joint)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("features", [[0, 2], [2, 1], [1]], ids=str)
def test_other_features_are_integrated_out(model, features, data):
    """The trapezoidal rule's error is below 1e-12 for densities that vanish at the ends."""
    X, y = data
    model.fit(X, y)
    result = marginal(model.to_model(), features)
    others = [j for j in range(3) if j not in features]
    points = X[[3, 50, 120]][:, features]
    reach = np.linspace(-14.0, 14.0, 401) * X.std(axis=0).max()
    axes = [X[:, j].mean() + reach for j in others]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes)], axis=1)
    volume = np.prod([axis[1] - axis[0] for axis in axes])
    for point in points:
        rows = np.empty((len(grid), 3))
        rows[:, features], rows[:, others] = point, grid
        expected = density(model, rows).sum(axis=0) * volume
        assert np.exp(result.log_density(point[None])[0]) == pytest.approx(expected, rel=1e-9)
    assert result.position.tolist() == [0, 1, 2]
    assert result.prior == pytest.approx(model.class_prior_, rel=1e-15)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_all_features_decide_as_the_model_does(model, data):
    X, y = data
    model.fit(X[:, :2], y)
    result = marginal(model.to_model(), [0, 1])
    expected = model.predict_joint_log_proba(X[:, :2])
    if hasattr(model, "scale_"):
        expected = expected - np.log(model.scale_).sum()
    assert result.joint(X[:, :2]) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    proba = model.predict_proba(X[:, :2])
    assert result.posterior(X[:, :2]) == pytest.approx(proba, rel=1e-10, abs=1e-13)


def test_few_axes_are_those_of_samples(data):
    """Covariances of what `sample` draws: across the axes all rows are at the centre."""
    X, y = data
    model = PCAGaussianNB(n_components=2, standardize=True).fit(X, y)
    result = marginal(model.to_model(), [0, 2])
    for c in range(3):
        step = model.components_ * model.scale_
        covariance = sum(v * np.outer(s, s) for v, s in zip(model.var_[c], step, strict=True))
        mean = model.mean_ + model.theta_[c] @ step
        assert result.covariance[c] == pytest.approx(covariance[np.ix_([0, 2], [0, 2])], rel=1e-12)
        assert result.mean[c] == pytest.approx(mean[[0, 2]], rel=1e-12)
    drawn, label = model.sample(20000, 0)
    assert np.cov(drawn[label == 1][:, [0, 2]].T) == pytest.approx(result.covariance[1], abs=0.05)


def test_along_an_axis(data):
    X, y = data
    model = PCAGaussianNB().fit(X, y)
    result = axis_marginal(model.to_model(), 1)
    assert result.mean.ravel() == pytest.approx(model.theta_[:, 1])
    assert result.sd.ravel() == pytest.approx(np.sqrt(model.var_[:, 1]))


def test_one_axis_leaves_no_density_of_two_features(data):
    X, y = data
    result = marginal(PCAGaussianNB(n_components=1).fit(X, y).to_model(), [0, 1])
    assert not result.has_density.any()
    with pytest.raises(ValueError, match="Expected covariances of full rank"):
        result.log_density(X[:, :2])


def test_low_rank_is_as_thin_as_in_scoring(data):
    """A class of one row, and a feature that is a copy: the model's rule for low rank holds.

    Log densities off the line are about -1e18 here, and have one digit.
    """
    X, y = data
    X = np.column_stack([X[:, 0], X[:, 0] * 2.0])
    X[0] = [50.0, 20.0]
    y = np.where(np.arange(len(y)) == 0, 7, y)
    model = GaussianBayes().fit(X, y)
    result = marginal(model.to_model(), [0, 1])
    assert result.has_density.all()
    joint = result.joint(X)
    assert joint == pytest.approx(model.predict_joint_log_proba(X), rel=0.5)
    assert model.classes_[joint.argmax(axis=1)].tolist() == model.predict(X).tolist()
    assert marginal(model.to_model(), [1]).has_density.all()


def test_classes_that_cannot_win_are_left_out(data):
    X, y = data
    model = GaussianNB(priors=[0.5, 0.0, 0.5]).fit(X, y)
    result = marginal(model.to_model(), [0])
    assert result.position.tolist() == [0, 2]
    assert result.prior.tolist() == [0.5, 0.5]
    model.class_prior_ = np.array([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="at least one prior above 0"):
        marginal(model.to_model(), [0])


def test_categorical_features_have_no_normal_density(data):
    X, y = data
    X = np.column_stack([X[:, 0], np.arange(130) % 3, X[:, 1]])
    model = MixedNB(categorical_features=[1]).fit(X, y)
    result = marginal(model.to_model(), [2, 0])
    assert result.mean == pytest.approx(model.theta_[:, [1, 0]])
    with pytest.raises(ValueError, match="Expected continuous features, and feature 1 is categor"):
        marginal(model.to_model(), [0, 1])
    named = MixedNB(categorical_features=[1]).fit_stats(model.stats_.renamed(("a", "b", "c")))
    with pytest.raises(ValueError, match=r"feature 1 \('b'\) is categorical"):
        marginal(named.to_model(), [1])
