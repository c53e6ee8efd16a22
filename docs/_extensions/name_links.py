"""Public names in double backticks or code spans of pages become links to their reference.

The pages stay plain Markdown, which GitHub shows as well.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

MODULES = [
    "fastgnb", "fastgnb.select", "fastgnb.files", "fastgnb.spark", "fastgnb.plot", "fastgnb.report",
]  # fmt: skip

# Results that are not imported from the package, by their names in docstrings.
RESULTS = {
    "Diagnosis": "fastgnb.diagnosis.diagnosis.Diagnosis",
    "Interval": "fastgnb.evaluation.curves.Interval",
    "Rates": "fastgnb.evaluation.rates.Rates",
    "Reliability": "fastgnb.evaluation.calibration.Reliability",
}


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def public_names() -> dict[str, str]:
    """Full names by what a page may call them; functions of `files` only with their module."""
    names = dict(RESULTS)
    for module in MODULES:
        try:
            namespace = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        for name in getattr(namespace, "__all__", []):
            full = f"{module}.{name}"
            names[full] = names[full.removeprefix("fastgnb.")] = full
            if module in ("fastgnb", "fastgnb.plot") or name[0].isupper():
                names.setdefault(name, full)
    return names


def _is_of_scikit_learn(literal: nodes.literal) -> bool:
    """Whether the words before a name say that it is scikit-learn's."""
    index = literal.parent.index(literal)
    before = literal.parent[index - 1].astext() if index else ""
    return bool(re.search(r"scikit-learn(.s)?\s+$", before))


class LinkNames(SphinxPostTransform):
    """Wrap each literal that is a public name, or a method of one, in a reference."""

    default_priority = 5  # before references are resolved
    names: dict[str, str] | None = None

    def run(self, **options: Any) -> None:
        if LinkNames.names is None:
            LinkNames.names = public_names()
        objects = self.env.domains.python_domain.objects
        for literal in list(self.document.findall(nodes.literal)):
            target = self._target(literal.astext(), LinkNames.names)
            linked = isinstance(literal.parent, nodes.reference | pending_xref | nodes.title)
            other = linked or _is_of_scikit_learn(literal)
            if target in objects and not other and not self._is_here(objects[target]):
                literal.replace_self(self._reference(target, literal))

    def _is_here(self, entry: Any) -> bool:
        return entry.docname == self.env.docname

    def _target(self, text: str, names: dict[str, str]) -> str:
        text = text.removesuffix("()")
        if text in names:
            return names[text]
        head, _, method = text.rpartition(".")
        return f"{names[head]}.{method}" if head in names else ""

    def _reference(self, target: str, literal: nodes.literal) -> nodes.Node:
        entry = self.env.domains.python_domain.objects[target]
        page = self.app.builder.get_relative_uri(self.env.docname, entry.docname)
        link = nodes.reference("", "", internal=True, refuri=f"{page}#{entry.node_id}")
        link += literal.deepcopy()
        return link
