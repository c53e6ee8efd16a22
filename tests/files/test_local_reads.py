"""Rows of local files: read into memory that is used again, and labels of text by class."""

from __future__ import annotations

import gc
import os

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pytest
from table_files import open_files, write

from fastgnb.files.errors import SourceError
from fastgnb.files.tables import arrow_map, values
from fastgnb.files.tables.arrow_map import ArrowMap
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.npy_file import NpyFile
from fastgnb.files.tables.sources import open_source
from fastgnb.input.labels import encode_labels

POSITIONAL = pytest.mark.skipif(not hasattr(os, "preadv"), reason="the system has no preadv")

# ------------------------------------------------------------------ .npy


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "i2", "?"])
def test_rows_of_npy_are_those_of_numpy(tmp_path, order, dtype):
    matrix = (np.arange(60).reshape(20, 3) % 5).astype(dtype, order=order)
    np.save(tmp_path / "X.npy", matrix)
    file, memory = NpyFile(tmp_path / "X.npy"), np.empty(60, dtype)
    assert (file.shape, file.dtype) == (matrix.shape, matrix.dtype)
    for start, stop in ((0, 20), (3, 7), (19, 20), (5, 5)):
        rows = file.read(start, stop, memory[: (stop - start) * 3])
        assert np.array_equal(rows, matrix[start:stop])
        assert np.shares_memory(rows, memory) or start == stop


def test_a_npy_file_that_shrinks_is_an_error(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.ones((100, 3)))
    file = NpyFile(path)
    os.truncate(path, path.stat().st_size - 8)
    assert file.read(0, 99, np.empty(99 * 3)).shape == (99, 3)
    with pytest.raises(SourceError, match=r"X\.npy: changed while it was in use"):
        file.read(99, 100, np.empty(3))
    np.save(path, np.ones(10))
    labels = NpyFile(path)
    os.truncate(path, path.stat().st_size - 8)
    with pytest.raises(SourceError, match=r"X\.npy: changed while it was in use"):
        labels.read_values(0, 10)
    path.unlink()
    with pytest.raises(SourceError, match=r"X\.npy: No such file"):
        labels.read_values(0, 1)


@pytest.mark.parametrize("dtype", ["i8", ">f4", "?", "U3", "U"])
def test_labels_of_npy_are_those_of_numpy(tmp_path, dtype):
    y = np.array([""] * 9) if dtype == "U" else (np.arange(9) % 3).astype(dtype)
    np.save(tmp_path / "y.npy", y)
    file = NpyFile(tmp_path / "y.npy")
    for start, stop in ((0, 9), (2, 5), (4, 4)):
        values = file.read_values(start, stop)
        assert values.dtype == y.dtype
        assert np.array_equal(values, y[start:stop])


def test_batches_of_npy_take_turns_in_two_buffers(tmp_path):
    matrix = np.random.default_rng(0).random((50, 2))
    np.save(tmp_path / "X.npy", matrix)
    places, before = set(), None
    for batch in open_source([tmp_path / "X.npy"], batch_rows=8):
        first = batch.first_row
        assert np.array_equal(batch.X, matrix[first : first + 8])
        place = batch.X.ctypes.data
        assert place != before  # the next batch is read while this one is used
        places.add(place)
        before = place
    assert len(places) == 2


# ------------------------------------------------------------------ Arrow IPC


def written(path, columns, compression=None, chunk=16):
    table = pa.table(columns)
    options = ipc.IpcWriteOptions(compression=compression)
    with ipc.new_file(path, table.schema, options=options) as sink:
        sink.write_table(table, max_chunksize=chunk)
    return path


@pytest.fixture
def converted(monkeypatch):
    """Names of the columns that were not read, but copied out of Arrow's arrays."""
    names, fill = [], values.fill

    def noting(row, chunks, batch, name, dialect):
        names.append(name)
        return fill(row, chunks, batch, name, dialect)

    monkeypatch.setattr("fastgnb.files.tables.sources.fill", noting)
    return names


@POSITIONAL
@pytest.mark.parametrize("batch_rows", [5, 16, 40])
def test_columns_of_plain_numbers_are_read(tmp_path, converted, batch_rows):
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=40) for j in range(3)}
    path = written(tmp_path / "a.arrow", columns)
    X = [batch.X.copy() for batch in open_source([path], batch_rows=batch_rows)]
    assert np.array_equal(np.concatenate(X), np.column_stack(list(columns.values())))
    assert converted == []


@POSITIONAL
def test_other_columns_are_converted_as_they_are_read(tmp_path, converted):
    columns = {
        "nulls": pa.array([1.0, None, 3.0, 4.0]),
        "whole": pa.array([1, 2, 3, 4]),
        "narrow": pa.array([1, 2, 3, 4], pa.float32()),
        "plain": pa.array([1.0, np.nan, np.inf, -0.0]),
    }
    path = written(tmp_path / "a.arrow", columns)
    (batch,) = open_source([path])
    expected = [[1, 1, 1, 1], [np.nan, 2, 2, np.nan], [3, 3, 3, np.inf], [4, 4, 4, -0.0]]
    np.testing.assert_array_equal(batch.X, np.array(expected))
    assert converted == []


def test_compressed_columns_are_converted(tmp_path, converted):
    path = written(tmp_path / "a.arrow", {"x": np.arange(40.0)}, "lz4")
    (batch,) = open_source([path])
    assert np.array_equal(batch.X[:, 0], np.arange(40.0))
    assert converted == ["x"]


def test_single_precision_is_read_as_it_is(tmp_path):
    path = written(tmp_path / "a.arrow", {"x": np.arange(40, dtype=np.float32)})
    (batch,) = open_source([path])
    assert batch.X.dtype == np.float32
    assert np.array_equal(batch.X[:, 0], np.arange(40, dtype=np.float32))


@POSITIONAL
def test_an_arrow_file_that_shrinks_is_an_error(tmp_path):
    path = written(tmp_path / "a.arrow", {"x": np.arange(1000.0)}, chunk=1000)
    source = ArrowMap(path)
    column = ipc.open_file(source.buffer()).get_batch(0).column(0)
    numbers, rows = source.numbers(column), np.empty((1, 990))
    source.read([numbers], 10, rows)
    assert np.array_equal(rows[0], np.arange(10.0, 1000.0))
    os.truncate(path, 4096)
    with pytest.raises(SourceError, match=r"a\.arrow: changed while it was in use"):
        source.read([numbers], 10, rows)
    with pytest.raises(SourceError, match=r"a\.arrow: changed while it was in use"):
        source.check_size()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="Linux lists open files")
@pytest.mark.parametrize("ending", ["arrow", "npy"])
def test_no_file_stays_open(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    if ending == "npy":
        np.save(path, np.ones((100, 2)))
    else:
        written(path, {"x": np.arange(100.0)})
    source = open_source([path], batch_rows=10)
    assert sum(len(batch.X) for batch in source) == 100
    batches = iter(source)
    next(batches)
    del batches
    gc.collect()
    assert str(path) not in open_files()


def test_pages_of_an_arrow_file_are_given_back(tmp_path, monkeypatch):
    forgotten = []
    monkeypatch.setattr(arrow_map.ArrowMap, "forget", lambda self: forgotten.append(1))
    monkeypatch.setattr("fastgnb.files.tables.arrow_file._MAPPED_BYTES", 200)
    path = written(tmp_path / "a.arrow", {"x": np.arange(100.0)})
    source = open_source([path], ColumnRoles(), batch_rows=10)
    assert sum(len(batch.X) for batch in source) == 100
    assert len(forgotten) == 3  # after each 240 bytes of 800


# ------------------------------------------------------------------ labels of text


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_labels_of_text_are_also_told_by_class(tmp_path, ending, is_dictionary):
    y = pa.array(["b", "a", "c", "b", "ä", "a"] * 4)
    y = y.dictionary_encode() if is_dictionary and ending != "csv" else y
    path = write(pa.table({"x": np.arange(24.0), "y": y}), tmp_path / f"data.{ending}")
    for batch in open_source([path], ColumnRoles(target="y"), batch_rows=7):
        expected = encode_labels(batch.y)
        assert batch.coded.classes.tolist() == expected.classes.tolist()
        assert batch.coded.codes.tolist() == expected.codes.tolist()
        assert batch.select(np.arange(len(batch.X)) < 2).coded is None


def test_other_labels_are_not(tmp_path):
    path = write({"x": [1.0, 2.0], "y": [1, 0]}, tmp_path / "data.parquet")
    (batch,) = open_source([path], ColumnRoles(target="y"))
    assert batch.coded is None
