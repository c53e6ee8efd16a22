"""Whatever lies in the cache, answers are right, and there is at most one warning."""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from children import finished
from installed import (
    CODES,
    COMPILED,
    HASHED,
    ONE,
    PACKAGE,
    RIGHT,
    files_in,
    install,
    one_warning,
    recorded,
    using,
)

import fastgnb

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.skipif(sys.platform == "win32", reason="paths and layers are POSIX"),
]


# damage and full disks


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
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    code = """
import numpy as np
from fastgnb.kernels.learn import encode
for dtype in (np.int32, np.int64):
    codes = np.empty(2, dtype)
    encode._look_up(1, np.array([3, 1]), 0, np.arange(9, 5, -1, dtype), codes, work=0)
    print(codes.tolist())
"""
    assert python(code + COMPILED, **cache) == "[6, 8]\n[6, 8]\ncompiled 2\n"
    one, two = tmp_path.rglob("*_look_up*.nbc")
    contents = one.read_bytes(), two.read_bytes()
    two.write_bytes(contents[0])
    one.write_bytes(contents[1])
    assert python(code + COMPILED, **cache) == "[6, 8]\n[6, 8]\ncompiled 2\n"


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


@pytest.mark.any_version
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


# caches of others and of many


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
from fastgnb._numba import cache, compiler

from fastgnb.kernels.learn import encode
def compiled():
    cache._origin.cache_clear()
    fresh = compiler.compile_cached(encode._hash_rows.py_func)
    codes = np.empty(3, np.int32)
    assert fresh(np.array([[3], [1], [3]], np.uint32), codes).tolist() == [0, 1]
    assert codes.tolist() == [0, 1, 0]
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


@pytest.mark.any_version
def test_installs_that_share_a_folder_keep_their_own_code(python, tmp_path):
    a, b = install(tmp_path / "a"), install(tmp_path / "b")
    changed = b / "fastgnb" / "kernels" / "learn" / "encode.py"
    source = changed.read_text()
    assert source.count("codes[i] = table[y[i] - low]") == 2
    changed.write_text(source.replace("codes[i] = table[y[i] - low]", "codes[i] = 7"))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(using(a, CODES), **cache) == "[1, 0, 1]\n"
    assert python(using(b, CODES), **cache) == "[7, 7, 7]\n"


@pytest.mark.any_version
def test_another_source_of_the_same_size_and_time_makes_the_cache_stale(python, tmp_path):
    """As in images that share a volume and set all times alike."""
    where = install(tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = using(where, ONE + COMPILED)
    assert python(code, **cache).endswith("compiled 1\n")
    module = where / "fastgnb" / "kernels" / "learn" / "encode.py"
    before, source = module.stat(), module.read_text()
    changed = source.replace("_NEAR = 1 << 12", "_NEAR = 1 << 11")
    assert len(changed) == len(source)
    assert changed != source
    module.write_text(changed)
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert python(code, **cache).endswith("compiled 1\n")


@pytest.mark.any_version
def test_eight_processes_may_compile_at_once(python, tmp_path):
    cache, go = tmp_path / "cache", tmp_path / "go"
    wait = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.001)\n"
    code = ONE.replace("print", wait + "print")
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(cache), PYTHONPATH=str(PACKAGE.parent))
    with ThreadPoolExecutor(8) as pool:
        ends = [
            pool.submit(finished, [sys.executable, "-c", code], env=environment) for _ in range(8)
        ]
        go.touch()
    assert [(end.result().stdout, end.result().stderr) for end in ends] == [("[1, 3]\n", "")] * 8
    assert python(ONE + COMPILED, NUMBA_CACHE_DIR=str(cache)) == "[1, 3]\ncompiled 0\n"
    assert len(files_in(cache)) == 1


# folders that are not there


@pytest.mark.any_version
@pytest.mark.parametrize("below", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_cache_folder_that_cannot_be_made_leaves_the_package_to_cache(python, tmp_path, below):
    file = tmp_path / "file"
    file.write_text("kept")
    where = install(tmp_path / "package")
    code = using(where, ONE + COMPILED)
    cache = {"NUMBA_CACHE_DIR": str(file / "below" if below else file)}
    assert python(code, **cache) == "[1, 3]\ncompiled 1\n"
    assert len([*where.rglob("__pycache__/*.nbc")]) == 1
    assert file.read_text() == "kept"


@pytest.mark.any_version
def test_a_cache_folder_deleted_on_the_way_is_made_again(python, tmp_path):
    cache = tmp_path / "cache"
    code = CODES + f"import shutil; shutil.rmtree({str(cache)!r})\n" + HASHED
    assert python(code, NUMBA_CACHE_DIR=str(cache)) == RIGHT
    assert len(files_in(cache)) == 1


@pytest.mark.any_version
def test_a_cache_folder_that_becomes_a_file_on_the_way_costs_one_warning(python, tmp_path):
    cache = tmp_path / "cache"
    change = f"import shutil; shutil.rmtree({str(cache)!r}); open({str(cache)!r}, 'w').close()\n"
    code = recorded(CODES.replace("print", change + "print") + HASHED)
    assert "NUMBA_CACHE_DIR" in one_warning(python(code, NUMBA_CACHE_DIR=str(cache)), RIGHT)
    assert cache.read_bytes() == b""


# The smallest kernels, which compile in a second or two.
QUICK = """
import numpy as np
from fastgnb.input.labels import encode_labels
for y in (np.array([3, 1, 3]), np.array([2.0, -1.0])):
    print(encode_labels(y).classes, encode_labels(y).codes)
"""


def copy_of_package(folder: Path) -> Path:
    shutil.copytree(
        Path(fastgnb.__file__).parent, folder / "fastgnb",
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    return folder


def test_no_place_for_a_cache_costs_one_warning(python, tmp_path):
    where = copy_of_package(tmp_path)
    for init in (where / "fastgnb").rglob("__init__.py"):
        (init.parent / "__pycache__").write_text("a file where the folder should be")
    code = (
        f"import sys, warnings; sys.path.insert(0, {str(where)!r})\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n    "
        + QUICK.strip().replace("\n", "\n    ")
        + "\nassert [w.category for w in caught] == [RuntimeWarning], caught\n"
        "assert 'NUMBA_CACHE_DIR' in str(caught[0].message)\n"
        "import fastgnb; assert fastgnb.__file__.startswith(sys.path[0])\n"
    )
    nowhere = "/dev/null/nowhere"
    got = python(
        code, HOME=nowhere, XDG_CACHE_HOME=nowhere, NUMBA_CACHE_DIR=None, LOCALAPPDATA=nowhere,
        PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    assert got == python(QUICK)


@pytest.mark.any_version
@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty"])
def test_damaged_cache_files_are_compiled_anew(python, tmp_path, damage):
    want = python(QUICK, NUMBA_CACHE_DIR=str(tmp_path))
    files = [f for f in tmp_path.rglob("*.nb?") if f.suffix in (".nbi", ".nbc")]
    assert files
    for file in files:
        whole = file.read_bytes()
        broken = {"truncated": whole[: len(whole) // 2], "garbage": b"\x80garbage", "empty": b""}
        file.write_bytes(broken[damage])
    code = "import warnings; warnings.simplefilter('ignore', RuntimeWarning)\n" + QUICK
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path)) == want


def test_the_cache_is_used(python, tmp_path):
    code = (
        QUICK
        + "from fastgnb._numba.compiler import DISPATCHERS\n"
        + "print('COMPILED', sum(sum(one.stats.cache_misses.values()) for one in DISPATCHERS))"
    )
    first = python(code, NUMBA_CACHE_DIR=str(tmp_path)).split("COMPILED")[1]
    second = python(code, NUMBA_CACHE_DIR=str(tmp_path)).split("COMPILED")[1]
    assert int(first) > 0
    assert int(second) == 0


# Files that a kernel of `encode` is made from, and files that it is not.
CHANGED = {
    "_numba/compiler.py": 1, "_numba/threads.py": 1, "kernels/learn/encode.py": 1,
    "_numba/singles.py": 0, "kernels/learn/merge.py": 0,
}  # fmt: skip


@pytest.mark.any_version
def test_a_change_in_any_file_that_a_kernel_is_made_from_makes_its_entry_stale(python, tmp_path):
    where = install(tmp_path)
    code = using(where, ONE + COMPILED)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(code, **cache).endswith("compiled 1\n")
    assert python(code, **cache).endswith("compiled 0\n")
    for name, compiled in CHANGED.items():
        file = where / "fastgnb" / name
        file.write_text(file.read_text() + "# changed\n")
        assert python(code, **cache).endswith(f"compiled {compiled}\n"), name
