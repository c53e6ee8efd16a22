"""The essays of the rooms: each `__init__.py` says what its folder does, and names every file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import fastgnb

pytestmark = pytest.mark.any_version

PACKAGE = Path(fastgnb.__file__).parent
ROOMS = sorted(path.parent for path in PACKAGE.rglob("*/__init__.py"))


def name_of(room):
    return room.relative_to(PACKAGE).as_posix()


def essay_of(room):
    return ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_essay_is_short_and_says_where_to_start(room):
    essay = essay_of(room)
    assert 10 <= len(essay.splitlines()) <= 30
    assert "\nWhere to start\n" in essay
    assert "\nMay import: " in essay


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_essay_names_the_files_of_its_room_and_no_others(room):
    """Of other rooms by their path, such as `_numba/threads.py`."""
    named = set(re.findall(r"(?<![\w/])(\w+\.py)\b", essay_of(room)))
    files = {path.name for path in room.glob("*.py")} - {"__init__.py"}
    assert named == files


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_essay_names_the_rooms_within(room):
    folders = {path.name for path in room.iterdir() if (path / "__init__.py").exists()}
    assert {f"{name}/" for name in folders} <= set(re.findall(r"(?<!\w)\w+/", essay_of(room)))


def test_the_package_names_its_rooms():
    text = ast.get_docstring(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert {room for room in rooms if f"{room}/" not in text} == set()
