"""Processes of tests are shown when they fail, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys

import pytest
from children import finished, first_line, started

pytestmark = pytest.mark.any_version

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def python(code):
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("import sys; sys.exit('no rows')", r"came ''; exit 1\nno rows"),
        ("print('other', flush=True); import time; time.sleep(600)", r"came 'other\\n'; exit -9"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="exit codes of signals are POSIX")
def test_a_process_without_its_first_line_is_shown(code, shown):
    with (
        started(python(code), **PIPES) as child,
        pytest.raises(AssertionError, match=f"expected 'ready', {shown}"),
    ):
        first_line(child, "ready")
    assert child.stdout.closed
    assert child.stderr.closed


def test_a_process_ends_with_a_block_that_fails():
    with pytest.raises(ZeroDivisionError), started(python("input()"), **PIPES) as child:
        raise ZeroDivisionError
    assert child.returncode
    assert child.stdout.closed


def test_a_process_that_fails_or_takes_too_long_is_shown():
    with pytest.raises(AssertionError, match=r"exit 3\nsaid\n"):
        finished(python("print('said'); raise SystemExit(3)"))
    with pytest.raises(AssertionError, match="it runs after"):
        finished(python("import time; time.sleep(600)"), timeout=0.01)
