"""Reading CSV ahead: what Arrow reads in a thread of its own has ended when a file is closed."""

from __future__ import annotations

import contextlib
import gzip
import threading
import time

import pyarrow as pa
import pytest
from fault_files import process
from table_files import open_files

from fastgnb.files import SourceError
from fastgnb.files.tables import csv_file, csv_stream
from fastgnb.files.tables.csv_file import CsvFile
from fastgnb.files.tables.csv_stream import read_ahead
from fastgnb.files.tables.formats import FileFormat

pytestmark = pytest.mark.any_version

ROWS = b"x,y\n" + b"1.5,a\n" * 400
WRONG = ROWS + b"oops,a\n" + b"1.5,a\n" * 400


class Slow:
    """A file whose reads take a while and note whether it was closed under them."""

    def __init__(self, text, reads):
        self.closed, self._text, self._at, self._reads = False, text, 0, reads

    def read(self, size=-1):
        time.sleep(0.005)
        part = self._text[self._at : self._at + size if size >= 0 else None]
        self._at += len(part)
        self._reads.append(self.closed)
        return part

    def tell(self):
        return self._at

    def close(self):
        self.closed = True


@pytest.fixture
def slow_file(monkeypatch):
    """Makes a CSV file of small blocks, and the list of its reads: whether each came too late."""
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 256)
    monkeypatch.setattr(csv_file, "_START", 64)
    monkeypatch.setattr(csv_file, "parser_threads", lambda: 1)  # all by Arrow's reader of streams

    def made(text, compression=None):
        reads = []
        packed = text if compression is None else gzip.compress(text)
        monkeypatch.setattr(csv_stream, "opened", lambda _: pa.PythonFile(Slow(packed, reads), "r"))
        return CsvFile("a.csv", FileFormat("csv", compression)), reads

    return made


def closed_early(file):
    types = {"x": pa.float64(), "y": pa.string()}
    with contextlib.closing(file.batches(["x", "y"], types, 10)) as batches:
        next(batches)


def read_to_an_error(file):
    types = {"x": pa.float64(), "y": pa.string()}
    with pytest.raises(SourceError, match=r"^a\.csv: column 'x', row 401: expected a number"):
        list(file.batches(["x", "y"], types, 10))


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize(
    ("text", "use"),
    [
        (ROWS, lambda file: file.schema),
        (ROWS, lambda file: file.first_values(["y"], beyond=False)),
        (ROWS, closed_early),
        (WRONG, read_to_an_error),
    ],
    ids=["names", "values", "closed", "error"],
)
def test_no_file_is_closed_under_a_read(slow_file, text, use, compression):
    """A late read would take rows from the file that gets the descriptor next."""
    file, reads = slow_file(text, compression)
    for _ in range(3):
        use(file)
        time.sleep(0.02)  # as long as a late read would take
    assert reads
    assert not any(reads)


def test_a_text_and_the_rest_of_a_file_are_one_file():
    with read_ahead(pa.BufferReader(b"cdef"), b"ab") as file:
        assert [file.read(n) for n in (1, 3, 3, 9, 9)] == [b"a", b"b", b"cde", b"f", b""]


def test_the_end_waits_for_a_read_and_later_ones_find_nothing():
    begun, told = threading.Event(), []

    class Endless:
        def read(self, size):
            begun.set()
            time.sleep(0.05)
            told.append("read")
            return b"x" * size

    with read_ahead(Endless()) as file:
        reader = threading.Thread(target=lambda: told.append(file.read(3)))
        reader.start()
        begun.wait()
    told.append("ended")
    reader.join()
    assert told.index("read") < told.index("ended")
    assert b"xxx" in told
    assert file.read(3) == b""


EXIT = """
import sys, time
from pyarrow import csv
from fastgnb.files.tables.csv_stream import read_ahead

class Slow:
    def read(self, size):
        time.sleep(0.02)
        return b"x\\n" * (size // 2)

block = read_ahead(Slow())
reader = csv.open_csv(block.__enter__(), read_options=csv.ReadOptions(block_size=64))
if sys.argv[1] == "left":
    block.__exit__(None, None, None)
print("end")
"""


@pytest.mark.parametrize("block", ["open", "left"])
def test_python_can_end_while_arrow_reads_ahead(block):
    """Its thread would call Python, which aborts the process or has it wait for ever."""
    assert process("-c", EXIT, block, module=False).stdout == "end\n"


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_arrow_reads_local_files_without_python(tmp_path, monkeypatch, compression):
    """So its thread can read on when Python ends. The file is closed once that is done."""
    path = tmp_path / "a.csv"
    path.write_bytes(ROWS if compression is None else gzip.compress(ROWS))
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 256)
    monkeypatch.setattr(csv_file, "parser_threads", lambda: 1)
    monkeypatch.setattr(csv_file, "read_ahead", None)
    closed_early(CsvFile(path, FileFormat("csv", compression)))
    deadline = time.monotonic() + 60
    while str(path) in open_files() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert str(path) not in open_files()
