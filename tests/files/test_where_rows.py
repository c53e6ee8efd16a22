"""Rows that meet a condition: the same in every format, whatever is skipped on the way."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_rows import FORMATS, read
from table_files import write

from fastgnb import files
from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.file_options import FileOptions
from fastgnb.files.tables.filtered_file import FilteredFile
from fastgnb.files.tables.sources import open_source
from fastgnb.files.tables.where_files import open_files

pytestmark = pytest.mark.any_version

ROLES = ColumnRoles("y", features=("x",))
N = 300


def columns(seed=0, n=N):
    """Columns with missing values, as Python lists. `t` goes up, so that row groups differ."""
    rng = np.random.default_rng(seed)

    def some(values):
        return [None if rng.random() < 0.1 else value for value in values]

    return {
        "x": rng.normal(size=n).tolist(),
        "t": list(range(n)),
        "n": some(rng.integers(-3, 4, n).tolist()),
        "f": some(rng.integers(-6, 7, n) / 2.0),
        "s": some(rng.choice(["east", "west", "süd", "it's"], n).tolist()),
        "b": some((rng.random(n) < 0.5).tolist()),
        "d": [str(datetime.date(2026, 1, 1) + datetime.timedelta(days=i)) for i in range(n)],
        "y": rng.choice(["u", "v"], n).tolist(),
    }


def not_null(function):
    """A comparison, false where a value is missing."""
    return lambda *values: None not in values and bool(function(*values))


# Conditions with the columns that the oracle takes, and the oracle.
CASES = {
    "t >= 250": ("t", lambda t: t >= 250),
    "t < 10 or t > 290": ("t", lambda t: t < 10 or t > 290),
    "100 <= t < 200 and n != 0": ("tn", not_null(lambda t, n: 100 <= t < 200 and n != 0)),
    "not (t < 200 or n == 1)": ("tn", not_null(lambda t, n: not (t < 200 or n == 1))),
    "n > 1.5": ("n", not_null(lambda n: n > 1.5)),
    "n == 1.5": ("n", lambda n: False),
    "n != 1.5": ("n", not_null(lambda n: True)),
    "n <= -2.5 or n >= 99999999999999999999": ("n", not_null(lambda n: n <= -2.5)),
    "n in (1, 2.0, 7)": ("n", not_null(lambda n: n in (1, 2))),
    "n not in (1, 2)": ("n", not_null(lambda n: n not in (1, 2))),
    "n is null": ("n", lambda n: n is None),
    "n is not null and f is null": ("nf", lambda n, f: n is not None and f is None),
    "f < 0.5": ("f", not_null(lambda f: f < 0.5)),
    "f == 1 or f in (-2.5)": ("f", not_null(lambda f: f in (1, -2.5))),
    "s == 'east'": ("s", not_null(lambda s: s == "east")),
    "s in (\"süd\", 'it''s')": ("s", not_null(lambda s: s in ("süd", "it's"))),
    "s > 'it' and s != 'west'": ("s", not_null(lambda s: s > "it" and s != "west")),
    "b == true": ("b", not_null(lambda b: b)),
    "b != TRUE and b is not null": ("b", not_null(lambda b: not b)),
    "d >= '2026-05-01'": ("d", lambda d: d >= "2026-05-01"),
    "n < f": ("nf", not_null(lambda n, f: n < f)),
    "y == 'u' and x > 0": ("yx", lambda y, x: y == "u" and x > 0),
    "t >= 1000": ("t", lambda t: False),
    "t >= 0": ("t", lambda t: True),
}


def expected(data, text):
    names, oracle = CASES[text]
    return [i for i in range(len(data["t"])) if oracle(*(data[name][i] for name in names))]


def saved(data, path, **options):
    types = {"n": pa.int32(), "f": pa.float64(), "b": pa.bool_(), "s": pa.string()}
    table = pa.table({k: pa.array(v, types.get(k)) for k, v in data.items()})
    table = table.set_column(table.column_names.index("d"), "d", table["d"].cast(pa.date32()))
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=40, **options)
        return path
    return write(table, path)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("text", CASES)
def test_rows_are_those_of_python(tmp_path, ending, text):
    """In every format, in batches of any size, and with or without statistics."""
    data = columns()
    path = saved(data, tmp_path / f"d.{ending}")
    rows = expected(data, text)
    for batch_rows in [7, 64, None]:
        X, y, _, _ = read(path, ROLES, options=FileOptions(where=text), batch_rows=batch_rows)
        assert X[:, 0].tolist() == [data["x"][i] for i in rows]
        assert (y.tolist() if rows else []) == [data["y"][i] for i in rows]


@pytest.mark.parametrize("text", CASES)
def test_statistics_skip_only_rows_that_do_not_count(tmp_path, text):
    data = columns()
    plain = saved(data, tmp_path / "plain.parquet", write_statistics=False)
    told = saved(data, tmp_path / "told.parquet")
    options = FileOptions(where=text)
    for batch_rows in [7, 100]:
        batches = [
            [(b.X.copy(), [b.row_number(i) for i in range(len(b.X))]) for b in
             open_source([path], ROLES, options=options, batch_rows=batch_rows)]
            for path in (plain, told)
        ]  # fmt: skip
        assert len(batches[0]) == len(batches[1])
        for (X, numbers), (other, same) in zip(*batches, strict=True):
            np.testing.assert_array_equal(X, other)
            assert numbers == same
    (file,), _ = open_files([plain], ROLES, options)
    assert isinstance(file, FilteredFile)
    assert file.n_skipped == 0


@pytest.mark.parametrize(
    ("text", "skipped"),
    [("t >= 250", 6), ("t < 10 or t > 290", 6), ("t == 5", 7), ("t in (5, 6, 45)", 6),
     ("not t < 250", 6), ("t >= 250 or x is null", 0), ("t > 1000 or s == 'zzz'", 8),
     ("t >= 80 and s < 'a'", 8), ("d > '2026-01-02'", 0), ("t is null", 8)],
)  # fmt: skip
def test_row_groups_that_are_skipped_are_told(tmp_path, text, skipped):
    path = saved(columns(), tmp_path / "d.parquet")
    source = open_source([path], ROLES, options=FileOptions(where=text))
    told = f"skipped, as no row meets --where: {skipped} of 8 row groups by their statistics"
    assert (told in source.notes) == bool(skipped)
    rows = sum(len(batch.X) for batch in source)
    assert source.n_filtered == (0 if skipped == 8 else N - rows)


def test_row_groups_that_are_skipped_are_not_read(tmp_path):
    """A damaged page is found only where its row group is read."""
    path = saved(columns(), tmp_path / "d.parquet", write_page_checksum=True)
    meta = pq.ParquetFile(path).metadata
    column = meta.row_group(0).column(meta.schema.names.index("x"))
    content = bytearray(path.read_bytes())
    middle = column.data_page_offset + column.total_compressed_size // 2
    content[middle : middle + 8] = bytes(8)
    path.write_bytes(content)
    read(path, ROLES, options=FileOptions(where="t >= 40"))
    with pytest.raises(SourceError, match=r"d\.parquet"):
        read(path, ROLES, options=FileOptions(where="t >= 39"))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_model_is_that_of_the_rows_alone_and_the_same_whatever_is_skipped(tmp_path, ending):
    data = columns(n=3000)
    path = saved(data, tmp_path / f"d.{ending}")
    model = files.fit(path, target="y", features="x", where="t >= 1500 and b == true")
    rows = [i for i in range(1500, 3000) if data["b"][i]]
    part = {name: [values[i] for i in rows] for name, values in data.items()}
    alone = files.fit(saved(part, tmp_path / "part.parquet"), target="y", features="x")
    np.testing.assert_array_equal(model.class_count_, alone.class_count_)
    np.testing.assert_allclose(model.theta_, alone.theta_, rtol=1e-13)
    plain = saved(data, tmp_path / "plain.parquet", write_statistics=False)
    same = files.fit(plain, target="y", features="x", where="t >= 1500 and b == true")
    assert model.theta_.tobytes() == same.theta_.tobytes()
    assert model.var_.tobytes() == same.var_.tobytes()


@pytest.mark.parametrize("ending", FORMATS)
def test_rows_in_errors_are_those_of_the_file(tmp_path, ending):
    x = [1.0] * 200
    x[150] = np.inf
    table = {"x": x, "t": list(range(200)), "y": ["a", "b"] * 100}
    path = tmp_path / f"d.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table(table), path, row_group_size=20)
    else:
        write(table, path)
    with pytest.raises(SourceError, match="column 'x', row 151: inf is not a finite number"):
        files.fit(path, target="y", features="x", where="t > 100 and t != 120")
    model = files.fit(path, target="y", features="x", where="t != 150")
    assert model.class_count_.sum() == 199


def test_values_of_rows_that_do_not_count_are_not_looked_at(tmp_path):
    table = {"x": [1.0, np.nan, 3.0, 4.0], "w": [1.0, -1.0, 1.0, 1.0], "y": ["a", None, "b", "b"]}
    path = write(table, tmp_path / "d.parquet")
    model = files.fit(path, target="y", weight="w", where="w >= 0")
    assert model.class_count_.tolist() == [1, 2]


NO_COMPARISON = {
    "n == 'a'": r"column 'n' of --where \(position 1\): the column is int32, and is compared wi",
    "s > 5": r"column 's' of --where \(position 1\): the column is text, and is compared with",
    "s == true": r"column 's' .*: the column is text, and is compared with true or false",
    "t < 1 and b == 1": r"column 'b' of --where \(position 11\): the column is bool, and is compar",
    "f == true": r"column 'f' .*: the column is double, and is compared with true or false",
    "d > 2026": r"column 'd' .*: the column is date32\[day\], and is compared with a number",
    "d > 'today'": r"column 'd' of --where \(position 1\): cannot be compared: .*today",
    "s < n": r"column 's' of --where \(position 1\): cannot be compared",
    "q == 1": r"column 'q' is missing; found 'x', 't', 'n'",
    "N == 1": r"column 'N' is missing; .*; did you mean 'n' for 'N'\?",
}


@pytest.mark.parametrize("text", NO_COMPARISON)
def test_what_cannot_be_compared_is_told_before_a_row_is_read(tmp_path, text):
    path = saved(columns(), tmp_path / "d.parquet")
    with pytest.raises(SourceError, match=rf"d\.parquet: {NO_COMPARISON[text]}"):
        open_source([path], ROLES, options=FileOptions(where=text))


def test_text_of_csv_is_what_it_is_compared_with(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x,zip,y\n1,01234,u\n2,1234,u\n3,,v\n4,99,v\n5,NA,v\n")

    def rows(where, features=("x",)):
        columns = ColumnRoles("y", features=features)
        return read(path, columns, options=FileOptions(where=where))[0][:, 0].tolist()

    assert rows("zip == 1234") == [1, 2]
    assert rows("zip == '1234'") == [2]
    assert rows("zip != '1234'") == [1, 4, 5]
    assert rows("zip < 1000") == [4]
    assert rows("zip is null") == [3, 5]
    assert rows("zip > 100.5 and x < 2") == [1]
    assert rows("x == zip") == []
    with pytest.raises(SourceError, match="the column is double, and is compared with text"):
        rows("x == '1'")
    with pytest.raises(SourceError, match="column 'y', row 1: expected a number, as it is compar"):
        rows("y > 1")
    with pytest.raises(SourceError, match="column 'zip', row 1: expected true or false, as it is"):
        rows("zip == true")
    big = tmp_path / "big.csv"
    big.write_text("x,id,y\n1,9007199254740993,u\n2,9007199254740992,u\n")
    found = read(big, ColumnRoles("y", features=("x",)),
                 options=FileOptions(where="id == 9007199254740993"))  # fmt: skip
    assert found[0].tolist() == [[1]]


def test_numbers_of_csv_in_a_dialect(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x;p;y\n1;1.234,5;u\n2;?;u\n3;0,5;v\n")
    options = FileOptions(
        csv={"sep": ";", "decimal": ",", "thousands": ".", "na_values": "?"}, where="p >= 0.5"
    )
    assert read(path, ROLES, options=options)[0].tolist() == [[1], [3]]
    nulls = FileOptions(csv=options.csv, where="p is null")
    assert read(path, ROLES, options=nulls)[0].tolist() == [[2]]


def test_nan_is_a_missing_value(tmp_path):
    """Statistics of Parquet do not count it, so that it must not meet a comparison."""
    path = tmp_path / "d.parquet"
    table = pa.table({"x": [1.0, 2.0, 3.0], "f": [5.0, np.nan, None], "y": ["u", "u", "v"]})
    pq.write_table(table, path)
    cases = {"f != 5": [], "f == 5": [[1]], "f is null": [[2], [3]], "f is not null": [[1]],
             "not f == 5": [], "f != 4": [[1]]}  # fmt: skip
    for text, rows in cases.items():
        assert read(path, ROLES, options=FileOptions(where=text))[0].tolist() == rows, text


def test_types_of_many_kinds(tmp_path):
    """Those too whose statistics are not used."""
    values = [1, 2, 3, 250]
    table = pa.table({
        "x": pa.array([1.0, 2.0, 3.0, 4.0]),
        "u8": pa.array(values, pa.uint8()),
        "u64": pa.array([1, 2, 3, 2**64 - 1], pa.uint64()),
        "i8": pa.array([1, 2, 3, -100], pa.int8()),
        "f16": pa.array(np.array(values, np.float16)),
        "f32": pa.array([0.1, 0.2, 0.3, 0.4], pa.float32()),
        "dec": pa.array(list(map(Decimal, values)), pa.decimal128(9, 2)),
        "cat": pa.array(["p", "q", "p", None]).dictionary_encode(),
        "big": pa.array(["p", "q", "p", None], pa.large_string()),
        "when": pa.array([0, 1, 2, 3], pa.timestamp("s")),
        "nul": pa.nulls(4),
    })  # fmt: skip
    cases = {
        "u8 >= 250": [4], "u8 > -1": [1, 2, 3, 4], "u64 == 18446744073709551615": [4],
        "u64 > 18446744073709551615": [], "i8 < 0": [4], "f16 > 2.5": [3, 4],
        "f32 > 0.1": [1, 2, 3, 4],
        "f32 == 0.1": [], "f32 in (0.1, 0.5)": [], "f32 not in (0.1)": [1, 2, 3, 4],
        "u64 in (18446744073709551615, 2, 1.5, -3)": [2, 4], "cat not in ('p')": [2],
        "dec in (2, 2.5, 250)": [2, 4], "dec == 2": [2], "dec > 2.5": [3, 4], "cat == 'p'": [1, 3],
        "cat != 'p'": [2], "big in ('q')": [2], "when >= '1970-01-01 00:00:02'": [3, 4],
        "nul == 1": [], "nul is null": [1, 2, 3, 4], "u8 <= x": [1, 2, 3], "x < u64": [4],
    }  # fmt: skip
    paths = [tmp_path / "d.arrow"]
    write(table, paths[0])
    pq.write_table(table, tmp_path / "d.parquet")
    for path in [*paths, tmp_path / "d.parquet"]:
        for text, rows in cases.items():
            columns = ColumnRoles(features=("x",))
            X = read(path, columns, options=FileOptions(where=text))[0]
            assert X[:, 0].tolist() == rows, (path, text)


def test_files_without_rows_need_no_columns(tmp_path):
    write({"x": [1.0, 2.0, 3.0], "t": [1, 2, 3], "y": ["a", "b", "b"]}, tmp_path / "a.csv")
    (tmp_path / "names.csv").write_text("x,y\n")
    (tmp_path / "none.csv").write_text("")
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "none.parquet")
    assert len(read(tmp_path, ROLES, options=FileOptions(where="t > 1"))[0]) == 2
    (tmp_path / "more.csv").write_text("x,y\n1,a\n")
    with pytest.raises(SourceError, match=r"more\.csv: column 't' is missing"):
        read(tmp_path, ROLES, options=FileOptions(where="t > 1"))


def test_a_field_of_a_structure_is_no_column_of_the_same_path(tmp_path):
    """Its statistics are those of other values."""
    for names in (["a", "a.b"], ["a.b", "a"]):
        columns = {"a": pa.array([{"b": 100}] * 3), "a.b": [1, 2, 3]}
        table = pa.table({"x": [1.0, 2.0, 3.0]} | {name: columns[name] for name in names})
        pq.write_table(table, tmp_path / "d.parquet")
        roles = ColumnRoles(features=("x",))
        found = read(tmp_path / "d.parquet", roles, options=FileOptions(where="`a.b` < 3"))
        assert found[0].tolist() == [[1], [2]]


def test_rows_that_are_left_out_for_either_reason_are_counted_apart(tmp_path):
    y = [None if i % 5 == 0 else "ab"[i % 2] for i in range(100)]
    x = [1.0 + i % 7 for i in range(100)]
    x[93] = np.inf
    path = write({"x": x, "t": list(range(100)), "y": y}, tmp_path / "d.parquet")
    options = FileOptions(where="t >= 50")
    columns = ColumnRoles("y", features=("x",), drop_null_target=True)
    source = open_source([path], columns, options=options, batch_rows=30)
    rows = [batch.row_number(i) for batch in source for i in range(len(batch.X))]
    assert rows == [i + 1 for i in range(50, 100) if i % 5]
    assert (source.n_filtered, source.n_dropped) == (50, 10)
    list(source)
    assert (source.n_filtered, source.n_dropped) == (50, 10)
    with pytest.raises(SourceError, match="column 'x', row 94: inf is not a finite number"):
        files.fit(path, target="y", features="x", where="t >= 50", drop_null_target=True)
    model = files.fit(
        path, target="y", features="x", where="t >= 50", drop_null_target=True, on_error="skip"
    )
    assert model.class_count_.sum() == 39
