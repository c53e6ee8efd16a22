"""What a killed process left behind is removed by the next one that writes the same name."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from children import first_line, started

from fastgnb._system import atomic as _atomic
from fastgnb._system.atomic import atomic_write

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes"),
]

WRITE = """
import sys, time
from fastgnb._system.atomic import atomic_write
with atomic_write(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("written", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def writer():
    """Start a process that is in the middle of writing a file."""
    with contextlib.ExitStack() as stack:

        def start(path):
            words = [sys.executable, "-c", WRITE, path]
            process = stack.enter_context(started(words, stdout=subprocess.PIPE))
            first_line(process, "written")
            return process

        yield start


def write(path, text="whole"):
    with atomic_write(path) as temporary:
        temporary.write_text(text)


@pytest.mark.promise("once")
def test_the_file_of_a_killed_process_is_removed(tmp_path, writer):
    path = tmp_path / "m.fgnb"
    process = writer(path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".m.fgnb.")
    write(tmp_path / "other.fgnb")
    assert sorted(os.listdir(tmp_path)) == sorted([left, "other.fgnb"])
    write(path)
    assert sorted(os.listdir(tmp_path)) == ["m.fgnb", "other.fgnb"]


def test_the_file_of_a_process_at_work_stays(tmp_path, writer):
    path = tmp_path / "m.fgnb"
    writer(path)
    write(path)
    assert len(os.listdir(tmp_path)) == 2


def test_files_of_this_process_are_known_by_name_and_not_by_its_number(tmp_path):
    """A container's processes have the same number in every run."""
    path = tmp_path / "m.fgnb"
    with atomic_write(path) as temporary:
        temporary.write_text("first")
        write(path, "second")
        assert temporary.exists()
        left = temporary.with_name(temporary.name[:-12] + "00000000.tmp")
        left.write_text("of a process with our number before us")
    assert path.read_text() == "first"
    assert left.exists()
    write(path)
    assert os.listdir(tmp_path) == ["m.fgnb"]


@pytest.mark.parametrize("host", ["00000000-", ""], ids=["another machine", "an old version"])
def test_files_of_writers_that_cannot_be_seen_stay_for_a_day(tmp_path, host):
    path = tmp_path / "m.fgnb"
    left = tmp_path / f".m.fgnb.{host}999999999.12345678.tmp"
    left.write_text("half")
    write(path)
    assert left.exists()
    old = time.time() - _atomic._ABANDONED_AFTER - 10
    os.utime(left, (old, old))
    write(path)
    assert not left.exists()


@pytest.mark.parametrize(
    "name",
    [".m.fgnb.tmp", "m.fgnb.1.12345678.tmp", ".m.fgnb.1.12345678.csv", ".mxfgnb.1.12345678.tmp"],
)
def test_other_files_are_never_touched(tmp_path, name):
    (tmp_path / name).write_text("mine")
    os.utime(tmp_path / name, (0, 0))
    write(tmp_path / "m.fgnb")
    assert (tmp_path / name).read_text() == "mine"


def test_a_folder_of_that_name_is_no_obstacle(tmp_path):
    (tmp_path / ".m.fgnb.1.12345678.tmp").mkdir()
    os.utime(tmp_path / ".m.fgnb.1.12345678.tmp", (0, 0))
    write(tmp_path / "m.fgnb")
    assert (tmp_path / "m.fgnb").read_text() == "whole"
