"""Estimators of rows in memory refuse Dask's collections, rather than loading them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from engines import engine_module
from members import SHAPES

import fastgnb
from fastgnb import ClassStats, GaussianNB, MixedStats
from fastgnb.select import StatsGridSearchCV, cross_validate

da = engine_module("dask.array")
dd = engine_module("dask.dataframe")

pytestmark = pytest.mark.engine

X = np.random.default_rng(0).normal(size=(60, 3))
X[:, 2] = np.floor(X[:, 2])
Y = np.arange(60) % 2
FRAME = pd.DataFrame(X, columns=list("abc"))


def unread(part):
    raise AssertionError("a partition was read")


def lazy(values):
    array = da.from_array(values, chunks=(20, *values.shape[1:]))
    return array.map_blocks(unread, dtype=array.dtype, meta=values[:0])


def lazy_frame(values):
    return dd.from_pandas(values, npartitions=3).map_partitions(unread, meta=values.iloc[:0])


ROWS = {"array": lazy(X), "dataframe": lazy_frame(FRAME)}
VECTORS = {"array": lazy(Y), "series": lazy_frame(pd.Series(Y))}
SCORING = [
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence", "decision_function",
]  # fmt: skip


def refused(call, *args, **options):
    """Whether a call refuses a collection in words that name fastgnb.dask."""
    with pytest.raises(TypeError, match=r"in memory, got a dask \w+\. fastgnb\.dask\.Distributed"):
        call(*args, **options)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("name", SHAPES)
def test_rows(name, rows):
    model, named = (SHAPES[name].make().fit(given, Y) for given in (X, FRAME))
    refused(SHAPES[name].make().fit, rows, Y)
    refused(SHAPES[name].make().partial_fit, rows, Y, classes=[0, 1])
    for each in (model, named):
        refused(each.partial_fit, rows, Y)
        for method in SCORING:
            refused(getattr(each, method), rows)
        refused(each.score, rows, Y)
        refused(fastgnb.evaluate, each, rows, Y)
        refused(fastgnb.diagnose, each, rows, Y)


@pytest.mark.parametrize("values", VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize("name", ["GaussianNB", "MixedNB"])
def test_labels_and_weights(name, values):
    model = SHAPES[name].make().fit(X, Y)
    for call in (SHAPES[name].make().fit, model.partial_fit, model.score):
        refused(call, X, values)
        refused(call, X, Y, sample_weight=values)
    for function in (fastgnb.evaluate, fastgnb.diagnose):
        refused(function, model, X, values)
        refused(function, model, X, Y, values)
    refused(SHAPES[name].make().partial_fit, X, Y, classes=values)


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_statistics_and_searches(rows):
    refused(ClassStats.from_rows, rows, Y)
    refused(MixedStats.from_rows, rows, Y)
    refused(MixedStats.from_rows, rows, Y, categorical_features=[2])
    refused(ClassStats.from_rows(X, Y).update, rows, Y)
    refused(StatsGridSearchCV(GaussianNB(), {"tied": [True]}).fit, rows, Y)
    refused(cross_validate, GaussianNB(), rows, Y)


@pytest.mark.parametrize("values", VECTORS.values(), ids=VECTORS)
def test_labels_and_weights_of_statistics(values):
    for cls in (ClassStats, MixedStats):
        refused(cls.from_rows, X, values)
        refused(cls.from_rows, X, Y, values)
