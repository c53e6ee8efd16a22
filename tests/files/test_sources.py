"""Batches of rows from files: the same rows whatever the format and the files."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from source_rows import FORMATS, TELL_ROWS, read
from table_files import write

from fastgnb.files.errors import SourceError
from fastgnb.files.tables import parquet_file
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.paths import expand
from fastgnb.files.tables.sources import open_source

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
    batches = 2 * 2000 * 8  # one that is used, and the next one
    buffers = d * (parquet_file.PARQUET_BUFFER_BYTES + batches) * 1.2
    assert highest < buffers < n * d * 8  # the row group was never there as a whole
    assert peak < 2_000_000


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
        match=r"data\.xlsx: unknown ending '\.xlsx'; expected \.parquet, \.csv, .*, \.npy; or say ",
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
