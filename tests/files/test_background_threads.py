"""Threads that read, parse and write: order, how much is in memory, errors, and how they end."""

from __future__ import annotations

import signal
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fastgnb import GaussianNB, files
from fastgnb._system import thread_limits
from fastgnb.files.tables import writers
from fastgnb.files.tables.background_writer import BackgroundWriter
from fastgnb.files.tables.batch import Batch, RowSource
from fastgnb.files.tables.prefetching import in_order, prefetch

NAMES = ("fastgnb-reader", "fastgnb-writer", "fastgnb-parser")


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert not [t for t in threading.enumerate() if t.name.startswith(NAMES)]


# ------------------------------------------------------------------ reading


def test_items_come_in_order_and_two_are_there_at_most():
    there, most = set(), 0

    def items():
        nonlocal most
        for i in range(50):
            there.add(i)
            most = max(most, len(there))
            yield i

    result = []
    for item in prefetch(items()):
        time.sleep(0.001 * (item % 3))
        there.discard(item - 1)
        result.append(item)
        assert threading.active_count() > 1
    assert result == list(range(50))
    assert most <= 3  # the last one used is dropped here, when the next one has come


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise ValueError("of the third")

    result = []
    with pytest.raises(ValueError, match="of the third"):
        result.extend(prefetch(items()))
    assert result == [1, 2]


def test_what_is_left_is_closed():
    closed = []

    def items():
        try:
            yield from range(100)
        finally:
            closed.append(threading.current_thread().name)

    ahead = prefetch(items())
    assert next(ahead) == 0
    ahead.close()
    assert len(closed) == 1


# ------------------------------------------------------------------ parsing


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_work_of_threads_comes_in_order(threads):
    taken = []

    def items():
        for i in range(30):
            taken.append(i)
            yield i

    def work(i):
        time.sleep(0.001 * (i % 4))
        return i * i

    for n, result in enumerate(in_order(work, items(), threads, threads + 1, "fastgnb-parser")):
        assert result == n * n
        assert len(taken) - n <= threads + 2
    assert n == 29


@pytest.mark.parametrize("place", ["item", "work"])
def test_errors_of_threads_come_in_order(place):
    def items():
        yield from range(5)
        if place == "item":
            raise ValueError("at five")
        yield from range(5, 9)

    def work(i):
        if i == 5:
            raise ValueError("at five")
        time.sleep(0.01 * (5 - i))
        return i

    result = []
    with pytest.raises(ValueError, match="at five"):
        result.extend(in_order(work, items(), 3, 4, "fastgnb-parser"))
    assert result == [0, 1, 2, 3, 4]


# ------------------------------------------------------------------ reading and working at once


class Numbers(RowSource):
    """Batches of one number each; those of odd numbers without rows that count."""

    n_rows, batch_rows, paths = 40, 1, [Path("numbers")]

    def __init__(self, fails_at=-1):
        super().__init__()
        self.fails_at, self.places = fails_at, set()

    def reads(self, at):
        return (partial(self._read, i) for i in range(40))

    def _read(self, i, buffer):
        if i == self.fails_at:
            raise ValueError(f"number {i}")
        row = buffer.array(1000 + i, np.dtype(float))
        row[:] = i
        self.count(n_dropped=1)
        self.places.add(id(buffer))
        return None if i % 2 else Batch(row[:1, None], None, None, None, Path("numbers"), i, None)


@pytest.mark.parametrize("cores", [1, 2, 3, 16])
def test_what_threads_make_of_batches_comes_in_order(cores):
    source, limits = Numbers(), set()

    def work(batch):
        time.sleep(0.0005 * (batch.first_row % 3))
        limits.add(thread_limits.thread_limit())
        return int(batch.X[0, 0])

    with thread_limits.threads(cores):
        assert list(source.map(work)) == list(range(0, 40, 2))
    assert source.n_dropped == 40
    assert len(source.places) <= max(2, min(cores, 4))
    assert limits == {{1: 1, 2: 1, 3: 1, 16: 13}[cores]}


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("fails", ["reading", "working"])
def test_an_error_of_a_batch_comes_in_its_place(cores, fails):
    def work(batch):
        if fails == "working" and batch.first_row == 8:
            raise ValueError("number 8")
        return batch.first_row

    result = []
    with thread_limits.threads(cores), pytest.raises(ValueError, match="number 8"):
        result.extend(Numbers(8 if fails == "reading" else -1).map(work))
    assert result == [0, 2, 4, 6]


def test_the_memory_of_a_batch_that_is_used_is_left_alone():
    for batch in Numbers():
        time.sleep(0.0005)
        assert batch.X[0, 0] == batch.first_row


# ------------------------------------------------------------------ writing


class Slow:
    """A writer that takes its time, and notes what it writes at once."""

    def __init__(self, fails_at=-1):
        self.rows, self.most, self._busy, self._fails_at = [], 0, 0, fails_at
        self.lock = threading.Lock()

    def write(self, batch):
        with self.lock:
            self._busy += 1
            self.most = max(self.most, self._busy)
        time.sleep(0.002)
        value = batch.column(0)[0].as_py()
        if value == self._fails_at:
            raise OSError(28, "No space left on device")
        self.rows.append(value)
        with self.lock:
            self._busy -= 1


def batch_of(i):
    return pa.record_batch({"x": [i]})


def test_batches_are_written_one_by_one_in_order_and_all_at_the_end():
    slow = Slow()
    with BackgroundWriter(slow) as writer:
        for i in range(20):
            writer.write(batch_of(i))
            assert len(slow.rows) >= i  # all but the one just given
    assert slow.rows == list(range(20))
    assert slow.most == 1


def write_all(writer, values, error=None):
    """Write batches of these values in a thread, and then raise an error; which were given."""
    given = []
    try:
        with BackgroundWriter(writer) as background:
            for value in values:
                given.append(value)
                background.write(batch_of(value))
            if error is not None:
                raise error
    except BaseException as raised:
        return given, raised
    return given, None


@pytest.mark.parametrize("fails_at", [3, 9])
def test_an_error_of_the_writer_is_raised_by_the_next_batch_or_at_the_end(fails_at):
    slow = Slow(fails_at)
    given, error = write_all(slow, range(10))
    assert isinstance(error, OSError)
    assert slow.rows == list(range(fails_at))
    assert given[-1] == min(fails_at + 1, 9)


@pytest.mark.parametrize("error", [ValueError("of later rows"), KeyboardInterrupt()])
def test_the_thread_has_ended_when_the_file_is_closed(error):
    slow = Slow()
    assert write_all(slow, [0], error) == ([0], error)
    assert slow.rows == [0]


def test_an_error_of_earlier_rows_comes_first():
    assert isinstance(write_all(Slow(0), [0], ValueError("of later rows"))[1], OSError)


def test_an_interrupt_is_not_replaced_by_an_error_of_the_writer():
    assert isinstance(write_all(Slow(0), [0], KeyboardInterrupt())[1], KeyboardInterrupt)


# ------------------------------------------------------------------ interrupts


class Long:
    """Work that goes on until it is interrupted twice while it is waited for."""

    def __init__(self):
        self.has_begun, self._may_end = threading.Event(), threading.Event()
        self.told, self._signals = [], threading.Thread(target=self._interrupt)

    def _interrupt(self):
        self.has_begun.wait()
        for _ in range(2):
            time.sleep(0.03)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.03)
        self._may_end.set()

    def work(self, value=None):
        self.has_begun.set()
        self._may_end.wait()
        self.told.append("done")
        return value

    def __enter__(self):
        self._signals.start()
        return self

    def __exit__(self, kind, *_):
        self.told.append(kind)
        self._signals.join()
        return kind is not None and issubclass(kind, KeyboardInterrupt)


POSIX = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of threads")


@POSIX
def test_a_writer_that_is_interrupted_twice_has_ended():
    """Its file is closed next, whose descriptor may go to another file."""
    with Long() as long, BackgroundWriter(Slow(), after=long.work) as writer:
        writer.write(batch_of(0))
        writer.write(batch_of(1))
    assert long.told == ["done", KeyboardInterrupt]


@POSIX
def test_a_reader_that_is_interrupted_twice_has_ended():
    def items():
        yield long.work(1)

    with Long() as long:
        list(prefetch(items()))
    assert long.told == ["done", KeyboardInterrupt]


@POSIX
def test_threads_that_are_interrupted_twice_have_ended():
    with Long() as long:
        list(in_order(long.work, range(9), 1, 2, "fastgnb-parser"))
    assert long.told == ["done", KeyboardInterrupt]


# ------------------------------------------------------------------ jobs


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    X = rng.normal(y[:, None], 1.0, (500, 2))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y, "i": np.arange(500)})
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(table, path)
    return path, GaussianNB().fit(table.select(["a", "b"]).to_pandas(), y)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "npy"])
def test_outputs_of_small_batches_are_those_of_one(tmp_path, rows, ending):
    path, model = rows
    outputs = []
    for batch_rows in (500, 7):
        out = tmp_path / f"{batch_rows}.{ending}"
        options = {} if ending == "npy" else {"keep": "i"}
        files.predict(model, path, out, proba=True, batch_rows=batch_rows, **options)
        if ending == "npy":
            outputs.append(np.load(out).tobytes())
        else:
            columns = list(files.open_rows([out], exclude="prediction"))
            outputs.append(np.concatenate([batch.X for batch in columns]).tobytes())
    assert outputs[0] == outputs[1]


def test_a_disk_that_fills_up_leaves_no_file(tmp_path, rows, monkeypatch):
    path, model = rows
    written = []

    def write(self, batch):
        written.append(batch.num_rows)
        if len(written) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(writers._Parquet, "write", write)
    with pytest.raises(OSError, match="No space left"):
        files.predict(model, path, tmp_path / "out.parquet", batch_rows=10)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.parquet"]
    assert written == [10, 10, 10]
