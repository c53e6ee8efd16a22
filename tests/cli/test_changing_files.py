"""Files that change, or go, while a command uses them."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from fault_files import (
    POSIX,
    TABLES,
    command,
    content,
    fails,
    patch_open_source,
    read,
    run,
    table,
    write_rows,
)
from table_files import write

from fastgnb.files.tables.sources import open_source

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


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
