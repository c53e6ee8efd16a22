"""Full disks, streams that are closed, and memory that ends: the old output stays."""

from __future__ import annotations

import errno
import os

import numpy as np
import pyarrow as pa
import pytest
from fault_files import (
    LINUX,
    POSIX,
    TABLES,
    content,
    expect_one_line,
    fails,
    process,
    read,
    run,
    table,
    with_known_label,
)
from table_files import write

from fastgnb.cli import main, model_commands
from fastgnb.files.jobs import model_rows
from fastgnb.files.tables import writers as _writers

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


# ------------------------------------------------------------------ full disks


FULL = """
import resource, sys
from fastgnb.cli import main
commands = [line.split("|") for line in sys.stdin.read().splitlines()]
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # Python ignores SIGXFSZ
for words in commands:
    print(main(words))
"""


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
    for words in commands.values():
        run(*words)  # so that no kernel is left to be written to its cache
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
    (tmp_path / "first").mkdir()
    run(*writing(model, data, tmp_path / "first")[name])  # kernels are written to their cache here
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
