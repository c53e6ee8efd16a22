"""Fixtures that several test files of cli/ share."""

from __future__ import annotations

import faults
import numpy as np
import pyarrow as pa
import pytest
from cli_cases import FIT, problem
from command_line import run, write


@pytest.fixture
def fitted(tmp_path):
    """(data as a dict, path of it, path of a model of it)"""
    data = problem()
    path = write(data, tmp_path / "data.parquet")
    run("fit", path, *FIT, "--model", tmp_path / "model")
    return data, path, str(tmp_path / "model")


@pytest.fixture
def model(tmp_path):
    """A model of `faults.table()` over x0 and x1, in a folder of its own."""
    (tmp_path / "models").mkdir()
    data = write(faults.table(), tmp_path / "models" / "data.parquet")
    path = tmp_path / "models" / "model"
    faults.run("fit", data, "--target", "y", "--model", path, "--quiet")
    return path


@pytest.fixture
def out(tmp_path):
    """A folder with an earlier output of every command."""
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ["model", "o.parquet", "o.csv", "o.arrow", "o.npy", "e.json"]:
        (folder / name).write_text(f"old {name}")
    return folder


@pytest.fixture
def wide(tmp_path):
    """Rows of 200 classes and 100 features in two files, and models of them: 100s of kB each."""
    rng = np.random.default_rng(0)
    for i in range(2):
        X = rng.normal(size=(2000, 100))
        data = pa.table({f"x{j}": X[:, j] for j in range(100)} | {"y": np.arange(2000) % 200})
        write(data, tmp_path / f"{i}.parquet")
        faults.run("fit", tmp_path / f"{i}.parquet", "--target", "y", "--model", tmp_path / f"m{i}")
    return tmp_path
