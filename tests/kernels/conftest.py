"""Fixtures that several test files of kernels/ share."""

from __future__ import annotations

import pytest
from same_cases import BITS


@pytest.fixture(scope="session")
def scope():
    """The functions of `BITS`, in this process."""
    scope: dict[str, object] = {}
    exec(BITS, scope)
    return scope


@pytest.fixture(scope="session")
def digest(scope):
    return scope["digest"]


@pytest.fixture(scope="session")
def bits(digest):
    return digest()


@pytest.fixture(scope="session")
def bits_of_all(scope):
    """Of full scatter and scores along axes too."""
    return scope["digest_of_all"]()
