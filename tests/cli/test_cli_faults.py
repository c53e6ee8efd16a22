"""Hostile files, full disks, signals and kills: a clear line or the right result, and no harm.

What `test_cli.py` and `test_sources.py` hold already (wrong columns, wrong widths in a block,
missing folders, a signal in a long predict) is not repeated here.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import errno
import gzip
import io
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
import types
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from table_files import write

import fastgnb
from fastgnb._system import atomic as _atomic
from fastgnb._system import signals as _interrupt
from fastgnb.cli import entry, main, model_commands
from fastgnb.files.errors import SourceError
from fastgnb.files.jobs import learn_files, model_rows, score_rows
from fastgnb.files.models import model_file as persist
from fastgnb.files.tables import csv_file
from fastgnb.files.tables import writers as _writers
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.paths import expand
from fastgnb.files.tables.sources import open_source

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]

TABLES = ["parquet", "csv", "arrow"]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
PARQUET_IS_CHECKED = pytest.mark.skipif(
    int(pa.__version__.split(".")[0]) < 26, reason="pyarrow 16 itself crashes on damaged Parquet"
)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Linux")


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return pa.table(
        {
            "x0": rng.normal(y, 1.0),
            "x1": rng.normal(-y, 2.0),
            "t": [f"é{i}" for i in range(n)],
            "y": np.array(["a", "b"])[y],
        }
    )


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix == ".csv":
        return pacsv.read_csv(path, parse_options=pacsv.ParseOptions(newlines_in_values=True))
    return feather.read_table(path)


def content(folder):
    """Every file below a folder, with its bytes."""
    return {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def run(*argv):
    assert main([str(arg) for arg in argv]) == 0


def fails(capsys, *argv, code=1):
    """The one line on stderr of a command that fails."""
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    expect_one_line(shown.err)
    return shown.err


def expect_one_line(text):
    assert "Traceback" not in text
    assert text.startswith("fastgnb: ")
    assert text.endswith("\n")
    assert text.count("\n") == 1


@pytest.fixture
def model(tmp_path):
    """A model of `table()` over x0 and x1, in a folder of its own."""
    (tmp_path / "models").mkdir()
    data = write(table(), tmp_path / "models" / "data.parquet")
    path = tmp_path / "models" / "model"
    run("fit", data, "--target", "y", "--model", path, "--quiet")
    return path


@pytest.fixture
def out(tmp_path):
    """A folder with an earlier output of every command."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ["model", "o.parquet", "o.csv", "o.arrow", "o.npy", "e.json"]:
        (folder / name).write_text(f"old {name}")
    return folder


def command(name, model, data, out, labels=("--target", "y")):
    """The words of a command over rows whose output is an earlier file in `out`."""
    return {
        "fit": ["fit", data, *labels, "--model", out / "model", "--quiet"],
        "update": ["update", model, data, *labels, "--model", out / "model", "--quiet"],
        "predict": ["predict", model, data, "--output", out / "o.csv", "--quiet"],
        "evaluate": ["evaluate", model, data, *labels, "--json", out / "e.json"],
    }[name]


def write_rows(path):
    """Write rows to a file of any kind, and return the words that say where their labels are."""
    if path.suffix != ".npy":
        write(table(), path)
        return ["--target", "y"]
    np.save(path, np.column_stack([table()["x0"], table()["x1"]]))
    labels = path.with_name("y.npy")
    np.save(labels, np.array(table()["y"].to_pylist()))
    return ["--target-npy", labels]


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
    "gzip": (gzip.compress(ROWS), "expected CSV, got a gzip file; unpack it first"),
    "zip": (zipped(ROWS), "expected CSV, got a zip archive; unpack it first"),
    "zstd": (b"(\xb5/\xfd" + ROWS, "expected CSV, got a zstd file; unpack it first"),
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
    """Arrow reads up to 32 blocks ahead of what it parses, as the two threads happen to run."""
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
    assert pa.default_memory_pool().max_memory() < before[1] + 40 * csv_file.CSV_BLOCK_BYTES


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
@pytest.mark.parametrize("n", [2_000_001])
def test_a_type_that_changes_after_two_million_rows(tmp_path, model, out, capsys, n):
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


# ------------------------------------------------------------------ which files


@POSIX
def test_pipes_are_refused_at_once(tmp_path, model, out, capsys):
    """Opening one would wait for a writer, and its rows can be read only once."""
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in" / "pipe.parquet")
    (tmp_path / "null.csv").symlink_to("/dev/null")
    for data in ["pipe.csv", "in", "null.csv"]:
        line = fails(capsys, *command("fit", model, tmp_path / data, out))
        assert ": a pipe or a device, expected a file, which can be read more than once" in line


@POSIX
def test_pipes_of_labels_are_refused_at_once(tmp_path, model, out):
    os.mkfifo(tmp_path / "y.npy")
    np.save(tmp_path / "data.npy", np.ones((4, 2)))
    words = command("fit", model, tmp_path / "data.npy", out)
    at = words.index("--target")
    words[at : at + 2] = ["--target-npy", tmp_path / "y.npy"]
    done = process(*words, code=1)  # a process, so that waiting for a writer ends some time
    expect_one_line(done.stderr)
    assert f"{tmp_path / 'y.npy'}: a pipe or a device, expected a file" in done.stderr


@POSIX
def test_standard_input_is_refused(tmp_path, model, out):
    words = command("predict", model, "/dev/stdin", out)
    for name in ["/dev/stdin", tmp_path / "in.csv"]:
        words[2] = name
        with contextlib.suppress(FileExistsError):
            (tmp_path / "in.csv").symlink_to("/dev/stdin")
        done = process(*words, input="x0,x1\n1,2\n", code=1)
        expect_one_line(done.stderr)
        assert f"{name}: a pipe or a device, expected a file" in done.stderr


@POSIX
def test_links_that_lead_nowhere_are_not_passed_over(tmp_path, model, out, capsys):
    (tmp_path / "in").mkdir()
    write(table(), tmp_path / "in" / "good.csv")
    for target in ["gone.csv", "lost.csv"]:  # to nothing, and to itself
        link = tmp_path / "in" / "lost.csv"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        for data in [link, tmp_path / "in"]:
            line = fails(capsys, *command("fit", model, data, out))
            assert f"{link}: no such file or folder; it is a link to {target}" in line


@POSIX
def test_linked_folders_count_and_a_circle_of_them_ends(tmp_path):
    for name in ["in/deep", "elsewhere/_not", "elsewhere/.nor"]:
        (tmp_path / name).mkdir(parents=True)
    for name in ["in/a.csv", "in/deep/b.csv", "elsewhere/c.csv", "elsewhere/_not/d.csv",
                 "elsewhere/.nor/e.csv"]:  # fmt: skip
        write(table(), tmp_path / name)
    (tmp_path / "in" / "circle").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "elsewhere")
    found = expand([tmp_path / "in"])
    assert [str(p.relative_to(tmp_path / "in")) for p in found] == [
        "a.csv", "deep/b.csv", "link/c.csv",
    ]  # fmt: skip


def test_a_folder_named_like_a_file(tmp_path, model, out, capsys):
    folder = tmp_path / "part.csv"
    folder.mkdir()
    line = fails(capsys, *command("fit", model, folder, out))
    assert "part.csv: no data file in this folder" in line
    write(table(), folder / "0.csv")
    (folder / "1.parquet").mkdir()
    write(table(seed=1), folder / "1.parquet" / "1.parquet")
    run(*command("fit", model, folder, out))
    assert persist.read(out / "model").model.stats.count.sum() == 120


@POSIX
@pytest.mark.parametrize("ending", TABLES)
def test_names_that_are_not_text(tmp_path, model, ending):
    """POSIX names are bytes; where the file system insists on UTF-8 there is nothing to test."""
    odd = pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff." + ending.encode()))
    data = write(table(), tmp_path / f"data.{ending}")
    try:
        shutil.copy(data, odd)
    except OSError:
        pytest.skip("names must be text here")
    output = odd.with_name("o" + odd.name)
    run("predict", model, odd, "--output", output, "--proba")
    run("predict", model, data, "--output", tmp_path / f"plain.{ending}", "--proba")
    assert output.read_bytes() == (tmp_path / f"plain.{ending}").read_bytes()
    run("fit", odd, "--target", "y", "--model", odd.with_name(odd.name + "m"), "--quiet")


UNREADABLE = """
import os, sys
from fastgnb.cli import main
assert main("fit good.csv --target y --model first --quiet".split()) == 0  # kernels are loaded
if os.getuid() == 0:
    os.chmod(".", 0o777)
    os.setuid(65534)  # root may read everything
for line in sys.stdin.read().splitlines():
    print(main(line.split()))
"""

NOT_ALLOWED = {
    "fit closed.csv --target y --model out": "closed.csv: Permission denied",
    "fit closed.parquet --target y --model out": "closed.parquet: Permission denied",
    "fit closed.arrow --target y --model out": "closed.arrow: Permission denied",
    "predict first closed.npy --output out.csv": "closed.npy: Permission denied",
    "fit in --target y --model out": "in/closed: Permission denied",
    "fit in/closed/x.csv --target y --model out": "in/closed/x.csv: Permission denied",
    "show secret": "secret: Permission denied",
    "merge first secret --model out": "secret: Permission denied",
    "predict first good.csv --output wall/o.csv": "wall is not writable",
    "fit good.csv --target y --model in/closed/m": "in/closed/m: Permission denied",
}


@POSIX
def test_what_may_not_be_read_or_written(model):
    """In a folder that others may enter, since pytest's are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for ending in TABLES:
            write(table(), folder / f"good.{ending}")
            write(table(), folder / f"closed.{ending}").chmod(0)
        np.save(folder / "closed.npy", np.zeros((2, 2)))
        (folder / "closed.npy").chmod(0)
        shutil.copy(model, folder / "secret")
        (folder / "secret").chmod(0)
        (folder / "in" / "closed").mkdir(parents=True)
        for path in ["in/x.csv", "in/closed/x.csv"]:
            write(table(), folder / path)
        (folder / "wall").mkdir(mode=0o555)
        before = sorted(os.listdir(folder))
        (folder / "in" / "closed").chmod(0)
        try:
            lines = "\n".join(NOT_ALLOWED)
            done = process("-c", UNREADABLE, module=False, input=lines, cwd=folder)
        finally:
            (folder / "in" / "closed").chmod(0o700)
        assert done.stdout.split() == ["1"] * len(NOT_ALLOWED)
        for message, line in zip(NOT_ALLOWED.values(), done.stderr.splitlines(), strict=True):
            assert line.startswith("fastgnb: error: ")
            assert line.endswith(message)
        assert sorted(os.listdir(folder)) == sorted([*before, "first"])


# ------------------------------------------------------------------ outputs that are inputs


@POSIX
@pytest.mark.parametrize("how", ["relative", "around", "symbolic", "hard", "folder", "case"])
def test_an_output_that_is_an_input_by_another_name(tmp_path, model, capsys, monkeypatch, how):
    data = write(table(), tmp_path / "data.csv")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    other = {
        "relative": pathlib.Path("../data.csv"),
        "around": tmp_path / "sub" / ".." / "sub" / ".." / "data.csv",
        "symbolic": tmp_path / "s.csv",
        "hard": tmp_path / "h.csv",
        "folder": tmp_path / "again" / "data.csv",
        "case": tmp_path / "DATA.csv",
    }[how]
    (tmp_path / "s.csv").symlink_to("data.csv")
    os.link(data, tmp_path / "h.csv")
    (tmp_path / "again").symlink_to(tmp_path)
    if how == "case" and not other.exists():
        pytest.skip("names differ by their case here")
    os.link(model, tmp_path / "same_model")
    before = content(tmp_path)
    for words in [
        ["fit", data, "--target", "y", "--model", other],
        ["fit", other, "--target", "y", "--model", data],
        ["predict", model, data, "--output", other],
        ["predict", model, other, "--output", data],
        ["evaluate", model, data, "--target", "y", "--json", other],
        ["update", model, data, "--target", "y", "--model", other],
        ["merge", model, tmp_path / "same_model", "--model", model],
        ["merge", model, model, "--model", tmp_path / "same_model"],
    ]:
        assert fails(capsys, *words).endswith(": the output would replace an input\n")
    assert content(tmp_path) == before


# ------------------------------------------------------------------ files that change under us


def vanish(path):
    path.unlink()


def halve(path):
    os.truncate(path, path.stat().st_size // 2)


def clear(path):
    os.truncate(path, 0)


def grow(path):
    with open(path, "ab") as file:
        file.write(b"1,2,u,a\n")


def replace(path):
    """Another file of the same size under the same name, as another run would write it."""
    copy = path.with_name("copy")
    shutil.copy2(path, copy)
    os.replace(copy, path)


def patch_open_source(monkeypatch, planned):
    """Have every job plan its files by another function."""
    monkeypatch.setattr(learn_files, "open_source", planned)
    monkeypatch.setattr(model_rows, "open_source", planned)


@pytest.mark.parametrize("ending", [*TABLES, "npy"])
@pytest.mark.parametrize("change", [vanish, halve, clear, grow, replace])
@pytest.mark.parametrize("verb", ["fit", "predict", "evaluate"])
def test_a_file_that_changes_after_planning(
    tmp_path, model, out, capsys, monkeypatch, ending, change, verb
):
    path = tmp_path / f"data.{ending}"
    labels = write_rows(path)

    def planned(*args, **options):
        source = open_source(*args, **options)
        change(path)
        return source

    patch_open_source(monkeypatch, planned)
    words = command(verb, model, path, out, labels)
    before = content(out)
    line = fails(capsys, *words, "--quiet")
    assert line.startswith(f"fastgnb: error: {path}: ")
    wanted = "No such file" if change is vanish else "changed while it was in use"
    assert wanted in line
    assert content(out) == before


@pytest.mark.parametrize("change", [vanish, halve, clear, grow, replace])
@pytest.mark.parametrize("verb", ["fit", "evaluate"])
def test_labels_that_change_after_planning(tmp_path, model, out, capsys, monkeypatch, change, verb):
    """Rows would be learned with labels of other rows."""
    path, labels = tmp_path / "data.npy", tmp_path / "y.npy"
    np.save(path, np.column_stack([table()["x0"], table()["x1"]]))
    np.save(labels, np.array(table()["y"].to_pylist()))

    def planned(*args, **options):
        source = open_source(*args, **options)
        change(labels)
        return source

    patch_open_source(monkeypatch, planned)
    words = command(verb, model, path, out)
    at = words.index("--target")
    words[at : at + 2] = ["--target-npy", labels]
    before = content(out)
    line = fails(capsys, *words, "--quiet")
    assert line.startswith(f"fastgnb: error: {labels}: ")
    wanted = "No such file" if change is vanish else "changed while it was in use"
    assert wanted in line
    assert content(out) == before


SHRINKS = """
import os, sys
import numpy as np
from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source
path = sys.argv[1]
parts = ColumnRoles() if path.endswith("npy") else ColumnRoles(target="y", keep=("t",))
batches = iter(open_source([path], parts, batch_rows=1000))
total = next(batches).X.sum()
os.truncate(path, 4096)
try:
    for batch in batches:
        total += batch.X.sum()
except SourceError as error:
    print(error)
"""


@POSIX
@pytest.mark.parametrize("ending", [*TABLES, "npy"])
def test_a_file_that_shrinks_while_it_is_read(tmp_path, python, ending):
    """A map of pages that the file no longer has would end the process with SIGBUS."""
    path = tmp_path / f"data.{ending}"
    if ending == "npy":
        np.save(path, np.zeros((50_000, 4)))
    else:
        write(table(50_000), path)
    assert python(SHRINKS, str(path)).startswith(f"{path}: changed while it was in use")


# ------------------------------------------------------------------ damage


def pieces(path):
    """What is read of a file, to compare."""
    columns = ColumnRoles(features=("x", "i"), target="y", keep=("k", "c"))
    return [
        (batch.X.tobytes(), batch.y.tolist(), batch.kept.to_pylist())
        for batch in open_source([path], columns)
    ]


def attempt(path):
    """The pieces and no error, or none and what is said; any other exception is a defect."""
    try:
        return pieces(path), ""
    except SourceError as error:
        return None, str(error)


def varied(n=120):
    """Floats, integers with a dictionary, text, categories: every encoding of a page."""
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "x": rng.normal(size=n),
            "i": rng.integers(0, 9, n),
            "y": [f"label {i}" for i in rng.integers(0, 4, n)],
            "c": pa.array(["u", "v", None] * (n // 3)).dictionary_encode(),
            "k": [f"text {i}" for i in range(n)],
        }
    )


def write_checked(path, compression, pages):
    pq.write_table(
        varied(), path, row_group_size=80, compression=compression, data_page_size=200,
        write_page_checksum=True, data_page_version=pages,
    )  # fmt: skip
    whole = path.read_bytes()
    return whole, len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]


@pytest.mark.parametrize(
    ("compression", "pages", "step"),
    [
        ("snappy", "1.0", 19),
        ("none", "2.0", 19),
        pytest.param("none", "1.0", 1, marks=pytest.mark.slow),
        pytest.param("zstd", "2.0", 1, marks=pytest.mark.slow),
        pytest.param("snappy", "1.0", 1, marks=pytest.mark.slow),
    ],
)
@PARQUET_IS_CHECKED
def test_damage_to_a_page_with_a_checksum_is_an_error_or_harmless(
    tmp_path, compression, pages, step
):
    """A byte of every page, and of every page's header, is flipped."""
    path = tmp_path / "data.parquet"
    whole, footer = write_checked(path, compression, pages)
    expected = pieces(path)
    errors = 0
    for at in range(4, footer, step):
        for flip in (0x01, 0x80):
            spoilt = bytearray(whole)
            spoilt[at] ^= flip
            path.write_bytes(spoilt)
            found, said = attempt(path)
            assert found == expected or said.startswith(f"{path}: "), (at, flip)
            errors += found is None
    assert errors > 0.8 * 2 * len(range(4, footer, step))  # else nothing was damaged


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
@PARQUET_IS_CHECKED
def test_damage_to_the_footer_is_a_clear_error_or_no_error(tmp_path, step):
    """It has no checksum, so what it says may be believed; what cannot be is told in one line."""
    path = tmp_path / "data.parquet"
    whole, footer = write_checked(path, "snappy", "1.0")
    errors = 0
    for at in range(footer, len(whole), step):
        spoilt = bytearray(whole)
        spoilt[at] ^= 0xFF
        path.write_bytes(spoilt)
        found, said = attempt(path)
        assert "\n" not in said
        errors += found is None
    assert errors > 50


CUTS = [0, 1, 3, 4, 12, 100, 0.25, 0.5, 0.75, -100, -9, -8, -4, -1]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "stream.arrow", "npy"])
@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_a_file_cut_anywhere(tmp_path, model, out, capsys, ending, verb):
    path = tmp_path / f"data.{ending}"
    labels = write_rows(path)
    if ending == "stream.arrow":
        with ipc.new_stream(path, table().schema) as sink:
            sink.write_table(table(), max_chunksize=20)
    whole, before = path.read_bytes(), content(out)
    words = command(verb, model, path, out, labels)
    for cut in CUTS:
        if ending == "stream.arrow" and cut in (-8, -4):
            continue  # without its mark of the end a stream is whole all the same
        path.write_bytes(whole[: int(cut * len(whole)) if isinstance(cut, float) else cut])
        line = fails(capsys, *words)
        assert line.startswith(f"fastgnb: error: {path}: "), cut
    assert content(out) == before


FLIPS = """
import sys
sys.path.insert(0, sys.argv[3])
from test_cli_faults import attempt, varied
import pathlib, collections, pyarrow.ipc as ipc
path = pathlib.Path(sys.argv[1])
data = varied()
with ipc.new_file(path, data.schema) as sink:
    sink.write_table(data, max_chunksize=80)
whole = path.read_bytes()
found = collections.Counter()
for at in range(0, len(whole), int(sys.argv[2])):
    for flip in (0x01, 0x80, 0xFF):
        spoilt = bytearray(whole)
        spoilt[at] ^= flip
        path.write_bytes(spoilt)
        rows, said = attempt(path)
        assert "\\n" not in said, said
        found["read" if rows else "refused"] += 1
print(found["read"], found["refused"])
"""


@pytest.mark.parametrize("step", [41, pytest.param(1, marks=pytest.mark.slow)])
def test_damage_to_arrow_files_never_crashes(tmp_path, python, step):
    """They have no checksums: a wrong number is read as it is, but never from another's memory."""
    read, refused = map(
        int,
        python(
            FLIPS, str(tmp_path / "data.arrow"), str(step), str(pathlib.Path(__file__).parent)
        ).split(),
    )
    assert read > 100
    assert refused > 100


def test_predictions_are_written_with_checksums(tmp_path, model, capsys):
    write(table(2000), tmp_path / "data.parquet")
    output = tmp_path / "o.parquet"
    run("predict", model, tmp_path / "data.parquet", "--proba", "--output", output, "--quiet")
    spoilt = bytearray(output.read_bytes())
    spoilt[len(spoilt) // 2] ^= 1
    output.write_bytes(spoilt)
    ask = ["fit", output, "--target", "prediction", "--model", tmp_path / "second"]
    assert "o.parquet: could not verify page integrity, CRC" in fails(capsys, *ask)


# ------------------------------------------------------------------ .npy that attacks


def npy(header, data=b"\0" * 64):
    text = header.encode("latin1")
    return b"\x93NUMPY\x02\0" + struct.pack("<I", len(text)) + text + data


def shaped(shape, descr="'<f8'"):
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n")


class Marker:
    """What a pickle of it does when it is loaded is seen in the folder."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


ATTACKS = {
    "terabytes": shaped((10**12, 4)),
    "beyond memory": shaped((2**62, 4)),
    "beyond 64 bits": shaped((10**40, 4)),
    "negative": shaped((-1, 4)),
    "twice negative": shaped((-4, -2)),
    "wide and empty": shaped((0, 2**63 - 1)),
    "no columns": shaped((2**63 - 1, 0)),
    "truth for a number": shaped((True, 2)),
    "float for a number": shaped("(2.0, 2)"),
    "objects": shaped((2, 2), "'|O'"),
    "huge items": shaped((2, 2), "'|V99999999999'"),
    "sub-arrays": shaped((1, 2), "('<f8', (1000000000, 1000000000))"),
    "no dtype": shaped((1, 2), "5"),
    "dates": shaped((1, 2), "'<M8[ns]'"),
    "a call": npy("__import__('os').system('touch pwned')"),
    "brackets": npy("(" * 5000),
    "lists": npy("[" * 3000 + "]" * 3000),
    "minus": npy("-" * 9000 + "1"),
    "open": npy('{"a":'),
    "keys": npy("{1: 2}"),
    "blank": npy(" " * 9990),
    "zeros": npy("\0" * 100),
    "long header": b"\x93NUMPY\x02\0\xff\xff\xff\xff{",
    "future": b"\x93NUMPY\x09\0" + b"\0" * 100,
    "four bytes": b"\x93NUM",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_npy_headers_that_attack(tmp_path, model, out, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.npy").write_bytes(ATTACKS[name])
    np.save(tmp_path / "y.npy", np.array([0, 1]))
    np.save(tmp_path / "X.npy", np.zeros((2, 2)))
    before = content(tmp_path)
    tracemalloc.start()
    try:
        for words in [
            ["fit", "bad.npy", "--target-npy", "y.npy", "--model", out / "model"],
            ["fit", "X.npy", "--target-npy", "bad.npy", "--model", out / "model"],
            ["predict", model, "bad.npy", "--output", out / "o.csv"],
        ]:
            line = fails(capsys, *words)
            assert line.startswith("fastgnb: error: bad.npy: "), line
            assert len(line) < 500
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert content(tmp_path) == before


def test_pickles_in_npy_are_not_run(tmp_path, model, out, capsys):
    mark = tmp_path / "mark"
    np.save(tmp_path / "bad.npy", np.array([[Marker(mark)]], dtype=object))
    np.savez(tmp_path / "bad.npz", a=np.array([[Marker(mark)]], dtype=object))
    for name in ["bad.npy", "bad.npz"]:
        shutil.copy(tmp_path / name, tmp_path / "data.npy")
        line = fails(capsys, "predict", model, tmp_path / "data.npy", "--output", out / "o.csv")
        assert "data.npy: not a .npy array" in line
    assert not mark.exists()
    import pickle

    pickle.loads(pickle.dumps(Marker(mark))).close()
    assert mark.exists()  # so a load would have been seen


# ------------------------------------------------------------------ columns of every kind

NAMES = ["a b", "c,d", 'say "x"', "new\nline", "tab\t", "'", 'é,"\n', " ", "a.b", "x[0]", "-x", "="]


def quoted(names):
    """Names as the command line takes them."""
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


@pytest.mark.parametrize("ending", TABLES)
def test_any_column_name_survives_fit_predict_and_keep(tmp_path, ending):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    kept = [f"kept {name}" for name in NAMES]
    data = pa.table(
        {name: rng.normal(y, 1.0) for name in NAMES}
        | {name: [f"{name} {i}" for i in range(40)] for name in kept}
        | {"the, \"label\"\n": np.array(["p,q", 'r"s'])[y]}
    )  # fmt: skip
    path, model = write(data, tmp_path / f"data.{ending}"), tmp_path / "model"
    target = ["--target", 'the, "label"\n']
    run("fit", path, *target, "--features", quoted(NAMES), "--model", model)
    assert persist.read(model).model.feature_names == tuple(NAMES)
    output = tmp_path / f"o.{ending}"
    keep = ["--keep", quoted([*kept, target[1]])]
    run("predict", model, path, *keep, "--proba", "--output", output)
    found = read(output)
    assert found.schema.names == [*kept, target[1], "prediction", "proba_p,q", 'proba_r"s']
    for name in [*kept, target[1]]:
        assert found[name].to_pylist() == data[name].to_pylist()
    run("evaluate", model, path, *target, "--quiet")
    run("update", model, path, "--again", "--quiet")
    # What was written is read again, by its own names.
    again = tmp_path / "again"
    run("fit", output, *target, "--features", quoted(['proba_r"s']), "--model", again)
    assert persist.read(again).model.classes.tolist() == ["p,q", 'r"s']


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_five_thousand_columns(tmp_path, ending, monkeypatch):
    rng = np.random.default_rng(0)
    n, d = 60, 5000
    X = rng.normal(size=(n, d))
    y = np.arange(n) % 3
    data = pa.table({f"x{j}": X[:, j] for j in range(d)} | {"y": y})
    path, model = write(data, tmp_path / f"data.{ending}"), tmp_path / "model"
    pool, usual = pa.system_memory_pool(), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    before = pool.bytes_allocated()
    try:
        highest = max(pool.bytes_allocated() for _ in open_source([path], ColumnRoles(target="y")))
    finally:
        pa.set_memory_pool(usual)
    assert highest - before < 100_000_000
    run("fit", path, "--target", "y", "--model", model, "--quiet")
    output = tmp_path / f"o.{ending}"
    run("predict", model, path, "--keep", "x17,y", "--output", output, "--quiet")
    whole = fastgnb.GaussianNB().fit(X, y)
    assert read(output)["prediction"].to_pylist() == whole.predict(X).tolist()
    assert read(output)["x17"].to_pylist() == X[:, 17].tolist()


def test_columns_of_other_types(tmp_path, capsys):
    n = 20
    data = pa.table(
        {
            "x": np.arange(n) * 1.5,
            "price": pa.array([decimal.Decimal(i) / 4 for i in range(n)], pa.decimal128(8, 2)),
            "share": pa.array([0.5, 1.5] * (n // 2)).dictionary_encode(),
            "half": pa.array(np.arange(n, dtype=np.float16)),
            "day": [datetime.date(2020, 1, 1)] * n,
            "nested": [{"x": 1.0}] * n,
            "lists": [[1.0]] * n,
            "y": pa.array(["u", "v"] * (n // 2)).dictionary_encode(),
        }
    )
    path, model = write(data, tmp_path / "data.parquet"), tmp_path / "model"
    run("fit", path, "--target", "y", "--features", "x,price,share,half", "--model", model)
    found = persist.read(model).model
    assert found.moments.theta[0].tolist() == [13.5, 2.25, 0.5, 9.0]
    for name, kind in [("day", "date32"), ("nested", "struct"), ("lists", "list"), ("y", "dict")]:
        ask = ["fit", path, "--target", "x", "--features", name, "--model", tmp_path / "no"]
        line = fails(capsys, *ask)
        assert f"data.parquet: column '{name}' is {kind}" in line
        assert "expected numbers or booleans; leave it out of the features" in line
    for ending in ["parquet", "arrow"]:
        output = tmp_path / f"o.{ending}"
        run("predict", model, path, "--keep", "nested,lists,day,price,y", "--output", output)
        for name in ["nested", "lists", "day", "price", "y"]:
            assert read(output)[name].to_pylist() == data[name].to_pylist()


def test_a_label_that_is_empty_is_a_label_in_parquet(tmp_path, capsys):
    data = {"x": [0.0, 1.0, 5.0, 6.0], "y": ["", "", "b", "b"]}
    path, model = write(data, tmp_path / "data.parquet"), tmp_path / "model"
    run("fit", path, "--target", "y", "--model", model)
    run("predict", model, path, "--proba", "--output", tmp_path / "o.parquet")
    found = read(tmp_path / "o.parquet")
    assert found.schema.names == ["prediction", "proba_", "proba_b"]
    assert found["prediction"].to_pylist() == data["y"]
    bare = write({"x": [0.0, 1.0], "y": ["", None]}, tmp_path / "null.parquet")
    line = fails(capsys, "fit", bare, "--target", "y", "--model", tmp_path / "no")
    assert "null.parquet: column 'y', row 2: the label is null" in line


# ------------------------------------------------------------------ full disks


FULL = """
import resource, sys
from fastgnb.cli import main
commands = [line.split("|") for line in sys.stdin.read().splitlines()]
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # Python ignores SIGXFSZ
for words in commands:
    print(main(words))
"""


def with_known_label(n=60):
    """The rows, with labels in column t of which the model knows the first."""
    rows = table(n)
    labels = ["a", *rows["t"].to_pylist()[1:]]
    return rows.set_column(rows.column_names.index("t"), "t", pa.array(labels))


def writing(model, data, out):
    """A command for every kind of output."""
    ask = ["predict", model, data, "--proba", "--quiet", "--output"]
    return {
        "o.parquet": [*ask, out / "o.parquet"],
        "o.csv": [*ask, out / "o.csv"],
        "o.arrow": [*ask, out / "o.arrow"],
        "o.npy": [*ask, out / "o.npy"],
        "model": ["fit", data, "--target", "t", "--model", out / "model", "--quiet"],
        "e.json": ["evaluate", model, data, "--target", "t", "--json", out / "e.json", "--quiet"],
    }


@LINUX
def test_a_file_that_grows_too_large_leaves_the_old_one(tmp_path, model, out):
    data = write(with_known_label(600), tmp_path / "data.parquet")  # with 600 labels in column t
    commands = writing(model, data, out)
    before = content(out)
    lines = "\n".join("|".join(map(str, words)) for words in commands.values())
    done = process("-c", FULL, module=False, input=lines)
    assert [line for line in done.stdout.splitlines() if len(line) == 1] == ["1"] * len(commands)
    for name, line in zip(commands, done.stderr.splitlines(), strict=True):
        assert line == f"fastgnb: error: {out / name}: cannot be written: File too large"
    assert content(out) == before


@pytest.mark.promise("whole")
@LINUX
@pytest.mark.parametrize("name", ["o.parquet", "o.csv", "o.arrow"])
def test_no_space_left_while_rows_are_written(tmp_path, model, out, capsys, monkeypatch, name):
    data = write(table(3000), tmp_path / "data.parquet")
    monkeypatch.setattr(_writers, "_create", lambda path: pa.OSFile("/dev/full", "wb"))
    before = content(out)
    line = fails(capsys, *writing(model, data, out)[name])
    assert line == (
        f"fastgnb: error: {out / name}: cannot be written: {os.strerror(errno.ENOSPC)}\n"
    )
    assert content(out) == before


@pytest.mark.parametrize("name", ["o.parquet", "o.csv", "o.arrow", "o.npy", "model", "e.json"])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end(tmp_path, model, out, capsys, monkeypatch, name, step):
    """A network file system tells of a full disk when the file is flushed."""
    data = write(with_known_label(), tmp_path / "data.parquet")
    words = writing(model, data, out)[name]
    before = content(out)
    with monkeypatch.context() as patch:

        def fail(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        patch.setattr(os, step, fail)
        capsys.readouterr()
        assert main([str(word) for word in words]) == 1
    line = capsys.readouterr().err
    assert line == (
        f"fastgnb: error: {out / name}: cannot be written: {os.strerror(errno.ENOSPC)}\n"
    )
    assert content(out) == before


def process(*words, code=0, module=True, prefix=(), timeout=600, **options):
    """`python -m fastgnb` with a buffered standard output, as users have it."""
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parents[2]))
    environment.pop("PYTHONUNBUFFERED", None)
    start = [*prefix, sys.executable, *(["-m", "fastgnb"] if module else [])]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    done = subprocess.run(
        [*map(str, [*start, *words])], env=environment, timeout=timeout, check=False, **options
    )
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


@LINUX
def test_a_full_standard_output_is_told(tmp_path, model):
    data = tmp_path / "models" / "data.parquet"
    for words in [["show", model], ["evaluate", model, data, "--target", "y"], ["--help"]]:
        with open("/dev/full", "w") as full:
            done = process(*words, stdout=full, code=1)
        expect_one_line(done.stderr)
        assert done.stderr == "fastgnb: error: standard output: No space left on device\n"


@POSIX
def test_streams_that_the_shell_closed(tmp_path, model):
    data = tmp_path / "models" / "data.parquet"
    output = tmp_path / "o.csv"
    start = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh"]
    process("predict", model, data, "--output", output, prefix=start)
    assert read(output).num_rows == 60
    process("predict", model, tmp_path / "no.csv", "--output", output, prefix=start, code=1)


def test_labels_that_the_terminal_cannot_show(tmp_path):
    path = write({"x": [0.0, 1.0], "y": ["ç", "b"]}, tmp_path / "data.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "model")
    narrow = ["env", "PYTHONIOENCODING=ascii"]
    for words in [
        ["show", tmp_path / "model"],
        ["evaluate", tmp_path / "model", path, "--target", "y"],
    ]:
        assert "\\xe7" in process(*words, prefix=narrow).stdout


def test_no_memory_is_one_line(model, capsys, monkeypatch):
    def fail(_):
        raise MemoryError

    monkeypatch.setattr(model_commands, "read", fail)
    monkeypatch.setattr(model_rows, "read", fail)
    assert "--batch-rows" not in fails(capsys, "show", model)  # which it lacks
    words = ["evaluate", model, "d.csv", "--batch-rows"]
    assert "out of memory; fewer rows at a time, such as --batch-rows 1000" in fails(
        capsys, *words, 2000
    )
    line = fails(capsys, *words, 1000)  # as few as is advised
    assert line == (
        "fastgnb: error: out of memory; that of a model grows with its classes times its features\n"
    )


@pytest.mark.parametrize("ending", [*TABLES, "npy"])
def test_batches_of_absurd_length_take_what_the_rows_take(tmp_path, model, ending):
    path = tmp_path / f"data.{ending}"
    if ending == "npy":
        np.save(path, np.column_stack([table()["x0"], table()["x1"]]))
    else:
        write(table(), path)
    for rows in [10**9, 10**15, 10**30]:
        ask = ["--batch-rows", rows, "--output", tmp_path / "o.npy", "--quiet"]
        run("predict", model, path, *ask)
        assert len(np.load(tmp_path / "o.npy")) == 60


# ------------------------------------------------------------------ models


def test_a_model_that_is_gone_or_is_no_file(tmp_path, model, out, capsys):
    data = tmp_path / "models" / "data.parquet"
    before = content(out)
    (tmp_path / "folder").mkdir()
    bads = {tmp_path / "gone": "No such file", tmp_path / "folder": "Is a directory"}
    for bad, reason in bads.items():
        for verb in ["predict", "update", "evaluate"]:
            line = fails(capsys, *command(verb, bad, data, out))
            assert line.startswith(f"fastgnb: error: {bad}: {reason}")
        line = fails(capsys, "merge", model, bad, "--model", out / "model")
        assert line.startswith(f"fastgnb: error: {bad}: {reason}")
    assert content(out) == before


def test_a_model_that_vanishes_while_rows_are_read(tmp_path, model, out, monkeypatch):
    """All of it is in memory by then."""
    data = tmp_path / "models" / "data.parquet"

    def planned(*args, **options):
        model.unlink()
        return open_source(*args, **options)

    patch_open_source(monkeypatch, planned)
    run(*command("predict", model, data, out))
    assert read(out / "o.csv").num_rows == 60


# ------------------------------------------------------------------ outputs as inputs


@pytest.mark.parametrize("ending", TABLES)
def test_predictions_are_data_again(tmp_path, model, ending):
    data = write(table(400), tmp_path / "data.parquet")
    first = tmp_path / f"first.{ending}"
    ask = ["--proba", "--evidence", "--keep", "x0,x1,t,y", "--batch-rows", 64, "--quiet"]
    run("predict", model, data, "--output", first, *ask)
    run("evaluate", model, first, "--target", "y", "--quiet")
    run("fit", first, "--target", "prediction", "--model", tmp_path / "second", "--quiet")
    names = persist.read(tmp_path / "second").model.feature_names
    assert names == ("x0", "x1", "proba_a", "proba_b", "log_evidence")
    run("update", tmp_path / "second", first, "--again", "--quiet")
    for output in TABLES:
        run("predict", tmp_path / "second", first, "--output", tmp_path / f"second.{output}")
    expected = read(tmp_path / "second.parquet")["prediction"].to_pylist()
    assert len(set(expected)) == 2
    for output in TABLES:
        assert read(tmp_path / f"second.{output}")["prediction"].to_pylist() == expected


def test_predicted_labels_in_npy_are_labels(tmp_path, model):
    X = np.column_stack([table(400)["x0"], table(400)["x1"]])
    np.save(tmp_path / "X.npy", X)
    run("predict", model, tmp_path / "X.npy", "--output", tmp_path / "y.npy", "--quiet")
    target = ["--target-npy", tmp_path / "y.npy"]
    run("fit", tmp_path / "X.npy", *target, "--model", tmp_path / "second")
    run("evaluate", tmp_path / "second", tmp_path / "X.npy", *target, "--quiet")
    expected = fastgnb.GaussianNB().fit(X, np.load(tmp_path / "y.npy"))
    assert np.array_equal(persist.read(tmp_path / "second").model.moments.theta, expected.theta_)


@pytest.mark.parametrize("ending", TABLES)
def test_wide_predictions_are_data_again(tmp_path, ending):
    k = 400
    y = np.repeat(np.arange(k), 2)
    data = write({"x": y + np.tile([0.0, 0.25], k), "y": y}, tmp_path / "data.parquet")
    run("fit", data, "--target", "y", "--model", tmp_path / "model")
    wide = tmp_path / f"wide.{ending}"
    run("predict", tmp_path / "model", data, "--proba", "--keep", "y", "--output", wide)
    assert read(wide).num_columns == k + 2
    run("fit", wide, "--target", "y", "--exclude", "prediction", "--model", tmp_path / "second")
    assert persist.read(tmp_path / "second").model.n_features == k


MANY = """
import resource, sys
from fastgnb.cli import main
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
for words in sys.stdin.read().splitlines():
    assert main(words.split("|")) == 0
"""


@LINUX
def test_thousands_of_files_with_few_descriptors(tmp_path, model):
    for folder in ["tables", "arrays"]:
        (tmp_path / folder).mkdir()
    for i, ending in enumerate([*TABLES, "npy"]):
        path = tmp_path / f"{i}.{ending}"
        if ending == "npy":
            np.save(path, np.column_stack([table()["x0"], table()["x1"]]))
        else:
            write(table(), path)
        folder = tmp_path / ("arrays" if ending == "npy" else "tables")
        for copy in range(500 if ending == "npy" else 667):
            os.link(path, folder / f"{copy}.{ending}")
    commands = [
        command("fit", model, tmp_path / "tables", tmp_path),
        ["predict", model, tmp_path / "arrays", "--output", tmp_path / "o.npy", "--quiet"],
    ]
    lines = "\n".join("|".join(map(str, words)) for words in commands)
    process("-c", MANY, module=False, input=lines, timeout=900)
    assert persist.read(tmp_path / "model").model.stats.count.sum() == 60 * 2001
    assert len(np.load(tmp_path / "o.npy")) == 60 * 500


# ------------------------------------------------------------------ signals


def test_a_batch_that_never_ends_is_interrupted(tmp_path, model, out, capsys, monkeypatch):
    """As the first one, which may wait for kernels to compile."""
    data = write(table(), tmp_path / "data.parquet")
    ended = []

    def endless(*_):
        signal.raise_signal(signal.SIGINT)
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            time.sleep(0.01)
        ended.append(1)

    monkeypatch.setattr(score_rows, "_output_rows", endless)
    before = content(out)
    line = fails(capsys, *command("predict", model, data, out), code=130)
    assert line == "fastgnb: interrupted\n"
    assert not ended
    assert content(out) == before


def test_the_repeated_signal_does_not_reach_the_next_run(tmp_path, model, capsys, monkeypatch):
    """It is meant for a batch; when that has ended, and its run with it, it comes to nothing."""
    monkeypatch.setattr(_interrupt, "PATIENCE", 0.05)
    data = write(table(), tmp_path / "data.parquet")
    ask = ["predict", model, data, "--output", tmp_path / "o.csv", "--batch-rows", 10, "--quiet"]
    rows = score_rows._output_rows

    def signalled(*args):
        signal.raise_signal(signal.SIGTERM)
        return rows(*args)

    def slow(*args):
        time.sleep(0.03)
        return rows(*args)

    for _ in range(5):
        monkeypatch.setattr(score_rows, "_output_rows", signalled)
        assert fails(capsys, *ask, code=130) == "fastgnb: interrupted\n"
        monkeypatch.setattr(score_rows, "_output_rows", slow)
        run(*ask)


def test_looking_for_a_bad_row_is_interrupted(tmp_path, model, out, capsys, monkeypatch):
    """The search reads the file once more, in the reader's thread, which gets no signals."""
    rows = ["1,2,u,a"] * 500 + ["1,oops,u,a"]
    (tmp_path / "bad.csv").write_text("\n".join(["x0,x1,t,y", *rows]) + "\n")
    opened = csv_file.CsvFile._open
    ended = []

    def endless():
        os.kill(os.getpid(), signal.SIGINT)
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            time.sleep(0.01)
            yield None
        ended.append(1)

    def opening(self, source, columns=(), types=None, threads=True):
        searching = columns and not threads
        return endless() if searching else opened(self, source, columns, types, threads)

    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 1000)
    monkeypatch.setattr(csv_file.CsvFile, "_open", opening)
    before = content(out)
    line = fails(capsys, *command("predict", model, tmp_path / "bad.csv", out), code=130)
    assert line == "fastgnb: interrupted\n"
    assert not ended
    assert content(out) == before


def signals_after(function, number):
    """The function, and two signals at the moment when it is done."""

    def wrapped(*args, **options):
        result = function(*args, **options)
        signal.raise_signal(number)
        signal.raise_signal(number)
        return result

    return wrapped


@pytest.mark.promise("interrupts")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", ["fit", "update", "predict", "evaluate", "merge"])
@pytest.mark.parametrize("place", ["rename", "flush", "end"])
def test_a_signal_after_the_output_was_replaced_is_too_late(
    tmp_path, model, capsys, monkeypatch, place, verb, number
):
    """Whoever sees 130 runs `update` again, and must not learn the rows twice."""
    data = write(table(), tmp_path / "data.parquet")
    out = tmp_path / ("o.json" if verb == "evaluate" else "o.parquet")
    ask = {
        "fit": ["fit", data, "--target", "y", "--features", "x0,x1", "--model", out, "--quiet"],
        "update": ["update", model, data, "--target", "y", "--model", out, "--again", "--quiet"],
        "predict": ["predict", model, data, "--output", out, "--quiet"],
        "evaluate": ["evaluate", model, data, "--target", "y", "--json", out, "--quiet"],
        "merge": ["merge", model, model, "--model", out, "--again"],
    }[verb]
    run(*ask)
    size = out.stat().st_size
    out.write_bytes(b"old")
    home, name = {
        "rename": (os, "replace"),
        "flush": (_atomic, "_flush_folder"),
        "end": (entry, "_run"),
    }[place]
    monkeypatch.setattr(home, name, signals_after(getattr(home, name), number))
    run(*ask)
    assert out.stat().st_size == size > len(b"old")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("place", ["flush", "unlink"])
def test_signals_before_the_rename_leave_all_as_it_was(
    tmp_path, model, out, capsys, monkeypatch, place, number
):
    """Also the second and third one, which come while the temporary file is removed."""
    data = write(table(), tmp_path / "data.parquet")
    flush, unlink = _atomic._flush_file, pathlib.Path.unlink

    def flushing(*args):
        flush(*args)
        signal.raise_signal(number)

    def removing(self):
        signal.raise_signal(number)
        unlink(self)
        signal.raise_signal(number)

    monkeypatch.setattr(_atomic, "_flush_file", flushing)
    if place == "unlink":
        monkeypatch.setattr(_interrupt, "GRACE", 0.0)  # as if removing took long
        monkeypatch.setattr(pathlib.Path, "unlink", removing)
    before = content(tmp_path)
    line = fails(capsys, *command("predict", model, data, out), code=130)
    assert line == "fastgnb: interrupted\n"
    assert content(tmp_path) == before


def test_a_second_interrupt_counts_again_after_a_while(tmp_path, model, out, capsys, monkeypatch):
    """The first one may have been lost in a callback, where Python ignores exceptions."""
    now = [100.0]  # a clock that no other process can delay
    clock = types.SimpleNamespace(monotonic=lambda: now[0], sleep=time.sleep)
    monkeypatch.setattr(_interrupt, "time", clock)

    def lost(_):
        for pause in (0.0, 0.0, 2 * _interrupt.GRACE):
            now[0] += pause
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
                caught.append("ignored")
        now[0] += 2 * _interrupt.GRACE
        signal.raise_signal(signal.SIGINT)

    caught = []
    monkeypatch.setattr(model_commands, "read", lost)
    assert fails(capsys, "show", model, code=130) == "fastgnb: interrupted\n"
    assert caught == ["ignored"]


LATE = """
import atexit, os, sys, time
from fastgnb import cli
number = int(sys.argv.pop(1))
atexit.register(time.sleep, 0.01)
atexit.register(os.kill, os.getpid(), number)
sys.exit(cli.process())
"""


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_process_ends(tmp_path, model, number):
    data, out = write(table(), tmp_path / "data.parquet"), tmp_path / "o.csv"
    words = ["predict", model, data, "--output", out, "--quiet"]
    process("-c", LATE, int(number), *words, module=False)
    assert len(out.read_text().splitlines()) == len(table()) + 1


LONG = """
import sys, time
from fastgnb.files.jobs import progress
from fastgnb.cli import main
interruptible_iter = progress.interruptible_iter
def told(items):
    for i, item in enumerate(interruptible_iter(items)):
        if i == 3:
            print("running", flush=True)
        yield item
progress.interruptible_iter = told
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.promise("interrupts")
@POSIX
@pytest.mark.parametrize(
    ("verb", "ending", "number"),
    [
        ("fit", "parquet", signal.SIGINT),
        ("evaluate", "csv", signal.SIGTERM),
        *(
            pytest.param(verb, ending, number, marks=pytest.mark.slow)
            for verb in ["fit", "update", "predict", "evaluate"]
            for ending in ["parquet", "csv", "arrow"]
            for number in [signal.SIGINT, signal.SIGTERM]
        ),
    ],
)
def test_a_signal_stops_a_long_run_soon(
    tmp_path, model, out, verb, ending, number, record_property
):
    """In one row group, one record batch, or text; a minute or more if left alone."""
    (tmp_path / "in").mkdir()
    rng = np.random.default_rng(0)
    n = 300_000
    data = pa.table(
        {"x0": rng.normal(size=n), "x1": rng.normal(size=n), "y": ["a", "b"] * (n // 2)}
    )
    first = tmp_path / "in" / f"0.{ending}"
    write(data, first)
    for i in range(1, 100 if ending == "csv" else 3000):
        os.link(first, tmp_path / "in" / f"{i}.{ending}")
    before = content(out)
    words = map(str, command(verb, model, tmp_path / "in", out))
    child = subprocess.Popen(
        [sys.executable, "-c", LONG, *words],
        env=dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parents[2])),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout.readline() == "running\n"
        start = time.monotonic()
        child.send_signal(number)
        _, shown = child.communicate(timeout=300)
        record_property("seconds_to_stop", time.monotonic() - start)
    finally:
        child.kill()
        child.wait()
    assert (child.returncode, shown) == (130, "fastgnb: interrupted\n")
    assert content(out) == before


# ------------------------------------------------------------------ kill -9

FORKS = """
import os, signal, sys
from fastgnb._system import atomic as _atomic
from fastgnb.cli import main
commands = [line.split("|") for line in sys.stdin.readline().rstrip("\\n").split("||")]
for words in commands:
    assert main(words) == 0
print("ready", flush=True)

def die_half_written(path, target):
    os.truncate(path, os.path.getsize(path) // 2)
    os.kill(os.getpid(), signal.SIGKILL)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        if line == "half\\n":
            _atomic._flush_file = die_half_written
        while True:
            for words in commands:
                if main(words) != 0:
                    os._exit(9)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


SOON = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0003, 0.002]
"""Seconds after a new file has appeared; a file is written within one or a few thousandths."""


class Killed:
    """A warm process that forks one child after another; each does nothing but `commands`."""

    def __init__(self, commands):
        environment = dict(
            os.environ,
            PYTHONPATH=str(pathlib.Path(__file__).parents[2]),
            NUMBA_NUM_THREADS="1",  # threads do not live on in a fork
            PYTHONWARNINGS="ignore",
        )
        self.parent = subprocess.Popen(
            [sys.executable, "-c", FORKS], env=environment, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.parent.stdin.write("||".join("|".join(map(str, words)) for words in commands) + "\n")
        assert self.parent.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.parent.stdin.close()
        try:
            self.parent.wait(timeout=300)
        finally:
            self.parent.kill()
            self.parent.stdout.close()

    def half_written(self):
        """Start a child that dies when it has written half of its file, however busy we are."""
        self.parent.stdin.write("half\n")
        self.parent.stdout.readline()
        assert int(self.parent.stdout.readline()) == -signal.SIGKILL

    def once(self, seconds, folder=None):
        """Start a child and kill it after so long, from when a new file is in `folder`."""
        known = set() if folder is None else set(os.listdir(folder))
        self.parent.stdin.write("\n")
        child = int(self.parent.stdout.readline())
        deadline = time.monotonic() + 300
        # Without a pause: a small file is there under its temporary name for a millisecond.
        while folder and not set(os.listdir(folder)) - known and time.monotonic() < deadline:
            pass
        if seconds:
            time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        assert int(self.parent.stdout.readline()) == -signal.SIGKILL


@pytest.fixture
def wide(tmp_path):
    """Rows of 200 classes and 100 features in two files, and models of them: 100s of kB each."""
    rng = np.random.default_rng(0)
    for i in range(2):
        X = rng.normal(size=(2000, 100))
        data = pa.table({f"x{j}": X[:, j] for j in range(100)} | {"y": np.arange(2000) % 200})
        write(data, tmp_path / f"{i}.parquet")
        run("fit", tmp_path / f"{i}.parquet", "--target", "y", "--model", tmp_path / f"m{i}")
    return tmp_path


def kill_commands(verb, folder, output):
    """Two commands with the same output, which is different; one, where it changes itself."""
    data, models = [folder / f"{i}.parquet" for i in range(2)], [folder / "m0", folder / "m1"]
    if verb == "fit":
        return [["fit", path, "--target", "y", "--model", output] for path in data]
    if verb == "update":
        return [["update", output, data[0], "--again"]]
    if verb == "merge":
        others = models[::-1]
        return [["merge", models[0], m, "--model", output, "--again"] for m in others]
    return [["predict", m, data[0], "--proba", "--output", output, "--quiet"] for m in models]


def meaning(output, verb):
    """What an output says; the order of the entries in a model's header may differ."""
    if verb == "predict":
        return output.read_bytes()
    return persist.read(output).model.moments.theta.tobytes()  # its digest is checked


@pytest.mark.promise("whole")
@POSIX
@pytest.mark.parametrize("kills", [12, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", ["fit", "update", "merge", "predict"])
def test_a_kill_leaves_the_old_file_or_the_new_one(wide, verb, kills):
    folder = wide / "out"
    folder.mkdir()
    output = folder / "o.parquet"
    if verb == "update":
        shutil.copy(wide / "m0", output)
    commands = kill_commands(verb, wide, output)
    whole = []
    for words in commands:
        run(*words)
        whole.append(meaning(output, verb))
    rng = random.Random(f"{verb} {kills}")
    with Killed(commands) as killed:
        for i in range(kills):
            # A third of them anywhere, at or soon after a new file has appeared, and within one.
            if i % 3 == 0:
                killed.once(rng.uniform(0, 0.15))
            elif i % 3 == 1:
                killed.once(rng.choice(SOON), folder)
            else:
                killed.half_written()
            left = [name for name in os.listdir(folder) if name != output.name]
            assert left or i % 3 < 2
            assert all(name.startswith(".") and name.endswith(".tmp") for name in left)
            assert expand([folder]) == [output]  # what is left over is no data
            if verb == "update":
                assert persist.read(output).model.stats.count.sum() % 2000 == 0
            else:
                assert meaning(output, verb) in whole
            for name in rng.sample(sorted(left), len(left) // 2):  # later runs meet the others
                (folder / name).unlink()
    for words in commands:
        run(*words)
    assert os.listdir(folder) == [output.name]  # nothing of the killed ones is left
    if verb == "predict":
        run("fit", folder, "--target", "prediction", "--model", wide / "again")
        assert persist.read(wide / "again").model.stats.count.sum() == 2000
