"""The README's blocks run as pasted, one after the other; those that do not say so above them."""

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

SKIPPED = "<!-- not run by the tests: "
BLOCK = re.compile(r"((?:^<!--[^\n]*-->\n)*)^```(\w*)\n(.*?)^```$", re.M | re.S)


def blocks():
    """Language, text, and the reason not to run it, of each block, in order."""
    for match in BLOCK.finditer(README.read_text(encoding="utf-8")):
        reason = [line for line in match[1].splitlines() if line.startswith(SKIPPED)]
        yield match[2], match[3], reason[0][len(SKIPPED) : -4] if reason else None


def test_blocks_are_found():
    """All of them: a language that is not run, or a fence that is not closed, would be missed."""
    found = list(blocks())
    fences = README.read_text(encoding="utf-8").count("\n```")
    assert 2 * len(found) == fences
    assert {language for language, _, _ in found} == {"", "python", "sh"}
    assert sum(language == "python" for language, _, _ in found) >= 4
    ran = [text for language, text, reason in found if language == "sh" and reason is None]
    assert sum("fastgnb " in text for text in ran) >= 3
    reasons = [reason for _, _, reason in found if reason]
    assert set(reasons) <= {"it installs", "it runs them", "it takes long"}


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform == "win32", reason="blocks are for a POSIX shell")
def test_blocks_run_as_pasted(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    scripts = [sysconfig.get_path("scripts"), os.environ.get("PATH", "")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), PATH=os.pathsep.join(scripts))
    if not (Path(scripts[0]) / "fastgnb").exists():
        pytest.skip("the package is not installed here, and so there is no command")
    script = [PREAMBLE]
    for language, text, reason in blocks():
        if language == "python":
            script.append(text)
        elif language == "sh" and reason is None:
            script.append(f"shell({text!r})")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(script)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "scored.parquet").exists()
    assert (tmp_path / "all.fgnb").exists()


PREAMBLE = """
import subprocess
def shell(text):
    done = subprocess.run(["sh", "-eu", "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, text + done.stdout + done.stderr
"""


def test_links_to_files_lead_somewhere():
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", README.read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target


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
