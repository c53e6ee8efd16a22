"""Engines that tests of the mark `engine` need: packages of the extra `engines`, and programs.

A test is skipped where one is missing, and fails there with ENGINES=required.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest

__all__ = ["engine_module", "must_run", "need"]

PROGRAMS = {"java": "java", "postgres": "postgres"}
"""Names that stand for a program, and what it is called."""


def must_run() -> bool:
    return os.environ.get("ENGINES") == "required"


def engine_module(name: str) -> ModuleType:
    """An engine's module; the test, or the file of tests, is skipped where it is missing."""
    need(name)
    return importlib.import_module(name)


def need(*names: str) -> None:
    """Skip the test where a module or a program is missing; fail with ENGINES=required."""
    missing = [name for name in names if not _is_there(name)]
    if not missing:
        return
    message = f"needs {', '.join(missing)}"
    if must_run():
        pytest.fail(f"ENGINES=required, but it {message}", pytrace=False)
    pytest.skip(message, allow_module_level=True)


def _is_there(name: str) -> bool:
    if name in PROGRAMS:
        program = PROGRAMS[name]
        debian = Path("/usr/lib/postgresql").glob(f"*/bin/{program}")
        return shutil.which(program) is not None or any(debian)
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its package is missing
        return False
