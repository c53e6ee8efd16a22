"""The commands over objects of S3."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from children import finished
from command_line import error_line, run

pytestmark = [pytest.mark.engine, pytest.mark.any_version]


@pytest.fixture
def data(s3):
    """Two objects of rows, and the server."""
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        y = rng.integers(0, 2, 500)
        sink = io.BytesIO()
        pq.write_table(pa.table({"x": rng.normal(y), "z": rng.normal(-y), "y": y}), sink)
        s3.put(f"rows/{name}.parquet", sink.getvalue())
    return s3


def test_every_command(data, capsys):
    run("fit", "s3://data/rows/a.parquet", "--target", "y", "--model", "s3://data/m.fgnb")
    assert "wrote s3://data/m.fgnb" in capsys.readouterr().err
    run("update", "s3://data/m.fgnb", "s3://data/rows/b.parquet", "--model", "s3://data/m2.fgnb")
    run("fit", "s3://data/rows/b.parquet", "--target", "y", "--model", "s3://data/b.fgnb")
    run("merge", "s3://data/m.fgnb", "s3://data/b.fgnb", "--model", "s3://data/m3.fgnb")
    run("reestimate", "s3://data/m.fgnb", "--var-smoothing", "0.1", "--output", "s3://data/r.fgnb")
    run("predict", "s3://data/m2.fgnb", "s3://data/rows", "--output", "s3://data/p.csv", "--proba")
    assert len(data.get("p.csv").splitlines()) == 1001
    capsys.readouterr()
    run("evaluate", "s3://data/m2.fgnb", "s3://data/rows", "--json", "s3://data/e.json")
    run("diagnose", "s3://data/m2.fgnb", "s3://data/rows", "--json", "s3://data/d.json")
    run("show", "s3://data/m2.fgnb", "--json", "s3://data/s.json")
    for name in ("e.json", "d.json", "s.json"):
        assert isinstance(json.loads(data.get(name)), dict)
    capsys.readouterr()
    run("show", "s3://data/m3.fgnb")
    assert "total weight" in capsys.readouterr().out
    run("report", "s3://data/m2.fgnb", "s3://data/rows", "--output", "s3://data/r.html")
    page = data.get("r.html")
    assert page.startswith(b"<!DOCTYPE html>")
    assert b"s3://data/rows/a.parquet" in page
    assert data.uploads() == []


def test_update_replaces_its_model(data):
    run("fit", "s3://data/rows/a.parquet", "--target", "y", "--model", "s3://data/m.fgnb")
    before = data.get("m.fgnb")
    run("update", "s3://data/m.fgnb", "s3://data/rows/b.parquet")
    assert data.get("m.fgnb") != before


def test_what_a_command_says_where_it_fails(data, capsys):
    missing = error_line(
        capsys, "fit", "s3://nothing/x.csv", "--target", "y", "--model", "s3://data/m.fgnb"
    )
    assert missing == "fastgnb: error: s3://nothing/x.csv: no such bucket\n"
    missing = error_line(capsys, "show", "s3://data/m.fgnb")
    assert missing == "fastgnb: error: s3://data/m.fgnb: no such file or folder\n"
    data.proxy.cut("GET /data/rows/a.parquet", after=10)
    words = ["fit", "s3://data/rows", "--target", "y", "--model", "s3://data/m.fgnb"]
    assert "a.parquet: the connection was cut at byte" in error_line(capsys, *words)
    assert data.get("m.fgnb") is None


def test_a_process_takes_the_server_and_credentials_from_its_environment(data):
    words = ["fit", "s3://data/rows", "--target", "y", "--model", "s3://data/m.fgnb"]
    done = finished([sys.executable, "-W", "error", "-m", "fastgnb", *words])
    assert done.stderr.startswith("fastgnb: fit: 1,000 rows, 2 features (x, z), 2 classes (0, 1); ")
    assert data.get("m.fgnb") is not None


def test_checkpoints_and_a_folder_of_predictions_in_the_store(data, capsys):
    """A run that a cut connection has ended goes on where it was, and gives the same bits."""
    words = ["fit", "s3://data/rows", "--target", "y"]
    run(*words, "--model", "s3://data/whole.fgnb")
    words += ["--model", "s3://data/m.fgnb", "--checkpoint", "s3://data/states"]
    # The fingerprint and the plan of b.parquet come first.
    rule = data.proxy.first("HEAD", lambda: None, times=0)

    def cut_second():
        if any(key.startswith("states/a") for key in data.names()):
            data.proxy.cut("GET /data/rows/b.parquet", after=10)

    rule.before, rule.times = cut_second, float("inf")
    assert "b.parquet: the connection was cut" in error_line(capsys, *words)
    assert [key for key in data.names() if key.startswith("states/b")] == []
    data.proxy.forget()
    run(*words)
    assert data.get("m.fgnb") == data.get("whole.fgnb")
    capsys.readouterr()
    for _ in range(2):
        run("predict", "s3://data/m.fgnb", "s3://data/rows", "--output", "s3://data/out/")
    assert {"out/_manifest.json", "out/a.parquet", "out/b.parquet"} <= set(data.names())
    assert len(data.proxy.seen("(PUT|POST) /data/out/a.parquet")) <= 3  # by the first run
