"""Python threads, threading layers, forks, pools of workers and interrupts: right, and they end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import numba
import numpy as np
import pytest
from layers import PRELOAD_TBB, has_layer

from fastgnb import ClassStats, GaussianNB
from fastgnb._numba import threads
from fastgnb._numba.in_turn import KernelsInTurn

pytestmark = [pytest.mark.compiled, pytest.mark.fresh]

LAYERS = ("omp", "tbb", "workqueue")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

START = """
import os, threading, warnings
import numba
import numpy as np
from fastgnb import GaussianNB
from fastgnb._numba import threads
warnings.simplefilter("ignore", DeprecationWarning)
threads.PARALLEL_WORK = 0
threads.LARGE_WORK = threads.COMPILING_WORK = 300_000  # some calls on each side
r = np.random.default_rng(0)
X, y = r.normal(size=(30_000, 4)) + np.arange(30_000)[:, None] % 3, np.arange(30_000) % 3
want = GaussianNB().fit(X, y)
proba = want.predict_proba(X)

def right(rows=30_000):
    fitted = GaussianNB().fit(X, y)
    pieces = GaussianNB().partial_fit(X[:10_000], y[:10_000], [0, 1, 2])
    pieces.partial_fit(X[10_000:], y[10_000:])
    return bool(
        (fitted.theta_ == want.theta_).all()
        and np.allclose(pieces.var_, want.var_, rtol=1e-13, atol=0)
        and (want.predict_proba(X[:rows]) == proba[:rows]).all()
    )
"""


@pytest.fixture(params=LAYERS)
def with_layer(python, request):
    """Run code after START in a process of a threading layer and two threads."""
    if not has_layer(python, request.param):
        pytest.skip(f"this machine has no {request.param} threading layer")
    start = (PRELOAD_TBB if request.param == "tbb" else "") + START

    def run(code):
        env = {"NUMBA_THREADING_LAYER": request.param, "NUMBA_NUM_THREADS": "2"}
        return python(start + code, **env).strip()

    return run


@pytest.mark.promise("threads")
def test_threads_may_call_at_once_beside_a_foreign_parallel_loop(with_layer):
    code = """
@numba.njit(parallel=True)
def foreign(a):
    for i in numba.prange(len(a)):
        a[i] = a[i] + 1.0

a, bad, stop = np.zeros(10_000), [], threading.Event()
def stranger():
    rounds = 0
    while rounds < 200 or not stop.is_set():
        foreign(a)
        rounds += 1
    if not (a == rounds).all():
        bad.append(("foreign", rounds, a[0]))
def work(me):
    for i in range(200):
        if not right(5_000 + 100 * me + i):
            bad.append((me, i))
other = threading.Thread(target=stranger)
workers = [threading.Thread(target=work, args=(me,)) for me in range(8)]
[t.start() for t in [other, *workers]]; [t.join() for t in workers]
stop.set(); other.join()
print(bad, numba.threading_layer() == os.environ["NUMBA_THREADING_LAYER"])
"""
    assert with_layer(code) == "[] True"


FORKS = {
    "child and grandchild": """
def child(depth):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if right() and (depth == 0 or child(depth - 1) == 0) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(child(1), right())
""",
    "from a thread while another is at work": """
if numba.threading_layer() == "tbb":  # Numba warns of this on standard error
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
stop, out = threading.Event(), []
def busy():
    while not stop.is_set():
        want.predict_proba(X)
def fork():
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if right() else 1)
        out.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
other, forker = threading.Thread(target=busy), threading.Thread(target=fork)
other.start(); forker.start(); forker.join(); stop.set(); other.join()
print(sum(out) if len(out) == 5 else out, right())
""",
    "multiprocessing": """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(0 if all(pool.map(right, [100, 20_000, 30_000])) else 1, right())
""",
}


@pytest.mark.promise("threads")
@forks
@pytest.mark.parametrize("how", FORKS)
def test_a_forked_process_fits_and_predicts(with_layer, how):
    assert with_layer(FORKS[how]) == "0 True"


@pytest.mark.promise("threads")
@forks
def test_a_forked_process_starts_no_threads(with_layer):
    """As many processes as cores, each with as many threads, would be too many."""
    code = """
pid = os.fork()
if pid == 0:
    right()
    started = [t.name for t in threading.enumerate() if t.name.startswith("fastgnb")]
    os._exit(len(started))
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert with_layer(code) == "0"


@pytest.fixture
def many_rows(make_data):
    X, y = make_data(40_000, 8, 5)
    model = GaussianNB().fit(X, y)
    return X, y, model, model.predict_proba(X)


def work(X, y, model):
    """A fit and a prediction, and how many threads they may use and have started."""
    fitted, proba = GaussianNB().fit(X, y), model.predict_proba(X)
    own = [t for t in threading.enumerate() if t.name.startswith("fastgnb")]
    return fitted.theta_, proba, threads.n_threads(), len(own)


def check(results, model, proba):
    for theta, got, _, _ in results:
        np.testing.assert_array_equal(theta, model.theta_)
        np.testing.assert_array_equal(got, proba)


@pytest.mark.promise("threads")
@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_of_joblib(many_rows, jobs):
    X, y, model, proba = many_rows
    with joblib.parallel_config("loky", inner_max_num_threads=jobs):
        results = joblib.Parallel(n_jobs=2)(joblib.delayed(work)(X, y, model) for _ in range(4))
    check(results, model, proba)
    for _, _, used, own in results:
        assert used == jobs  # however many cores there are
        assert own <= used - 1


def test_threads_of_joblib(many_rows):
    X, y, model, proba = many_rows
    with joblib.parallel_config("threading"):
        results = joblib.Parallel(n_jobs=4)(joblib.delayed(work)(X, y, model) for _ in range(12))
    check(results, model, proba)
    assert max(own for *_, own in results) < max(numba.config.NUMBA_NUM_THREADS, 1)


def test_a_pool_of_threads(many_rows):
    X, y, model, proba = many_rows
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: work(X, y, model), range(24)))
    check(results, model, proba)
    assert max(own for *_, own in results) < max(numba.config.NUMBA_NUM_THREADS, 1)


@pytest.mark.promise("threads")
@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_pool_of_processes(many_rows, start):
    X, y, model, proba = many_rows
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        results = [one.result() for one in [pool.submit(work, X, y, model) for _ in range(3)]]
    check(results, model, proba)
    if start == "fork":
        assert [own for *_, own in results] == [0, 0, 0]


@pytest.mark.promise("threads")
def test_a_thread_that_may_use_one_thread_uses_one(many_rows, monkeypatch):
    X, y, model, proba = many_rows
    monkeypatch.setattr(threads, "PARALLEL_WORK", 0)
    monkeypatch.setattr(threads.Kernel, "_run_parallel", lambda *args: pytest.fail("threads"))
    results = []

    def alone():
        numba.set_num_threads(1)
        results.append(work(X, y, model))

    thread = threading.Thread(target=alone)
    thread.start()
    thread.join()
    check(results, model, proba)
    assert results[0][2] == 1


@pytest.fixture
def two_threads():
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one thread only")
    before = numba.get_num_threads()
    numba.set_num_threads(2)
    yield
    numba.set_num_threads(before)


@pytest.fixture
def recorded(monkeypatch):
    """A kernel that notes the ranges of blocks it is called for, without the compiler."""
    calls: list[tuple[str, int, int]] = []
    kernel = threads.Kernel(lambda first, last: None)
    kernel.loop = lambda first, last, *_: calls.append(("alone", first, last))
    kernel._run_parallel = lambda n, first, last, args, work: calls.append(("shared", first, last))
    return kernel, calls


def test_a_kernel_that_runs_leaves_others_to_one_thread(two_threads, recorded):
    kernel, calls = recorded
    large = threads.PARALLEL_WORK
    kernel(8, work=0)
    kernel(8, work=large)
    kernel(1, work=large)
    threads._process.running["kernel"] = object()
    kernel(8, work=large)
    del threads._process.running["kernel"]
    kernel(8, work=large)
    assert [who for who, *_ in calls] == ["alone", "shared", "alone", "alone", "shared"]
    assert not threads._process.running


@pytest.mark.promise("waiting")
def test_no_call_into_compiled_code_is_long(recorded):
    """So that Python acts on a signal between two of them."""
    kernel, calls = recorded
    work = 10 * threads.MAX_CALL_WORK
    kernel(128, work=work)
    assert [first for _, first, _ in calls] == [0, *(last for *_, last in calls[:-1])]
    assert calls[-1][2] == 128
    assert all((last - first) * work <= 128 * threads.MAX_CALL_WORK for _, first, last in calls)
    calls.clear()
    kernel(3, work=10 * work)
    assert [(first, last) for _, first, last in calls] == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.promise("waiting")
def test_a_call_does_not_wait_for_threads_that_get_no_core(two_threads, monkeypatch, many_rows):
    """All our threads sleep through this call, as they do where other processes have the cores."""
    X, _, model, proba = many_rows
    monkeypatch.setattr(threads, "PARALLEL_WORK", 0)
    model.predict_proba(X)
    assert threads._process.pool is not None
    wake = threading.Event()
    sleepers = [threads._process.pool.submit(wake.wait, 60) for _ in range(64)]
    np.testing.assert_array_equal(model.predict_proba(X), proba)
    assert not any(one.done() for one in sleepers)
    wake.set()
    assert all(one.result() for one in sleepers)
    np.testing.assert_array_equal(model.predict_proba(X), proba)


@pytest.mark.promise("bits")
@pytest.mark.parametrize("safe", [True, False])
def test_loops_of_either_kind_give_the_same_bits(two_threads, monkeypatch, many_rows, safe):
    X, y, model, proba = many_rows
    for name in ("PARALLEL_WORK", "LARGE_WORK", "COMPILING_WORK"):
        monkeypatch.setattr(threads, name, 0)
    monkeypatch.setattr(threads, "layer_is_safe", lambda: safe)
    if safe and numba.threading_layer() == "workqueue":
        pytest.skip("Numba's threads are not safe here")
    for n in (1, 2):
        numba.set_num_threads(n)
        check([work(X, y, model)], model, proba)


def test_threads_take_blocks_until_none_is_left(two_threads):
    """Each block once, as many at a time as a call says, and none beyond the last."""
    counts, counter = np.zeros(10, np.int64), np.array([2], np.int64)
    kernel = threads.Kernel(_count)
    kernel.loop(2, 9, 4, counter, counts)
    assert counts.tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 1, 0]
    kernel.loop(2, 9, 4, counter, counts)
    assert counts.sum() == 7
    kernel.loop(0, 3, 0, counter, counts)
    assert counts.tolist() == [1, 1, 2, 1, 1, 1, 1, 1, 1, 0]


def _count(first, last, counts):
    for i in range(first, last):
        counts[i] += 1


@pytest.mark.parametrize("on", ["_on_own_threads", "_on_numba_threads"])
@pytest.mark.parametrize("who", ["this thread", "another"])
def test_a_kernel_without_memory_raises_when_all_threads_are_done(
    two_threads, monkeypatch, who, on
):
    if on == "_on_numba_threads" and not threads.layer_is_safe():
        pytest.skip("Numba's threads are not safe here")
    monkeypatch.setattr(threads, "COMPILING_WORK", 0 if on == "_on_numba_threads" else 1 << 62)
    kernel = threads.Kernel(lambda first, last: None)
    started, ended = [], []
    mine = threading.get_ident()

    def loop(first, last, blocks_per_fetch, counter):
        if (threading.get_ident() == mine) == (who == "this thread"):
            raise MemoryError("Allocation failed.")
        started.append(who)
        time.sleep(0.05)
        ended.append(who)

    kernel.loop = loop
    calls = [(8, {"work": threads.PARALLEL_WORK})] * 100  # the other thread may be too late
    with pytest.raises(MemoryError, match="Allocation failed"):
        [kernel(n, **work) for n, work in calls]
    assert len(started) == len(ended)
    assert not threads._process.running


@pytest.fixture
def two_others(monkeypatch):
    """A pool of two threads, whatever the number of cores."""
    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(threads._process, "pool", pool)
        yield


@pytest.mark.parametrize("why", ["a thread fails", "an interrupt"])
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX sends them")
def test_a_call_that_ends_early_waits_for_all_threads(two_others, monkeypatch, why):
    """They would write to its arrays later. The second one works on when the first has failed."""
    mine, begun, ended = threading.get_ident(), threading.Semaphore(0), []
    exception, waits = Future.exception, threading.Event()

    def waiting(future):
        waits.set()
        return exception(future)

    def loop(turns):
        if threading.get_ident() == mine:
            begun.acquire(timeout=300), begun.acquire(timeout=300)
            return
        turn = next(turns)
        begun.release()
        if turn == 0 and why == "a thread fails":
            raise MemoryError("Allocation failed.")
        waits.wait(60)
        if turn == 0:
            signal.pthread_kill(mine, signal.SIGINT)
            return
        time.sleep(0.05)
        ended.append(turn)

    monkeypatch.setattr(Future, "exception", waiting)
    error = MemoryError if why == "a thread fails" else KeyboardInterrupt
    with pytest.raises(error):
        threads._on_own_threads(3, loop, (iter(range(2)),))
    assert ended == [1]


def test_a_call_waits_for_the_threads_that_could_start(monkeypatch):
    """The second one cannot, as where a container may have few."""
    monkeypatch.setattr(threads._process, "pool", None)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    mine, begun, ended, started = threading.get_ident(), threading.Semaphore(0), [], []
    start = threading.Thread.start

    def start_one(thread):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    def loop():
        if threading.get_ident() == mine:
            begun.acquire(timeout=300)
            return
        begun.release()
        time.sleep(0.05)
        ended.append(1)

    monkeypatch.setattr(threading.Thread, "start", start_one)
    threads._on_own_threads(3, loop, ())
    assert ended == [1]
    assert threads._process.pool is None


def test_threads_that_cannot_start_are_done_without(two_threads, monkeypatch, many_rows):
    """Python starts none while it shuts down."""
    X, _, model, proba = many_rows
    ended = ThreadPoolExecutor(1)
    ended.shutdown()
    monkeypatch.setattr(threads, "PARALLEL_WORK", 0)
    monkeypatch.setattr(threads._process, "pool", ended)
    np.testing.assert_array_equal(model.predict_proba(X), proba)


def test_predicting_while_python_ends(python):
    code = """
import atexit
import numpy as np
from fastgnb import GaussianNB
from fastgnb._numba import threads
threads.PARALLEL_WORK = 0
X, y = np.random.default_rng(0).normal(size=(20_000, 4)), np.arange(20_000) % 3
model = GaussianNB().fit(X, y)
want = model.predict(X)
atexit.register(lambda: print((model.predict(X) == want).all()))
"""
    assert python(code).strip() == "True"


@pytest.mark.promise("interrupts")
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX sends them")
@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict_proba"])
def test_an_interrupt_leaves_the_model_as_it_was(many_rows, monkeypatch, call):
    X, y, model, proba = many_rows
    before = model.__dict__.copy()
    monkeypatch.setattr(threads, "MAX_CALL_WORK", 1 << 16)
    monkeypatch.setattr(threads, "PARALLEL_WORK", 1)
    run, calls = threads.Kernel._run, []

    def interrupted(kernel, first, last, args, work):
        run(kernel, first, last, args, work)
        if kernel.name in ("_sum_in_order", "_score"):
            calls.append(first)
            if len(calls) == 2:
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threads.Kernel, "_run", interrupted)
    arguments = (X,) if call == "predict_proba" else (X + 1, y)
    with pytest.raises(KeyboardInterrupt):
        getattr(model, call)(*arguments)
    assert len(calls) == 2
    monkeypatch.undo()
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is before[name] for name in before)
    assert not threads._process.running
    np.testing.assert_array_equal(model.predict_proba(X), proba)


@pytest.mark.promise("interrupts")
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX sends them")
@pytest.mark.parametrize("work", ["fit(X, y)", "predict(X)"])
def test_ctrl_c_ends_a_long_call(python, work):
    """The rows would take seconds at least; they are one row in memory."""
    code = f"""
import os, signal, threading, time
import numpy as np
from fastgnb import GaussianNB
few = GaussianNB().fit(np.arange(8.0).reshape(4, 2), [0, 0, 1, 1])
few.predict(np.zeros((4, 2), "i4"))
X = np.broadcast_to(np.array([1, 2], "i4"), (1_000_000_000 // {{}}, 2))
y = np.broadcast_to(np.array([1], "i4"), len(X))
before = few.theta_.copy()
def later():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Thread(target=later, daemon=True).start()
    few.{work}
    print("finished")
except KeyboardInterrupt:
    print("interrupted", (few.theta_ == before).all(), few.predict([[0, 1]]))
""".replace("{}", "8" if "fit" in work else "2")
    assert python(code).strip() == "interrupted True [0]"


def test_statistics_of_threads_add_to_one_pass(many_rows):
    X, y, model, _ = many_rows
    parts = np.array_split(np.arange(len(X)), 16)
    with ThreadPoolExecutor(4) as pool:
        total = sum(pool.map(lambda rows: ClassStats.from_rows(X[rows], y[rows]), parts))
    np.testing.assert_allclose(total.mean, model.stats_.mean, rtol=1e-13)
    np.testing.assert_allclose(total.variance, model.stats_.variance, rtol=1e-13)


@pytest.mark.parametrize("work", [1, 1 << 24])
def test_kernels_in_turn_take_all_blocks_in_order(work):
    """The second kernel of a block comes after the first, on one thread and on several."""

    class Recorded:
        def __init__(self, name):
            self.name = name

        def loop(self, first, last, _fetch, _counter, done):
            done.append((self.name, first, last))

    for step in (1, 3, 50):
        done = []
        KernelsInTurn([Recorded("a"), Recorded("b")], step)(20, (done,), (done,), work=work)
        blocks = [(first, min(first + step, 20)) for first in range(0, 20, step)]
        assert sorted(done) == [(name, *block) for name in "ab" for block in blocks]
        assert all(done.index(("a", *block)) < done.index(("b", *block)) for block in blocks)
