"""API pages show what the package defines, and what it inherits in words that stand alone."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

GENERATED = re.compile(r"set_\w+_request|get_metadata_routing")
ROLE = re.compile(r":(?:term|ref):`([^`<]+?)(?:\s*<[^`]*>)?`")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _without_roles, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _skip(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn generates for its routing of metadata, and its displays' own."""
    inherited = getattr(obj, "__module__", None) or ""
    if GENERATED.fullmatch(name) or inherited.startswith("sklearn.metrics"):
        return True
    return None


def _without_roles(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Inherited docstrings refer to scikit-learn's glossary and guide, which are not here."""
    lines[:] = [ROLE.sub(r"``\1``", line) for line in lines]
