"""Fixtures of files: a table of every type."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "a": rng.normal(size=50),
            "n": rng.integers(-5, 5, 50),
            "b": rng.random(50) < 0.5,
            "t": [f"t{i}" for i in range(50)],
            "y": rng.choice(["x", "y", "z"], 50),
            "w": rng.random(50),
        }
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "model.fgnb"
