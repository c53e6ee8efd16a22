"""HTML from Python values. Everything that is not `Markup` is escaped.

Names of columns, labels and files are untrusted: they reach a page through `tag` only.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

__all__ = ["Markup", "escape", "json_block", "tag"]

_VOID = frozenset({"input", "link", "meta"})

_NO_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that HTML or UTF-8 cannot hold."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(value: Any) -> Markup:
    """A value as HTML: `Markup` as it is, anything else as text, None as nothing."""
    if isinstance(value, Markup):
        return value
    if value is None:
        return Markup()
    return Markup(html.escape(_NO_HTML.sub("\ufffd", str(value))))


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """An element.

    Attributes are named as in HTML, with ``_`` for ``-``, and ``_`` at the end of names that are
    Python keywords. True stands for an attribute without a value; None and False leave it out.
    """
    start = f"<{name}{''.join(_attribute(*item) for item in attributes.items())}>"
    if name in _VOID:
        return Markup(start)
    return Markup(f"{start}{join(children)}</{name}>")


def join(parts: Any) -> Markup:
    """Values one after another."""
    return Markup("".join(map(escape, parts)))


def _attribute(name: str, value: Any) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def json_block(value: Any, id_: str) -> Markup:
    """Data for the script. No text in it can end the element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{id_}">{text}</script>')
