"""The sources of the documentation as tests read them: pages, lists of pages, and examples."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
BUILT = {"_build", "_extensions", "_templates", "examples", "generated", "backreferences"}
WRITTEN_BY_SPHINX = {"auto_examples/index"}


def pages() -> dict[str, Path]:
    """Source files by the name that Sphinx gives their pages."""
    files = [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]
    return {
        path.relative_to(DOCS).with_suffix("").as_posix(): path
        for path in sorted(files)
        if BUILT.isdisjoint(path.relative_to(DOCS).parts)
        and path.relative_to(DOCS).parts[0] not in ("auto_examples", "sg_execution_times.rst")
    }


def toctree(page: str) -> set[str]:
    """Names of the pages that a page lists in the navigation."""
    text = pages()[page].read_text(encoding="utf-8")
    listed = set()
    for body in re.findall(r"^:::\{toctree\}\n(.*?)^:::", text, re.M | re.S):
        listed |= {line for line in body.splitlines() if line and not line.startswith(":")}
    for body in re.findall(r"^\.\. toctree::\n((?:[ ]+.*\n|\n)+)", text, re.M):
        listed |= {line.strip() for line in body.splitlines() if re.match(r"\s+[\w./]+$", line)}
    folder = Path(page).parent
    return {Path(os.path.normpath(folder / name)).as_posix() for name in listed}


def reachable(start: str = "index") -> set[str]:
    """Names of the pages that the navigation leads to."""
    seen, to_do = set(), [start]
    while to_do:
        page = to_do.pop()
        if page not in seen:
            seen.add(page)
            to_do += toctree(page) if page in pages() else []
    return seen


def examples() -> dict[str, ast.Module]:
    """The examples of the gallery, by their path in its folder."""
    folder = DOCS / "examples"
    return {
        path.relative_to(folder).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("plot_*.py"))
    }


def names_used(tree: ast.Module) -> set[str]:
    """Names and attributes that code uses; those that it only imports do not count."""
    return set(_names(tree))


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
