"""Columns of any name, number and type; predictions that are data again."""

from __future__ import annotations

import datetime
import decimal
import os

import numpy as np
import pyarrow as pa
import pytest
from fault_files import LINUX, TABLES, command, fails, process, read, run, table
from table_files import write

import fastgnb
from fastgnb.files.models import model_file as persist
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


# ------------------------------------------------------------------ columns of every kind

NAMES = ["a b", "c,d", 'say "x"', "new\nline", "tab\t", "'", 'é,"\n', " ", "a.b", "x[0]", "-x", "="]


def quoted(names):
    """Names as the command line takes them."""
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)


@pytest.mark.parametrize("ending", TABLES)
def test_any_column_name_survives_fit_predict_and_keep(tmp_path, ending):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    kept = [f"kept {name}" for name in NAMES]
    data = pa.table(
        {name: rng.normal(y, 1.0) for name in NAMES}
        | {name: [f"{name} {i}" for i in range(40)] for name in kept}
        | {"the, \"label\"\n": np.array(["p,q", 'r"s'])[y]}
    )  # fmt: skip
    path, model = write(data, tmp_path / f"data.{ending}"), tmp_path / "model"
    target = ["--target", 'the, "label"\n']
    run("fit", path, *target, "--features", quoted(NAMES), "--model", model)
    assert persist.read(model).model.feature_names == tuple(NAMES)
    output = tmp_path / f"o.{ending}"
    keep = ["--keep", quoted([*kept, target[1]])]
    run("predict", model, path, *keep, "--proba", "--output", output)
    found = read(output)
    assert found.schema.names == [*kept, target[1], "prediction", "proba_p,q", 'proba_r"s']
    for name in [*kept, target[1]]:
        assert found[name].to_pylist() == data[name].to_pylist()
    run("evaluate", model, path, *target, "--quiet")
    run("update", model, path, "--again", "--quiet")
    # What was written is read again, by its own names.
    again = tmp_path / "again"
    run("fit", output, *target, "--features", quoted(['proba_r"s']), "--model", again)
    assert persist.read(again).model.classes.tolist() == ["p,q", 'r"s']


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_five_thousand_columns(tmp_path, ending, monkeypatch):
    rng = np.random.default_rng(0)
    n, d = 60, 5000
    X = rng.normal(size=(n, d))
    y = np.arange(n) % 3
    data = pa.table({f"x{j}": X[:, j] for j in range(d)} | {"y": y})
    path, model = write(data, tmp_path / f"data.{ending}"), tmp_path / "model"
    pool, usual = pa.system_memory_pool(), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    before = pool.bytes_allocated()
    try:
        highest = max(pool.bytes_allocated() for _ in open_source([path], ColumnRoles(target="y")))
    finally:
        pa.set_memory_pool(usual)
    assert highest - before < 100_000_000
    run("fit", path, "--target", "y", "--model", model, "--quiet")
    output = tmp_path / f"o.{ending}"
    run("predict", model, path, "--keep", "x17,y", "--output", output, "--quiet")
    whole = fastgnb.GaussianNB().fit(X, y)
    assert read(output)["prediction"].to_pylist() == whole.predict(X).tolist()
    assert read(output)["x17"].to_pylist() == X[:, 17].tolist()


def test_columns_of_other_types(tmp_path, capsys):
    n = 20
    data = pa.table(
        {
            "x": np.arange(n) * 1.5,
            "price": pa.array([decimal.Decimal(i) / 4 for i in range(n)], pa.decimal128(8, 2)),
            "share": pa.array([0.5, 1.5] * (n // 2)).dictionary_encode(),
            "half": pa.array(np.arange(n, dtype=np.float16)),
            "day": [datetime.date(2020, 1, 1)] * n,
            "nested": [{"x": 1.0}] * n,
            "lists": [[1.0]] * n,
            "y": pa.array(["u", "v"] * (n // 2)).dictionary_encode(),
        }
    )
    path, model = write(data, tmp_path / "data.parquet"), tmp_path / "model"
    run("fit", path, "--target", "y", "--features", "x,price,share,half", "--model", model)
    found = persist.read(model).model
    assert found.moments.theta[0].tolist() == [13.5, 2.25, 0.5, 9.0]
    for name, kind in [("day", "date32"), ("nested", "struct"), ("lists", "list"), ("y", "dict")]:
        ask = ["fit", path, "--target", "x", "--features", name, "--model", tmp_path / "no"]
        line = fails(capsys, *ask)
        assert f"data.parquet: column '{name}' is {kind}" in line
        assert "expected numbers or booleans; leave it out of the features" in line
    for ending in ["parquet", "arrow"]:
        output = tmp_path / f"o.{ending}"
        run("predict", model, path, "--keep", "nested,lists,day,price,y", "--output", output)
        for name in ["nested", "lists", "day", "price", "y"]:
            assert read(output)[name].to_pylist() == data[name].to_pylist()


def test_a_label_that_is_empty_is_a_label_in_parquet(tmp_path, capsys):
    data = {"x": [0.0, 1.0, 5.0, 6.0], "y": ["", "", "b", "b"]}
    path, model = write(data, tmp_path / "data.parquet"), tmp_path / "model"
    run("fit", path, "--target", "y", "--model", model)
    run("predict", model, path, "--proba", "--output", tmp_path / "o.parquet")
    found = read(tmp_path / "o.parquet")
    assert found.schema.names == ["prediction", "proba_", "proba_b"]
    assert found["prediction"].to_pylist() == data["y"]
    bare = write({"x": [0.0, 1.0], "y": ["", None]}, tmp_path / "null.parquet")
    line = fails(capsys, "fit", bare, "--target", "y", "--model", tmp_path / "no")
    assert "null.parquet: column 'y', row 2: the label is null" in line


# ------------------------------------------------------------------ outputs as inputs


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
