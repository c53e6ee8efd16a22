"""Files appear whole or not at all."""

from __future__ import annotations

import os
import pathlib
import signal
import stat
import sys
import threading

import pytest

from fastgnb._system import signals as _interrupt
from fastgnb._system.atomic import atomic_write

pytestmark = pytest.mark.any_version


def test_creates_a_file_and_leaves_nothing_else(tmp_path):
    with atomic_write(tmp_path / "new.bin") as temporary:
        temporary.write_bytes(b"all of it")
    assert (tmp_path / "new.bin").read_bytes() == b"all of it"
    assert os.listdir(tmp_path) == ["new.bin"]


@pytest.mark.promise("whole")
def test_the_old_file_is_there_until_the_block_ends(tmp_path):
    path = tmp_path / "model"
    path.write_text("old")
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_temporary_name_is_in_the_folder_hidden_and_unique(tmp_path):
    with (
        atomic_write(tmp_path / "x.parquet") as first,
        atomic_write(tmp_path / "x.parquet") as second,
    ):
        assert first != second
        assert first.parent == second.parent == tmp_path.resolve()
        assert first.name.startswith(".")
        assert first.suffix == ".tmp"
        first.write_text("1")
        second.write_text("2")
    assert (tmp_path / "x.parquet").read_text() == "1"  # the outer block ended last


def test_names_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("n" * 250 + ".csv")
    with atomic_write(path) as temporary:
        temporary.write_text("x")
    assert path.read_text() == "x"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_exception_leaves_the_old_file_and_no_other(tmp_path, error, when):
    path = tmp_path / "model"
    path.write_text("old")
    with pytest.raises(error), atomic_write(path) as temporary:  # noqa: PT012
        if when == "after":
            temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model"]


def test_a_block_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "model"):
        pass
    assert os.listdir(tmp_path) == []


def test_relative_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with atomic_write("here") as temporary:
        temporary.write_text("x")
    assert pathlib.Path("here").read_text() == "x"


def test_missing_folder(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"cannot write .*: the folder .* does not exist"),
        atomic_write(tmp_path / "no" / "model"),
    ):
        pass


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(NotADirectoryError, match=r"cannot write .*: .*file is not a folder"),
        atomic_write(tmp_path / "file" / "model"),
    ):
        pass


def test_path_that_is_a_folder(tmp_path):
    with (
        pytest.raises(IsADirectoryError, match="it is a folder, expected a file name"),
        atomic_write(tmp_path),
    ):
        pass


def test_folder_that_is_not_writable(tmp_path, monkeypatch):
    # Root may write anywhere, so the answer of the system is replaced.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with (
        pytest.raises(PermissionError, match=r"the folder .* is not writable"),
        atomic_write(tmp_path / "model"),
    ):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")
def test_a_device_is_not_replaced():
    with (
        pytest.raises(PermissionError, match="cannot write /dev/null: it is not a regular file"),
        atomic_write("/dev/null"),
    ):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_permissions_of_the_old_file_stay(tmp_path):
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o600)
    with atomic_write(path) as temporary:
        temporary.write_text("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_threads_do_not_make_the_process_deaf(tmp_path):
    """One thread's replacement may end while another's is still going on."""
    first, second = threading.Event(), threading.Event()

    def outer():
        with _interrupt.uninterrupted():
            first.set()
            second.wait(300)

    thread = threading.Thread(target=outer)
    thread.start()
    first.wait(300)
    with _interrupt.uninterrupted():
        second.set()
        thread.join()
    with pytest.raises(KeyboardInterrupt), _interrupt.interruptible():
        signal.raise_signal(signal.SIGINT)
