"""On a cluster: the same bits as in memory, though a worker is killed; errors keep their cause."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from dask_cases import expected, labelled_rows, lazy_array, parts_of, sizes_of
from engines import engine_module
from members import SHAPES
from numpy.testing import assert_array_equal
from same_bits import assert_same_bits

from fastgnb import GaussianNB, evaluate
from fastgnb.dask import Distributed, PartitionError, fit_stats
from fastgnb.input.rows import NotFiniteError

dask = engine_module("dask")
da = engine_module("dask.array")
distributed = engine_module("distributed")

pytestmark = pytest.mark.engine

QUIET = {"silence_logs": 50, "dashboard_address": ":0"}
PATIENT = {f"distributed.comm.timeouts.{what}": "300s" for what in ("connect", "tcp")}


@pytest.fixture(scope="module")
def client():
    """Two workers of two threads, in this process."""
    with (
        dask.config.set({"distributed.worker.profile.enabled": False, **PATIENT}),
        distributed.LocalCluster(2, threads_per_worker=2, processes=False, **QUIET) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("n_partitions", [1, 2, 7, 64])
@pytest.mark.parametrize("name", SHAPES)
def test_a_cluster_gives_the_same_bits(name, n_partitions, client):
    X, y, weight = labelled_rows()
    sizes, case = sizes_of(len(X), n_partitions), SHAPES[name]
    rows, labels, weights = (lazy_array(v, sizes) for v in (X, y, weight))
    model = Distributed(case.make()).fit(rows, labels, weights)
    assert_same_bits(model.estimator_.stats_, expected(case, X, y, weight, sizes))
    assert_array_equal(model.predict_proba(rows), model.estimator_.predict_proba(X))


def test_evaluations_of_a_cluster(client):
    X, y, weight = labelled_rows()
    rows, labels, weights = (lazy_array(v, sizes_of(len(X), 7)) for v in (X, y, weight))
    model = Distributed(GaussianNB()).fit(rows, labels)
    found = model.evaluate(rows, labels, weights, exact_rows=0)
    wanted = evaluate(model.estimator_, X, y, weight, exact_rows=0)
    assert found.accuracy == wanted.accuracy
    assert found.log_loss == pytest.approx(wanted.log_loss, rel=1e-13)
    assert model.diagnose(rows, labels, weights).n_rows == len(X)


def test_an_error_names_the_partition_and_keeps_its_cause(client):
    X, y, _ = labelled_rows()
    X[500, 2] = np.nan
    sizes = (400, 0, 300, 200)
    with pytest.raises(PartitionError, match=r"^partition 2: Input X contains NaN: .*row 100, col"):
        fit_stats(lazy_array(X, sizes), lazy_array(y, sizes))
    with pytest.raises(PartitionError) as caught:
        fit_stats(lazy_array(X, sizes), lazy_array(y, sizes))
    assert isinstance(caught.value.__cause__, NotFiniteError)
    assert caught.value.__cause__.row == 100


def load(part, number, folder):
    """A partition, whose worker is killed when it is first read if its number is 3."""
    marker = Path(folder, f"read-{number}")
    if number == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.mark.skipif(os.name != "posix", reason="a signal of POSIX")
@pytest.mark.promise("partitions")
def test_a_killed_worker_changes_no_bit(tmp_path):
    X, y, weight = labelled_rows()
    sizes = sizes_of(len(X), 7)
    read = dask.delayed(load, pure=True)
    parts = [
        da.from_delayed(read(part, number, str(tmp_path)), part.shape, part.dtype)
        for number, part in enumerate(parts_of(X, sizes))
    ]
    rows = da.concatenate(parts)  # which leaves empty partitions out
    sizes = rows.chunks[0]
    labels, weights = lazy_array(y, sizes), lazy_array(weight, sizes)
    case = SHAPES["GaussianBayes"]
    with (
        dask.config.set(PATIENT),
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, **QUIET) as cluster,
        distributed.Client(cluster),
    ):
        model = Distributed(case.make()).fit(rows, labels, weights)
        answers = model.predict_proba(rows).compute()
    assert (tmp_path / "read-3").exists()
    assert_same_bits(model.estimator_.stats_, expected(case, X, y, weight, sizes))
    assert_array_equal(answers, model.estimator_.predict_proba(X))
