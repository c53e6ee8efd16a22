"""Threads that wait awake: they take blocks of calls, leave when none comes, and change no bit."""

from __future__ import annotations

import threading
import time
import types

import numpy as np
import pytest

import fastgnb
from fastgnb import GaussianNB
from fastgnb._numba import awake, threads
from fastgnb._numba.decorators import kernel, uncached_kernel
from fastgnb._numba.direct import kernel_address
from fastgnb._system.thread_limits import thread_limit

pytestmark = pytest.mark.compiled

WORK = awake._AWAKE_WORK


@pytest.fixture
def board(monkeypatch):
    """A board of its own, at which no thread waits yet."""
    made = awake._Board()
    monkeypatch.setattr(awake, "_board", made)
    monkeypatch.setattr(threads, "n_threads", lambda: thread_limit() or 2)
    yield made
    threads.dismissals[0] += 1
    wait_until(lambda: not made._waiting)


def wait_until(is_so):
    stop = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < stop
        time.sleep(0.001)


@pytest.fixture
def waiting(board):
    """The board, at which a thread waits until it is dismissed."""
    board._patience = 1 << 60
    board._wake(1)
    return board


@kernel
def _count(first, last, counts, bad):
    for i in range(first, last):
        if i == bad:
            raise MemoryError("no memory")
        counts[i] += 1


@uncached_kernel
def _count_shared(board, address, counts, bad):
    return awake.share_kernel(board, address, len(counts), (counts, bad))


def counted(n, bad=-1):
    counts = np.zeros(n, np.int64)
    address = kernel_address(_count, counts, bad)
    failed = awake.call_shared(_count_shared, n, WORK, address, counts, bad)
    return failed, counts


def test_each_block_is_done_once(waiting):
    for n in (2, 3, 64, 1000) * 20:
        failed, counts = counted(n)
        assert not failed
        assert counts.tolist() == [1] * n
    assert waiting._waiting


def test_a_kernel_that_fails_is_noted_whoever_ran_it(waiting):
    assert all(counted(64, bad)[0] for bad in (0, 1, 30, 62, 63))
    assert not counted(64)[0]


def test_calls_that_follow_each_other_wake_a_thread_for_the_next(board, monkeypatch):
    monkeypatch.setattr(awake, "_PATIENCE", 10.0)
    seen = []
    board._last = time.perf_counter() - 100.0
    for _ in range(3):
        awake.call_shared(seen.append, 8, WORK)
    assert [at != 0 for at in seen] == [False, True, True]
    threads.dismissals[0] += 1
    wait_until(lambda: not board._waiting)


def test_a_thread_leaves_when_no_call_comes_and_when_it_is_wanted_elsewhere(board):
    board._wake(1)
    wait_until(lambda: not board._waiting)
    board._patience = 1 << 60
    board._wake(1)
    time.sleep(0.01)
    assert board._waiting
    kernel = threads.Kernel(lambda first, last: None)
    kernel.loop = lambda *args: None
    kernel(8, work=threads.PARALLEL_WORK)
    wait_until(lambda: not board._waiting)


@pytest.mark.parametrize("why", ["one block", "little work", "limit", "fork", "another call"])
def test_calls_that_no_thread_shares(waiting, monkeypatch, why):
    if why == "fork":
        monkeypatch.setattr(threads._process, "is_forked", True)
    if why == "another call":
        monkeypatch.setitem(threads._process.running, "kernel", object())
    n, work = 1 if why == "one block" else 8, 0 if why == "little work" else WORK
    with fastgnb.threads(1 if why == "limit" else None):
        assert awake.call_shared(lambda at: at, n, work) == 0


def test_a_disturbed_measurement_of_pauses_does_not_count(monkeypatch):
    """It would have threads leave before the next call."""
    now, runs = [0.0], iter([1e-3, 2e-5, 1e-5, *[3e-5] * 9])

    def wait(board, dismissals, before, pauses):
        now[0] += pauses * next(runs)

    monkeypatch.setattr(awake, "_wait", wait)
    monkeypatch.setattr(awake, "time", types.SimpleNamespace(perf_counter=lambda: now[0]))
    assert awake._pauses_within(0.02) == pytest.approx(2000, abs=1)


@pytest.mark.promise("bits")
def test_two_threads_that_learn_at_once(waiting, make_data):
    X, y = make_data(12_000, 5, 3)
    wanted = GaussianNB().fit(X, y)
    for _ in range(20):
        wanted.partial_fit(X, y)
    models = [GaussianNB().fit(X, y) for _ in range(2)]

    def learn(model):
        for _ in range(20):
            model.partial_fit(X, y)

    workers = [threading.Thread(target=learn, args=(model,)) for model in models]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    for model in models:
        assert model.var_.tobytes() == wanted.var_.tobytes()
