"""The shape of the house: imports go down only, dependencies stay in their rooms."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fastgnb

pytestmark = [pytest.mark.any_version, pytest.mark.no_new_lines]

PACKAGE = Path(fastgnb.__file__).parent

# Third-party packages that only these rooms may import.
ROOMS = {
    "numba": {"_numba"},
    "llvmlite": {"_numba"},
    "sklearn": {"estimators", "files", "cli"},
    "safetensors": {"files"},
}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path


def third_parties(path):
    """Top-level names of packages that a file imports, without ours."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_dependencies_stay_in_their_rooms(name, path):
    for package in third_parties(path):
        if package in ROOMS:
            assert name.split(".")[0] in ROOMS[package], f"{name} imports {package}"


def test_importing_loads_no_dependency(python):
    code = (
        "import sys, fastgnb, fastgnb.cli.entry\n"
        "print([m for m in ('numpy', 'numba', 'sklearn', 'pyarrow', 'safetensors', 'tqdm')"
        " if m in sys.modules])"
    )
    assert python(code).strip() == "[]"


def test_statistics_and_files_do_not_load_scikit_learn(python, tmp_path):
    code = (
        "import sys, fastgnb\n"
        "from fastgnb.files.models import model_file as persist\n"
        "stats = fastgnb.ClassStats.from_rows([[0.0], [1.0]], ['a', 'b'])\n"
        "from fastgnb.model.model import Model\n"
        "persist.ModelFile(Model.of('GaussianNB', stats)).write(sys.argv[1])\n"
        "persist.read(sys.argv[1]).model.score(stats.mean)\n"
        "print('sklearn' in sys.modules)"
    )
    assert python(code, str(tmp_path / "m.fgnb")).strip() == "False"


def test_public_names_resolve():
    for name in fastgnb.__all__:
        assert getattr(fastgnb, name) is not None
        assert name in dir(fastgnb)
    with pytest.raises(AttributeError, match="module 'fastgnb' has no attribute 'nothing'"):
        _ = fastgnb.nothing


def test_no_room_for_leftovers():
    names = {part for name, _ in modules() for part in name.split(".")}
    assert not names & {"utils", "core", "common", "helpers", "misc"}


def test_functions_fit_on_a_screen():
    too_long = []
    for name, path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                docs = len((ast.get_docstring(node) or "").splitlines())
                if node.end_lineno - node.lineno + 1 - docs > 70:
                    too_long.append(f"{name}.{node.name}")
    assert not too_long
