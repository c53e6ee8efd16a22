"""Accuracy of test rows that are labelled where they are, against labels of copies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold

from fastgnb import GaussianBayes, GaussianNB
from fastgnb.estimators.fold_accuracy import Accuracy, FoldRows
from fastgnb.estimators.fold_stats import Task
from fastgnb.estimators.strata import stratified
from fastgnb.select import StatsGridSearchCV

N = 3000


def task_of(rng, y, *, order="C", dtype=np.float64, scoring="accuracy", **params):
    X = np.array(rng.normal(size=(len(y), 3)) + y[:, None], dtype, order=order)
    scorer = check_scoring(GaussianNB(), scoring)
    scorer = Accuracy(scorer) if scoring == "accuracy" else scorer
    return Task(X, y, scorer, np.nan, **params)


def stretches_of(task, at):
    found = FoldRows.of(task, (None, np.asarray(at)), 1)
    return None if found is None else [(len(one.X), one.is_tested) for one in found.stretches]


def test_labels_of_tested_rows_count(rng):
    """Folds of mixed rows are a stretch each, those of sorted ones a stretch for each class."""
    mixed = rng.integers(0, 3, N)
    for y, n_stretches in ((mixed, 1), (np.sort(mixed), 3)):
        for dtype in (np.float64, np.float32):
            task = task_of(rng, y, dtype=dtype)
            model = GaussianNB().fit(task.X[:50], rng.integers(0, 3, 50))
            for fold in stratified(3, y, {}):
                found = FoldRows.of(task, fold, 2)
                assert len(found.stretches) == n_stretches
                assert found.accuracy(model, None) == task.scorer(model, *task.rows(fold[1]))


def test_which_rows_are_read_in_place(rng):
    task = task_of(rng, rng.integers(0, 2, N))
    ((n, is_tested),) = stretches_of(task, [4, 5, 6])
    assert n == 3
    assert is_tested is None
    at = np.r_[10:100, 110:200, 700:900]
    (n, is_tested), (m, rest) = stretches_of(task, at)
    assert (n, m) == (190, 200)
    assert_array_equal(np.flatnonzero(is_tested) + 10, at[:180])
    assert rest is None
    # Every other row, rows out of order or twice, none, and one in 300.
    for at in (range(0, 90, 2), [2, 1], [1, 1], np.empty(0, int)):
        assert stretches_of(task, at) is None
    large = task_of(rng, rng.integers(0, 2, 300 * 65))
    assert stretches_of(large, range(0, 300 * 64, 300)) is not None
    assert stretches_of(large, range(0, 300 * 65, 300)) is None


def test_what_is_left_to_the_scorer(rng):
    y, at = rng.integers(0, 2, 40), np.arange(20)
    weight = {"score_params": {"sample_weight": np.ones(40)}}
    for task in (
        task_of(rng, y, order="F"), task_of(rng, y, scoring="roc_auc"), task_of(rng, y, **weight),
        task_of(rng, y, dtype=np.int64), task_of(rng, y.astype(float)),
    ):  # fmt: skip
        assert FoldRows.of(task, (None, at), 1) is None
    task = task_of(rng, y)
    tested = FoldRows.of(task, (None, at), 1)

    class Other(GaussianNB):
        def predict(self, X):
            return super().predict(X)

    assert tested.accuracy(Other().fit(task.X, y), None) is None
    assert tested.accuracy(GaussianNB().fit(task.X, y == 1), None) is None
    task.X[7, 0] = np.nan
    assert tested.accuracy(GaussianNB().fit(task.X[20:], y[20:]), None) is None


@pytest.mark.parametrize("labels", ["int", "bool", "text"])
def test_scores_of_candidates_are_those_of_copies(rng, labels):
    """The fold of rows in reverse order is copied."""
    y = rng.integers(0, 2, N)
    X = rng.normal(size=(N, 2)) + y[:, None]
    y = {"int": y, "bool": y == 1, "text": np.array(["no", "yes"])[y]}[labels]
    splits = list(KFold(3).split(X))
    grid = {"var_smoothing": [1e-9, 0.5, 100.0], "priors": [None, [0.2, 0.8]]}
    found = [
        StatsGridSearchCV(GaussianNB(), grid, cv=cv, refit=False, return_train_score=True)
        .fit(X, y)
        .cv_results_
        for cv in (splits, [(train, test[::-1]) for train, test in splits])
    ]
    for name in found[0]:
        if "score" in name and "time" not in name:
            assert_array_equal(found[0][name], found[1][name])


@pytest.mark.parametrize("labels", ["int", "text"])
def test_candidates_with_the_same_axes_score_as_alone(rng, labels):
    """Of rows on a grid, some of which are ties; the fold of rows in reverse order is copied."""
    y = rng.integers(0, 3, 300)
    X = np.round(2 * rng.normal(size=(300, 3)) + y[:, None])
    X = np.concatenate([X, X[:, ::-1]])
    y = np.concatenate([y, y])
    if labels == "text":
        y = np.array(["a", "b", "c"])[y]
    splits = list(KFold(4).split(X))
    grid = {"reg_param": [0.0, 0.1, 1.0, 2.0], "priors": [None, [0.2, 0.3, 0.5]]}
    found = []
    for cv in (splits, [(train, test[::-1]) for train, test in splits]):
        search = StatsGridSearchCV(GaussianBayes(), grid, cv=cv, refit=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two candidates fail
            found.append(search.fit(X, y).cv_results_)
    for i in range(4):
        name = f"split{i}_test_score"
        assert_array_equal(found[0][name], found[1][name])
    assert np.isfinite(found[0]["mean_test_score"]).sum() == 6
