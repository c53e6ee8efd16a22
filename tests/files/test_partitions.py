"""Folders such as year=2026/month=11: their keys are columns, whatever the format of the files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
from source_rows import FORMATS, read
from table_files import write

from fastgnb import files
from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source

pytestmark = pytest.mark.any_version


def tree(folder, ending="parquet", years=(2024, 2025), months=("01", "11"), n=40):
    """Files that hold all columns but the keys."""
    rng = np.random.default_rng(0)
    for year in years:
        for month in months:
            inner = folder / f"year={year}" / f"month={month}"
            inner.mkdir(parents=True)
            rows = {"x": rng.normal(size=n), "y": rng.choice(["a", "b"], n)}
            write(rows, inner / f"part.{ending}")
    return folder


@pytest.mark.parametrize("ending", FORMATS)
def test_keys_are_columns(tmp_path, ending):
    """pyarrow.dataset is the oracle."""
    folder = tree(tmp_path, ending)
    roles = ColumnRoles("y", "year", features=("x", "month"), keep=("month", "year"))
    X, y, weight, kept = read(folder, roles)
    name = "csv" if ending == "csv" else "parquet" if ending == "parquet" else "ipc"
    found = pads.dataset(sorted(folder.rglob("part.*")), format=name, partitioning="hive",
                         partition_base_dir=str(folder)).to_table()  # fmt: skip
    order = [*range(len(X))]
    assert X[:, 0].tolist() == found["x"].to_pylist()
    assert X[:, 1].tolist() == found["month"].to_pylist()
    assert y.tolist() == found["y"].to_pylist()
    assert weight.tolist() == found["year"].to_pylist()
    assert [str(v) for v in kept["month"].to_pylist()] == [str(v) for v in X[order, 1].astype(int)]
    assert kept["month"].type == (pa.string() if ending == "csv" else pa.int64())


@pytest.mark.parametrize("ending", FORMATS)
def test_a_key_is_a_target_and_a_category(tmp_path, ending):
    folder = tree(tmp_path, ending)
    X, y, _, _ = read(folder, ColumnRoles("year"))
    assert X.shape == (160, 1)
    assert y.dtype == np.int64
    assert y.tolist() == [2024] * 80 + [2025] * 80
    source = open_source([folder], ColumnRoles("y", categorical=("month",)))
    labels = [set(batch.categorical[0].labels.tolist()) for batch in source]
    assert set().union(*labels) == {1, 11}
    assert source.features == ("x", "month")


def test_keys_are_no_features_unless_they_are_named(tmp_path):
    source = open_source([tree(tmp_path)], ColumnRoles("y"))
    assert source.features == ("x",)
    assert any("keys of folders are no features unless --features names them: 'month', 'year'"
               in note for note in source.notes)  # fmt: skip
    automatic = open_source([tmp_path], ColumnRoles("y", categorical="auto"))
    assert automatic.features == ("x",)
    assert not open_source([tmp_path], ColumnRoles("y", exclude=("year", "month"))).notes
    assert open_source([tmp_path], ColumnRoles("y", exclude=("x",), categorical=("year",)))


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (["1", "02", "-3"], [1, 2, -3]),
        (["1", "x"], ["1", "x"]),
        (["1.5", "2"], ["1.5", "2"]),
        (["007", "+7"], ["007", "+7"]),
        (["9223372036854775807"], [9223372036854775807]),
        (["9223372036854775808"], ["9223372036854775808"]),
        (["2026-11-30"], ["2026-11-30"]),
        (["a%20b%2Fc", "%C3%BC"], ["a b/c", "ü"]),
        (["a=b"], ["a=b"]),
        (["3", "__HIVE_DEFAULT_PARTITION__"], [3, None]),
        (["u", "__HIVE_DEFAULT_PARTITION__", ""], ["u", None, None]),
        (["__HIVE_DEFAULT_PARTITION__"], [None]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_types_and_values_of_all_folders(tmp_path, ending, names, values):
    paths = []
    for name in names:
        inner = tmp_path / f"k={name}"
        inner.mkdir()
        paths.append(write({"x": [1.0], "y": ["a"]}, inner / f"d.{ending}"))
    _, _, _, kept = read(paths, ColumnRoles("y", features=("x",), keep=("k",)))
    found = kept["k"].to_pylist()
    if ending == "csv":
        assert found == ["" if value is None else str(value) for value in values]
    else:
        assert found == values


def test_names_of_keys_are_decoded(tmp_path):
    inner = tmp_path / "my%20key=1"
    inner.mkdir()
    write({"x": [1.0]}, inner / "d.parquet")
    assert read(tmp_path, ColumnRoles(features=("my key",)))[0].tolist() == [[1]]
    bad = tmp_path / "k=%FF"
    bad.mkdir()
    write({"x": [1.0]}, bad / "d.parquet")
    with pytest.raises(SourceError, match="the name of folder '%FF' is not UTF-8"):
        open_source([bad])


def test_a_missing_key_is_a_missing_value(tmp_path):
    for name in ["3", "__HIVE_DEFAULT_PARTITION__"]:
        inner = tmp_path / f"k={name}"
        inner.mkdir()
        write({"x": [1.0, 2.0], "y": ["a", "b"]}, inner / "d.parquet")
        write({"x": [1.0, 2.0], "y": ["a", "b"]}, inner / "d.csv")
    X, _, _, _ = read(tmp_path, ColumnRoles("y", features=("k",)))
    np.testing.assert_array_equal(X[:, 0], [3, 3, 3, 3, *[np.nan] * 4])
    dropped = open_source([tmp_path], ColumnRoles("k", drop_null_target=True))
    assert sum(len(batch.X) for batch in dropped) == 4
    assert dropped.n_dropped == 4
    with pytest.raises(SourceError, match=r"column 'k', row 1: the label is (null|empty)"):
        read(tmp_path, ColumnRoles("k"))


def test_formats_and_keys_in_one_tree(tmp_path):
    """Text of CSV means the number that the key is, however the folder spells it."""
    for name, ending in [("07", "csv"), ("7", "parquet"), ("8", "csv")]:
        inner = tmp_path / f"k={name}"
        inner.mkdir()
        write({"x": [1.0, 2.0]}, inner / f"d.{ending}")
    X, y, _, _ = read(tmp_path, ColumnRoles("k"))
    assert y.tolist() == [7, 7, 7, 7, 8, 8]
    assert X.shape == (6, 1)


def test_a_file_outside_lacks_the_column(tmp_path):
    folder = tree(tmp_path / "data")
    other = write({"x": [1.0], "y": ["a"]}, tmp_path / "other.parquet")
    assert read([folder, other], ColumnRoles("y"))[0].shape == (161, 1)
    with pytest.raises(SourceError, match=r"other\.parquet: column 'year' is missing; found 'x'"):
        open_source([folder, other], ColumnRoles("year"))


@pytest.mark.parametrize("ending", FORMATS)
def test_a_key_that_the_file_holds_too(tmp_path, ending):
    inner = tmp_path / "k=3"
    inner.mkdir()
    path = write({"x": [1.0, 2.0, 4.0], "k": [3, 3, 3]}, inner / f"d.{ending}")
    assert read(path, ColumnRoles("k"))[1].tolist() == [3, 3, 3]
    assert open_source([path]).features == ("x",)
    write({"x": [1.0, 2.0, 4.0], "k": [3, 3, 5]}, path)
    with pytest.raises(SourceError, match=r"column 'k', row 3: the file holds '?5'?, but"):
        read(path, ColumnRoles("k"))
    assert read(path, ColumnRoles(features=("x",)))[0].shape == (3, 1)
    write({"x": [1.0, 2.0], "k": ["u", "v"]}, path)
    with pytest.raises(SourceError, match="column 'k', row 1: the file holds 'u', but its folder"):
        read(path, ColumnRoles("k"))


def test_two_values_of_one_key(tmp_path):
    inner = tmp_path / "k=1" / "k=2"
    inner.mkdir(parents=True)
    path = write({"x": [1.0]}, inner / "d.parquet")
    with pytest.raises(SourceError, match="two folders name the key 'k', with other values"):
        open_source([path])
    same = tmp_path / "k=1" / "k=1"
    same.mkdir()
    assert read(write({"x": [1.0]}, same / "d.parquet"), ColumnRoles("k"))[1].tolist() == [1]


def test_a_key_of_text_is_no_feature(tmp_path):
    for ending, message in [
        ("parquet", r"column 'k' is string, expected numbers or booleans"),
        ("csv", r"column 'k', a key of folders: .*'u'"),
    ]:
        inner = tmp_path / ending / "k=u"
        inner.mkdir(parents=True)
        path = write({"x": [1.0], "y": ["a"]}, inner / f"d.{ending}")
        with pytest.raises(SourceError, match=message):
            read(path, ColumnRoles("y", features=("x", "k")))


def test_a_model_knows_that_keys_are_text(tmp_path):
    """A folder of one store alone, with a name that looks like a number."""
    for name, x in [("17", 1.0), ("a1", 1.5)]:
        inner = tmp_path / "data" / f"store={name}"
        inner.mkdir(parents=True)
        write({"x": [x, 2.0, 4.0], "y": ["a", "b", "b"]}, inner / "d.parquet")
    folder = tmp_path / "data"
    model = files.fit(folder, target="y", features=["x", "store"], categorical="store")
    assert model.categories_[0].tolist() == ["17", "a1"]
    out = tmp_path / "out.csv"
    assert files.predict(model, folder / "store=17", out, keep="store").n_rows == 3
    target = files.fit(folder, target="store")
    assert files.evaluate(target, folder / "store=17", target="store").n_rows == 3


def test_blank_files_in_folders(tmp_path):
    folder = tree(tmp_path, "csv")
    (folder / "year=2024" / "month=01" / "none.csv").write_text("")
    (folder / "year=2024" / "month=01" / "names.csv").write_text("x,y\n")
    assert read(folder, ColumnRoles("year", features=("x", "month")))[0].shape == (160, 2)
