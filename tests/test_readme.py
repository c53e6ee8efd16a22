"""The blocks of README.md and docs/*.md run as pasted, and their links lead somewhere.

The blocks of a page run one after the other, those apart that say so above them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.any_version, pytest.mark.no_new_lines]

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"

if not README.exists():  # pragma: no cover
    pytest.skip("the tests stand without the README beside them", allow_module_level=True)

PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = [*PAGES, ROOT / "bench" / "README.md", *sorted((ROOT / ".github").glob("*.md"))]
SKIPPED = "<!-- not run by the tests: "
REASONS = {"it installs", "it runs them", "it takes long", "it needs skops"}
BLOCK = re.compile(r"((?:^<!--[^\n]*-->\n)*)^```(\w*)\n(.*?)^```$", re.M | re.S)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def text_of(page):
    return page.read_text(encoding="utf-8")


def blocks(page):
    """Language, text, and the reason not to run it, of each block, in order."""
    for match in BLOCK.finditer(text_of(page)):
        reason = [line for line in match[1].splitlines() if line.startswith(SKIPPED)]
        yield match[2], match[3], reason[0][len(SKIPPED) : -4] if reason else None


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_found(page):
    """All of them: a language that is not run, or a fence that is not closed, would be missed."""
    found = list(blocks(page))
    assert 2 * len(found) == text_of(page).count("\n```")
    assert {language for language, _, _ in found} <= {"python", "sh"}
    assert {reason for _, _, reason in found if reason} <= REASONS


def test_readme_has_blocks_for_each_kind_of_user():
    found = list(blocks(README))
    assert sum(language == "python" for language, _, _ in found) >= 3
    ran = [text for language, text, reason in found if language == "sh" and reason is None]
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
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_run_as_pasted(page, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    found = [(language, text) for language, text, reason in blocks(page) if reason is None]
    if not found:
        return
    script = [PREAMBLE, *[t if language == "python" else f"shell({t!r})" for language, t in found]]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    scripts = [sysconfig.get_path("scripts"), os.environ.get("PATH", "")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), PATH=os.pathsep.join(scripts))
    if not (Path(scripts[0]) / "fastgnb").exists():
        pytest.skip("the package is not installed here, and so there is no command")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(script)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    written = re.findall(r"--(?:output|model) (\S+)", "".join(text for _, text in found))
    assert [path for path in written if not (tmp_path / path).exists()] == []


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


def test_every_page_is_listed():
    linked = {target for page in (README, ROOT / "docs" / "index.md")
              for target in re.findall(r"\]\((?:docs/)?(\w+\.md)\)", text_of(page))}  # fmt: skip
    assert {page.name for page in PAGES[1:]} - {"index.md"} <= linked


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
