"""Full disks, closed streams and no memory; predictions are data again."""

from __future__ import annotations

import errno
import os
import sys

import numpy as np
import pyarrow as pa
import pytest
from faults import (
    POSIX,
    TABLES,
    command,
    content,
    expect_one_line,
    fails,
    patch_open_source,
    process,
    read,
    run,
    table,
)
from table_files import write

import fastgnb
from fastgnb.cli import main, model_commands
from fastgnb.files.jobs import model_rows
from fastgnb.files.models import model_file as persist
from fastgnb.files.tables import writers as _writers
from fastgnb.files.tables.sources import open_source

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Linux")


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
