"""ONNX graphs answer as the library does, in onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from engines import engine_module
from members import CASES, SHAPES, with_categories
from numpy.testing import assert_allclose

import fastgnb
from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB

pytestmark = pytest.mark.engine

TOLERANCE = {"float32": 1e-6, "float64": 1e-12}
TYPES = list(TOLERANCE)


@pytest.fixture(autouse=True, scope="module")
def onnx():
    return engine_module("onnx")


def session_of(proto):
    runtime = engine_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 2
    data = proto.SerializeToString()
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def feeds_of(session, X):
    """Rows as the inputs of a graph: one array, or a column for each feature."""
    inputs = session.get_inputs()
    if [each.name for each in inputs] == ["X"]:
        return {"X": X}
    kinds = {
        "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64,
        "tensor(bool)": bool, "tensor(string)": object,
    }  # fmt: skip
    return {
        each.name: np.array(X[:, [j]].tolist(), kinds[each.type]) for j, each in enumerate(inputs)
    }


def run(model, X, dtype="float64"):
    """Labels and probabilities by onnxruntime, in batches."""
    session = session_of(model.to_onnx(dtype))
    parts = [
        session.run(["label", "probabilities"], feeds_of(session, X[at : at + 10_000]))
        for at in range(0, max(1, len(X)), 10_000)
    ]
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def rows_with_labels(n, d=4, k=3, seed=3):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, k, n)
    centres = draw.normal(size=(k, d))
    return with_categories(draw.normal(size=(n, d)) + centres[y]), y


def assert_same(model, X, dtype="float64"):
    labels, proba = run(model, X, dtype)
    assert labels.tolist() == model.predict(X).tolist()
    assert proba.dtype == dtype
    assert_allclose(proba, model.predict_proba(X), rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.promise("exports")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", CASES)
def test_every_member(name, dtype):
    X, y = rows_with_labels(2000)
    X = X.astype(dtype)
    model = CASES[name].make().fit(X, y)
    if CASES[name].options.get("missing") == "skip":
        X[::7, 0] = np.nan
    assert_same(model, X, dtype)


@pytest.mark.promise("exports")
@pytest.mark.parametrize("dtype", TYPES)
def test_100_000_rows(dtype):
    X, y = rows_with_labels(100_000, d=6, k=4, seed=8)
    X = X.round(3).astype(dtype)
    for case in SHAPES.values():
        assert_same(case.make().fit(X[:5000], y[:5000]), X, dtype)


def test_names_types_and_metadata(onnx):
    X, y = rows_with_labels(60)
    proto = GaussianNB().fit(X, np.array(["a", "b", "c"])[y]).to_onnx()
    session = session_of(proto)
    (given,) = session.get_inputs()
    assert (given.name, given.type, given.shape[1]) == ("X", "tensor(float)", 4)
    found = [(each.name, each.type, each.shape[1:]) for each in session.get_outputs()]
    assert found == [("label", "tensor(string)", []), ("probabilities", "tensor(float)", [3])]
    facts = {each.key: each.value for each in proto.metadata_props}
    assert facts == {"fastgnb_version": fastgnb.__version__, "fastgnb_member": "GaussianNB"}
    assert (proto.producer_name, proto.producer_version) == ("fastgnb", fastgnb.__version__)
    onnx.checker.check_model(proto, full_check=True)


def test_names_and_types_are_those_of_skl2onnx():
    convert = engine_module("skl2onnx").to_onnx
    X, y = rows_with_labels(60)
    for labels in (y, y == 1, np.array(["a", "b", "c"])[y]):
        model = GaussianNB().fit(X, labels)
        theirs = convert(model.to_sklearn(), X[:1], options={"zipmap": False})
        sessions = [session_of(each) for each in (model.to_onnx("float64"), theirs)]
        names = [
            [(each.name, each.type) for each in (*session.get_inputs(), *session.get_outputs())]
            for session in sessions
        ]
        assert names[0] == names[1]
        ours, others = (session.run(None, {"X": X}) for session in sessions)
        assert ours[0].tolist() == others[0].tolist()
        assert_allclose(ours[1], others[1], atol=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "labels", [["b", "a", "größe"], [-(2**63), 5, 2**63 - 1], [7.0, 8.0, 9.0]], ids=str
)
def test_labels(labels, dtype):
    X, y = rows_with_labels(200)
    X = X.astype(dtype)
    y[:3] = [0, 1, 2]
    assert_same(GaussianNB().fit(X, np.array(labels)[y]), X, dtype)


def test_booleans_become_0_and_1():
    X, y = rows_with_labels(200)
    labels, _ = run(model := GaussianNB().fit(X, y == 1), X)
    assert labels.dtype == np.int64
    assert (labels == model.predict(X)).all()


def test_far_rows_go_to_the_nearest_class():
    draw = np.random.default_rng(1)
    X, y = rows_with_labels(200)
    far = X.copy()
    far[::2] = draw.normal(size=(100, 4)) * 10.0 ** draw.integers(140, 300, (100, 1))
    for name in SHAPES:
        if not CASES[name].has_categories:
            assert_same(CASES[name].make().fit(X, y), far)
    small = 1e-25  # distances in standard deviations overflow before they are squared
    for plain in (GaussianNB(), GaussianBayes(), PCAGaussianNB()):
        assert_same(plain.fit(X * small, y), far)
    model = GaussianNB(missing="skip", priors=[0, 0.5, 0.5]).fit(X, y)
    far[::3, 1] = np.nan
    assert_same(model, far)
    mixed = MixedNB(categorical_features=[2]).fit(X, y)
    far[:, 2] = 1
    far[::3, 1] = 0
    assert_same(mixed, far)


def table_with_categories(n=300):
    X, y = rows_with_labels(n)
    draw = np.random.default_rng(1)
    table = np.empty((n, 5), object)
    table[:, :2] = X[:, :2]
    table[:, 2] = np.array(["red", "it's", "grün", "", "x"], object)[
        (draw.integers(0, 4, n) + y) % 5
    ]
    table[:, 3] = draw.integers(-2, 3, n) * 2**60
    table[:, 4] = draw.random(n) < 0.3 + 0.2 * y
    return table, y


@pytest.mark.parametrize("dtype", TYPES)
def test_categories_of_text_numbers_and_booleans(dtype):
    table, y = table_with_categories()
    table[:, :2] = table[:, :2].astype(dtype)
    model = MixedNB(categorical_features=[2, 3, 4]).fit(table, y)
    table[:3, 2], table[2:5, 3] = "never seen", 77
    session = session_of(model.to_onnx(dtype))
    names = [(each.name, each.type, each.shape[1]) for each in session.get_inputs()]
    number = "tensor(float)" if dtype == "float32" else "tensor(double)"
    assert names == [
        ("x0", number, 1), ("x1", number, 1), ("x2", "tensor(string)", 1),
        ("x3", "tensor(int64)", 1), ("x4", "tensor(bool)", 1),
    ]  # fmt: skip
    labels, proba = session.run(None, feeds_of(session, table))
    assert labels.tolist() == model.predict(table).tolist()
    assert_allclose(proba, model.predict_proba(table), rtol=0, atol=TOLERANCE[dtype])


def test_inputs_have_the_names_of_features():
    pandas = pytest.importorskip("pandas")
    table, y = table_with_categories()
    frame = pandas.DataFrame({"width, cm": table[:, 0].astype(float), "colour": table[:, 2]})
    model = MixedNB(categorical_features=["colour"]).fit(frame, y)
    session = session_of(model.to_onnx("float64"))
    feeds = {name: frame[[name]].to_numpy() for name in frame}
    assert session.run(["label"], feeds)[0].tolist() == model.predict(frame).tolist()


def test_categories_only():
    table, y = table_with_categories()
    model = MixedNB(categorical_features=[0, 1]).fit(table[:, 2:4], y)
    assert_same(model, table[:, 2:4])


def test_categories_that_all_classes_exclude():
    draw = np.random.default_rng(4)
    X = np.column_stack([draw.normal(size=300), draw.integers(0, 6, (300, 3))])
    y = draw.integers(0, 3, 300)
    X[:, 1] = np.where(y == 0, X[:, 1] // 2, X[:, 1])
    X[:, 2] = np.where(y == 1, 3 + X[:, 2] // 2, X[:, 2])
    X[:, 3] = np.where(y == 2, X[:, 3] // 3, X[:, 3])
    for options in ({}, {"priors": [0, 0.5, 0.5]}):
        model = MixedNB(categorical_features=[1, 2, 3], alpha=0, **options).fit(X, y)
        Z = X.copy()
        Z[:, 1:] = draw.integers(-1, 7, (300, 3))
        Z[:50, 0] = 1e200
        assert np.isneginf(model.predict_joint_log_proba(Z)).all(axis=1).sum() > 10
        assert_same(model, Z)


def test_missing_text_is_empty():
    table, y = table_with_categories()
    table[:, 2] = np.where(table[:, 2] == "", "y", table[:, 2])
    model = MixedNB(categorical_features=[2, 3, 4], missing="skip").fit(table, y)
    gaps = table.copy()
    gaps[:9, 2], gaps[5:12, 0] = None, np.nan
    session = session_of(model.to_onnx("float64"))
    feeds = feeds_of(session, np.where(gaps == None, "", gaps))  # noqa: E711
    labels, proba = session.run(None, feeds)
    assert labels.tolist() == model.predict(gaps).tolist()
    assert_allclose(proba, model.predict_proba(gaps), rtol=0, atol=1e-12)


def test_a_feature_without_categories():
    table = np.array([[1.0, np.nan], [2.0, np.nan], [5.0, np.nan]], object)
    model = MixedNB(categorical_features=[1], missing="skip").fit(table, [0, 0, 1])
    assert_same(model, np.array([[1.0, "a"], [2.0, "b"], [5.0, "c"]], object))


def test_classes_that_never_win_and_one_class():
    X, y = rows_with_labels(200)
    for model in (
        GaussianNB(priors=[0, 0.4, 0.6]),
        GaussianBayes(priors=[0.4, 0, 0.6]),
        PCAGaussianNB(rotation="class", priors=[0, 0, 1]),
    ):
        assert_same(model.fit(X, y), X)
    assert_same(GaussianNB().fit(X, np.zeros(200, int)), X)
    assert_same(GaussianNB().partial_fit(X, y, classes=[0, 1, 2, 7]), X)


def test_ties_go_to_the_first_class():
    X, y = rows_with_labels(200)
    model = GaussianNB(priors=[0.2, 0.4, 0.4]).fit(X, y)
    model.theta_[2], model.var_[2] = model.theta_[1], model.var_[1]
    assert set(run(model, X)[0]) == {0, 1}
    assert_same(model, X)


def test_rows_that_predict_refuses_have_no_probabilities():
    X, y = rows_with_labels(60)
    bad = X.copy()
    bad[3, 1], bad[4, 0] = np.nan, np.inf
    for model in (GaussianNB(), GaussianBayes(), PCAGaussianNB()):
        _, proba = run(model.fit(X, y), bad)
        assert np.isnan(proba[3:5]).all()
        assert np.isfinite(np.delete(proba, [3, 4], axis=0)).all()


def test_no_rows():
    X, y = rows_with_labels(60)
    for model in (GaussianNB(), GaussianBayes()):
        labels, proba = run(model.fit(X, y), X[:0])
        assert labels.shape == (0,)
        assert proba.shape == (0, 3)


def test_what_has_no_type_in_onnx():
    X, y = rows_with_labels(60, k=2)
    model = GaussianNB().fit(X, np.array([5, 2**64 - 1], np.uint64)[y])
    with pytest.raises(ValueError, match="Labels must be int64 in ONNX, got 18446744073709551615"):
        model.to_onnx()
    wide = X.astype(object)
    wide[:, 1] = np.array([5, 2**64 - 1], object)[y]
    mixed = MixedNB(categorical_features=[1]).fit(wide, y)
    with pytest.raises(ValueError, match="Categories of 'x1' must be int64 in ONNX"):
        mixed.to_onnx()
    with pytest.raises(
        ValueError, match=r"Expected a dtype of \['float32', 'float64'\], got 'int8'"
    ):
        GaussianNB().fit(X, y).to_onnx("int8")
