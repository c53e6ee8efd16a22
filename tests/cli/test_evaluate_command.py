"""`fastgnb evaluate`, `show`, `warmup` and `demo`, and models that do not fit the data."""

from __future__ import annotations

import json
import os
import re
import sys

import numpy as np
import pyarrow as pa
import pytest
from command_line import error_line, read, run, write
from three_classes import FEATURES, frame, matrix

import fastgnb
from fastgnb._numba.compiler import DISPATCHERS
from fastgnb._numba.threads import uses_parallel_loop
from fastgnb.files.models import model_file as persist
from fastgnb.model.model import Model
from fastgnb.stats.class_stats import ClassStats

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
    assert total == compiled + loaded
    # Other tests compile further ones in this process.
    ours = {f: n for f, n in DISPATCHERS.items() if f.py_func.__module__.startswith("fastgnb.")}
    assert total >= sum(ours.values()) - (not uses_parallel_loop())
    assert os.path.isdir(found[4].removeprefix("cache in "))


def test_demo(capsys):
    run("demo", "--rows", "2000")
    shown = capsys.readouterr()
    assert "labels that differ from scikit-learn's: 0" in shown.out
    for text in ["scikit-learn", "fastgnb, arrays", "fastgnb, file to file", "rows/s"]:
        assert text in shown.out
    assert "best of 3 runs, after one that compiles or loads kernels" in shown.err


def test_demo_fails_where_labels_differ(capsys, monkeypatch):
    monkeypatch.setattr("fastgnb.GaussianNB.predict", lambda self, X: np.full(len(X), -1))
    run("demo", "--rows", "1000", code=1)
    assert "labels that differ from scikit-learn's: 1000" in capsys.readouterr().out


@pytest.mark.dev
def test_demo_writes_a_page(tmp_path, capsys):
    pytest.importorskip("vl_convert")
    run("demo", "--rows", "2000", "--html", tmp_path / "demo.html")
    assert f"wrote {tmp_path / 'demo.html'}" in capsys.readouterr().err
    text = (tmp_path / "demo.html").read_text(encoding="utf-8")
    data = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    )
    (measured,) = data["runs"]
    assert len(measured["figures"][0]) == 7
    assert len(measured["comparisons"][0]) == 4
    assert {"python", "fastgnb", "numpy", "scikit-learn"} <= set(measured["versions"])
    assert "2,000 x 20 x 10" in data["words"]


def test_demo_writes_no_page_to_standard_output(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = error_line(capsys, "demo", "--html", "-", code=2)
    assert line.endswith("argument --html: expected a file; standard output has the table\n")
    assert not list(tmp_path.iterdir())


def test_demo_checks_its_page_before_it_measures(tmp_path, capsys, monkeypatch):
    page = tmp_path / "no" / "demo.html"
    assert error_line(capsys, "demo", "--html", page).endswith(
        f"cannot write {page}: the folder {tmp_path / 'no'} does not exist\n"
    )
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    line = error_line(capsys, "demo", "--html", tmp_path / "demo.html")
    assert "a page of benchmarks needs vl_convert, which is not installed" in line
    assert "pip install 'fastgnb[dashboard]'" in line


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
