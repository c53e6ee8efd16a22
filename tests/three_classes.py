"""Rows of three classes, for the tests of commands."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fastgnb

FORMATS = ["parquet", "csv", "arrow"]
LABELS = {
    "str": np.array(["ant", "bee, big", "çat"], dtype=object),
    "int": np.array([-1, 4, 7]),
    "bool": np.array([False, True]),
    "float": np.array([0.0, 1.0, 2.0]),
}


def problem(n=300, kind="str", seed=0):
    """Rows of three overlapping classes over three named columns, as a dict of arrays."""
    rng = np.random.default_rng(seed)
    classes = LABELS[kind]
    code = rng.integers(len(classes), size=n)
    return {
        "a b": rng.normal(code, 1.0),
        "c,d": rng.integers(0, 5, n) + code,
        "e": rng.random(n) < (code + 1) / 4,
        "name": [f"row {i}" for i in range(n)],
        "id": np.arange(n) + 2**60,
        "w": rng.random(n),
        "y": classes[code],
    }


FEATURES = ["a b", "c,d", "e"]
FIT = ["--target", "y", "--features", '"a b","c,d",e', "--quiet"]


def matrix(data):
    return np.column_stack([np.asarray(data[name], float) for name in FEATURES])


def frame(data):
    return pd.DataFrame(matrix(data), columns=FEATURES)


def expect_equal(saved, data, **parameters):
    whole = fastgnb.GaussianNB(**parameters).fit(matrix(data), data["y"])
    assert saved.classes.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(saved.moments.theta, whole.theta_, rtol=1e-12)
    np.testing.assert_allclose(saved.moments.var, whole.var_, rtol=1e-12)
    np.testing.assert_allclose(saved.moments.class_prior, whole.class_prior_, rtol=1e-12)
    assert saved.moments.epsilon == pytest.approx(whole.epsilon_, rel=1e-12)
