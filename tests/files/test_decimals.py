"""Decimals are read as the nearest float64, as Python reads them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from same_bits import assert_same_bits

from fastgnb import ClassStats, files
from fastgnb.files.tables.decimals import nearest_floats

KINDS = [
    pa.decimal128(1, 0), pa.decimal128(9, 3), pa.decimal128(15, 3), pa.decimal128(15, 15),
    pa.decimal128(16, 3), pa.decimal128(38, 12), pa.decimal128(12, -3), pa.decimal256(60, 20),
]  # fmt: skip


def decimals(kind, n=500):
    """Decimals of up to so many digits, and a null."""
    draw = np.random.default_rng(kind.precision)
    digits = ["".join(draw.choice(list("0123456789"), kind.precision)) for _ in range(n)]
    signs = draw.choice(["", "-"], n)
    values = [Decimal(s + d).scaleb(-kind.scale) for s, d in zip(signs, digits, strict=True)]
    values[n // 3] = None
    return values


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_is_the_nearest_number(kind):
    values = decimals(kind)
    column = pa.array(values, kind)
    expected = np.array([np.nan if value is None else float(value) for value in values])
    np.testing.assert_array_equal(nearest_floats(column), expected)
    np.testing.assert_array_equal(nearest_floats(column.slice(100, 200)), expected[100:300])
    np.testing.assert_array_equal(nearest_floats(column.slice(0, 0)), [])


def test_a_cast_of_arrow_would_not_do():
    column = pa.array(decimals(pa.decimal128(15, 3)), pa.decimal128(15, 3))
    cast = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    assert (cast != nearest_floats(column)).sum() > 1  # the null is one


def test_files_and_rows_in_memory_have_the_same_bits(tmp_path):
    values = [value or Decimal(0) for value in decimals(pa.decimal128(15, 3))]
    y = [i % 2 for i in range(len(values))]
    table = pa.table({"x": pa.array(values, pa.decimal128(15, 3)), "y": y})
    pq.write_table(table, tmp_path / "rows.parquet")
    expected = ClassStats.from_rows(table.select(["x"]), y)
    assert_same_bits(files.fit_stats(tmp_path / "rows.parquet", target="y"), expected)
    assert_same_bits(files.fit_stats(table.to_batches(max_chunksize=7), target="y"), expected)
