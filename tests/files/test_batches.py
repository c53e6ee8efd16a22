"""`files.Batches`: rows of any Arrow stream, in batches of one size."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastgnb.files import Batches, SourceError
from fastgnb.files.tables import cutting


def batches_of(lengths):
    """Record batches of these lengths, whose rows are numbered through."""
    batches, start = [], 0
    for n in lengths:
        rows = range(start, start + n)
        batches.append(
            pa.record_batch(
                {
                    "x": pa.array(rows, pa.int64()),
                    "t": pa.array([f"t{i}" for i in rows], pa.string()),
                }
            )
        )
        start += n
    return batches


def lists_cut(lengths, rows):
    """The slow twin: one list, cut after each `rows`."""
    numbers = list(range(sum(lengths)))
    return [numbers[i : i + rows] for i in range(0, len(numbers), rows)]


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 10, 11, 1000])
@pytest.mark.parametrize(
    "lengths", [[10], [0, 3, 0, 7, 1, 0], [1] * 9, [20, 1, 20], [0], [7, 7, 7]]
)
def test_rows_are_cut_where_a_list_is(lengths, rows):
    result = list(Batches(batches_of(lengths), rows))
    assert [batch.column("x").to_pylist() for batch in result] == lists_cut(lengths, rows)
    assert [t for batch in result for t in batch.column("t").to_pylist()] == [
        f"t{i}" for i in range(sum(lengths))
    ]
    assert all(batch.schema == result[0].schema for batch in result)


@pytest.mark.parametrize("rows", [100, 257, 999, 5000])
def test_many_pieces_of_few_rows_are_joined(rows):
    """Each takes some kB besides its rows, which would count where rows are few."""
    lengths = [1, 2, 0, 3, 90] * 100 + [1] * 3000
    pieces = batches_of(lengths)
    pieces[7] = pieces[7].set_column(1, "t", pa.nulls(len(pieces[7])))
    found = list(cutting.cut(pieces, rows))
    assert [batch.column("x").to_pylist() for batch in found] == lists_cut(lengths, rows)
    texts = [text for batch in found for text in batch.column("t").to_pylist()]
    wanted = [text for piece in pieces for text in piece.column(1).to_pylist()]
    assert texts == wanted
    assert max(len(batch.parts) for batch in found) <= 2 * 256


TABLE = pa.table({"x": [1.0, None, 3.0, 4.0, 5.0], "t": ["a", "b", None, "a", "c"]})


def streams():
    parts = TABLE.to_batches(max_chunksize=2)
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, parts)
    return {
        "table": TABLE,
        "list of batches": parts,
        "list of tables": [TABLE[:1], TABLE[1:1], TABLE[1:]],
        "generator": (part for part in parts),
        "reader": reader,
        "polars": pl.DataFrame(TABLE),
        "polars lazy": pl.DataFrame(TABLE).lazy(),
        "polars parts": [pl.DataFrame(TABLE[:2]), pl.DataFrame(TABLE[2:])],
        "pandas": TABLE.to_pandas(),
    }


@pytest.mark.parametrize("kind", list(streams()))
def test_every_kind_of_stream(kind):
    if kind == "polars lazy" and not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars has no batches")
    batches = Batches(streams()[kind], 3)
    assert batches.schema.names == ["x", "t"]
    result = list(batches)
    assert [len(batch) for batch in result] == [3, 2]
    joined = pa.Table.from_batches(result)
    assert joined["x"].to_pylist() == TABLE["x"].to_pylist()
    assert joined["t"].to_pylist() == TABLE["t"].to_pylist()


def test_one_record_batch():
    (batch,) = TABLE[:2].to_batches()
    assert list(Batches(batch)) == [batch]


def test_a_slice_is_no_copy():
    (whole,) = pa.table({"x": np.arange(10.0)}).to_batches()
    first, second = Batches([whole], 5)
    address = whole.column("x").buffers()[1].address
    assert first.column("x").buffers()[1].address == address
    assert second.column("x").buffers()[1].address == address
    assert second.column("x").offset == 5


def test_at_most_one_batch_of_the_stream_is_taken_ahead():
    taken = []

    def stream():
        for i, batch in enumerate(batches_of([4] * 10)):
            taken.append(i)
            yield batch

    for n, batch in enumerate(Batches(stream(), 8), 1):
        assert len(batch) == 8
        assert len(taken) == 2 * n


def test_without_a_batch_the_columns_are_not_known():
    empty = Batches([])
    assert list(empty) == []
    with pytest.raises(ValueError, match="The stream has no batch, so that its columns are not"):
        _ = empty.schema
    known = Batches(pa.RecordBatchReader.from_batches(TABLE.schema, []))
    assert list(known) == []
    assert known.schema == TABLE.schema


def test_a_table_is_read_again_and_a_reader_is_not():
    again = Batches(TABLE, 2)
    assert list(again) == list(again)
    once = Batches(pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches()), 2)
    list(once)
    with pytest.raises(ValueError, match="The stream was read before, and can be read once only"):
        list(once)
    once = Batches(part for part in TABLE.to_batches())
    list(once)
    with pytest.raises(ValueError, match="Pass a table, or a list of batches"):
        list(once)


# ------------------------------------------------------------------ types


TYPES = [
    pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(9, 3), pa.bool_(),
    pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()), pa.date32(), pa.null(),
    pa.run_end_encoded(pa.int64(), pa.float64()), pa.list_(pa.float64()),
]  # fmt: skip


def values_for(kind):
    if pa.types.is_null(kind):
        return pa.nulls(5)
    if pa.types.is_list(kind):
        return pa.array([[1.0], None, [], [2.0, 3.0], [4.0]], kind)
    if pa.types.is_run_end_encoded(kind):
        return pa.RunEndEncodedArray.from_arrays([2, 5], [1.5, None])
    if pa.types.is_dictionary(kind):
        indices = pa.array([0, 1, None, 0, 1], kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, pa.array(["b", "a"], kind.value_type))
    if pa.types.is_string_view(kind) or "string" in str(kind):
        return pa.array(["b", "a", None, "b", ""], kind)
    if pa.types.is_float16(kind):
        return pa.array(np.array([1, 0, 1, 2, 1], np.float16))
    if pa.types.is_date32(kind):
        return pa.array([1, 0, 1, None, 1], pa.int32()).cast(kind)
    if pa.types.is_decimal(kind):
        return pa.array([Decimal("1.250"), None, Decimal(0), Decimal(-3), Decimal(1)], kind)
    return pa.array([1, 0, 1, None, 1]).cast(kind)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type_is_joined(kind):
    column = values_for(kind)
    pieces = [pa.record_batch([column.slice(i, 1)], names=["c"]) for i in range(5)]
    batches = Batches(pieces, 3)
    result = list(batches)
    assert [len(batch) for batch in result] == [3, 2]
    assert [
        value for batch in result for value in batch.column("c").to_pylist()
    ] == column.to_pylist()
    assert all(batch.schema == batches.schema for batch in result)
    if not pa.types.is_dictionary(kind):
        assert batches.schema.field("c").type == kind


def test_dictionaries_of_other_values_are_joined_beyond_their_indices():
    """100 values in each batch, where the indices of one hold 128."""
    values = [f"v{i}" for i in range(300)]
    pieces = [
        pa.record_batch({"c": pd.Categorical(values[i : i + 100])}) for i in range(0, 300, 100)
    ]
    assert pieces[0].schema.field("c").type.index_type == pa.int8()
    batches = Batches(pieces, 250)
    result = list(batches)
    assert batches.schema.field("c").type.index_type == pa.int32()
    assert [value for batch in result for value in batch.column("c").to_pylist()] == values


def test_dictionaries_that_hold_a_null_are_joined():
    pieces = [
        pa.record_batch({"c": pa.DictionaryArray.from_arrays([0, 1], ["a", None])}),
        pa.record_batch({"c": pa.DictionaryArray.from_arrays([1, 0], [None, "b"])}),
    ]
    batches = Batches(pieces, 4)
    (result,) = batches
    assert result.column("c").to_pylist() == ["a", None, "b", None]
    assert result.schema == batches.schema


# ------------------------------------------------------------------ batches that differ


def test_columns_are_matched_by_name_and_nulls_are_of_any_type():
    pieces = [
        pa.record_batch({"a": [1.0], "b": ["x"]}),
        pa.record_batch({"b": pa.nulls(1), "a": [2.0]}),
        pa.record_batch({"b": ["y"], "a": pa.nulls(1)}),
    ]
    (result,) = Batches(pieces)
    assert result.to_pydict() == {"a": [1.0, 2.0, None], "b": ["x", None, "y"]}


FIRST = {"a": [1.0], "b": ["x"]}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": ["1"], "b": ["x"]}, "batch 2: column 'a' is string, but double in the first batch"),
        ({"a": [1], "b": ["x"]}, "batch 2: column 'a' is int64, but double .* cast it"),
        ({"a": [1.0], "b": [1]}, "batch 2: column 'b' is int64, but string in the first batch"),
        ({"a": [1.0]}, "batch 2 has no column b, unlike the first batch"),
        ({"a": [1.0], "b": ["x"], "c": [1]}, "batch 2 has a column c, unlike the first batch"),
        ({"a": [1.0], "B": ["x"]}, "batch 2 has no column b and a column B, unlike"),
    ],
)
def test_other_columns_are_an_error_that_names_the_batch(second, message):
    batches = iter(Batches([pa.record_batch(FIRST), pa.record_batch(second)], 1))
    next(batches)
    with pytest.raises(SourceError, match=message):
        next(batches)


def test_a_column_of_nulls_has_the_type_null_for_all_batches():
    with pytest.raises(SourceError, match="batch 2: column 'a' is double, but null in the first"):
        list(Batches([pa.record_batch({"a": pa.nulls(2)}), pa.record_batch({"a": [1.0]})]))


def test_a_name_twice():
    twice = pa.RecordBatch.from_arrays([pa.array([1.0])] * 3, names=["a", "b", "b"])
    with pytest.raises(SourceError, match="batch 2 has a name twice, unlike the first batch"):
        list(Batches([pa.record_batch(FIRST), twice]))


def test_what_a_stream_raises_is_passed_on():
    def stream():
        yield pa.record_batch(FIRST)
        raise KeyError("lost")

    batches = iter(Batches(stream(), 1))
    next(batches)
    with pytest.raises(KeyError, match="lost"):
        next(batches)


@pytest.mark.parametrize("stream", [3, "rows.parquet", {"a": [1]}, None, b"ARROW1"])
def test_other_objects_are_no_stream(stream):
    with pytest.raises(TypeError, match="Expected a stream of Arrow data: record batches or"):
        Batches(stream)


def test_other_elements_are_no_batches():
    with pytest.raises(TypeError, match="got an element of type ndarray"):
        Batches([np.zeros(3)])
    batches = Batches([TABLE, 3])
    with pytest.raises(TypeError, match="got an element of type int"):
        list(batches)


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, None, "3"])
def test_rows_is_a_count(rows):
    with pytest.raises(ValueError, match="rows must be a whole number, 1 or more"):
        Batches(TABLE, rows)
