"""One rule of types for labels, classes and categories: `input.label_types`."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastgnb
from fastgnb import ClassStats, GaussianNB, MixedNB, MixedStats
from fastgnb.cli import main
from fastgnb.estimators.selection import StatsGridSearchCV, cross_validate
from fastgnb.input.label_types import exact_numbers, kind_of, positions, union

BIG = 2**53
needs_string_dtype = pytest.mark.skipif(
    not hasattr(np.dtypes, "StringDType"), reason="NumPy 2's text"
)


def arrays(rng):
    """Sorted distinct labels of every type, of one kind or the other."""
    numbers = [np.unique(rng.integers(0, 9, n)) for n in (0, 1, 4, 9)]
    for values in numbers:
        for dtype in ("i1", "i8", "u1", "u8", "f2", "f4", "f8", bool):
            yield np.unique(values.astype(dtype))
        for dtype in ("U1", "U7", object):
            yield np.unique(values.astype("U1")).astype(dtype)


@pytest.mark.promise("labels")
def test_union_is_that_of_python(rng):
    """Positions, order and equality are those of Python's own sets, whatever the types."""
    for a, b in itertools.product(arrays(rng), repeat=2):
        if None not in (kind_of(a), kind_of(b)) and kind_of(a) != kind_of(b):
            with pytest.raises(TypeError, match="cannot be combined"):
                union(a, b, "Classes")
            assert positions(b, a, absent=-7).tolist() == [-7] * len(b)
            continue
        both = union(a, b, "Classes")
        assert both.labels.tolist() == sorted({*a.tolist(), *b.tolist()})
        assert both.labels[both.at_a].tolist() == a.tolist()
        assert both.labels[both.at_b].tolist() == b.tolist()
        place = {label: i for i, label in enumerate(a.tolist())}
        assert positions(b, a, absent=-7).tolist() == [place.get(v, -7) for v in b.tolist()]
        if len(a) and set(b.tolist()) <= set(a.tolist()):
            assert both.labels is a


TYPES = [
    # what was there, what comes, the type and the labels of both
    ([1, 2], [1.0, 3.0], "int64", [1, 2, 3]),
    ([1.0, 2.0], [3], "float64", [1.0, 2.0, 3.0]),
    (np.int8([1]), [300], "int64", [1, 300]),
    (np.uint8([200]), np.int8([-1]), "int64", [-1, 200]),
    ([1], np.uint64([2]), "int64", [1, 2]),
    ([BIG + 1], np.uint64([2**63 + 1]), "uint64", [BIG + 1, 2**63 + 1]),
    ([1.0], [BIG + 1], "int64", [1, BIG + 1]),
    (np.float32([1]), [2**24 + 1], "int64", [1, 2**24 + 1]),
    ([True], [False, 2], "int64", [False, True, 2]),
    ([0, 1], [True], "int64", [0, 1]),
    ([False, True], [0, 1], "bool", [False, True]),
    (["a"], ["bcd"], "<U3", ["a", "bcd"]),
    (["a"], np.array(["b"], object), "object", ["a", "b"]),
    (["a", "b"], np.array(["b"], object), "<U1", ["a", "b"]),
]


@pytest.mark.parametrize(("first", "more", "dtype", "labels"), TYPES, ids=str)
def test_the_type_is_the_first_that_holds_all_exactly(first, more, dtype, labels):
    X = [[0.0]]
    a, b = (ClassStats.from_rows(X * len(y), y) for y in (first, more))
    classes = (a + b).classes
    assert classes.dtype == dtype
    assert classes.tolist() == labels
    model = GaussianNB().fit(X * len(first), first).merge(GaussianNB().fit(X * len(more), more))
    assert model.classes_.dtype == dtype
    assert model.classes_.tolist() == labels
    assert model.class_count_.sum() == len(first) + len(more)


NO_TYPE = [
    ([-1], np.uint64([2**63]), "int64 and uint64 cannot be combined: no type holds all of -1 and"),
    ([BIG + 1], [float(BIG)], "int64 and float64 cannot .* exactly. Make text of both"),
    ([BIG], [float(BIG)], "int64 and float64 cannot"),
    ([2**60], [1e300], "int64 and float64 cannot"),
    (
        [1],
        ["1"],
        "int64 and <U1 cannot be combined: numbers such as 1 and text such as '1' are nev",
    ),
    (["1"], [True], "<U1 and bool cannot be combined: text such as '1' and numbers such as True"),
    (np.array(["1"], object), [1.0], "Convert what comes to the type of what was learned"),
]


@pytest.mark.promise("labels")
@pytest.mark.parametrize(("first", "more", "message"), NO_TYPE, ids=str)
def test_labels_that_no_type_holds(first, more, message):
    a, b = (ClassStats.from_rows([[0.0]], y) for y in (first, more))
    with pytest.raises(TypeError, match=message):
        a + b
    with pytest.raises(TypeError, match=message):
        a - b
    one, other = (GaussianNB().fit([[0.0]], y) for y in (first, more))
    with pytest.raises(TypeError, match=message):
        one.merge(other)
    assert one.classes_.tolist() == a.classes.tolist()


@pytest.mark.parametrize(
    ("items", "dtype", "values"),
    [
        ([1, 2.0], "float64", [1.0, 2.0]),
        ([BIG, 1.0], "int64", [BIG, 1]),
        ([BIG + 1, 1.0], "int64", [BIG + 1, 1]),
        ([np.uint64(2**63 + 1), np.int64(2)], "uint64", [2**63 + 1, 2]),
        ([np.int8(-128), np.uint8(255)], "int16", [-128, 255]),
        ([False, 2], "int64", [0, 2]),
        ([True, False], "bool", [True, False]),
        ([1e300, 1.0], "float64", [1e300, 1.0]),
    ],
)
def test_objects_of_several_types_of_numbers(items, dtype, values):
    y = np.array(items, object)
    assert exact_numbers(items).dtype == dtype
    for labels in (y, list(items), tuple(items)):
        model = GaussianNB().fit([[0.0], [1.0]], labels)
        assert model.classes_.tolist() == sorted(values)


@pytest.mark.parametrize("items", [[2**63, -1], [2**64, 1], [BIG + 1, 1e300], [BIG + 1, 0.5]])
def test_objects_that_no_type_holds(items):
    with pytest.raises(ValueError, match=r"cannot be held exactly by one numeric type\. Make text"):
        GaussianNB().fit([[0.0], [1.0]], np.array(items, object))


LATER = [np.int8, np.uint64, np.float32, float, object, "Int64", "category", "int64[pyarrow]"]


@pytest.mark.parametrize("dtype", LATER)
def test_a_stream_keeps_the_type_of_its_first_labels(rng, dtype):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    later = pd.Series(y).astype(dtype)
    model = GaussianNB().fit(X, y)
    wanted = GaussianNB().fit(np.vstack([X, X]), np.hstack([y, y]))
    model.partial_fit(X, later)
    assert model.classes_.dtype == np.int64
    assert model.predict(X).dtype == np.int64
    assert model.class_count_.tolist() == wanted.class_count_.tolist()
    declared = GaussianNB().partial_fit(X, later, classes=[0, 1, 2])
    assert declared.classes_.dtype == np.int64
    assert declared.score(X, later.astype(float)) == model.score(X, y)
    assert not (declared.stats_ - model.stats_.from_rows(X, y)).count.any()


@needs_string_dtype
@pytest.mark.parametrize("first", ["T", "U", "O"])
def test_text_of_any_length_is_text(rng, tmp_path, first):
    X, y = rng.normal(size=(60, 2)), np.array(["no", "yes", "a longer one"] * 20)
    types = {"T": np.dtypes.StringDType(), "U": y.dtype, "O": object}
    wanted = GaussianNB().fit(np.vstack([X, X]), np.hstack([y, y]))
    for later in types.values():
        model = GaussianNB().fit(X, y.astype(types[first])).partial_fit(X, y.astype(later))
        assert model.predict(X).tolist() == wanted.predict(X).tolist()
        assert model.class_count_.tolist() == [40] * 3
        # scikit-learn's metrics do not take NumPy's text of any length
        assert model.score(X, y) == wanted.score(X, y)
        fastgnb.save(model, tmp_path / "m")
        again = fastgnb.load(tmp_path / "m")
        assert again.classes_.dtype == model.classes_.dtype
        column = y[:, None]
        mixed = MixedNB(categorical_features=[0]).fit(column.astype(types[first]), y)
        mixed.partial_fit(column.astype(later), y.astype(later))
        assert mixed.categories_[0].tolist() == ["a longer one", "no", "yes"]
        assert mixed.category_count_[0].sum() == 120
        assert mixed.predict(column.astype(later)).tolist() == y.tolist()


@needs_string_dtype
def test_missing_text_of_any_length():
    na = np.dtypes.StringDType(na_object=np.nan)
    y = np.array(["a", np.nan], na)
    with pytest.raises(ValueError, match="Input y contains NaN or None: nan"):
        GaussianNB().fit([[0.0], [1.0]], y)
    model = MixedNB(categorical_features=[0], missing="skip").fit(y[:, None], [0, 1])
    assert model.category_count_[0].tolist() == [[1.0], [0.0]]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        MixedNB(categorical_features=[0]).fit(y[:, None], [0, 1])


@pytest.mark.parametrize(
    "y",
    [
        pl.Series([BIG, BIG + 1, None], dtype=pl.Int64),
        pl.Series([BIG, BIG + 1, None], dtype=pl.UInt64),
        pd.array([BIG, BIG + 1, None], "Int64"),
        pd.Series([BIG, BIG + 1, None], dtype="uint64[pyarrow]"),
        pa.array([BIG, BIG + 1, None]),
        pa.chunked_array([[BIG, BIG + 1], [None]]),
        np.array([BIG, BIG + 1, None], object),
    ],
    ids=lambda y: f"{type(y).__module__} {getattr(y, 'dtype', '')}",
)
def test_wide_labels_beside_a_null(y):
    """A null is an error that says so, and without it the labels are two."""
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match="Input y contains NaN"):
        GaussianNB().fit(X, y)
    assert GaussianNB().fit(X[:2], y[:2]).classes_.tolist() == [BIG, BIG + 1]


def test_too_many_labels_are_an_error_at_once(monkeypatch):
    monkeypatch.setattr("fastgnb.stats.checks.MOST_BYTES", 8 * 3 * 2 * 99)
    X = np.zeros((100, 2))
    GaussianNB().fit(X[:99], np.arange(99))
    message = r"Statistics of 100 classes and 2 features take 4800 bytes.*limit of 4752.*identifier"
    with pytest.raises(ValueError, match=message):
        GaussianNB().fit(X, np.arange(100))
    parts = [ClassStats.from_rows(X[a : a + 50], np.arange(a, a + 50)) for a in (0, 50)]
    with pytest.raises(ValueError, match=message):
        parts[0] + parts[1]


# --- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("later", ["int8", "uint64", "float64", "float32"])
def test_files_keep_the_type_of_the_model(tmp_path, later):
    y = np.arange(30) % 3
    frame = pd.DataFrame({"a": y + np.arange(30) / 99, "y": y})
    frame.to_parquet(tmp_path / "first.parquet")
    frame.astype({"y": later}).to_parquet(tmp_path / "later.parquet")
    model, out = str(tmp_path / "m.fgnb"), tmp_path / "o.parquet"
    for argv in (
        ("fit", tmp_path / "first.parquet", "--target", "y", "--model", model),
        ("update", model, tmp_path / "later.parquet"),
        ("predict", model, tmp_path / "later.parquet", "--output", out),
        ("evaluate", model, tmp_path / "later.parquet", "--target", "y", "--json",
         tmp_path / "e.json"),
    ):  # fmt: skip
        assert main([*map(str, argv), "--quiet"]) == 0
    loaded = fastgnb.load(model)
    assert loaded.classes_.dtype == np.int64
    assert loaded.class_count_.tolist() == [20] * 3
    assert pq.read_table(out).schema.field("prediction").type == pa.int64()
    assert '"labels": [\n  0,\n  1,\n  2\n ]' in (tmp_path / "e.json").read_text()


def test_statistics_of_categories_have_the_same_rule():
    def of(values, dtype):
        X = np.array(values, dtype)[:, None]
        return MixedStats.from_rows(X, np.zeros(len(X), int), categorical_features=[0])

    both = of([BIG + 1, 3], np.int64) + of([2**63 + 1, 3], np.uint64)
    assert both.categories[0].tolist() == [3, BIG + 1, 2**63 + 1]
    assert both.counts[0].tolist() == [[2.0, 1.0, 1.0]]
    with pytest.raises(TypeError, match="Categories of feature 0 of types int64 and uint64 cannot"):
        of([-1], np.int64) + of([2**63], np.uint64)
    with pytest.raises(TypeError, match="Categories of feature 0 of types int64 and object cannot"):
        of([1], np.int64) - of(["1"], object)
    left = both - of([3.0], np.float64)
    assert left.counts[0].tolist() == [[1.0, 1.0, 1.0]]


@needs_string_dtype
def test_scikit_learn_does_not_meet_text_of_any_length(rng):
    """Its metrics and splitters fail on it, so that score and search give them objects."""
    X = rng.normal(size=(60, 2))
    y = np.array(["no", "yes", "a longer one"] * 20)
    new = y.astype(np.dtypes.StringDType())
    model = GaussianNB().fit(X, new)
    assert model.score(X, new) == model.score(X, y)
    assert model.score(X, new, np.arange(60)) == model.score(X, y, np.arange(60))
    ours = cross_validate(GaussianNB(), X, new, cv=3)["test_score"]
    assert ours.tolist() == cross_validate(GaussianNB(), X, y, cv=3)["test_score"].tolist()
    search = StatsGridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=3)
    assert search.fit(X, new).best_score_ == search.fit(X, y).best_score_


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "int64[pyarrow]", object])
def test_a_column_of_wide_labels_stays_exact(dtype):
    """Of a frame with one column NumPy or scikit-learn would make floats."""
    y = pd.DataFrame({"y": pd.array([BIG, BIG + 1, BIG + 2], dtype)})
    model = GaussianNB().fit([[0.0], [1.0], [2.0]], y)
    assert model.classes_.tolist() == [BIG, BIG + 1, BIG + 2]
