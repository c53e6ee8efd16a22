"""MixedNB: kinds of input, sampling, and input that is refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixed_cases import (
    CATEGORICAL,
    COLOURS,
    PREDICTORS,
    assert_same_answers,
    assert_same_stats,
    inputs,
)
from numpy.testing import assert_allclose
from sklearn.base import clone

from fastgnb import MixedNB, MixedStats


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
