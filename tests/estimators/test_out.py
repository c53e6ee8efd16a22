"""`out`: the arrays that predict, predict_proba and their siblings write into."""

from __future__ import annotations

import numpy as np
import pytest
from members import SHAPES, with_categories

from fastgnb import GaussianNB

TABLES = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 400)
    return with_categories(rng.normal(size=(400, 4)) + y[:, None]), y


@pytest.fixture(scope="module")
def model(rows):
    return GaussianNB().fit(*rows)


@pytest.mark.parametrize("method", ["predict", *TABLES])
@pytest.mark.parametrize("name", SHAPES)
def test_out_is_filled_and_returned(rows, name, method):
    X, y = rows
    answer = getattr(SHAPES[name].make().fit(X, y), method)
    expected = answer(X)
    out = np.full_like(expected, -1)
    assert answer(X, out=out) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_float32_rows_take_a_float32_table(model, rows, method):
    X = rows[0].astype(np.float32)
    out = np.empty((len(X), 3), np.float32)
    assert np.array_equal(getattr(model, method)(X, out=out), getattr(model, method)(X))
    with pytest.raises(ValueError, match=r"Expected out of float32 \(400, 3\).*got float64"):
        getattr(model, method)(X, out=np.empty((len(X), 3)))


@pytest.mark.parametrize("dtype", ["U5", "U9", object, np.int32, np.uint8, bool, float])
def test_labels_of_every_type(rows, dtype):
    X, y = rows
    labels = (y > 1 if dtype is bool else y).astype(dtype)
    model = GaussianNB().fit(X, labels)
    expected = model.predict(X)
    out = np.empty_like(expected)
    assert model.predict(X, out=out) is out
    assert out.dtype == model.classes_.dtype
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.int64, ">f8"])
def test_rows_of_any_type_and_layout(model, rows, kind, order):
    X = np.asarray(rows[0], kind, order=order)
    out = np.empty(len(X), np.int64)
    assert np.array_equal(model.predict(X, out=out), model.predict(X))


def test_a_slice_of_a_larger_array(model, rows):
    X = rows[0]
    labels, table = np.full(500, -1), np.full((500, 3), -1.0)
    model.predict(X, out=labels[50:450])
    model.predict_proba(X, out=table[50:450])
    assert np.array_equal(labels[50:450], model.predict(X))
    assert np.array_equal(table[50:450], model.predict_proba(X))
    for outside in (labels[:50], labels[450:], table[:50], table[450:]):
        assert (outside == -1).all()


def test_far_rows_are_scored_as_without_out(model, rows):
    X = rows[0].copy()
    X[[0, 33, 399]] = [[1e200, 0, 0, 0], [-1e300, 1e300, 0, 0], [0, 0, 0, 1e250]]
    for method in ("predict", *TABLES):
        answer = getattr(model, method)
        expected = answer(X)
        assert np.array_equal(answer(X, out=np.empty_like(expected)), expected)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty(399, np.int64), r"Expected out of int64 \(400,\).* got int64 \(399,\)"),
        (np.empty((400, 1), np.int64), r"Expected out of int64 \(400,\).* got int64 \(400, 1\)"),
        (np.empty(400, np.int32), r"Expected out of int64 \(400,\).* got int32 \(400,\)"),
        (np.empty(400, ">i8"), r"Expected out of int64 \(400,\).* got >i8 \(400,\)"),
        (np.empty(800, np.int64)[::2], r"out is not C-contiguous"),
        (np.broadcast_to(np.int64(0), (400,)), r"out is not C-contiguous"),
        (np.frombuffer(bytes(3200), np.int64), r"out is read-only"),
        (np.frombuffer(bytearray(3201), np.int8)[1:].view(np.int64), r"out is not aligned"),
    ],
)
def test_wrong_labels_are_refused(model, rows, out, message):
    with pytest.raises(ValueError, match=message):
        model.predict(rows[0], out=out)


@pytest.mark.parametrize("method", TABLES)
def test_wrong_tables_are_refused(model, rows, method):
    answer, X = getattr(model, method), rows[0]
    with pytest.raises(
        ValueError, match=r"Expected out of float64 \(400, 3\).* got float64 \(3, 4"
    ):
        answer(X, out=np.empty((3, 400)))
    with pytest.raises(ValueError, match="out is not C-contiguous"):
        answer(X, out=np.empty((3, 400)).T)


@pytest.mark.parametrize("out", [[0] * 400, memoryview(bytearray(3200)), 0, True])
def test_out_has_to_be_an_array(model, rows, out):
    with pytest.raises(TypeError, match=f"Expected out to be an ndarray, got {type(out).__name__}"):
        model.predict(rows[0], out=out)


def test_out_must_not_overlap_the_rows(model):
    X = np.zeros((400, 4))
    for method, out in (
        ("predict", X.reshape(-1)[:400].view(np.int64)),
        ("predict_proba", X.reshape(-1)[100:1300].reshape(400, 3)),
    ):
        with pytest.raises(ValueError, match="out shares memory with X"):
            getattr(model, method)(X, out=out)
    assert not X.any()


def test_an_error_about_rows_comes_as_without_out(model, rows):
    X = rows[0].copy()
    X[37, 1] = np.nan
    with pytest.raises(ValueError, match="row 37, feature 1"):
        model.predict(X, out=np.empty(400, np.int64))
