"""What may be a mistake, though it can be done, is told: copies, other targets, other priors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import fails, run

from fastgnb.cli import main
from fastgnb.files.models.model_file import read as read_model


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def put(name, seed=0, target="y", classes=(0, 1)):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(draw.normal(size=(60, 2)), columns=["a", "b"])
    frame.assign(**{target: np.resize(classes, 60)}).to_parquet(name)


def fit(model, *words):
    assert main(["fit", *words, "--model", model, "--quiet"]) == 0


def test_copies_in_one_run_are_told(capsys):
    put("a.parquet")
    put("b.parquet")
    put("c.parquet", seed=1)
    fit("m", "a.parquet", "b.parquet", "c.parquet", "--target", "y")
    line = "fastgnb: warning: b.parquet: holds the same as a.parquet; its rows count twice\n"
    assert capsys.readouterr().err == line
    fit("n", "c.parquet", "--target", "y")
    assert main(["update", "n", "b.parquet", "a.parquet", "--quiet"]) == 0
    assert "a.parquet: holds the same as b.parquet" in capsys.readouterr().err


def test_files_without_rows_are_no_copies(capsys):
    put("c.parquet", seed=1)
    for name in ("a.csv", "b.csv"):
        with open(name, "w") as file:
            file.write("a,b,y\n")
    fit("m", "a.csv", "b.csv", "c.parquet", "--target", "y")
    assert capsys.readouterr().err == ""


def test_merging_other_targets_is_told(capsys):
    put("a.parquet")
    put("b.parquet", seed=1, target="z")
    fit("m", "a.parquet", "--target", "y")
    fit("n", "b.parquet", "--target", "z")
    assert main(["merge", "m", "n", "--model", "o", "--quiet"]) == 0
    assert capsys.readouterr().err == (
        "fastgnb: warning: n: has learned the target 'z', but m learned 'y'; the classes of both "
        "are taken for the same\n"
    )


def test_merging_features_without_names_is_told(capsys):
    put("a.parquet")
    np.save("X.npy", np.random.default_rng(2).normal(size=(60, 2)))
    np.save("y.npy", np.arange(60) % 2)
    fit("m", "a.parquet", "--target", "y")
    fit("n", "X.npy", "--target-npy", "y.npy")
    assert main(["merge", "m", "n", "--model", "o", "--quiet"]) == 0
    assert "warning: the features of n have no names" in capsys.readouterr().err
    assert main(["merge", "n", "n", "--model", "o", "--quiet", "--again"]) == 0
    assert capsys.readouterr().err == ""


def test_priors_of_another_number_name_the_classes(capsys):
    put("a.parquet")
    put("b.parquet", seed=1, classes=(1, 2))
    fit("m", "a.parquet", "--target", "y", "--priors", ".5,.5")
    fit("n", "b.parquet", "--target", "y", "--priors", ".5,.5")
    expected = "2 priors; expected one for each class, in this order: 0, 1, 2; choose with --priors"
    assert main(["merge", "m", "n", "--model", "o"]) == 1
    assert expected in capsys.readouterr().err
    assert main(["merge", "m", "n", "--model", "o", "--priors", ".2,.8"]) == 1
    assert expected in capsys.readouterr().err
    assert main(["reestimate", "m", "--output", "o", "--priors", ".2,.3,.5"]) == 1
    assert "3 priors; expected one for each class, in this order: 0, 1" in capsys.readouterr().err
    fit("g", "a.parquet", "--target", "y", "--model-type", "GaussianBayes")
    assert main(["reestimate", "g", "--output", "o", "--model-type", "MixedNB"]) == 1
    assert "which hold full scatter" in capsys.readouterr().err


@pytest.mark.parametrize("distinct", [3000, 9000, 20_000])
def test_auto_decides_by_all_rows(capsys, distinct):
    """Neither the size of batches nor the order of files nor the format decides."""
    n = 30_000
    draw = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "a": draw.normal(size=n),
            "many": [f"k{i}" for i in draw.integers(0, distinct, n)],
            "late": ["same"] * (n // 2) + [f"r{i}" for i in range(n // 2)],
            "y": np.arange(n) % 2,
        }
    )
    frame[: n // 2].to_parquet("a.parquet")
    frame[n // 2 :].to_parquet("b.parquet")
    frame.to_csv("c.csv", index=False)
    words = ["--target", "y", "--categorical", "auto", "--max-categories", "10000", "--again"]
    # "late" has 15,001 categories; "many" as many as are distinct, more than half of no rows.
    expected = ("a", "many") if distinct < 10_000 else ("a",)
    for files in (["a.parquet", "b.parquet"], ["b.parquet", "a.parquet"], ["c.csv"]):
        for batch in ("500", "11000", "40000"):
            fit("m", *files, *words, "--batch-rows", batch)
            assert read_model("m").model.feature_names == expected
            assert "identifies rows: 'late'" in capsys.readouterr().err


def test_an_index_that_is_a_column_elsewhere_is_told_in_any_case(capsys):
    put("a.parquet")
    put("b.parquet", seed=1)
    pd.read_parquet("b.parquet").set_index("a").to_parquet("b.parquet")
    for files in (["a.parquet", "b.parquet"], ["b.parquet", "a.parquet"]):
        fit("m", *files, "--target", "y")
        assert read_model("m").model.feature_names == ("b",)
        line = "warning: left out, an index or a row number, unless --features names it: 'a'\n"
        assert line in capsys.readouterr().err
    fit("m", "b.parquet", "--target", "y")
    assert capsys.readouterr().err == ""


def write(path, labels, target="y", seed=0):
    draw = np.random.default_rng(seed)
    lines = [f"{draw.normal()},{label}" for label in labels]
    Path(path).write_text("\n".join([f"x,{target}", *lines]) + "\n", encoding="utf-8")
    return path


def test_a_file_that_has_grown_is_told(capsys):
    write("day.csv", "abab")
    run("fit", "day.csv", "--target", "y", "--model", "m", "--quiet")
    write("day.csv", "ababab")
    run("update", "m", "day.csv", "--quiet")
    assert capsys.readouterr().err == (
        "fastgnb: warning: day.csv: a file of this name was learned before, with other contents; "
        "rows that stand in both count twice\n"
    )


def test_learning_another_target_is_told_or_refused(capsys):
    run("fit", write("a.csv", "abab"), "--target", "y", "--model", "m", "--quiet")
    run("update", "m", write("b.csv", "bbaa", "z"), "--target", "z", "--quiet")
    assert capsys.readouterr().err == (
        "fastgnb: warning: the target is 'z', but m has learned 'y'; the classes of both are taken "
        "for the same\n"
    )
    before = Path("m").read_bytes()
    line = fails(capsys, "update", "m", write("c.csv", "pqpq", "plan"), "--target", "plan")
    assert line.endswith(
        "the target is 'plan', but m has learned 'y', and no label is one of its classes: a, b\n"
    )
    assert Path("m").read_bytes() == before


def test_merging_targets_that_share_no_class_is_refused(capsys):
    run("fit", write("a.csv", "abab"), "--target", "y", "--model", "m", "--quiet")
    run("fit", write("c.csv", "pqpq", "plan"), "--target", "plan", "--model", "n", "--quiet")
    line = fails(capsys, "merge", "m", "n", "--model", "all")
    assert "n: has learned the target 'plan', but m learned 'y', and they share no class" in line
    assert not Path("all").exists()


@pytest.mark.parametrize("name", ["rows.parquet", "rows.CSV", "X.npy", "rows.feather"])
def test_a_model_never_replaces_rows(capsys, name):
    run("fit", write("a.csv", "abab"), "--target", "y", "--model", "m", "--quiet")
    run("fit", write("b.csv", "abba", seed=1), "--target", "y", "--model", "n", "--quiet")
    if name.endswith("npy"):
        np.save(name, np.zeros((2, 2)))
    elif name.endswith("parquet"):
        put(name)
    elif name.endswith("feather"):
        pd.DataFrame({"x": [1.0]}).to_feather(name)
    else:
        write(name, "ab")
    before = Path(name).read_bytes()
    for words in (
        ["fit", "a.csv", "--target", "y", "--model", name],
        ["update", "m", "b.csv", "--model", name],
        ["merge", "m", "n", "--model", name],
        ["reestimate", "m", "--output", name],
    ):
        line = fails(capsys, *words)
        assert f"{name}: holds rows, which a model would replace; name another file" in line
    assert Path(name).read_bytes() == before
    Path(name).unlink()
    for _ in range(2):  # a name is a name: where there are no rows, a model may have it
        run("reestimate", "m", "--output", name, "--quiet")
    assert read_model(name).model.classes.tolist() == ["a", "b"]
