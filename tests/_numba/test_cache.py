"""Caches and installs: whatever lies in the cache and wherever the package stands, answers are
right, and there is at most one warning."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from installed import (
    CODES,
    COMPILED,
    HASHED,
    ONE,
    PACKAGE,
    RIGHT,
    install,
    one_warning,
    recorded,
    using,
)
from layers import FOR_LAYERS

from fastgnb._numba.disk_cache import Entries, Key
from fastgnb.kernels import chunks

pytestmark = [pytest.mark.compiled, pytest.mark.fresh]

if sys.platform == "win32":  # pragma: no cover
    pytest.skip("rights, limits and paths of this file are POSIX", allow_module_level=True)


# The parallel loop too, compiled for two kernels.
THREADS = """
import numpy as np
from fastgnb._numba import compiler, threads, warmup
from fastgnb.input.labels import encode_labels
threads.PARALLEL_WORK = threads.LARGE_WORK = 0
y = np.arange(40_000) * 5 % 7
print((encode_labels(y).codes == y).all())
"""

# All that most users do; of a size at which threads start.
MODEL = """
import numpy as np
from fastgnb import GaussianNB
r = np.random.default_rng(0)
y = np.arange(50_000) % 3
X = r.normal(size=(50_000, 6)) + 20 * y[:, None]
model = GaussianNB().fit(X[:25_000], y[:25_000]).partial_fit(X[25_000:], y[25_000:])
print((model.predict(X) == y).all(), np.abs(model.theta_.T - [0, 20, 40]).max() < 0.1)
try:
    model.predict(X * np.nan)
except ValueError as error:
    print("NaN" in str(error))
"""
GOOD = "True True\nTrue\n"


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


# entries, without compiling

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


# folders that are not there


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


def test_a_cache_folder_deleted_on_the_way_is_made_again(python, tmp_path):
    cache = tmp_path / "cache"
    code = CODES + f"import shutil; shutil.rmtree({str(cache)!r})\n" + HASHED
    assert python(code, NUMBA_CACHE_DIR=str(cache)) == RIGHT
    assert len(files_in(cache)) == 1


def test_a_cache_folder_that_becomes_a_file_on_the_way_costs_one_warning(python, tmp_path):
    cache = tmp_path / "cache"
    change = f"import shutil; shutil.rmtree({str(cache)!r}); open({str(cache)!r}, 'w').close()\n"
    code = recorded(CODES.replace("print", change + "print") + HASHED)
    assert "NUMBA_CACHE_DIR" in one_warning(python(code, NUMBA_CACHE_DIR=str(cache)), RIGHT)
    assert cache.read_bytes() == b""


# read-only installs

# Root writes anywhere, until it lays down its rights.
WITHOUT_RIGHTS = """
import os, sys
if os.geteuid() == 0:
    import ctypes
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(header, none) == 0
"""

# A user without a home that the system knows, as in containers that are given any number as user.
UNKNOWN_USER = """
import pwd
def nobody(uid): raise KeyError(uid)
pwd.getpwuid = nobody
"""


@pytest.fixture
def read_only(tmp_path):
    """A folder with the package, in which nothing may be made or changed."""
    if os.geteuid() == 0 and not sys.platform.startswith("linux"):  # pragma: no cover
        pytest.skip("root cannot lay down its rights here")
    where = install(tmp_path / "read only")
    folders = [where, *(path for path in where.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield where
    for folder in folders:
        folder.chmod(0o755)


def in_read_only(where: Path, code: str) -> str:
    """The code, without rights, after a look that the folder is read-only indeed."""
    check = (
        f"for folder in ('', '/fastgnb', '/fastgnb/kernels'):\n"
        f"    assert not os.access({str(where)!r} + folder, os.W_OK)\n"
    )
    return WITHOUT_RIGHTS + check + using(where, code)


@pytest.mark.promise("degraded")
@pytest.mark.parametrize(
    "home", ["read-only", "unknown", pytest.param("unset", marks=pytest.mark.slow)]
)
def test_a_read_only_install_without_a_home_costs_one_warning(python, read_only, tmp_path, home):
    before = files_in(tmp_path)
    (tmp_path / "here").mkdir()
    code = "import os; os.chdir(sys.argv[1])\n" + recorded(CODES)
    environment: dict[str, str | None] = {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None}
    environment["HOME"] = str(read_only) if home == "read-only" else None
    if home == "unset":  # the system knows one all the same, where this test has no business
        environment["XDG_CACHE_HOME"] = str(read_only)
    if home == "unknown":
        code = UNKNOWN_USER + code
    out = python(in_read_only(read_only, code), str(tmp_path / "here"), **environment)
    assert "NUMBA_CACHE_DIR" in one_warning(out, "[1, 0, 1]\n")
    assert files_in(tmp_path) == before
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.promise("installs")
@pytest.mark.slow
def test_a_read_only_install_caches_at_home(python, read_only, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    environment: dict[str, str | None] = {
        "HOME": str(home), "NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None,
    }  # fmt: skip
    code = in_read_only(read_only, CODES + COMPILED)
    assert python(code, **environment) == "[1, 0, 1]\ncompiled 2\n"
    assert python(code, **environment) == "[1, 0, 1]\ncompiled 0\n"


COMMANDS = """
import csv
from pathlib import Path
from fastgnb.cli import main
folder = Path(sys.argv[1])
lines = [f"{i % 2 * 9},{i % 3},{'ab'[i % 2]}" for i in range(60)]
(folder / "rows.csv").write_text("\\n".join(["x,z,y", *lines]))
model, rows, found = (str(folder / name) for name in ("m.fgnb", "rows.csv", "found.csv"))
print(main(["fit", rows, "--target", "y", "--model", model, "--quiet"]),
      main(["predict", model, rows, "--output", found, "--quiet"]))
with open(found) as file:
    got = [line[0] for line in csv.reader(file)]
print(got[1:] == [line[-1] for line in lines])
"""
DONE = "0 0\nTrue\n"


@pytest.mark.slow
def test_a_read_only_install_without_a_home_does_all_its_work(python, read_only, tmp_path):
    code = in_read_only(read_only, recorded(MODEL + COMMANDS))
    out = python(
        code, str(tmp_path), HOME=str(read_only), XDG_CACHE_HOME=None, NUMBA_CACHE_DIR=None
    )
    assert "NUMBA_CACHE_DIR" in one_warning(out, GOOD + DONE)


# threading layers


def without(*layers: str) -> str:
    """Code after which these threading layers cannot be imported."""
    return "import sys\n" + "".join(
        f"sys.modules['numba.np.ufunc.{layer}'] = None\n" for layer in layers
    )


LAST_LAYER = without("omppool", "tbbpool"), "import numba; print(numba.threading_layer())"


def test_the_last_threading_layer_is_enough(python):
    out = python(MODEL.join(LAST_LAYER), NUMBA_NUM_THREADS="2")
    assert out == GOOD + "workqueue\n"


@pytest.mark.slow
def test_the_last_threading_layer_is_enough_to_compile(python, tmp_path):
    cache = {"NUMBA_NUM_THREADS": "2", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert python(THREADS.join(LAST_LAYER), **cache) == "True\nworkqueue\n"


NO_LAYER = {
    "none": (without("omppool", "tbbpool", "workqueue"), None),
    "not the one asked for": (without("tbbpool"), "tbb"),
    "none of that name": ("", "nothing"),
}


@pytest.mark.promise("degraded")
@pytest.mark.parametrize(
    "case", ["none", *(pytest.param(c, marks=pytest.mark.slow) for c in list(NO_LAYER)[1:])]
)
def test_without_a_threading_layer_own_threads_do_the_work(python, case):
    prelude, layer = NO_LAYER[case]
    code = (
        FOR_LAYERS + recorded(MODEL)
        + "print(threads.n_threads(), threads._process.pool is not None)"
    )  # fmt: skip
    out = python(prelude + code, NUMBA_NUM_THREADS="2", NUMBA_THREADING_LAYER=layer)
    assert out == f"{GOOD}2 True\n"


def test_without_a_threading_layer_warming_up_compiles_what_is_left(python):
    """Only the small kernels: the examples of those that are imported."""
    code = recorded(CODES + "print(warmup.compile_all())")
    out = python(without("omppool", "tbbpool", "workqueue") + code, NUMBA_NUM_THREADS="2")
    assert out == "[1, 0, 1]\n5\n"


@pytest.mark.promise("degraded")
def test_without_the_compiler_the_command_works(python, tmp_path):
    code = "import sys\n" + COMMANDS + "print(main(['warmup']))"
    out = python(code, str(tmp_path), NUMBA_DISABLE_JIT="1")
    assert out == DONE + "0 kernels: the compiler is switched off (NUMBA_DISABLE_JIT)\n0\n"


# oddities of installs


KINDS = [
    pytest.param({"NUMBA_NUM_THREADS": "1"}, marks=pytest.mark.slow),
    {"PYTHONWARNINGS": "error", "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"},
    *(
        # Without docstrings the bytecode is another, and all is compiled anew.
        pytest.param({"PYTHONOPTIMIZE": level}, marks=pytest.mark.slow)
        for level in ("1", "2")
    ),
]


@pytest.mark.parametrize("environment", KINDS, ids=str)
def test_interpreters_of_all_kinds(python, tmp_path, environment):
    code = "import sys\n" + MODEL + COMMANDS
    assert python(code, str(tmp_path), **environment) == GOOD + DONE


@pytest.mark.slow
def test_with_and_without_docstrings_kernels_are_compiled_once_each(python, tmp_path):
    where = {"NUMBA_CACHE_DIR": str(tmp_path)}
    for compiled in (1, 0):
        for level in ("", "2"):
            out = python(ONE + COMPILED, PYTHONOPTIMIZE=level, PYTHONWARNINGS="error", **where)
            assert out == f"[1, 3]\ncompiled {compiled}\n"


def test_a_path_with_spaces_and_letters_of_many_languages(python, tmp_path):
    where = install(tmp_path / "mes données – 数据 'x' %s")
    code = using(where, ONE + COMPILED)
    without_bytecode = {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": None}
    assert python(code, **without_bytecode) == "[1, 3]\ncompiled 1\n"
    assert python(code, **without_bytecode) == "[1, 3]\ncompiled 0\n"
    assert {file.suffix for file in files_in(where)} == {".py", ".nbc", ".typed"}


def test_an_isolated_interpreter(tmp_path):
    """`python -I` looks at no variable and no folder of the user's."""
    code = using(PACKAGE.parent, MODEL)
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, GOOD, "")


# what is compiled


def test_rows_that_lie_between_the_places_of_floats_are_moved():
    """Kernels read whole float64; where memory is not laid out for that, there is a copy."""
    odd = np.frombuffer(bytearray(8 * 12 + 1), np.uint8)[1:].view(np.float64).reshape(6, 2)
    odd[...] = np.arange(12).reshape(6, 2)
    assert not odd.flags.aligned
    parts = list(chunks.contiguous_chunks(odd, np.array([0, 3, 6])))
    assert all(part.data.flags.aligned for part in parts)
    rows = [part.data[: 2 * (part.stop - part.start)] for part in parts]
    assert np.concatenate(rows).tolist() == list(range(12))


TOUR = """
import sys, warnings
import numpy as np, pandas as pd, polars as pl
warnings.simplefilter("error")
from sklearn.naive_bayes import GaussianNB as Plain
from fastgnb import ClassStats, GaussianNB, cli, kernels, load, save
from fastgnb._numba import compiler, threads, warmup
folder = sys.argv[1]
threads.PARALLEL_WORK = threads.LARGE_WORK = 0
warm = kernels.warmup()
ASK = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
       "predict_log_evidence")

def laid_out(a):
    yield np.ascontiguousarray(a)
    yield np.asfortranarray(a)
    yield a.repeat(2, axis=-1)[..., ::2]
    yield a[::-1].copy()[::-1]
    yield a[..., ::-1].copy()[..., ::-1]
    yield a.astype(a.dtype.newbyteorder("S"))
    odd = np.frombuffer(bytearray(a.nbytes + 1), np.uint8)[1:].view(a.dtype).reshape(a.shape)
    odd[...] = a
    yield odd
    still = a.copy()
    still.flags.writeable = False
    yield still

def mapped(a, order):
    name = f"{folder}/{order}{a.dtype}"
    file = np.memmap(name, a.dtype, "w+", shape=a.shape, order=order)
    file[...] = a
    yield file
    yield np.memmap(name, a.dtype, "r", shape=a.shape, order=order)

def learn(X, y, w=None, missing="error"):
    stats = ClassStats.from_rows(X, y, w, missing=missing)
    return GaussianNB(missing=missing).fit(X, y, w).partial_fit(X, y, sample_weight=w), stats

def visit(X, y, w=None, missing="error"):
    model, stats = learn(X, y, w, missing)
    for name in ASK:
        getattr(model, name)(X)
    stats = stats.update(X, y) + stats
    stats.total(), stats.within(), stats.between()
    model.merge(GaussianNB(missing=missing).fit_stats(stats))

r = np.random.default_rng(0)
base, y = r.integers(0, 2, (12, 3)), np.arange(12) % 3
base[:3] = np.eye(3)
X, text, some = base + r.normal(size=base.shape), np.array(["a", "bc", "d"])[y], r.random(12) + 0.5

# Rows: dtypes and layouts, sizes, memory maps, frames.
for dtype in ("f8", "f4", "f2", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
    for rows in laid_out(base.astype(dtype)):
        visit(rows, y)
        visit(rows, y, some, "skip")
    if dtype != "g":
        for order in "CF":
            for rows in mapped(base.astype(dtype), order):
                visit(rows, y)
for n, d, k in ((1, 1, 1), (3000, 1, 1), (3000, 3, 2), (3000, 9, 4), (3000, 40, 50)):
    full = r.normal(size=(n, d))
    for rows in (full, np.asfortranarray(full.astype("f4")), full.astype("f2"), full[:, ::-1]):
        visit(rows, np.arange(n) % k, r.random(n) + 0.1)
        visit(rows, np.arange(n) % k, None, "skip")
frame = pd.DataFrame(X, columns=list("abc"))
for rows in (frame, frame.astype("f4"), frame.assign(b=base[:, 0], c=y > 0),
             frame.astype("Float64"), pl.DataFrame({"a": X[:, 0], "b": base[:, 0]}), X.tolist()):
    visit(rows, y)
    visit(rows, y, None, "skip")

# Labels and weights.
numbers = [y.astype(t) for t in "bhilBHILefdg"]
wide = [y == 0, y * 10**6, y * (1 << 61), np.array([0, 1, 2**64 - 1], np.uint64)[y], y - 2.0, text]
for kind in numbers + wide:
    for labels in laid_out(kind):
        learn(X, labels)
for labels in (y.tolist(), text.tolist(), text.astype(object), y.astype(object), pd.Series(y),
               pd.Series(text), pd.Series(text, dtype="category"), pd.Series(y, dtype="Int64"),
               pd.Series(y == 1, dtype="boolean"), pl.Series(y), pl.Series(text)):
    visit(X, labels)
[GaussianNB().fit(X, labels).score(X, labels) for labels in (y, text, y == 0)]
for kind in "fdegiB":
    for weight in laid_out((some * 9).astype(kind)):
        learn(X, y, weight)
for weight in (2.0, 3, y >= 0, some.tolist(), some.astype(object), some * 1e-250, pd.Series(some),
               pl.Series(some)):
    learn(X, y, weight)

# Ends of the ranges, and statistics that others made.
ClassStats.from_rows(np.empty((0, 3)), [])
ClassStats.from_rows(X, y, classes=np.arange(9)).as_one_class()
GaussianNB().partial_fit(X[:1], y[:1], classes=[0, 1, 2]).partial_fit(X, y)
far = np.full((1, 3), 1e200)
[getattr(GaussianNB(missing=m).fit(X, y), name)(far) for m in ("error", "skip") for name in ASK]
stats = ClassStats.from_rows(X, y)
stats - ClassStats.from_rows(X[:6], y[:6])
own = stats.count, stats.mean, stats.variance, stats.mean_lo
for parts in zip(*map(laid_out, own)):
    odd = ClassStats(stats.classes, *parts)
    odd + odd, stats + odd, odd + stats, odd.as_one_class(), odd.between()
    GaussianNB().fit_stats(odd).predict(X)
odd = ClassStats(stats.classes, *(part.astype("f4") for part in own))
odd + stats, odd.as_one_class()
plain = Plain().fit(X, y)
plain.theta_, plain.var_ = np.asfortranarray(plain.theta_), np.asfortranarray(plain.var_)
taken = GaussianNB.from_sklearn(plain).partial_fit(X, y)
taken.theta_, taken.var_ = np.asfortranarray(taken.theta_).astype("f4"), taken.var_[:, ::-1]
[getattr(taken, name)(X) for name in ASK]

# Files, and the command.
save(taken, f"{folder}/taken.fgnb")
load(f"{folder}/taken.fgnb").partial_fit(X, y).merge(taken)
for kind in ("f4", "f8", "i8"):
    data, model, out = (f"{folder}/{kind}.{end}" for end in ("parquet", "fgnb", "csv"))
    (frame * 9).astype(kind).assign(y=text).to_parquet(data)
    for command in (["fit", data, "--target", "y", "--model", model],
                    ["update", model, data, "--target", "y", "--again"],
                    ["predict", model, data, "--proba", "--evidence", "--output", out]):
        assert cli.main([*command, "--quiet"]) == 0
print(warm, warmup.n_compiled())
"""


@pytest.mark.promise("kernels")
def test_warming_up_compiles_all_that_any_input_needs(python, tmp_path):
    """43 variants, as the docstring of `_numba.warmup` says."""
    assert python(TOUR, str(tmp_path), NUMBA_THREADING_LAYER="omp").split() == ["43", "43"]
