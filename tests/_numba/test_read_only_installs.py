"""Read-only and odd installs: answers are right, and there is at most one warning."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from installed import (
    CODES,
    COMMANDS,
    COMPILED,
    DONE,
    GOOD,
    MODEL,
    ONE,
    PACKAGE,
    files_in,
    install,
    one_warning,
    recorded,
    using,
)

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.any_version,
    pytest.mark.skipif(sys.platform == "win32", reason="paths and layers are POSIX"),
]


# --- read-only installs

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


@pytest.mark.slow
def test_a_read_only_install_without_a_home_does_all_its_work(python, read_only, tmp_path):
    code = in_read_only(read_only, recorded(MODEL + COMMANDS))
    out = python(
        code, str(tmp_path), HOME=str(read_only), XDG_CACHE_HOME=None, NUMBA_CACHE_DIR=None
    )
    assert "NUMBA_CACHE_DIR" in one_warning(out, GOOD + DONE)


# oddities of installs


KINDS = [
    pytest.param({"NUMBA_NUM_THREADS": "1"}, marks=pytest.mark.slow),
    {"PYTHONWARNINGS": "error", "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"},
    # Without asserts and docstrings the bytecode is another, and all is compiled anew.
    pytest.param({"PYTHONOPTIMIZE": "2"}, marks=pytest.mark.slow),
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
    assets = {".css", ".html", ".js"}
    assert {file.suffix for file in files_in(where)} - assets == {".py", ".nbc", ".typed"}


def test_an_isolated_interpreter(tmp_path):
    """`python -I` looks at no variable and no folder of the user's."""
    code = using(PACKAGE.parent, MODEL)
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, GOOD, "")
