"""An evaluation of Parquet files in one pass, and of eight pieces that are merged."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics

from fastgnb import files
from fastgnb.evaluation.evaluator import Evaluator
from fastgnb.files.jobs import score_rows

K, D = 4, 5


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Eight files of rows with weights, some of which are 0."""
    folder, rng = tmp_path_factory.mktemp("pieces"), np.random.default_rng(3)
    y = rng.integers(0, K, 8000)
    X = rng.normal(size=(len(y), D)) + y[:, None] * 0.4
    weight = np.where(rng.random(len(y)) < 0.1, 0.0, rng.exponential(size=len(y)))
    table = pa.table({f"x{j}": X[:, j] for j in range(D)} | {"y": y, "w": weight})
    found = []
    for i in range(8):
        found.append(folder / f"{i}.parquet")
        pq.write_table(table.slice(i * 1000, 1000), found[-1])
    return found


def pieces(paths, model, exact_rows):
    for path in paths:
        part = Evaluator(model.classes_, exact_rows=exact_rows)
        source = files.open_rows(path, target="y", weight="w", features=model.feature_names_in_)
        for batch in source:
            scores = model.to_model().score(batch.X, table="log_odds")
            part.update(batch.y, scores.codes, scores.table, batch.weight)
        yield part


@pytest.mark.parametrize("numbers", [0, 1 << 21])
def test_eight_files_merged_are_one_pass(paths, monkeypatch, numbers):
    monkeypatch.setattr(score_rows, "_EXACT_NUMBERS", numbers)
    model = files.fit(paths[:2], target="y", features=[f"x{j}" for j in range(D)])
    found = files.evaluate(model, paths, target="y", weight="w", batch_rows=333)
    merged = functools.reduce(operator.add, pieces(paths, model, numbers // K)).result()
    assert found.n_rows == merged.n_rows < 8000
    assert found.curves.is_exact == merged.curves.is_exact == (numbers > 0)
    np.testing.assert_allclose(found.confusion, merged.confusion, rtol=1e-13)
    assert found.log_loss == pytest.approx(merged.log_loss, rel=1e-13)
    assert found.brier == pytest.approx(merged.brier, rel=1e-13)
    for label in range(K):
        a, b = found.auc(label), merged.auc(label)
        assert a == pytest.approx(b, rel=1e-13)
        assert found.rates(0.3, label).tpr == pytest.approx(merged.rates(0.3, label).tpr)
    rows = pa.concat_tables([pq.read_table(path) for path in paths]).to_pandas()
    odds = model.predict_log_proba(rows[list(model.feature_names_in_)])[:, 2]
    exact = metrics.roc_auc_score(rows["y"] == 2, odds, sample_weight=rows["w"])
    bounds = found.auc(2)
    assert bounds.lower - 1e-12 <= exact <= bounds.upper + 1e-12
    assert bounds.width <= 1e-3


def test_rows_of_weight_zero_are_not_looked_at(tmp_path):
    y, x = np.arange(8) % 2, np.arange(8.0)
    weight = np.ones(8)
    model = files.fit(write(tmp_path / "fit.parquet", x, y, weight), target="y", features="x")
    x, weight = x.copy(), weight.copy()
    x[3], weight[3] = np.nan, 0.0
    found = files.evaluate(model, write(tmp_path / "e.parquet", x, y, weight), target="y",
                           weight="w")  # fmt: skip
    assert found.n_rows == 7
    with pytest.raises(files.SourceError, match="missing value"):
        files.evaluate(model, tmp_path / "e.parquet", target="y")
    weight[:] = 0.0
    with pytest.raises(files.SourceError, match="no rows to evaluate; all 8 of them are left out"):
        files.evaluate(model, write(tmp_path / "0.parquet", x, y, weight), target="y", weight="w")


def write(path, x, y, weight):
    pq.write_table(pa.table({"x": x, "y": y, "w": weight}), path)
    return path


def test_rows_that_the_model_cannot_take_are_counted_once(tmp_path):
    """A batch with such rows is scored again without them."""
    y, x = np.arange(3000) % 2, np.sin(np.arange(3000.0))
    model = files.fit(write(tmp_path / "fit.parquet", x, y, np.ones(3000)), target="y",
                      features="x")  # fmt: skip
    x = x.copy()
    x[2900] = np.inf
    path = write(tmp_path / "e.parquet", x, y, np.ones(3000))
    found = files.evaluate(model, path, target="y", on_error="skip")
    assert (found.n_rows, found.n_skipped) == (2999, 1)
    assert found.confusion.sum() == 2999
