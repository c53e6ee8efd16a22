"""Columns of local Arrow files in memory: equal, and never read from pages that are gone."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pytest

from fastgnb.files.errors import SourceError
from fastgnb.files.tables.arrow_map import ArrowMap
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source

N = 40
TEXT = ["", "a", None, "déjà vu", "long " * 9]
COLUMNS = {
    "numbers with nulls": pa.array([1.5, None, 2.5, 3.5] * 10),
    "small numbers": pa.array([1, None, 3, 4] * 10, pa.int8()),
    "booleans": pa.array([True, False, None, True, True] * 8),
    "plain booleans": pa.array([True, False, True, True, False] * 8),
    "text": pa.array(TEXT * 8),
    "text without nulls": pa.array(["b", "a"] * 20),
    "empty text": pa.array([""] * N),
    "large text": pa.array(TEXT * 8, pa.large_string()),
    "bytes": pa.array([b"\0", None, b"\xff\xfe", b""] * 10),
    "classes": pa.array(TEXT * 8).dictionary_encode(),
    "small classes": pa.array([9, 7, None, 9] * 10).dictionary_encode().cast(
        pa.dictionary(pa.int8(), pa.int64())
    ),
    "decimals": pa.array([decimal.Decimal("1.25"), None] * 20),
    "dates": pa.array([datetime.date(2024, 2, 29), None] * 20),
    "times": pa.array([datetime.datetime(2024, 2, 29, 1), None] * 20),
    "fixed bytes": pa.array([b"abc", None] * 20, pa.binary(3)),
}  # fmt: skip
RARE = {
    "lists": pa.array([[1, 2], None, [], [3]] * 10),
    "nothing": pa.nulls(N),
    "structs": pa.array([{"a": 1}, None] * 20),
    "tensors": pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((N, 2))),
}  # fmt: skip
CAN_COPY_VIEWS = hasattr(pa.string_view(), "has_variadic_buffers")  # pyarrow 16 cannot make them
VIEWS = {
    "views": pa.array(TEXT * 8, pa.string_view()),
    "short views": pa.array(["a", "b"] * 20, pa.string_view()),
    "views of bytes": pa.array([b"\0", None, b"\xff\xfe" * 40, b""] * 10, pa.binary_view()),
    "views of one text": pa.array(["the same text"] * N, pa.string_view()),
}
if CAN_COPY_VIEWS:
    nulls, views, text = pa.array(
        [f"text number {i}" for i in range(N)], pa.string_view()
    ).buffers()
    views = np.frombuffer(views, "V16", N)[np.random.default_rng(0).integers(0, N, N)]
    VIEWS["views anywhere"] = pa.Array.from_buffers(
        pa.string_view(), N, [nulls, pa.py_buffer(views), text]
    )
COLUMNS, RARE = (COLUMNS | VIEWS, RARE) if CAN_COPY_VIEWS else (COLUMNS, RARE | VIEWS)


@pytest.fixture
def mapped(tmp_path):
    """A column as the map of a file has it, and the map."""

    def mapped(column):
        table = pa.table({"x": column})
        with ipc.new_file(tmp_path / "a.arrow", table.schema) as sink:
            sink.write_table(table)
        source = ArrowMap(tmp_path / "a.arrow")
        return ipc.open_file(source.buffer()).get_batch(0).column(0), source

    return mapped


@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.parametrize("batch_rows", [1, 7, 8, 13, 64, 1000])
def test_nulls_of_features_are_nan_and_those_of_kept_columns_null(
    tmp_path, batch_rows, compression
):
    n, rng = 333, np.random.default_rng(0)
    kinds = [pa.float64(), pa.float32(), pa.int8(), pa.int64(), pa.uint16(), pa.float16()]
    columns = {}
    for j, (kind, share) in enumerate((k, s) for k in kinds for s in (0.0, 0.2, 0.9)):
        values = rng.integers(0, 99, n).astype(kind.to_pandas_dtype())
        # What stands below a null is not read, whatever it is.
        if values.dtype.kind == "f":
            values[rng.random(n) < 0.1] = np.inf
        null = rng.random(n) < share
        buffers = [pa.py_buffer(np.packbits(~null, bitorder="little")), pa.py_buffer(values)]
        if values.dtype.kind == "f":
            values[np.isinf(values) & ~null] = 1.0
        columns[f"x{j}"] = pa.Array.from_buffers(kind, n, buffers)
        columns[f"k{j}"] = columns[f"x{j}"]
    table, path = pa.table(columns), tmp_path / "a.arrow"
    with ipc.new_file(
        path, table.schema, options=ipc.IpcWriteOptions(compression=compression)
    ) as f:
        f.write_table(table, max_chunksize=100)
    names = tuple(name for name in columns if name.startswith("x"))
    kept = tuple(name for name in columns if name.startswith("k"))
    roles = ColumnRoles(features=names, keep=kept)
    source = open_source([path], roles, batch_rows=batch_rows)
    parts = [(batch.X.copy(), batch.kept) for batch in source]  # X is written to again
    X = np.concatenate([part for part, _ in parts])
    wanted = [[np.nan if v is None else v for v in columns[x].to_pylist()] for x in names]
    np.testing.assert_array_equal(X, np.array(wanted).T)
    found = pa.Table.from_batches([part for _, part in parts])
    assert found.equals(table.select(kept))


def memory_of(column):
    parts = [column.indices, column.dictionary] if pa.types.is_dictionary(column.type) else [column]
    return [part for one in parts for part in one.buffers() if part is not None and part.size]


def test_record_batches_of_one_row_are_joined(tmp_path):
    n, path = 1500, tmp_path / "a.arrow"
    values, text = np.arange(float(n)), [f"t{i}" for i in range(n)]
    table = pa.table({
        "x": values, "null": pa.array(values, mask=values % 3 == 0),
        "whole": np.arange(n), "kept": text,
    })  # fmt: skip
    with ipc.new_file(path, table.schema) as sink:
        sink.write_table(table, max_chunksize=1)
    source = open_source([path], ColumnRoles(exclude=("kept",), keep=("kept",)), batch_rows=1400)
    found = [(batch.X.copy(), batch.kept.column(0).to_pylist()) for batch in source]
    wanted = np.column_stack([values, np.where(values % 3 == 0, np.nan, values), values])
    assert [len(X) for X, _ in found] == [1400, 100]
    np.testing.assert_array_equal(np.concatenate([X for X, _ in found]), wanted)
    assert [each for _, kept in found for each in kept] == text


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_in_memory_are_equal(mapped, name):
    column, source = mapped(COLUMNS[name])
    start, size = source.buffer().address, source.buffer().size
    assert all(start <= part.address < start + size for part in memory_of(column))
    for first in (0, 1, 7, 8, 9, 39):
        for n in (1, 8, 17, N):
            wanted = column.slice(first, n)
            found = source.in_memory(wanted)
            found.validate(full=True)
            assert found.equals(wanted)
            assert found.type == column.type
            assert not any(start <= p.address < start + size for p in memory_of(found))
    assert source.in_memory(column.slice(3, 0)).equals(column.slice(3, 0))


def test_a_dictionary_is_read_once_for_all_slices(mapped):
    column, source = mapped(COLUMNS["classes"])
    column = source.with_dictionary(column)
    for first in (0, 9):
        found = source.in_memory(column.slice(first, 9))
        assert found.equals(COLUMNS["classes"].slice(first, 9))
        assert found.dictionary.buffers()[1].address == column.dictionary.buffers()[1].address


@pytest.mark.parametrize("name", RARE)
def test_columns_of_rare_types_stay_in_the_map(mapped, name):
    column, source = mapped(RARE[name])
    assert source.in_memory(column) is column


@pytest.mark.parametrize("offsets", [[0, 1, 2**30], [0, 9, 3], [-4, 1, 2], [3, 2, 1]])
def test_offsets_that_lead_elsewhere_are_told_when_the_column_is_checked(mapped, offsets):
    column, source = mapped(pa.array(["abc", "def"]))
    start = column.buffers()[1].address - source.buffer().address
    with open(source.path, "r+b") as file:
        file.seek(start)
        file.write(np.array(offsets, np.int32).tobytes())
    with pytest.raises(pa.ArrowInvalid, match=r"(?i)offset"):
        source.in_memory(column).validate(full=True)


def test_a_dictionary_of_negative_length_is_an_error(tmp_path):
    n = 77  # which occurs nowhere else
    labels = pa.array([f"{i % n}" for i in range(90)]).dictionary_encode()
    table = pa.table({"x": np.ones(90), "c": labels})
    path = tmp_path / "a.arrow"
    with ipc.new_file(path, table.schema) as sink:
        sink.write_table(table)
    whole, number = path.read_bytes(), n.to_bytes(8, "little")
    places = [at for at in range(0, len(whole), 8) if whole[at : at + 8] == number]
    said = []
    for at in places:  # one is the number that Arrow goes by
        path.write_bytes(whole[:at] + (-n).to_bytes(8, "little", signed=True) + whole[at + 8 :])
        try:
            list(open_source([path], ColumnRoles(target="c")))
        except SourceError as error:
            said.append(str(error))
    assert f"{path}: Array length is negative" in said


CUT = """
import itertools, os, sys
import numpy as np
import pyarrow as pa, pyarrow.ipc as ipc
from fastgnb.files.errors import SourceError
from fastgnb.files.tables import sources
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.file_options import FileOptions
path, form, text = sys.argv[1:]
n = 60_000
kinds = [f"class {i}" for i in np.arange(n) % 3]
table = pa.table({
    "z": pa.array(kinds, mask=np.arange(n) % 5 == 0),
    "a": np.arange(float(n)), "b": pa.array([1.0, None, 2.0] * (n // 3)), "y": kinds,
    "c": pa.array(kinds).dictionary_encode(), "d": np.arange(n) % 2 == 0,
    "e": np.arange(n), "f": np.arange(n, dtype=np.float32),
    "g": pa.array([f"the text of row {i}" for i in range(n)], getattr(pa, text)()),
})
open_sink = ipc.new_file if form == "file" else ipc.new_stream
sources.check_unchanged = lambda *args, **options: None  # as if it was cut just afterwards
ways = (None, False), ("b < 2", False), (None, True)
for (batch_rows, chunk), (where, drop) in itertools.product(
    ((1000, n), (1000, 500), (20_000, 15_000)), ways
):
    for cut in (0, 8, 5000, 0.2, 0.6, 0.95):
        with open_sink(path, table.schema) as sink:
            sink.write_table(table, max_chunksize=chunk)
        parts = ColumnRoles(
            target="yz"[drop], exclude=("zy"[drop],), keep=tuple("cdeg"), drop_null_target=drop
        )
        options = FileOptions(where=where)
        source = sources.open_source([path], parts, batch_rows=batch_rows, options=options)
        source.reads_ahead = False  # so that it is cut between two reads
        batches = iter(source)
        next(batches)
        os.truncate(path, int(os.path.getsize(path) * cut) if cut < 1 else cut)
        try:
            print(sum(len(batch.X) + len(batch.kept) for batch in batches))
        except SourceError as error:
            assert "changed while" in str(error), error
"""


@pytest.mark.parametrize("form", ["file", "stream"])
def test_a_file_cut_after_each_check_is_an_error(python, tmp_path, form):
    """To touch pages of the map that the file no longer has would end the process."""
    text = "string_view" if CAN_COPY_VIEWS else "string"
    assert python(CUT, str(tmp_path / "a.arrow"), form, text) == ""


@pytest.mark.skipif(not CAN_COPY_VIEWS, reason="pyarrow 16")
@pytest.mark.parametrize(
    ("at", "value"), [(2, 1), (2, -1), (3, -1), (3, 2**31 - 1), (0, 2**31 - 1), (0, -1)]
)
def test_views_that_lead_elsewhere_are_told_when_the_column_is_checked(mapped, at, value):
    column, source = mapped(pa.array(["a long enough text", "abc"], pa.string_view()))
    start = column.buffers()[1].address - source.buffer().address
    with open(source.path, "r+b") as file:
        file.seek(start + 4 * at)
        file.write(np.int32(value).tobytes())
    with pytest.raises(pa.ArrowException, match=r"View at slot 0"):
        source.in_memory(column).validate(full=True)
