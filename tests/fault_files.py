"""Rows, commands over them and damage to files, for the tests of faults."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from children import finished
from table_files import write

from fastgnb.cli import main
from fastgnb.files.errors import SourceError
from fastgnb.files.jobs import learn_files, model_rows
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source

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


def patch_open_source(monkeypatch, planned):
    """Have every job plan its files by another function."""
    monkeypatch.setattr(learn_files, "open_source", planned)
    monkeypatch.setattr(model_rows, "open_source", planned)


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


def with_known_label(n=60):
    """The rows, with labels in column t of which the model knows the first."""
    rows = table(n)
    labels = ["a", *rows["t"].to_pylist()[1:]]
    return rows.set_column(rows.column_names.index("t"), "t", pa.array(labels))


def process(*words, code=0, module=True, prefix=(), **options):
    """`python -m fastgnb` with a buffered standard output, as users have it."""
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parents[1]))
    environment.pop("PYTHONUNBUFFERED", None)
    start = [*prefix, sys.executable, *(["-m", "fastgnb"] if module else [])]
    pipes = {"capture_output": False, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return finished([*start, *words], code=code, **{"env": environment} | pipes | options)
