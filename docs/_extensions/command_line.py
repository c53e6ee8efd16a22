"""The directive ``command-line``: the reference of the command, made from its argument parser."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fastgnb.cli.parser import build_parser


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class CommandLine(SphinxDirective):
    """A section for each command: usage, arguments and options, as ``--help`` shows them."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        text = "\n".join(reference(build_parser()))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def reference(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Lines of reStructuredText about every command of a parser."""
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    for name, command in commands.choices.items():
        yield from _command(f"fastgnb {name}", command, summaries[name])


def _command(name: str, parser: argparse.ArgumentParser, summary: str) -> Iterator[str]:
    yield from [name, "-" * len(name), "", f".. program:: {name}", ""]
    yield from [_sentence(_escape(parser.description or summary)), ""]
    yield from [".. code-block:: text", "   :class: usage", ""]
    usage = parser.format_usage().removeprefix("usage: ")
    yield from [f"   {line}" for line in re.sub(r"\n {2,}", "\n    ", usage).splitlines()]
    yield ""
    for action in parser._actions:
        yield from _argument(action)


def _argument(action: argparse.Action) -> Iterator[str]:
    if isinstance(action, argparse._HelpAction):
        return
    value = _value_name(action)
    names = [f"{option} {value}".strip() for option in action.option_strings] or [value]
    yield from [f".. option:: {', '.join(names)}", "", f"   {_sentence(_help(action))}", ""]


def _value_name(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.metavar is not None:
        return str(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def _help(action: argparse.Action) -> str:
    text = (action.help or "a model file").replace("%%", "%")
    return _escape(text)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _escape(text: str) -> str:
    return re.sub(r"([\\*`|_])", r"\\\1", " ".join(text.split()))
