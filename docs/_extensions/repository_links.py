"""Links of pages to files of the repository that are no pages lead to GitHub.

The pages are read on GitHub too, where relative links such as ``../bench/README.md`` work.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

REPOSITORY = "https://github.com/fastgnb/fastgnb"
LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _rewrite(app: Sphinx, document: str, source: list[str]) -> None:
    docs = Path(app.srcdir).resolve()
    page = (docs / document).parent

    def link(match: re.Match[str]) -> str:
        path = Path(os.path.normpath(page / match[2]))
        if path.is_relative_to(docs):
            return match[0]
        kind = "tree" if path.is_dir() else "blob"
        return f"{match[1]}{REPOSITORY}/{kind}/main/{path.relative_to(docs.parent).as_posix()}"

    source[0] = LINK.sub(link, source[0])
