"""All files decide which columns are features and what they hold, in any order alike."""

from __future__ import annotations

import datetime
import decimal
import itertools
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from fastgnb.cli import main
from fastgnb.files.errors import SourceError
from fastgnb.files.tables import csv_file
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.index_columns import index_columns
from fastgnb.files.tables.sources import open_source


def put(path, content):
    """A file of a table, a frame, or text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, pd.DataFrame):
        content.to_csv(path) if path.suffix == ".csv" else content.to_parquet(path)
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(content), path)
    else:
        table = pa.table(content)
        with ipc.new_stream(path, table.schema) as sink:  # which does not tell its rows
            sink.write_table(table)
    return path


def plan(paths, **columns):
    return open_source(paths, ColumnRoles(target="y", **columns))


def continuous_of(source):
    (first, *_) = source
    mask = first.is_categorical
    return [f for j, f in enumerate(source.features) if mask is None or not mask[j]]


def rows_of(source):
    """Rows by feature name, of any order, and labels."""
    return sorted(
        (tuple(sorted(zip(continuous_of(source), map(repr, row), strict=True))), repr(label))
        for batch in source
        for row, label in zip(batch.X.tolist(), batch.y.tolist(), strict=True)
    )


# ------------------------------------------------------------------ indexes and row numbers


def frame():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=20), "b": rng.normal(size=20), "y": [0, 1] * 10})
    return data.sample(10, random_state=1)


INDEXED = {
    "shuffled": (frame(), {"__index_level_0__"}),
    "named": (frame().rename_axis("row"), {"row"}),
    "two levels": (frame().set_index([np.arange(10), np.arange(10) * 2]), None),
    "a column": (frame().assign(id=np.arange(10) ** 2).set_index("id"), {"id"}),
    "none": (frame().reset_index(drop=True), set()),
}


@pytest.mark.parametrize("name", INDEXED)
def test_what_pandas_calls_an_index_is_no_feature(tmp_path, name):
    data, names = INDEXED[name]
    names = {"__index_level_0__", "__index_level_1__"} if names is None else names
    path = put(tmp_path / "a.parquet", data)
    assert index_columns(pq.read_schema(path)) == names
    source = plan([path])
    assert source.features == ("a", "b")
    assert source.left_out == ()
    assert all(repr(each) in source.notes[0] for each in names)
    assert bool(source.notes) == bool(names)
    if names:  # and a file that has lost pandas' metadata, or never had an index
        other = put(tmp_path / "b.parquet", frame().reset_index(drop=True))
        for paths in ([path, other], [other, path]):
            assert plan(paths).features == ("a", "b")
        wanted = (*sorted(names), "a")
        assert plan([path], features=wanted).features == wanted


@pytest.mark.parametrize(
    "name",
    ["", "Unnamed: 0", "Unnamed: 0.1", "Unnamed: 0_level_0", "...1", "__index_level_0__",
     "__null_dask_index__", "__fragment_index", "__batch_index", "__last_in_fragment"],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_names_of_indexes_are_no_features(tmp_path, name, ending):
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        put(path, f"{name},a,y\n0,1.5,0\n1,2.5,1\n")
    else:
        put(path, {name: [0, 1], "a": [1.5, 2.5], "y": [0, 1]})
    source = plan([path])
    assert source.features == ("a",)
    assert source.notes == (
        f"left out, an index or a row number, unless --features names it: {name!r}",
    )
    assert plan([path], features=(name, "a")).features == (name, "a")
    assert plan([path], categorical=(name,)).features == (name, "a")
    assert plan([path], categorical="auto").features == ("a",)


def test_names_like_those_of_indexes_are_features(tmp_path):
    names = ["index", "_c0", "V1", "Unnamed", "Unnamed: x", "....", "x__index_level_0__", "id"]
    path = put(tmp_path / "a.parquet", {name: [1.0] for name in names} | {"y": [0]})
    assert plan([path]).features == tuple(names)
    assert plan([path]).notes == ()


@pytest.mark.parametrize(
    "metadata",
    [b"", b"{", b"[]", b"{}", b'{"index_columns": 3}', b'{"index_columns": [["a"], null, 3]}',
     b'{"index_columns": [{"kind": "range", "name": "a"}]}', b'{"index_columns": ["zz"]}', b"\xff"],
)  # fmt: skip
def test_metadata_that_is_not_pandas(tmp_path, metadata):
    table = pa.table({"a": [1.0], "y": [0]}).replace_schema_metadata({b"pandas": metadata})
    path = put(tmp_path / "a.parquet", table)
    assert plan([path]).features == ("a",)


def test_fit_names_the_index_and_noise_scores_as_noise(tmp_path, capsys):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=400), "y": np.repeat(["no", "yes"], 200)})
    train = data.sample(300, random_state=1)
    for ending in ("parquet", "csv"):
        train_path = put(tmp_path / f"train.{ending}", train)
        test_path = put(tmp_path / f"test.{ending}", data.drop(train.index))
        words = [str(train_path), "--target", "y", "--model", str(tmp_path / "m")]
        assert main(["fit", *words]) == 0
        named = "'__index_level_0__'" if ending == "parquet" else "''"
        assert f"unless --features names it: {named}" in capsys.readouterr().err
        words = [str(tmp_path / "m"), str(test_path), "--target", "y"]
        assert main(["evaluate", *words, "--json", str(tmp_path / "e.json")]) == 0
        assert json.loads((tmp_path / "e.json").read_text())["accuracy"] < 0.7
        capsys.readouterr()


def test_keys_of_folders_are_told(tmp_path, capsys):
    for year in (2023, 2024):
        put(tmp_path / "in" / f"year={year}" / "m=1" / "a.csv", f"a,y\n{year},0\n{year + 1},1\n")
    data = tmp_path / "in"
    assert plan([data]).features == ("a",)
    words = ["fit", str(data), "--target", "y", "--model", str(tmp_path / "m")]
    assert main(words) == 0
    told = "note: keys of folders are no features unless --features names them: 'm', 'year'"
    assert told in capsys.readouterr().err
    assert plan([data], features=("a", "year")).features == ("a", "year")
    put(data / "year=2025" / "m=1" / "a.csv", "a,year,m,y\n1,2,3,0\n")
    assert plan([data]).features == ("a",)


# ------------------------------------------------------------------ parts that say nothing

FULL = {"a": [0.5, 1.5, 2.5], "b": [1, 2, 4], "t": ["u", "v", "u"], "y": ["no", "yes", "no"]}
FULL_CSV = "a,b,t,y\n0.5,1,u,no\n1.5,2,v,yes\n2.5,4,u,no\n"
NOTHING = {
    "header.csv": "a,b,t,y\n",
    "cut.csv": "a,b,t,y",
    "empty.csv": "",
    "lines.csv": "\n\n",
    "mark.csv": "\ufeff",
    "blank.csv": "a,b,t,y\n\n\n",
    "nulls.parquet": {name: pa.nulls(0) for name in FULL},
    "text.parquet": {name: pa.array([], pa.string()) for name in FULL},
    "lists.parquet": {name: pa.array([], pa.list_(pa.int8())) for name in FULL},
    "nothing.parquet": {},
    "stream.arrow": {name: pa.array([], pa.string()) for name in FULL},
    "others.arrow": {"other": pa.array([], pa.string())},
    "dates.arrow": {name: pa.array([], pa.date32()) for name in FULL},
}


@pytest.mark.promise("columns")
@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("full", ["full.csv", "full.parquet"])
@pytest.mark.parametrize("categorical", [(), ("t",), "auto"])
def test_a_part_without_rows_says_nothing(tmp_path, name, full, categorical):
    path = put(tmp_path / full, FULL_CSV if full.endswith("csv") else FULL)
    part = put(tmp_path / "parts" / name, NOTHING[name])
    columns = {"categorical": categorical, "keep": ("t", "b")}
    alone = plan([path], **columns)
    expected = rows_of(alone)
    for paths in ([part, path], [path, part]):
        source = plan(paths, **columns)
        assert source.features == alone.features
        assert (source.left_out, source.warnings) == (alone.left_out, alone.warnings)
        assert (source.target_kind, source.dtype) == (alone.target_kind, alone.dtype)
        assert rows_of(source) == expected
        if name.endswith(".csv") and full.endswith("parquet") and NOTHING[name].strip("\n\ufeff"):
            continue  # what CSV keeps is text, and this file might
        assert source.keep_schema.field("t").type == pa.string()


def test_parts_without_rows_do_not_change_the_type_of_rows(tmp_path):
    single = pa.array([0.5, 1.5], pa.float32())
    path = put(tmp_path / "a.parquet", {"a": single, "y": [0, 1]})
    part = put(tmp_path / "b.parquet", {"a": pa.array([], pa.float64()), "y": pa.nulls(0)})
    text = put(tmp_path / "c.csv", "a,y\n")
    blank = put(tmp_path / "d.parquet", {"a": pa.nulls(1), "y": [1]})
    assert plan([text, part, path, blank]).dtype == np.float32


def test_npy_without_rows_says_nothing(tmp_path):
    paths = [tmp_path / f"{i}.npy" for i in range(3)]
    arrays = [np.empty((0, 2)), np.array([[1.5, 2.5]], np.float32), np.empty((0, 5), np.int8)]
    for path, array in zip(paths, arrays, strict=True):
        np.save(path, array)
    for some in itertools.permutations(paths):
        source = open_source(some)
        assert (source.n_features, source.dtype) == (2, np.float32)
        assert [batch.X.tolist() for batch in source] == [[[1.5, 2.5]]]
    with pytest.raises(SourceError, match=r"2\.npy: 5 columns, expected 2 as in .*0\.npy"):
        open_source([paths[0], paths[2]])


def test_only_parts_without_rows(tmp_path, capsys):
    for name in ("header.csv", "nulls.parquet"):
        part = put(tmp_path / name, NOTHING[name])
        words = ["fit", str(part), "--target", "y", "--model", str(tmp_path / "m")]
        assert main(words) == 1
        assert "no column with values to use as a feature" in capsys.readouterr().err
    empty = put(tmp_path / "empty.csv", "")
    with pytest.raises(SourceError, match=r"empty\.csv: the file is empty, expected a line of col"):
        open_source([empty])


BLANK = {
    "null.parquet": {"a": [0.5], "late": pa.nulls(1), "y": [0]},
    "text.parquet": {"a": [0.5], "late": pa.array([None], pa.string()), "y": [0]},
    "date.parquet": {"a": [0.5], "late": pa.array([None], pa.date32()), "y": [0]},
    "list.parquet": {"a": [0.5], "late": pa.array([None], pa.list_(pa.int8())), "y": [0]},
    "int.parquet": {"a": [0.5], "late": pa.array([None], pa.int64()), "y": [0]},
    "text.arrow": {"a": [0.5], "late": pa.array([None], pa.string()), "y": [0]},
    "blank.csv": "a,late,y\n0.5,,0\n",
    "na.csv": "a,late,y\n0.5,NA,0\n",
}


@pytest.mark.promise("columns")
@pytest.mark.parametrize("name", BLANK)
@pytest.mark.parametrize("full", ["full.csv", "full.parquet"])
def test_a_column_without_values_in_one_file_is_what_it_is_in_another(tmp_path, name, full):
    rows = "a,late,y\n1.5,3,1\n" if full.endswith("csv") else {"a": [1.5], "late": [3], "y": [1]}
    path, part = put(tmp_path / full, rows), put(tmp_path / "parts" / name, BLANK[name])
    for paths in ([part, path], [path, part]):
        source = plan(paths)
        assert source.features == ("a", "late")
        assert rows_of(source) == [
            ((("a", "0.5"), ("late", "nan")), "0"), ((("a", "1.5"), ("late", "3.0")), "1"),
        ]  # fmt: skip
        columns = ColumnRoles(target="late", features=("a",), drop_null_target=True)
        source = open_source(paths, columns)
        assert (source.target_kind, [b.y.tolist() for b in source]) == ("number", [[3]])
        assert source.n_dropped == 1
        columns = ColumnRoles(features=("a", "late"), categorical=("late",), keep=("late",))
        for batch in open_source(paths, columns):
            (column,) = batch.categorical
            assert column.codes.tolist() == ([-1] if batch.path == part else [0])
        columns = ColumnRoles(features=("a",), weight="late")
        with pytest.raises(SourceError, match="column 'late', row 1: the weight is nan"):
            list(open_source(paths, columns))


@pytest.mark.parametrize(("late", "used"), [("2.5", True), ("true", True), ("x", False)])
def test_a_column_that_is_blank_for_long_is_what_its_first_value_is(
    tmp_path, monkeypatch, late, used
):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 64)
    lines = [f"{i},,{i % 2}" for i in range(100)] + [f"100,{late},0"]
    path = put(tmp_path / "a.csv", "a,late,y\n" + "\n".join(lines) + "\n")
    other = put(tmp_path / "b.csv", "a,late,y\n5,,1\n")
    for paths in ([path], [path, other], [other, path]):
        source = plan(paths)
        assert source.features == (("a", "late") if used else ("a",))
        assert source.left_out == (() if used else ("late",))
        found = np.concatenate([batch.X.copy() for batch in source])
        assert not used or np.nansum(found[:, 1]) == (2.5 if late == "2.5" else 1.0)
        marked = plan(paths, categorical="auto")
        assert [c for b in marked for c in b.categorical if len(c.labels)] or late == "2.5"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_numbers_here_and_of_text_there_is_an_error(tmp_path, ending):
    one = put(tmp_path / f"1.{ending}", text_or_table({"a": [1.0], "b": [2.0], "y": [0]}, ending))
    two = put(tmp_path / f"2.{ending}", text_or_table({"a": [1.0], "b": ["u"], "y": [0]}, ending))
    for paths, second, held in [([one, two], 2, "text"), ([two, one], 1, "numbers")]:
        with pytest.raises(
            SourceError, match=rf"{second}\.{ending}: column 'b' holds {held}, but .* --exclude"
        ):
            plan(paths)
        assert plan(paths, exclude=("b",)).features == ("a",)


def text_or_table(data, ending):
    if ending == "parquet":
        return data
    rows = zip(*data.values(), strict=True)
    return "\n".join([",".join(data), *(",".join(map(str, row)) for row in rows)]) + "\n"


def test_columns_that_only_some_files_have(tmp_path, capsys):
    few = put(tmp_path / "1.parquet", {"a": [1.0, 2.0], "b": [2.0, 3.0], "y": [0, 1]})
    more = put(tmp_path / "2.parquet", {"c": [9.0], "b": [4.0], "a": [3.0], "t": ["u"], "y": [1]})
    for paths in itertools.permutations([few, more]):
        source = plan(paths)
        assert set(source.features) == {"a", "b"}
        assert source.left_out == ("t",)
        assert source.warnings == ("left out, as not every file has them: 'c'",)
    words = ["fit", str(few), str(more), "--target", "y", "--model", str(tmp_path / "m")]
    assert main([*words, "--quiet"]) == 0  # it is told in any case
    assert "warning: left out, as not every file has them: 'c'" in capsys.readouterr().err
    renamed = put(tmp_path / "3.parquet", {"a": [1.0], "B": [2.0], "y": [0]})
    with pytest.raises(SourceError, match=r"3\.p.*: column 'b' is missing; .* mean 'B' for 'b'\?"):
        plan([few, renamed])
    with pytest.raises(SourceError, match=r"1\.p.*: column 'B' is missing; .* mean 'b' for 'B'\?"):
        plan([renamed, few])


@pytest.mark.promise("columns")
def test_the_order_of_features_is_that_of_the_first_file_by_name(tmp_path):
    one = put(tmp_path / "1.parquet", {"b": [1.0], "a": [2.0], "y": [0]})
    two = put(tmp_path / "2.parquet", {"a": [3.0], "b": [4.0], "y": [1]})
    for paths, labels in [([one, two], [0, 1]), ([two, one], [1, 0])]:
        source = plan(paths)
        assert source.features == ("b", "a")
        assert [batch.y.item() for batch in source] == labels


def test_automatic_categories_are_those_of_all_files(tmp_path):
    one = put(tmp_path / "1.csv", "a,k,y\n1,,0\n")
    two = put(tmp_path / "2.csv", "a,k,y\n1,u,0\n")
    for paths in ([one, two], [two, one]):
        source = plan(paths, categorical="auto")
        assert source.features == ("a", "k")
        assert [c.labels.tolist() for b in source for c in b.categorical if max(c.codes) >= 0] == [
            ["u"]
        ]
    flags = put(tmp_path / "3.csv", "a,k,y\n1,true,0\n")
    numbers = put(tmp_path / "4.csv", "a,k,y\n1,3,0\n")
    for paths in ([flags, numbers], [numbers, flags]):
        with pytest.raises(SourceError, match=r"'k' holds (booleans|numbers), but .*name it"):
            plan(paths, categorical="auto")


# ------------------------------------------------------------------ types of labels


@pytest.mark.promise("columns")
def test_label_types_that_drift_between_files(tmp_path):
    types = [pa.int64(), pa.int8(), pa.uint64(), pa.float64()]
    paths = [
        put(tmp_path / f"{i}.parquet", {"a": [1.0, 2.0], "y": pa.array([1, 2], kind)})
        for i, kind in enumerate(types)
    ]
    whole = pa.array([1, 2]).dictionary_encode()
    paths.append(put(tmp_path / "dictionary.parquet", {"a": [1.0, 2.0], "y": whole}))
    paths.append(put(tmp_path / "text.csv", "a,y\n1,1\n2,2.0\n"))
    source = plan(paths)
    assert source.target_kind == "number"
    assert [label for batch in source for label in batch.y.tolist()] == [1, 2] * len(paths)
    for some in itertools.permutations(paths, 2):
        assert {batch.y.dtype for batch in plan(some)} == {np.dtype(np.int64)}
    for path in paths[:-2]:  # alone, labels keep the type that they have
        (kind,) = {batch.y.dtype for batch in plan([path, path])}
        assert kind == pq.read_schema(path).field("y").type.to_pandas_dtype()


def test_whole_numbers_beyond_those_of_floats_beside_other_types(tmp_path):
    big = put(tmp_path / "a.parquet", {"a": [1.0], "y": pa.array([2**63], pa.uint64())})
    odd = put(tmp_path / "b.parquet", {"a": [1.0], "y": [0.5]})
    wide = put(tmp_path / "c.parquet", {"a": [1.0], "y": [2.0**60]})
    exact = put(tmp_path / "d.parquet", {"a": [1.0], "y": [2**53 + 1]})
    found = [batch.y for batch in plan([big, odd, wide, exact])]
    assert [y.tolist() for y in found] == [[2**63], [0.5], [2.0**60], [2**53 + 1]]
    assert [y.dtype.kind for y in found] == ["u", "f", "f", "i"]  # `stats` says what may meet


def test_decimals_are_no_labels(tmp_path):
    path = put(tmp_path / "a.parquet", {"a": [1.0, 2.0], "y": [decimal.Decimal(1), None]})
    with pytest.raises(SourceError, match=r"column 'y' is decimal128.*; labels are integers, fl"):
        plan([path])
    put(path, {"a": [1.0], "y": pa.array([None], pa.decimal128(5, 0))})  # nor anything else
    with pytest.raises(SourceError, match="column 'y', row 1: the label is null"):
        list(plan([path]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("coded", [False, True])
def test_text_in_any_type_is_one_kind(tmp_path, kind, coded):
    try:
        text = pa.array(["u", "v", None]).cast(kind)
        text = text.dictionary_encode() if coded else text
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow cannot")
    path = put(tmp_path / "a.arrow", {"a": [1.0, 2.0, 3.0], "y": text})
    other = put(tmp_path / "b.parquet", {"a": [1.0], "y": ["v"]})
    source = plan([path, other], drop_null_target=True)
    assert [label for batch in source for label in batch.y.tolist()] == ["u", "v", "v"]
    columns = ColumnRoles(features=("a", "y"), categorical=("y",))
    first = next(iter(open_source([path, other], columns)))
    assert first.categorical[0].codes.tolist() == [0, 1, -1]


def test_dates_are_no_labels(tmp_path):
    day = put(tmp_path / "a.parquet", {"a": [1.0], "y": [datetime.date(2020, 1, 1)]})
    with pytest.raises(SourceError, match=r"column 'y' is date32\[day\]; labels are integers"):
        plan([day])
