"""Paths with a scheme: what is one, what it offers, and files in memory:// that appear whole."""

from __future__ import annotations

import importlib
import pathlib
import pickle
import sys

import pytest

from fastgnb._system import atomic
from fastgnb._system.optional import MissingExtraError
from fastgnb._system.remote import reader
from fastgnb._system.remote.errors import (
    RemoteChangedError,
    RemoteError,
    RemoteNotFoundError,
    located,
)
from fastgnb._system.remote.paths import RemotePath, as_path, identity_of, is_remote

pytestmark = pytest.mark.any_version


@pytest.fixture
def memory():
    """The file system memory://, empty."""
    fsspec = pytest.importorskip("fsspec")
    filesystem = fsspec.filesystem("memory")
    for name in filesystem.find("/"):
        filesystem.rm_file(name)
    filesystem.pseudo_dirs[:] = [""]
    yield filesystem
    for name in filesystem.find("/"):
        filesystem.rm_file(name)


# ---------------------------------------------------------------------- names


def test_what_is_remote():
    assert as_path("s3://b/x.csv") == RemotePath("s3://b/x.csv")
    assert as_path(RemotePath("s3://b/x.csv")) == RemotePath("s3://b/x.csv")
    for text in ("x.csv", "/data/x.csv", "a:b/x.csv", "c:/x.csv", "s3:x.csv"):
        assert as_path(text) == pathlib.Path(text)
    assert as_path(b"x.csv") == pathlib.Path("x.csv")
    assert is_remote("gs://b/x.csv")
    assert not is_remote(pathlib.Path("x.csv"))


def test_file_urls_are_local():
    assert as_path("file:///data/a%20b.csv") == pathlib.Path("/data/a b.csv")
    assert as_path(pathlib.Path("file:///data/x.csv")) == pathlib.Path("/data/x.csv")
    assert identity_of("file:///data/x.csv") == identity_of("/data/x.csv")


def test_a_path_that_lost_a_slash_is_what_was_meant(tmp_path, monkeypatch):
    assert as_path(pathlib.Path("s3://b/c/x.csv")) == RemotePath("s3://b/c/x.csv")
    assert as_path(pathlib.Path("odd:/b")) == pathlib.Path("odd:/b")
    monkeypatch.chdir(tmp_path)
    pathlib.Path("s3:").mkdir()
    assert as_path(pathlib.Path("s3://b/x.csv")) == pathlib.Path("s3:/b/x.csv")


def test_parts_of_a_name():
    path = RemotePath("s3://b/year=2026/rows.csv.gz")
    assert str(path) == path.url == "s3://b/year=2026/rows.csv.gz"
    assert (path.name, path.suffix, path.stem) == ("rows.csv.gz", ".gz", "rows.csv")
    assert path.suffixes == [".csv", ".gz"]
    assert path.parts == ("s3:", "b", "year=2026", "rows.csv.gz")
    assert path.parent / "x" == path.with_name("x") == RemotePath("s3://b/year=2026/x")
    assert RemotePath("s3://b/dir/") == RemotePath("s3://b/dir")
    assert RemotePath("memory://") / "x" == RemotePath("memory://x")
    assert pickle.loads(pickle.dumps(path)) == path
    assert repr(path) == "RemotePath('s3://b/year=2026/rows.csv.gz')"
    assert path.absolute() == path


def test_paths_sort_by_their_parts_and_after_local_ones():
    texts = ["s3://b/a-b/x", "s3://b/a/y", "s3://b/a/x", "z/x"]
    assert [str(path) for path in sorted(map(as_path, texts))] == [
        "z/x", "s3://b/a/x", "s3://b/a/y", "s3://b/a-b/x",
    ]  # fmt: skip
    assert max(map(as_path, reversed(texts))) == RemotePath("s3://b/a-b/x")
    with pytest.raises(TypeError):
        _ = RemotePath("s3://b/x") < "s3://b/y"


def test_an_unknown_scheme(memory):
    with pytest.raises(RemoteError, match=r"nothing://b/x: unknown scheme 'nothing'; expected one"):
        as_path("nothing://b/x").exists()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://b/x", r"s3://b/x: s3:// needs .*: pip install 'fastgnb\[s3\]'"),
        ("gs://b/x", "gs://b/x: gs:// needs .*: pip install gcsfs"),
        ("abfss://c@a/x", "abfss:// needs .*: pip install adlfs"),
        ("lakefs://b/x", "lakefs://b/x: .*lakefs"),
    ],
)
def test_a_missing_package_is_named(memory, monkeypatch, url, message):
    registry = importlib.import_module("fsspec.registry")
    for module in ("s3fs", "gcsfs", "adlfs", "lakefs_spec", "lakefs"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(registry._registry, url.partition(":")[0], raising=False)
    with pytest.raises(MissingExtraError, match=message):
        as_path(url).exists()


def test_without_fsspec(monkeypatch):
    for module in ("fsspec", "fsspec.core", "fsspec.registry"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"scheme.* needs fsspec.*'fastgnb\[s3\]'"):
        as_path("memory://x").exists()


# ---------------------------------------------------------------------- content


def test_what_is_there(memory):
    memory.pipe_file("/d/a/x.csv", b"123")
    memory.pipe_file("/d/b.csv", b"12")
    folder = as_path("memory://d")
    assert folder.is_dir()
    assert not folder.is_file()
    assert (folder / "b.csv").is_file()
    assert not (folder / "c.csv").exists()
    assert (folder / "b.csv").stat().st_size == 2
    assert [(str(path), parts) for path, parts in folder.files_below()] == [
        ("memory://d/a/x.csv", ("a", "x.csv")), ("memory://d/b.csv", ("b.csv",)),
    ]  # fmt: skip
    (folder / "b.csv").unlink()
    with pytest.raises(RemoteNotFoundError, match=r"memory://d/b\.csv: no such file or folder"):
        (folder / "b.csv").unlink()
    (folder / "b.csv").unlink(missing_ok=True)
    assert not (folder / "b.csv").exists()


def test_a_token_changes_with_the_content(memory):
    path = as_path("memory://x")
    path.write_bytes(b"one")
    before = path.stat()
    assert path.stat() == before
    path.write_bytes(b"two")
    assert path.stat().token != before.token


def test_reading_as_a_file_does(memory, tmp_path):
    content = bytes(range(256)) * 100
    local, path = tmp_path / "x", as_path("memory://x")
    local.write_bytes(content)
    path.write_bytes(content)
    with local.open("rb") as here, path.open() as there:
        for step in (10, 3000, 0, 1, 100_000, 5):
            assert here.read(step) == there.read(step)
            assert here.tell() == there.tell()
        for offset, whence in ((0, 0), (-700, 2), (20, 1), (30_000, 0), (-1, 2)):
            assert here.seek(offset, whence) == there.seek(offset, whence)
            assert here.read(50) == there.read(50)
        assert (there.seekable(), there.readable(), there.writable()) == (True, True, False)
        buffer = bytearray(7)
        there.seek(100)
        assert there.readinto(buffer) == 7
        assert bytes(buffer) == content[100:107]
        with pytest.raises(ValueError, match="a position before the start"):
            there.seek(-1)
    assert path.read_bytes() == content
    with pytest.raises(ValueError, match="opened with 'rb'"):
        path.open("wb")


def test_ranges_apart_and_one_after_the_other(memory):
    path = as_path("memory://x")
    path.write_bytes(b"0123456789")
    with path.open() as file:
        assert file.read_ranges([0, 4, 8], 4) == [b"0123", b"4567", b"89"]
        assert file.read_ranges([0, 6], 2) == [b"01", b"67"]
        assert file.read_ranges([], 2) == []


def test_a_file_that_is_read_from_front_to_back_is_read_ahead(memory, monkeypatch):
    monkeypatch.setattr(reader, "AHEAD", 100)
    path = as_path("memory://x")
    path.write_bytes(bytes(1000))
    asked = []
    with path.open() as file:
        monkeypatch.setattr(file, "_fetch_once", lambda a, b: asked.append((a, b)) or bytes(b - a))
        for _ in range(12):
            file.read(10)
        file.seek(500)
        file.read(10)
        file.read(10)
    assert asked == [(0, 100), (100, 200), (500, 510), (510, 610)]


def test_a_cut_is_tried_again_a_few_times(memory, monkeypatch):
    monkeypatch.setattr(reader, "PAUSE", 0.0)
    monkeypatch.setattr(reader, "AHEAD", 1)
    path = as_path("memory://x")
    path.write_bytes(b"0123456789")
    real, left = memory.cat_file, [2]

    def cat_file(*args, **options):
        if left[0]:
            left[0] -= 1
            raise ConnectionResetError("cut")
        return real(*args, **options)

    monkeypatch.setattr(memory, "cat_file", cat_file)
    monkeypatch.setattr(path, "_target", (memory, "/x"))
    with path.open() as file:
        assert file.read() == b"0123456789"
        left[0] = reader.TRIES
        file.seek(3)
        with pytest.raises(RemoteError, match=r"memory://x: .* cut at byte 3 of 10, 3 times .*cut"):
            file.read()
        assert left[0] == 0


def test_a_short_answer_counts_as_a_cut_and_a_change_is_told(memory, monkeypatch):
    monkeypatch.setattr(reader, "PAUSE", 0.0)
    path = as_path("memory://x")
    path.write_bytes(b"0123456789")
    with path.open() as file:
        path.write_bytes(b"01")
        with pytest.raises(RemoteChangedError, match="memory://x: changed while it was in use"):
            file.read()


# ---------------------------------------------------------------------- writing


def test_an_output_appears_at_the_end(memory):
    with atomic.atomic_write("memory://d/out") as target:
        file = target.open()
        assert file.write(b"some") == 4
        assert (file.tell(), file.writable()) == (4, True)
        file.close()
        assert not as_path("memory://d/out").exists()
    assert memory.find("/") == ["/d/out"]
    assert as_path("memory://d/out").read_bytes() == b"some"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_output_that_fails_leaves_what_was_there(memory, error):
    memory.pipe_file("/d/out", b"earlier")

    def write():
        with atomic.atomic_write("memory://d/out") as target:
            target.open().write(b"some")
            raise error

    with pytest.raises(error):
        write()
    assert memory.find("/") == ["/d/out"]
    assert memory.cat_file("/d/out") == b"earlier"


def test_checks_of_an_output(memory, tmp_path):
    memory.pipe_file("/d/x", b"earlier")
    atomic.check_writable("memory://new/out")
    with pytest.raises(RemoteError, match=r"cannot write memory://d: it is a folder"):
        atomic.check_writable("memory://d")
    assert atomic.is_same_file("memory://d/x", "memory:///d/x")
    assert not atomic.is_same_file("memory://d/x", "memory://d/y")
    assert not atomic.is_same_file("memory://d/x", tmp_path / "x")


def test_errors_name_the_path_and_keep_the_cause():
    with pytest.raises(RemoteError, match="s3://b/x: it broke") as caught, located("s3://b/x"):
        raise RuntimeError("it\n broke")
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(MemoryError), located("s3://b/x"):
        raise MemoryError
    with pytest.raises(RemoteError, match="expected a file name"), located("s3://b/x"):
        raise IsADirectoryError
