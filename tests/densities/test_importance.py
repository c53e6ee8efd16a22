"""Importance of features: pairs and means of pairs, for every member of the family."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from members import CASES, with_categories

from fastgnb import GaussianNB, MixedNB
from fastgnb.densities.importance import MEASURES, importance
from fastgnb.densities.marginals import marginal
from fastgnb.densities.pair_measures import category_auc, normal_auc, normal_jeffreys, value_auc


@pytest.fixture
def data(rng):
    y = np.repeat([0, 1, 2, 3], 50)
    X = rng.normal(size=(200, 4)) * rng.uniform(0.5, 2, (4, 4))[y] + y[:, None] * [1, 0, 0.3, 2]
    return X, y


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.has_categories])
def test_means_over_pairs_of_marginal_densities(name, data):
    X, y = data
    model = CASES[name].make().fit(X, y).to_model()
    result = importance(model)
    for j in range(4):
        one = marginal(model, [j])
        mean, var = one.mean[:, 0], one.covariance[:, 0, 0]
        pairs = list(itertools.combinations(range(4), 2))
        for measure, kind in ((normal_auc, "auc"), (value_auc, "value_auc"),
                              (normal_jeffreys, "jeffreys")):  # fmt: skip
            each = [float(measure(mean[a] - mean[b], var[a], var[b])) for a, b in pairs]
            got = getattr(result, kind)[j]
            assert got == pytest.approx(math.fsum(each) / len(each), rel=1e-10)
            if kind == "auc":
                assert result.best_auc[j] == pytest.approx(max(each), rel=1e-10)
                best = pairs.index(tuple(result.best_pair[j].tolist()))
                assert each[best] == pytest.approx(max(each), rel=1e-10)
        middle = one.prior @ mean
        ratio = one.prior @ (mean - middle) ** 2 / (one.prior @ var)
        assert result.fisher_ratio[j] == pytest.approx(ratio, rel=1e-10)


def test_one_pair_is_as_a_model_of_two_classes(data):
    X, y = data
    model = GaussianNB(var_smoothing=0.0).fit(X, y).to_model()
    keep = (y == 1) | (y == 3)
    alone = GaussianNB(var_smoothing=0.0).fit(X[keep], y[keep]).to_model()
    got, expected = importance(model, (1, 3)), importance(alone)
    for name in MEASURES:
        assert getattr(got, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    assert got.best_pair.tolist() == [[1, 3]] * 4


def test_categorical_features_stand_among_the_others(rng):
    y = np.repeat([0, 1, 2], 40)
    colors = np.array(["red", "green", "blue"])[(y + (rng.random(120) < 0.4)) % 3]
    X = np.array([list(row) for row in zip(y + rng.normal(size=120), colors,
                                           rng.normal(size=120), strict=True)], object)  # fmt: skip
    model = MixedNB(categorical_features=[1], min_categories=[5]).fit(X, y)
    result = importance(model.to_model())
    share = np.exp(model.feature_log_prob_[0])
    rest = 2 * np.exp(model.unseen_log_prob_[0])
    p = np.column_stack([share, rest])
    assert p.sum(axis=1) == pytest.approx(1.0)
    pairs = [float(category_auc(p[a], p[b])) for a, b in itertools.combinations(range(3), 2)]
    assert result.auc[1] == pytest.approx(np.mean(pairs), rel=1e-13)
    assert math.isnan(result.value_auc[1])
    assert np.isfinite(result.value_auc[[0, 2]]).all()
    prior = model.class_prior_
    centre = prior @ p
    between = sum(prior[c] * ((p[c] - centre) ** 2).sum() for c in range(3))
    within = sum(prior[c] * (1 - (p[c] ** 2).sum()) for c in range(3))
    assert result.fisher_ratio[1] == pytest.approx(between / within, rel=1e-12)
    # Between and within add up to Gini's impurity of all rows.
    assert between + within == pytest.approx(1 - (centre**2).sum())
    normal = GaussianNB().fit(X[:, [0, 2]].astype(float), y).to_model()
    assert result.auc[[0, 2]] == pytest.approx(importance(normal).auc, rel=1e-8)


def test_a_category_of_one_class_only_tells_it_apart():
    model = MixedNB(categorical_features=[0], alpha=0.0).fit([[0], [0], [1], [1]], [0, 0, 1, 1])
    result = importance(model.to_model())
    assert result.auc.tolist() == [1.0]
    assert result.jeffreys.tolist() == [math.inf]
    assert result.fisher_ratio.tolist() == [math.inf]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.has_categories])
def test_members_with_categories(name, make_data):
    X, y = make_data(120, 4, 3)
    X = with_categories(X)
    result = importance(CASES[name].make().fit(X, y).to_model())
    assert ((result.auc >= 0.5) & (result.auc <= 1.0)).all()
    assert np.isnan(result.value_auc).sum() == 1


def test_constant_features_are_worth_nothing(data):
    X, y = data
    X = np.column_stack([X, np.full(200, 7.0)])
    result = importance(GaussianNB().fit(X, y).to_model())
    assert result.auc[4] == 0.5
    assert result.jeffreys[4] == 0.0
    assert result.fisher_ratio[4] == 0.0


def test_one_class_cannot_be_told_apart(data):
    X, _ = data
    with pytest.raises(
        ValueError, match=r"two classes or more .*, got 1: there is nothing to tell"
    ):
        importance(GaussianNB().fit(X, np.zeros(200, int)).to_model())
    model = GaussianNB(priors=[0.0, 1.0]).fit(X, np.arange(200) % 2)
    with pytest.raises(ValueError, match="got 1"):
        importance(model.to_model())
