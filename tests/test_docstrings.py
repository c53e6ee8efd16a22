"""Public docstrings: numpydoc finds no fault in them, and their examples run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import tomllib
from pathlib import Path

import numpy as np
import pytest
from engines import need
from public_names import ENGINES, MODULES, public_methods, public_objects

import fastgnb

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).resolve().parents[1]
OBJECTS = public_objects()
METHODS = public_methods()


def validated(name: str) -> dict[str, str]:
    """What numpydoc finds in a docstring, of the checks that pyproject.toml selects."""
    validate = pytest.importorskip("numpydoc.validate")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    checks = set(project["tool"]["numpydoc_validation"]["checks"])
    assert "all" in checks, "the other checks are those left out"
    return {code: text for code, text in validate.validate(name)["errors"] if code not in checks}


@pytest.mark.dev
@pytest.mark.parametrize("name", [*OBJECTS, *METHODS])
def test_docstring_is_numpydoc(name):
    assert not validated(name)


@pytest.mark.parametrize("name", OBJECTS)
def test_class_or_function_has_sections(name):
    """A reader of any of them finds an example and the way to its relatives."""
    text = inspect.getdoc(OBJECTS[name]) or ""
    is_error = inspect.isclass(OBJECTS[name]) and issubclass(OBJECTS[name], Exception)
    sections = ["See Also"] if is_error else ["See Also", "Examples"]
    missing = [section for section in sections if f"\n{section}\n{'-' * len(section)}" not in text]
    assert not missing


def with_examples() -> list[str]:
    named = {**OBJECTS, **METHODS, **{name: importlib.import_module(name) for name in MODULES}}
    found = [name for name, value in named.items() if ">>> " in (inspect.getdoc(value) or "")]
    return [
        pytest.param(name, marks=[pytest.mark.engine] if engine_of(name) else []) for name in found
    ]


def engine_of(name: str) -> str | None:
    """The engine that the examples of a public name need."""
    return next((engine for module, engine in ENGINES.items() if name.startswith(module)), None)


@pytest.mark.parametrize("name", with_examples())
def test_examples_run(name, tmp_path, monkeypatch):
    """Each in an empty folder, with the names that it imports itself."""
    if engine := engine_of(name):
        need(engine)
    monkeypatch.chdir(tmp_path)
    value = OBJECTS.get(name) or METHODS.get(name) or importlib.import_module(name)
    parser, flags = doctest.DocTestParser(), doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = parser.get_doctest(inspect.getdoc(value), {}, name, None, None)
    runner = doctest.DocTestRunner(optionflags=flags)
    shown: list[str] = []
    with np.printoptions(precision=6, suppress=True, threshold=100, linewidth=88):
        runner.run(test, out=shown.append)
    assert not runner.failures, "".join(shown)
    assert runner.tries


def test_public_names_are_all_here():
    """Other modules beside the rooms would be public too; so would be a class without `__all__`."""
    package = Path(fastgnb.__file__).parent
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__", "_version"}
    assert modules == {"select"}
    known = {
        "fastgnb.GaussianNB", "fastgnb.GaussianBayes.partial_fit", "fastgnb.GaussianNB.to_sklearn",
        "fastgnb.ClassStats.from_rows", "fastgnb.load", "fastgnb.select.StatsGridSearchCV.fit",
    }  # fmt: skip
    assert known <= {*OBJECTS, *METHODS}
    listed = {f"{module}.{name}" for module in MODULES for name in module_all(module)}
    assert listed - {"fastgnb.__version__"} == set(OBJECTS)


def module_all(module: str) -> list[str]:
    return getattr(importlib.import_module(module), "__all__", [])
