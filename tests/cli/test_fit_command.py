"""`fastgnb fit`, `update` and `merge`: the models of the estimators."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command_line import error_line, read, run, write
from three_classes import FEATURES, FIT, FORMATS, LABELS, expect_equal, matrix, problem

import fastgnb
from fastgnb.files.models import model_file as persist

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
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["accuracy", f"{accuracy:.6f}"] in shown
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
