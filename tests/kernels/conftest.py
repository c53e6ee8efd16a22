"""Fixtures that several test files of kernels/ share."""

from __future__ import annotations

import pytest
from same_cases import BITS


@pytest.fixture(scope="session")
def digest():
    """The function of `BITS`, in this process."""
    scope: dict[str, object] = {}
    exec(BITS, scope)
    return scope["digest"]


@pytest.fixture(scope="session")
def bits(digest):
    return digest()
