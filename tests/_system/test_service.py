"""Commands called from threads of a service: all that belongs to the process stays as it was."""

from __future__ import annotations

import io
import locale
import logging
import os
import signal
import subprocess
import sys
import threading
import warnings

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numba.np.ufunc import parallel

from fastgnb._numba import threads
from fastgnb._system import signals as _interrupt
from fastgnb._system import thread_limits as _limits
from fastgnb.cli import main, process
from fastgnb.files.jobs import learn_files

pytestmark = pytest.mark.any_version


@pytest.fixture
def rows(tmp_path):
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 2000)
    path = tmp_path / "rows.parquet"
    table = {"a": draw.normal(size=2000) + y, "b": draw.normal(size=2000), "y": y}
    pq.write_table(pa.table(table), path)
    return path


def state():
    """All that a command might change for others in the process."""
    return {
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        "environment": dict(os.environ),
        "arrow": (pa.cpu_count(), pa.io_thread_count()),
        "numba": (numba.config.NUMBA_NUM_THREADS, numba.get_num_threads()),
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.excepthook, threading.excepthook),
        "folder": os.getcwd(),
        "locale": locale.setlocale(locale.LC_ALL),
        "numpy": np.geterr(),
        "warnings": list(warnings.filters),
        "logging": (logging.root.level, list(logging.root.handlers), logging.root.manager.disable),
        "path": list(sys.path),
    }


def in_threads(n, work):
    """Run work(i) in n threads at once; the errors of those that failed."""
    failed = []

    def one(i):
        try:
            work(i)
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join(600)
    assert not any(thread.is_alive() for thread in workers)
    assert not failed, failed


def jobs(rows, folder, i, *words):
    fit = ["fit", rows, "--target", "y", "--model", folder / f"{i}.fgnb"]
    predict = ["predict", folder / f"{i}.fgnb", rows, "--output", folder / f"{i}.parquet"]
    for command in (fit, predict):
        assert main([*map(str, command), "--quiet", *words]) == 0


@pytest.mark.promise("service")
@pytest.mark.parametrize("n", [1, 6])
def test_commands_in_threads_leave_the_process_as_it_was(rows, tmp_path, n):
    jobs(rows, tmp_path, "first")
    before = state()
    in_threads(n, lambda i: jobs(rows, tmp_path, i, "--threads", str(1 + i % 3)))
    jobs(rows, tmp_path, "again", "--threads", "1")
    assert state() == before
    want = pq.read_table(tmp_path / "first.parquet")
    for i in range(n):
        assert pq.read_table(tmp_path / f"{i}.parquet").equals(want)


def test_a_first_command_with_threads_does_not_limit_the_process(python, rows, tmp_path):
    code = """
import os, sys
from fastgnb.cli import main
before = dict(os.environ)
words = ["fit", sys.argv[1], "--target", "y", "--model", sys.argv[2], "--threads", "1", "--quiet"]
assert main(words) == 0
import numba
from fastgnb._numba import threads
print(dict(os.environ) == before, numba.config.NUMBA_NUM_THREADS, threads.n_threads())
"""
    env = {"NUMBA_NUM_THREADS": None}
    found = python(code, str(rows), str(tmp_path / "m"), **env).split()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert found == ["True", str(cores), str(cores)]


def test_each_call_has_its_own_number_of_threads(monkeypatch, rows, tmp_path):
    numba.get_num_threads()  # from here on Numba knows a number, which is asked for each time
    monkeypatch.setattr(parallel, "_get_num_threads", lambda: 8)
    together, seen = threading.Barrier(2), {}
    learn = learn_files.learn_all

    def spy(*args, **kwargs):
        together.wait(300)
        seen.setdefault(threads.n_threads(), pa.cpu_count())
        together.wait(300)
        return learn(*args, **kwargs)

    monkeypatch.setattr(learn_files, "learn_all", spy)
    before = pa.cpu_count()

    def work(i):
        path, model = str(rows), str(tmp_path / str(i))
        words = ["--threads", str(3 + i), "--quiet"]
        assert main(["fit", path, "--target", "y", "--model", model, *words]) == 0

    in_threads(2, work)
    assert seen == {3: 7, 4: 7}
    assert (threads.n_threads(), pa.cpu_count()) == (8, before)


ORDERS = ["abAB", "abBA", "aAbB"]


@pytest.mark.promise("service")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("a", "b"), [(1, 2), (3, None), (None, 1), (None, None), (2, 2)])
def test_calls_that_overlap_in_any_order_give_arrow_its_threads_back(order, a, b):
    before = pa.cpu_count()
    numbers, contexts, running = {"a": a, "b": b}, {}, {}
    for letter in order:
        name = letter.lower()
        if letter == name:
            contexts[name] = _limits._arrow_pool.shared(numbers[name])
            contexts[name].__enter__()
            running[name] = numbers[name]
        else:
            contexts[name].__exit__(None, None, None)
            del running[name]
        asked = [n for n in running.values() if n is not None]
        most = max(sum(asked), before if None in running.values() else 0)
        assert pa.cpu_count() == (most if asked else before)
    assert pa.cpu_count() == before


def test_a_size_that_others_set_meanwhile_stays():
    before = pa.cpu_count()
    try:
        with _limits.threads(before + 1):
            assert pa.cpu_count() == before + 1
            pa.set_cpu_count(before + 5)
        assert pa.cpu_count() == before + 5
    finally:
        pa.set_cpu_count(before)
    with _limits.threads(before + 2):
        assert pa.cpu_count() == before + 2
    assert pa.cpu_count() == before


def test_a_thread_does_not_disturb_the_run_of_the_main_thread(rows, tmp_path):
    """The main thread is between two batches when another thread runs a whole command."""
    if not hasattr(signal, "raise_signal"):
        pytest.skip("no signals")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), _interrupt.interruptible():  # noqa: PT012
        batches = _interrupt.interruptible_iter(iter(range(3)))
        assert next(batches) == 0
        in_threads(1, lambda i: jobs(rows, tmp_path, i))
        signal.raise_signal(signal.SIGINT)  # noted, and acted on with the next batch
        in_threads(1, lambda i: jobs(rows, tmp_path, i))
        next(batches)
    assert signal.getsignal(signal.SIGINT) is before


class Full(io.StringIO):
    """A standard output that takes nothing."""

    def flush(self):
        raise OSError(28, "No space left on device")


def test_a_service_keeps_its_standard_output(monkeypatch, capsys):
    stream = Full()
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["--version"]) == 1
    assert sys.stdout is stream
    assert "standard output: No space left on device" in capsys.readouterr().err


def test_a_process_of_its_own_abandons_an_output_that_fails(monkeypatch):
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "argv", ["fastgnb", "--version"])
    try:
        assert process() == 1
        sys.stdout.flush()
        sys.stdout.close()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@pytest.mark.skipif(os.name != "posix", reason="exit codes of signals are POSIX")
def test_an_interrupt_within_eval_is_an_exit_code_and_no_signal(tmp_path):
    """As when kernels are loaded: Python would end by SIGINT, though it was caught."""
    (tmp_path / "stopping.py").write_text(
        "import sys\n"
        "from fastgnb import cli\n"
        "from fastgnb.cli import model_commands as _model_commands\n"
        "def stop():\n"
        "    raise KeyboardInterrupt\n"
        "_model_commands.show = lambda args: eval('stop()')\n"
        "sys.exit(cli.process())\n"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    done = subprocess.run(
        [sys.executable, "-m", "stopping", "show", "m"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "fastgnb: interrupted\n")
