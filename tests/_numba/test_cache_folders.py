"""Folders of caches that cannot be made, vanish or may not be written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from cache_cases import COMMANDS, DONE, GOOD, MODEL, files_in
from installed import (
    CODES,
    COMPILED,
    HASHED,
    ONE,
    RIGHT,
    install,
    one_warning,
    recorded,
    using,
)

pytestmark = [pytest.mark.compiled, pytest.mark.fresh]

if sys.platform == "win32":  # pragma: no cover
    pytest.skip("rights, limits and paths of this file are POSIX", allow_module_level=True)


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
