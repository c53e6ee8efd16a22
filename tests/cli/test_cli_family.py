"""The commands with every member of the family: files in, the estimators' own answers out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from members import CASES, with_categories
from numpy.testing import assert_allclose

from fastgnb import GaussianBayes, GaussianNB, PCAGaussianNB, load
from fastgnb.cli import main
from fastgnb.files.models import model_file as persist
from fastgnb.files.models.schemas import own_options

MEMBERS = {
    "tied": (["--tied", "--ddof", "1"], GaussianNB(tied=True, ddof=1)),
    "sphere": (["--covariance-type", "spherical"], GaussianNB(covariance_type="spherical")),
    "full": (["--model-type", "GaussianBayes"], GaussianBayes()),
    "shared": (
        ["--model-type", "GaussianBayes", "--tied", "--shrinkage", "oas", "--reg-param", "0.25"],
        GaussianBayes(tied=True, shrinkage="oas", reg_param=0.25),
    ),
    "shrunk": (
        ["--model-type", "GaussianBayes", "--shrinkage", "0.5", "--priors", "0.25,0.75"],
        GaussianBayes(shrinkage=0.5, priors=[0.25, 0.75]),
    ),
    "axes": (
        ["--model-type", "PCAGaussianNB", "--n-components", "2"],
        PCAGaussianNB(n_components=2),
    ),
    "target": (
        ["--model-type", "GaussianBayes", "--shrinkage", "oas", "--shrinkage-target", "spherical"],
        GaussianBayes(shrinkage="oas", shrinkage_target="spherical"),
    ),
    "standard": (
        ["--model-type", "PCAGaussianNB", "--standardize", "--n-components", "2"],
        PCAGaussianNB(n_components=2, standardize=True),
    ),
    "share": (
        ["--model-type", "PCAGaussianNB", "--n-components", "0.75", "--rotation", "class"],
        PCAGaussianNB(n_components=0.75, rotation="class"),
    ),
    "within": (
        ["--model-type", "PCAGaussianNB", "--rotation", "within", "--var-smoothing", "0.5"],
        PCAGaussianNB(rotation="within", var_smoothing=0.5),
    ),
}


@pytest.fixture
def files(tmp_path, rng):
    """Two Parquet files of one table, and its rows (n, 3) and labels."""
    X = rng.normal(size=(120, 3)) @ rng.normal(size=(3, 3))
    y = np.array(["a", "b"])[np.arange(120) % 2]
    X[y == "b"] += 1
    for i in range(2):
        part = slice(60 * i, 60 * i + 60)
        columns = {f"x{j}": X[part, j] for j in range(3)}
        pq.write_table(pa.table({**columns, "y": y[part]}), tmp_path / f"{i}.parquet")
    return tmp_path, X, y


def run(*argv):
    assert main([str(arg) for arg in argv]) == 0


def fails(capsys, *argv):
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize("name", MEMBERS)
def test_fit_update_merge_and_predict(files, name):
    folder, X, y = files
    options, estimator = MEMBERS[name]
    one, two = folder / "0.parquet", folder / "1.parquet"
    rest = ["--target", "y", *options, "--quiet"]
    run("fit", one, two, "--model", folder / "whole", *rest)
    run("fit", one, "--model", folder / "first", *rest)
    run("fit", two, "--model", folder / "second", *rest)
    run("update", folder / "first", two, "--model", folder / "updated", "--quiet")
    run("merge", folder / "first", folder / "second", "--model", folder / "merged")
    wanted = estimator.fit(X, y).predict_proba(X)
    for model in ("whole", "updated", "merged"):
        out = folder / f"{model}.csv"
        run("predict", folder / model, one, two, "--proba", "--output", out, "--quiet")
        table = pacsv.read_csv(out)
        proba = np.column_stack([table["proba_a"], table["proba_b"]])
        assert_allclose(proba, wanted, rtol=1e-9, atol=1e-13)
        assert table["prediction"].to_pylist() == estimator.predict(X).tolist()
        loaded = load(folder / model)
        assert {**loaded.get_params(), "priors": None} == {**estimator.get_params(), "priors": None}


@pytest.mark.parametrize("name", CASES)
def test_every_case_of_every_member(files, name):
    folder, X, y = files
    case, X = CASES[name], with_categories(X)
    columns = {f"x{j}": X[:, j] for j in range(3)}
    pq.write_table(pa.table({**columns, "y": y}), folder / "rows.parquet")
    run("fit", folder / "rows.parquet", "--target", "y", "--model", folder / "m", *case.words(),
        "--quiet")  # fmt: skip
    loaded, wanted = load(folder / "m"), case.make().fit(X, y)
    names = {"categorical_features": None}  # by name there, by position here
    assert {**loaded.get_params(), **names} == {**wanted.get_params(), **names}
    assert_allclose(loaded.predict_proba(pd.DataFrame(columns)), wanted.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("name", MEMBERS)
def test_evaluate_and_show(files, name, capsys):
    folder, X, y = files
    options, estimator = MEMBERS[name]
    run("fit", folder / "0.parquet", folder / "1.parquet", "--target", "y", "--model", folder / "m",
        *options, "--quiet")  # fmt: skip
    run("evaluate", folder / "m", folder / "0.parquet", folder / "1.parquet", "--target", "y",
        "--json", folder / "e.json", "--quiet")  # fmt: skip
    found = json.loads((folder / "e.json").read_text())
    assert found["accuracy"] == pytest.approx(estimator.fit(X, y).score(X, y))
    capsys.readouterr()
    run("show", folder / "m", "--json")
    shown = json.loads(capsys.readouterr().out)
    saved = persist.read(folder / "m").model
    assert shown["model"] == type(estimator).__name__
    assert shown["options"] == own_options(saved.options)
    assert shown["theta"] == saved.moments.theta.tolist()
    run("show", folder / "m")
    text = capsys.readouterr().out
    if type(estimator) is not GaussianNB:
        assert type(estimator).__name__ in text
        assert all(option in text for option in own_options(saved.options))
    assert ("axis 1" in text) == (type(estimator) is PCAGaussianNB)
    assert ("x0" in text.split("note:")[0]) == (type(estimator) is not PCAGaussianNB)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rotation", "class"], "--rotation is not an option of GaussianNB"),
        (["--reg-param", "0.1"], "--reg-param is not an option of GaussianNB"),
        (
            ["--model-type", "GaussianBayes", "--n-components", "2"],
            "--n-components is not an option of GaussianBayes",
        ),
        (
            ["--model-type", "GaussianBayes", "--missing", "skip"],
            "--missing skip is not an option of GaussianBayes",
        ),
        (["--standardize"], "--standardize is not an option of GaussianNB"),
        (
            ["--model-type", "PCAGaussianNB", "--shrinkage-target", "diagonal"],
            "--shrinkage-target is not an option of PCAGaussianNB",
        ),
        (["--covariance-type", "full"], "covariance_type must be one of ['diag', 'spherical']"),
        (
            ["--model-type", "GaussianBayes", "--reg-param", "1.5"],
            "reg_param must be a number from 0 to 1, got 1.5",
        ),
        (
            ["--model-type", "PCAGaussianNB", "--n-components", "9"],
            "n_components=9 must be between 1 and n_features=3",
        ),
        (
            ["--model-type", "PCAGaussianNB", "--n-components", "1.5"],
            "n_components must be None, a whole number from 1 up, or a number between 0 and 1",
        ),
    ],
)
def test_options_that_do_not_fit(files, capsys, options, message):
    folder, _, _ = files
    words = ["fit", folder / "0.parquet", "--target", "y", "--model", folder / "m", *options]
    line = fails(capsys, *words, "--quiet")
    assert line.startswith("fastgnb: error: ")
    assert message in line
    assert line.count("\n") == 1
    assert not (folder / "m").exists()


def test_models_of_two_kinds_do_not_merge(files, capsys):
    folder, _, _ = files
    data = folder / "0.parquet"
    run("fit", data, "--target", "y", "--model", folder / "a", "--quiet")
    run("fit", data, "--target", "y", "--model", folder / "b", "--tied", "--quiet")
    run("fit", data, "--target", "y", "--model", folder / "c", "--model-type", "GaussianBayes",
        "--quiet")  # fmt: skip
    line = fails(capsys, "merge", folder / "a", folder / "b", "--model", folder / "m")
    assert "tied is True, but False in " in line
    line = fails(capsys, "merge", folder / "a", folder / "c", "--model", folder / "m")
    assert "model is 'GaussianBayes', but 'GaussianNB' in" in line
