"""Labels and categories of CSV whose kind Arrow's guess, or a rounding, would decide."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from fastgnb.cli import main
from fastgnb.files.models.model_file import read as read_model
from fastgnb.files.tables.texts import kind_of

MODEL = "m.fgnb"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def put(name, values, header="z"):
    rows = "".join(f"{i}.5,{value},{'uv'[i % 2]}\n" for i, value in enumerate(values))
    with open(name, "w") as file:
        file.write(f"a,{header},t\n{rows}")


def fitted(*args):
    assert main(["fit", *args, "--model", MODEL, "--quiet"]) == 0
    return read_model(MODEL).model


@pytest.mark.parametrize(
    "texts",
    [["1e-400", "0"], ["1.00000000000000000001", "1"], ["9007199254740993.5", "1"], ["1e23", "1"]],
)
def test_a_number_that_a_float_would_make_another_whole_number_is_text(texts):
    assert kind_of(texts) == "text"
    put("d.csv", texts * 3)
    assert fitted("d.csv", "--target", "z", "--exclude", "t").classes.tolist() == sorted(texts)
    model = fitted("d.csv", "--target", "t", "--categorical", "z")
    assert model.stats.categories[0].tolist() == sorted(texts)


@pytest.mark.parametrize("texts", [["1e5", "100000"], ["0.1e1", "1"], ["1e22", "1e22"]])
def test_an_exact_number_is_one(texts):
    assert kind_of(texts) == "number"
    put("d.csv", texts * 3)
    assert len(fitted("d.csv", "--target", "z", "--exclude", "t").classes) == 1


@pytest.mark.parametrize("blank", [0, 1], ids=["from the start", "blank at first"])
@pytest.mark.parametrize("texts", [["2020-01-01", "2021-01-01"], ["12:00", "12:30"]])
def test_dates_of_csv_are_labels_as_they_are_written(monkeypatch, texts, blank):
    monkeypatch.setattr("fastgnb.files.tables.csv_file.CSV_BLOCK_BYTES", 1 << 12)
    put("d.csv", [""] * 1000 * blank + texts * 3)
    model = fitted("d.csv", "--target", "z", "--exclude", "t", "--drop-null-target")
    assert model.classes.tolist() == texts
    put("e.csv", [*texts, "never"])  # and Arrow's guess is another
    assert main(["update", MODEL, "e.csv", "--quiet"]) == 0
    assert read_model(MODEL).model.classes.tolist() == [*texts, "never"]


def test_na_alone_says_nothing(capsys):
    put("na.csv", ["NA"] * 6)
    assert main(["fit", "na.csv", "--target", "z", "--exclude", "t", "--model", MODEL]) == 1
    assert "na.csv: column 'z', row 1: the label is null" in capsys.readouterr().err
    put("text.csv", ["x", "y"] * 3)
    put("whole.csv", ["1", "2"] * 3)
    for other, categories in [("text.csv", ["x", "y"]), ("whole.csv", [1, 2])]:
        model = fitted("na.csv", "--target", "t", "--categorical", "z", "--missing", "skip")
        assert model.stats.categories[0].tolist() == []
        assert main(["update", MODEL, other, "--quiet"]) == 0
        assert read_model(MODEL).model.stats.categories[0].tolist() == categories


def test_na_alone_is_a_label_beside_text(capsys):
    put("text.csv", ["NA", "x"] * 3)
    put("na.csv", ["NA"] * 6)
    fitted("text.csv", "--target", "z", "--exclude", "t")
    assert main(["evaluate", MODEL, "na.csv", "--quiet"]) == 0
    assert main(["fit", "na.csv", "text.csv", "--target", "z", "--model", MODEL, "--quiet"]) == 0
    assert read_model(MODEL).model.classes.tolist() == ["NA", "x"]


def test_a_header_of_spaces_is_none(capsys):
    put("d.csv", range(6), header=" ")
    assert fitted("d.csv", "--target", "t").feature_names == ("a",)


def test_no_category_at_all_is_one_model_in_any_order():
    put("na.csv", ["NA"] * 6)
    put("blank.csv", [""] * 6)
    pd.DataFrame({"a": np.arange(6) / 2, "z": [None] * 6, "t": ["u", "v"] * 3}).to_parquet(
        "p.parquet"
    )
    words = ["--target", "t", "--categorical", "z", "--missing", "skip"]
    for files in itertools.permutations(["na.csv", "blank.csv", "p.parquet"]):
        (labels,) = fitted(*files, *words).stats.categories
        assert labels.dtype == object
        assert len(labels) == 0


@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_a_column_of_another_coding_is_told(capsys, command):
    """1.0 is not the text 1 that the model has learned, and looks like what was never seen."""
    frame = pd.DataFrame({"a": np.arange(6) / 2, "z": ["1", "2", "3"] * 2, "t": ["u", "v"] * 3})
    frame.to_parquet("p.parquet")
    fitted("p.parquet", "--target", "t", "--categorical", "z")
    words = [command, MODEL, "--batch-rows", "2"] + ["--output", "o.csv"] * (command == "predict")
    put("d.csv", ["1.0", "2.0"] * 3)
    assert main([*words, "d.csv"]) == 0
    line = "note: the model knows none of the categories of 'z'; found 1.0, 2.0, "
    assert line + "expected 1, 2, 3\n" in capsys.readouterr().err
    assert main([*words, "d.csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    put("e.csv", ["1.0", "2.0"] * 2 + ["3", "4"])  # of which the last batch knows one
    assert main([*words, "e.csv"]) == 0
    assert "categories of" not in capsys.readouterr().err
    assert main([*words, "d.csv", "e.csv"]) == 0
    assert "categories of" not in capsys.readouterr().err
