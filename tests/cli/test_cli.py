"""The command: files in, files out, exit codes and one line for an error."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import error_line, read, run, write

import fastgnb
from fastgnb._numba import warmup
from fastgnb.cli import main, model_commands
from fastgnb.files.jobs import score_rows
from fastgnb.files.models import model_file as persist
from fastgnb.files.tables import csv_file
from fastgnb.files.tables import writers as _writers
from fastgnb.model.model import Model
from fastgnb.stats.class_stats import ClassStats

FORMATS = ["parquet", "csv", "arrow"]
LABELS = {
    "str": np.array(["ant", "bee, big", "çat"], dtype=object),
    "int": np.array([-1, 4, 7]),
    "bool": np.array([False, True]),
    "float": np.array([0.0, 1.0, 2.0]),
}


def problem(n=300, kind="str", seed=0):
    """Rows of three overlapping classes over three named columns, as a dict of arrays."""
    rng = np.random.default_rng(seed)
    classes = LABELS[kind]
    code = rng.integers(len(classes), size=n)
    return {
        "a b": rng.normal(code, 1.0),
        "c,d": rng.integers(0, 5, n) + code,
        "e": rng.random(n) < (code + 1) / 4,
        "name": [f"row {i}" for i in range(n)],
        "id": np.arange(n) + 2**60,
        "w": rng.random(n),
        "y": classes[code],
    }


FEATURES = ["a b", "c,d", "e"]
FIT = ["--target", "y", "--features", '"a b","c,d",e', "--quiet"]


def matrix(data):
    return np.column_stack([np.asarray(data[name], float) for name in FEATURES])


def frame(data):
    return pd.DataFrame(matrix(data), columns=FEATURES)


@pytest.fixture
def fitted(tmp_path):
    """(data as a dict, path of it, path of a model of it)"""
    data = problem()
    path = write(data, tmp_path / "data.parquet")
    run("fit", path, *FIT, "--model", tmp_path / "model")
    return data, path, str(tmp_path / "model")


# ------------------------------------------------------------------ fit


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("kind", LABELS)
def test_fit_equals_the_api(tmp_path, ending, kind):
    data = problem(kind=kind)
    path = write(data, tmp_path / f"data.{ending}")
    run("fit", path, *FIT, "--model", tmp_path / "model", "--batch-rows", 64)
    saved = persist.read(tmp_path / "model").model
    whole = fastgnb.GaussianNB().fit(matrix(data), data["y"])
    assert saved.feature_names == tuple(FEATURES)
    assert saved.classes.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(saved.moments.theta, whole.theta_, rtol=1e-12)
    np.testing.assert_allclose(saved.moments.var, whole.var_, rtol=1e-12)
    assert saved.moments.epsilon == pytest.approx(whole.epsilon_, rel=1e-12)


def test_fit_obeys_its_options(tmp_path):
    data = problem()
    path = write(data, tmp_path / "data.csv")
    options = ["--weight", "w", "--priors", "0.2,0.3,0.5", "--var-smoothing", "0.1"]
    run("fit", path, *FIT, *options, "--model", tmp_path / "model", "--threads", 1)
    model = fastgnb.load(tmp_path / "model")
    whole = fastgnb.GaussianNB(priors=[0.2, 0.3, 0.5], var_smoothing=0.1)
    whole.fit(matrix(data), data["y"], sample_weight=data["w"])
    np.testing.assert_allclose(model.var_, whole.var_, rtol=1e-12)
    assert model.class_prior_.tolist() == [0.2, 0.3, 0.5]
    assert model.class_count_.sum() == pytest.approx(data["w"].sum())


def test_default_features_and_what_is_left_out(tmp_path, capsys):
    path = write(problem(), tmp_path / "data.parquet")
    run("fit", path, "--target", "y", "--weight", "w", "--model", tmp_path / "model")
    notes = capsys.readouterr().err.splitlines()
    assert notes[0] == (
        "fastgnb: note: left out, not numeric: 'name' (--categorical takes text; of dates make "
        "numbers)"
    )
    assert notes[-1].startswith("fastgnb: fit: 300 rows, 4 features (a b, 'c,d', e, id), 3 classes")
    assert persist.read(tmp_path / "model").model.feature_names == ("a b", "c,d", "e", "id")
    options = ["--exclude", 'id,"c,d",name', "--model", tmp_path / "model"]
    run("fit", path, "--target", "y", "--weight", "w", *options)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("fastgnb: fit: 300 rows, 2 features (a b, e), 3 classes")
    assert persist.read(tmp_path / "model").model.feature_names == ("a b", "e")


def test_missing_values(tmp_path, capsys):
    data = problem()
    data["a b"][250] = np.nan
    path = write(data, tmp_path / "data.parquet")
    fit = ["fit", path, *FIT, "--model", tmp_path / "model", "--batch-rows", 100]
    assert (
        "data.parquet: column 'a b', row 251: missing value (null or NaN); a model fitted with "
        "--missing skip takes these"
    ) in error_line(capsys, *fit)
    run(*fit, "--missing", "skip")
    whole = fastgnb.GaussianNB(missing="skip").fit(matrix(data), data["y"])
    np.testing.assert_allclose(
        persist.read(tmp_path / "model").model.moments.theta, whole.theta_, rtol=1e-12
    )
    run("predict", tmp_path / "model", path, "--output", tmp_path / "o.parquet", "--quiet")
    scored = read(tmp_path / "o.parquet")["prediction"].to_pylist()
    assert scored == whole.predict(matrix(data)).tolist()


@pytest.mark.parametrize("missing", ["error", "skip"])
def test_infinity_is_never_missing(tmp_path, capsys, missing):
    data = problem()
    data["a b"][7] = -np.inf
    path = write(data, tmp_path / "data.csv")
    line = error_line(
        capsys, "fit", path, *FIT, "--missing", missing, "--model", tmp_path / "model"
    )
    assert line.endswith(
        "data.csv: column 'a b', row 8: -inf is not a finite number; "
        "--on-error skip leaves such rows out\n"
    )


def test_fit_several_files_and_folders(tmp_path):
    data = problem()
    (tmp_path / "in").mkdir()
    table = pa.table(data)
    write(table.slice(0, 100), tmp_path / "in" / "1.parquet")
    shuffled = table.select(list(reversed(table.schema.names)))
    write(shuffled.slice(100, 100), tmp_path / "in" / "2.csv")
    last = write(table.slice(200), tmp_path / "last.arrow")
    run("fit", tmp_path / "in", last, *FIT, "--model", tmp_path / "model")
    whole = fastgnb.GaussianNB().fit(matrix(data), data["y"])
    np.testing.assert_allclose(
        persist.read(tmp_path / "model").model.moments.var, whole.var_, rtol=1e-12
    )


def test_fit_without_rows(tmp_path, capsys):
    path = write(pa.table(problem()).slice(0, 0), tmp_path / "data.parquet")
    line = error_line(capsys, "fit", path, *FIT, "--model", tmp_path / "model")
    assert line.endswith("data.parquet: no rows to fit\n")
    assert not (tmp_path / "model").exists()


def test_labels_that_are_no_classes(tmp_path, capsys):
    path = write({"x": [1.0, 2.0], "y": [0.5, 1.5]}, tmp_path / "data.csv")
    line = error_line(capsys, "fit", path, "--target", "y", "--model", tmp_path / "model")
    assert "data.csv: column 'y': Unknown label type: " in line


def test_npy(tmp_path, capsys):
    data = problem(kind="int")
    np.save(tmp_path / "X.npy", matrix(data))
    np.save(tmp_path / "y.npy", data["y"])
    model, target = tmp_path / "model", ["--target-npy", tmp_path / "y.npy"]
    run("fit", tmp_path / "X.npy", *target, "--model", model)
    run("predict", model, tmp_path / "X.npy", "--output", tmp_path / "p.npy")
    whole = fastgnb.GaussianNB().fit(matrix(data), data["y"])
    found = np.load(tmp_path / "p.npy")
    assert found.dtype == np.int64
    assert found.tolist() == whole.predict(matrix(data)).tolist()
    run("evaluate", model, tmp_path / "X.npy", *target)
    accuracy = whole.score(matrix(data), data["y"])
    assert f"accuracy     {accuracy:.6f}" in capsys.readouterr().out
    run("update", model, tmp_path / "X.npy", *target, "--again")
    assert persist.read(model).model.stats.count.sum() == 600


# ------------------------------------------------------------------ update and merge


def test_threads_are_given_back(tmp_path):
    import numba

    before = numba.get_num_threads(), pa.cpu_count()
    path = write(problem(), tmp_path / "rows.parquet")
    run("fit", path, *FIT, "--model", tmp_path / "model", "--threads", 1)
    assert (numba.get_num_threads(), pa.cpu_count()) == before


def test_update_equals_fit_on_all(tmp_path):
    data = problem()
    table = pa.table(data)
    for i, (start, rows) in enumerate([(0, 90), (90, 1), (91, 209)]):
        write(table.slice(start, rows), tmp_path / f"{i}.parquet")
    model = tmp_path / "model"
    options = ["--var-smoothing", "0.1", "--priors", "0.2,0.3,0.5"]
    run("fit", tmp_path / "0.parquet", *FIT, *options, "--model", model)
    run("update", model, tmp_path / "1.parquet", "--target", "y", "--model", tmp_path / "second")
    assert persist.read(model).model.stats.count.sum() == 90
    run("update", tmp_path / "second", tmp_path / "2.parquet")  # the target is that of fit
    expect_equal(
        persist.read(tmp_path / "second").model, data, var_smoothing=0.1, priors=[0.2, 0.3, 0.5]
    )


def test_merge_equals_fit_on_all(tmp_path):
    data = problem()
    table = pa.table(data)
    models = []
    for i, start in enumerate(range(0, 300, 100)):
        path = write(table.slice(start, 100), tmp_path / f"{i}.parquet")
        models.append(tmp_path / f"model{i}")
        run("fit", path, *FIT, "--missing", "skip", "--model", models[-1])
    run("merge", *models, "--model", tmp_path / "all")
    expect_equal(persist.read(tmp_path / "all").model, data, missing="skip")


def expect_equal(saved, data, **parameters):
    whole = fastgnb.GaussianNB(**parameters).fit(matrix(data), data["y"])
    assert saved.classes.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(saved.moments.theta, whole.theta_, rtol=1e-12)
    np.testing.assert_allclose(saved.moments.var, whole.var_, rtol=1e-12)
    np.testing.assert_allclose(saved.moments.class_prior, whole.class_prior_, rtol=1e-12)
    assert saved.moments.epsilon == pytest.approx(whole.epsilon_, rel=1e-12)


def test_update_with_new_classes_weights_and_no_rows(tmp_path, fitted):
    data, _, model = fitted
    more = write(
        {
            "e": [True, False],
            "a b": [0.5, 1.0],
            "c,d": [1, 2],
            "y": ["new", "new"],
            "w": [2.0, 1.0],
        },
        tmp_path / "more.csv",
    )
    run("update", model, more, "--target", "y", "--weight", "w", "--quiet")
    stats = persist.read(model).model.stats
    assert stats.classes.tolist() == sorted([*LABELS["str"], "new"])
    assert stats.count.sum() == pytest.approx(303)
    empty = write(pa.table(data).slice(0, 0), tmp_path / "empty.parquet")
    run("update", model, empty, "--target", "y")
    assert persist.read(model).model.stats.count.tolist() == stats.count.tolist()


def test_update_remembers_the_weights_of_fit(tmp_path):
    data = problem()
    path, model = write(data, tmp_path / "rows.parquet"), tmp_path / "model"
    run("fit", path, *FIT, "--weight", "w", "--model", model)
    run("update", model, path, "--again")
    assert persist.read(model).model.stats.count.sum() == pytest.approx(2 * data["w"].sum())


def test_update_without_a_known_target(tmp_path, fitted, capsys):
    data, path, _ = fitted
    model = tmp_path / "from_python"
    fastgnb.save(fastgnb.GaussianNB().fit(pd.DataFrame(data)[FEATURES], data["y"]), model)
    line = error_line(capsys, "update", model, path)
    assert "does not know its target column; name it with --target" in line
    run("update", model, path, "--target", "y")
    assert persist.read(model).model.stats.count.sum() == 600


def test_update_that_fails_leaves_the_model(tmp_path, fitted, capsys):
    data, _, model = fitted
    before = pathlib.Path(model).read_bytes()
    data["a b"][299] = np.inf
    bad = write(data, tmp_path / "bad.parquet")
    line = error_line(capsys, "update", model, bad, "--target", "y", "--batch-rows", 50)
    assert "bad.parquet: column 'a b', row 300: inf is not a finite number" in line
    assert pathlib.Path(model).read_bytes() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--var-smoothing", "0.5"], "second: var_smoothing is 0.5, but 1e-09 in "),
        (["--priors", "0.2,0.3,0.5"], r"second: priors is [0.2, 0.3, 0.5], but None in "),
        (["--missing", "skip"], "second: missing is 'skip', but 'error' in "),
    ],
)
def test_merge_of_models_with_other_parameters(tmp_path, fitted, capsys, options, message):
    _, path, model = fitted
    run("fit", path, *FIT, *options, "--model", tmp_path / "second")
    line = error_line(capsys, "merge", model, tmp_path / "second", "--model", tmp_path / "all")
    assert message in line
    assert not (tmp_path / "all").exists()


def test_merge_of_models_with_other_features(tmp_path, fitted, capsys):
    _, path, model = fitted
    run("fit", path, "--target", "y", "--features", "e", "--model", tmp_path / "second")
    line = error_line(capsys, "merge", model, tmp_path / "second", "--model", tmp_path / "all")
    assert f"{tmp_path / 'second'}: " in line


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
    batches = score_rows._output_rows
    done = []

    def signalled(*args):
        for _ in range(times):
            signal.raise_signal(number)
        done.append(1)
        return batches(*args)

    monkeypatch.setattr(score_rows, "_output_rows", signalled)
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


# ------------------------------------------------------------------ evaluate


def test_evaluate_equals_scikit_learn(tmp_path, fitted, capsys):
    from sklearn import metrics

    data, path, model = fitted
    run("evaluate", model, path, "--target", "y", "--json", tmp_path / "e.json", "--batch-rows", 77)
    shown = capsys.readouterr().out
    found = json.loads((tmp_path / "e.json").read_text())
    loaded = fastgnb.load(model)
    predicted, proba = loaded.predict(frame(data)), loaded.predict_proba(frame(data))
    assert found["n_rows"] == 300
    assert found["accuracy"] == metrics.accuracy_score(data["y"], predicted)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(data["y"], proba), rel=1e-13)
    errors = proba - (np.asarray(data["y"])[:, None] == loaded.classes_)
    assert found["brier_score"] == pytest.approx(np.square(errors).sum(axis=1).mean(), rel=1e-13)
    confusion = metrics.confusion_matrix(data["y"], predicted)
    assert found["confusion_matrix"] == confusion.tolist()
    for word in [
        "accuracy",
        "log loss",
        "Brier score",
        "TPR",
        "FPR",
        "PPV",
        "NPV",
        "F1",
        "bee, big",
    ]:
        assert word in shown
    for count in confusion.ravel():
        assert f" {count}" in shown


def test_evaluate_labels_the_model_never_saw(tmp_path, fitted, capsys):
    data, _, model = fitted
    data["y"][:30] = "unheard of"
    path = write(data, tmp_path / "other.csv")
    run("evaluate", model, path, "--target", "y", "--json", tmp_path / "e.json")
    found = json.loads((tmp_path / "e.json").read_text())
    assert found["labels"] == ["ant", "bee, big", "unheard of", "çat"]
    assert found["per_class"][2]["tpr"] == 0.0
    assert "unheard of" in capsys.readouterr().out


def test_evaluate_without_rows(tmp_path, fitted, capsys):
    data, _, model = fitted
    path = write(pa.table(data).slice(0, 0), tmp_path / "empty.parquet")
    line = error_line(capsys, "evaluate", model, path, "--target", "y")
    assert line.endswith("empty.parquet: no rows to evaluate\n")


def test_labels_of_another_kind_than_the_models(tmp_path, fitted, capsys):
    data, _, model = fitted
    path = write(data | {"y": np.zeros(300, int)}, tmp_path / "numbers.csv")
    for command in ["evaluate", "update"]:
        line = error_line(capsys, command, model, path, "--target", "y")
        assert "numbers.csv: the target holds labels of kind number, expected text" in line


def test_many_classes_are_not_all_printed(tmp_path, capsys):
    y = np.repeat(np.arange(60), 2)
    path = write({"x": y + np.tile([0.0, 0.1], 60), "y": y}, tmp_path / "data.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "model")
    run("evaluate", tmp_path / "model", path, "--target", "y")
    shown = capsys.readouterr().out
    assert "confusion matrix: 60 x 60, see --json" in shown
    assert "... and 10 more classes; --json has all" in shown
    run("show", tmp_path / "model")
    shown = capsys.readouterr().out
    assert "... and 54 more classes of the table; --json has all" in shown


# ------------------------------------------------------------------ show, warmup, demo


def test_show(fitted, capsys):
    data, _, model = fitted
    run("show", model)
    shown = capsys.readouterr().out
    whole = fastgnb.GaussianNB().fit(matrix(data), data["y"])
    assert "features       3\n" in shown
    assert "total weight   300\n" in shown
    assert "bee, big" in shown
    assert f"{whole.theta_[0, 0]:.4g} ({np.sqrt(whole.var_[0, 0]):.3g})" in shown
    assert f"fastgnb {fastgnb.__version__}" in shown


def test_show_json(fitted, capsys):
    model = fitted[2]
    run("show", model, "--json")
    shown = json.loads(capsys.readouterr().out)
    saved = persist.read(model).model
    assert shown["classes"] == saved.classes.tolist()
    assert shown["feature_names"] == FEATURES
    assert np.array_equal(shown["theta"], saved.moments.theta)
    assert np.array_equal(shown["var"], saved.moments.var)
    assert shown["priors"] is None
    assert set(shown["versions"]) >= {"fastgnb", "numpy", "python"}


def test_show_keeps_strange_names_on_one_line(tmp_path, capsys):
    path = write({"two\nlines": [1.0, 2.0], "y": ["", "b"]}, tmp_path / "data.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "model")
    run("show", tmp_path / "model")
    shown = capsys.readouterr().out
    assert "'two\\nlines'" in shown
    assert "\n''  " in shown


@pytest.mark.compiled
def test_warmup(capsys):
    run("warmup")
    (line,) = capsys.readouterr().out.splitlines()
    found = re.fullmatch(r"(\d+) kernels in [\d.]+ s: (\d+) compiled, (\d+) loaded; (.*)", line)
    total, compiled, loaded = (int(found[i]) for i in (1, 2, 3))
    assert total == compiled + loaded == warmup.n_variants()
    assert os.path.isdir(found[4].removeprefix("cache in "))


def test_demo(capsys, monkeypatch):
    monkeypatch.setattr("fastgnb.kernels.warmup", lambda: 0)
    run("demo", "--rows", "2000")
    shown = capsys.readouterr()
    assert "labels that differ from scikit-learn's: 0" in shown.out
    for text in ["scikit-learn", "fastgnb, arrays", "fastgnb, file to file", "rows/s"]:
        assert text in shown.out
    assert "compiling kernels, if they are not in the cache" in shown.err


def test_demo_fails_where_labels_differ(capsys, monkeypatch):
    monkeypatch.setattr("fastgnb.kernels.warmup", lambda: 0)
    monkeypatch.setattr("fastgnb.GaussianNB.predict", lambda self, X: np.full(len(X), -1))
    run("demo", "--rows", "1000", code=1)
    assert "labels that differ from scikit-learn's: 1000" in capsys.readouterr().out


# ------------------------------------------------------------------ models that do not fit the data


def test_no_such_model(tmp_path, fitted, capsys):
    line = error_line(capsys, "predict", tmp_path / "no", fitted[1], "--output", tmp_path / "o.csv")
    assert line == f"fastgnb: error: {tmp_path / 'no'}: No such file or directory\n"


@pytest.mark.parametrize("command", ["show", "predict", "evaluate", "update"])
def test_foreign_models(tmp_path, fitted, capsys, command):
    (tmp_path / "foreign").write_bytes(b"not a model" * 10)
    rest = {
        "show": [],
        "predict": [fitted[1], "--output", tmp_path / "o.csv"],
        "evaluate": [fitted[1], "--target", "y"],
        "update": [fitted[1], "--target", "y"],
    }
    line = error_line(capsys, command, tmp_path / "foreign", *rest[command])
    assert str(tmp_path / "foreign") in line


def test_a_model_without_names_and_a_table(tmp_path, fitted, capsys):
    data, path, _ = fitted
    stats = ClassStats.from_rows(matrix(data), data["y"])
    persist.ModelFile(Model.of("GaussianNB", stats)).write(tmp_path / "unnamed")
    line = error_line(capsys, "predict", tmp_path / "unnamed", path, "--output", tmp_path / "o.csv")
    assert "unnamed: this model was fitted without column names; give it .npy data" in line


def test_a_model_with_names_and_npy(tmp_path, fitted, capsys):
    data, path, model = fitted
    np.save(tmp_path / "X.npy", matrix(data))
    capsys.readouterr()
    run("predict", model, tmp_path / "X.npy", "--output", tmp_path / "1.arrow")
    assert capsys.readouterr().err.startswith(
        "fastgnb: note: columns of .npy have no names and are taken in the order of the model\n"
        "fastgnb: predict: 300 rows, 3 features (a b, 'c,d', e), 3 classes (ant, 'bee, big', çat); "
    )
    run("predict", model, path, "--output", tmp_path / "2.arrow")
    assert read(tmp_path / "1.arrow").equals(read(tmp_path / "2.arrow"))


def test_npy_of_another_width(tmp_path, fitted, capsys):
    np.save(tmp_path / "X.npy", np.zeros((2, 5)))
    line = error_line(
        capsys, "predict", fitted[2], tmp_path / "X.npy", "--output", tmp_path / "o.csv"
    )
    assert line.endswith("X.npy: 5 columns, expected 3, those of the model\n")


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
            "'o.xlsx' does not end in one of .parquet, .csv, .arrow, .feather, .ipc, .npy",
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
    done = subprocess.run(
        [sys.executable, *map(str, argv)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == code, done.stderr
    return done


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
    child = subprocess.Popen(
        [sys.executable, "-m", "fastgnb", *map(str, [*ask, "--batch-rows", 1])],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 300
        while len(os.listdir(tmp_path / "out")) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        child.send_signal(number)
        _, shown = child.communicate(timeout=300)
    finally:
        child.kill()
    assert (child.returncode, shown) == (130, "fastgnb: interrupted\n")
    assert os.listdir(tmp_path / "out") == ["o.csv"]
    assert (tmp_path / "out" / "o.csv").read_text() == "old"
