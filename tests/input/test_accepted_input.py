"""Input that is odd, but good."""

from __future__ import annotations

import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from bad_input import ROWS_OF, SCORING, X0, Y0, fitted, frame, items, thing
from sklearn.naive_bayes import GaussianNB as Reference

import fastgnb
from fastgnb import ClassStats, GaussianNB


def attributes_equal(a, b):
    names = ("theta_", "var_", "class_count_", "class_prior_", "epsilon_")
    return all(np.all(getattr(a, name) == getattr(b, name)) for name in names)


def as_objects(kind):
    return [[kind(int(value)) for value in row] for row in X0]


GOOD_ROWS = {
    "lists": X0.tolist,
    "tuples": lambda: tuple(map(tuple, X0)),
    "list of arrays": lambda: list(X0),
    "memoryview": lambda: memoryview(X0),
    "objects": lambda: X0.astype(object),
    "Decimal in lists": lambda: as_objects(Decimal),
    "Fraction in lists": lambda: as_objects(Fraction),
    "Decimal objects": lambda: np.array(as_objects(Decimal), object),
    "numbers of many types": lambda: [[int(a), np.float32(b), Decimal(int(c))] for a, b, c in X0],
    "a clean mask": lambda: np.ma.array(X0, mask=np.zeros(X0.shape)),
    "no mask": lambda: np.ma.array(X0),
    "float16": lambda: X0.astype(np.float16),
    "long double": lambda: X0.astype(np.longdouble),
    "uint8": lambda: X0.astype(np.uint8),
    "big-endian int16": lambda: X0.astype(">i2"),
    "Fortran int32": lambda: np.asfortranarray(X0.astype(np.int32)),
    "reversed twice": lambda: X0[::-1].copy()[::-1],
    "columns from the right": lambda: X0[:, ::-1].copy()[:, ::-1],
    "one row broadcast in no way": lambda: np.broadcast_to(X0, (6, 3)),
    "read-only": lambda: np.frombuffer(X0.tobytes()).reshape(6, 3),
    "subclass": lambda: X0.view(type("Own", (np.ndarray,), {})),
    "frame": lambda: pd.DataFrame(X0),
    "frame of Int64": lambda: pd.DataFrame(X0).astype("Int64"),
    "frame of arrow integers": lambda: pd.DataFrame(X0).astype("int64[pyarrow]"),
    "frame of categories of numbers": lambda: pd.DataFrame(X0).astype("category"),
    "arrow decimals": lambda: pd.DataFrame(X0).astype(pd.ArrowDtype(pa.decimal128(5, 2))),
    "polars": lambda: pl.DataFrame(dict(zip("abc", X0.T, strict=True))),
    "polars decimals": lambda: pl.DataFrame(
        {c: [Decimal(int(v)) for v in X0[:, j]] for j, c in enumerate("abc")}
    ),
    "polars mixed": lambda: pl.DataFrame(
        {"a": X0[:, 0], "b": X0[:, 1].astype(np.int8), "c": X0[:, 2].astype(np.float32)}
    ),
    "arrow": lambda: pa.table(dict(zip("abc", X0.T, strict=True))),
    "arrow batch": lambda: pa.record_batch(dict(zip("abc", X0.T, strict=True))),
    "columns of tuples": lambda: pd.DataFrame(
        X0, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD_ROWS)
def test_odd_rows_that_are_good(name):
    make = GOOD_ROWS[name]
    want = fitted(GaussianNB)
    models = [
        GaussianNB().fit(make(), Y0),
        GaussianNB().partial_fit(make(), Y0, [0, 1]),
        GaussianNB().fit_stats(ClassStats.from_rows(make(), Y0)),
    ]
    for model in models:
        assert attributes_equal(model, want)
    for method in SCORING[:-1]:
        got = ROWS_OF[method](models[0], make(), Y0)
        assert (got == ROWS_OF[method](want, X0, Y0)).all(), method
        assert type(got) is np.ndarray


def test_text_that_is_a_number_is_one_where_scikit_learn_says_so():
    """In objects only. `ClassStats.from_rows` refuses it."""
    for rows in (thing("5"), thing(b"5"), frame(b=list("157843"))):
        ours, theirs = GaussianNB().fit(rows, Y0), Reference().fit(rows, Y0)
        assert np.allclose(ours.theta_, theirs.theta_, rtol=1e-14)
        assert ours.theta_[1, 1] == np.mean([5, 8, 3])


@pytest.mark.parametrize("big", [2**63, 2**64, -(2**63) - 1, 10**30, 2**1023])
def test_whole_numbers_that_no_integer_type_holds(big):
    rows = [[big, 1], [big, 2], [0, 3], [0, 5]]
    if big == 2**1023:
        with pytest.raises(ValueError, match="overflows float64"):
            GaussianNB().fit(rows, [0, 0, 1, 1])
        assert ClassStats.from_rows(rows[:2], [0, 0]).mean[0, 0] == float(big)
        return
    for given in (rows, np.array(rows, object), [[Fraction(v) for v in row] for row in rows]):
        model = GaussianNB().fit(given, [0, 0, 1, 1])
        assert model.theta_.tolist() == [[float(big), 1.5], [0.0, 4.0]]
        assert model.predict(given).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, object])
def test_masked_values_are_missing(dtype):
    """What lies under a mask is never looked at, not even an infinity."""
    rows = np.ma.array(X0.astype(dtype), mask=X0 > 6)
    rows.data[X0 > 6] = np.inf if dtype in (float, np.float32) else 77
    kept = rows.data.tobytes()
    holes = np.where(X0 > 6, np.nan, X0)
    want = GaussianNB(missing="skip").fit(holes, Y0)
    for model in (
        GaussianNB(missing="skip").fit(rows, Y0),
        GaussianNB(missing="skip").partial_fit(rows, Y0, [0, 1]),
        GaussianNB(missing="skip").fit_stats(ClassStats.from_rows(rows, Y0, missing="skip")),
    ):
        assert attributes_equal(model, want)
        assert (model.predict_joint_log_proba(rows) == want.predict_joint_log_proba(holes)).all()
    assert rows.data.tobytes() == kept


def test_missing_objects_are_missing_to_statistics():
    """pandas' NA as an object among others, which scikit-learn cannot convert."""
    rows = frame(b=pd.Series([1, pd.NA, 3, 4, None, 6], dtype=object))
    stats = ClassStats.from_rows(rows, Y0, missing="skip")
    assert stats.feature_count.tolist() == [[3, 2, 3], [3, 2, 3]]
    assert stats.mean[:, 1].tolist() == [2.0, 5.0]


GOOD_LABELS = {
    "bool": ([False, True] * 3, [False, True]),
    "whole floats": ([0.0, 1.0] * 3, [0, 1]),
    "objects of numbers": (np.array([0, 1] * 3, object), [0, 1]),
    "truth and numbers": (items(*[False, 1] * 3), [0, 1]),
    "NumPy numbers": ([np.int8(0), np.int64(1)] * 3, [0, 1]),
    "0-d arrays": ([np.array(0), np.array(1)] * 3, [0, 1]),
    "range": (range(6), [0, 1, 2, 3, 4, 5]),
    "clean mask": (np.ma.array(Y0), [0, 1]),
    "Index": (pd.Index(Y0), [0, 1]),
    "sparse Series": (pd.Series(pd.arrays.SparseArray(Y0)), [0, 1]),
    "Int64": (pd.Series(Y0, dtype="Int64"), [0, 1]),
    "array of Int64": (pd.array(Y0, "Int64"), [0, 1]),
    "arrow Series": (pd.Series(Y0, dtype="int64[pyarrow]"), [0, 1]),
    "misindexed Series": (pd.Series(Y0, index=[5, 4, 3, 2, 1, 0]), [0, 1]),
    "arrow words": (pd.Series(["b", "a"] * 3, dtype="string[pyarrow]"), ["a", "b"]),
    "2**63": ([2**63, 1] * 3, [1, 2**63]),
    "2**63 - 1": ([2**63 - 1, 2**63 - 2] * 3, [2**63 - 2, 2**63 - 1]),
    "large floats": ([1e300, -1e300] * 3, [-1e300, 1e300]),
    "NUL at the end": (["a\0", "a"] * 3, ["a", "a\0"]),
    "lone surrogate": (["\ud800", "b"] * 3, ["b", "\ud800"]),
    "empty words": (["", "b"] * 3, ["", "b"]),
    "long words": (["x" * 500 + "a", "x" * 500 + "b"] * 3, ["x" * 500 + "a", "x" * 500 + "b"]),
}


@pytest.mark.parametrize("name", GOOD_LABELS)
def test_odd_labels_that_are_good(name):
    y, classes = GOOD_LABELS[name]
    model = GaussianNB().fit(X0, y)
    assert model.classes_.tolist() == classes
    assert model.class_count_.tolist() == [6 / len(classes)] * len(classes)
    assert model.partial_fit(X0, y).class_count_.tolist() == [12 / len(classes)] * len(classes)
    assert set(model.predict(X0).tolist()) <= set(classes)
    stats = ClassStats.from_rows(X0, y)
    assert stats.classes.tolist() == classes
    assert (stats.update(X0, y).mean == model.theta_).all()


class Word(str, enum.Enum):  # noqa: UP042
    """Text to which NumPy gives the name, cut to the length of the text."""

    FIRST = "a"
    SECOND = "b"


class Digit(enum.IntEnum):
    ONE = 1
    TWO = 2


def test_enumerations_of_text_and_of_numbers_are_labels(tmp_path):
    for members, values in (
        ([Word.FIRST, Word.SECOND] * 3, ["a", "b"]),
        ([Digit.ONE, Digit.TWO] * 3, [1, 2]),
    ):
        model = GaussianNB().fit(X0, members)
        assert model.classes_.tolist() == values
        fastgnb.save(model, tmp_path / "model")
        loaded = fastgnb.load(tmp_path / "model")
        assert loaded.classes_.tolist() == values
        assert loaded.predict(X0).tolist() == model.predict(X0).tolist()


def test_a_second_call_may_declare_the_classes_in_another_type():
    """As scikit-learn: by value."""
    for first, *others in (
        (
            [0, 1],
            [1, 0, 1],
            [0.0, 1.0],
            [False, True],
            np.array([1, 0], np.uint8),
            pd.Index([0, 1]),
        ),
        (["a", "b"], np.array(["b", "a"], object), pd.Series(["a", "b"]), pl.Series(["a", "b"])),
    ):
        y = np.array(first)[Y0]
        model = GaussianNB().partial_fit(X0, y, first)
        for later in others:
            model.partial_fit(X0, y, later)
        assert model.class_count_.tolist() == [3 * (1 + len(others))] * 2
        assert model.classes_.tolist() == first


GOOD_WEIGHTS = {
    "number": (2, [2] * 6),
    "NumPy number": (np.float32(2), [2] * 6),
    "0-d array": (np.array(2), [2] * 6),
    "fraction": (Fraction(1, 2), [0.5] * 6),
    "bool": ([True, False] * 3, [1, 0] * 3),
    "int8": (np.array([1, 2] * 3, np.int8), [1, 2] * 3),
    "uint64": (np.array([2**63, 1] * 3, np.uint64), [2.0**63, 1] * 3),
    "float16": (np.array([1, 2] * 3, np.float16), [1, 2] * 3),
    "big-endian": (np.array([1, 2] * 3, ">f8"), [1, 2] * 3),
    "every second": (np.array([1, 9, 2, 9] * 3)[::2], [1, 2] * 3),
    "decimals": ([Decimal(1), Decimal(2)] * 3, [1, 2] * 3),
    "tuple": ((1, 2) * 3, [1, 2] * 3),
    "clean mask": (np.ma.array([1, 2] * 3), [1, 2] * 3),
    "Series": (pd.Series([1.0, 2.0] * 3, index=range(6, 0, -1)), [1, 2] * 3),
    "Int64": (pd.Series([1, 2] * 3, dtype="Int64"), [1, 2] * 3),
    "polars": (pl.Series([1, 2] * 3), [1, 2] * 3),
    "arrow": (pa.array([1.0, 2.0] * 3), [1, 2] * 3),
    "-0.0": ([1, -0.0] * 3, [1, 0] * 3),
    "tiny": ([5e-324, 5e-324] * 3, [5e-324] * 6),
    "large": ([1e307, 1e307] * 3, [1e307] * 6),
}


@pytest.mark.parametrize("name", GOOD_WEIGHTS)
def test_odd_weights_that_are_good(name):
    weight, plain = GOOD_WEIGHTS[name]
    y = [0, 0, 1, 1, 0, 1]
    want = GaussianNB().fit(X0, y, np.array(plain, float))
    for model in (
        GaussianNB().fit(X0, y, weight),
        GaussianNB().partial_fit(X0, y, [0, 1], weight),
        GaussianNB().fit_stats(ClassStats.from_rows(X0, y, weight)),
    ):
        assert attributes_equal(model, want)
    assert np.isfinite(want.predict_proba(X0)).all()


GOOD_PRIORS = {
    "tuple": (0.25, 0.75),
    "ints": [0, 1],
    "bools": [True, False],
    "Decimal": [Decimal("0.25"), Decimal("0.75")],
    "Fraction": [Fraction(1, 4), Fraction(3, 4)],
    "text": ["0.25", "0.75"],
    "Series": pd.Series([0.25, 0.75], index=["u", "v"]),
    "polars": pl.Series([0.25, 0.75]),
    "float32": np.array([0.25, 0.75], np.float32),
    "clean mask": np.ma.array([0.25, 0.75]),
}


@pytest.mark.parametrize("name", GOOD_PRIORS)
def test_odd_priors_that_are_good(name):
    priors = GOOD_PRIORS[name]
    model = GaussianNB(priors=priors).fit(X0, Y0)
    assert model.class_prior_.tolist() == [float(value) for value in priors]
    assert model.priors is priors


@pytest.mark.parametrize(
    "value", [True, 0, -0.0, Fraction(1, 8), np.float32(0.5), np.int64(2), np.float16(0.25), 1e300]
)
def test_odd_smoothing_that_is_good(value):
    model = GaussianNB(var_smoothing=value).fit(X0, Y0)
    assert model.epsilon_ == float(value) * X0.var(axis=0).max()
    assert np.isfinite(model.predict_proba(X0)).all()


def test_one_row_one_class_one_feature():
    for X, y in (([[3.0]], ["a"]), ([[3.0, 4.0]], [7]), ([[3.0]] * 5, [True] * 5)):
        model = GaussianNB().fit(X, y)
        assert model.theta_.tolist() == X[:1]
        assert (model.var_ == 1e-9).all()  # nothing varies: var_smoothing itself
        for rows in (X, np.asarray(X) + 1e9, np.asarray(X) * -1e300):
            assert model.predict_proba(rows).tolist() == [[1.0]] * len(X)
            assert model.predict_log_proba(rows).tolist() == [[0.0]] * len(X)
            assert model.predict(rows).tolist() == [y[0]] * len(X)
