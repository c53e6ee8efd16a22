"""The gallery has every member and every plot, and each of its examples has a title."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re

import pytest
from docs_project import DOCS, examples, names_used

from fastgnb.model.family import MEMBERS

pytestmark = pytest.mark.any_version

if not DOCS.exists():  # pragma: no cover
    pytest.skip("the tests stand without the docs beside them", allow_module_level=True)

EXAMPLES = examples()


def used() -> set[str]:
    return set().union(*(names_used(tree) for tree in EXAMPLES.values()))


def test_every_member_occurs():
    assert set(MEMBERS) <= used()


def test_every_plot_occurs():
    if importlib.util.find_spec("fastgnb.plot") is None:
        pytest.skip("fastgnb.plot is not there yet")
    assert set(importlib.import_module("fastgnb.plot").__all__) <= used()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_has_a_title_and_says_what_it_shows(name):
    text = ast.get_docstring(EXAMPLES[name]) or ""
    title, line, *story = text.splitlines()
    assert re.fullmatch(r"=+", line)
    assert len(line) == len(title) <= 60
    assert len(" ".join(story).split()) >= 12


def test_titles_are_different():
    titles = [(ast.get_docstring(tree) or "").splitlines()[0] for tree in EXAMPLES.values()]
    assert len(set(titles)) == len(titles) >= 4


def test_sections_have_a_title():
    folders = {DOCS / "examples" / name.split("/")[0] for name in EXAMPLES}
    assert [folder.name for folder in folders if not (folder / "GALLERY_HEADER.rst").exists()] == []
