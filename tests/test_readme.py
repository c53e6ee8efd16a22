"""The blocks of README.md and docs/*.md run as pasted, and their links lead somewhere.

The blocks of a page run one after the other, those apart that say so above them. A block below
``<!-- engine: dask, distributed -->`` needs these modules: where a page has such blocks, a test of
the mark `engine` runs all of its blocks, and the other test those that need none.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from engines import need

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"

if not README.exists():  # pragma: no cover
    pytest.skip("the tests stand without the README beside them", allow_module_level=True)

BUILT = {"_build", "auto_examples", "generated"}  # what Sphinx writes
PAGES = [
    README,
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if BUILT.isdisjoint(page.parts)),
]
RUN = [  # each page is a process; those of the guide are many
    pytest.param(page, marks=[pytest.mark.slow] if page.parent.name == "guide" else [])
    for page in PAGES
]
TEXTS = [*PAGES, ROOT / "bench" / "README.md", *sorted((ROOT / ".github").glob("*.md"))]
ENGINES = re.compile(r"<!-- engine: (\w[\w., ]*) -->")
SKIPPED = "<!-- not run by the tests: "
REASONS = {
    "it installs", "it runs them", "it takes long", "it needs skops", "it needs a container engine",
    "it needs a batch system",
}  # fmt: skip
BLOCK = re.compile(r"((?:^<!--[^\n]*-->\n)*)^```(\w*)\n(.*?)^```$", re.M | re.S)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def text_of(page):
    return page.read_text(encoding="utf-8")


class Block(NamedTuple):
    """Language and text of a block, the reason not to run it, and the engines that it needs."""

    language: str
    text: str
    reason: str | None
    engines: tuple[str, ...]


def blocks(page):
    """The blocks of a page, in order."""
    for match in BLOCK.finditer(text_of(page)):
        reason = [line for line in match[1].splitlines() if line.startswith(SKIPPED)]
        engines = tuple(name for text in ENGINES.findall(match[1]) for name in text.split(", "))
        yield Block(match[2], match[3], reason[0][len(SKIPPED) : -4] if reason else None, engines)


OF_ENGINES = [
    "-W", "ignore::DeprecationWarning:ray.data.context",
    "-W", "ignore:PySpark does not yet fully support pandas:FutureWarning",
]  # fmt: skip
"""Warnings that an engine gives of itself."""

WITH_ENGINES = {
    page: tuple(dict.fromkeys(e for b in blocks(page) for e in b.engines)) for page in PAGES
}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_found(page):
    """All of them: a language that is not run, or a fence that is not closed, would be missed."""
    found = list(blocks(page))
    assert 2 * len(found) == text_of(page).count("\n```")
    assert {block.language for block in found if not block.reason} <= {"python", "sh"}
    assert {block.language for block in found} <= {"python", "sh", "dockerfile"}
    assert {block.reason for block in found if block.reason} <= REASONS
    above = sum(bool(block.engines) for block in found)
    assert above == len(re.findall("<!-- *engine", text_of(page))), "not right above a block"


def test_readme_has_blocks_for_each_kind_of_user():
    found = list(blocks(README))
    assert sum(block.language == "python" for block in found) >= 3
    ran = [block.text for block in found if block.language == "sh" and block.reason is None]
    assert sum("fastgnb " in text for text in ran) >= 2
    for marker in ("<!-- test -->", "<!-- main -->"):  # .ci/run runs the blocks after them
        assert f"{marker}\n```sh\n" in text_of(README)


def test_readme_is_short():
    assert len(text_of(README).splitlines()) <= 150


def test_table_of_the_family_is_that_of_the_registry():
    from fastgnb.model.family import markdown_table

    table = f"<!-- family:begin -->\n{markdown_table()}\n<!-- family:end -->\n"
    assert table in text_of(README), "put what fastgnb.model.family.markdown_table() returns there"


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform == "win32", reason="blocks are for a POSIX shell")
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_blocks_run_as_pasted(page, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    run([block for block in blocks(page) if not block.reason and not block.engines], tmp_path)


@pytest.mark.compiled
@pytest.mark.engine
@pytest.mark.skipif(sys.platform == "win32", reason="blocks are for a POSIX shell")
@pytest.mark.parametrize("page", [page for page in PAGES if WITH_ENGINES[page]], ids=name_of)
def test_blocks_with_engines_run_as_pasted(page, tmp_path):
    need(*WITH_ENGINES[page])
    run([block for block in blocks(page) if not block.reason], tmp_path)


def run(found, tmp_path):
    """Run blocks one after the other, in one process."""
    if not found:
        return
    script = [
        PREAMBLE,
        *[b.text if b.language == "python" else f"shell({b.text!r})" for b in found],
    ]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    scripts = [sysconfig.get_path("scripts"), os.environ.get("PATH", "")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), PATH=os.pathsep.join(scripts))
    if not (Path(scripts[0]) / "fastgnb").exists():
        pytest.skip("the package is not installed here, and so there is no command")
    done = subprocess.run(
        [sys.executable, "-W", "error", *OF_ENGINES, "-c", "\n".join(script)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    written = re.findall(r"--(?:output|model) (\S+)", "".join(block.text for block in found))
    assert [
        path
        for path in written
        if path != "-" and not ((tmp_path / path).exists() or "://" in path)
    ] == []


PREAMBLE = """
import subprocess
def shell(text):
    done = subprocess.run(["sh", "-eu", "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, text + done.stdout + done.stderr
"""


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", text_of(page)):
        assert (page.parent / target).exists(), target


def test_the_extra_all_brings_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    closed: set[str] = set()
    to_do = ["all"]
    while to_do:
        extra = to_do.pop()
        closed.add(extra)
        for requirement in extras[extra]:
            match = re.fullmatch(r"fastgnb\[([\w,]+)\]", requirement)
            to_do += [name for name in (match[1].split(",") if match else []) if name not in closed]
    assert closed == set(extras)
    named = README.read_text(encoding="utf-8")
    assert all(f"`{extra}`" in named for extra in extras)


def test_urls_and_files_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"Source", "Issues", "Changelog"} <= set(project["urls"])
    assert all(url.startswith("https://") for url in project["urls"].values())
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pull_request_template.md"):
        assert (ROOT / ".github" / name).stat().st_size > 500, name
    version = __import__("fastgnb").__version__
    assert f"## {version}" in (ROOT / ".github" / "CHANGELOG.md").read_text(encoding="utf-8")
