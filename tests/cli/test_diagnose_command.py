"""`fastgnb diagnose`, and `fastgnb.files.diagnose` beside `fastgnb.diagnose`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import error_line, run, write
from three_classes import FEATURES, frame

import fastgnb
from fastgnb import files


@pytest.fixture
def diagnosed(fitted):
    """A diagnosis of the rows in memory, by the model file."""
    data, path, model = fitted
    return fastgnb.diagnose(fastgnb.load(model), frame(data), data["y"]), path, model


def expect_same(found, expected):
    for name, value in vars(expected).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            # Batches are merged where rows in memory may be one.
            np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, atol=1e-9)
    assert found.findings == expected.findings
    assert found.n_rows == expected.n_rows
    for one, other in zip(found.candidates, expected.candidates, strict=True):
        assert one.name == other.name
        assert one.log_loss == pytest.approx(other.log_loss, rel=1e-9)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("batch_rows", [None, 17])
def test_files_are_diagnosed_as_rows_in_memory(tmp_path, fitted, diagnosed, ending, batch_rows):
    path = write(fitted[0], tmp_path / f"rows.{ending}")
    found = files.diagnose(fitted[2], path, target="y", batch_rows=batch_rows)
    expect_same(found, diagnosed[0])


def test_the_command_prints_and_writes_it(tmp_path, diagnosed, capsys):
    expected, path, model = diagnosed
    run("diagnose", model, path, "--target", "y", "--json", tmp_path / "d.json", "--threads", 1)
    shown = capsys.readouterr()
    written = json.loads((tmp_path / "d.json").read_text())
    assert written["n_rows"] == 300
    assert written["feature_names"] == FEATURES
    np.testing.assert_allclose(written["negentropy"], expected.negentropy, rtol=1e-9, atol=1e-12)
    assert written["suggestion"] == expected.suggestion
    for word in ["normality", "a b", "'c,d'", "total correlation", "log loss", "GaussianBayes"]:
        assert word in shown.out
    assert " ".join(expected.suggestion.split()) in " ".join(shown.out.split())
    assert shown.err.startswith("fastgnb: diagnose: 300 rows, 3 features")
    run("diagnose", model, path, "--target", "y", "--json", "-", "--quiet")
    assert json.loads(capsys.readouterr().out) == written


@pytest.mark.compiled
def test_the_text_is_of_bounded_size(tmp_path, rng, capsys):
    data = {f"x{j}": rng.normal(size=300) for j in range(60)} | {"y": np.arange(300) % 30}
    path = write(data, tmp_path / "wide.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "m", "--quiet")
    run("diagnose", tmp_path / "m", path, "--quiet")
    shown = capsys.readouterr().out
    assert "... and 40 more features; --json has all" in shown
    assert "... and 20 more classes; --json has all" in shown
    assert "... and 1760 more pairs; --json has all" in shown
    assert "too few rows" in shown
    assert len(shown.splitlines()) < 80


def test_weights_nulls_and_bad_rows(tmp_path, fitted, capsys):
    data, _, model = fitted
    data["a b"][3] = np.nan
    data["y"][5] = "unheard of"
    path = write(data, tmp_path / "rows.parquet")
    line = error_line(capsys, "diagnose", model, path, "--target", "y")
    assert "column 'a b', row 4: missing value" in line
    with pytest.warns(UserWarning, match="1 row with labels that the model does not know: left"):
        found = files.diagnose(model, path, target="y", weight="w", on_error="skip")
    good = np.delete(np.arange(300), [3, 5])
    rows = frame(data).iloc[good]
    expected = fastgnb.diagnose(
        fastgnb.load(model), rows, data["y"][good], np.asarray(data["w"])[good]
    )
    expect_same(found, expected)
    assert (found.n_skipped, found.n_unknown) == (1, 1)


def test_missing_values_that_the_model_skips(tmp_path, rng, capsys):
    data = {"a": rng.normal(size=200), "b": rng.normal(size=200), "y": np.arange(200) % 2}
    data["a"][::7] = np.nan
    path = write(data, tmp_path / "rows.parquet")
    run("fit", path, "--target", "y", "--missing", "skip", "--model", tmp_path / "m", "--quiet")
    run("diagnose", tmp_path / "m", path, "--quiet")
    assert "rows without missing values" in capsys.readouterr().out


@pytest.mark.compiled  # NumPy warns of infinities
def test_categorical_columns_are_left_out(tmp_path, rng):
    data = {
        "a": rng.normal(size=300), "kind": np.array(["p", "q", "r"])[rng.integers(0, 3, 300)],
        "b": rng.normal(size=300), "y": np.arange(300) % 2,
    }  # fmt: skip
    path = write(data, tmp_path / "rows.parquet")
    model = files.fit(path, target="y", categorical="kind")
    found = files.diagnose(model, path, target="y")
    assert found.feature_names == ("a", "b")
    data["b"][9] = np.inf
    path = write(data, tmp_path / "bad.parquet")
    with pytest.raises(files.SourceError, match="column 'b', row 10: inf is not a finite number"):
        files.diagnose(model, path, target="y")
    assert files.diagnose(model, path, target="y", on_error="skip").n_rows == 299


def test_what_is_refused(tmp_path, fitted, capsys):
    data, path, model = fitted
    words = "diagnose", model, path
    old = tmp_path / "d.json"
    old.write_text("old")
    assert "column 'z' is missing" in error_line(capsys, *words, "--target", "z")
    other = write({**data, "y": np.repeat("else", 300)}, tmp_path / "other.parquet")
    line = error_line(
        capsys, "diagnose", model, other, "--target", "y", "--json", tmp_path / "d.json"
    )
    assert "the model knows the labels of none of 300 rows; expected ant, 'bee, big', çat" in line
    assert old.read_text() == "old"
    assert "the output would replace an input" in error_line(capsys, *words, "--json", path)
    empty = write({name: values[:0] for name, values in data.items()}, tmp_path / "empty.parquet")
    assert "no rows to diagnose" in error_line(capsys, "diagnose", model, empty, "--target", "y")
    narrow = write({"e": data["e"], "y": data["y"]}, tmp_path / "narrow.parquet")
    assert "a b" in error_line(capsys, "diagnose", model, narrow, "--target", "y")
    with pytest.raises(ValueError, match="on_error must be one of"):
        files.diagnose(model, path, on_error="null")
