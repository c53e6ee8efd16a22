"""Signals: a command ends soon and changes nothing, or has taken effect."""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import numpy as np
import pyarrow as pa
import pytest
from children import PATIENCE, first_line, started
from fault_files import POSIX, command, content, fails, process, run, table
from table_files import write

from fastgnb._system import atomic as _atomic
from fastgnb._system import signals as _interrupt
from fastgnb.cli import entry, model_commands
from fastgnb.files.jobs import score_rows
from fastgnb.files.tables import csv_file

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


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

    def opening(self, source, columns=(), types=None, threads=True, **options):
        if columns and not threads:  # the search
            return contextlib.nullcontext(endless())
        return opened(self, source, columns, types, threads, **options)

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
from fastgnb.files.jobs import file_state, progress
from fastgnb.cli import main
interruptible_iter = progress.interruptible_iter
n = 0
def told(items):
    global n
    for item in interruptible_iter(items):
        n += 1
        if n == 4:
            print("running", flush=True)
        yield item
progress.interruptible_iter = file_state.interruptible_iter = told
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.promise("interrupts")
@POSIX
@pytest.mark.parametrize(
    ("verb", "ending", "number"),
    [
        ("fit", "parquet", signal.SIGINT),
        ("evaluate", "csv", signal.SIGTERM),
        *(  # each verb and each ending with both
            pytest.param(
                verb, ending, (signal.SIGINT, signal.SIGTERM)[i % 2], marks=pytest.mark.slow
            )
            for i, (verb, ending) in enumerate(
                itertools.product(
                    ["fit", "update", "predict", "evaluate"], ["parquet", "csv", "arrow"]
                )
            )
        ),
    ],
)
def test_a_signal_stops_a_long_run_soon(
    tmp_path, model, out, verb, ending, number, record_property
):
    """In one row group, one record batch, or text; a minute or more if left alone."""
    (tmp_path / "in").mkdir()
    rng = np.random.default_rng(0)
    # Text takes long to write, and other files to open.
    n, files = (300_000, 100) if ending == "csv" else (2_000_000, 450)
    data = pa.table(
        {"x0": rng.normal(size=n), "x1": rng.normal(size=n), "y": ["a", "b"] * (n // 2)}
    )
    first = tmp_path / "in" / f"0.{ending}"
    write(data, first)
    for i in range(1, files):
        os.link(first, tmp_path / "in" / f"{i}.{ending}")
    before = content(out)
    words = command(verb, model, tmp_path / "in", out)
    with started(
        [sys.executable, "-c", LONG, *words],
        env=dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parents[2])),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        first_line(child, "running")
        start = time.monotonic()
        child.send_signal(number)
        _, shown = child.communicate(timeout=PATIENCE)
        record_property("seconds_to_stop", time.monotonic() - start)
    assert (child.returncode, shown) == (130, "fastgnb: interrupted\n")
    assert content(out) == before
