"""Caches and installs: whatever lies in the cache and wherever the package stands, answers are
right, and there is at most one warning."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cache_cases import THREADS, files_in
from installed import (
    CODES,
    COMPILED,
    ONE,
    PACKAGE,
    install,
    one_warning,
    recorded,
    using,
)

from fastgnb._numba.disk_cache import Entries, Key

pytestmark = [pytest.mark.compiled, pytest.mark.fresh]

if sys.platform == "win32":  # pragma: no cover
    pytest.skip("rights, limits and paths of this file are POSIX", allow_module_level=True)

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


@pytest.mark.promise("degraded")
def test_entries_with_flipped_bits_are_replaced_without_a_word(python, tmp_path):
    """One bit every hundred bytes of the middle half, where the machine code is."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    code = CODES + COMPILED
    assert python(code, **cache) == "[1, 0, 1]\ncompiled 2\n"
    assert len(files_in(tmp_path)) == 2
    for file in files_in(tmp_path):
        damaged = bytearray(file.read_bytes())
        for at in range(len(damaged) // 4, 3 * len(damaged) // 4, 100):
            damaged[at] ^= 4
        file.write_bytes(damaged)
    assert python(code, **cache) == "[1, 0, 1]\ncompiled 2\n"
    assert python(code, **cache) == "[1, 0, 1]\ncompiled 0\n"


def test_code_for_other_types_under_an_entrys_name_is_not_run(python, tmp_path):
    """As processes leave it that write Numba's index at once."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "2"}
    assert python(THREADS + COMPILED, **cache) == "True\ncompiled 4\n"
    one, two = tmp_path.rglob("*_drive_blocks*.nbc")
    contents = one.read_bytes(), two.read_bytes()
    two.write_bytes(contents[0])
    one.write_bytes(contents[1])
    assert python(THREADS + COMPILED, **cache) == "True\ncompiled 2\n"


@pytest.mark.promise("degraded")
def test_a_full_disk_costs_one_warning(python, tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    line = one_warning(python(limit + recorded(CODES), **cache), "[1, 0, 1]\n")
    assert "File too large" in line
    assert "NUMBA_CACHE_DIR" in line
    assert files_in(tmp_path) == []
    assert python(CODES + COMPILED, **cache) == "[1, 0, 1]\ncompiled 2\n"
    assert python(limit + CODES + COMPILED, **cache) == "[1, 0, 1]\ncompiled 0\n"


def test_a_crash_while_an_entry_is_written_leaves_none(python, tmp_path):
    """The process is gone between writing and naming; half of the file reached the disk."""
    crash = """
import os
from pathlib import Path
def die(source, target):
    whole = Path(source).read_bytes()
    Path(source).write_bytes(whole[: len(whole) // 2])
    os._exit(0)
os.replace = die
"""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert python("import numpy, numba\n" + crash + CODES, **cache) == ""
    (left,) = files_in(tmp_path)
    assert left.suffix == ".tmp"
    assert python(CODES + COMPILED, **cache) == "[1, 0, 1]\ncompiled 2\n"


def test_code_of_another_processor_is_not_run(python, tmp_path):
    """Nor is it lost: processors that share a folder keep their own code."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    others = [{"NUMBA_CPU_NAME": "generic"}, {"NUMBA_CPU_FEATURES": ""}, {}]
    code = (
        "from numba.core.registry import cpu_target\n"
        "print(cpu_target.target_context.codegen().magic_tuple())\n"
    )
    processors = [python(code, **other) for other in others]
    # An older LLVM may call a new processor generic, as the first of them.
    is_new = [name not in processors[:i] for i, name in enumerate(processors)]
    assert sum(is_new) > 1
    first = [python(ONE + COMPILED, **cache, **other) for other in others]
    assert first == [f"[1, 3]\ncompiled {int(new)}\n" for new in is_new]
    again = python(ONE + COMPILED, **cache, **others[0])
    assert again == "[1, 3]\ncompiled 0\n"


@pytest.mark.promise("degraded")
def test_code_of_other_versions_and_settings_is_not_run(python, tmp_path):
    code = """
import sys
import numba, numpy as np
from fastgnb._numba import cache as _code_cache
from fastgnb._numba import compiler, threads, warmup
from fastgnb.kernels.learn import encode
def compiled():
    _code_cache._origin.cache_clear()
    fresh = compiler.compile_cached(encode._mark.body.py_func, parallel=False)
    seen, outside = np.zeros(4, np.bool_), np.zeros(1, np.bool_)
    fresh(0, 1, np.array([3, 1, 3]), 0, seen, outside)
    assert np.flatnonzero(seen).tolist() == [1, 3] and not outside[0]
    return sum(fresh.stats.cache_misses.values())
print(compiled(), compiled())
for place, name, other in (
    (numba, "__version__", "0.0.1"),
    (np, "__version__", "1.0.1"),
    (sys, "version", "3.11.0 of somebody else"),
    (numba.config, "OPT", 1),
    (numba.config, "BOUNDSCHECK", 1),
):
    own = getattr(place, name)
    setattr(place, name, other)
    changed = compiled(), compiled()
    setattr(place, name, own)
    print(name, *changed, compiled(), compiled())
"""
    lines = python(code, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert lines[0] == "1 0"
    assert len(lines) == 6
    assert all(line.split()[1:] == ["1", "0", "1", "0"] for line in lines[1:]), lines


@pytest.mark.slow
def test_another_version_of_python_has_its_own_files(python, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    other = "import sys; sys.implementation.cache_tag = 'cpython-37'\n"
    assert python("import numpy, numba\n" + other + CODES, **cache) == "[1, 0, 1]\n"
    assert python(CODES + COMPILED, **cache) == "[1, 0, 1]\ncompiled 2\n"
    assert sum("cpython-37" in file.name for file in files_in(tmp_path)) == 2


def test_installs_that_share_a_folder_keep_their_own_code(python, tmp_path):
    a, b = install(tmp_path / "a"), install(tmp_path / "b")
    changed = b / "fastgnb" / "kernels" / "encode.py"
    source = changed.read_text()
    assert source.count("codes[i] = table[y[i] - low]") == 2
    changed.write_text(source.replace("codes[i] = table[y[i] - low]", "codes[i] = 7"))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(using(a, CODES), **cache) == "[1, 0, 1]\n"
    assert python(using(b, CODES), **cache) == "[7, 7, 7]\n"


def test_another_source_of_the_same_size_and_time_makes_the_cache_stale(python, tmp_path):
    """As in images that share a volume and set all times alike."""
    where = install(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = using(where, ONE + COMPILED)
    assert python(code, **cache).endswith("compiled 1\n")
    lanes = where / "fastgnb" / "_numba" / "vectors.py"
    before, source = lanes.stat(), lanes.read_text()
    changed = source.replace("_LINE_BITS = 512", "_LINE_BITS = 256")
    assert len(changed) == len(source)
    assert changed != source
    lanes.write_text(changed)
    os.utime(lanes, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert python(code, **cache).endswith("compiled 1\n")


def test_eight_processes_may_compile_at_once(python, tmp_path):
    cache, go = tmp_path / "cache", tmp_path / "go"
    wait = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.001)\n"
    code = ONE.replace("print", wait + "print")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, NUMBA_CACHE_DIR=str(cache), PYTHONPATH=str(PACKAGE.parent)),
        )
        for _ in range(8)
    ]  # fmt: skip
    go.touch()
    ends = [process.communicate(timeout=900) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    assert ends == [("[1, 3]\n", "")] * 8
    assert python(ONE + COMPILED, NUMBA_CACHE_DIR=str(cache)) == "[1, 3]\ncompiled 0\n"
    assert len(files_in(cache)) == 1
