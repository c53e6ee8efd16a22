"""GaussianNB: the drop-in, what it promises beyond scikit-learn, and where it differs from it."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal

import numpy as np
import oracles
import pytest
from naive_bayes_cases import FITTED, PREDICTORS, assert_same_model, state
from sklearn import datasets
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as Reference
from sklearn.utils.estimator_checks import check_estimator

from fastgnb import ClassStats, GaussianNB


@pytest.mark.parametrize("missing", ["error", "skip"])
def test_check_estimator(missing):
    results = check_estimator(GaussianNB(missing=missing), on_fail=None, on_skip=None)
    assert len(results) > 50
    bad = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not bad
    assert {r["status"] for r in results} <= {"passed", "skipped"}


def test_scikit_learns_own_tests_pass_with_the_drop_in(python, tmp_path):
    """Its tests, with our class in the place of its own; one calls a private method of its."""
    (tmp_path / "drop_in_plugin.py").write_text(
        "import sklearn.naive_bayes, fastgnb\n"
        "made = 0\n"
        "class GaussianNB(fastgnb.GaussianNB):\n"
        "    def __init__(self, *, priors=None, var_smoothing=1e-9, missing='error'):\n"
        "        global made\n"
        "        made += 1\n"
        "        super().__init__(priors=priors, var_smoothing=var_smoothing, missing=missing)\n"
        "sklearn.naive_bayes.GaussianNB = GaussianNB\n"
        "def pytest_sessionfinish(session, exitstatus):\n"
        "    print('\\nMADE', made)\n"
    )
    out = python(
        "import os, sys, pytest; sys.path.insert(0, sys.argv[1]); sys.exit(pytest.main(["
        "'-q', '-p', 'drop_in_plugin', '-p', 'no:cacheprovider', '-c', os.devnull, '--pyargs',"
        "'sklearn.tests.test_naive_bayes', '-k', '(gnb or GaussianNB or NB_partial_fit or digits "
        "or joint) and not update_with_no_data and not array_api']))",
        str(tmp_path),
    )
    assert int(out.split("MADE")[1].split()[0]) >= 20
    assert " passed" in out
    assert "failed" not in out


def test_drop_in_parity_on_random_data(make_data):
    for n, d, k in [(50, 1, 2), (300, 7, 3), (1000, 20, 10), (400, 60, 4)]:
        X, y = make_data(n, d, k)
        weight = np.random.default_rng(1).random(n)
        for keywords in ({}, {"var_smoothing": 0.1}, {"priors": np.full(k, 1 / k)}):
            ours, theirs = GaussianNB(**keywords).fit(X, y), Reference(**keywords).fit(X, y)
            assert_same_model(ours, theirs, rtol=1e-9)
            assert (ours.predict(X) == theirs.predict(X)).all()
            for name in PREDICTORS[1:4]:
                np.testing.assert_allclose(
                    getattr(ours, name)(X), getattr(theirs, name)(X), rtol=1e-8, atol=1e-12
                )
            assert ours.score(X, y, weight) == theirs.score(X, y, weight)
        # with smoothing off, where the definitions of epsilon_ with weights do not matter
        ours = GaussianNB(var_smoothing=0).fit(X, y, weight)
        assert_same_model(ours, Reference(var_smoothing=0).fit(X, y, weight), rtol=1e-9)


@pytest.mark.parametrize(
    ("load", "right"), [("iris", 45), ("wine", 51), ("breast_cancer", 158), ("digits", None)]
)
def test_data_sets(load, right):
    X, y = getattr(datasets, f"load_{load}")(return_X_y=True)
    X1, X2, y1, y2 = train_test_split(X, y, test_size=0.3, random_state=0)
    model = GaussianNB().fit(X1, y1)
    predicted = model.predict(X2)
    if right is not None:
        assert (predicted == y2).sum() == right
    assert (predicted == Reference().fit(X1, y1).predict(X2)).all()


def wine_differences(splits):
    X, y = datasets.load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    different = 0
    for _ in range(splits):
        order = rng.permutation(len(X))
        for tenths in range(1, 10):
            cut = len(X) * tenths // 10
            a, b = order[:cut], order[cut:]
            ours = GaussianNB().fit(X[a], y[a]).predict(X[b])
            different += int((ours != Reference().fit(X[a], y[a]).predict(X[b])).sum())
    return different


def test_wine_splits_agree_with_scikit_learn():
    assert wine_differences(50) == 0


@pytest.mark.slow
def test_nine_thousand_wine_splits_agree_with_scikit_learn():
    assert wine_differences(1000) == 0


def test_inside_other_tools(make_data):
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = make_data(300, 4, 3)
    pipe = make_pipeline(StandardScaler(), GaussianNB())
    reference = make_pipeline(StandardScaler(), Reference())
    assert (cross_val_score(pipe, X, y) == cross_val_score(reference, X, y)).all()
    grid = {"var_smoothing": [1e-9, 0.1, 1.0]}
    ours = GridSearchCV(GaussianNB(), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
    theirs = GridSearchCV(Reference(), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
    assert (ours == theirs).all()


def test_metadata_routing_and_html():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True)
        assert model.get_metadata_routing().fit.requests["sample_weight"] is True
    assert "GaussianNB" in GaussianNB()._repr_html_()
    assert repr(GaussianNB(var_smoothing=0.5)) == "GaussianNB(var_smoothing=0.5)"


def test_clone_pickle_and_copies(make_data):
    X, y = make_data(200, 3, 2)
    model = GaussianNB(priors=[0.3, 0.7]).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "theta_")
    want = model.predict_proba(X)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert (other.predict_proba(X) == want).all()
        other.partial_fit(X + 3, y)
    assert (model.predict_proba(X) == want).all()
    assert len(pickle.dumps(model)) < 8000


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("missing", ["error", "skip"])
def test_any_pieces_equal_one_fit(make_data, size, missing):
    X, y = make_data(2003, 5, 3)
    weight = np.random.default_rng(2).random(len(X))
    if missing == "skip":
        X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    whole = GaussianNB(var_smoothing=0.1, missing=missing).fit(X, y, weight)
    stream = GaussianNB(var_smoothing=0.1, missing=missing)
    for a in range(0, len(X), size):
        stream.partial_fit(X[a : a + size], y[a : a + size], [0, 1, 2], weight[a : a + size])
    assert_same_model(stream, whole)
    np.testing.assert_allclose(stream.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_epsilon_comes_from_all_rows_with_their_weights():
    X1, y1 = np.array([[0.0, 1.0], [1.0, 3.0], [4.0, 2.0]]), [0, 0, 1]
    X2, y2 = np.array([[100.0, -50.0], [140.0, 20.0]]), [0, 1]
    w = [1.0, 2.0, 0.0, 0.5, 3.0]
    model = GaussianNB(var_smoothing=0.25).partial_fit(X1, y1, [0, 1], w[:3])
    model.partial_fit(X2, y2, sample_weight=w[3:])
    exact = oracles.epsilon(np.vstack([X1, X2]), 0.25, w)
    assert oracles.relative_error(model.epsilon_, exact) < 1e-14
    stats = oracles.class_stats(np.vstack([X1, X2]), y1 + y2, w)
    want = [
        [s / n + exact for s, n in zip(row, weights, strict=True)]
        for row, weights in zip(stats.scatter, stats.weight, strict=True)
    ]
    assert oracles.relative_error(model.var_, want) < 1e-13


def test_a_declared_class_without_rows_never_wins_until_it_comes():
    X, y = [[0.0], [1.0], [9.0], [8.0]], ["a", "a", "c", "c"]
    model = GaussianNB().partial_fit(X, y, classes=["b", "c", "a"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.class_prior_.tolist() == [0.5, 0, 0.5]
    proba = model.predict_proba([[0.0], [1e300], [4.5]])
    assert (proba[:, 1] == 0).all()
    assert np.isfinite(proba).all()
    assert np.isneginf(model.predict_log_proba([[0.0]])[0, 1])
    model.partial_fit([[4.0], [5.0]], ["b", "b"])
    assert model.predict([[4.4]]).tolist() == ["b"]
    no_smoothing = GaussianNB(var_smoothing=0).partial_fit(X, y, classes=["a", "b", "c"])
    assert no_smoothing.predict(X).tolist() == y


def test_a_class_without_rows_never_wins_with_given_priors():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for weight in (None, np.r_[np.ones(19), 0.0]):
        y = np.r_[np.zeros(19, int), 0 if weight is None else 1]
        model = GaussianNB(priors=[0.5, 0.5]).partial_fit(X, y, [0, 1], weight)
        assert model.class_prior_.tolist() == [0.5, 0.5]
        assert (model.predict_proba(X) == [1.0, 0.0]).all()


def test_streams_that_overflow_leave_the_model(make_data):
    model = GaussianNB().partial_fit([[1e200], [1e200]], [0, 1], [0, 1])
    before = state(model)
    with pytest.raises(ValueError, match="spans values so far apart"):
        model.partial_fit([[-1e200], [3.0]], [0, 1])
    assert state(model) == before
    with pytest.raises(ValueError, match=r"largest variance .* overflows|overflows float64"):
        GaussianNB().fit([[1e200], [-1e200]], [0, 1])
    with pytest.raises(ValueError, match="sum of the weights overflows"):
        GaussianNB().fit([[1.0], [2.0]], [0, 1], [1e308, 1e308])


def test_edits_that_make_no_model(make_data):
    X, y = make_data(30, 2, 2)
    for name, value in [("theta_", np.nan), ("class_prior_", 0.0), ("class_prior_", np.nan)]:
        model = GaussianNB().fit(X, y)
        getattr(model, name)[:] = value
        with pytest.raises(ValueError, match=r"Expected (finite means|class_prior_ of finite)"):
            model.predict(X)


def test_models_share_nothing(make_data):
    X, y = make_data(30, 2, 2)
    stats = ClassStats.from_rows(X, y)
    a, b = GaussianNB().fit_stats(stats), GaussianNB().fit_stats(stats)
    for name in ("classes_", "class_count_", "theta_"):
        getattr(a, name)[:] = 9
    assert stats.classes.tolist() == b.classes_.tolist() == [0, 1]
    assert 9 not in stats.count
    assert 9 not in b.theta_


def test_float32_streams_keep_float64_state():
    X = np.array([[1.0], [2.0]], np.float32)
    model = GaussianNB().partial_fit(X, [0, 1], [0, 1], [2.0**24, 2.0**25])
    for _ in range(5):
        model.partial_fit(X, [0, 1])
    assert model.class_count_.tolist() == [2**24 + 5, 2**25 + 5]
    assert {getattr(model, name).dtype for name in FITTED[1:5]} == {np.dtype(np.float64)}


BAD_CHUNKS = {
    "NaN": ([[np.nan, 1.0]], [0], None, ValueError, "Input X contains NaN"),
    "infinity": ([[np.inf, 1.0]], [0], None, ValueError, "Input X contains infinity"),
    "overflow": ([[1e200, 0.0], [-1e200, 0.0]], [0, 0], None, ValueError, "variance overflows"),
    "stranger": ([[0.0, 1.0]], [7], None, ValueError, r"label\(s\) \[7\] in y do not exist"),
    "width": ([[0.0]], [0], None, ValueError, "X has 1 features, but GaussianNB is expecting 2"),
    "length": ([[0.0, 1.0]], [0, 1], None, ValueError, "inconsistent numbers of samples"),
    "negative": ([[0.0, 1.0]], [0], [-1.0], ValueError, "Negative values in data passed to"),
    "weight": ([[0.0, 1.0]], [0], [np.nan], ValueError, "Input sample_weight contains NaN"),
    "no weight": ([[0.0, 1.0]], [0], [0.0], ValueError, "at least one non-zero number"),
    "text": ([["a", "b"]], [0], None, ValueError, "is not compatible with arrays of bytes"),
    "continuous": ([[0.0, 1.0]], [0.5], None, ValueError, "Unknown label type: continuous"),
    "no rows": (np.zeros((0, 2)), [], None, ValueError, "0 sample"),
}


@pytest.mark.parametrize("name", BAD_CHUNKS)
def test_a_chunk_is_taken_whole_or_not_at_all(name):
    X, y, weight, error, message = BAD_CHUNKS[name]
    model = GaussianNB().partial_fit([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], [0, 1, 1], [0, 1])
    before = state(model)
    with pytest.raises(error, match=message):
        model.partial_fit(X, y, sample_weight=weight)
    assert state(model) == before
    fresh = GaussianNB()
    with pytest.raises(error):
        fresh.partial_fit(X, y, [0, 1], weight) if name != "width" else fresh.fit([1.0], [0])
    assert fresh.__dict__ == GaussianNB().__dict__


def test_rules_for_classes():
    X, y = [[0.0], [1.0]], ["b", "a"]
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        GaussianNB().partial_fit(X, y)
    model = GaussianNB().partial_fit(X, y, ["b", "a", "b"])
    model.partial_fit(X, y, ["a", "b"]).partial_fit(X, y)
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(X, y, ["a", "c"])
    assert model.class_count_.tolist() == [3, 3]


def test_finite_rows_never_give_nan(make_data):
    first = GaussianNB().partial_fit([[3.0, 4.0]], ["a"], classes=["a", "b"])
    assert first.predict_proba([[3.0, 4.0], [1e200, -1e200], [0.0, 0.0]]).tolist() == [[1, 0]] * 3
    constant = GaussianNB().fit(np.ones((4, 2)), [0, 0, 0, 1])
    proba = constant.predict_proba([[1.0, 1.0], [5.0, 1.0]])
    np.testing.assert_allclose(proba, [[0.75, 0.25]] * 2, rtol=1e-5)
    X, y = make_data(300, 3, 3)
    proba = GaussianNB().fit(X, y).predict_proba([[1e200, 0, 0], [-1e308, 1e308, 1e308]])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_zero_variance_without_smoothing_names_class_and_feature():
    X, y = [[0.0, 1.0], [1.0, 1.0], [5.0, 2.0], [6.0, 3.0]], ["a", "a", "b", "b"]
    model = GaussianNB(var_smoothing=0).fit(X, y)
    for name in PREDICTORS:
        with pytest.raises(ValueError, match=r"Feature 1 of class 'a' has variance 0"):
            getattr(model, name)(X)


def test_log_evidence_is_the_log_density(make_data):
    X, y = make_data(200, 4, 3)
    model = GaussianNB().fit(X, y)
    for x, got in zip(X[:20], model.predict_log_evidence(X[:20]), strict=True):
        want = oracles.log_evidence(oracles.joint(x, model.class_prior_, model.theta_, model.var_))
        assert abs(Decimal(float(got)) - want) < Decimal("1e-12")
    assert model.predict_log_evidence(X + 1000).max() < model.predict_log_evidence(X).min()


def test_edited_attributes_are_obeyed(make_data):
    X, y = make_data(300, 3, 2)
    ours, theirs = GaussianNB().fit(X, y), Reference().fit(X, y)
    for model in (ours, theirs):
        model.var_ *= 3
        model.theta_[0, 1] = 7.0
        model.class_prior_ = np.array([0.9, 0.1])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)


def test_fit_stats_and_merge_are_fit(make_data):
    X, y = make_data(900, 4, 3)
    whole = GaussianNB(var_smoothing=1e-3).fit(X, y)
    from_stats = GaussianNB(var_smoothing=1e-3).fit_stats(ClassStats.from_rows(X, y))
    assert_same_model(from_stats, whole)
    left = GaussianNB(var_smoothing=1e-3).fit(X[:500], y[:500])
    right = GaussianNB().fit(X[500:], y[500:])
    before = state(right)
    assert left.merge(right) is left
    assert_same_model(left, whole)
    assert state(right) == before
    with pytest.raises(ValueError, match="total weight is 0"):
        GaussianNB().fit_stats(ClassStats.from_rows(X[:0], y[:0]))
    with pytest.raises(TypeError, match="Expected ClassStats, got dict"):
        GaussianNB().fit_stats({})
    with pytest.raises(NotFittedError, match="not fitted yet"):
        left.merge(GaussianNB())
    with pytest.raises(TypeError, match=r"NB, got sklearn.naive_bayes.GaussianNB. .*from_sklearn"):
        left.merge(Reference().fit(X, y))


def test_a_merge_that_raises_changes_nothing(make_data):
    X, y = make_data(90, 4, 3)
    model = GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, y)
    before = state(model)
    with pytest.raises(ValueError, match="Statistics of 4 features cannot be combined with 3"):
        model.merge(GaussianNB().fit(X[:, :3], y))
    with pytest.raises(ValueError, match="Number of priors must match number of classes"):
        model.merge(GaussianNB().fit(X, y + 1))
    assert state(model) == before


def test_to_and_from_scikit_learn(make_data):
    X, y = make_data(300, 3, 3)
    model = GaussianNB(var_smoothing=1e-3).fit(X, np.array(["x", "y", "z"])[y])
    plain = model.to_sklearn()
    assert type(plain) is Reference
    np.testing.assert_allclose(plain.predict_proba(X), model.predict_proba(X), rtol=1e-10)
    theirs = Reference(var_smoothing=1e-3).fit(X, y)
    ours = GaussianNB.from_sklearn(theirs)
    assert_same_model(ours, theirs, rtol=0)
    ours.partial_fit(X + 1, y)
    both = GaussianNB(var_smoothing=1e-3).fit(np.vstack([X, X + 1]), np.r_[y, y])
    assert_same_model(ours, both, rtol=1e-10)


def test_missing_values(make_data, rng):
    X, y = make_data(500, 4, 3)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[y == 2, 1] = np.nan
    model = GaussianNB(missing="skip").fit(X, y)
    exact = oracles.class_stats(X, y)
    assert oracles.relative_error(model.theta_[:2], exact.mean[:2]) < 1e-12
    column = X[:, 1][~np.isnan(X[:, 1])]  # never seen in class 2: it has the mean of all rows
    np.testing.assert_allclose(model.theta_[2, 1], column.mean(), rtol=1e-12)
    np.testing.assert_allclose(model.var_[2, 1], column.var() + model.epsilon_, rtol=1e-12)
    jll = model.predict_joint_log_proba(X[:30])
    for x, row in zip(X[:30], jll, strict=True):
        want = oracles.joint(x, model.class_prior_, model.theta_, model.var_)
        np.testing.assert_allclose(row, [float(v) for v in want], rtol=1e-12)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.predict([[np.inf, 0, 0, 0]])
    with pytest.raises(
        ValueError, match="The 'missing' parameter of GaussianNB must be a str among"
    ):
        GaussianNB(missing="drop").fit(X, y)


def test_weight_zero_is_absence_for_epsilon_too(make_data):
    X, y = make_data(100, 3, 2)
    weight = (np.arange(100) % 4 > 0).astype(float)
    far = np.where(weight[:, None] == 0, 1e6, X)
    kept = weight > 0
    assert_same_model(
        GaussianNB(var_smoothing=0.1).fit(far, y, weight),
        GaussianNB(var_smoothing=0.1).fit(X[kept], y[kept]),
    )


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e300])
def test_only_ratios_of_weights_matter(make_data, scale):
    X, y = make_data(100, 3, 2)
    weight = np.random.default_rng(0).integers(1, 9, 100).astype(float)
    plain, scaled = GaussianNB().fit(X, y, weight), GaussianNB().fit(X, y, weight * scale)
    np.testing.assert_allclose(scaled.theta_, plain.theta_, rtol=1e-12)
    np.testing.assert_allclose(scaled.var_, plain.var_, rtol=1e-12)
    np.testing.assert_allclose(scaled.class_prior_, plain.class_prior_, rtol=1e-12)
