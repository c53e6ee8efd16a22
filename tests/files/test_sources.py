"""Batches of rows from files: the same rows whatever the format, and errors that say where."""

from __future__ import annotations

import datetime
import decimal
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from table_files import write

from fastgnb._system import optional as _arrow
from fastgnb.files.errors import SourceError
from fastgnb.files.tables import csv_file, parquet_file
from fastgnb.files.tables.batch import BATCH_BYTES, rows_in_batch
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.paths import expand
from fastgnb.files.tables.sources import open_source

FORMATS = ["parquet", "csv", "arrow", "feather", "ipc"]
TELL_ROWS = ["parquet"]  # formats whose metadata say how many rows there are
if hasattr(ipc.RecordBatchFileReader, "count_rows"):  # a newer pyarrow
    TELL_ROWS += ["arrow", "feather", "ipc"]


def read(data, columns=None, **options):
    """All rows at once: (X, y, weight, kept table), copied out of the batches."""
    source = open_source([data] if not isinstance(data, list) else data, columns, **options)
    X, y, weight, kept = [np.empty((0, source.n_features), source.dtype)], [], [], []
    for batch in source:
        X.append(batch.X.copy())
        y.append(batch.y)
        weight.append(batch.weight)
        kept.append(batch.kept)
    joined = [np.concatenate(v) if v and v[0] is not None else None for v in (y, weight)]
    return np.concatenate(X), *joined, pa.Table.from_batches(kept) if kept and kept[0] else None


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "a": rng.normal(size=50),
            "n": rng.integers(-5, 5, 50),
            "b": rng.random(50) < 0.5,
            "t": [f"t{i}" for i in range(50)],
            "y": rng.choice(["x", "y", "z"], 50),
            "w": rng.random(50),
        }
    )


# ------------------------------------------------------------------ the same rows in any format


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("batch_rows", [None, 1, 7, 50, 1000])
def test_every_format_and_batch_size_gives_the_same_rows(tmp_path, table, ending, batch_rows):
    path = write(table, tmp_path / f"data.{ending}")
    columns = ColumnRoles(target="y", weight="w", keep=("t", "n"))
    X, y, weight, kept = read(path, columns, batch_rows=batch_rows)
    assert X.dtype == np.float64
    assert np.array_equal(X, np.column_stack([table[name].to_numpy() for name in "anb"]))
    assert y.tolist() == table["y"].to_pylist()
    assert (weight == table["w"].to_numpy()).all()
    expected = table.select(["t", "n"])
    if ending == "csv":  # as written, and so as text
        expected = expected.cast(pa.schema([("t", pa.string()), ("n", pa.string())]))
    assert kept.equals(expected)


@pytest.mark.parametrize("ending", FORMATS)
def test_plan(tmp_path, table, ending):
    path = write(table, tmp_path / f"data.{ending}")
    source = open_source([path], ColumnRoles(target="y", weight="w", keep=("t",)))
    assert source.features == ("a", "n", "b")
    assert source.left_out == ("t",)
    assert source.n_features == 3
    assert source.n_rows == (50 if ending in TELL_ROWS else None)
    assert source.target_kind == "text"
    assert source.keep_schema == pa.schema([("t", pa.string())])
    assert source.paths == [path]


def test_batches_are_feature_major_in_place_in_order_and_at_most_so_long(tmp_path, table):
    path = write(table, tmp_path / "data.parquet")
    first = 0
    for batch in open_source([path], batch_rows=8):
        assert batch.X.flags.f_contiguous
        assert len(batch.X) <= 8
        assert (batch.path, batch.first_row) == (path, first)
        assert batch.y is batch.weight is batch.kept is None
        first += len(batch.X)
    assert first == 50


def test_a_source_can_be_read_twice(tmp_path, table):
    source = open_source([write(table, tmp_path / "data.csv")])
    sums = [sum(batch.X.sum() for batch in source) for _ in range(2)]
    assert sums[0] == sums[1]


def test_one_huge_row_group_is_read_in_bounded_memory(tmp_path):
    n, d = 200_000, 8
    rng = np.random.default_rng(0)
    data = pa.table({f"x{j}": rng.normal(size=n) for j in range(d)})
    path = tmp_path / "huge.parquet"
    pq.write_table(data, path, row_group_size=n, compression="none", use_dictionary=False)
    assert pq.ParquetFile(path).num_row_groups == 1
    total = np.zeros(d)
    pool = pa.system_memory_pool()
    usual = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        before = pool.bytes_allocated()
        tracemalloc.start()
        highest = 0
        for batch in open_source([path], batch_rows=2000):
            total += batch.X.sum(axis=0)
            highest = max(highest, pool.bytes_allocated() - before)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    assert total == pytest.approx([data[f"x{j}"].to_numpy().sum() for j in range(d)])
    buffers = d * parquet_file.PARQUET_BUFFER_BYTES * 1.2
    assert highest < buffers < n * d * 8  # the row group was never there as a whole
    assert peak < 2_000_000


def test_wide_rows_come_in_small_batches():
    float64 = np.dtype(np.float64)
    assert rows_in_batch(20, float64) == BATCH_BYTES // 160
    assert rows_in_batch(1, float64) == 1 << 16
    assert rows_in_batch(10**6, float64) == 256


def test_arrow_streams_and_compressed_batches(tmp_path, table):
    with ipc.new_stream(tmp_path / "stream.arrow", table.schema) as sink:
        sink.write_table(table, max_chunksize=9)
    options = ipc.IpcWriteOptions(compression="lz4")
    with ipc.new_file(tmp_path / "small.arrow", table.schema, options=options) as sink:
        sink.write_table(table, max_chunksize=9)
    for name in ["stream.arrow", "small.arrow"]:
        assert (read(tmp_path / name)[0][:, 0] == table["a"].to_numpy()).all()
    assert open_source([tmp_path / "stream.arrow"]).n_rows is None


# ------------------------------------------------------------------ several files and folders


def test_folders_stand_for_their_files_by_name(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for i, name in enumerate(["a.parquet", "b.csv", "deep/c.arrow"]):
        write({"x": [float(i)]}, tmp_path / "in" / name)
    for name in [".hidden.csv", "_temporary.csv", "notes.txt"]:
        (tmp_path / "in" / name).write_text("not data")
    source = open_source([tmp_path / "in"])
    assert [path.name for path in source.paths] == ["a.parquet", "b.csv", "c.arrow"]
    assert [batch.X.item() for batch in source] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("ending", FORMATS)
def test_other_column_orders_and_other_columns(tmp_path, ending):
    first = write({"a": [1.0], "b": [2.0], "y": [0]}, tmp_path / f"1.{ending}")
    second = write({"y": [1], "z": [9.0], "b": [4.0], "a": [3.0]}, tmp_path / f"2.{ending}")
    X, y, _, _ = read([first, second], ColumnRoles(target="y"))
    assert X.tolist() == [[1, 2], [3, 4]]
    assert y.tolist() == [0, 1]


def test_rows_are_known_only_if_every_file_tells(tmp_path):
    tables = [write({"x": [1.0, 2.0]}, tmp_path / f"{name}.parquet") for name in "ab"]
    text = write({"x": [1.0]}, tmp_path / "c.csv")
    assert open_source(tables).n_rows == 4
    assert open_source([*tables, text]).n_rows is None


def test_a_later_file_without_a_column_is_an_error_before_reading(tmp_path):
    write({"a": [1.0], "b": [2.0]}, tmp_path / "1.parquet")
    write({"a": [1.0], "c": [2.0]}, tmp_path / "2.parquet")
    with pytest.raises(SourceError, match=r"2\.parquet: column 'b' is missing; found 'a', 'c'$"):
        open_source([tmp_path])


def test_labels_of_different_kinds(tmp_path):
    write({"x": [1.0], "y": [1]}, tmp_path / "1.csv")
    write({"x": [1.0], "y": ["one"]}, tmp_path / "2.parquet")
    with pytest.raises(
        SourceError,
        match=r"2\.parquet: column 'y' holds labels of kind text, but number in .*1\.csv",
    ):
        open_source([tmp_path], ColumnRoles(target="y"))


def test_kept_columns_take_a_type_wide_enough_for_every_file(tmp_path):
    write({"x": [1.0], "k": pa.array([1], pa.int32()), "s": ["a"]}, tmp_path / "1.parquet")
    write({"x": [1.0], "k": [1.5], "s": pa.array(["b"], pa.large_string())}, tmp_path / "2.parquet")
    kept = read(tmp_path, ColumnRoles(features=("x",), keep=("k", "s")))[3]
    assert kept["k"].to_pylist() == [1.0, 1.5]
    assert kept["s"].to_pylist() == ["a", "b"]


def test_kept_columns_of_types_that_cannot_meet(tmp_path):
    write({"x": [1.0], "k": [1]}, tmp_path / "1.parquet")
    write({"x": [1.0], "k": ["a"]}, tmp_path / "2.parquet")
    with pytest.raises(
        SourceError,
        match=r"'k' cannot be kept, its types differ: int64 in .*1\.p.*, string in .*2\.p",
    ):
        open_source([tmp_path], ColumnRoles(features=("x",), keep=("k",)))


# ------------------------------------------------------------------ which files


def test_unknown_ending(tmp_path):
    (tmp_path / "data.xlsx").write_text("")
    with pytest.raises(
        SourceError,
        match=r"data\.xlsx: unknown ending '\.xlsx'; expected \.parquet, \.csv, .*, \.npy$",
    ):
        expand([tmp_path / "data.xlsx"])


def test_endings_in_capitals(tmp_path):
    write({"x": [1.0]}, tmp_path / "a.csv").rename(tmp_path / "A.CSV")
    assert read(tmp_path / "A.CSV")[0].tolist() == [[1.0]]


def test_no_such_file(tmp_path):
    with pytest.raises(SourceError, match=r"nothing\.csv: no such file or folder"):
        open_source([tmp_path / "nothing.csv"])


def test_folder_without_data(tmp_path):
    with pytest.raises(SourceError, match=r"no data file in this folder; expected \.parquet"):
        open_source([tmp_path])


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("content", [b"", b"\x00\x01garbage\xff" * 40])
def test_foreign_files_are_named(tmp_path, ending, content):
    path = tmp_path / f"foreign.{ending}"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=rf"^[^\n]*foreign\.{ending}: [^\n]+$"):
        read(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_truncated_files_are_named(tmp_path, table, ending):
    path = write(table, tmp_path / f"cut.{ending}")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(SourceError, match=rf"^[^\n]*cut\.{ending}: [^\n]+$"):
        read(path)


def test_damage_inside_a_file_is_named(tmp_path):
    path = tmp_path / "damaged.parquet"
    pq.write_table(pa.table({"x": np.arange(5000.0)}), path, use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[100:20000] = b"\xff" * 19900
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"^[^\n]*damaged\.parquet: [^\n]+$"):
        read(path)


def test_npy_and_tables_together(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((1, 1)))
    write({"x": [1.0]}, tmp_path / "b.csv")
    with pytest.raises(SourceError, match=r"a\.npy: \.npy and tables cannot be read together"):
        open_source([tmp_path])


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


# ------------------------------------------------------------------ CSV, which has no types


@pytest.fixture
def small_blocks(monkeypatch):
    """A first block of a few rows, as the first megabytes of a long file."""
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 64)


def long_csv(path, late, column="x", early="1"):
    rows = [f"{i},{early},{i % 2}" for i in range(100)]
    rows[70] = f"70,{late},0"
    path.write_text(f"id,{column},y\n" + "\n".join(rows) + "\n")
    return path


def test_integers_that_turn_to_floats_after_the_first_block(tmp_path, small_blocks):
    X = read(long_csv(tmp_path / "data.csv", "2.5"), ColumnRoles(target="y"))[0]
    assert X[70].tolist() == [70, 2.5]
    assert X[71].tolist() == [71, 1.0]


def test_values_that_turn_up_after_a_first_block_of_blanks(tmp_path, small_blocks):
    path = long_csv(tmp_path / "data.csv", "2.5", early="")
    for columns in [ColumnRoles(target="y"), ColumnRoles(features=("id", "x"))]:
        source = open_source([path], columns)
        assert (source.features, source.left_out) == (("id", "x"), ())
        X = read(path, columns)[0]
        assert X[70, 1] == 2.5
        assert np.isnan(X[71, 1])


@pytest.mark.parametrize("column", ["x", "new\nline"])
def test_numbers_that_turn_to_text_name_file_column_and_row(tmp_path, small_blocks, column):
    path = long_csv(tmp_path / "data.csv", "oops", column=f'"{column}"')
    named = repr(column).replace("\\", "\\\\")
    with pytest.raises(
        SourceError, match=rf"data\.csv: column {named}, row 71: expected a number, got 'oops'$"
    ):
        read(path)


def test_a_long_wrong_value_is_cut(tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 1000)
    path = long_csv(tmp_path / "data.csv", "z" * 200)
    with pytest.raises(SourceError, match=r"got 'z{37}\.\.\.'$"):
        read(path, ColumnRoles(features=("x",)))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (ColumnRoles(features=("id",), target="x"), "a number"),
        (ColumnRoles(features=("x",), keep=("x",)), "a number"),
        (ColumnRoles(features=("id",), weight="x", keep=("x",)), "a number"),
        (ColumnRoles(features=("id",), weight="x"), "a number"),
    ],
)
def test_other_parts_that_turn_to_text(tmp_path, small_blocks, columns, expected):
    path = long_csv(tmp_path / "data.csv", "oops")
    with pytest.raises(SourceError, match=rf"column 'x', row 71: expected {expected}, got 'oops'$"):
        read(path, columns)


def test_a_text_feature_named_by_hand(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n?,1\n2,1\n")
    assert open_source([tmp_path / "data.csv"]).left_out == ("x",)
    with pytest.raises(SourceError, match=r"column 'x', row 1: expected a number, got '\?'"):
        read(tmp_path / "data.csv", ColumnRoles(features=("x",), keep=("x",)))


def test_kept_columns_of_csv_are_text_as_written(tmp_path, small_blocks):
    path = tmp_path / "data.csv"
    path.write_text(
        "id,x,blank\n" + "".join(f"{2**62 + i},1,\n" for i in range(20)) + "5,1,hello\n"
    )
    kept = read(path, ColumnRoles(features=("x",), keep=("id", "blank")))[3]
    assert kept["id"].to_pylist() == [*(str(2**62 + i) for i in range(20)), "5"]
    assert kept["blank"].to_pylist() == [""] * 20 + ["hello"]


def test_a_row_of_the_wrong_width(tmp_path, small_blocks):
    path = long_csv(tmp_path / "data.csv", "1,1")
    with pytest.raises(
        SourceError, match=r"data\.csv: row 71: Expected 3 columns, got 4: 70,1,1,0; a value that"
    ):
        read(path)


def test_a_wrong_width_in_the_first_block(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(SourceError, match=r"data\.csv: row 2: Expected 2 columns, got 1: 3$"):
        open_source([tmp_path / "data.csv"])


def test_quoted_line_breaks_across_blocks(tmp_path, small_blocks):
    path = tmp_path / "data.csv"
    path.write_text("x,t\n" + "".join(f'{i},"two\nlines"\n' for i in range(60)))
    X, _, _, kept = read(path, ColumnRoles(keep=("t",)))
    assert X[:, 0].tolist() == list(range(60))
    assert set(kept["t"].to_pylist()) == {"two\nlines"}


def test_windows_line_ends_byte_order_mark_and_quoted_numbers(tmp_path):
    (tmp_path / "data.csv").write_bytes(b'\xef\xbb\xbfx,"y"\r\n"1.5","a"\r\n"","b"\r\n')
    X, y, _, _ = read(tmp_path / "data.csv", ColumnRoles(target="y"))
    assert np.array_equal(X, [[1.5], [np.nan]], equal_nan=True)
    assert y.tolist() == ["a", "b"]


def test_labels_that_are_not_utf8(tmp_path):
    (tmp_path / "data.csv").write_bytes(b"x,y\n1,caf\xe9\n")
    with pytest.raises(SourceError, match=r"column 'y' is binary; labels are"):
        open_source([tmp_path / "data.csv"], ColumnRoles(target="y"))


def test_a_header_and_no_rows(tmp_path):
    (tmp_path / "data.csv").write_text("x,k\n")
    source = open_source([tmp_path / "data.csv"], ColumnRoles(features=("x",), keep=("k",)))
    assert list(source) == []
    assert source.keep_schema == pa.schema([("k", pa.string())])


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_tables_of_no_rows(tmp_path, ending):
    path = write({"x": pa.array([], pa.float64())}, tmp_path / f"data.{ending}")
    source = open_source([path])
    assert source.n_rows == (0 if ending in TELL_ROWS else None)
    assert list(source) == []


# ------------------------------------------------------------------ .npy


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f8", "f8"), ("f4", "f4"), ("f2", "f4"), (">f8", "f8"), ("i4", "f8"), ("?", "f8")],
)
def test_npy(tmp_path, order, dtype, expected):
    matrix = (np.arange(30).reshape(10, 3) % 7).astype(dtype, order=order)
    np.save(tmp_path / "X.npy", matrix)
    np.save(tmp_path / "y.npy", np.arange(10))
    source = open_source([tmp_path / "X.npy"], target_npy=tmp_path / "y.npy", batch_rows=4)
    assert source.features is None
    assert (source.n_features, source.n_rows, source.target_kind) == (3, 10, "number")
    batches = list(source)
    assert [batch.first_row for batch in batches] == [0, 4, 8]
    for batch in batches:
        assert batch.X.dtype == source.dtype == np.dtype(expected)
        assert batch.X.flags.c_contiguous or batch.X.flags.f_contiguous
    assert (np.concatenate([batch.X for batch in batches]) == matrix).all()
    assert np.concatenate([batch.y for batch in batches]).tolist() == list(range(10))


def test_labels_of_npy_run_on_over_several_files(tmp_path):
    np.save(tmp_path / "1.npy", np.zeros((3, 2)))
    np.save(tmp_path / "2.npy", np.ones((2, 2), np.float32))
    np.save(tmp_path / "y.npy", np.array(["a", "b", "c", "d", "e"]))
    data = [tmp_path / "1.npy", tmp_path / "2.npy"]
    X, y, _, _ = read(data, target_npy=tmp_path / "y.npy", batch_rows=2)
    assert X[:, 0].tolist() == [0, 0, 0, 1, 1]
    assert y.dtype == object
    assert y.tolist() == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), r"expected a matrix \(n, d\) of numbers, got float64 \(3,\)"),
        (np.zeros((3, 0)), r"got float64 \(3, 0\)"),
        (np.zeros((3, 2), complex), r"got complex128 \(3, 2\)"),
        (np.array([["a"]]), r"got <U1 \(1, 1\)"),
        (np.array([[None]]), r"not a \.npy array that can be mapped"),
    ],
)
def test_npy_that_is_no_matrix(tmp_path, array, message):
    np.save(tmp_path / "X.npy", array)
    with pytest.raises(SourceError, match=rf"X\.npy: .*{message}"):
        open_source([tmp_path / "X.npy"])


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x93NUMPY\x01\x00"])
def test_npy_that_is_no_npy(tmp_path, content):
    (tmp_path / "X.npy").write_bytes(content)
    with pytest.raises(SourceError, match=r"X\.npy: not a \.npy array that can be mapped: "):
        open_source([tmp_path / "X.npy"])


def test_npy_that_is_an_archive(tmp_path):
    np.savez(tmp_path / "X.npz", a=np.zeros(2))
    (tmp_path / "X.npz").rename(tmp_path / "X.npy")
    with pytest.raises(SourceError, match=r"X\.npy: not a \.npy array but an archive of several"):
        open_source([tmp_path / "X.npy"])


def test_npy_of_other_widths(tmp_path):
    np.save(tmp_path / "1.npy", np.zeros((1, 2)))
    np.save(tmp_path / "2.npy", np.zeros((1, 3)))
    with pytest.raises(SourceError, match=r"2\.npy: 3 columns, expected 2 as in .*1\.npy"):
        open_source([tmp_path])


def test_npy_has_no_column_names(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((1, 2)))
    with pytest.raises(SourceError, match=r"X\.npy: a \.npy matrix has no column names"):
        open_source([tmp_path / "X.npy"], ColumnRoles(target="y"))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(3), r"y\.npy: 3 labels, expected 2, one for each row"),
        (np.zeros((2, 1)), r"y\.npy: expected labels \(n,\) of int, .*, got float64 \(2, 1\)"),
        (np.array([b"a", b"b"]), r"y\.npy: expected labels \(n,\) of int, .*, got \|S1 \(2,\)"),
        (np.array([0.0, np.nan]), r"y\.npy: row 2: the label is NaN"),
    ],
)
def test_npy_labels_that_do_not_fit(tmp_path, labels, message):
    np.save(tmp_path / "X.npy", np.zeros((2, 2)))
    np.save(tmp_path / "y.npy", labels)
    with pytest.raises(SourceError, match=message):
        read(tmp_path / "X.npy", target_npy=tmp_path / "y.npy")


def test_no_such_labels(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((2, 2)))
    with pytest.raises(SourceError, match=r"y\.npy: No such file"):
        open_source([tmp_path / "X.npy"], target_npy=tmp_path / "y.npy")


def test_npy_labels_for_a_table(tmp_path):
    path = write({"x": [1.0]}, tmp_path / "data.csv")
    with pytest.raises(SourceError, match=r"data\.csv: --target-npy goes with \.npy data"):
        open_source([path], target_npy="y.npy")


def test_unnamed_columns_are_counted_from_zero(tmp_path):
    np.save(tmp_path / "X.npy", np.full((5, 3), np.nan))
    (batch,) = open_source([tmp_path / "X.npy"])
    assert "X.npy: column 1 (from 0), row 4: missing value" in str(batch.not_finite(3, 1))


# ------------------------------------------------------------------ the extra


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(
        _arrow.MissingExtraError,
        match=r"needs tqdm, which is not installed: pip install 'fastgnb\[cli\]'",
    ):
        _arrow.require("tqdm")
