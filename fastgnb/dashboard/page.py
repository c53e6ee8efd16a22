"""One HTML file that holds everything: data, scripts, styles, and Vega-Lite.

It makes no request, so that it works from a disk as from a server. Its content security policy
allows the scripts in it by their hashes and nothing else; Vega interprets its expressions, and
evaluates no text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Sequence
from importlib import resources

from .._system.atomic import atomic_write
from .._system.optional import require
from .encode import encode
from .records import Question, Run

__all__ = ["render", "write_page"]

_SCRIPTS = [
    f"{name}.js"
    for name in (
        "data", "state", "elements", "charts", "filters",
        "ratios", "history", "compare", "runs", "method", "main",
    )
]  # fmt: skip


def write_page(
    path: str | os.PathLike[str],
    runs: Sequence[Run],
    questions: Sequence[Question] = (),
    title: str = "fastgnb benchmarks",
    home: str = "",
) -> None:
    """Write the page of some runs to a file, which appears whole or not at all.

    Parameters
    ----------
    path : the file to create or replace.
    runs : at least one run.
    questions : what the runs ask, in the order of the page.
    title : heading of the page.
    home : address of the documentation, for a link to it; none if empty.

    Raises
    ------
    MissingExtraError
        vl-convert, which brings Vega-Lite, is not installed.
    """
    text = render(runs, questions, title, home)
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def render(runs: Sequence[Run], questions: Sequence[Question], title: str, home: str = "") -> str:
    """The text of the page."""
    style = _asset("style.css")
    # Functions of their own, since the bundle's many short names would be global.
    script = _closed('"use strict";\n' + "\n".join(map(_asset, _SCRIPTS)))
    vega = _closed(vega_bundle())
    parts = {
        "policy": _policy([vega, script], style),
        "title": html.escape(title),
        "style": style,
        "data": encode(runs, questions, title, home),
        "vega": vega,
        "script": script,
    }
    text = _asset("page.html")
    before, *pieces = text.split("{{")
    for piece in pieces:
        name, _, rest = piece.partition("}}")
        before += parts[name] + rest
    return before


def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that makes no request."""
    bundle: str = require("vl_convert").javascript_bundle()
    return bundle.replace("</script", "<\\/script")


def _closed(script: str) -> str:
    return f"(() => {{\n{script}\n}})();"


def _asset(name: str) -> str:
    folder = resources.files(__package__) / "assets"
    return (folder / name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str], style: str) -> str:
    """Nothing is allowed but what is in the page. Charts set attributes `style` of their marks."""
    hashes = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {hashes}; style-src-elem {_hash(style)}; "
        "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
