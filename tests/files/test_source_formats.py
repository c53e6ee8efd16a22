"""CSV, which has no types; .npy, which has no names; and no pyarrow."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from source_rows import TELL_ROWS, read
from table_files import write

from fastgnb._system import optional as _arrow
from fastgnb.files.errors import SourceError
from fastgnb.files.tables import csv_file
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source

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
    batches = [replace(batch, X=batch.X.copy("A")) for batch in source]  # its memory is used again
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
