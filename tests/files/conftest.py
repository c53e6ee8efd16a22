"""Fixtures that several test files of files/ share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "model.fgnb"
