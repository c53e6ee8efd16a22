"""The commands with categorical columns: files in, the answers of MixedNB in memory out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from fastgnb import GaussianNB, MixedNB, load
from fastgnb.cli import main
from fastgnb.files.models import model_file as persist
from fastgnb.files.tables import csv_file

CATEGORICAL = ["a, b", "flag", "code"]
MARKS = '"a, b",flag,code'
SEEN = ["x0", "a, b", "flag", "x1", "code"]


@pytest.fixture
def frame(rng):
    n = 300
    y = rng.choice(["n", "y"], n)
    word = np.where(rng.random(n) < 0.3, y, rng.choice(["01", "1", "ü", "zzz"], n))
    return pd.DataFrame(
        {
            "x0": rng.normal(size=n) + (y == "y"),
            "a, b": word,
            "note": rng.choice(["p", "q"], n),
            "flag": rng.random(n) < np.where(y == "y", 0.2, 0.7),
            "x1": rng.integers(0, 9, n),
            "code": rng.choice([-7, 0, 2**60], n),
            "y": y,
        }
    )


def write(frame, path, coded=()):
    """A file of the frame, by its ending; some columns as dictionaries."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name in coded:
        j = table.schema.get_field_index(name)
        table = table.set_column(j, name, table[name].dictionary_encode())
    ending = path.suffix
    if ending == ".parquet":
        pq.write_table(table, path, row_group_size=64)
    elif ending == ".csv":
        pacsv.write_csv(table, path)
    else:
        feather.write_feather(table, path)
    return path


def run(*argv):
    assert main([str(arg) for arg in argv] + ["--quiet"] * (argv[0] not in ("show", "merge"))) == 0


def fails(capsys, *argv):
    """The one line of an error."""
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == 1
    line = capsys.readouterr().err
    assert line.startswith("fastgnb: error: ")
    assert line.count("\n") == 1
    return line


def fitted(frame, **options):
    return MixedNB(categorical_features=CATEGORICAL, **options).fit(frame[SEEN], frame["y"])


def predicted(model, data, folder, *options):
    out = folder / "out.parquet"
    run("predict", model, data, "--output", out, *options)
    return pq.read_table(out)


def proba_of(table, labels="ny"):
    return np.column_stack([table[f"proba_{label}"] for label in labels])


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("rows", [7, 1000])
def test_fit_is_the_estimator_in_memory(tmp_path, frame, ending, rows):
    data = write(frame, tmp_path / f"d.{ending}")
    run("fit", data, "--target", "y", "--model", tmp_path / "m", "--categorical", MARKS,
        "--exclude", "note", "--batch-rows", rows, "--alpha", "0.5",
        "--min-categories", 6)  # fmt: skip
    ours, truth = load(tmp_path / "m"), fitted(frame, alpha=0.5, min_categories=6)
    assert ours.get_params() == truth.get_params()
    assert ours.feature_names_in_.tolist() == SEEN
    for a, b in zip(ours.categories_, truth.categories_, strict=True):
        assert a.tolist() == b.tolist()
    for a, b in zip(ours.category_count_, truth.category_count_, strict=True):
        assert np.array_equal(a, b)
    table = predicted(
        tmp_path / "m", data, tmp_path, "--proba", "--evidence", "--keep", "code,note"
    )
    wanted = truth.predict_proba(frame[SEEN])
    assert_allclose(proba_of(table), wanted, rtol=1e-11)
    assert_allclose(table["log_evidence"], truth.predict_log_evidence(frame[SEEN]), rtol=1e-11)
    assert table["prediction"].to_pylist() == truth.predict(frame[SEEN]).tolist()
    kept = [int(value) for value in table["code"].to_pylist()]  # text, where it is that of CSV
    assert kept == frame["code"].tolist()


def test_several_files_update_and_merge(tmp_path, frame):
    names = ["0.parquet", "1.csv", "2.arrow"]
    files = [write(frame[100 * i : 100 * i + 100], tmp_path / name) for i, name in enumerate(names)]
    # Columns are matched by name, and text may be stored in any way.
    turned = frame.iloc[100:200][frame.columns[::-1]]
    files[1] = write(turned, tmp_path / "1.csv")
    files[2] = write(frame[200:], tmp_path / "2.arrow", coded=["a, b"])
    rest = ["--target", "y", "--categorical", MARKS, "--exclude", "note"]
    run("fit", *files, "--model", tmp_path / "whole", *rest)
    run("fit", files[0], "--model", tmp_path / "a", *rest)
    run("update", tmp_path / "a", *files[1:], "--model", tmp_path / "updated")
    run("fit", files[2], "--model", tmp_path / "c", *rest)
    run("update", tmp_path / "a", files[1], "--model", tmp_path / "ab")
    run("merge", tmp_path / "ab", tmp_path / "c", "--model", tmp_path / "merged")
    truth = fitted(frame)
    for name in ("whole", "updated", "merged"):
        model = load(tmp_path / name)
        assert_allclose(
            model.predict_proba(frame[SEEN]), truth.predict_proba(frame[SEEN]), rtol=1e-11
        )
        for file, part in zip(files, np.split(np.arange(300), 3), strict=True):
            table = predicted(tmp_path / name, file, tmp_path, "--proba")
            assert_allclose(
                proba_of(table), truth.predict_proba(frame[SEEN].iloc[part]), rtol=1e-11
            )


def test_auto_takes_text_booleans_and_dictionaries(tmp_path, frame, capsys):
    data = write(frame, tmp_path / "d.arrow", coded=["code", "a, b"])
    run("fit", data, "--target", "y", "--model", tmp_path / "m", "--categorical", "auto")
    model = load(tmp_path / "m")
    assert model.categorical_features == "auto"
    assert model.feature_names_in_[model.is_categorical_].tolist() == [
        "a, b", "note", "flag", "code",
    ]  # fmt: skip
    run("fit", data, "--target", "y", "--model", tmp_path / "m", "--categorical", "auto",
        "--features", "x0,flag")  # fmt: skip
    model = load(tmp_path / "m")
    assert model.feature_names_in_[model.is_categorical_].tolist() == ["flag"]
    run("fit", data, "--target", "y", "--model", tmp_path / "m", "--categorical", "flag",
        "--features", "flag")  # fmt: skip
    model = load(tmp_path / "m")
    truth = MixedNB(categorical_features="auto").fit(frame[["flag"]], frame["y"])
    table = predicted(tmp_path / "m", data, tmp_path, "--proba")
    assert np.array_equal(proba_of(table), truth.predict_proba(frame[["flag"]]))
    assert model.theta_.shape == (2, 0)
    capsys.readouterr()
    run("show", tmp_path / "m")
    assert "1, 1 of them categorical" in capsys.readouterr().out


def test_nothing_categorical_is_gaussian(tmp_path, frame):
    data = write(frame, tmp_path / "d.parquet")
    rest = ["--target", "y", "--features", "x0,x1"]
    run("fit", data, "--model", tmp_path / "m", "--model-type", "MixedNB", *rest)
    run("fit", data, "--model", tmp_path / "g", *rest)
    assert type(load(tmp_path / "m")) is MixedNB
    assert type(load(tmp_path / "g")) is GaussianNB
    a, b = (predicted(tmp_path / name, data, tmp_path, "--proba") for name in "mg")
    assert a.equals(b)
    run("update", tmp_path / "m", data, "--again")
    assert load(tmp_path / "m").class_count_.sum() == 600


def test_weights_count(tmp_path, frame, rng):
    frame["w"] = rng.choice([0.0, 0.5, 2.0], 300)
    data = write(frame, tmp_path / "d.csv")
    run("fit", data, "--target", "y", "--weight", "w", "--model", tmp_path / "m", "--exclude",
        "note", "--categorical", MARKS, "--batch-rows", 50)  # fmt: skip
    truth = MixedNB(categorical_features=CATEGORICAL).fit(frame[SEEN], frame["y"], frame["w"])
    ours = load(tmp_path / "m").predict_proba(frame[SEEN])
    assert_allclose(ours, truth.predict_proba(frame[SEEN]), rtol=1e-11)


def test_evaluate_and_show(tmp_path, frame, capsys):
    data = write(frame, tmp_path / "d.parquet")
    run("fit", data, "--target", "y", "--model", tmp_path / "m", "--categorical", MARKS,
        "--exclude", "note", "--alpha", "0")  # fmt: skip
    truth = fitted(frame, alpha=0)
    run("evaluate", tmp_path / "m", data, "--target", "y", "--json", tmp_path / "e.json")
    found = json.loads((tmp_path / "e.json").read_text())
    assert found["accuracy"] == pytest.approx(truth.score(frame[SEEN], frame["y"]))
    capsys.readouterr()
    run("show", tmp_path / "m", "--json")
    shown = json.loads(capsys.readouterr().out)
    assert shown["model"] == "MixedNB"
    assert shown["options"] == {
        "categorical_features": CATEGORICAL, "alpha": 0.0, "min_categories": None,
        "max_categories": 50_000,
    }  # fmt: skip
    assert shown["categories"] == [each.tolist() for each in truth.categories_]
    assert shown["category_count"] == [each.tolist() for each in truth.category_count_]
    assert shown["is_categorical"] == [False, True, True, False, True]
    assert shown["theta"] == persist.read(tmp_path / "m").model.moments.theta.tolist()
    run("show", tmp_path / "m")
    text = capsys.readouterr().out
    assert "model                 MixedNB" in text
    assert "5, 3 of them categorical" in text
    shares = frame["a, b"].value_counts(normalize=True)
    assert f"a, b             6  {shares.index[0]} ({shares.iloc[0]:.3g})" in text
    assert text.index("x0") < text.index("x1") < text.index("most frequent")


def test_categories_that_were_never_seen(tmp_path, frame, capsys):
    data = write(frame, tmp_path / "d.parquet")
    run("fit", data, "--target", "y", "--model", tmp_path / "m", "--categorical", MARKS,
        "--exclude", "note")  # fmt: skip
    other = frame[::3].copy()
    other.loc[::2, "a, b"] = "never"
    other["code"] = other["code"] // 2**60 + 5
    truth = fitted(frame)
    for name in ("o.csv", "o.arrow"):
        new = write(other, tmp_path / name)
        table = predicted(tmp_path / "m", new, tmp_path, "--proba")
        assert_allclose(proba_of(table), truth.predict_proba(other[SEEN]), rtol=1e-11)
        run("evaluate", tmp_path / "m", new, "--target", "y", "--json", tmp_path / "e")
        found = json.loads((tmp_path / "e").read_text())
        assert found["accuracy"] == pytest.approx(truth.score(other[SEEN], other["y"]))
    run("update", tmp_path / "m", tmp_path / "o.csv")
    truth.partial_fit(other[SEEN], other["y"])
    assert_allclose(
        load(tmp_path / "m").predict_proba(frame[SEEN]),
        truth.predict_proba(frame[SEEN]),
        rtol=1e-11,
    )


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_nulls(tmp_path, frame, capsys, ending):
    frame = frame.astype({"code": "Int64", "flag": "boolean"})
    frame.loc[3::17, "a, b"] = None
    frame.loc[5::13, "code"] = pd.NA
    frame.loc[4::11, "flag"] = pd.NA
    frame.loc[2::19, "x0"] = np.nan
    data = write(frame, tmp_path / f"d.{ending}")
    words = ["fit", data, "--target", "y", "--model", tmp_path / "m", "--categorical", MARKS,
             "--exclude", "note", "--batch-rows", 64]  # fmt: skip
    line = fails(capsys, *words)
    assert f"d.{ending}: column 'a, b', row 4: missing value (null or NaN); a model fitted" in line
    assert not (tmp_path / "m").exists()
    run(*words, "--missing", "skip")
    truth = fitted(frame, missing="skip")
    table = predicted(tmp_path / "m", data, tmp_path, "--proba")
    assert_allclose(proba_of(table), truth.predict_proba(frame[SEEN]), rtol=1e-11)
    whole = frame.dropna()
    run(*words[:1], write(whole, tmp_path / f"w.{ending}"), *words[2:])
    line = fails(capsys, "predict", tmp_path / "m", data, "--output", tmp_path / "o.csv")
    assert "column 'a, b', row 4: missing value" in line
    only = frame.assign(**{"a, b": "1", "x0": 0.0, "code": 0})
    line = fails(
        capsys, "predict", tmp_path / "m", write(only, tmp_path / f"n.{ending}"),
        "--output", tmp_path / "o.csv",
    )  # fmt: skip
    assert "column 'flag', row 5: missing value" in line
    only = only.assign(flag=True, x0=[np.inf] * 300)
    line = fails(
        capsys, "predict", tmp_path / "m", write(only, tmp_path / f"n.{ending}"),
        "--output", tmp_path / "o.csv",
    )  # fmt: skip
    assert "column 'x0', row 1: inf is not a finite number" in line


def test_text_in_csv_is_what_it_is_in_the_model(tmp_path):
    """Codes that look like numbers stay text where others show that they are."""
    text = pd.DataFrame({"zip": ["01", "A1", "01", "7"], "y": [0, 1, 1, 0]})
    digits = pd.DataFrame({"zip": [1, 7, 7, 1], "y": [0, 1, 0, 1]})
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    text.to_csv(one, index=False)
    two.write_text("zip,y\n01,0\n7,1\n7,0\n01,1\n")
    both = pd.concat([text, digits.assign(zip=["01", "7", "7", "01"])])
    truth = MixedNB(categorical_features=["zip"]).fit(both[["zip"]], both["y"])
    for files in ([one, two], [two, one]):
        run("fit", *files, "--target", "y", "--model", tmp_path / "m", "--categorical", "zip")
        assert load(tmp_path / "m").categories_[0].tolist() == ["01", "7", "A1"]
        table = predicted(tmp_path / "m", two, tmp_path, "--keep", "zip", "--proba")
        assert table["zip"].to_pylist() == ["01", "7", "7", "01"]
        wanted = truth.predict_proba(both[["zip"]][4:])
        assert_allclose(proba_of(table, "01"), wanted, rtol=1e-12)
    run("fit", one, "--target", "y", "--model", tmp_path / "m", "--categorical", "zip")
    run("update", tmp_path / "m", two)
    assert np.array_equal(load(tmp_path / "m").category_count_[0], truth.category_count_[0])


def test_numbers_and_booleans_are_categories(tmp_path):
    """Whole floats are whole numbers, as in the estimator; a boolean is 0 or 1."""
    frame = pd.DataFrame({"k": [1.0, 2.0, np.nan, 2.0], "y": ["a", "b", "a", "a"]})
    data = write(frame, tmp_path / "d.parquet")
    words = ["--target", "y", "--categorical", "k", "--missing", "skip"]
    run("fit", data, "--model", tmp_path / "m", *words)
    model = load(tmp_path / "m")
    assert model.categories_[0].tolist() == [1, 2]
    assert model.categories_[0].dtype == np.int64
    run("update", tmp_path / "m", write(frame.assign(k=[True, False] * 2), tmp_path / "b.csv"))
    assert load(tmp_path / "m").categories_[0].tolist() == [0, 1, 2]


def test_npy_has_no_names(tmp_path, capsys):
    X, y = np.array([[0.5, 1], [1.5, 2], [0.25, 1], [4, 3]]), np.array([0, 1, 0, 1])
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    rest = [tmp_path / "X.npy", "--target-npy", tmp_path / "y.npy"]
    line = fails(capsys, "fit", *rest, "--model", tmp_path / "m", "--categorical", "b")
    assert "X.npy: --categorical is about columns of tables" in line
    model = MixedNB(categorical_features=[1]).fit(X, y)
    model_file = tmp_path / "made"
    persist.save(model, model_file)
    table = predicted(model_file, tmp_path / "X.npy", tmp_path, "--proba")
    wanted = model.predict_proba(X)
    assert_allclose(proba_of(table, "01"), wanted, rtol=1e-12)
    run("update", model_file, *rest)
    assert np.array_equal(
        load(model_file).predict_proba(X), model.partial_fit(X, y).predict_proba(X)
    )
    text = MixedNB(categorical_features=[1]).fit(np.array([[1, "a"], [2, "b"]], object), [0, 1])
    persist.save(text, model_file)
    line = fails(capsys, "predict", model_file, tmp_path / "X.npy", "--output", tmp_path / "o.csv")
    assert "X.npy: .npy holds numbers, and the model has categories of text" in line
    X[2, 1] = 0.5
    np.save(tmp_path / "X.npy", X)
    persist.save(model, model_file)
    line = fails(capsys, "predict", model_file, tmp_path / "X.npy", "--output", tmp_path / "o.csv")
    assert "X.npy: rows 1 to 4: Categories must be whole numbers" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--alpha", "2"], "--alpha is not an option of GaussianNB"),
        (["--min-categories", "2"], "--min-categories is not an option of GaussianNB"),
        (
            ["--model-type", "GaussianBayes", "--categorical", "flag"],
            "--categorical is not an option of GaussianBayes",
        ),
        (
            ["--model-type", "GaussianNB", "--categorical", "auto"],
            "--categorical is not an option of GaussianNB",
        ),
        (["--categorical", "flag", "--tied"], "--tied is not an option of MixedNB"),
        (["--categorical", "flag", "--alpha", "-1"], "alpha must be a number from 0 up, got -1.0"),
        (["--categorical", "no"], "d.parquet: column 'no' is missing; found 'x0'"),
        (["--categorical", "y"], "column 'y' is the target; it cannot be a feature too"),
        (["--categorical", "flag,flag"], "column 'flag' is named 2 times among the categorical"),
        (
            ["--categorical", "flag", "--exclude", "flag"],
            "column 'flag' cannot be both categorical and excluded",
        ),
        (
            ["--categorical", "flag", "--features", "x0"],
            "column 'flag' is categorical, but not among the features",
        ),
        (["--categorical", "x0"], "d.parquet: column 'x0', row 1: "),
        (
            ["--categorical", "day"],
            "d.parquet: column 'day' is date32[day]; categories are text, booleans or whole num",
        ),
        (["--categorical", "auto", "--features", "x0,no"], "column 'no' is missing"),
    ],
)
def test_what_cannot_be_fitted(tmp_path, frame, capsys, options, message):
    frame["day"] = pd.Timestamp("2024-01-01").date()
    data = write(frame, tmp_path / "d.parquet")
    words = ["fit", data, "--target", "y", "--model", tmp_path / "m", *options, "--quiet"]
    assert message in fails(capsys, *words)
    assert not (tmp_path / "m").exists()


def test_kinds_of_categories_that_differ(tmp_path, frame, capsys, monkeypatch):
    text = write(frame.assign(code=frame["code"].astype(str)), tmp_path / "text.parquet")
    data, table = write(frame, tmp_path / "d.parquet"), write(frame, tmp_path / "d.csv")
    rest = ["--target", "y", "--categorical", "code", "--model", tmp_path / "m", "--quiet"]
    for files in ([data, text], [text, data]):
        line = fails(capsys, "fit", *files, *rest)
        assert (
            "d.parquet: column 'code' holds categories of kind number, expected text, as in" in line
        )
        assert "text.parquet" in line
    run("fit", data, *rest[:-1])
    line = fails(capsys, "predict", tmp_path / "m", text, "--output", tmp_path / "o.csv")
    assert "text.parquet: column 'code' holds categories of kind text, expected number, as " in line
    odd = tmp_path / "odd.csv"
    words = ["predict", tmp_path / "m", odd, "--output", tmp_path / "o.csv"]
    odd.write_text(table.read_text().replace(",-7,", ",x7,"))
    assert "odd.csv: column 'code' holds categories of kind text, exp" in fails(capsys, *words)
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 1 << 10)  # types are those of a first block
    odd.write_text(odd.read_text().replace(",x7,", ",-7,", 80))
    row = 1 + next(i for i, line in enumerate(odd.read_text().splitlines()[1:]) if "x7" in line)
    line = fails(capsys, *words)
    assert f"odd.csv: column 'code', row {row}: expected a number, got 'x7'" in line
    run("fit", text, *rest[:-1])
    line = fails(capsys, "update", tmp_path / "m", data)
    assert "d.parquet: column 'code' holds categories of kind number, expected text" in line
    run("update", tmp_path / "m", table)  # CSV says nothing of types
    truth = MixedNB(categorical_features=["code"]).fit(frame[["code"]].astype(str), frame["y"])
    assert np.array_equal(load(tmp_path / "m").category_count_[0], 2 * truth.category_count_[0])


def test_models_that_do_not_merge(tmp_path, frame, capsys):
    data = write(frame, tmp_path / "d.parquet")
    rest = ["--target", "y", "--features", "x0,flag,code"]
    for name, options in {
        "a": ["--categorical", "code"],
        "b": ["--categorical", "flag,code"],
        "c": ["--categorical", "code", "--alpha", "2"],
        "d": [],
    }.items():
        run("fit", data, *rest, "--model", tmp_path / name, *options)
    for other, message in {
        "b": "'flag' is categorical in ",
        "c": "alpha is 2.0, but 1.0 in ",
        "d": "model is 'GaussianNB', but 'MixedNB' in",
    }.items():
        line = fails(
            capsys, "merge", tmp_path / "a", tmp_path / other, "--again", "--model", tmp_path / "m"
        )
        assert message in line


SKIP = ["--missing", "skip"]
STORED = {
    "half": (pa.array(np.array([1, 2, 1, 2, 3, 3], np.float16)), [1, 2, 3], []),
    "single": (pa.array([1, 2, 1, None, 3, np.nan], pa.float32()), [1, 2, 3], SKIP),
    "unsigned": (pa.array([2**64 - 1, 1, 1, 2**63, 0, 0], pa.uint64()),
                 [0, 1, 2**63, 2**64 - 1], []),
    "small": (pa.array([1, 2, 1, 2, -1, -1], pa.int8()), [-1, 1, 2], []),
    "large text": (pa.array(list("abcabc"), pa.large_string()), ["a", "b", "c"], []),
    "empty text": (pa.array(["", "a", "", "b", "a", "a"]), ["", "a", "b"], []),
    "odd text": (pa.array(["a\0", "a", "a\0\0", "B", "ü", "é"]),
                 ["B", "a", "a\0", "a\0\0", "é", "ü"], []),
    "booleans": (pa.array([True, None, False, True, True, False]), [False, True], SKIP),
    "nothing": (pa.nulls(6), [], SKIP),
    "no text": (pa.nulls(6, pa.string()), [], SKIP),
    "codes": (pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, None, 0, 1]), pa.array(["x", None, "x"])), ["x"], SKIP),
}  # fmt: skip


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_however_categories_are_stored(tmp_path, name, rows):
    values, wanted, options = STORED[name]
    table = pa.table({"c": values, "x": np.arange(6.0), "y": ["a", "b"] * 3})
    data, model = tmp_path / "d.arrow", tmp_path / "m"
    feather.write_feather(table, data)
    run("fit", data, "--target", "y", "--model", model, "--categorical", "c", *options,
        "--batch-rows", rows)  # fmt: skip
    ours, items = load(model), values.to_pylist()
    assert ours.categories_[0].tolist() == wanted
    for label, count in zip(wanted, ours.category_count_[0].sum(axis=0), strict=True):
        assert count == sum(item == label for item in items)
    found = proba_of(predicted(model, data, tmp_path, "--proba", "--batch-rows", rows), "ab")
    column = np.array(items, np.uint64 if name == "unsigned" else object)
    frame = pd.DataFrame({"c": column, "x": np.arange(6.0)})
    assert_allclose(found, ours.predict_proba(frame), rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([0.0, 1.0, 0.5]), "column 'c', row 3: 0.5 is no category; these are text, bool"),
        (pa.array([0.0, np.inf, 0.5]), "column 'c', row 2: inf is no category"),
        (pa.array([0.0, 1e300, 0.5]), "column 'c', row 2: 1e+300 is no category"),
        (pa.nulls(3), "column 'c', row 1: missing value (null or NaN)"),
        (pa.array([1, 2, None]), "column 'c', row 3: missing value"),
        (pa.array([b"a"] * 3), "column 'c' is binary; categories are text, booleans or whole num"),
        (pa.array([[1]] * 3), "column 'c' is list<item: int64>; categories are text"),
        (pa.array([1, 2, 3]).cast(pa.decimal128(20)), "column 'c' is decimal128(20, 0); categori"),
    ],
)
def test_what_is_no_category_is_told_of_its_row(tmp_path, capsys, values, message):
    feather.write_feather(pa.table({"c": values, "y": ["a", "b", "a"]}), tmp_path / "d.arrow")
    words = ["fit", tmp_path / "d.arrow", "--target", "y", "--categorical", "c", "--batch-rows", 2]
    assert f"d.arrow: {message}" in fails(capsys, *words, "--model", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_no_rows(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("c,x,y\n")
    rest = ["--target", "y", "--categorical", "c", "--features", "c,x"]
    line = fails(capsys, "fit", tmp_path / "d.csv", *rest, "--model", tmp_path / "m")
    assert "d.csv: no rows to fit" in line


def test_rows_of_weight_0_are_as_if_not_there(tmp_path):
    text = "c,x,w,y\nq,1,0,a\nq,2,0,b\nr,3,1,a\nr,4,1,b\ns,7,2,b\ns,1,2,a\n,1,0,a\n"
    (tmp_path / "d.csv").write_text(text)
    run("fit", tmp_path / "d.csv", "--target", "y", "--weight", "w", "--categorical", "c",
        "--model", tmp_path / "m", "--batch-rows", 2)  # fmt: skip
    model = load(tmp_path / "m")
    assert model.categories_[0].tolist() == ["r", "s"]
    assert model.class_count_.tolist() == [3, 3]
