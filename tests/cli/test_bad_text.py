"""CSV that is damaged or no table, and text that is no UTF-8: one clear line, and no harm."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from fault_files import command, content, fails, read, run
from table_files import write

from fastgnb.files.models import model_file as persist
from fastgnb.files.tables import csv_file

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


# ------------------------------------------------------------------ files that are no tables


def zipped(text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data.csv", text)
    return packed.getvalue()


ROWS = b"x0,x1,t,y\n1,2,u,a\n2,3,v,b\n3,5,w,a\n4,4,x,b\n"

BAD_CSV = {
    "empty": (b"", "the file is empty, expected a line of column names"),
    "blank lines": (b"\n\n\n", "the file is empty, expected a line of column names"),
    "header cut": (b"x0,t", "missing; found 'x0', 't'"),
    "gzip": (gzip.compress(ROWS), "expected CSV, got a gzip file; name it .csv.gz, or"),
    "zip": (zipped(ROWS), "expected CSV, got a zip archive; unpack it first"),
    "zstd": (b"(\xb5/\xfd" + ROWS, "expected CSV, got a zstd file; name it .csv.zst, or"),
    "xz": (b"\xfd7zXZ\0" + ROWS, "expected CSV, got an xz file; unpack it first"),
    "utf-16": (ROWS.decode().encode("utf-16"), "expected CSV, got text in UTF-16"),
    "header not utf-8": (b"\xff" + ROWS, "a name or a text is not UTF-8: 'utf-8' codec can't"),
    "ragged first": (ROWS.replace(b"1,2,u", b"1,u"), "row 1: Expected 4 columns, got 3: 1,u,a"),
    "ragged middle": (ROWS.replace(b"2,3,v", b"2,3,3,v"), "row 2: Expected 4 columns, got 5"),
    "ragged last": (ROWS[:-3], "row 4: Expected 4 columns, got 3: 4,4,x"),
    "ragged and cut": (ROWS + b"5,", "row 5: Expected 4 columns, got 2: 5,"),
    "open quote": (ROWS.replace(b"2,3", b'2,"3'), "row 2: Expected 4 columns, got 2"),
    "other separator": (ROWS.replace(b",", b";"), "separated by ';', a semicolon"),
    "twice": (ROWS.replace(b"x1", b"x0"), "column 'x0' is there 2 times"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_CSV)
@pytest.mark.parametrize("verb", ["fit", "predict", "update", "evaluate"])
def test_text_that_is_no_table(tmp_path, model, out, capsys, verb, name):
    bytes_, message = BAD_CSV[name]
    (tmp_path / "bad.csv").write_bytes(bytes_)
    before = content(tmp_path)
    line = fails(capsys, *command(verb, model, tmp_path / "bad.csv", out))
    assert line.startswith(f"fastgnb: error: {tmp_path / 'bad.csv'}: ")
    assert message in line
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    ("verb", "old", "new", "message"),
    [
        ("fit", b"2,3,v,b", b"2,3,v,", "column 'y', row 2: the label is empty"),
        ("fit", b"2,3,v,b", b"2,3,v,\xff", "column 'y' is binary; labels are integers, floats,"),
        ("fit", b"2,3,v,b", b"2,,v,b", "column 'x1', row 2: missing value (null or NaN)"),
        ("fit", b"2,3,v,b", b"2,inf,v,b", "column 'x1', row 2: inf is not a finite number"),
        ("predict", b"2,3,v,b", b"2,\xff,v,b", "column 'x1', row 2: expected a number, got "),
        ("predict", b"2,3,v,b", b"2,\0,v,b", "column 'x1', row 2: expected a number, got '\\x00'"),
        ("predict", b"2,3,v,b", b"2,3e999,v,b", "column 'x1', row 2: inf is not a finite number"),
        ("evaluate", b"2,3,v,b", b"2,3,v,", "column 'y', row 2: the label is empty"),
    ],
)
def test_values_that_cannot_be_used(tmp_path, model, out, capsys, verb, old, new, message):
    (tmp_path / "bad.csv").write_bytes(ROWS.replace(old, new))
    before = content(out)
    line = fails(capsys, *command(verb, model, tmp_path / "bad.csv", out))
    assert line.startswith(f"fastgnb: error: {tmp_path / 'bad.csv'}: ")
    assert message in line
    assert content(out) == before


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_kept_column_that_is_not_utf8(tmp_path, model, out, capsys, ending):
    """Parquet holds it as the bytes it is; CSV, which is text, cannot."""
    (tmp_path / "bad.csv").write_bytes(ROWS.replace(b",u,", b",\xff,"))
    ask = ["predict", model, tmp_path / "bad.csv", "--keep", "t", "--output", out / f"o.{ending}"]
    if ending == "parquet":
        run(*ask)
        assert read(out / "o.parquet")["t"].to_pylist() == [b"\xff", b"v", b"w", b"x"]
        return
    before = content(out)
    line = fails(capsys, *ask)
    assert "column 't' is binary and holds b'\\xff', which is not UTF-8: the output cannot" in line
    assert content(out) == before


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("part", ["label", "kept"])
def test_strings_of_tables_that_are_not_utf8(tmp_path, model, out, capsys, ending, part):
    text = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], "i4")), pa.py_buffer(b"\xffb")]
    )
    data = pa.table({"x0": [1.0, 2.0], "x1": [1.0, 2.0], "y": text})
    path = write(data, tmp_path / f"bad.{ending}")
    before = content(out)
    verb = "fit" if part == "label" else "predict"
    keep = [] if part == "label" else ["--keep", "y"]
    line = fails(capsys, *command(verb, model, path, out), *keep)
    assert f"bad.{ending}: column 'y': Invalid UTF8 sequence" in line
    assert content(out) == before


@pytest.mark.parametrize("spoil", ["first", "middle", "last", "beyond"])
def test_a_ragged_row_past_the_first_block(tmp_path, model, out, capsys, monkeypatch, spoil):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 4096)
    rows = [f"{i},1.5,u,a" for i in range(2000)]
    at = {"first": 0, "middle": 1000, "last": 1999, "beyond": 500}[spoil]
    rows[at] += ",oops"
    (tmp_path / "bad.csv").write_text("\n".join(["x0,x1,t,y", *rows]) + "\n")
    before = content(out)
    for verb in ["fit", "predict"]:
        line = fails(capsys, *command(verb, model, tmp_path / "bad.csv", out))
        assert f"bad.csv: row {at + 1}: Expected 4 columns, got 5: {at},1.5,u,a,oops" in line
    assert content(out) == before


def test_a_line_of_300_megabytes_is_not_taken_into_memory(tmp_path, model, out, capsys):
    """Arrow reads up to 32 blocks ahead of what it parses, as the two threads happen to run.

    The reader of the first file may not have ended when that of the second one starts.
    """
    for name, start in [("only", b""), ("late", b"x0,x1,t,y\n1,2,u,a\n")]:
        with open(tmp_path / f"{name}.csv", "wb") as file:
            file.write(start)
            for _ in range(300):
                file.write(b"1" * 1_000_000)
    before = content(out), pa.default_memory_pool().max_memory()
    line = fails(capsys, *command("predict", model, tmp_path / "only.csv", out))
    assert "only.csv: no line of column names ends in the first 2097152 bytes" in line
    line = fails(capsys, *command("predict", model, tmp_path / "late.csv", out))
    assert "late.csv: a row is longer than 2097152 bytes, the most that are read at once" in line
    assert content(out) == before[0]
    assert pa.default_memory_pool().max_memory() < before[1] + 80 * csv_file.CSV_BLOCK_BYTES


@pytest.mark.parametrize("end", [b"\r", b"\r\n", b"\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_any_line_end_and_a_byte_order_mark(tmp_path, model, end, start):
    plain = tmp_path / "plain.csv"
    plain.write_bytes(ROWS)
    (tmp_path / "other.csv").write_bytes(start + ROWS.replace(b"\n", end))
    for name in ["plain", "other"]:
        ask = ["--output", tmp_path / f"{name}.arrow", "--proba", "--keep", "t"]
        run("predict", model, tmp_path / f"{name}.csv", *ask)
    assert read(tmp_path / "plain.arrow").num_rows == 4
    assert read(tmp_path / "other.arrow").equals(read(tmp_path / "plain.arrow"))


def late_csv(path, n, late):
    """Integers, but for the last row's."""
    path.write_text("x0,x1,y\n" + "1,2,a\n3,5,b\n" * ((n - 1) // 2) + f"1,{late},a\n")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("n", [1_000_001])
def test_a_type_that_changes_after_a_million_rows(tmp_path, model, out, capsys, n):
    before = content(out)
    path = late_csv(tmp_path / "late.csv", n, "oops")
    for verb in ["fit", "predict", "evaluate"]:
        line = fails(capsys, *command(verb, model, path, out))
        assert line.endswith(f"late.csv: column 'x1', row {n}: expected a number, got 'oops'\n")
    assert content(out) == before
    late_csv(path, n, "0.25")
    run(*command("fit", model, path, out))
    found = persist.read(out / "model").model
    assert found.stats.count.tolist() == [(n + 1) // 2, n // 2]
    mean = (2 * (n // 2) + 0.25) / ((n + 1) // 2)
    assert found.moments.theta[0, 1] == pytest.approx(mean, rel=1e-14)
