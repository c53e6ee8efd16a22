"""`fastgnb evaluate` and `files.evaluate`: weights, cut-offs, areas, and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import error_line, run, write
from three_classes import frame

import fastgnb
from fastgnb import files
from fastgnb.evaluation.thinning import thin


def numbers(path):
    """JSON without the words that JSON lacks."""
    return json.loads(path.read_text(), parse_constant=pytest.fail)


@pytest.fixture
def weighted(fitted, tmp_path):
    data, _, model = fitted
    weight = np.arange(300) % 4 / 2
    return data, weight, write(data | {"w": weight}, tmp_path / "weighted.parquet"), model


def test_json_holds_what_evaluate_returns(weighted, tmp_path, capsys):
    data, weight, path, model = weighted
    run(
        "evaluate", model, path, "--target", "y", "--weight", "w", "--thresholds", "0.125,0.9",
        "--json", tmp_path / "e.json", "--batch-rows", 77,
    )  # fmt: skip
    found = numbers(tmp_path / "e.json")
    want = fastgnb.evaluate(
        fastgnb.load(model), frame(data), data["y"], weight, thresholds=[0.125, 0.9]
    )
    assert found["weight"] == weight.sum()
    assert found["n_rows"] == np.count_nonzero(weight)
    for name in ("accuracy", "mcc", "log_loss"):
        key = found[name]
        assert key == pytest.approx(getattr(want, name), rel=1e-12)
    for average, bounds in found["mean_auc"].items():
        assert bounds == pytest.approx(list(want.mean_auc(average)), rel=1e-12)
    for curve in found["curves"]:
        label = curve["label"]
        assert curve["auc"] == pytest.approx(list(want.auc(label)), rel=1e-12)
        roc = want.roc(label)
        kept = thin(roc.fpr, roc.tpr, 50)
        assert len(kept) <= 200
        assert curve["roc"]["tpr"] == pytest.approx(roc.tpr[kept].tolist(), rel=1e-12)
        assert curve["roc"]["log_odds"][0] is None  # infinite
        for tau, rates in zip((0.125, 0.9), curve["rates"], strict=True):
            assert rates["threshold"] == tau
            assert rates["mcc"] == pytest.approx(list(want.rates(tau, label).mcc), rel=1e-12)
        assert len(curve["counts"]["threshold"]) == 100
    shown = capsys.readouterr().out
    for text in ("MCC", "calibration error", f"{want.mean_auc().value:.6f}", "cut-off", "weight"):
        assert text in shown
    line = next(line for line in shown.splitlines() if line.startswith("0.9 ") and "ant" in line)
    rates = want.rates(0.9, "ant")
    shown_rates = (rates.tpr, rates.fpr, rates.ppv, rates.npv, rates.f1, rates.mcc)
    assert line.split()[2:] == [f"{rate.value:.4f}" for rate in shown_rates]


def test_weights_of_learning_are_not_those_of_evaluating(weighted, tmp_path):
    _, _, path, _ = weighted
    model = tmp_path / "w.fgnb"
    run("fit", path, "--target", "y", "--weight", "w", "--model", model)
    plain = files.evaluate(model, path)
    assert plain.total_weight is None
    assert plain.n_rows == 300
    assert files.evaluate(model, path, weight="w").weight == pytest.approx(225)


def test_cut_offs_of_two_classes_are_of_the_second(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    path = write({"x": y + rng.normal(size=200), "y": y}, tmp_path / "two.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "m")
    run("evaluate", tmp_path / "m", path, "--thresholds", "0.2,0.7")
    table = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    assert [line.split()[:2] for line in table] == [
        ["cut-off", "class"],
        ["0.2", "1"],
        ["0.7", "1"],
    ]


def test_many_cut_offs_are_not_all_printed(fitted, capsys):
    _, path, model = fitted
    taus = ",".join(f"{i / 1000}" for i in range(1, 101))
    run("evaluate", model, path, "--target", "y", "--thresholds", taus)
    shown = capsys.readouterr().out
    assert "... and 250 more cut-offs and classes; --json has all" in shown


def test_rows_beyond_those_that_are_kept(fitted, monkeypatch, capsys):
    _, path, model = fitted
    exact = files.evaluate(model, path, target="y")
    monkeypatch.setattr("fastgnb.files.jobs.score_rows._EXACT_NUMBERS", 30)
    found = files.evaluate(model, path, target="y", thresholds=[0.3])
    assert not found.curves.is_exact
    for label in exact.labels.tolist():
        bounds, area = found.auc(label), exact.auc(label).value
        assert bounds.lower - 1e-12 <= area <= bounds.upper + 1e-12
        assert found.rates(0.3, label).tp == exact.rates(0.3, label).tp
    run("evaluate", model, path, "--target", "y")
    assert "mean AUC" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["0", "1", "0.5,2", "a", "", "nan", "0.1,"])
def test_cut_offs_that_are_none(fitted, capsys, text):
    line = error_line(capsys, "evaluate", fitted[2], fitted[1], "--thresholds", text, code=2)
    assert "argument --thresholds: " in line


def test_columns_of_weights_that_are_wrong(weighted, tmp_path, capsys):
    data, weight, path, model = weighted
    line = error_line(capsys, "evaluate", model, path, "--target", "y", "--weight", "v")
    assert "column 'v' is missing" in line
    bad = write(data | {"w": weight - 1}, tmp_path / "bad.parquet")
    line = error_line(capsys, "evaluate", model, bad, "--target", "y", "--weight", "w")
    assert "bad.parquet" in line
    assert "weight" in line
    nothing = write(data | {"w": weight * 0}, tmp_path / "nothing.parquet")
    line = error_line(capsys, "evaluate", model, nothing, "--target", "y", "--weight", "w")
    assert "no rows to evaluate; all 300 of them are left out" in line


def test_a_column_of_weights_beside_npy(tmp_path, capsys):
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    fastgnb.save(fastgnb.GaussianNB().fit(X, y), tmp_path / "m")
    line = error_line(
        capsys, "evaluate", tmp_path / "m", tmp_path / "X.npy", "--target-npy", tmp_path / "y.npy",
        "--weight", "w",
    )  # fmt: skip
    assert "a .npy matrix has no column names" in line


def test_arguments_of_the_function(fitted):
    _, path, model = fitted
    with pytest.raises(ValueError, match="thresholds must be above 0 and below 1, got 2"):
        files.evaluate(model, path, target="y", thresholds=[2])
    assert files.evaluate(model, path, target="y", thresholds=iter([0.5])).thresholds == (0.5,)
