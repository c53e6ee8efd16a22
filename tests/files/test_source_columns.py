"""Which columns are read, and what their values become."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from source_rows import FORMATS, read
from table_files import write

from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source

# ------------------------------------------------------------------ which columns


@pytest.mark.parametrize("ending", FORMATS)
def test_any_column_name_works(tmp_path, ending):
    names = [
        "a b",
        "c,d",
        'say "x"',
        "new\nline",
        "dot.ted",
        "x[0]",
        ".start",
        "é",
        "'",
        "a",
        "a.b",
    ]
    data = pa.table({name: [float(i), -1.0] for i, name in enumerate(names)})
    path = write(data, tmp_path / f"names.{ending}")
    assert open_source([path]).features == tuple(names)
    assert read(path)[0][0].tolist() == list(range(len(names)))
    for i, name in enumerate(names):
        X, _, _, kept = read(path, ColumnRoles(features=(name,), keep=(name,)))
        assert X[0].tolist() == [i]
        assert [float(value) for value in kept[name].to_pylist()] == [i, -1.0]


def test_a_dotted_name_is_not_a_path_into_a_struct(tmp_path):
    data = pa.table({"s": [{"x": 1.0}], "s.x": [2.0], "y": [3.0]})
    path = write(data, tmp_path / "nested.parquet")
    assert open_source([path]).features == ("s.x", "y")
    assert read(path, ColumnRoles(features=("s.x",)))[0].tolist() == [[2.0]]
    only = write(data.select(["s", "y"]), tmp_path / "only.parquet")
    with pytest.raises(SourceError, match=r"column 's\.x' is missing; found 's', 'y'"):
        open_source([only], ColumnRoles(features=("s.x",)))


@pytest.mark.parametrize("part", ["target", "weight", "features", "exclude", "keep"])
def test_a_missing_column_is_named(tmp_path, part):
    path = write({f"x{i}": [1.0] for i in range(12)}, tmp_path / "data.csv")
    name = "no such" if part in ("target", "weight") else ("no such",)
    with pytest.raises(
        SourceError, match=r"data\.csv: column 'no such' is missing; found 'x0', .*, \.\.\.$"
    ):
        open_source([path], ColumnRoles(**{part: name}))


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_duplicate_names_are_an_error_when_asked_for(tmp_path, ending):
    twice = pa.Table.from_arrays(
        [pa.array([1.0]), pa.array([2.0]), pa.array([3.0])], ["a", "a", "b"]
    )
    path = write(twice, tmp_path / f"twice.{ending}")
    for columns in [
        ColumnRoles(),
        ColumnRoles(features=("a",)),
        ColumnRoles(keep=("a",), features=("b",)),
    ]:
        with pytest.raises(SourceError, match=r"twice\.\w+: column 'a' is there 2 times"):
            open_source([path], columns)
    assert read(path, ColumnRoles(features=("b",)))[0].tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"features": ("a", "b", "a")}, "column 'a' is named 2 times among the features"),
        ({"keep": ("k", "k")}, "column 'k' is named 2 times among the kept columns"),
        ({"features": ("y",), "target": "y"}, "column 'y' is the target; it cannot be a feature"),
        ({"features": ("w",), "weight": "w"}, "column 'w' is the weight; it cannot be a feature"),
        ({"target": "y", "weight": "y"}, "column 'y' cannot be both target and weight"),
    ],
)
def test_parts_that_contradict(parts, message):
    with pytest.raises(SourceError, match=message):
        ColumnRoles(**parts)


def test_default_features_are_what_is_left_and_numeric(tmp_path):
    day = datetime.date(2020, 1, 1)
    data = pa.table(
        {
            "f32": pa.array([1.5], pa.float32()),
            "f16": pa.array(np.array([1.5], np.float16)),
            "u8": pa.array([200], pa.uint8()),
            "bool": [True],
            "decimal": pa.array([decimal.Decimal("1.25")], pa.decimal128(5, 2)),
            "big": pa.array([decimal.Decimal("2.5")], pa.decimal256(50, 2)),
            "text": ["1"],
            "date": [day],
            "category": pa.array(["u"]).dictionary_encode(),
            "list": [[1.0]],
            "nothing": pa.nulls(1),
            "out": [7.0],
            "target": [1],
            "weight": [2.0],
        }
    )
    path = write(data, tmp_path / "data.parquet")
    columns = ColumnRoles(target="target", weight="weight", exclude=("out",))
    source = open_source([path], columns)
    assert source.features == ("f32", "f16", "u8", "bool", "decimal", "big")
    assert source.left_out == ("text", "date", "category", "list", "nothing")
    assert read(path, columns)[0].tolist() == [[1.5, 1.5, 200.0, 1.0, 1.25, 2.5]]


def test_nothing_to_use(tmp_path):
    path = write({"t": ["a"], "y": [1]}, tmp_path / "data.csv")
    with pytest.raises(SourceError, match=r"no numeric or boolean column to use as a feature"):
        open_source([path], ColumnRoles(target="y"))


def test_a_column_of_nulls_is_left_out_but_may_be_named(tmp_path):
    for path in [tmp_path / "data.csv", tmp_path / "data.parquet"]:
        write({"x": [1.0, 2.0], "none": pa.nulls(2)}, path)
        assert open_source([path]).left_out == ("none",)
        X = read(path, ColumnRoles(features=("none", "x")))[0]
        assert np.isnan(X[:, 0]).all()
        assert X[:, 1].tolist() == [1, 2]


def test_a_feature_of_another_type(tmp_path):
    path = write({"t": ["a"]}, tmp_path / "data.parquet")
    with pytest.raises(
        SourceError, match=r"column 't' is string, expected numbers or booleans; leave it out"
    ):
        open_source([path], ColumnRoles(features=("t",)))


def test_a_weight_of_another_type(tmp_path):
    path = write({"x": [1.0], "w": ["a"]}, tmp_path / "data.parquet")
    with pytest.raises(SourceError, match=r"column 'w' is string, expected numbers"):
        open_source([path], ColumnRoles(weight="w"))


def test_a_target_of_another_type(tmp_path):
    path = write({"x": [1.0], "y": [datetime.date(2020, 1, 1)]}, tmp_path / "data.parquet")
    with pytest.raises(
        SourceError, match=r"column 'y' is date32.*; labels are integers, floats, booleans or text"
    ):
        open_source([path], ColumnRoles(target="y"))


# ------------------------------------------------------------------ values


def test_float32_only_if_every_feature_of_every_file_is(tmp_path):
    single = {"a": pa.array([0.1], pa.float32()), "h": pa.array(np.array([0.5], np.float16))}
    path = write(single, tmp_path / "single.parquet")
    X = read(path)[0]
    assert X.dtype == np.float32
    assert X.tolist() == [[np.float32(0.1), 0.5]]
    other = write({"a": [0.1], "h": [0.5]}, tmp_path / "double.parquet")
    X = read([path, other])[0]
    assert X.dtype == np.float64
    assert X[:, 0].tolist() == [np.float32(0.1), 0.1]
    assert read(write(single, tmp_path / "text.csv"))[0].dtype == np.float64


@pytest.mark.parametrize("ending", FORMATS)
def test_nulls_are_nan(tmp_path, ending):
    data = pa.table(
        {
            "f": [1.5, None],
            "n": [None, 2],
            "b": [True, None],
            "d": pa.array([None, decimal.Decimal("0.5")], pa.decimal128(4, 1)),
        }
    )
    X = read(write(data, tmp_path / f"data.{ending}"))[0]
    assert np.array_equal(X, [[1.5, np.nan, 1, np.nan], [np.nan, 2, np.nan, 0.5]], equal_nan=True)


def test_large_integers_become_the_nearest_float(tmp_path):
    path = write({"n": [2**53 + 1, 2**62 + 1]}, tmp_path / "data.parquet")
    assert read(path)[0].ravel().tolist() == [float(2**53 + 1), float(2**62 + 1)]


@pytest.mark.parametrize(
    ("labels", "expected", "kind"),
    [
        (pa.array([1, 2, 1], pa.int8()), np.dtype(np.int8), "number"),
        (pa.array([1, 2**63, 1], pa.uint64()), np.dtype(np.uint64), "number"),
        (pa.array([1.5, 2.5, 1.5]), np.dtype(np.float64), "number"),
        (pa.array([True, False, True]), np.dtype(bool), "boolean"),
        (pa.array(["a", "", "a"]), np.dtype(object), "text"),
        (pa.array(["a", "b", "a"], pa.large_string()), np.dtype(object), "text"),
        (pa.array(["a", "b", "a"]).dictionary_encode(), np.dtype(object), "text"),
        (pa.array([1, 2, 1]).dictionary_encode(), np.dtype(np.int64), "number"),
    ],
)
def test_labels(tmp_path, labels, expected, kind):
    path = tmp_path / "data.arrow"
    write(pa.table({"x": [1.0, 2.0, 3.0], "y": labels}), path)
    assert open_source([path], ColumnRoles(target="y")).target_kind == kind
    y = read(path, ColumnRoles(target="y"))[1]
    assert y.dtype == expected
    assert y.tolist() == labels.to_pylist()


def test_labels_of_string_views(tmp_path):
    try:
        labels = pa.array(["a", "b"]).cast(pa.string_view())
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow cannot convert string views")
    path = write(pa.table({"x": [1.0, 2.0], "y": labels}), tmp_path / "data.arrow")
    assert read(path, ColumnRoles(target="y"))[1].tolist() == ["a", "b"]


def test_equal_text_labels_share_one_object(tmp_path):
    path = write({"x": [1.0] * 3, "y": ["long label", "other", "long label"]}, tmp_path / "a.csv")
    y = read(path, ColumnRoles(target="y"))[1]
    assert y[0] is y[2]


def test_pandas_categories(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": pd.Categorical(["b", "a"])})
    frame.to_parquet(tmp_path / "data.parquet")
    X, y, _, kept = read(tmp_path / "data.parquet", ColumnRoles(target="y", keep=("y",)))
    assert X.tolist() == [[1.0], [2.0]]
    assert y.tolist() == kept["y"].to_pylist() == ["b", "a"]
    assert kept["y"].type == pa.string()


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (pa.array([1, 2, 3, None]), "the label is null"),
        (pa.array(["a", "b", "c", None]), "the label is null"),
        (pa.array([True, True, True, None]), "the label is null"),
        (pa.array(["a", "b", "c", None]).dictionary_encode(), "the label is null"),
        (pa.array([1.0, 2.0, 3.0, np.nan]), "the label is NaN"),
    ],
)
def test_a_missing_label(tmp_path, labels, reason):
    path = write(pa.table({"x": [1.0] * 4, "my y": labels}), tmp_path / "data.parquet")
    with pytest.raises(SourceError, match=rf"data\.parquet: column 'my y', row 4: {reason}"):
        read(path, ColumnRoles(target="my y"), batch_rows=3)


@pytest.mark.parametrize(("text", "reason"), [("a\n\nb\n", "empty"), ("1\n\n2\n", "null")])
def test_a_missing_label_in_csv(tmp_path, text, reason):
    lines = text.split("\n")
    (tmp_path / "data.csv").write_text("x,y\n" + "".join(f"1,{y}\n" for y in lines))
    with pytest.raises(SourceError, match=rf"data\.csv: column 'y', row 2: the label is {reason}"):
        read(tmp_path / "data.csv", ColumnRoles(target="y"))


def test_na_is_a_label_like_any_other_text(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n1,NA\n2,null\n3,b\n")
    assert read(tmp_path / "data.csv", ColumnRoles(target="y"))[1].tolist() == ["NA", "null", "b"]


@pytest.mark.parametrize("bad", [-1.0, None, np.nan, np.inf])
def test_a_bad_weight(tmp_path, bad):
    path = write({"x": [1.0] * 4, "w": [0.0, 1.0, 2.0, bad]}, tmp_path / "data.parquet")
    with pytest.raises(
        SourceError,
        match=r"column 'w', row 4: the weight is -?\w[\w.]*, expected a finite number, 0 or more",
    ):
        read(path, ColumnRoles(weight="w"), batch_rows=3)


def test_weights_of_integers_and_booleans(tmp_path):
    for weights in ([2, 0], [True, False]):
        path = write({"x": [1.0, 1.0], "w": weights}, tmp_path / "data.parquet")
        weight = read(path, ColumnRoles(weight="w"))[2]
        assert weight.dtype == np.float64
        assert weight.tolist() == [float(w) for w in weights]


def test_kept_columns_keep_their_types(tmp_path):
    data = pa.table(
        {
            "x": [1.0, 2.0],
            "id": pa.array([2**62 + 1, None], pa.int64()),
            "day": [datetime.date(2020, 1, 1), None],
            "when": pa.array([datetime.datetime(2020, 1, 1), None], pa.timestamp("us")),
            "price": pa.array([decimal.Decimal("1.10"), None], pa.decimal128(6, 2)),
            "list": [[1], None],
            "flag": [True, None],
        }
    )
    keep = tuple(data.schema.names[1:])
    for ending in ["parquet", "arrow"]:
        path = write(data, tmp_path / f"data.{ending}")
        kept = read(path, ColumnRoles(features=("x",), keep=keep), batch_rows=1)[3]
        assert kept.equals(data.select(keep))


def test_where_a_value_is_that_the_model_cannot_take(tmp_path):
    path = write({"a": [0.0, 1.0, 2.0, np.inf], "b": [0.0] * 3 + [None]}, tmp_path / "data.parquet")
    *_, last = open_source([path], batch_rows=3)
    assert str(last.not_finite(0, 0)) == f"{path}: column 'a', row 4: inf is not a finite number"
    assert str(last.not_finite(0, 1)).startswith(f"{path}: column 'b', row 4: missing value (null")
