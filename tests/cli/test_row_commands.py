"""fit, update, predict, evaluate: what they refuse early, leave out, count and say at the end."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command_line import error_line, read, run, write

import fastgnb
from fastgnb.files.jobs import file_state, learn_files, score_files
from fastgnb.files.jobs.total import Total
from fastgnb.files.models import model_file as persist
from fastgnb.model.model import Model
from fastgnb.stats.class_stats import ClassStats
from fastgnb.stats.mixed_stats import MixedStats

N = 400


def rows(n=N, seed=0):
    """Two classes, three features, and columns that are no classes."""
    rng = np.random.default_rng(seed)
    code = rng.integers(2, size=n)
    return {
        "a": rng.normal(code, 1.0),
        "b": rng.normal(-code, 1.0),
        "c": np.round(rng.normal(code, 1.0), 1),
        "id": np.arange(n),
        "key": [f"k{i:05}" for i in range(n)],
        "y": np.array(["no", "yes"], object)[code],
    }


FEATURES = ["--features", "a,b,c"]


@pytest.fixture
def fitted(tmp_path):
    """(data, path of it, path of a model of it)"""
    data = rows()
    path = write(data, tmp_path / "data.parquet")
    run("fit", path, "--target", "y", *FEATURES, "--model", tmp_path / "m", "--quiet")
    return data, path, tmp_path / "m"


def nothing_is_read(monkeypatch):
    def fail(*_, **__):
        raise AssertionError("rows were read")

    monkeypatch.setattr(learn_files, "learn", fail)
    monkeypatch.setattr(score_files, "evaluate_rows", fail)
    monkeypatch.setattr(score_files, "predict_rows", fail)


# ------------------------------------------------------------------ distinct labels


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("column", ["id", "key"])
@pytest.mark.parametrize("batch", [30, 1000])
def test_a_target_of_identifiers_is_an_error_soon(
    tmp_path, capsys, monkeypatch, ending, column, batch
):
    path = write(rows(), tmp_path / f"d.{ending}")
    words = ["fit", path, *FEATURES, "--target", column, "--model", tmp_path / "m", "--quiet"]
    learned = []
    stats_of = file_state._stats_of
    monkeypatch.setattr(
        file_state, "_stats_of", lambda *a, **k: learned.append(1) or stats_of(*a, **k)
    )
    line = error_line(capsys, *words, "--max-classes", 100, "--batch-rows", batch)
    first = min(N, 120 if batch == 30 else batch)
    assert line.endswith(
        f"d.{ending}: column '{column}': {first} distinct labels in the first {first} rows, "
        "expected at most 100 classes; name another target, or raise --max-classes\n"
    )
    # Threads are at work on further batches, of which a few may wait.
    assert 3 <= len(learned) <= 9 if batch == 30 else not learned
    run(*words, "--max-classes", N)
    assert len(persist.read(tmp_path / "m").model.classes) == N
    line = error_line(capsys, "update", tmp_path / "m", write(rows(900), tmp_path / "e.parquet"),
        "--max-classes", 1)  # fmt: skip
    assert "column" in line
    assert f"expected at most {N} classes" in line  # as many as there are already


def test_ten_thousand_classes_unless_told(tmp_path, capsys):
    path = write(rows(10_001), tmp_path / "d.parquet")
    words = ["fit", path, *FEATURES, "--target", "id", "--model", tmp_path / "m", "--quiet"]
    assert "expected at most 10,000 classes" in error_line(capsys, *words)


def test_a_target_that_is_a_quantity_names_its_column(tmp_path, capsys):
    path = write(rows(), tmp_path / "d.parquet")
    line = error_line(capsys, "fit", path, "--target", "a", "--model", tmp_path / "m", "--quiet")
    assert "d.parquet: column 'a': Unknown label type: continuous." in line


@pytest.mark.parametrize("column", ["id", "key"])
def test_evaluate_against_identifiers_is_an_error_at_the_first_batch(
    tmp_path, capsys, monkeypatch, column
):
    data = rows(5000)
    labels = data["id"] + 10 if column == "id" else data["key"]
    y = np.array([1, 2])[(data["y"] == "no").astype(int)] if column == "id" else data["y"]
    path = write(data | {"y": y, column: labels}, tmp_path / "d.parquet")
    run("fit", path, "--target", "y", *FEATURES, "--model", tmp_path / "m", "--quiet")
    scored = []
    score = Model.score
    monkeypatch.setattr(Model, "score", lambda *a, **k: scored.append(1) or score(*a, **k))
    line = error_line(
        capsys, "evaluate", tmp_path / "m", path, "--target", column, "--batch-rows", 1000
    )
    assert f"d.parquet: target '{column}': the model knows none of the labels; found " in line
    assert f"... 92 more, expected {y.min()}, {y.max()}; name another target\n" in line
    assert len(scored) == 1


def test_evaluate_takes_a_target_whose_unknown_label_comes_first(tmp_path, capsys, fitted):
    data, _, model = fitted
    n = 3000
    many = {name: np.resize(np.asarray(data[name]), n) for name in "abc"}
    many["y"] = np.array(["new"] * 2500 + ["no"] * 500, object)
    path = write(many, tmp_path / "sorted.parquet")
    run("evaluate", model, path, "--batch-rows", 100, "--json", "-")
    shown = capsys.readouterr()
    assert "2,500 rows of 3,000 with labels that the model does not know: wrong" in shown.err
    found = json.loads(shown.out)
    assert (found["n_rows"], found["n_unseen_rows"]) == (n, 2500)
    assert found["labels"] == ["new", "no", "yes"]
    many["y"][:] = "new"
    path = write(many, tmp_path / "unknown.parquet")
    line = error_line(capsys, "evaluate", model, path)
    assert "target 'y', as in fit: the model knows none of the labels; found new, expected" in line


def test_evaluate_does_not_know_a_target(tmp_path, capsys, fitted):
    data, path, _ = fitted
    X = np.column_stack([data[name] for name in "abc"])
    stats = ClassStats.from_rows(X, data["y"], feature_names=("a", "b", "c"))
    persist.ModelFile(Model.of("GaussianNB", stats)).write(tmp_path / "other")
    line = error_line(capsys, "evaluate", tmp_path / "other", path)
    assert "does not know its target column; name it with --target" in line


def test_json_on_standard_output(tmp_path, capsys, fitted):
    _, path, model = fitted
    run("evaluate", model, path, "--json", "-")
    found = json.loads(capsys.readouterr().out)
    run("evaluate", model, path, "--json", tmp_path / "e.json")
    assert "confusion matrix" in capsys.readouterr().out
    assert json.loads((tmp_path / "e.json").read_text()) == found
    for words in [
        ["show", model, "--json"],
        ["show", "--json", model],
        ["show", model, "--json", "-"],
        ["show", "--json", "-", model],
    ]:
        run(*words)
        shown = json.loads(capsys.readouterr().out)
        assert shown["classes"] == ["no", "yes"]
    run("show", model, "--json", tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text()) == shown
    assert capsys.readouterr().out == ""
    before = model.read_bytes()
    assert "would replace an input" in error_line(capsys, "show", model, "--json", model)
    assert model.read_bytes() == before
    assert "show: the following arguments are required: MODEL" in error_line(capsys, "show", code=2)


# ------------------------------------------------------------------ checks before reading


def test_more_components_than_features(tmp_path, capsys, monkeypatch):
    path = write(rows(), tmp_path / "d.parquet")
    nothing_is_read(monkeypatch)
    words = ["--model-type", "PCAGaussianNB", "--n-components", 4, "--model", tmp_path / "m"]
    line = error_line(capsys, "fit", path, "--target", "y", *FEATURES, *words)
    assert line.endswith(
        "--n-components: n_components=4 must be between 1 and n_features=3 (a, b, c)\n"
    )


@pytest.mark.parametrize("priors", ["1", "0.2,0.3,0.5"])
def test_another_number_of_priors_than_classes(tmp_path, capsys, priors):
    path = write(rows(), tmp_path / "d.parquet")
    words = ["--priors", priors, "--model", tmp_path / "m", "--quiet", "--batch-rows", 50]
    line = error_line(capsys, "fit", path, "--target", "y", *FEATURES, *words)
    number = "1 prior" if priors == "1" else "3 priors"
    assert line.endswith(
        f"d.parquet: column 'y': 2 distinct labels, but {number}; expected one for each class, in "
        "this order: no, yes\n"
    )


def test_an_update_with_a_new_class_of_a_model_with_priors(tmp_path, capsys):
    data = rows()
    path, model = write(data, tmp_path / "d.parquet"), tmp_path / "m"
    run("fit", path, "--target", "y", *FEATURES, "--model", model, "--priors", ".4,.6", "--quiet")
    before = model.read_bytes()
    data["y"][5] = "perhaps"
    line = error_line(capsys, "update", model, write(data, tmp_path / "e.parquet"))
    assert "3 distinct labels, but the model has priors, of no, yes alone" in line
    assert model.read_bytes() == before


def test_names_add_up(tmp_path, fitted):
    _, path, model = fitted
    words = ["--target", "y", "--exclude", "id", "--exclude", "key,c", "--model", tmp_path / "n"]
    run("fit", path, *words)
    assert persist.read(tmp_path / "n").model.feature_names == ("a", "b")
    run("predict", model, path, "--output", tmp_path / "o.csv", "--keep", "id", "--keep", "key")
    assert read(tmp_path / "o.csv").column_names == ["id", "key", "prediction"]
    run("fit", path, *words[:2], "--features", "a", "--features", "id,key", "--categorical", "id",
        "--categorical", "key", "--model", tmp_path / "n")  # fmt: skip
    assert persist.read(tmp_path / "n").model.stats.is_categorical.tolist() == [False, True, True]


def test_auto_stands_alone(tmp_path, capsys, fitted):
    words = ["fit", fitted[1], "--target", "y", "--model", tmp_path / "n", "--categorical", "key"]
    line = error_line(capsys, *words, "--categorical", "auto", code=2)
    assert "argument --categorical: auto stands alone" in line


# ------------------------------------------------------------------ rows that are left out


def spoiled(data):
    """The rows with values that no model takes, and which rows these are."""
    data = {name: np.array(column, copy=True) for name, column in data.items()}
    bad = np.zeros(N, bool)
    for name, row, value in [
        ("a", 0, np.nan),
        ("b", 7, np.inf),
        ("c", 7, -np.inf),
        ("a", 399, -np.inf),
    ]:
        data[name][row] = value
        bad[row] = True
    return data, bad


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_predict_null_and_skip(tmp_path, capsys, fitted, ending, batch):
    data, _, model = fitted
    data, bad = spoiled(data)
    path = write(data, tmp_path / f"d.{ending}")
    out = tmp_path / "o.parquet"
    words = ["predict", model, path, "--output", out, "--proba", "--evidence", "--keep", "id"]
    line = error_line(capsys, *words)
    assert "column 'a', row 1: missing value (null or NaN); " in line
    assert "a model fitted with --missing skip takes these; --on-error skip leaves such" in line
    assert "--on-error null gives them no prediction" in line
    loaded = fastgnb.load(model)
    good = pd.DataFrame({name: data[name] for name in "abc"})[~bad]
    expected = {
        "prediction": loaded.predict(good),
        "proba_no": loaded.predict_proba(good)[:, 0],
        "proba_yes": loaded.predict_proba(good)[:, 1],
        "log_evidence": loaded.predict_log_evidence(good),
    }
    run(*words, "--on-error", "null", "--batch-rows", batch)
    assert "400 rows, 3 rows predicted null (missing or infinite" in capsys.readouterr().err
    found = read(out)
    assert found["id"].cast(pa.int64()).to_pylist() == list(range(N))  # text, kept of CSV
    for name, values in expected.items():
        assert np.array_equal(found[name].is_null(), bad), name
        assert found[name].filter(pa.array(~bad)).to_pylist() == values.tolist(), name
    run(*words, "--on-error", "skip", "--batch-rows", batch)
    assert "397 rows, 3 rows left out (missing or infinite values)" in capsys.readouterr().err
    found = read(out)
    for name, values in expected.items():
        assert found[name].to_pylist() == values.tolist(), name


def test_null_predictions_of_npy(tmp_path, capsys, fitted, monkeypatch):
    _, path, model = fitted
    nothing_is_read(monkeypatch)
    words = ["predict", model, path, "--output", tmp_path / "o.npy", "--on-error", "null"]
    assert "o.npy: .npy cannot hold a null prediction; write Parquet" in error_line(capsys, *words)


@pytest.mark.parametrize("batch", [1, 7, 1000])
@pytest.mark.parametrize("kind", ["GaussianNB", "GaussianBayes", "MixedNB"])
def test_fit_update_and_evaluate_skip(tmp_path, capsys, batch, kind):
    data, bad = spoiled(rows())
    path = write(data, tmp_path / "d.parquet")
    clean = write({name: column[~bad] for name, column in data.items()}, tmp_path / "c.parquet")
    words = ["--target", "y", *FEATURES, "--model-type", kind, "--batch-rows", batch]
    line = error_line(capsys, "fit", path, *words, "--model", tmp_path / "m")
    assert "column 'a', row 1: missing value (null or NaN); " in line
    assert ("--missing skip takes these" in line) == (kind != "GaussianBayes")
    assert "--on-error skip leaves such rows out" in line
    words += ["--on-error", "skip"]
    run("fit", path, *words, "--model", tmp_path / "m")
    assert (
        "fit: 397 rows, 3 rows left out (missing or infinite values), " in capsys.readouterr().err
    )
    run("fit", clean, *words, "--model", tmp_path / "n")
    same_models(tmp_path / "m", tmp_path / "n")
    run("update", tmp_path / "m", path, "--on-error", "skip", "--batch-rows", batch, "--again")
    run("update", tmp_path / "n", clean, "--batch-rows", batch, "--again")
    same_models(tmp_path / "m", tmp_path / "n")
    run("evaluate", tmp_path / "m", path, "--on-error", "skip", "--json", "-")
    found = json.loads(capsys.readouterr().out)
    run("evaluate", tmp_path / "m", clean, "--json", "-")
    expected = json.loads(capsys.readouterr().out)
    assert found.pop("n_skipped_rows") == 3
    assert expected.pop("n_skipped_rows") == 0
    for name in ("n_rows", "accuracy", "log_loss", "brier_score"):
        assert found[name] == pytest.approx(expected[name], rel=1e-12)
    assert found["confusion_matrix"] == expected["confusion_matrix"]


def same_models(a, b):
    a, b = persist.read(a).model, persist.read(b).model
    np.testing.assert_allclose(a.moments.theta, b.moments.theta, rtol=1e-12)
    np.testing.assert_allclose(a.moments.var, b.moments.var, rtol=1e-12)
    assert a.stats.count.tolist() == b.stats.count.tolist()


def test_a_model_that_skips_missing_values_refuses_infinities_alone(tmp_path, capsys):
    data, _ = spoiled(rows())
    path = write(data, tmp_path / "d.parquet")
    words = [
        "fit",
        path,
        "--target",
        "y",
        *FEATURES,
        "--missing",
        "skip",
        "--model",
        tmp_path / "m",
    ]
    line = error_line(capsys, *words)
    assert line.endswith(
        "column 'b', row 8: inf is not a finite number; --on-error skip leaves such rows out\n"
    )
    run(*words, "--on-error", "skip")
    assert "fit: 398 rows, 2 rows left out" in capsys.readouterr().err


def test_missing_categories(tmp_path, capsys):
    frame = pd.DataFrame(rows()).drop(columns=["id", "key"])
    frame["k"] = np.where(frame["c"] > 0, "p", "q")
    frame.loc[[3, 5], "k"] = None
    path = write(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "d.parquet")
    words = ["fit", path, "--target", "y", "--categorical", "k", "--model", tmp_path / "m"]
    assert "column 'k', row 4: missing value (null or NaN); a model" in error_line(capsys, *words)
    run(*words, "--on-error", "skip")
    assert "fit: 398 rows, 2 rows left out" in capsys.readouterr().err
    words = ["predict", tmp_path / "m", path, "--output", tmp_path / "o.parquet"]
    run(*words, "--on-error", "null")
    null = read(tmp_path / "o.parquet")["prediction"].is_null().to_numpy()
    assert np.flatnonzero(null).tolist() == [3, 5]


def test_rows_of_weight_0_are_not_left_out(tmp_path, capsys):
    data, _ = spoiled(rows())
    data["w"] = np.ones(N)
    data["w"][[0, 7]] = 0
    path = write(data, tmp_path / "d.parquet")
    run("fit", path, "--target", "y", *FEATURES, "--weight", "w", "--model", tmp_path / "m",
        "--on-error", "skip")  # fmt: skip
    assert "fit: 399 rows, 1 row left out" in capsys.readouterr().err
    assert persist.read(tmp_path / "m").model.stats.count.sum() == 397


def test_no_row_is_left(tmp_path, capsys, fitted):
    data, _, model = fitted
    path = write(data | {"a": np.full(N, np.inf)}, tmp_path / "d.parquet")
    skip = ["--on-error", "skip", "--quiet"]
    line = error_line(
        capsys, "fit", path, "--target", "y", *FEATURES, "--model", tmp_path / "n", *skip
    )
    assert "d.parquet: no rows to fit; 400 rows left out (missing or infinite values)\n" in line
    line = error_line(capsys, "evaluate", model, path, *skip)
    assert "d.parquet: no rows to evaluate; all 400 of them are left out\n" in line
    run("predict", model, path, "--output", tmp_path / "o.csv", *skip)
    assert read(tmp_path / "o.csv").num_rows == 0
    before = persist.read(model)
    run("update", model, path, *skip)
    after = persist.read(model)
    assert after.model.stats.count.tolist() == before.model.stats.count.tolist()
    assert after.learned == before.learned


def test_null_labels_are_counted(tmp_path, capsys, fitted):
    data, _, model = fitted
    y = [None if i in (4, 300) else label for i, label in enumerate(data["y"])]
    path = write(data | {"y": y}, tmp_path / "d.parquet")
    for words in [["fit", path, "--target", "y", *FEATURES, "--model", tmp_path / "n"],
                  ["update", model, path], ["evaluate", model, path]]:  # fmt: skip
        line = error_line(capsys, *words)
        assert "row 5: the label is null; --drop-null-target leaves such rows out\n" in line
        run(*words, "--drop-null-target")
        assert f"{words[0]}: 398 rows, 2 rows left out (no label), " in capsys.readouterr().err


# ------------------------------------------------------------------ the last line


def test_commands_end_with_a_line(tmp_path, capsys, fitted):
    data, path, model = fitted
    words = {
        "fit": ["fit", path, "--target", "y", "--exclude", "id", "--model", tmp_path / "n"],
        "predict": ["predict", model, path, "--output", tmp_path / "o.csv"],
        "evaluate": ["evaluate", model, path, "--json", tmp_path / "e.json"],
    }
    shape = "400 rows, 3 features (a, b, c), 2 classes (no, yes)"
    ends = {
        "fit": f"{shape}, left out 1 column (key); wrote {tmp_path / 'n'} in ",
        "predict": f"{shape}; wrote {tmp_path / 'o.csv'} in ",
        "evaluate": f"{shape}; wrote {tmp_path / 'e.json'} in ",
    }
    for name, argv in words.items():
        capsys.readouterr()
        run(*argv)
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith(f"fastgnb: {name}: {ends[name]}")
        assert last.endswith(" s")
        run(*argv, "--quiet")
        assert capsys.readouterr().err == ""
    y = data["y"].copy()
    y[:9] = "perhaps"
    more = write(data | {"y": y}, tmp_path / "more.parquet")
    run("update", model, more)
    assert (
        "update: 400 rows, 3 features (a, b, c), 3 classes (no, perhaps, yes), 1 new class "
        f"(perhaps), total weight 800; wrote {model} in "
    ) in capsys.readouterr().err


def test_many_names_are_shortened(tmp_path, capsys):
    data = {f"feature {j}, long": np.arange(30) * 0.5 for j in range(40)}
    path = write(data | {"y": np.arange(30) % 15}, tmp_path / "d.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "m")
    last = capsys.readouterr().err.splitlines()[-1]
    assert "40 features ('feature 0, long', 'feature 1, long', 'feature 2, long', " in last
    assert "... 36 more), 15 classes (0, 1, 2, 3, 4, 5, 6, 7, ... 7 more)" in last


# ------------------------------------------------------------------ categories that grow


def test_sums_of_categories_are_linear(monkeypatch):
    """A thousand batches of new categories: each is handled about log2(1000) times."""
    handled = []
    add = MixedStats.__add__

    def counted(self, other):
        handled.append(len(self.categories[0]) + len(other.categories[0]))
        return add(self, other)

    monkeypatch.setattr(MixedStats, "__add__", counted)
    total, batches, m = Total(None), 1000, 4
    y = ["a", "b"] * 2
    for i in range(batches):
        values = np.arange(m)[:, None] + i * m
        total.add(MixedStats.from_rows(values, y, categorical_features=[0]))
    found = total.result()
    assert sum(handled) <= 11 * batches * m
    assert found.categories[0].tolist() == list(range(batches * m))
    assert np.array_equal(found.counts[0][0], np.tile([1.0, 0.0], batches * m // 2))
    assert found.count.tolist() == [2.0 * batches] * 2


@pytest.mark.parametrize("alike", [True, False])
def test_sums_of_classes_are_linear(monkeypatch, alike):
    handled = []
    add = ClassStats.__add__

    def counted(self, other):
        handled.append(len(self.classes) + len(other.classes))
        return add(self, other)

    monkeypatch.setattr(ClassStats, "__add__", counted)
    total, batches, m = Total(None), 1000, 4
    for i in range(batches):
        y = np.arange(m) + (0 if alike else i * m)
        total.add(ClassStats.from_rows(y[:, None] + 0.5, y))
    found = total.result()
    assert sum(handled) <= (2 if alike else 12) * batches * m
    assert found.classes.tolist() == list(range(m if alike else batches * m))
    assert found.mean[:, 0].tolist() == (found.classes + 0.5).tolist()
    assert np.all(found.count == (batches if alike else 1))


@pytest.mark.parametrize("batch", [100, 1000, 100_000])
def test_auto_leaves_out_what_identifies_rows(tmp_path, capsys, batch):
    data = rows(3000)
    data["shop"] = np.array(["p", "q", "r"], object)[np.arange(3000) % 3]
    paths = [
        write({name: column[part] for name, column in data.items()}, tmp_path / f"{i}.parquet")
        for i, part in enumerate([slice(0, 1000), slice(1000, 3000)])
    ]
    words = ["--target", "y", "--exclude", "id", "--model", tmp_path / "m", "--batch-rows", batch]
    run("fit", *paths, *words, "--categorical", "auto")
    shown = capsys.readouterr().err
    assert "warning: left out, since it identifies rows: 'key'; --exclude it, or name it" in shown
    assert "4 features (a, b, c, shop), 2 classes (no, yes), left out 1 column (key); " in shown
    auto = persist.read(tmp_path / "m").model
    run("fit", *paths, *words[:2], "--categorical", "shop", "--exclude", "id,key", *words[4:])
    named = persist.read(tmp_path / "m").model
    assert auto.feature_names == named.feature_names
    np.testing.assert_allclose(auto.moments.theta, named.moments.theta, rtol=1e-12)
    assert auto.stats.counts[0].tolist() == named.stats.counts[0].tolist()
    run("predict", tmp_path / "m", *paths, "--output", tmp_path / "o.csv", "--quiet")
    assert read(tmp_path / "o.csv").num_rows == 3000


def test_auto_leaves_out_what_grows_beyond_the_bound(tmp_path, capsys):
    n = 40_000
    data = rows(n)
    data["key"] = [f"k{i % 15_000 if i > 20_000 else i % 200}" for i in range(n)]
    path = write(data, tmp_path / "d.parquet")
    words = ["fit", path, "--target", "y", "--exclude", "id", "--model", tmp_path / "m",
             "--max-categories", 10_000, "--batch-rows", 4000]  # fmt: skip
    run(*words, "--categorical", "auto")
    assert "left out, since it identifies rows: 'key'" in capsys.readouterr().err
    assert persist.read(tmp_path / "m").model.feature_names == ("a", "b", "c")
    line = error_line(capsys, *words, "--categorical", "key", "--quiet")
    assert "'key' has 1" in line
    assert "more than max_categories=10000" in line


def test_nothing_but_identifiers(tmp_path, capsys):
    data = {name: rows()[name] for name in ("key", "y")}
    path = write(data, tmp_path / "d.parquet")
    words = ["fit", path, "--target", "y", "--categorical", "auto", "--model", tmp_path / "m"]
    line = error_line(capsys, *words, "--quiet")
    assert "every column looks like an identifier; name those that are features" in line
    assert not (tmp_path / "m").exists()


# ------------------------------------------------------------------ .npy


def test_npy_rows_are_left_out_too(tmp_path, capsys):
    data, bad = spoiled(rows())
    X = np.column_stack([data[name] for name in "abc"])
    y = (data["y"] == "yes").astype(float)
    y[[3, 5, 9]] = np.nan
    unlabelled = np.isnan(y)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    kept = ~bad & ~unlabelled
    words = ["--target-npy", tmp_path / "y.npy", "--batch-rows", 50]
    assert "row 4: the label is NaN; --drop-null-target leaves such rows out" in error_line(
        capsys, "fit", tmp_path / "X.npy", *words, "--model", tmp_path / "m"
    )
    words += ["--drop-null-target"]
    assert "column 0 (from 0), row 1: missing value (null or NaN); a model" in error_line(
        capsys, "fit", tmp_path / "X.npy", *words, "--model", tmp_path / "m"
    )
    words += ["--on-error", "skip"]
    run("fit", tmp_path / "X.npy", *words, "--model", tmp_path / "m")
    shown = capsys.readouterr().err
    assert f"fit: {kept.sum()} rows, 3 rows left out (no label), 3 rows left out (missing" in shown
    saved = persist.read(tmp_path / "m").model
    expected = ClassStats.from_rows(X[kept], y[kept])
    np.testing.assert_allclose(saved.stats.mean, expected.mean, rtol=1e-12)
    assert saved.stats.count.tolist() == expected.count.tolist()
    run("evaluate", tmp_path / "m", tmp_path / "X.npy", *words, "--json", "-")
    found = json.loads(capsys.readouterr().out)
    assert (found["n_rows"], found["n_null_labels"], found["n_skipped_rows"]) == (kept.sum(), 3, 3)
    out = tmp_path / "o.npy"  # labels are floats, and NaN stands for null
    run("predict", tmp_path / "m", tmp_path / "X.npy", "--output", out, "--on-error", "null")
    assert np.array_equal(np.isnan(np.load(out)), bad)
