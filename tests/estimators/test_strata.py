"""Stratified folds, and their statistics in one read, against scikit-learn's splits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, StratifiedKFold

from fastgnb import ClassStats, GaussianBayes, GaussianNB
from fastgnb.estimators.strata import folds_at_once, stratified


def labels_of(rng, n, k):
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    return np.concatenate([np.repeat(np.arange(k), 7), y])[rng.permutation(n + 7 * k)]


@pytest.mark.parametrize("n_splits", [2, 3, 5, 7])
def test_folds_are_those_of_scikit_learn(rng, n_splits):
    for k in (1, 2, 3, 17):
        y = labels_of(rng, 101 * k, k)
        for labels in (y, y - 3, y == 1, np.array([f"class {i}" for i in range(k)])[y]):
            wanted = list(StratifiedKFold(n_splits).split(y, labels))
            for cv in (n_splits, StratifiedKFold(n_splits), *[None] * (n_splits == 5)):
                found = stratified(cv, labels, {"groups": None})
                assert len(found) == n_splits
                for pair, (train, test) in zip(found, wanted, strict=True):
                    assert_array_equal(pair[0], train)
                    assert_array_equal(pair[1], test)
                    assert [len(part) for part in pair] == [len(train), len(test)]


def test_what_scikit_learn_is_left_to_do(rng):
    y = labels_of(rng, 60, 2)
    rare = np.append(y, 9)
    for cv in (KFold(3), StratifiedKFold(3, shuffle=True, random_state=0), [([0], [1])], 1, True):
        assert stratified(cv, y, {}) is None
    assert stratified(3, rare, {}) is None  # which warns
    assert stratified(3, y.tolist(), {}) is None
    assert stratified(3, y.astype(float), {}) is None
    assert stratified(3, y, {"groups": y}) is None


@pytest.mark.parametrize(
    "model", [GaussianNB(), GaussianBayes(), GaussianNB(missing="skip")], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_of_all_folds_in_one_read(rng, model, weighted):
    y = labels_of(rng, 200, 3)
    X = rng.normal(size=(len(y), 4)) + y[:, None]
    weight = rng.random(len(y)) if weighted else None
    text = np.array(["a", "b", "c"])[y]
    folds = stratified(4, text, {})
    found = folds_at_once(model, X, text, weight, folds)
    for stats, (_, test) in zip(found, folds, strict=True):
        wanted = ClassStats.from_rows(
            X[test], text[test], None if weight is None else weight[test],
            missing=getattr(model, "missing", "error"),
            scatter="diag" if stats.covariance is None else "full",
        )  # fmt: skip
        assert_array_equal(stats.classes, wanted.classes)
        for name in ("count", "mean", "variance", "covariance", "feature_count"):
            a, b = getattr(stats, name), getattr(wanted, name)
            assert (a is None) == (b is None)
            if a is not None:
                assert_allclose(a, b, rtol=1e-12, atol=1e-15)
