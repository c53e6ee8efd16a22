"""Fixtures of the command: rows, a model of them, and earlier outputs."""

from __future__ import annotations

import pytest
from fault_files import run, table
from table_files import write
from three_classes import FIT, problem


@pytest.fixture
def model(tmp_path):
    """A model of `table()` over x0 and x1, in a folder of its own."""
    (tmp_path / "models").mkdir()
    data = write(table(), tmp_path / "models" / "data.parquet")
    path = tmp_path / "models" / "model"
    run("fit", data, "--target", "y", "--model", path, "--quiet")
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
def fitted(tmp_path):
    """(data as a dict, path of it, path of a model of it)"""
    data = problem()
    path = str(write(data, tmp_path / "data.parquet"))
    run("fit", path, *FIT, "--model", tmp_path / "model")
    return data, path, str(tmp_path / "model")
