"""Entries of the cache on disk, without compiling."""

from __future__ import annotations

import pickle
import sys
import threading
from pathlib import Path

import pytest
from installed import files_in

from fastgnb._numba.disk_cache import Entries, Key

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.any_version,
    pytest.mark.skipif(sys.platform == "win32", reason="paths and layers are POSIX"),
]


KEY = Key("types and processor", "source and versions")


def in_folder(folder: Path) -> Entries:
    return Entries(folder, "module.kernel", pickle.dumps)


def test_an_entry_comes_back(tmp_path):
    entries = in_folder(tmp_path)
    assert entries.load(KEY) is None
    entries.save(KEY, ("code", 1))
    assert in_folder(tmp_path).load(KEY) == ("code", 1)
    assert len(files_in(tmp_path)) == 1
    entries.flush()
    assert files_in(tmp_path) == []


def test_an_entry_cut_anywhere_or_with_any_flipped_bit_is_no_entry(tmp_path):
    entries = in_folder(tmp_path)
    entries.save(KEY, ("code", bytes(50)))
    (file,) = files_in(tmp_path)
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert entries.load(KEY) is None
    for at in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        file.write_bytes(flipped)
        assert entries.load(KEY) is None
    file.write_bytes(whole + b"\0")
    assert entries.load(KEY) is None
    entries.save(KEY, "anew")
    assert entries.load(KEY) == "anew"


def test_an_entry_is_of_its_key_only(tmp_path):
    """Of one place there is one entry, the last; of two places there are two."""
    entries = in_folder(tmp_path)
    newer, elsewhere = KEY._replace(origin="newer"), KEY._replace(place="another processor")
    entries.save(KEY, "old")
    entries.save(elsewhere, "far")
    assert entries.load(newer) is None
    entries.save(newer, "new")
    assert [entries.load(key) for key in (KEY, newer, elsewhere)] == [None, "new", "far"]
    one, two = files_in(tmp_path)
    one.rename(tmp_path / "aside"), two.rename(one), (tmp_path / "aside").rename(two)
    assert [entries.load(key) for key in (KEY, newer, elsewhere)] == [None, None, None]


def test_a_reader_sees_whole_entries_while_others_replace_them(tmp_path):
    """Two writers of two versions, at one place; each reader gets its own version or nothing."""
    keys = [KEY, KEY._replace(origin="newer")]
    large = [bytes([version]) * 200_000 for version in range(2)]
    in_folder(tmp_path).save(keys[0], large[0])
    writers = [
        threading.Thread(
            target=lambda v=version: [
                in_folder(tmp_path).save(keys[v], large[v]) for _ in range(60)
            ]
        )
        for version in range(2)
    ]
    for writer in writers:
        writer.start()
    found, at_work = [0, 0], True
    while at_work:
        at_work = any(writer.is_alive() for writer in writers)
        got = [in_folder(tmp_path).load(key) for key in keys]
        assert all(one is None or one == want for one, want in zip(got, large, strict=True))
        found = [n + (one is not None) for n, one in zip(found, got, strict=True)]
    assert sum(found) > 0
    assert len(files_in(tmp_path)) == 1


def test_a_failed_write_leaves_the_entry_as_it_was(tmp_path, monkeypatch):
    entries = in_folder(tmp_path)
    entries.save(KEY, "old")

    def full(path, content):
        with open(path, "wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        entries.save(KEY, "new")
    assert entries.load(KEY) == "old"
    assert len(files_in(tmp_path)) == 1


def test_a_folder_where_an_entry_should_be_is_no_entry(tmp_path):
    entries = in_folder(tmp_path)
    entries.save(KEY, "old")
    (file,) = files_in(tmp_path)
    file.unlink()
    file.mkdir()
    assert entries.load(KEY) is None
    with pytest.raises(OSError, match="is a folder"):
        entries.save(KEY, "new")
