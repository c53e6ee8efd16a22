"""GaussianNB: types of rows and labels, frames, and input that is refused."""

from __future__ import annotations

import numpy as np
import pytest
from naive_bayes_cases import PREDICTORS, assert_same_model, state
from sklearn.exceptions import DataConversionWarning, NotFittedError

from fastgnb import ClassStats, GaussianNB


def test_types_of_rows_and_results(make_data):
    X, y = make_data(200, 3, 2)
    X = np.round(X * 4)
    want = GaussianNB().fit(X, y)
    for dtype in ("f2", "f4", ">f4", "i1", "i4", "i8", "O", "g"):
        for rows in (X.astype(dtype), np.asfortranarray(X.astype(dtype)), X.astype(dtype).tolist()):
            model = GaussianNB().fit(rows, y)
            assert_same_model(model, want)
            narrow = dtype in ("f4", ">f4") and not isinstance(rows, list)
            assert model.predict_proba(rows).dtype == (np.float32 if narrow else np.float64)
            np.testing.assert_allclose(
                model.predict_joint_log_proba(rows), want.predict_joint_log_proba(X), rtol=1e-12
            )
    flags = GaussianNB().fit(X > 0, y)
    np.testing.assert_allclose(flags.theta_, GaussianNB().fit((X > 0) * 1.0, y).theta_)


def test_labels_keep_their_type():
    X = [[0.0], [1.0], [10.0], [11.0]]
    for labels, dtype in [
        ([True, True, False, False], np.bool_),
        ([2.0, 2.0, -1.0, -1.0], np.float64),
        (np.array([5, 5, 3, 3], np.int16), np.int16),
        (["p", "p", "q", "q"], np.dtype("<U1")),
        (np.array(["p", "p", "q", "q"], object), np.dtype(object)),
    ]:
        model = GaussianNB().fit(X, labels)
        assert model.predict(X).dtype == model.classes_.dtype == dtype
        assert model.predict(X).tolist() == list(labels)


def test_a_column_of_labels_is_flattened_with_a_warning():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([[0], [0], [1], [1]])
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        model = GaussianNB().fit(X, y)
    assert model.predict(X).tolist() == [0, 0, 1, 1]


def test_frames_and_feature_names(make_data):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    X, y = make_data(60, 3, 2)
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    frame = pd.DataFrame(columns)
    want = GaussianNB().fit(X, y)
    for table in (frame, pl.DataFrame(columns), pa.table(columns)):
        model = GaussianNB().fit(table, y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model.stats_.feature_names == ("a", "b", "c")
        assert_same_model(model, want, rtol=0)
        assert (model.predict_proba(table) == want.predict_proba(X)).all()
        model.partial_fit(table, y)
    model = GaussianNB().fit(frame, y)
    before = state(model)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame[["b", "a", "c"]], y)
    assert state(model) == before
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    assert not hasattr(model.fit(X, y), "feature_names_in_")
    assert GaussianNB().fit_stats(ClassStats.from_rows(frame, y)).feature_names_in_.tolist() == [
        "a", "b", "c",
    ]  # fmt: skip


def test_inputs_are_left_alone(make_data):
    X, y = make_data(50, 3, 2)
    w, classes, priors = np.ones(50), np.array([1, 0]), np.array([0.5, 0.5])
    before = [a.tobytes() for a in (X, y, w, classes, priors)]
    model = GaussianNB(priors=priors).partial_fit(X, y, classes, w)
    for name in PREDICTORS:
        getattr(model, name)(X)
    model.theta_[:] = 0
    assert [a.tobytes() for a in (X, y, w, classes, priors)] == before


@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([0.0, 1.0], ValueError, "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (np.zeros((0, 2)), ValueError, r"Found array with 0 sample\(s\)"),
        (np.zeros((2, 3)), ValueError, "X has 3 features, but GaussianNB is expecting 2 features"),
        ([[np.nan, 0.0]], ValueError, "Input X contains NaN"),
        (np.array([[0, np.inf]], np.float32), ValueError, "Input X contains infinity"),
        ([[1j, 0]], ValueError, "Complex data not supported"),
        (np.zeros((1, 2), "M8[D]"), ValueError, "Expected numeric rows, got dtype datetime64"),
    ],
)
def test_bad_rows_to_score(name, X, error, message):
    model = GaussianNB().fit([[0.0, 1.0], [2.0, 3.0], [5.0, 4.0]], [0, 1, 1])
    with pytest.raises(error, match=message):
        getattr(model, name)(X)


@pytest.mark.parametrize("name", PREDICTORS)
def test_before_fit(name):
    with pytest.raises(NotFittedError, match="This GaussianNB instance is not fitted yet"):
        getattr(GaussianNB(), name)([[0.0]])


def test_sparse_rows_are_refused():
    import scipy.sparse

    with pytest.raises(TypeError, match="dense data is required"):
        GaussianNB().fit(scipy.sparse.csr_matrix(np.eye(4)), [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"var_smoothing": -1e-9},
            "The 'var_smoothing' parameter of GaussianNB must be a float .* Got -1e-09",
        ),
        (
            {"var_smoothing": "auto"},
            "The 'var_smoothing' parameter of GaussianNB must be a float .* Got 'auto'",
        ),
        (
            {"var_smoothing": np.nan},
            "The 'var_smoothing' parameter of GaussianNB must be a float .* Got nan",
        ),
        ({"priors": [0.5, 0.4]}, "The sum of the priors should be 1"),
        ({"priors": [1.5, -0.5]}, "Priors must be non-negative"),
        ({"priors": [0.2, 0.3, 0.5]}, "Number of priors must match number of classes"),
        ({"priors": 1.0}, "The .priors. parameter of GaussianNB must be an array-like or None"),
    ],
)
def test_bad_parameters(keywords, message):
    for learn in (
        lambda m: m.fit([[0.0], [1.0]], [0, 1]),
        lambda m: m.partial_fit([[0.0], [1.0]], [0, 1], [0, 1]),
    ):
        with pytest.raises(ValueError, match=message):
            learn(GaussianNB(**keywords))


def test_bad_targets():
    X = np.array([[0.0], [1.0], [2.0]])
    for y, error, message in [
        (None, ValueError, "requires y to be passed"),
        ([0, 1], ValueError, "inconsistent numbers of samples"),
        ([[0, 1], [1, 0], [1, 1]], ValueError, "y should be a 1d array"),
        ([0.0, np.nan, 1.0], ValueError, "Input y contains NaN"),
        ([0.1, 0.2, 0.3], ValueError, "Unknown label type: continuous"),
        (np.array(["a", None, "b"], object), ValueError, "NaN or None"),
        (np.array(["a", 1, "b"], object), TypeError, "uniformly text or numbers"),
    ]:
        with pytest.raises(error, match=message):
            GaussianNB().fit(X, y)
