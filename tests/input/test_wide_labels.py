"""Labels beyond 2^53, and of types that do not go together: exact, or an error in a line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fastgnb.cli import main
from fastgnb.evaluation.evaluator import Evaluator

WIDE = 2**53
LABELS = {
    "float": np.array([1.0, WIDE]),
    "int": np.array([WIDE, WIDE + 1]),
    "uint": np.array([1, 2**63 + 1], np.uint64),
    "signed": np.array([-1, 1]),
    "half": np.array([0.5, 1.0]),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = np.random.default_rng(0).normal(size=40)
    for name, labels in LABELS.items():
        pd.DataFrame({"a": a, "y": np.resize(labels, 40)}).to_parquet(f"{name}.parquet")


@pytest.mark.parametrize("model", [name for name in LABELS if name != "half"])
@pytest.mark.parametrize("data", LABELS)
def test_evaluation_keeps_labels_apart(files, capsys, model, data):
    fit = ["fit", f"{model}.parquet", "--target", "y", "--model", "m", "--quiet"]
    assert main(fit) == 0
    code = main(["evaluate", "m", f"{data}.parquet", "--json", "-", "--quiet"])
    shown, known, met = capsys.readouterr(), LABELS[model].tolist(), LABELS[data].tolist()
    if set(known).isdisjoint(met):
        assert code == 1
        assert "the model knows none of the labels" in shown.err
        return
    found = json.loads(shown.out)
    assert found["labels"] == sorted({*known, *met})
    assert found["n_unseen_rows"] == 20 * len(set(met) - set(known))


@pytest.mark.parametrize(
    ("model", "data"), [("float", "int"), ("int", "float"), ("uint", "signed"), ("signed", "uint")]
)
def test_an_update_that_no_type_holds_is_an_error_of_a_line(files, capsys, model, data):
    main(["fit", f"{model}.parquet", "--target", "y", "--model", "m", "--quiet"])
    before = Path("m").read_bytes()
    assert main(["update", "m", f"{data}.parquet", "--quiet"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"fastgnb: error: {data}.parquet: Classes of types ")
    assert "no type holds all of" in shown
    assert Path("m").read_bytes() == before


def test_labels_that_no_type_holds_are_listed_as_they_are():
    evaluator = Evaluator(np.array([1.0, WIDE]))
    y = np.array([WIDE, WIDE + 1, 1])
    evaluator.update(y, np.array([1, 1, 0]), np.zeros((3, 2)))
    found = evaluator.result()
    assert found.labels.tolist() == [1, WIDE, WIDE + 1]
    assert found.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
