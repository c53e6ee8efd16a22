"""The page around the sections: head, masthead, contents, style and script. Nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
from collections.abc import Sequence
from typing import NamedTuple

from .markup import Markup, escape, tag

__all__ = ["Section", "page"]


class Section(NamedTuple):
    """A section: its id, its title, a sentence or two of introduction, and what it holds."""

    id_: str
    title: str
    intro: str
    body: Markup


def page(title: str, eyebrow: str, head: Markup, sections: Sequence[Section], foot: str) -> str:
    """The whole document. `head` is what comes before the contents."""
    style, script = _asset("report.css"), _asset("report.js")
    body = tag(
        "body",
        tag("a", "Skip to the report", class_="skip", href="#main"),
        tag(
            "div",
            _masthead(title, eyebrow, head),
            tag("div", _contents(sections), _main(sections, foot), class_="layout"),
            class_="page",
        ),
        Markup(f"<script>{script}</script>"),
    )
    document = tag("html", _head(title, style, script), body, lang="en")
    return f"<!DOCTYPE html>\n{document}\n"


def _asset(name: str) -> str:
    return (importlib.resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _head(title: str, style: str, script: str) -> Markup:
    """Metadata. The policy allows this style and this script, and nothing from elsewhere."""
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        Markup(f"<style>{style}</style>"),
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _masthead(title: str, eyebrow: str, head: Markup) -> Markup:
    button = tag(
        "button", "Dark theme", type_="button", id_="theme", aria_pressed="false", hidden=True
    )
    bar = tag("div", tag("p", eyebrow, class_="eyebrow"), button, class_="bar")
    return tag("header", bar, tag("h1", title), head, class_="masthead")


def _contents(sections: Sequence[Section]) -> Markup:
    items = [tag("li", tag("a", each.title, href=f"#{each.id_}")) for each in sections]
    heading = tag("h2", "Contents", id_="contents")
    return tag("nav", heading, tag("ol", *items), class_="contents", aria_labelledby="contents")


def _main(sections: Sequence[Section], foot: str) -> Markup:
    parts = [
        tag(
            "section",
            tag("h2", each.title, id_=f"{each.id_}-heading"),
            tag("p", each.intro),
            each.body,
            id_=each.id_,
            aria_labelledby=f"{each.id_}-heading",
        )
        for each in sections
    ]
    return tag("main", *parts, tag("footer", tag("p", foot)), id_="main", tabindex="-1")
