"""The shape of the house: dependencies stay in their rooms, and files and functions are short."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import fastgnb
from fastgnb._system.optional import MissingExtraError
from fastgnb.model.family import MEMBERS

pytestmark = pytest.mark.any_version

PACKAGE = Path(fastgnb.__file__).parent

# Third-party packages that only these rooms may import.
ROOMS = {
    "numba": {"_numba"},
    "llvmlite": {"_numba"},
    "dask": {"dask"},
    "distributed": {"dask"},
    "sklearn": {"estimators", "evaluation", "files", "cli", "dask", "plot", "report"},
    "matplotlib": {"plot"},
    "mlflow": {"mlflow"},
    "onnx": {"export"},
    "pandas": {"plot"},
    "polars": {"export"},
    "pyspark": {"spark"},
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


def test_public_packages_are_attributes(python):
    names = "dask", "files", "mlflow", "plot", "report", "select", "spark"
    code = "import fastgnb, sys\n"
    code += "".join(f"print(fastgnb.{name}.__name__, fastgnb.{name}.__all__)\n" for name in names)
    code += "print([m for m in ('dask', 'matplotlib', 'mlflow', 'pyspark') if m in sys.modules])"
    *lines, loaded = python(code).splitlines()
    assert [line.split()[0] for line in lines] == [f"fastgnb.{name}" for name in names]
    assert loaded == "[]"


def test_no_room_for_leftovers():
    names = {part for name, _ in modules() for part in name.split(".")}
    assert not names & {"utils", "core", "common", "helpers", "misc"}


def is_kernel(name):
    return name.startswith("kernels.")


def functions(tree):
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def length(function):
    """Lines of the body, without the docstring."""
    first, *rest = function.body
    if ast.get_docstring(function) is not None:
        if not rest:
            return 0
        first = rest[0]
    return function.end_lineno - first.lineno + 1


def test_functions_fit_on_a_screen():
    too_long = {
        f"{name}.{function.name}"
        for name, path in modules()
        for function in functions(ast.parse(path.read_text()))
        if length(function) > (70 if is_kernel(name) else 40)
    }
    assert not too_long


def test_files_have_one_idea():
    too_long = {
        name
        for name, path in modules()
        if not is_kernel(name) and len(path.read_text().splitlines()) > 350
    }
    assert not too_long


def test_nothing_outside_the_registry_asks_for_a_member():
    """Its options and what it needs are declared there, and so a further member needs no branch.

    Model files of earlier schemas have to be read by the names that they hold.
    """
    asks = {
        f"{name}:{node.lineno}"
        for name, path in modules()
        if name != "model.family" and "schema" not in name
        for node in ast.walk(ast.parse(path.read_text()))
        if asks_for_a_member(node)
    }
    assert not asks


def asks_for_a_member(node):
    """Whether an expression compares with the name of a member, or with its estimator's class."""
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.match_case):
        parts = [node.pattern]
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
        parts = node.args[1:]
    else:
        return False
    within = [inner for part in parts for inner in ast.walk(part)]
    names = {inner.value for inner in within if isinstance(inner, ast.Constant)}
    names |= {inner.id for inner in within if isinstance(inner, ast.Name)}
    names |= {inner.attr for inner in within if isinstance(inner, ast.Attribute)}
    return not names.isdisjoint(MEMBERS)


# ----------------------------------------------------------------------------- the tests themselves

TESTS = Path(__file__).parent


def files_of_tests():
    return sorted(TESTS.rglob("test_*.py"))


def test_no_test_imports_another():
    """What several need is a fixture of a conftest, or in a module beside them."""
    own = {path.stem for path in files_of_tests()} | {"conftest"}
    for path in TESTS.rglob("*.py"):
        found = {name for name in third_parties(path) if name in own}
        assert not found, f"{path.name} imports {found}"


IMPORT = re.compile(r"from (fastgnb[\w.]*) import (\w[\w, ]*)")


def test_names_that_tests_import_are_there():
    """In code for other processes too, which no linter sees."""
    for path in sorted(TESTS.rglob("*.py")):
        for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
            try:
                namespace = importlib.import_module(module)
            except MissingExtraError:  # tests of that engine run where it is installed
                continue
            for name in re.sub(r" as \w+", "", names).replace(" ", "").strip(",").split(","):
                # In this order: a lazy name may need an extra that is not installed.
                is_there = name in dir(namespace) or hasattr(namespace, name)
                is_there = is_there or importlib.util.find_spec(f"{module}.{name}")
                assert is_there, f"{path.name}: from {module} import {name}"


def test_tests_are_in_the_folder_of_a_room():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    folders = {path.parent.relative_to(TESTS).as_posix() for path in files_of_tests()}
    assert folders <= rooms | {".", "bench", "browser", "docs"}


def test_test_files_have_names_of_their_own():
    """pytest imports them, and the modules beside them, by name alone."""
    names = [path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py"]
    assert {name for name in names if names.count(name) > 1} == set()


def test_test_files_have_one_idea():
    long = {
        path.relative_to(TESTS).with_suffix("").as_posix()
        for path in files_of_tests()
        if len(path.read_text(encoding="utf-8").splitlines()) > 600
    }
    assert not long
