"""Pages made from small tables."""

from __future__ import annotations

import functools

import pytest
import report_pages


@pytest.fixture
def report(tmp_path):
    """Write a table, learn it, and return the page of the model on it, and the text of that."""
    return functools.partial(report_pages.written, tmp_path)
