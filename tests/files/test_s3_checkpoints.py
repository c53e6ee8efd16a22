"""Checkpoints and folders of predictions on an S3 server, filled by several processes."""

from __future__ import annotations

import json

import pytest
from file_sets import BATCH_ROWS, expected_stats, frames, write_frames
from members import CASES
from same_bits import assert_same_bits

from fastgnb import files
from fastgnb.files.jobs.file_state import FileLearner

pytestmark = [pytest.mark.engine, pytest.mark.compiled]


@pytest.mark.promise("partitions")
def test_states_and_outputs_in_a_bucket(tmp_path, s3, monkeypatch):
    tables = frames(4)
    paths = write_frames(tables, tmp_path / "data")
    for path in paths:
        s3.put(f"rows/{path.name}", path.read_bytes())
    options = {"target": "y", "checkpoint": "s3://data/states", "batch_rows": BATCH_ROWS}
    model = files.fit("s3://data/rows", workers=2, **options)
    assert_same_bits(model.to_model().stats, expected_stats(tables, CASES["GaussianNB"]))
    with monkeypatch.context() as patch:
        patch.setattr(FileLearner, "learn", None)  # all states are there
        again = files.fit("s3://data/rows", **options)
    assert_same_bits(again.to_model().stats, model.to_model().stats)
    for workers in (2, None):
        counts = files.predict(
            model, "s3://data/rows", "s3://data/scored/", keep="y", workers=workers
        )
        assert counts.n_rows == sum(map(len, tables))
    found = json.loads(s3.get("scored/_manifest.json"))
    assert [entry["output"] for entry in found["files"]] == [path.name for path in paths]
    files.predict(model, tmp_path / "data", f"{tmp_path}/out/", keep="y")
    for path in paths:
        assert s3.get(f"scored/{path.name}") == (tmp_path / "out" / path.name).read_bytes()
    assert s3.uploads() == []
