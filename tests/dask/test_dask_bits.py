"""Every member over partitions, some of them empty: the bits of batches merged in memory."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from dask_cases import expected, frame_of, labelled_rows, lazy_array, lazy_frame, parts_of, sizes_of
from engines import engine_module
from members import CASES, SHAPES
from numpy.testing import assert_array_equal
from same_bits import assert_same_bits

from fastgnb import ClassStats, files
from fastgnb.dask import Distributed, fit_stats

dask = engine_module("dask")
dd = engine_module("dask.dataframe")

pytestmark = [pytest.mark.engine, pytest.mark.promise("partitions")]

PARTITIONS = [1, 2, 7, 64]
METHODS = [
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence",
]  # fmt: skip


@pytest.fixture(scope="module")
def schedulers():
    """Settings of Dask for each scheduler that needs no cluster."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn) as pool:
        yield {
            "synchronous": {"scheduler": "synchronous"},
            "threads": {"scheduler": "threads", "num_workers": 3},
            "processes": {"scheduler": "processes", "pool": pool},
        }


def fitted(case, n_partitions):
    """A model over partitions, whose statistics are those of the oracle, and these partitions."""
    X, y, weight = labelled_rows()
    sizes = sizes_of(len(X), n_partitions)
    rows, labels, weights = (lazy_array(v, sizes) for v in (X, y, weight))
    model = Distributed(case.make()).fit(rows, labels, weights)
    assert_same_bits(model.estimator_.stats_, expected(case, X, y, weight, sizes))
    return model, rows, X


def check_scores(model, rows, X):
    for method in METHODS:
        found, wanted = getattr(model, method)(rows).compute(), getattr(model.estimator_, method)(X)
        assert found.dtype == wanted.dtype
        assert_array_equal(found, wanted, method)


@pytest.mark.parametrize("n_partitions", PARTITIONS)
@pytest.mark.parametrize("name", CASES)
def test_arrays_give_the_bits_of_batches_in_memory(name, n_partitions, schedulers):
    with dask.config.set(schedulers["synchronous"]):
        model, rows, X = fitted(CASES[name], n_partitions)
        if n_partitions == 7:
            check_scores(model, rows, X)


@pytest.mark.parametrize("n_partitions", PARTITIONS)
@pytest.mark.parametrize("name", SHAPES)
def test_threads_give_the_same_bits(name, n_partitions, schedulers):
    with dask.config.set(schedulers["threads"]):
        model, rows, X = fitted(SHAPES[name], n_partitions)
        if n_partitions == 64:
            check_scores(model, rows, X)


@pytest.mark.parametrize("n_partitions", PARTITIONS)
@pytest.mark.parametrize("name", [name for name in SHAPES if "," not in name])
def test_processes_give_the_same_bits(name, n_partitions, schedulers):
    with dask.config.set(schedulers["processes"]):
        model, rows, X = fitted(SHAPES[name], n_partitions)
        if n_partitions == 7:
            check_scores(model, rows, X)


@pytest.mark.parametrize("n_partitions", PARTITIONS)
@pytest.mark.parametrize("name", [name for name in SHAPES if "," not in name])
def test_dataframes_give_the_same_bits_and_keep_the_index(name, n_partitions):
    X, y, weight = labelled_rows()
    sizes, case = sizes_of(len(X), n_partitions), SHAPES[name]
    whole = frame_of(X, y, weight)
    frame = lazy_frame(whole, sizes)
    model = Distributed(case.make()).fit(frame, "label", "weight")
    wanted = expected(case, whole[list("abcdef")], y, weight, sizes)
    assert_same_bits(model.estimator_.stats_, wanted)
    features = list(model.feature_names_in_)
    assert features == list("abcdef")
    for method in METHODS if n_partitions == 7 else ["predict"]:
        found = getattr(model, method)(frame[features]).compute()
        assert found.index.equals(whole.index)
        assert_array_equal(found, getattr(model.estimator_, method)(whole[features]), method)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # in Dask's reader, by pandas
@pytest.mark.parametrize("columns", [list("ab"), list("abcdef")])
def test_files_give_the_same_bits(columns, tmp_path):
    """Also where Dask would read several of them at once, since few of their columns are asked for.

    Labels of another source stay beside their rows.
    """
    X, y, _ = labelled_rows()
    sizes = (200, 300, 50, 350)
    whole = frame_of(X, y)
    paths = [tmp_path / f"{number}.parquet" for number in range(len(sizes))]
    for path, part in zip(paths, parts_of(whole, sizes), strict=True):
        part.to_parquet(path, index=False)
    wanted = files.fit_stats(paths, target="label", features=columns)
    frame = dd.read_parquet(tmp_path)
    assert_same_bits(fit_stats(frame[[*columns, "label"]], target="label"), wanted)
    labels = lazy_frame(whole, sizes)["label"]
    assert_same_bits(fit_stats(frame[columns], labels), wanted)


@pytest.mark.parametrize("split_every", [2, 4, 8, 64])
def test_groups_of_tasks_change_no_bit(split_every):
    X, y, weight = labelled_rows()
    sizes = sizes_of(len(X), 64)
    rows = [lazy_array(v, sizes) for v in (X, y, weight)]
    found = fit_stats(*rows, split_every=split_every)
    assert_same_bits(found, expected(CASES["GaussianNB"], X, y, weight, sizes))


def test_other_partitions_give_other_bits():
    """So that the tests above could fail: the order of merging is seen in the last bits."""
    X, y, weight = labelled_rows()
    found = [
        fit_stats(*(lazy_array(v, sizes_of(len(X), n)) for v in (X, y, weight))) for n in (2, 7)
    ]
    assert not np.array_equal(found[0].variance, found[1].variance)
    np.testing.assert_allclose(found[0].variance, found[1].variance, rtol=1e-13)


def test_long_partitions_are_learned_in_batches():
    """More rows than a batch of so many features has: their bits are those of the batches."""
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=(2500, 2000)).astype(np.float32), np.arange(2500) % 2
    weight = np.ones(2500)
    rows, labels, weights = (lazy_array(v, (2000, 500)) for v in (X, y, weight))
    wanted = expected(CASES["GaussianNB"], X, y, weight, (2000, 500))
    assert_same_bits(fit_stats(rows, labels, weights), wanted)
    at_once = [ClassStats.from_rows(X[part], y[part]) for part in (slice(2000), slice(2000, None))]
    assert not np.array_equal(wanted.variance, (at_once[0] + at_once[1]).variance)


def test_keys_of_tasks_are_those_of_the_rows():
    """Equal keys are equal results: a cluster finds again what it has computed."""
    X, y, _weight = labelled_rows(100)
    sizes = sizes_of(100, 7)
    model = Distributed(CASES["MixedNB"].make()).fit(lazy_array(X, sizes), lazy_array(y, sizes))
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        for method in METHODS:
            one, two = (getattr(model, method)(lazy_array(X, sizes)) for _ in range(2))
            assert one.__dask_keys__() == two.__dask_keys__()
        other = Distributed(CASES["MixedNB"].make(alpha=2.0))
        other.fit(lazy_array(X, sizes), lazy_array(y, sizes))
        assert other.predict(lazy_array(X, sizes)).name != model.predict(lazy_array(X, sizes)).name
