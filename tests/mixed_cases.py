"""Rows with categories, and comparisons, for tests of MixedNB."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from numpy.testing import assert_allclose

PREDICTORS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "predict_log_evidence",
)
COLOURS = np.array(["blue", "green", "red", "white", "yellow"], object)


def mixed_data(n=400, seed=5):
    """Rows of 2 continuous features around 3 categorical ones, at 1, 2 and 4, and labels 0..2."""
    draw = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = np.empty((n, 5))
    X[:, [0, 3]] = draw.normal(size=(n, 2)) + draw.normal(size=(3, 2))[y]
    for j, m in ((1, 2), (2, 5), (4, 3)):
        X[:, j] = (draw.random(n) ** (1 + y) * m).astype(int)
        X[:m, j] = np.arange(m)
    return X, y


CATEGORICAL = [1, 2, 4]


def assert_same_answers(a, b, X, Z=None, rtol=1e-12):
    for name in PREDICTORS:
        found, wanted = getattr(a, name)(X), getattr(b, name)(X if Z is None else Z)
        if name == "predict":
            assert found.tolist() == wanted.tolist()
        else:
            assert_allclose(found, wanted, rtol=rtol, atol=1e-14, err_msg=name)


def assert_same_stats(a, b, rtol=1e-12):
    """Equal counts to the bit, and moments up to rounding."""
    assert a.classes.tolist() == b.classes.tolist()
    assert [c.tolist() for c in a.categories] == [c.tolist() for c in b.categories]
    for found, wanted in zip(a.counts, b.counts, strict=True):
        assert np.array_equal(found, wanted)
    assert_allclose(a.count, b.count, rtol=rtol)
    assert_allclose(a.gaussian.mean, b.gaussian.mean, rtol=rtol, atol=1e-13)
    assert_allclose(a.gaussian.variance, b.gaussian.variance, rtol=rtol, atol=1e-13)


@st.composite
def tables(draw):
    """Small tables: a continuous column of halves, two categorical ones, labels, whole weights."""
    n = draw(st.integers(1, 24))
    row = st.tuples(
        st.integers(-8, 8), st.integers(-2, 3), st.sampled_from(COLOURS), st.integers(0, 2),
        st.integers(0, 3),
    )  # fmt: skip
    rows = draw(st.lists(row, min_size=n, max_size=n))
    X = np.array([[a / 2, b, c] for a, b, c, _, _ in rows], object)
    return X, np.array([r[3] for r in rows]), np.array([float(r[4]) for r in rows])


def inputs(X):
    """The same rows, with feature 2 as text, feature 1 as booleans and feature 4 as integers."""
    parts = [X[:, 0], X[:, 1] == 1, COLOURS[X[:, 2].astype(int)], X[:, 3], X[:, 4].astype(int)]
    columns = dict(zip("abcde", parts, strict=True))
    pandas = pd.DataFrame(columns)
    polars = pl.DataFrame({k: list(v) if k == "c" else v for k, v in columns.items()})
    yield np.array([list(row) for row in zip(*parts, strict=True)], object)
    yield [list(row) for row in zip(*parts, strict=True)]
    yield pandas
    yield pandas.astype({"c": "category", "b": "boolean", "e": "Int8"})
    yield pandas.astype({"c": "string", "e": "category", "a": "Float64"})
    yield pandas.astype({"c": "string[pyarrow]", "b": object, "d": object})
    yield polars
    yield polars.with_columns(pl.col("c").cast(pl.Categorical), pl.col("e").cast(pl.Int8))
    yield polars.with_columns(pl.col("c").cast(pl.Enum(COLOURS.tolist()[::-1])))
