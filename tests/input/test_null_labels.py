"""Rows without a label: an error with its row, or left out and counted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source

LABELS = {
    "int": pa.array([7, None, 2**53 + 1, None, 7, None], pa.int64()),
    "float": pa.array([1.0, None, 2.0, np.nan, 1.0, None]),
    "bool": pa.array([True, None, False, None, True, None]),
    "text": pa.array(["a", None, "", None, "a", None]),
    "categories": pa.array(["a", None, "b", None, "a", None]).dictionary_encode(),
    "numbers as categories": pa.array([5, None, 6, None, 5, None]).dictionary_encode(),
    "view": pa.array(["a", None, "b", None, "a", None], pa.large_string()),
}


def drop(**options):
    return ColumnRoles(target="y", drop_null_target=True, **options)


@pytest.mark.parametrize("batch_rows", [1, 2, 4, 100])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_rows_without_a_label_are_left_out_and_counted(tmp_path, labels, ending, batch_rows):
    path = tmp_path / f"data.{ending}"
    rows = np.arange(6.0)
    table = pa.table({"x": rows, "y": labels, "w": rows + 1, "k": rows.astype(int).astype(str)})
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema) as sink:
            sink.write_table(table)
    columns = drop(features=("x",), weight="w", keep=("k",))
    source = open_source([path], columns, batch_rows=batch_rows)
    for _ in range(2):  # the count is that of one reading
        batches = [(b.X.ravel().tolist(), b.y, b.weight, b.kept, b) for b in source]
        assert [v for b in batches for v in b[0]] == [0, 2, 4]
        assert [v for b in batches for v in b[1].tolist()] == labels.take([0, 2, 4]).to_pylist()
        assert np.concatenate([b[2] for b in batches]).tolist() == [1, 3, 5]
        assert [v for b in batches for v in b[3]["k"].to_pylist()] == ["0", "2", "4"]
        numbers = [b[4].row_number(i) for b in batches for i in range(len(b[0]))]
        assert numbers == [1, 3, 5]
        assert source.n_dropped == 3


@pytest.mark.parametrize("values", [["7", "", "12", "", "7", ""], ["a", "", "b", "", "a", ""]])
def test_empty_fields_of_csv(tmp_path, values):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{i},{y}\n" for i, y in enumerate(values)))
    source = open_source([path], drop(), batch_rows=2)
    assert [(b.X.item(), str(b.y[0])) for b in source] == [
        (i, values[i]) for i in range(6) if values[i]
    ]
    assert source.n_dropped == 3


def test_errors_name_the_row_of_the_file(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": [0.0, 1.0, np.inf, np.nan], "y": [None, 1, 2, 3]}), path)
    (batch,) = open_source([path], drop())
    assert "column 'x', row 3: inf is not a finite number" in str(batch.not_finite(1, 0))
    part = batch.select(np.array([False, False, True]))
    assert part.y.tolist() == [3]
    assert "column 'x', row 4: missing value" in str(part.not_finite(0, 0))


def test_labels_of_npy(tmp_path):
    np.save(tmp_path / "X.npy", np.arange(8.0).reshape(4, 2))
    np.save(tmp_path / "y.npy", [np.nan, 1.0, np.nan, 2.0])
    options = {"target_npy": tmp_path / "y.npy", "batch_rows": 3}
    source = open_source([tmp_path / "X.npy"], ColumnRoles(drop_null_target=True), **options)
    found = [(b.X.tolist(), b.y.tolist(), b.row_number(0)) for b in source]
    assert found == [([[2, 3]], [1], 2), ([[6, 7]], [2], 4)]
    assert source.n_dropped == 2
    with pytest.raises(SourceError, match=r"y\.npy: row 1: the label is NaN"):
        list(open_source([tmp_path / "X.npy"], **options))
