"""What a growing file has gained is on its way to the disk before the flush."""

from __future__ import annotations

import os

import pytest

from fastgnb._system import early_flush
from fastgnb._system.early_flush import EarlyFlush


@pytest.fixture
def advised(monkeypatch):
    """Ranges that the system was told to write."""
    ranges = []
    monkeypatch.setattr(os, "POSIX_FADV_DONTNEED", 4, raising=False)
    monkeypatch.setattr(os, "posix_fadvise", lambda _, *words: ranges.append(words), raising=False)
    monkeypatch.setattr(early_flush, "_LEAST_BYTES", 100)
    return ranges


def test_each_range_is_written_once_and_small_ones_wait(tmp_path, advised):
    path = tmp_path / "file"
    flush = EarlyFlush(path)
    for n in (50, 49, 1, 0, 150):
        with open(path, "ab") as file:
            file.write(b"x" * n)
        flush()
    assert advised == [(0, 100, 4), (100, 150, 4)]


def test_a_file_that_is_not_there_is_none_of_its_business(tmp_path, advised):
    EarlyFlush(tmp_path / "file")()
    assert advised == []


def test_systems_without_it(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    (tmp_path / "file").write_bytes(b"x" * (1 << 20))
    EarlyFlush(tmp_path / "file")()


def test_the_content_stays(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * (3 << 20))
    EarlyFlush(path)()
    assert path.read_bytes() == b"x" * (3 << 20)
