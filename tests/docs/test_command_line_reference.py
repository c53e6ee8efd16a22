"""The reference of the command line, made from the argument parser, has every option of it."""

from __future__ import annotations

import argparse
import importlib.util

import pytest
from docs_project import DOCS

from fastgnb.cli.parser import build_parser

pytest.importorskip("sphinx")

pytestmark = [pytest.mark.any_version, pytest.mark.dev]

if not DOCS.exists():  # pragma: no cover
    pytest.skip("the tests stand without the docs beside them", allow_module_level=True)


@pytest.fixture(scope="module")
def extension():
    spec = importlib.util.spec_from_file_location(
        "command_line_reference", DOCS / "_extensions" / "command_line.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_and_option_is_there(extension):
    parser = build_parser()
    text = "\n".join(extension.reference(parser))
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        assert f"\nfastgnb {name}\n---" in f"\n{text}"
        for action in command._actions:
            for option in action.option_strings:
                if option not in ("-h", "--help"):
                    assert option in text


def test_options_say_what_they_take(extension):
    parser = argparse.ArgumentParser(prog="tool")
    command = parser.add_subparsers().add_parser("run", help="does *it*")
    command.add_argument("data", nargs="+", metavar="DATA", help="50%% of `it`")
    command.add_argument("--mode", choices=["a", "b"], help="which")
    command.add_argument("--quiet", action="store_true", help="no line.")
    lines = list(extension.reference(parser))
    assert "Does \\*it\\*." in lines
    assert "   50% of \\`it\\`." in lines
    assert {".. option:: DATA", ".. option:: --mode {a,b}", ".. option:: --quiet"} <= {*lines}
    assert "   No line." in lines
