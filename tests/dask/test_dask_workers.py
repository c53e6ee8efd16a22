"""Tasks share the cores of their worker, and hold the partitions that they work on."""

from __future__ import annotations

import sys
import threading
import weakref

import numpy as np
import pytest
from engines import engine_module

from fastgnb import GaussianNB
from fastgnb._system.thread_limits import thread_limit
from fastgnb.dask import Distributed, fit_stats
from fastgnb.dask.learning import _statistics
from fastgnb.dask.workers import cores_shared, tasks_at_a_time

dask = engine_module("dask")
da = engine_module("dask.array")

pytestmark = pytest.mark.engine


@pytest.fixture
def cores(monkeypatch):
    monkeypatch.setattr("dask.system.CPU_COUNT", 12)
    return 12


def shared():
    """The limit of kernels within a task."""
    with cores_shared():
        return thread_limit()


def computed(task=shared, **options):
    return dask.delayed(task, pure=False)().compute(**options)


def test_a_task_in_the_thread_of_the_caller_has_all_cores(cores):
    assert computed(scheduler="synchronous") == 12
    assert thread_limit() is None


def test_tasks_of_a_pool_of_threads_share_them(cores):
    assert computed(scheduler="threads") == 1
    with dask.config.set(scheduler="threads", num_workers=3):
        assert computed() == 4
    with dask.config.set(scheduler="threads", num_workers=99):
        assert computed() == 1


def test_a_task_of_another_process_has_its_share():
    with dask.config.set(scheduler="processes", num_workers=1):
        assert dask.delayed(tasks_at_a_time, pure=False)().compute() >= 1


def test_tasks_of_a_worker_share_them(cores):
    distributed = engine_module("distributed")
    with (
        distributed.LocalCluster(
            1, threads_per_worker=4, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert client.submit(shared, pure=False).result() == 3
        assert shared() == 12  # not in a task


def test_the_limit_is_that_of_learning_and_scoring(cores, monkeypatch):
    limits = []
    with dask.config.set(scheduler="threads", num_workers=6):
        rows = da.from_array(np.zeros((8, 2)), chunks=(2, 2))
        labels = da.from_array(np.arange(8) % 2, chunks=2)
        monkeypatch.setattr(
            "fastgnb.dask.learning._statistics",
            lambda *batch: limits.append(thread_limit()) or _statistics(*batch),
        )
        model = Distributed(GaussianNB()).fit(rows, labels)
        monkeypatch.setattr(
            GaussianNB, "predict", lambda self, X: limits.append(thread_limit()) or X[:, 0]
        )
        model.predict(rows).compute()
    assert limits == [2] * 8


class Counter:
    """Partitions that are in memory, and the most that ever were."""

    def __init__(self):
        self.lock = threading.Lock()
        self.now = self.most = 0

    def add(self, n):
        with self.lock:
            self.now += n
            self.most = max(self.most, self.now)


COUNTER = Counter()


def made(number):
    """A chunk that is counted for as long as it, or a view of it, lives."""
    rows = np.random.default_rng(number).normal(size=(500, 4))
    COUNTER.add(1)
    weakref.finalize(rows, COUNTER.add, -1)
    return rows


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_partitions_leave_memory_when_they_are_learned_and_scored(scheduler):
    read = dask.delayed(made, pure=True)
    rows = da.concatenate(
        [da.from_delayed(read(number), (500, 4), np.float64) for number in range(64)]
    )
    labels = (rows[:, 0] > 0).astype(int)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        COUNTER.most = COUNTER.now = 0
        fit_stats(rows, labels)
        assert 1 <= COUNTER.most <= 8
        model = Distributed(GaussianNB()).fit(rows, labels)
        COUNTER.most = 0
        total = (model.predict_proba(rows)[:, 1] > 0.5).sum().compute()
        assert 1 <= COUNTER.most <= 8
    assert 0 < total < 64 * 500


def test_the_room_loads_nothing_before_it_is_used(python):
    code = (
        "import sys, fastgnb.dask\n"
        "print([m for m in ('numpy', 'numba', 'sklearn', 'dask', 'pandas') if m in sys.modules])\n"
        "from fastgnb.dask import Distributed, fit_stats\n"
        "print('dask' in sys.modules)"
    )
    assert python(code).split("\n")[:2] == ["[]", "False"]


def test_a_missing_dask_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "dask"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr("fastgnb._system.optional.da", raising=False)
    with pytest.raises(ImportError, match=r"fastgnb\.dask needs dask.*install 'fastgnb\[dask\]'"):
        fit_stats(np.zeros((2, 2)), np.zeros(2))
