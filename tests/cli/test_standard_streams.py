"""`-` reads standard input and writes standard output, as other programs do."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from children import PATIENCE, started
from command_line import run

from fastgnb import from_bytes, load
from fastgnb.cli import main

TABLE = pa.table({
    "x": np.r_[np.linspace(0, 1, 50), np.linspace(3, 4, 50)],
    "y": ["a"] * 50 + ["b"] * 50,
})  # fmt: skip


def written(write):
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def stream():
    sink = io.BytesIO()
    with ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return sink.getvalue()


def file():
    sink = io.BytesIO()
    with ipc.new_file(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return sink.getvalue()


CSV = written(lambda sink: pacsv.write_csv(TABLE, sink))
INPUTS = {
    "csv": CSV,
    "csv.gz": gzip.compress(CSV),
    "arrow stream": stream(),
    "arrow file": file(),
    "parquet": written(lambda sink: pq.write_table(TABLE, sink)),
}


class Bytes(io.TextIOWrapper):
    """A standard stream that holds bytes."""

    def __init__(self, data=b"", is_terminal=False):
        raw = io.BytesIO(data)
        raw.isatty = lambda: is_terminal
        super().__init__(raw, encoding="utf-8")

    def taken(self):
        self.flush()
        return self.buffer.getvalue()


@pytest.fixture
def piped(monkeypatch, capsys):
    """Runs a command with bytes on standard input: (exit code, standard output, and error)."""

    def command(*words, stdin=b"", terminal=False):
        out = Bytes(is_terminal=terminal)
        monkeypatch.setattr(sys, "stdin", Bytes(stdin, is_terminal=terminal))
        monkeypatch.setattr(sys, "stdout", out)
        capsys.readouterr()
        code = main([str(word) for word in words])
        return code, out.taken(), capsys.readouterr().err

    return command


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.fgnb"
    (tmp_path / "d.csv").write_bytes(CSV)
    run("fit", tmp_path / "d.csv", "--target", "y", "--model", path, "--quiet")
    return path


def test_merged_and_reestimated_models_go_to_standard_output(tmp_path, piped, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir())
    for words, count in (
        (["merge", model, model, "--again", "--model", "-"], 100),
        (["reestimate", model, "--output", "-"], 50),
    ):
        code, out, err = piped(*words)
        assert code == 0, err
        assert "; wrote standard output in" in err
        assert from_bytes(out).class_count_.tolist() == [count, count]
        assert piped(*words, terminal=True)[0] == 1, "a model is no text"
    assert sorted(os.listdir()) == before


def test_a_report_goes_to_standard_output(tmp_path, piped, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir())
    code, out, err = piped("report", model, "d.csv", "--output", "-")
    assert code == 0, err
    assert "; wrote standard output in" in err
    assert out.startswith(b"<!DOCTYPE html>")
    assert out.endswith(b"</html>\n")
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("name", INPUTS)
def test_fit_reads_any_format(tmp_path, piped, model, name):
    code, out, err = piped(
        "fit", "-", "--target", "y", "--model", tmp_path / "n.fgnb", stdin=INPUTS[name]
    )
    assert (code, out) == (0, b"")
    assert "fit: 100 rows, 1 feature (x)" in err
    assert load(tmp_path / "n.fgnb").theta_.tobytes() == load(model).theta_.tobytes()


def test_fit_writes_the_model_to_standard_output(tmp_path, piped, model):
    code, out, err = piped("fit", "-", "--target", "y", "--model", "-", stdin=CSV)
    assert code == 0
    assert "; wrote standard output in" in err
    (tmp_path / "n.fgnb").write_bytes(out)
    assert load(tmp_path / "n.fgnb").theta_.tolist() == load(model).theta_.tolist()
    more = CSV.replace(b"0,", b"0.5,", 1)
    code, out, err = piped("update", model, "-", "--model", "-", stdin=more)
    assert code == 0, err
    (tmp_path / "u.fgnb").write_bytes(out)
    assert load(tmp_path / "u.fgnb").class_count_.tolist() == [100, 100]


@pytest.mark.parametrize("name", INPUTS)
def test_predict_between_two_pipes(piped, model, name):
    code, out, _ = piped("predict", model, "-", "--output", "-", stdin=INPUTS[name])
    assert code == 0
    assert out.decode().split() == ['"prediction"', *['"a"'] * 50, *['"b"'] * 50]
    words = ["--output-format", "arrow", "--keep", "x", "--proba"]
    code, out, _ = piped("predict", model, "-", "--output", "-", *words, stdin=INPUTS[name])
    assert code == 0
    table = ipc.open_stream(out).read_all()
    assert table.column_names == ["x", "prediction", "proba_a", "proba_b"]
    assert table["prediction"].to_pylist() == TABLE["y"].to_pylist()
    if "csv" not in name:  # whose kept columns are text
        code, again, err = piped("evaluate", model, "-", "--target", "prediction", stdin=out)
        assert code == 0, err
        assert b"accuracy" in again


def test_parquet_and_npy_to_standard_output(piped, model):
    for form, read in [("parquet", pq.read_table), ("npy", np.load)]:
        words = ["--output", "-", "--output-format", form]
        code, out, err = piped("predict", model, "-", *words, stdin=CSV)
        assert code == 0, err
        assert len(read(io.BytesIO(out))) == 100


def test_errors_and_notes_name_the_stream_and_write_nothing(piped, model, tmp_path):
    bad = CSV.replace(b"\n1,", b"\nfoo,", 1)
    code, out, err = piped("predict", model, "-", "--output", "-", stdin=bad)
    assert (code, out) == (1, b"")
    assert err.startswith("fastgnb: error: standard input: column 'x', row ")
    code, _, err = piped("fit", "-", "--target", "z", "--model", "-", stdin=CSV)
    assert code == 1
    assert "standard input: column 'z' is missing" in err
    code, _, err = piped("fit", "-", "--target", "y", "--model", tmp_path / "m2", stdin=b"")
    assert code == 1
    assert "standard input: the file is empty" in err
    cut = gzip.compress(CSV)[:-20]
    code, _, err = piped("fit", "-", "--target", "y", "--model", tmp_path / "m2", stdin=cut)
    assert code == 1
    assert "standard input: the gzip file is damaged or not complete" in err
    assert not (tmp_path / "m2").exists()


def test_temporary_files_are_removed(piped, model, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    for stdin in (CSV, b"x,y\nfoo,a\n"):
        piped("predict", model, "-", "--output", "-", stdin=stdin)
        assert list(folder.iterdir()) == []


def test_other_files_beside_standard_input(piped, model, tmp_path):
    code, _, err = piped("fit", "-", tmp_path / "d.csv", "--again", "--target", "y", "--model",
                         tmp_path / "n", stdin=CSV.replace(b"0,", b"0.5,", 1))  # fmt: skip
    assert code == 0, err
    assert "200 rows" in err
    code, _, err = piped("fit", "-", "-", "--target", "y", "--model", tmp_path / "n", stdin=CSV)
    assert code == 1
    assert "standard input (-) is given twice, and can be read once" in err


def test_a_dialect_on_standard_input(piped, tmp_path):
    text = CSV.replace(b",", b";").replace(b".", b",")
    words = ["--target", "y", "--sep", ";", "--decimal", ",", "--where", "x > 0.5"]
    code, _, err = piped("fit", "-", "--model", tmp_path / "n", *words, stdin=text)
    assert code == 0, err
    assert "75 rows, 25 rows left out (--where)" in err


def test_terminals_and_closed_streams(piped, model, monkeypatch, capsys):
    code, _, err = piped("predict", model, "-", "--output", "o.csv", terminal=True)
    assert code == 1
    assert "standard input is a terminal, expected rows from a pipe or a file" in err
    data = model.parent / "d.csv"
    words = ["--output", "-", "--output-format", "arrow"]
    code, out, err = piped("predict", model, data, *words, terminal=True)
    assert (code, out) == (1, b"")
    assert "the result is no text, and standard output is a terminal" in err
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["predict", str(model), "-", "--output", "o.csv"]) == 1
    assert "standard input is closed" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
def test_a_reader_that_has_enough_ends_it_quietly(model, tmp_path):
    """As with `| head`: without a message, nor the line that tells of a result."""
    big = tmp_path / "big.csv"
    big.write_text("x\n" + "0.50000000000\n" * 200_000)  # more than a pipe holds
    words = ["predict", str(model), str(big), "--output", "-", "--keep", "x"]
    command = [sys.executable, "-m", "fastgnb", *words]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        some = process.stdout.read(20)
        process.stdout.close()
        err = process.stderr.read()
        code = process.wait(PATIENCE)
    assert (code, err) == (1, "")
    assert some
