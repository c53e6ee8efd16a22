"""Rows of an Arrow stream, as rows of files are: the same batches, and errors with a name."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table_files import write

from fastgnb.files import SourceError
from fastgnb.files.jobs.bad_rows import BadRows
from fastgnb.files.jobs.learn_rows import StatsKind, learn
from fastgnb.files.tables.arrow_rows import ArrowRows
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source
from fastgnb.stats.tree import batch_rows

ROLES = ColumnRoles("y", "w", ("a", "n", "b"), keep=("t",))


def rows_of(stream, columns=None, **options):
    """What each batch holds, copied."""
    return copies(ArrowRows(stream, columns, **options))


def copies(source):
    return [
        (batch.X.copy(), batch.y, batch.weight, batch.kept, batch.first_row) for batch in source
    ]


def same(found, expected):
    assert len(found) == len(expected) > 0
    for a, b in zip(found, expected, strict=True):
        assert a[0].dtype == b[0].dtype
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
        np.testing.assert_array_equal(a[2], b[2])
        assert a[3].to_pydict() == b[3].to_pydict()
        assert a[4:] == b[4:]


@pytest.mark.parametrize("batch_rows", [None, 1, 7, 50])
@pytest.mark.parametrize("chunk", [1, 6, 50])
def test_a_stream_gives_the_batches_of_a_file(tmp_path, table, chunk, batch_rows):
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path)
    expected = copies(open_source([path], ROLES, batch_rows=batch_rows))
    stream = (part for part in table.to_batches(max_chunksize=chunk))
    same(rows_of(stream, ROLES, batch_rows=batch_rows), expected)


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("blocks", [1, 3, 8, 25])
def test_batches_do_not_depend_on_the_blocks_of_a_file(
    tmp_path, table, ending, blocks, monkeypatch
):
    path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        pq.write_table(table, path, row_group_size=blocks)
    elif ending == "arrow":
        with pa.ipc.new_file(path, table.schema) as sink:
            sink.write_table(table, max_chunksize=blocks)
    else:
        monkeypatch.setattr("fastgnb.files.tables.csv_file.CSV_BLOCK_BYTES", 60 * blocks)
        write(table, path)
    columns = ColumnRoles("y", features=("a", "n"), keep=("t",))
    found = list(open_source([path], columns, batch_rows=8))
    assert [len(batch.y) for batch in found] == [8] * 6 + [2]
    assert [batch.first_row for batch in found] == list(range(0, 50, 8))
    assert [t for batch in found for t in batch.kept["t"].to_pylist()] == table["t"].to_pylist()


def test_rows_are_cut_by_all_features_whatever_their_type():
    n = 2 * batch_rows(40) + 5
    floats = {f"f{j}": np.zeros(n, np.float32) for j in range(39)}
    table = pa.table({**floats, "c": np.zeros(n, np.int64), "y": np.zeros(n, np.int64)})
    source = ArrowRows(table, ColumnRoles("y", categorical=("c",)))
    assert source.dtype == np.float32
    assert [len(batch.X) for batch in source] == [batch_rows(40)] * 2 + [5]


def test_rows_are_left_out_after_the_cut():
    y = [0, None, None, None, 1, 0, None]
    source = ArrowRows(
        pa.table({"x": np.arange(7.0), "y": pa.array(y)}),
        ColumnRoles("y", drop_null_target=True),
        batch_rows=2,
    )
    assert [batch.first_row for batch in source] == [0, 4]
    assert [batch.X[:, 0].tolist() for batch in source] == [[0.0], [4.0, 5.0]]
    assert source.n_dropped == 4


# ------------------------------------------------------------------ streams without much in them


@pytest.mark.parametrize(
    "stream",
    [
        [],
        pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.string())}),
        pa.table({"x": pa.nulls(0), "y": pa.nulls(0)}),
        [pa.record_batch({"x": pa.nulls(0), "y": pa.nulls(0)})] * 3,
    ],
    ids=["no batch", "no row", "no type", "empty batches"],
)
def test_a_stream_without_rows_gives_no_batch(stream):
    source = ArrowRows(stream, ColumnRoles("y", features=("x",)))
    assert list(source) == []
    assert source.features == ("x",)
    assert learn(source, StatsKind()) is None


def test_without_a_batch_the_features_have_to_be_named():
    with pytest.raises(SourceError, match=r"^part 7: no column with values to use as a feature"):
        ArrowRows([], ColumnRoles("y"), name="part 7")


def test_columns_of_nulls_are_features_where_they_are_named():
    for nulls in (pa.nulls(3), pa.nulls(3, pa.float64()), pa.nulls(3, pa.string())):
        table = pa.table({"x": [1.0, 2.0, 3.0], "z": nulls, "y": [0, 1, 0]})
        (batch,) = ArrowRows(table, ColumnRoles("y", features=("x", "z")))
        assert np.isnan(batch.X[:, 1]).all()


def test_a_column_of_nulls_may_hold_values_later():
    pieces = [
        pa.record_batch({"x": pa.nulls(2), "c": pa.nulls(2), "y": [0, 1]}),
        pa.record_batch({"x": [1.5, None], "c": ["u", "v"], "y": [0, 1]}),
        pa.record_batch({"x": pa.nulls(1), "c": pa.nulls(1), "y": [1]}),
    ]
    columns = ColumnRoles("y", features=("x", "c"), categorical=("c",))
    for rows in (1, 2, 3, 5):
        source = ArrowRows(pieces, columns, batch_rows=rows)
        stats = learn(source, StatsKind(skip=True, mixed=True), max_categories=10)
        assert stats.categories[0].tolist() == ["u", "v"]
        assert stats.n_features == 2


# ------------------------------------------------------------------ types


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 3], pa.int8()),
        pa.array([1, None, 3], pa.uint64()),
        pa.array([Decimal("1.0"), None, Decimal("3.0")], pa.decimal128(9, 3)),
        pa.array([np.float16(1), None, np.float16(3)], pa.float16()),
        pa.array([1.0, None, 3.0], pa.float32()),
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int8()), [1.0, 3.0]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), [1.0, None, 3.0]),
        pa.RunEndEncodedArray.from_arrays([1, 2, 3], [1.0, None, 3.0]),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("batch_rows", [1, 2, 3])
def test_numbers_of_every_type(column, batch_rows):
    pieces = [pa.record_batch([column.slice(i, 1)], names=["x"]) for i in range(3)]
    X = np.concatenate([batch.X.copy() for batch in ArrowRows(pieces, batch_rows=batch_rows)])
    np.testing.assert_array_equal(X[:, 0], [1.0, np.nan, 3.0])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("coded", [False, True])
def test_text_of_every_type_as_labels_categories_and_kept_columns(kind, coded):
    if kind == pa.string_view():
        try:
            pa.array(["b"], kind).cast(pa.string())
        except pa.ArrowNotImplementedError:
            pytest.skip("this pyarrow cannot read string views")
    column = pa.array(["b", "a", "b", "a"], kind)
    if coded:
        column = pa.DictionaryArray.from_arrays([0, 1, 0, 1], pa.array(["b", "a"], kind))
    table = pa.table({"x": np.arange(4.0), "y": column, "c": column, "k": column})
    columns = ColumnRoles("y", features=("x", "c"), categorical=("c",), keep=("k",))
    pieces = table.to_batches(max_chunksize=1)
    (batch,) = ArrowRows(pieces, columns)
    assert batch.y.tolist() == ["b", "a", "b", "a"]
    (categories,) = batch.categorical
    assert categories.labels[categories.codes].tolist() == ["b", "a", "b", "a"]
    assert batch.kept["k"].to_pylist() == ["b", "a", "b", "a"]


# ------------------------------------------------------------------ errors


def test_errors_name_the_stream_and_the_row():
    table = pa.table({"x": [1.0, np.inf], "y": [0, 1]})
    source = ArrowRows(table, ColumnRoles("y"), name="partition 3")
    with pytest.raises(SourceError, match=r"^partition 3: column 'x', row 2: inf is not a finite"):
        learn(source, StatsKind(), bad=BadRows("fail", skip=False, can_skip=True))
    null = pa.table({"x": [1.0, 2.0, 3.0], "y": [0, 1, None]})
    with pytest.raises(SourceError, match=r"^partition 3: column 'y', row 3: the label is null"):
        list(ArrowRows(null, ColumnRoles("y"), name="partition 3"))
    with pytest.raises(SourceError, match=r"^partition 3: column 'z' is missing; found 'x', 'y'"):
        ArrowRows(table, ColumnRoles("z"), name="partition 3")


def test_a_batch_of_other_columns_is_named():
    pieces = [pa.record_batch({"x": [1.0]}), pa.record_batch({"x": ["one"]})]
    with pytest.raises(SourceError, match=r"^partition 3: batch 2: column 'x' is string, but doub"):
        list(ArrowRows(pieces, name="partition 3"))


def test_text_is_no_number():
    pieces = [pa.record_batch({"x": pa.array([None, text])}) for text in ("5", "6")]
    source = ArrowRows(pieces, ColumnRoles(features=("x",)), name="partition 3")
    message = r"^partition 3: column 'x', row 2: a value of type string, expected numbers"
    with pytest.raises(SourceError, match=message):
        list(source)
    later = [pa.record_batch({"x": pa.nulls(3)}), pa.record_batch({"x": ["5"]})]
    with pytest.raises(SourceError, match=r"^stream: column 'x', row 4: a value of type string"):
        list(ArrowRows(later, ColumnRoles(features=("x",))))


def test_dates_are_no_labels():
    table = pa.table({"x": [1.0, 2.0], "y": pa.array([1, 2], pa.int32()).cast(pa.date32())})
    with pytest.raises(SourceError, match=r"^stream: column 'y', row 1: a value of type date32"):
        list(ArrowRows(table, ColumnRoles("y")))


class Lost(Exception):
    pass


def test_what_the_stream_raises_is_the_cause():
    def stream():
        yield pa.record_batch({"x": [1.0]})
        raise Lost("connection\nlost")

    source = ArrowRows(stream(), name="partition 3")
    with pytest.raises(SourceError, match=r"^partition 3: the stream failed with Lost: ") as caught:
        list(source)
    assert isinstance(caught.value.__cause__, Lost)

    def broken():
        raise Lost
        yield

    with pytest.raises(SourceError, match="the stream failed with Lost: no reason given"):
        ArrowRows(broken())


def test_other_objects_are_no_stream():
    with pytest.raises(TypeError, match="Expected a stream of Arrow data"):
        ArrowRows("rows.parquet")


def test_a_table_is_read_again_and_a_generator_is_not():
    table = pa.table({"x": [1.0, 2.0], "y": [0, 1]})
    source = ArrowRows(table, ColumnRoles("y"), batch_rows=1)
    assert [batch.X.item() for batch in source] == [batch.X.item() for batch in source]
    source = ArrowRows((batch for batch in table.to_batches()), ColumnRoles("y"))
    list(source)
    with pytest.raises(ValueError, match="The stream was read before"):
        list(source)
