"""MixedNB: continuous and categorical features, their statistics, and what scikit-learn has."""

from __future__ import annotations

import copy
import pickle
import re

import numba
import numpy as np
import oracles
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.utils.estimator_checks import check_estimator

from fastgnb import GaussianNB, MixedNB, MixedStats
from fastgnb._numba import threads
from fastgnb.estimators.selection import StatsGridSearchCV

PREDICTORS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "predict_log_evidence",
)
COLOURS = np.array(["blue", "green", "red", "white", "yellow"], object)


def mixed_data(n=400, seed=5):
    """Rows of 2 continuous features around 3 categorical ones, at 1, 2 and 4, and labels 0..2."""
    draw = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = np.empty((n, 5))
    X[:, [0, 3]] = draw.normal(size=(n, 2)) + draw.normal(size=(3, 2))[y]
    for j, m in ((1, 2), (2, 5), (4, 3)):
        X[:, j] = (draw.random(n) ** (1 + y) * m).astype(int)
        X[:m, j] = np.arange(m)
    return X, y


CATEGORICAL = [1, 2, 4]


@pytest.fixture(scope="module")
def data():
    return mixed_data()


@pytest.fixture(scope="module")
def model(data):
    return MixedNB(categorical_features=CATEGORICAL).fit(*data)


@pytest.fixture
def codes(rng):
    """Integer codes of three features, each of which occurs in each class, and labels 0..3."""
    y = np.arange(300) % 4
    C = np.column_stack([rng.integers(0, m, 300) for m in (2, 5, 3)])
    for c in range(4):
        C[np.flatnonzero(y == c)[:5]] = np.arange(5)[:, None] % [2, 5, 3]
    return C, y


def assert_same_answers(a, b, X, Z=None, rtol=1e-12):
    for name in PREDICTORS:
        found, wanted = getattr(a, name)(X), getattr(b, name)(X if Z is None else Z)
        if name == "predict":
            assert found.tolist() == wanted.tolist()
        else:
            assert_allclose(found, wanted, rtol=rtol, atol=1e-14, err_msg=name)


def assert_same_stats(a, b, rtol=1e-12):
    """Equal counts to the bit, and moments up to rounding."""
    assert a.classes.tolist() == b.classes.tolist()
    assert [c.tolist() for c in a.categories] == [c.tolist() for c in b.categories]
    for found, wanted in zip(a.counts, b.counts, strict=True):
        assert np.array_equal(found, wanted)
    assert_allclose(a.count, b.count, rtol=rtol)
    assert_allclose(a.gaussian.mean, b.gaussian.mean, rtol=rtol, atol=1e-13)
    assert_allclose(a.gaussian.variance, b.gaussian.variance, rtol=rtol, atol=1e-13)


# --- scikit-learn's contract and models ----------------------------------------------------

# Their rows have fractions where categories should be; checks that round them pass.
FRACTIONS = "the check's rows are fractions, which are no categories"
FRACTIONAL = {
    "check_sample_weight_equivalence_on_dense_data": FRACTIONS,
    "check_classifiers_one_label_sample_weights": FRACTIONS,
    "check_positive_only_tag_during_fit": FRACTIONS,
    "check_decision_proba_consistency": FRACTIONS,
}


@pytest.mark.parametrize(
    ("params", "failing"),
    [
        ({}, {}),
        ({"missing": "skip", "categorical_features": "auto"}, {}),
        ({"categorical_features": [0]}, FRACTIONAL),
        ({"categorical_features": [0], "missing": "skip"}, FRACTIONAL),
    ],
)
def test_check_estimator(params, failing):
    results = check_estimator(
        MixedNB(**params), expected_failed_checks=failing, on_fail=None, on_skip=None
    )
    assert len(results) > 50
    assert not [r for r in results if r["status"] == "failed"]
    for r in results:
        if r["status"] == "xfail" and "positive" not in r["check_name"]:
            assert any("whole numbers" in str(error) for error in causes(r["exception"]))


def causes(error):
    while error is not None:
        yield error
        error = error.__cause__


@pytest.mark.parametrize("missing", ["error", "skip"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_categories_it_is_gaussian_nb_bit_for_bit(data, missing, dtype):
    X, y = data
    X = np.asfortranarray(X.astype(dtype))
    if missing == "skip":
        X[::7, 1] = np.nan
    w = np.linspace(0, 2, len(X))
    for none in (None, [], np.zeros(5, bool), "auto"):
        mixed = MixedNB(categorical_features=none, missing=missing).fit(X, y, w)
        mixed.partial_fit(X[:50], y[:50])
        plain = GaussianNB(missing=missing).fit(X, y, w).partial_fit(X[:50], y[:50])
        for name in PREDICTORS:
            found, wanted = getattr(mixed, name)(X), getattr(plain, name)(X)
            assert found.dtype == wanted.dtype
            assert np.array_equal(found, wanted)
        for name in ("theta_", "var_", "epsilon_", "class_prior_", "class_count_"):
            assert np.array_equal(getattr(mixed, name), getattr(plain, name))
        assert mixed.categories_ == []
        assert not mixed.is_categorical_.any()
        assert np.array_equal(mixed.sample(5, 3)[0], plain.sample(5, 3)[0])


@pytest.mark.promise("twins")
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 7.5])
@pytest.mark.parametrize("priors", [None, "uniform", [0.1, 0.2, 0.3, 0.4]])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_categorical_is_categorical_nb(codes, alpha, priors, weighted, rng):
    C, y = codes
    w = rng.uniform(0.5, 2, len(y)) if weighted else None
    wanted = CategoricalNB(
        alpha=alpha, fit_prior=priors != "uniform",
        class_prior=None if priors == "uniform" else priors,
    ).fit(C, y, w)  # fmt: skip
    ours = MixedNB(
        categorical_features=range(3), alpha=alpha,
        priors=np.full(4, 0.25) if priors == "uniform" else priors,
    ).fit(C, y, w)  # fmt: skip
    for found, want in zip(ours.feature_log_prob_, wanted.feature_log_prob_, strict=True):
        assert_allclose(found, want, rtol=1e-12)
    for found, want in zip(ours.category_count_, wanted.category_count_, strict=True):
        assert_allclose(found, want, rtol=1e-12)
    assert_allclose(ours.class_count_, wanted.class_count_, rtol=1e-12)
    assert ours.theta_.shape == ours.var_.shape == (4, 0)
    for name in PREDICTORS[:4]:
        assert_allclose(getattr(ours, name)(C), getattr(wanted, name)(C), rtol=1e-12)


@pytest.mark.parametrize("least", [4, 9, [2, 9, 5]])
def test_min_categories_as_categorical_nb(codes, least):
    C, y = codes
    C[C[:, 1] == 3, 1] = 2  # a code in between that does not occur
    wanted = CategoricalNB(min_categories=least).fit(C, y)
    ours = MixedNB(categorical_features=[0, 1, 2], min_categories=least)
    if least == 4:
        ours.set_params(min_categories=[4, 5, 4])  # 5 is what scikit-learn makes of codes to 4
    ours.fit(C, y)
    C[:4, 1] = 3
    assert_same_answers_of(ours, wanted, C)


def assert_same_answers_of(ours, wanted, C):
    for name in PREDICTORS[:4]:
        assert_allclose(getattr(ours, name)(C), getattr(wanted, name)(C), rtol=1e-12)


def test_two_categories_are_bernoulli_nb(rng):
    y = np.arange(90) % 3
    B = rng.random((90, 4)) < 0.2 + 0.2 * y[:, None]
    B[:, 3] = False  # BernoulliNB knows that there are two values, even where one never occurs
    wanted = BernoulliNB(alpha=0.7).fit(B, y)
    for X in (B, B.astype(int), B.astype(float), pd.DataFrame(B)):
        ours = MixedNB(categorical_features=np.ones(4, bool), alpha=0.7, min_categories=2)
        ours.fit(X, y)
        assert_same_answers_of(ours, wanted, B.astype(int) if X is not B else B)


@pytest.mark.promise("twins")
def test_mix_is_the_product_of_both(data, model):
    X, y = data
    gaussian = GaussianNB().fit(X[:, [0, 3]], y)
    categorical = CategoricalNB().fit(X[:, CATEGORICAL], y)
    wanted = gaussian.predict_joint_log_proba(X[:, [0, 3]])
    wanted = wanted + categorical.predict_joint_log_proba(X[:, CATEGORICAL])
    wanted = wanted - np.log(model.class_prior_)
    assert_allclose(model.predict_joint_log_proba(X), wanted, rtol=1e-12)
    assert_allclose(model.predict_log_evidence(X), logsumexp(wanted, axis=1), rtol=1e-12)
    assert np.array_equal(model.predict(X), wanted.argmax(axis=1))
    assert np.array_equal(model.theta_, gaussian.theta_)
    assert np.array_equal(model.var_, gaussian.var_)
    assert model.is_categorical_.tolist() == [False, True, True, False, True]


# --- exact arithmetic -----------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1.0, 0.25, 1e-9])
def test_scores_are_exact_to_1e_12(alpha):
    X, y = mixed_data(60)
    w = np.random.default_rng(2).integers(0, 4, 60) / 4
    X[5::9, 2], X[3::11, 0] = np.nan, np.nan
    X[:2, 4] = 7, -3
    model = MixedNB(categorical_features=CATEGORICAL, alpha=alpha, missing="skip").fit(X, y, w)
    rows = X[:12].copy()
    rows[0, 2] = 40.0
    found = model.predict_joint_log_proba(rows)
    posterior = model.predict_log_proba(rows)
    columns = [[None if np.isnan(v) else v for v in X[:, j]] for j in CATEGORICAL]
    cells = [oracles.categories(column, y, w, range(3)) for column in columns]
    for i, row in enumerate(rows):
        want = oracles.joint(row[[0, 3]], model.class_prior_, model.theta_, model.var_)
        largest = max(abs(float(v)) for v in want)
        for j, cell in zip(CATEGORICAL, cells, strict=True):
            value = None if np.isnan(row[j]) else row[j]
            terms = oracles.category_terms(value, cell, alpha)
            largest = max(largest, *(abs(float(v)) for v in terms))
            want = [a + b for a, b in zip(want, terms, strict=True)]
        assert max(abs(float(v) - f) for v, f in zip(want, found[i], strict=True)) < 1e-12 * largest
        logs = [float(v) for v in oracles.log_proba(want)]
        assert_allclose(posterior[i], logs, rtol=1e-12, atol=2e-12 * largest)


# --- statistics ------------------------------------------------------------------------------


@st.composite
def tables(draw):
    """Small tables: a continuous column of halves, two categorical ones, labels, whole weights."""
    n = draw(st.integers(1, 24))
    row = st.tuples(
        st.integers(-8, 8), st.integers(-2, 3), st.sampled_from(COLOURS), st.integers(0, 2),
        st.integers(0, 3),
    )  # fmt: skip
    rows = draw(st.lists(row, min_size=n, max_size=n))
    X = np.array([[a / 2, b, c] for a, b, c, _, _ in rows], object)
    return X, np.array([r[3] for r in rows]), np.array([float(r[4]) for r in rows])


def stats_of(X, y, w=None):
    return MixedStats.from_rows(X, y, w, categorical_features=[1, 2], classes=[0, 1, 2])


@settings(max_examples=60, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_pieces_merge_in_any_order(table, random):
    X, y, w = table
    whole = stats_of(X, y, w)
    cuts = sorted(random.sample(range(len(y) + 1), min(3, len(y))))
    edges = list(zip([0, *cuts], [*cuts, len(y)], strict=True))
    parts = [stats_of(X[a:b], y[a:b], w[a:b]) for a, b in edges if b > a]
    random.shuffle(parts)
    assert_same_stats(sum(parts), whole)
    left_first, right_first = parts[0], parts[-1]
    for part in parts[1:]:
        left_first = left_first + part
    for part in parts[-2::-1]:
        right_first = part + right_first
    assert_same_stats(left_first, right_first)
    for a, b in zip((parts[0] + parts[-1]).counts, (parts[-1] + parts[0]).counts, strict=True):
        assert np.array_equal(a, b)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_weights_are_repetitions(table):
    X, y, w = table
    times = w.astype(int)
    if not times.any():
        return
    again = np.repeat(np.arange(len(y)), times)
    assert_same_stats(stats_of(X, y, w), stats_of(X[again], y[again]))
    params = {"categorical_features": [1, 2]}
    a = MixedNB(**params).partial_fit(X, y, [0, 1, 2], w)
    b = MixedNB(**params).partial_fit(X[again], y[again], [0, 1, 2])
    assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(tables(), tables())
def test_what_was_added_can_be_subtracted(one, other):
    a, b = stats_of(*one), stats_of(*other)
    left = (a + b) - b
    assert_same_stats(left, a, rtol=1e-9)


def test_subtracting_more_than_there_is_raises(data):
    X, y = data
    stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL)
    strange = X[:3].copy()
    strange[:, 4] = 9
    for rows, labels, message in (
        (strange, y[:3], "Cannot subtract rows of categories [9] of feature 4: they were never"),
        (np.vstack([X, X]), np.tile(y, 2), "Cannot subtract more weight than was added"),
        (X[:3], y[:3] + 7, "Cannot subtract rows of classes [7, 8, 9]"),
    ):
        other = MixedStats.from_rows(rows, labels, categorical_features=CATEGORICAL)
        with pytest.raises(ValueError, match=re.escape(message)):
            _ = stats - other
    one = MixedStats.from_rows([[0], [1]], [0, 1], categorical_features=[0])
    two = MixedStats.from_rows([[1], [0]], [0, 1], categorical_features=[0])
    with pytest.raises(ValueError, match="Cannot subtract more weight"):
        _ = one - two


def test_statistics_of_other_features_cannot_be_combined(data):
    X, y = data
    stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL)
    for other, message in (
        (MixedStats.from_rows(X, y, categorical_features=[1]), r"features \[1, 2, 4\] cannot"),
        (MixedStats.from_rows(X[:, :2], y, categorical_features=[1]), "5 features cannot be"),
    ):
        with pytest.raises(ValueError, match=message):
            _ = stats + other
    named = [
        MixedStats.from_rows(X, y, categorical_features=[1], feature_names=names)
        for names in ("abcde", "abcdz")
        for names in [list(names)]
    ]
    with pytest.raises(ValueError, match="Statistics of different features"):
        _ = named[0] + named[1]
    text = MixedStats.from_rows(COLOURS[:, None], range(5), categorical_features=[0])
    number = MixedStats.from_rows([[1], [2]], [0, 1], categorical_features=[0])
    with pytest.raises(TypeError, match=r"Categories of feature 0 of types .* cannot be combined"):
        _ = text + number
    with pytest.raises(TypeError):
        _ = stats + 1
    assert sum([stats]) is stats


def test_decay_and_properties(data):
    X, y = data
    stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL)
    half = stats.decay(0.5)
    assert np.array_equal(half.count, stats.count / 2)
    for a, b in zip(half.counts, stats.counts, strict=True):
        assert np.array_equal(a, b / 2)
    assert np.array_equal(half.gaussian.mean, stats.gaussian.mean)
    with pytest.raises(ValueError, match="factor must be a number above 0"):
        stats.decay(0)
    assert repr(stats) == (
        "<MixedStats: 3 classes, 2 continuous and 3 categorical features, total weight 400>"
    )
    assert [c.dtype for c in stats.categories] == [np.int64] * 3


def test_categories_without_weight_are_not_there():
    stats = MixedStats.from_rows(
        [["a"], ["b"], ["c"]], [0, 1, 1], [1, 0, 2], categorical_features=[0]
    )
    assert stats.categories[0].tolist() == ["a", "c"]
    left = stats - MixedStats.from_rows([["c"]], [1], 2.0, categorical_features=[0])
    assert left.categories[0].tolist() == ["a"]
    assert left.counts[0].tolist() == [[1.0], [0.0]]


def test_many_weights_keep_their_digits():
    """A sum of 4e5 weights in one go would be off by about 1e-12 of itself."""
    n = 400_000
    w = np.full(n, 0.1)
    stats = MixedStats.from_rows(np.zeros((n, 1)), np.zeros(n, int), w, categorical_features=[0])
    exact = float(oracles.exact(0.1) * n)
    assert abs(stats.counts[0][0, 0] / exact - 1) < 1e-13


# --- learning --------------------------------------------------------------------------------


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


# --- scoring ---------------------------------------------------------------------------------


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


@settings(max_examples=20, deadline=None)
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


# --- kinds of input --------------------------------------------------------------------------


def inputs(X):
    """The same rows, with feature 2 as text, feature 1 as booleans and feature 4 as integers."""
    parts = [X[:, 0], X[:, 1] == 1, COLOURS[X[:, 2].astype(int)], X[:, 3], X[:, 4].astype(int)]
    columns = dict(zip("abcde", parts, strict=True))
    pandas = pd.DataFrame(columns)
    polars = pl.DataFrame({k: list(v) if k == "c" else v for k, v in columns.items()})
    yield np.array([list(row) for row in zip(*parts, strict=True)], object)
    yield [list(row) for row in zip(*parts, strict=True)]
    yield pandas
    yield pandas.astype({"c": "category", "b": "boolean", "e": "Int8"})
    yield pandas.astype({"c": "string", "e": "category", "a": "Float64"})
    yield pandas.astype({"c": "string[pyarrow]", "b": object, "d": object})
    yield polars
    yield polars.with_columns(pl.col("c").cast(pl.Categorical), pl.col("e").cast(pl.Int8))
    yield polars.with_columns(pl.col("c").cast(pl.Enum(COLOURS.tolist()[::-1])))


def test_kinds_of_input_give_the_same_answers(data, model):
    X, y = data
    for table in inputs(X):
        found = MixedNB(categorical_features=CATEGORICAL).fit(table, y)
        assert found.categories_[1].tolist() == COLOURS.tolist()
        assert found.categories_[0].tolist() == [False, True]
        for name in PREDICTORS:
            assert np.array_equal(getattr(found, name)(table), getattr(model, name)(X))
        stats = MixedStats.from_rows(table, y, categorical_features=CATEGORICAL)
        assert_same_stats(stats, found.stats_, rtol=0)
        assert found.sample(2, 0)[0].dtype == object


def test_kinds_of_frames_mix(data):
    """Fitted on one kind and asked on another."""
    X, y = data
    tables = list(inputs(X))[2:]
    wanted = MixedNB(categorical_features=["b", "c", "e"]).fit(tables[0], y)
    for table in tables:
        stream = MixedNB(categorical_features=["e", "b", "c"])
        stream.partial_fit(tables[0][:150], y[:150], [0, 1, 2]).partial_fit(table[150:], y[150:])
        assert_same_answers(stream, wanted, table)
        assert stream.feature_names_in_.tolist() == list("abcde")


def test_missing_values_in_frames(data):
    X, y = data
    params = {"categorical_features": CATEGORICAL, "missing": "skip"}
    gaps = X.copy()
    gaps[::5, 2], gaps[1::6, 0], gaps[2::7, 1], gaps[::9, 4] = (np.nan,) * 4
    model = MixedNB(**params).fit(gaps, y)
    columns = {
        "a": gaps[:, 0],
        "b": [None if np.isnan(v) else bool(v) for v in gaps[:, 1]],
        "c": [None if np.isnan(v) else COLOURS[int(v)] for v in gaps[:, 2]],
        "d": gaps[:, 3],
        "e": [None if np.isnan(v) else int(v) for v in gaps[:, 4]],
    }
    pandas = pd.DataFrame(columns)
    for table in (
        pandas, pandas.astype({"c": "category", "b": "boolean", "e": "Int64", "a": "Float64"}),
        pandas.astype({"e": object}), pl.DataFrame(columns),
        pl.DataFrame(columns).with_columns(pl.col("a").fill_nan(None)),
    ):  # fmt: skip
        found = MixedNB(**params).fit(table, y)
        assert np.array_equal(found.predict_proba(table), model.predict_proba(gaps))
        with pytest.raises(ValueError, match="Input X contains NaN"):
            MixedNB(categorical_features=CATEGORICAL).fit(table, y)
        with pytest.raises(ValueError, match="Input X contains NaN"):
            MixedStats.from_rows(table, y, categorical_features=CATEGORICAL)


def test_auto_takes_columns_for_categories(data):
    X, y = data
    for table, wanted in zip(list(inputs(X))[2:5], ("bc", "bc", "bce"), strict=True):
        auto = MixedNB(categorical_features="auto")
        auto.fit(table.assign(f=pd.Categorical(X[:, 2])), y)
        assert "".join(auto.feature_names_in_[auto.is_categorical_]) == wanted + "f"
    polars = list(inputs(X))[6]
    auto = MixedNB(categorical_features="auto").fit(polars, y)
    assert auto.feature_names_in_[auto.is_categorical_].tolist() == ["b", "c"]
    assert not MixedNB(categorical_features="auto").fit(X, y).is_categorical_.any()
    objects = pd.DataFrame({"a": pd.Series([1.5, 2.0], dtype=object), "b": [True, False]})
    auto = MixedNB(categorical_features="auto").fit(objects, [0, 1])
    assert auto.is_categorical_.tolist() == [False, True]


def test_ways_to_name_features(data, model):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    for wanted in (
        CATEGORICAL, (4, 1, 2), np.array([1, 2, 4], np.int8), model.is_categorical_,
        model.is_categorical_.tolist(), ["b", "c", "e"], np.array(["e", "c", "b"], object),
    ):  # fmt: skip
        found = MixedNB(categorical_features=wanted).fit(frame, y)
        assert np.array_equal(found.predict_proba(frame), model.predict_proba(X))


def test_numbers_of_any_type_are_the_same_categories(data):
    X, y = data
    C = X[:, CATEGORICAL]
    wanted = MixedNB(categorical_features=range(3)).fit(C, y)
    for dtype in ("i1", "u2", "i8", "u8", "f2", "f4", ">f8", ">i4", object):
        found = MixedNB(categorical_features=range(3)).fit(C.astype(dtype), y)
        assert_same_stats(found.stats_, wanted.stats_)
        assert np.array_equal(wanted.predict(C.astype(dtype)), wanted.predict(C))
    wide = np.array([[0], [2**63 + 1], [2**64 - 1], [2**63 + 1]], np.uint64)
    model = MixedNB(categorical_features=[0]).fit(wide, [0, 1, 0, 1])
    assert model.categories_[0].tolist() == [0, 2**63 + 1, 2**64 - 1]
    assert model.predict(wide).tolist() == [0, 1, 0, 1]
    far = np.array([[-(2**62)], [2**62], [3], [3]])
    model = MixedNB(categorical_features=[0], alpha=0.1).fit(far, [0, 1, 0, 0])
    assert model.predict(far).tolist() == [0, 1, 0, 0]


# --- sampling --------------------------------------------------------------------------------


def test_sampling_follows_the_model(data, model):
    X, labels = model.sample(30_000, random_state=11)
    assert X.dtype == np.float64
    drawn = MixedStats.from_rows(X, labels, categorical_features=CATEGORICAL)
    assert_allclose(drawn.count / 30_000, model.class_prior_, atol=0.012)
    bound = 4 / np.sqrt(drawn.count)[:, None]
    assert (np.abs(drawn.gaussian.mean - model.theta_) / np.sqrt(model.var_) < bound).all()
    for counts, log_prob in zip(drawn.counts, model.feature_log_prob_, strict=True):
        assert (np.abs(counts / drawn.count[:, None] - np.exp(log_prob)) < 0.6 * bound).all()


def test_sampling_repeats_with_its_seed(data):
    X, y = data
    model = MixedNB(categorical_features=["b", "c", "e"]).fit(list(inputs(X))[2], y)
    rows, labels = model.sample(9, 3)
    assert rows.tolist() == model.sample(9, 3)[0].tolist()
    assert set(rows[:, 2]) <= set(COLOURS)
    assert model.predict(pd.DataFrame(rows, columns=list("abcde"))).shape == labels.shape
    assert model.sample(4, np.random.default_rng(1))[0].shape == (4, 5)


# --- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": -1}, "'alpha' parameter of MixedNB must be a float in the range [0.0, inf)"),
        ({"alpha": "much"}, "'alpha' parameter of MixedNB must be"),
        ({"alpha": 1e308}, "alpha 1e+308 times 2 categories overflows float64"),
        ({"min_categories": 0}, "'min_categories' parameter of MixedNB must be"),
        ({"min_categories": [2, 2]}, "'min_categories' should have shape (3,)"),
        ({"min_categories": [2.0, 2.0, 2.0]}, "'min_categories' should have integral type"),
        ({"priors": [0.5, 0.5]}, "Number of priors must match number of classes"),
        ({"missing": "drop"}, "'missing' parameter of MixedNB must be a str among"),
        ({"var_smoothing": -1.0}, "'var_smoothing' parameter of MixedNB must be"),
        ({"categorical_features": "some"}, "must be 'auto', None, or a 1D array-like"),
        ({"categorical_features": 3}, "must be 'auto', None, or a 1D array-like"),
        ({"categorical_features": [0.5]}, "1D array-like of bool, int or str"),
        ({"categorical_features": [[1]]}, "1D array-like of bool, int or str"),
        ({"categorical_features": [5]}, "must be in [0, n_features - 1] = [0, 4], got: [5]"),
        ({"categorical_features": [-1]}, "must be in [0, n_features - 1]"),
        ({"categorical_features": [True]}, "must have shape (n_features,) = (5,), got: (1,)"),
        ({"categorical_features": ["a"]}, "model is fitted on data without feature names"),
    ],
)
def test_wrong_parameters(data, params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        MixedNB(**{"categorical_features": CATEGORICAL} | params).fit(*data)


def test_wrong_names(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(ValueError, match="item value 'z' which is not a valid feature name"):
        MixedNB(categorical_features=["a", "z"]).fit(frame, y)
    model = MixedNB(categorical_features=["b"]).fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        model.predict(frame.rename(columns={"c": "z"}))


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (0.5, ValueError, "Categories must be whole numbers, booleans or text. Feature 1: got 0.5"),
        (1e300, ValueError, "Feature 1: got 1e+300. Leave the feature out of categorical_features"),
        (np.nan, ValueError, "Input X contains NaN"),
        (None, ValueError, "Input X contains NaN"),
        (np.inf, ValueError, "Input X contains infinity or a value too large"),
        ("red", TypeError, "Feature 1: Labels must be uniformly text or numbers"),
        (b"red", TypeError, "argument must be a string or a real number, not 'bytes'"),
        ([1], TypeError, "argument must be a string or a real number, not 'list'"),
        (1j, TypeError, "argument must be a string or a real number, not 'complex'"),
        (np.datetime64("2020-01-01"), ValueError, "Feature 1: "),
    ],
)
def test_wrong_categories(data, value, kind, message):
    X, y = data
    rows = X[:9].astype(object)
    rows[4, 1] = value
    model = MixedNB(categorical_features=CATEGORICAL).fit(X, y)
    for call in (lambda: clone(model).fit(rows, y[:9]), lambda: model.predict(rows)):
        with pytest.raises(kind, match=re.escape(message)):
            call()


def test_wrong_rows(data, model):
    X, y = data
    with pytest.raises(ValueError, match="X has 4 features, but MixedNB is expecting 5 features"):
        model.predict(X[:, :4])
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])
    text = X.astype(object)
    text[2, 0] = "x"
    with pytest.raises(ValueError, match="Expected numeric rows, got text: 'x'"):
        model.predict(text)
    frame = pd.DataFrame(X).assign(when=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match="Feature 'when': "):
        MixedNB(categorical_features=[5]).fit(frame.rename(columns=str), y)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        MixedNB(categorical_features=[1]).fit(pd.DataFrame(X[:0]), y[:0])
    for i, j, value in ((3, 4, np.nan), (4, 3, np.nan), (5, 3, np.inf), (6, 1, np.inf)):
        wrong = X.copy()
        wrong[i, j] = value
        with pytest.raises(ValueError, match=f"row {i}, column {j} is not finite"):
            MixedStats.from_rows(wrong, y, categorical_features=CATEGORICAL)
    with pytest.raises(ValueError, match="contain at least one non-zero"):
        MixedNB(categorical_features=CATEGORICAL).fit(X, y, 0.0)
    with pytest.raises(ValueError, match="Expected 2 feature names"):
        MixedStats.from_rows([[0, 1]], [0], categorical_features=[1], feature_names=["a"])


def test_missing_categories_in_rows_of_weight_0(data):
    X, y = data
    rows, w = X.copy(), np.ones(len(X))
    rows[7, 2], rows[8, 0], w[7:9] = np.nan, np.nan, 0
    found = MixedNB(categorical_features=CATEGORICAL).fit(rows, y, w)
    wanted = MixedNB(categorical_features=CATEGORICAL).fit(X, y, w)
    assert np.array_equal(found.predict_proba(X), wanted.predict_proba(X))
