"""Which files patterns, folders and `file_format` stand for, and what is passed over."""

from __future__ import annotations

import os

import numpy as np
import pytest
from source_rows import read
from table_files import write

from fastgnb import files
from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.file_options import FileOptions
from fastgnb.files.tables.paths import expand, list_files
from fastgnb.files.tables.sources import open_source

pytestmark = pytest.mark.any_version

ROWS = {"x": [1.0, 2.0, 4.0], "y": ["a", "b", "b"]}


@pytest.fixture
def tree(tmp_path):
    """Files of three formats, in folders, with others between them."""
    for name in ["b.parquet", "a.parquet", "sub/c.parquet", "sub/deep/d.csv", "sub/e.csv.gz"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        write(ROWS, path) if not name.endswith(".gz") else path.write_bytes(packed())
    for name in ["_SUCCESS", ".hidden.parquet", "README.md", "sub/notes.txt", "sub/_tmp/f.parquet"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("no data")
    return tmp_path


def packed():
    import gzip

    return gzip.compress(b"x,y\n1,a\n2,b\n4,b\n")


def names(paths, folder):
    return [path.relative_to(folder).as_posix() for path in paths]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.parquet", ["a.parquet", "b.parquet"]),
        ("[a]*.parquet", ["a.parquet"]),
        ("?.parquet", ["a.parquet", "b.parquet"]),
        ("**/*.parquet", ["a.parquet", "b.parquet", "sub/c.parquet"]),
        ("**/*.csv*", ["sub/deep/d.csv", "sub/e.csv.gz"]),
        ("s*", ["sub/c.parquet", "sub/deep/d.csv", "sub/e.csv.gz"]),
        ("**", ["a.parquet", "b.parquet", "sub/c.parquet", "sub/deep/d.csv", "sub/e.csv.gz"]),
        ("sub/*/*", ["sub/deep/d.csv"]),
        ("_S*", None),
        ("*.json", None),
        ("nothing/*.parquet", None),
        ("*.md", None),
    ],
)
def test_patterns(tree, pattern, expected):
    """As a shell expands them, each file once, in the order of their names."""
    given = str(tree / pattern)
    if expected is None:
        match = "no (file matches this pattern|data file matches this pattern; expected .parquet)"
        with pytest.raises(SourceError) as caught:
            expand([given])
        assert str(caught.value).startswith(f"{given}: no ")
        assert "match" in match
        return
    assert names(expand([given]), tree) == expected
    assert read(given, ColumnRoles("y"))[0].shape == (3 * len(expected), 1)


def test_a_file_whose_name_looks_like_a_pattern(tree):
    write(ROWS, tree / "[a]*.parquet")
    assert names(expand([str(tree / "[a]*.parquet")]), tree) == ["[a]*.parquet"]
    assert names(expand([str(tree / "[[]a]*.parquet")]), tree) == ["[a]*.parquet"]


def test_the_order_of_paths_is_that_given(tree):
    found = expand([str(tree / "sub"), str(tree / "*.parquet")])
    assert names(found, tree)[-2:] == ["a.parquet", "b.parquet"]


def test_what_is_passed_over_is_told(tree):
    source = open_source([tree], ColumnRoles("y"))
    assert "passed over in folders, no data by ending: 2 files (.md, .txt)" in source.notes
    assert names(list_files([tree]).passed_over, tree) == ["README.md", "sub/notes.txt"]
    assert not list_files([tree / "sub" / "deep"]).notes()
    with pytest.raises(SourceError, match=r"data file in this folder; expected \.parquet, \.csv"):
        expand([_only(tree, "README.md")])


def _only(tree, name):
    folder = tree / "only"
    folder.mkdir()
    os.rename(tree / name, folder / name)
    return folder


@pytest.mark.parametrize("given", ["csv", "parquet", "arrow"])
def test_a_format_that_the_ending_does_not_tell(tmp_path, given):
    endings = {"csv": ".csv", "parquet": ".parquet", "arrow": ".arrow"}
    path = write(ROWS, tmp_path / f"data{endings[given]}")
    plain, odd = path.rename(tmp_path / "part-00000"), tmp_path / "data.bin"
    odd.write_bytes(plain.read_bytes())
    options = FileOptions(format=given)
    for named in (plain, odd, tmp_path):
        assert read(named, ColumnRoles("y"), options=options)[0].tolist() == [[1], [2], [4]]
    assert "passed over in folders, no data by ending: 1 file (.bin)" in (
        open_source([tmp_path], ColumnRoles("y"), options=options).notes
    )
    with pytest.raises(SourceError, match=r"part-00000: unknown ending ''; .*; or say --format"):
        open_source([plain])
    with pytest.raises(SourceError, match="no data file in this folder"):
        open_source([tmp_path])


def test_a_format_of_npy_and_of_files_in_folders_of_others(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1.0], [2.0]]))
    os.rename(tmp_path / "x.npy", tmp_path / "x")
    assert read(tmp_path / "x", options=FileOptions(format="npy"))[0].tolist() == [[1], [2]]
    write(ROWS, tmp_path / "t.csv")
    write(ROWS, tmp_path / "t.parquet")
    assert names(expand([tmp_path], "csv"), tmp_path) == ["t.csv", "x"]
    with pytest.raises(SourceError, match=r"t\.csv"):
        read(tmp_path / "t.csv", options=FileOptions(format="parquet"))


def test_formats_that_are_none(tmp_path):
    path = write(ROWS, tmp_path / "d.csv")
    with pytest.raises(ValueError, match=r"file_format must be one of \['csv', 'parquet'"):
        files.fit(path, target="y", file_format="excel")
    model = files.fit(path, target="y")
    with pytest.raises(ValueError, match="output_format must be one of"):
        files.predict(model, path, tmp_path / "o", output_format="tsv")
    with pytest.raises(ValueError, match=r"'.*o\.txt' does not end in one of \.parquet"):
        files.predict(model, path, tmp_path / "o.txt")


@pytest.mark.parametrize(
    ("name", "given"),
    [("o.tsv", None), ("o.csv.gz", None), ("o.csv.bz2", None), ("o.tsv.zst", None), ("o", "csv"),
     ("o.txt", "parquet"), ("o.gz", "csv"), ("o.dat", "arrow"), ("o.CSV.GZ", None)],
)  # fmt: skip
def test_outputs_in_every_format_are_read_again(tmp_path, name, given):
    path = write(ROWS, tmp_path / "d.parquet")
    model = files.fit(path, target="y")
    output = tmp_path / name
    files.predict(model, path, output, keep=["x", "y"], output_format=given)
    X, labels, _, kept = read(
        output, ColumnRoles("prediction", features=("x",), keep=("y",)),
        options=FileOptions(format=given),
    )  # fmt: skip
    assert X[:, 0].tolist() == ROWS["x"]
    assert labels.tolist() == ["a", "b", "b"]
    assert kept["y"].to_pylist() == ROWS["y"]
    if name.lower().endswith("gz"):
        assert output.read_bytes()[:2] == b"\x1f\x8b"


def test_patterns_of_the_output_are_names(tmp_path):
    path = write(ROWS, tmp_path / "d.parquet")
    model = files.fit(str(tmp_path / "d.par*"), target="y")
    files.predict(model, path, tmp_path / "*.csv")
    assert (tmp_path / "*.csv").exists()
    with pytest.raises(ValueError, match="would replace an input"):
        files.predict(model, str(tmp_path / "*.parquet"), path)
