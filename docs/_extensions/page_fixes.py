"""Changes to the written pages that the theme and the gallery offer no setting for.

Each of them mends something that a screen reader or a keyboard stumbles over.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FIXES: list[tuple[re.Pattern[str], str]] = [
    # The name of the search button holds all of its text, the shortcut too.
    (
        re.compile(r'(<button [^>]*search-button-field[^>]*? aria-label=)"Search"'),
        r'\1"Search Ctrl+K"',
    ),
    # Arrows that open a part of the navigation have a name.
    (
        re.compile(r'<summary>(<span class="toctree-toggle")'),
        r'<summary aria-label="Pages of this section">\1',
    ),
    # A card of the gallery is its title as a link, and its summary as text; the gallery has an
    # empty link over the card, and the summary as a tooltip that only a mouse finds.
    (
        re.compile(
            r'<div class="sphx-glr-thumbcontainer" tooltip="([^"]*)">(<img [^>]*>)\s*'
            r'<p>(<a [^>]*>).*?</a></p>\s*<div class="sphx-glr-thumbnail-title">(.*?)</div>',
            re.S,
        ),
        r'<div class="sphx-glr-thumbcontainer">\2<div class="sphx-glr-thumbnail-title">\3\4</a>'
        r'</div><p class="example-summary">\1</p>',
    ),
]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", _fix_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _fix_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            _fix(page)


def _fix(page: Path) -> None:
    before = after = page.read_text(encoding="utf-8")
    for pattern, replacement in FIXES:
        after = pattern.sub(replacement, after)
    if after != before:
        page.write_text(after, encoding="utf-8")
