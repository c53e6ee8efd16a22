"""The documentation is complete: every page is in the navigation, every public name has its own."""

from __future__ import annotations

import re

import pytest
from docs_project import DOCS, WRITTEN_BY_SPHINX, pages, reachable
from public_names import MODULES, public_objects

pytestmark = pytest.mark.any_version

if not DOCS.exists():  # pragma: no cover
    pytest.skip("the tests stand without the docs beside them", allow_module_level=True)


ROOMS_OF_RESULTS = ("fastgnb.evaluation.", "fastgnb.diagnosis.")
"""Classes of these are what functions return, and are not imported by users."""


def test_the_navigation_leads_to_every_page():
    assert reachable() - WRITTEN_BY_SPHINX == set(pages())


def documented() -> list[str]:
    """Full names that the API reference lists, in order."""
    names = []
    module = ""
    in_list = False
    for line in pages()["api/index"].read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif line.startswith(".. "):
            in_list = line == ".. autosummary::"
        elif in_list and (match := re.match(r" {3}([A-Za-z_]\w*)$", line)):
            names.append(f"{module}.{match[1]}")
    return names


def test_the_reference_lists_every_public_name_once():
    listed = documented()
    assert len(listed) == len(set(listed))
    if "fastgnb.spark" not in MODULES:  # without pyspark
        listed = [name for name in listed if not name.startswith("fastgnb.spark.")]
    assert set(public_objects()) <= set(listed)
    results = {name for name in listed if name.startswith(ROOMS_OF_RESULTS)}
    assert set(listed) - results == set(public_objects())


def test_pages_are_not_empty_and_have_one_title():
    for name, path in pages().items():
        text = path.read_text(encoding="utf-8")
        if name == "changelog":  # includes another file
            continue
        text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        titles = re.findall(r"^# \S", text, re.M) if path.suffix == ".md" else [name]
        assert len(titles) == 1, name
        assert len(text) > 150, name
