"""`fastgnb predict`: the answers of the estimators, in any format."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import signal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import error_line, read, run, write
from three_classes import FIT, FORMATS, LABELS, frame, problem

import fastgnb
from fastgnb.cli import main, model_commands
from fastgnb.files.jobs import score_rows
from fastgnb.files.tables import csv_file
from fastgnb.files.tables import writers as _writers

# ------------------------------------------------------------------ predict


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("ending", FORMATS)
def test_predictions_equal_the_api(tmp_path, kind, ending):
    data = problem(kind=kind)
    path = write(data, tmp_path / f"data.{ending}")
    run("fit", path, *FIT, "--model", tmp_path / "model")
    output = tmp_path / f"out.{ending}"
    ask = ["--proba", "--evidence", "--keep", "id,name", "--batch-rows", 70, "--quiet"]
    run("predict", tmp_path / "model", path, "--output", output, *ask)
    model = fastgnb.load(tmp_path / "model")
    found, X = read(output), frame(data)
    names = [f"proba_{label}" for label in model.classes_.tolist()]
    assert found.schema.names == ["id", "name", "prediction", *names, "log_evidence"]
    assert found["id"].to_pylist() == data["id"].tolist()
    assert found["name"].to_pylist() == data["name"]
    assert found["prediction"].to_pylist() == model.predict(X).tolist()
    proba = np.column_stack([found[name].to_numpy() for name in names])
    assert np.array_equal(proba, model.predict_proba(X))
    assert np.array_equal(found["log_evidence"].to_numpy(), model.predict_log_evidence(X))
    if ending != "csv":
        types = {"str": pa.string(), "int": pa.int64(), "bool": pa.bool_(), "float": pa.float64()}
        assert found.schema.field("prediction").type == types[kind]


def test_float32_rows_give_float32_probabilities(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).astype(np.float32)
    y = rng.integers(2, size=40)
    path = write({"a": X[:, 0], "b": X[:, 1], "y": y}, tmp_path / "data.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "model")
    run("predict", tmp_path / "model", path, "--proba", "--output", tmp_path / "o.parquet")
    found = read(tmp_path / "o.parquet")
    assert found.schema.field("proba_1").type == pa.float32()
    model = fastgnb.load(tmp_path / "model")
    proba = model.predict_proba(pd.DataFrame(X, columns=["a", "b"]))
    assert proba.dtype == np.float32
    assert (found["proba_1"].to_numpy() == proba[:, 1]).all()


def test_columns_are_matched_by_name(tmp_path, fitted):
    data, path, model = fitted
    other = pa.table(data).select(["e", "name", "c,d", "a b"])
    write(other, tmp_path / "other.csv")
    for source in [path, tmp_path / "other.csv"]:
        run("predict", model, source, "--output", tmp_path / f"{pathlib.Path(source).stem}.arrow")
    assert read(tmp_path / "data.arrow").equals(read(tmp_path / "other.arrow"))


def test_a_missing_column_is_named(tmp_path, fitted, capsys):
    data, _, model = fitted
    part = write(pa.table(data).drop_columns(["c,d"]), tmp_path / "part.parquet")
    line = error_line(capsys, "predict", model, part, "--output", tmp_path / "o.csv")
    assert "part.parquet: column 'c,d' is missing; found 'a b', 'e', 'name'" in line
    assert not (tmp_path / "o.csv").exists()


def test_npy_output_of_labels_only_is_a_plain_array(tmp_path, fitted):
    data, path, model = fitted
    run("predict", model, path, "--output", tmp_path / "o.npy", "--batch-rows", 7)
    found = np.load(tmp_path / "o.npy")
    assert found.dtype == np.dtype("<U8")
    assert found.tolist() == fastgnb.load(model).predict(frame(data)).tolist()


def test_npy_output_of_several_columns_is_structured(tmp_path, fitted):
    data, path, model = fitted
    ask = ["--proba", "--evidence", "--keep", "id,e", "--batch-rows", 7]
    run("predict", model, path, "--output", tmp_path / "o.npy", *ask)
    found = np.load(tmp_path / "o.npy")
    assert found.shape == (300,)
    assert found.dtype.names == (
        "id", "e", "prediction", "proba_ant", "proba_bee, big", "proba_çat", "log_evidence",
    )  # fmt: skip
    assert found["id"].tolist() == data["id"].tolist()
    assert found["e"].tolist() == data["e"].tolist()
    proba = fastgnb.load(model).predict_proba(frame(data))
    assert np.array_equal(found["proba_çat"], proba[:, 2])


def test_npy_output_cannot_hold_text(tmp_path, fitted, capsys):
    _, path, model = fitted
    line = error_line(
        capsys, "predict", model, path, "--keep", "name", "--output", tmp_path / "o.npy"
    )
    assert "column 'name' is string; .npy holds numbers and booleans here: write Parquet" in line
    assert not (tmp_path / "o.npy").exists()


def test_npy_output_cannot_hold_nulls_of_integers(tmp_path, fitted, capsys):
    data, _, model = fitted
    data["id"] = [None if i == 200 else i for i in range(300)]
    path = write(data, tmp_path / "nulls.parquet")
    ask = ["--keep", "id", "--output", tmp_path / "o.npy", "--batch-rows", 64]
    line = error_line(capsys, "predict", model, path, *ask)
    assert "column 'id', row 201 of the output: null, which .npy cannot hold as int64" in line


def test_csv_output_cannot_hold_lists(tmp_path, fitted, capsys):
    data, _, model = fitted
    path = write(data | {"list": [[1]] * 300}, tmp_path / "lists.parquet")
    line = error_line(
        capsys, "predict", model, path, "--keep", "list", "--output", tmp_path / "o.csv"
    )
    assert "column 'list' is list<element: int64>, which CSV cannot hold; write Parquet" in line
    run("predict", model, path, "--keep", "list", "--output", tmp_path / "o.parquet")
    assert read(tmp_path / "o.parquet")["list"].to_pylist() == [[1]] * 300


def test_parquet_output_cannot_hold_intervals(tmp_path, fitted, capsys):
    data, _, model = fitted
    interval = pa.array([(1, 2, 3)] * 300, pa.month_day_nano_interval())
    path = write(data | {"every": interval}, tmp_path / "data.arrow")
    ask = ["--keep", "every", "--output", tmp_path / "o.parquet"]
    line = error_line(capsys, "predict", model, path, *ask)
    assert "Parquet cannot hold a kept column: Unhandled type" in line
    assert not (tmp_path / "o.parquet").exists()


@pytest.mark.parametrize("ending", [*FORMATS, "npy"])
def test_no_rows_give_an_empty_file_of_the_right_schema(tmp_path, fitted, ending):
    data, _, model = fitted
    path = write(pa.table(data).slice(0, 0), tmp_path / "empty.parquet")
    ask = ["--proba", "--keep", "id", "--output", tmp_path / f"o.{ending}"]
    run("predict", model, path, *ask)
    names = ["id", "prediction", "proba_ant", "proba_bee, big", "proba_çat"]
    if ending == "npy":
        found = np.load(tmp_path / "o.npy")
        assert (len(found), list(found.dtype.names)) == (0, names)
    else:
        found = read(tmp_path / f"o.{ending}")
        assert (found.num_rows, found.schema.names) == (0, names)


def test_small_batches_become_parquet_groups_of_a_useful_size(tmp_path, fitted, monkeypatch):
    _, path, model = fitted
    monkeypatch.setattr(_writers, "ROW_GROUP", 128)
    run("predict", model, path, "--output", tmp_path / "o.parquet", "--batch-rows", 10)
    meta = pq.ParquetFile(tmp_path / "o.parquet").metadata
    sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
    assert sizes == [130, 130, 40]


@pytest.mark.parametrize("name", ["prediction", "proba_ant", "log_evidence"])
def test_a_kept_column_named_like_an_output(tmp_path, fitted, capsys, name):
    data, _, model = fitted
    path = write(data | {name: data["id"]}, tmp_path / "clash.parquet")
    ask = ["--proba", "--evidence", "--keep", name, "--output", tmp_path / "o.csv"]
    line = error_line(capsys, "predict", model, path, *ask)
    assert f"column '{name}' is both kept and written; leave it out of --keep" in line


def test_a_bad_row_deep_in_the_file_leaves_the_old_output(tmp_path, fitted, capsys, monkeypatch):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 200)
    _, _, model = fitted
    lines = ['"a b","c,d",e', *["0.5,1,true"] * 500]
    lines[401] = "oops,1,true"
    (tmp_path / "bad.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "o.csv").write_text("old")
    before = sorted(os.listdir(tmp_path))
    line = error_line(
        capsys, "predict", model, tmp_path / "bad.csv", "--output", tmp_path / "o.csv"
    )
    assert line.endswith("bad.csv: column 'a b', row 401: expected a number, got 'oops'\n")
    assert (tmp_path / "o.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.promise("interrupts")
def test_an_interrupt_leaves_the_old_output(tmp_path, fitted, capsys, monkeypatch):
    _, path, model = fitted
    (tmp_path / "o.parquet").write_text("old")
    before = sorted(os.listdir(tmp_path))
    batches = score_rows._output_rows
    calls = []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 4:
            assert sorted(os.listdir(tmp_path)) != before  # half of a file, under another name
            raise KeyboardInterrupt
        return batches(*args)

    monkeypatch.setattr(score_rows, "_output_rows", interrupted)
    ask = ["--output", tmp_path / "o.parquet", "--batch-rows", 50]
    assert error_line(capsys, "predict", model, path, *ask, code=130) == "fastgnb: interrupted\n"
    assert (tmp_path / "o.parquet").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [1, 2])
def test_the_first_signal_ends_between_batches_and_the_second_at_once(
    tmp_path, fitted, capsys, monkeypatch, number, times
):
    _, path, model = fitted
    before = sorted(os.listdir(tmp_path)), signal.getsignal(number)
    write = score_rows.BackgroundWriter.write  # which the main thread calls, as signals need
    done = []

    def signalled(*args):
        for _ in range(times):
            signal.raise_signal(number)
        done.append(1)
        return write(*args)

    monkeypatch.setattr(score_rows.BackgroundWriter, "write", signalled)
    ask = ["--output", tmp_path / "o.parquet", "--batch-rows", 50]
    assert error_line(capsys, "predict", model, path, *ask, code=130) == "fastgnb: interrupted\n"
    assert len(done) == (1 if times == 1 else 0)
    assert (sorted(os.listdir(tmp_path)), signal.getsignal(number)) == before


def test_a_signal_before_the_rows_ends_at_once(fitted, capsys, monkeypatch):
    monkeypatch.setattr(model_commands, "read", lambda _: signal.raise_signal(signal.SIGTERM))
    assert error_line(capsys, "show", fitted[2], code=130) == "fastgnb: interrupted\n"


def test_another_thread_can_run_a_command(fitted):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(main, ["show", fitted[2]]).result() == 0
