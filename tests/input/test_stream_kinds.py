"""Kinds of failures that streams, weights and estimators of other libraries had."""

from __future__ import annotations

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from kinds import TABLES, assert_answers, assert_is, exact, pieces
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB as Reference
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fastgnb import ClassStats, GaussianNB


@pytest.mark.parametrize("labels", [[3, 7, 30], ["u", "v", "w"], [-5.0, 0.0, 9.0]])
def test_chunks_that_hold_some_of_the_classes(labels):
    """Codes are of the declared classes, not of the chunk's own."""
    X = [[0, 0], [1, 1], [0, 1], [9, 9], [10, 8], [20, 1], [21, 0], [22, 2], [1, 0], [9, 8], [8, 9]]
    y = [labels[c] for c in (0, 0, 0, 1, 1, 2, 2, 2, 0, 1, 1)]
    want = exact(X, y)
    model = GaussianNB().partial_fit(X[:3], y[:3], classes=labels[::-1])
    stats = ClassStats.from_rows(X[:3], y[:3])
    for part in pieces(11, [3, 5, 8, 9])[1:]:
        model.partial_fit(X[part], y[part])
        stats = stats.update(X[part], y[part])  # whose classes grow
    assert_is(model, want)
    assert_is(GaussianNB().fit_stats(stats), want)
    assert_answers(model, [[0.5, 0.5], [9, 8.5], [21, 1]], want)


@pytest.mark.parametrize("first", [1, 3, 30, 57, 59])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_a_chunk_larger_than_all_before(first, dtype):
    """The ratio of two counts is no integer."""
    i = np.arange(60)
    X, y = np.c_[i % 7, (i * 5) % 11].astype(dtype), i % 2
    for weight in (None, 1 + i % 3, (1 + i % 3).astype(np.uint8)):
        part = [slice(0, first), slice(first, 60)]
        given = [None, None] if weight is None else [weight[p] for p in part]
        model = GaussianNB(var_smoothing=0.25).partial_fit(X[part[0]], y[part[0]], [0, 1], given[0])
        model.partial_fit(X[part[1]], y[part[1]], sample_weight=given[1])
        plain = None if weight is None else weight.tolist()
        assert_is(model, exact(X.tolist(), y.tolist(), plain, smoothing=0.25))


def test_weighted_chunks_and_one_without_weights():
    i = np.arange(50)
    X, y = np.c_[(i * 13 % 32) / 4 + 100, (i * 7 % 16) / 2], i % 3
    weight = ((i * 11) % 16 + 1) / 16
    weight[20:30] = 1
    want = exact(X.tolist(), y.tolist(), weight)
    model, parts = GaussianNB(), []
    for a in range(0, 50, 10):
        given = None if a == 20 else weight[a : a + 10].astype(np.float32)
        model.partial_fit(X[a : a + 10], y[a : a + 10], [0, 1, 2], given)
        parts.append(ClassStats.from_rows(X[a : a + 10], y[a : a + 10], given))
    for got in (model, GaussianNB().fit(X, y, weight), GaussianNB().fit_stats(sum(parts))):
        assert_is(got, want)


@pytest.mark.parametrize("kind", ["i1", "u8", "f2", "f4", "?", "list", "tuple", "Series", "polars"])
def test_whole_weights_are_repetition(kind):
    i = np.arange(30)
    X, y = np.c_[(i * 11 % 16) / 2, (i * 5 % 32) / 8], (i + i // 4) % 3
    times = i % 2 if kind == "?" else i % 4
    again = np.repeat(i, times)
    want = exact(X[again].tolist(), y[again].tolist())
    containers = {"list": list, "tuple": tuple, "Series": pd.Series, "polars": pl.Series}
    weight = containers[kind](times.tolist()) if kind in containers else times.astype(kind)
    for model in (
        GaussianNB().fit(X, y, weight),
        GaussianNB().partial_fit(X, y, [0, 1, 2], weight),
        GaussianNB().fit_stats(ClassStats.from_rows(X, y, weight)),
        GaussianNB().fit(X[again], y[again]),
    ):
        assert_is(model, want)


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [40, 60_000])
def test_rows_of_weight_zero_may_hold_anything(dtype, order, n):
    i = np.arange(n)
    X, y = np.c_[(i * 13 % 32) / 4, (i * 7 % 16) / 2 - 3], i % 2
    weight = (i % 3 > 0) * (1.0 + i % 2)
    kept = weight > 0
    want = GaussianNB().fit(X[kept], y[kept], weight[kept])
    for fill in (1e30, np.nan, np.inf, -np.inf):
        rows = X.copy()
        rows[~kept] = fill
        rows = np.array(rows, dtype, order=order)
        for model in (
            GaussianNB().fit(rows, y, weight),
            GaussianNB().partial_fit(rows, y, [0, 1], weight),
            GaussianNB(missing="skip").fit(rows, y, weight),
        ):
            np.testing.assert_allclose(model.theta_, want.theta_, rtol=1e-13)
            np.testing.assert_allclose(model.var_, want.var_, rtol=1e-12)
            assert (model.class_count_ == want.class_count_).all()


def test_priors_follow_every_chunk():
    X, y = [[float(i)] for i in range(12)], list("aaaaaaabbbcc")
    model = GaussianNB().fit(X, y)
    assert model.class_prior_.tolist() == [7 / 12, 3 / 12, 2 / 12]
    model.partial_fit([[50.0], [51.0]], ["c", "c"])
    assert model.class_prior_.tolist() == [7 / 14, 3 / 14, 4 / 14]
    model.partial_fit([[1.0], [51.0]], ["a", "b"], sample_weight=[0.5, 2.5])
    assert model.class_prior_.tolist() == [15 / 34, 11 / 34, 8 / 34]
    model.merge(GaussianNB().fit([[2.0]] * 3, ["d"] * 3))
    assert model.class_prior_.tolist() == [15 / 40, 11 / 40, 8 / 40, 6 / 40]


def test_fit_forgets_and_partial_fit_goes_on():
    """Classes, names, width and missing counts are the last fit's only."""
    frame = pd.DataFrame([[1.0, np.nan], [2.0, 4.0], [9.0, 1.0]], columns=["u", "v"])
    model = GaussianNB(missing="skip").partial_fit(frame, [0, 0, 1], classes=[0, 1, 2])
    model.set_params(missing="error", var_smoothing=0.5)
    X, y = [[1.0], [2.0], [4.0], [10.0], [12.0]], ["u", "u", "u", "v", "v"]
    assert model.fit(X, y) is model
    assert vars(model).keys() == vars(GaussianNB().fit(X, y)).keys()
    assert_is(model, exact(X, y, smoothing=0.5))
    assert model.partial_fit([[3.0], [11.0]], ["u", "v"]) is model
    assert_is(model, exact([*X, [3.0], [11.0]], [*y, "u", "v"], smoothing=0.5))
    assert model.stats_.feature_count is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_input_is_written_to(dtype, order):
    draw = np.random.default_rng(1)
    X = np.array(draw.integers(0, 90, (50, 4)), dtype, order=order)
    given = [
        X,
        draw.integers(0, 3, 50),
        draw.random(50),
        np.array([2, 0, 1]),
        np.array([0.25, 0.25, 0.5]),
    ]
    before = [each.tobytes() for each in given]
    X, y, weight, classes, priors = given
    for each in given:
        each.flags.writeable = False
    model = GaussianNB(priors=priors).partial_fit(X, y, classes, weight).fit(X, y, weight)
    for name in ("predict", *TABLES, "predict_log_evidence"):
        answer = getattr(model, name)(X)
        assert answer.flags.writeable
        answer[:] = answer[::-1]
    ClassStats.from_rows(X, y, weight, classes=classes).update(X, y, weight)
    model.theta_ += 1
    model.class_prior_ *= 2
    assert [each.tobytes() for each in given] == before


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_files_that_are_mapped_and_must_not_be_written(tmp_path, order, dtype):
    draw = np.random.default_rng(3)
    X, y, weight = (
        draw.normal(size=(400, 5)).astype(dtype),
        draw.integers(0, 3, 400),
        draw.random(400),
    )
    want = GaussianNB().fit(X, y, weight)
    (tmp_path / "x").write_bytes(X.tobytes(order))
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "w.npy", weight)
    rows = np.memmap(tmp_path / "x", dtype=dtype, mode="r", shape=X.shape, order=order)
    labels, w = (np.load(tmp_path / name, mmap_mode="r") for name in ("y.npy", "w.npy"))
    model = GaussianNB().fit(rows, labels, w)
    for name in ("theta_", "var_", "class_count_"):
        assert getattr(model, name).tobytes() == getattr(want, name).tobytes()
    for name in ("predict", *TABLES, "predict_log_evidence"):
        assert getattr(model, name)(rows).tobytes() == getattr(want, name)(X).tobytes()
    state = [*vars(model).values(), *vars(model.stats_).values()]
    assert not any(isinstance(value, np.memmap) for value in state)
    assert type(model.predict(rows)) is type(model.classes_) is np.ndarray


def test_copies_of_every_kind(make_data):
    X, codes = make_data(300, 4, 3)
    y = np.array(["p", "q", "r"])[codes]
    model = GaussianNB(priors=[0.2, 0.3, 0.5], var_smoothing=1e-7).fit(X, y)
    want = model.predict_proba(X).tobytes()
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    copies = [joblib.load(stream), copy.copy(model), copy.deepcopy(model)]
    copies += [pickle.loads(pickle.dumps(model, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in copies:
        assert other.predict_proba(X).tobytes() == want
        assert (other.partial_fit(X + 5, y).class_count_ == 2 * model.class_count_).all()
    assert model.predict_proba(X).tobytes() == want
    fresh = clone(model)
    assert fresh.get_params() == {
        "priors": [0.2, 0.3, 0.5], "var_smoothing": 1e-7, "missing": "error",
        "covariance_type": "diag", "tied": False, "ddof": 0,
    }  # fmt: skip
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert pickle.loads(pickle.dumps(GaussianNB(var_smoothing=0.5))).var_smoothing == 0.5


def test_inside_meta_estimators(make_data):
    """Each gets from ours what it gets from scikit-learn's."""
    X, codes = make_data(180, 3, 3)
    y = np.array(["no", "yes", "maybe"])[codes]
    weight = np.random.default_rng(9).random(180) + 0.1
    grid = {"var_smoothing": [1e-9, 1.0], "priors": [None, [0.2, 0.3, 0.5]]}

    class WithDecisions(Reference):  # which scikit-learn's lacks, and calibration prefers
        def decision_function(self, X):
            return self.predict_joint_log_proba(X)

    def answers(cls):
        decides = cls if hasattr(cls, "decision_function") else WithDecisions
        calibrated = CalibratedClassifierCV(decides(), cv=3).fit(X, y, sample_weight=weight)
        yield calibrated.predict_proba(X)
        yield OneVsRestClassifier(cls()).fit(X, y).predict_proba(X)
        voting = VotingClassifier([("a", cls()), ("b", cls(var_smoothing=0.1))], voting="soft")
        yield voting.fit(X, y).predict_proba(X)
        yield BaggingClassifier(cls(), 3, random_state=0).fit(X, y).predict_proba(X)
        yield GridSearchCV(cls(), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
        yield cross_val_predict(cls(), X, y, cv=3, method="predict_log_proba")
        pipe = make_pipeline(StandardScaler(), cls()).fit(X, y, gaussiannb__sample_weight=None)
        yield pipe.predict_proba(X)
        yield np.array([cls().fit(X, y, codes + 1).score(X, y, codes + 1)])

    for ours, theirs in zip(answers(GaussianNB), answers(Reference), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert is_classifier(GaussianNB())


def test_what_other_tools_read_from_a_fitted_model():
    """Names, shapes and kinds that exporters and explainers take for granted."""
    names = ("classes_", "class_count_", "class_prior_", "theta_", "var_", "epsilon_")
    assert not [name for name in (*names, "n_features_in_") if hasattr(GaussianNB(), name)]
    draw = np.random.default_rng(10)
    for dtype in (np.float64, np.float32, np.int16):
        model = GaussianNB().fit(
            (draw.normal(size=(50, 4)) * 9).astype(dtype), np.repeat([5, 3], 25)
        )
        shapes = [(2,), (2,), (2,), (2, 4), (2, 4)]
        for name, shape in zip(names[:-1], shapes, strict=True):
            value = getattr(model, name)
            assert type(value) is np.ndarray
            assert value.shape == shape
            assert value.flags.writeable
            assert value.dtype == (np.int64 if name == "classes_" else np.float64)
        assert isinstance(model.epsilon_, float)
        assert isinstance(model.n_features_in_, int)
        assert model.classes_.tolist() == [3, 5]


def test_a_fit_that_failed_leaves_no_model(make_data):
    """Neither a half-fitted fresh model, nor a fitted one that is half another."""
    X, y = make_data(20, 2, 2)
    fresh = GaussianNB()
    for bad in (lambda m: m.fit(X, y[:-1]), lambda m: m.fit(X[:, :0], y), lambda m: m.fit(X, X)):
        with pytest.raises(ValueError, match=r"inconsistent numbers|0 feature|y should be a 1d"):
            bad(fresh)
        with pytest.raises(NotFittedError):
            fresh.predict(X)
    model = GaussianNB().fit(X, y)
    before = pickle.dumps(model)
    wide = pd.DataFrame(np.full((3, 5), np.inf), columns=list("abcde"))
    with pytest.raises(ValueError, match="contains infinity"):
        model.fit(wide, ["u", "v", "w"])
    assert pickle.dumps(model) == before


def test_constructors_take_what_they_get():
    """Parameters are kept as given, by keyword only, and act at the next fit."""
    with pytest.raises(TypeError, match="positional argument"):
        GaussianNB([0.5, 0.5])
    with pytest.raises(TypeError, match="unexpected keyword argument 'smoothing'"):
        GaussianNB(smoothing=1)
    for value in (-1, "auto", None, [1e-9], np.nan):
        assert GaussianNB(var_smoothing=value).get_params()["var_smoothing"] is value
    X, y = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
    model = GaussianNB().fit(X, y)
    before = model.epsilon_
    assert model.set_params(var_smoothing=1.0).epsilon_ == before
    assert model.partial_fit(X, y).epsilon_ == np.var(X)
