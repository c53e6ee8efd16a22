"""Formulas as MathML, which browsers draw and read aloud without a script or a font."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.Element) -> None:
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="formula" tabindex="0" role="group">{formula}</div>\n')
    raise nodes.SkipNode
