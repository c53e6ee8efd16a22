"""Installs of every kind keep their compiled kernels: archives, only .pyc, frozen, vendored."""

from __future__ import annotations

import compileall
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from installed import COMPILED, ONE, PACKAGE, install, one_warning, recorded, using

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.any_version,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]

CODE = recorded(ONE + COMPILED)
FRESH, CACHED = "[1, 3]\ncompiled 1\n", "[1, 3]\ncompiled 0\n"


def archive(folder: Path, to: Path) -> Path:
    """A zip of all files of the package in `folder`."""
    with zipfile.ZipFile(to, "w") as file:
        for path in sorted((folder / "fastgnb").rglob("*")):
            if path.suffix in (".py", ".pyc"):
                file.write(path, path.relative_to(folder))
    return to


def without_sources(folder: Path) -> Path:
    """The package in `folder` with .pyc files in place of its sources."""
    install(folder)
    assert compileall.compile_dir(folder / "fastgnb", legacy=True, quiet=1)
    for path in (folder / "fastgnb").rglob("*.py"):
        path.unlink()
    shutil.rmtree(folder / "fastgnb" / "__pycache__", ignore_errors=True)
    return folder


def make(kind: str, folder: Path) -> Path:
    """Something to put on sys.path that holds the package as `kind` says."""
    folder.mkdir()
    if kind == "zip":
        return archive(PACKAGE.parent, folder / "app.zip")
    if kind == "wheel":
        return archive(PACKAGE.parent, folder / "fastgnb-0.1-py3-none-any.whl")
    if kind == "pyc":
        return without_sources(folder / "pyc")
    if kind == "zip of pyc":
        return archive(without_sources(folder / "pyc"), folder / "library.zip")
    return install(folder / "sources")


KINDS = ["sources", "zip", "pyc", "zip of pyc", pytest.param("wheel", marks=pytest.mark.slow)]


@pytest.mark.promise("installs")
@pytest.mark.parametrize("kind", KINDS)
def test_numba_cache_dir_helps_every_install(python, tmp_path, kind):
    where = make(kind, tmp_path / "app")
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "HOME": "/dev/null"}
    assert python(using(where, CODE), **cache) == FRESH
    assert python(using(where, CODE), **cache) == CACHED
    assert list((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.promise("installs")
@pytest.mark.parametrize("kind", ["zip", "zip of pyc"])
def test_an_archive_caches_at_home_and_wherever_it_is_copied(python, tmp_path, kind):
    """As with `spark-submit --py-files`, which copies it to a new folder for each run."""
    where = make(kind, tmp_path / "app")
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None}
    assert python(using(where, CODE), **home) == FRESH
    (tmp_path / "copy").mkdir()
    copied = shutil.copy(where, tmp_path / "copy")
    where.unlink()
    assert python(using(copied, CODE), **home) == CACHED


@pytest.mark.parametrize("kind", ["zip", "pyc"])
def test_other_kernels_under_the_same_name_are_compiled_anew(python, tmp_path, kind):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "app").mkdir()
    source = install(tmp_path / "source")
    lanes = source / "fastgnb" / "_numba" / "vectors.py"
    for text in (lanes.read_text(), lanes.read_text() + "CHANGED = {1, 2}, frozenset({3}), -0.0\n"):
        lanes.write_text(text)
        shutil.rmtree(tmp_path / "app")
        (tmp_path / "app").mkdir()
        if kind == "zip":
            where = archive(source, tmp_path / "app" / "app.zip")
        else:
            where = tmp_path / "app" / "pyc"
            shutil.copytree(source, where, ignore=shutil.ignore_patterns("__pycache__"))
            assert compileall.compile_dir(where, legacy=True, quiet=1)
            for path in where.rglob("*.py"):
                path.unlink()
        assert python(using(where, CODE), **cache) == FRESH
        assert python(using(where, CODE), **cache) == CACHED


def test_an_archive_without_a_home_costs_one_warning(python, tmp_path):
    where = make("zip", tmp_path / "app")
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "NUMBA_CACHE_DIR": None}
    line = one_warning(python(using(where, recorded(ONE)), **nowhere), "[1, 3]\n")
    assert "no folder for it can be written. Set NUMBA_CACHE_DIR to a writable folder" in line


FROZEN = """
import importlib.abc, importlib.util, sys, types
sys.frozen = True
class Frozen(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    # As in a frozen application: bytecode from memory, and files that are nowhere.
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "fastgnb" or name not in CODES:
            return None
        code, is_package = CODES[name]
        place = "/nowhere/" + name.replace(".", "/")
        spec = importlib.util.spec_from_loader(name, self, origin=place, is_package=is_package)
        spec.has_location = True
        spec.cached = None
        if is_package:
            spec.submodule_search_locations = [place]
        return spec
    def create_module(self, spec):
        return None
    def get_code(self, name):
        return CODES[name][0]
    def get_source(self, name):
        return None
    def is_package(self, name):
        return CODES[name][1]
class Listing:
    def __init__(self, path):
        if not path.startswith("/nowhere/"):
            raise ImportError
        self.prefix = path.removeprefix("/nowhere/").replace("/", ".") + "."
    def iter_modules(self, prefix=""):
        for name in CODES:
            below = name.removeprefix(self.prefix)
            if below != name and "." not in below:
                yield prefix + below, False
CODES = {}
from pathlib import Path
root = Path(sys.argv[1])
for path in sorted((root / "fastgnb").rglob("*.py")):
    parts = path.relative_to(root).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    CODES[name] = compile(path.read_text(), "/".join(parts) + ".py", "exec"), is_package
sys.meta_path.insert(0, Frozen())
if LISTED:
    sys.path_hooks.insert(0, Listing)
"""


@pytest.mark.promise("installs")
def test_a_frozen_application(python, tmp_path):
    code = "LISTED = True\n" + FROZEN + CODE
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert python(code, str(PACKAGE.parent), **cache) == FRESH
    assert python("import os; os.chdir('/')\n" + code, str(PACKAGE.parent), **cache) == CACHED


def test_an_importer_that_lists_no_modules_costs_one_warning(python, tmp_path):
    code = "LISTED = False\n" + FROZEN + recorded(ONE)
    out = python(code, str(PACKAGE.parent), NUMBA_CACHE_DIR=str(tmp_path))
    line = one_warning(out, "[1, 3]\n")
    assert line.endswith("the importer of this package does not list its modules.")


@pytest.mark.slow
def test_a_copy_inside_another_package(python, tmp_path):
    (tmp_path / "house" / "parts").mkdir(parents=True)  # a namespace package
    shutil.copytree(
        PACKAGE, tmp_path / "house" / "parts" / "fastgnb",
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + CODE.replace(
        "from fastgnb", "from house.parts.fastgnb"
    )
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(code, **cache) == FRESH
    assert python(code, **cache) == CACHED
