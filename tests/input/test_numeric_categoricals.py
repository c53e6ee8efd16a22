"""Numbers behind a dictionary, as pandas' categoricals: the same in every format, and in Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fastgnb import GaussianNB, MixedNB
from fastgnb.cli import main
from fastgnb.files.models.model_file import read as read_model


@pytest.fixture
def frame(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(4)
    whole = pd.Series(pd.Categorical(draw.integers(0, 3, 60)))
    whole[7] = None
    frame = pd.DataFrame(
        {
            "a": draw.normal(size=60),
            "whole": whole,
            "half": pd.Categorical(draw.integers(0, 3, 60) / 2),
            "flag": pd.Categorical(draw.integers(0, 2, 60) == 1),
            "y": np.arange(60) % 2,
        }
    )
    frame.to_parquet("d.parquet")
    frame.to_feather("d.feather")
    table = pa.Table.from_pandas(frame)
    with pa.OSFile("d.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return frame


def fitted(path, *words):
    fit = ["fit", path, "--target", "y", "--missing", "skip", "--model", "m", "--quiet"]
    assert main([*fit, *words]) == 0
    return read_model("m").model


@pytest.mark.parametrize("path", ["d.parquet", "d.feather", "d.arrow"])
def test_of_numbers_they_are_numbers(frame, path):
    model = fitted(path)
    assert model.feature_names == ("a", "whole", "half", "flag")
    numbers = frame.drop(columns="y").astype(float)
    truth = GaussianNB(missing="skip").fit(numbers, frame["y"])
    np.testing.assert_allclose(model.moments.theta, truth.theta_, rtol=1e-14)
    weighted = fitted(path, "--features", "a", "--weight", "half")
    assert weighted.stats.count.sum() == frame["half"].astype(float).sum()


@pytest.mark.parametrize("path", ["d.parquet", "d.feather", "d.arrow"])
def test_auto_takes_them_for_categories(frame, path):
    model = fitted(path, "--categorical", "auto", "--exclude", "half")
    rows = frame[["a", "whole", "flag"]]
    truth = MixedNB(categorical_features="auto", missing="skip").fit(rows, frame["y"])
    assert model.stats.is_categorical.tolist() == truth.is_categorical_.tolist()
    assert model.stats.is_categorical.tolist() == [False, True, True]
    for ours, theirs in zip(model.stats.counts, truth.stats_.counts, strict=True):
        np.testing.assert_array_equal(ours, theirs)
