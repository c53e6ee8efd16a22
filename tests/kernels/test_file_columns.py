"""Columns of a file read in one call: which bytes come, and where it stops."""

from __future__ import annotations

import os

import numpy as np
import pytest

from fastgnb._numba import positional_reads
from fastgnb.kernels import file_columns
from fastgnb.kernels.file_columns import read_columns

pytestmark = [
    pytest.mark.lines,
    pytest.mark.skipif(not hasattr(os, "preadv"), reason="the system has no pread"),
]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "bytes").write_bytes(bytes(range(200)))
    number = os.open(tmp_path / "bytes", os.O_RDONLY)
    yield number
    os.close(number)


def read(file, starts, n):
    rows = np.full((len(starts), n + 1), 255, np.uint8)
    addresses = rows.ctypes.data + rows.strides[0] * np.arange(len(rows))
    return read_columns(file, np.array(starts, np.int64), addresses, n), rows


def test_each_column_is_read_to_its_place_and_nothing_behind_it(file):
    done, rows = read(file, [0, 7, 190], 10)
    assert done == 3
    assert rows[:, :10].tolist() == [list(range(s, s + 10)) for s in (0, 7, 190)]
    assert (rows[:, 10] == 255).all()


@pytest.mark.parametrize(("starts", "expected"), [([0, 195, 5], 1), ([200], 0), ([], 0)])
def test_it_stops_at_the_first_that_the_file_does_not_hold(file, starts, expected):
    assert read(file, starts, 10)[0] == expected


def test_an_error_of_the_system_is_left_to_the_caller(file):
    other = os.dup(file)
    os.close(other)
    assert read(other, [0], 10)[0] == 0


def test_a_system_without_pread_reads_nothing(file, monkeypatch):
    monkeypatch.setattr(file_columns, "pread_function", lambda: None)
    assert read(file, [0], 10)[0] == 0


def test_a_missing_library_is_no_error(monkeypatch):
    def none(name):
        raise OSError("no library")

    monkeypatch.setattr(positional_reads.ctypes, "CDLL", none)
    assert positional_reads.pread_function.__wrapped__() is None
