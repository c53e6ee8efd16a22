"""Paths that clash, wrong usage, terminals and processes."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from children import PATIENCE, finished, started
from command_line import error_line, read, run, write
from three_classes import FIT, problem

import fastgnb

# ------------------------------------------------------------------ paths that clash


@pytest.mark.promise("whole")
def test_outputs_that_are_inputs(tmp_path, fitted, capsys):
    _, path, model = fitted
    (tmp_path / "in").mkdir()
    inside = write(problem(), tmp_path / "in" / "data.csv")
    linked = tmp_path / "link.parquet"
    linked.symlink_to(path)
    before = pathlib.Path(path).read_bytes()
    for command in [
        ["fit", path, *FIT, "--model", path],
        ["fit", tmp_path / "in", *FIT, "--model", inside],
        ["predict", model, path, "--output", path],
        ["predict", model, path, "--output", linked],
        ["predict", model, tmp_path / "in", "--output", inside],
        ["evaluate", model, path, "--target", "y", "--json", model],
        ["merge", model, model, "--model", model],
        ["update", model, path, "--target", "y", "--model", path],
    ]:
        assert error_line(capsys, *command).endswith(": the output would replace an input\n")
    assert pathlib.Path(path).read_bytes() == before


@pytest.mark.parametrize("command", ["fit", "predict", "merge"])
def test_outputs_that_cannot_be_written(tmp_path, fitted, capsys, command):
    _, path, model = fitted
    nowhere = tmp_path / "no" / "out.parquet"
    rest = {
        "fit": [path, *FIT, "--model", nowhere],
        "predict": [model, path, "--output", nowhere],
        "merge": [model, model, "--model", nowhere],
    }
    line = error_line(capsys, command, *rest[command])
    assert f"cannot write {nowhere}: the folder {tmp_path / 'no'} does not exist" in line


# ------------------------------------------------------------------ usage


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["learn"], "invalid choice: 'learn'"),
        (
            ["fit", "d.csv", "--model", "m"],
            "one of the arguments --target --target-npy is required",
        ),
        (["fit", "d.csv", "--target", "y"], "the following arguments are required: --model"),
        (["fit", "--target", "y", "--model", "m"], "the following arguments are required: DATA"),
        (
            ["fit", "d.csv", "--target", "y", "--model", "m", "--features", "a", "--exclude", "b"],
            "argument --exclude: not allowed with argument --features",
        ),
        (
            ["fit", "d", "--target", "y", "--model", "m", "--features", 'a,"b'],
            "is not a list of names such as A,B",
        ),
        (
            ["fit", "d", "--target", "y", "--model", "m", "--features", ""],
            "'' is not a list of names such as A,B",
        ),
        (
            ["fit", "d", "--target", "y", "--model", "m", "--priors", "0.5,0.6"],
            "'0.5,0.6': expected numbers, 0 or more, that sum to 1",
        ),
        (["fit", "d", "--target", "y", "--model", "m", "--priors", "x"], "'x' is not a number"),
        (
            ["fit", "d", "--target", "y", "--model", "m", "--var-smoothing", "-1"],
            "'-1' is not a finite number, 0 or more",
        ),
        (
            ["fit", "d", "--target", "y", "--model", "m", "--threads", "0"],
            "'0' is not a whole number, 1 or more",
        ),
        (["fit", "d", "--target", "y", "--model", "m", "--missing", "no"], "invalid choice: 'no'"),
        (["predict", "m", "d.csv"], "the following arguments are required: --output"),
        (
            ["predict", "m", "d.csv", "--output", "o.xlsx"],
            "'o.xlsx' does not end in one of .parquet, .csv, .tsv, .arrow, .feather, .ipc, .npy",
        ),
        (["merge", "a", "--model", "b"], "the following arguments are required: MODEL"),
    ],
)
def test_wrong_usage(capsys, argv, message):
    assert message in error_line(capsys, *argv, code=2)


def test_help_and_version(capsys):
    run("--help")
    assert "COMMAND" in capsys.readouterr().out
    run("--version")
    assert capsys.readouterr().out == f"fastgnb {fastgnb.__version__}\n"


# ------------------------------------------------------------------ terminal and process


def test_a_progress_bar_on_a_terminal_only(tmp_path, fitted, capsys, monkeypatch):
    _, path, model = fitted
    ask = ["predict", model, path, "--output", tmp_path / "o.csv"]
    run(*ask)
    assert "rows/s" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    run(*ask, "--quiet")
    assert capsys.readouterr().err == ""
    run(*ask)
    bar = capsys.readouterr().err
    assert "300/300" in bar
    assert "rows/s" in bar


def test_a_missing_extra_is_named(tmp_path, fitted, capsys, monkeypatch):
    _, path, model = fitted
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    line = error_line(capsys, "predict", model, path, "--output", tmp_path / "o.csv")
    assert line == (
        "fastgnb: error: reading and writing files needs tqdm, which is not installed: "
        "pip install 'fastgnb[cli]'\n"
    )


def process(*argv, code=0):
    return finished([sys.executable, *argv], code=code)


def test_importing_the_command_line_is_cheap():
    heavy = "{'numpy', 'numba', 'sklearn', 'pyarrow', 'tqdm', 'safetensors', 'pandas'}"
    process("-c", f"import sys, fastgnb.cli.entry; sys.exit(len({heavy} & set(sys.modules)))")
    script = (
        "import sys; from fastgnb.cli import main; main(['warmup', '--help']);"
        f"sys.exit(len({heavy} & set(sys.modules)))"
    )
    process("-c", script)


def test_commands_on_files_do_not_import_scikit_learn(fitted):
    _, path, model = fitted
    script = (
        "import sys; from fastgnb.cli import main;"
        f"code = main(['evaluate', {model!r}, {path!r}, '--target', 'y', '--threads', '1']);"
        "sys.exit(code or 'sklearn' in sys.modules)"
    )
    process("-c", script)


def test_as_a_module(tmp_path, fitted):
    _, path, model = fitted
    process("-m", "fastgnb", "predict", model, path, "--output", tmp_path / "o.csv")
    assert read(tmp_path / "o.csv").num_rows == 300
    failed = process(
        "-m", "fastgnb", "predict", model, "no.csv", "--output", tmp_path / "o.csv", code=1
    )
    assert failed.stderr == "fastgnb: error: no.csv: no such file or folder\n"
    process("-m", "fastgnb", "fit", code=2)


@pytest.mark.promise("whole")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_no_half_file(tmp_path, fitted, number):
    data, _, model = fitted
    (tmp_path / "in").mkdir()
    path = write(data, tmp_path / "in" / "0.csv")
    for i in range(1, 400):
        os.link(path, tmp_path / "in" / f"{i}.csv")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "o.csv").write_text("old")
    ask = ["predict", model, tmp_path / "in", "--output", tmp_path / "out" / "o.csv"]
    words = [sys.executable, "-m", "fastgnb", *ask, "--batch-rows", 1]
    with started(words, stderr=subprocess.PIPE) as child:
        deadline = time.monotonic() + PATIENCE
        while (
            len(os.listdir(tmp_path / "out")) < 2
            and child.poll() is None
            and time.monotonic() < deadline
        ):
            time.sleep(0.01)
        child.send_signal(number)
        _, shown = child.communicate(timeout=PATIENCE)
    assert (child.returncode, shown) == (130, "fastgnb: interrupted\n")
    assert os.listdir(tmp_path / "out") == ["o.csv"]
    assert (tmp_path / "out" / "o.csv").read_text() == "old"
