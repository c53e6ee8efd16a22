"""MixedNB learns in streams, merges and scores rows of any layout."""

from __future__ import annotations

import copy
import pickle

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_cases import (
    CATEGORICAL,
    PREDICTORS,
    assert_same_answers,
    assert_same_stats,
    inputs,
    mixed_data,
)
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from fastgnb import GaussianNB, MixedNB, MixedStats
from fastgnb._numba import threads
from fastgnb.estimators.selection import StatsGridSearchCV


@pytest.mark.parametrize("step", [1, 7, 150])
def test_a_stream_is_one_fit(data, model, step):
    X, y = data
    stream = MixedNB(categorical_features=CATEGORICAL)
    for a in range(0, len(X), step):
        stream.partial_fit(X[a : a + step], y[a : a + step], [0, 1, 2])
    assert_same_stats(stream.stats_, model.stats_)
    assert_same_answers(stream, model, X)


def test_merging_fit_stats_and_reestimate(data, model):
    X, y = data
    params = {"categorical_features": CATEGORICAL}
    parts = [MixedNB(**params).fit(X[a::3][:90], y[a::3][:90]) for a in (0, 1, 2)]
    seen = np.concatenate([np.arange(a, 400, 3)[:90] for a in (0, 1, 2)])
    merged = clone(parts[0]).fit_stats(parts[2].stats_).merge(parts[0]).merge(parts[1])
    assert_same_answers(merged, MixedNB(**params).fit(X[seen], y[seen]), X)
    for change in ({"alpha": 0.1}, {"min_categories": 8}, {"priors": [0.2, 0.3, 0.5]}):
        found, wanted = model.reestimate(**change), MixedNB(**params, **change).fit(X, y)
        assert np.array_equal(found.predict_proba(X), wanted.predict_proba(X))
        assert found.stats_ is model.stats_
    auto = MixedNB().fit_stats(model.stats_)
    assert np.array_equal(auto.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match=r"features \[1 2 4\] and categorical_features asks"):
        MixedNB(categorical_features=[1]).fit_stats(model.stats_)
    with pytest.raises(TypeError, match="Expected MixedStats, got ClassStats"):
        MixedNB().fit_stats(model.stats_.gaussian)
    with pytest.raises(TypeError, match=r"Expected a fastgnb\.MixedNB, got fastgnb\.GaussianNB"):
        model.merge(GaussianNB().fit(X, y))


def test_unlearning(data):
    X, y = data
    params = {"categorical_features": CATEGORICAL}
    whole = MixedStats.from_rows(X, y, **params)
    left = MixedNB(**params).fit_stats(whole - MixedStats.from_rows(X[300:], y[300:], **params))
    assert_same_answers(left, MixedNB(**params).fit(X[:300], y[:300]), X, rtol=1e-9)


def test_a_partial_fit_that_raises_leaves_the_model(data):
    X, y = data
    model = MixedNB(categorical_features=CATEGORICAL).partial_fit(X, y, [0, 1, 2])
    before, bits = dict(model.__dict__), model.predict_proba(X)
    bad = X[:3].copy()
    for j, value in ((1, 0.5), (2, np.nan), (4, np.inf), (0, np.nan)):
        wrong = bad.copy()
        wrong[1, j] = value
        with pytest.raises(ValueError, match=r"whole numbers|contains"):
            model.partial_fit(wrong, y[:3])
    text = bad.astype(object)
    text[:, 2] = "red"
    with pytest.raises(TypeError, match="cannot be combined"):
        model.partial_fit(text, y[:3])
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(bad, [5, 6, 7])
    assert model.__dict__ == before
    assert np.array_equal(model.predict_proba(X), bits)


def test_a_class_without_rows_and_a_prior_of_0(data):
    X, y = data
    declared = MixedNB(categorical_features=CATEGORICAL, alpha=0)
    declared.partial_fit(X, y, [0, 1, 2, 3])
    plain = MixedNB(categorical_features=CATEGORICAL, alpha=0).fit(X, y)
    assert_allclose(declared.predict_proba(X)[:, :3], plain.predict_proba(X), rtol=1e-12)
    assert not declared.predict_proba(X)[:, 3].any()
    assert_allclose(np.exp(declared.feature_log_prob_[1][3]), 0.2)
    none = plain.reestimate(priors=[0.5, 0.0, 0.5])
    assert not none.predict_proba(X)[:, 1].any()


def test_copies(data, model):
    X, _ = data
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(twin.predict_proba(X), model.predict_proba(X))


def test_edited_attributes_are_obeyed(data, model):
    X, _ = data
    twin = copy.deepcopy(model)
    twin.feature_log_prob_[1] = np.log(np.full((3, 5), 0.2))
    twin.unseen_log_prob_[1] = np.zeros(3)
    rest = MixedNB(categorical_features=[1, 3]).fit(np.delete(X, 2, axis=1), data[1])
    assert_allclose(twin.predict_proba(X), rest.predict_proba(np.delete(X, 2, axis=1)), rtol=1e-11)
    for name, value, message in (
        ("feature_log_prob_", np.zeros((3, 4)), r"feature_log_prob_ of shape \(3, 5\)"),
        ("feature_log_prob_", np.full((3, 5), np.nan), "got NaN or infinity"),
        ("unseen_log_prob_", np.zeros(2), r"unseen_log_prob_ of shape \(3,\)"),
    ):
        wrong = copy.deepcopy(model)
        getattr(wrong, name)[1] = value
        with pytest.raises(ValueError, match=message):
            wrong.predict(X)


def test_cross_validation_is_that_of_scikit_learn(data):
    X, y = data
    grid = {"alpha": [0.1, 10.0], "min_categories": [None, 9]}
    for table, wanted in ((X, CATEGORICAL), (list(inputs(X))[3], "auto")):
        model = MixedNB(categorical_features=wanted)
        found = StatsGridSearchCV(model, grid, cv=4).fit(table, y).cv_results_
        search = GridSearchCV(model, grid, cv=4).fit(table, y)
        assert_allclose(found["mean_test_score"], search.cv_results_["mean_test_score"])


@pytest.mark.promise("neighbours")
@pytest.mark.parametrize("missing", ["error", "skip"])
@pytest.mark.parametrize("n", [1, 7, 8, 31, 32, 33, 39, 40, 71])
def test_a_row_does_not_depend_on_its_neighbours(data, missing, n):
    X, y = data
    model = MixedNB(categorical_features=CATEGORICAL, missing=missing).fit(X, y)
    wanted = model.predict_joint_log_proba(X)
    for start in (0, 5):
        part = X[start : start + n]
        assert np.array_equal(model.predict_joint_log_proba(part), wanted[start : start + n])


@pytest.mark.compiled
def test_threads_and_layouts_give_the_same_bits(monkeypatch):
    X, y = mixed_data(9000)
    model = MixedNB(categorical_features=CATEGORICAL).fit(X, y)
    wanted = {name: getattr(model, name)(X) for name in PREDICTORS}
    monkeypatch.setattr(threads, "PARALLEL_WORK", 0)
    most = numba.get_num_threads()
    try:
        for n in {1, most}:
            numba.set_num_threads(n)
            for rows in (X, np.asfortranarray(X), X.repeat(2, axis=1)[:, ::2], X.astype(object)):
                for name in PREDICTORS:
                    assert np.array_equal(getattr(model, name)(rows), wanted[name])
    finally:
        numba.set_num_threads(most)


def test_strided_and_gathered_continuous_features(rng):
    """Continuous columns at regular distances are read in place, and others from a copy."""
    y = np.arange(5000) % 2
    X = rng.integers(0, 3, (5000, 7)) + y[:, None]
    for categorical in ([1, 3, 5], [0, 1], [5, 6], [2], [0, 3], list(range(6))):
        others = [j for j in range(7) if j not in categorical]
        for rows in (X, X.astype(np.float32), np.asfortranarray(X.astype(float))):
            model = MixedNB(categorical_features=categorical).fit(rows, y)
            sorted_rows = np.hstack([rows[:, others], rows[:, categorical]])
            twin = MixedNB(categorical_features=range(len(others), 7)).fit(sorted_rows, y)
            assert np.array_equal(
                model.predict_joint_log_proba(rows), twin.predict_joint_log_proba(sorted_rows)
            )


@settings(max_examples=20)
@given(st.permutations(range(5)))
def test_order_of_columns_does_not_matter(order):
    X, y = mixed_data(60)
    model = MixedNB(categorical_features=CATEGORICAL).fit(X, y)
    mask = np.isin(order, CATEGORICAL)
    moved = MixedNB(categorical_features=mask).fit(X[:, order], y)
    assert_same_answers(moved, model, X[:, order], X)


def test_single_precision(data, model):
    X, y = data
    single = MixedNB(categorical_features=CATEGORICAL).fit(X.astype(np.float32), y)
    for name, dtype in (
        ("predict_proba", np.float32), ("predict_log_proba", np.float32),
        ("predict_joint_log_proba", np.float64), ("predict_log_evidence", np.float64),
    ):  # fmt: skip
        found = getattr(single, name)(X.astype(np.float32))
        assert found.dtype == dtype
        assert_allclose(found, getattr(model, name)(X), rtol=2e-5, atol=1e-6)
    only = MixedNB(categorical_features=range(2)).fit(X[:, 1:3].astype(np.float32), y)
    assert only.predict_proba(X[:, 1:3].astype(np.float32)).dtype == np.float32


def test_unseen_categories(data, model):
    X, _ = data
    rows = X[:4].copy()
    rows[:, 2] = 77, -1, 2**40, 5
    found = model.predict_joint_log_proba(rows)
    rest = MixedNB(categorical_features=[1, 3]).fit(np.delete(X, 2, axis=1), data[1])
    wanted = rest.predict_joint_log_proba(np.delete(rows, 2, axis=1))
    wanted = wanted + np.log(1 / (model.class_count_ + 5))
    assert_allclose(found, wanted, rtol=1e-12)
    assert_allclose(model.unseen_log_prob_[1], np.log(1 / (model.class_count_ + 5)), rtol=1e-12)


def test_what_no_class_ever_had_has_the_limit_of_small_alpha():
    X = np.array([[0.0, 0, 0], [1.0, 0, 1], [0.5, 1, 0], [1.5, 1, 0], [2.5, 1, 0]])
    y = np.array([0, 0, 1, 1, 1])
    rows = np.array([
        [0.2, 0, 0], [0.2, 1, 1], [0.7, 5, 0], [0.7, 5, 5], [0.7, 5, 1], [0.3, 1, 5], [1e200, 1, 0],
        [-1e200, 5, 5],
    ])  # fmt: skip
    for missing in ("error", "skip"):
        params = {"categorical_features": [1, 2], "missing": missing}
        zero = MixedNB(alpha=0, **params).fit(X, y)
        small = MixedNB(alpha=1e-150, **params).fit(X, y)
        assert_allclose(zero.predict_proba(rows), small.predict_proba(rows), rtol=1e-9, atol=1e-9)
        assert np.array_equal(zero.predict(rows), small.predict(rows))
        joint = zero.predict_joint_log_proba(rows)
        assert np.isfinite(joint[0, 0])
        assert joint[0, 1] == -np.inf
        assert (joint[1:6] == -np.inf).all()
        evidence = zero.predict_log_evidence(rows)
        assert np.isfinite(evidence[0])
        assert (evidence[1:6] == -np.inf).all()
        assert np.isfinite(zero.predict_proba(rows)).all()
        assert_allclose(zero.predict_proba(rows).sum(axis=1), 1)
        with np.errstate(divide="ignore"):
            assert_allclose(zero.predict_log_proba(rows), np.log(zero.predict_proba(rows)))
        # What excludes weighs more than any distance.
        assert zero.predict_proba([[1e200, 5, 1], [-1e200, 1, 0]]).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("missing", ["error", "skip"])
def test_rows_far_away_belong_to_the_nearest_class(data, missing):
    X, y = data
    model = MixedNB(categorical_features=CATEGORICAL, missing=missing).fit(X, y)
    gaussian = GaussianNB(missing=missing).fit(X[:, [0, 3]], y)
    rows = X[:40].copy()
    rows[::2, 0], rows[1::4, 3] = 1e200, -1e308
    far = np.abs(rows).max(axis=1) > 1e100
    found = model.predict_proba(rows)
    assert np.array_equal(found[far], gaussian.predict_proba(rows[:, [0, 3]])[far])
    assert np.array_equal(found[~far], model.predict_proba(X[:40])[~far])
    assert (model.predict_log_evidence(rows)[far] == -np.inf).all()


def test_missing_values(data):
    X, y = data
    X = X.copy()
    X[::5, 2], X[1::6, 0], X[2::7, 1] = np.nan, np.nan, np.nan
    params = {"categorical_features": CATEGORICAL, "missing": "skip"}
    model = MixedNB(**params).fit(X, y)
    for q, j in enumerate(CATEGORICAL):
        there = ~np.isnan(X[:, j])
        alone = MixedNB(categorical_features=[0]).fit(X[there][:, [j]], y[there])
        assert np.array_equal(model.category_count_[q], alone.category_count_[0])
        assert np.array_equal(model.feature_log_prob_[q], alone.feature_log_prob_[0])
    nothing = np.full((1, 5), np.nan)
    assert_allclose(model.predict_proba(nothing), model.class_prior_[None], rtol=1e-14)
    row = X[:1].copy()
    row[0, 2] = np.nan
    rest = MixedNB(categorical_features=[1, 3], missing="skip").fit(np.delete(X, 2, axis=1), y)
    assert_allclose(
        model.predict_joint_log_proba(row),
        rest.predict_joint_log_proba(np.delete(row, 2, axis=1)),
        rtol=1e-12,
    )
    objects = X.astype(object)
    for marker in (None, float("nan"), pd.NA):
        objects[np.isnan(X)] = marker
        found = MixedNB(**params).fit(objects, y).predict_proba(objects)
        assert np.array_equal(found, model.predict_proba(X))
    masked = np.ma.masked_invalid(X)
    assert np.array_equal(MixedNB(**params).fit(masked, y).predict_proba(masked), found)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.predict(np.where(np.isnan(X), np.inf, X))


def test_a_feature_that_is_always_missing():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, np.nan]])
    params = {"categorical_features": [1], "missing": "skip"}
    model = MixedNB(**params).fit(X, [0, 0, 1])
    plain = GaussianNB().fit(X[:, :1], [0, 0, 1])
    X[1, 1] = 3
    assert_allclose(model.predict_proba(X), plain.predict_proba(X[:, :1]), rtol=1e-12)
    assert model.categories_[0].shape == (0,)
    assert np.isnan(model.sample(3, 0)[0][:, 1]).all()
    model.partial_fit([[1.0, "a"], [2.0, "b"]], [0, 1])
    assert model.categories_[0].tolist() == ["a", "b"]
