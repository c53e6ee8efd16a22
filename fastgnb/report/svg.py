"""SVG of matplotlib to SVG of a page: small, in the colours of the page, with ids of its own.

Styles become presentation attributes, since a page with a strict Content-Security-Policy takes no
others. Ids that nothing refers to go; the others get a prefix, since many pictures share a page.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping

from .markup import Markup, escape

__all__ = ["page_svg"]

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"

_DROPPED = frozenset({"metadata", "style"})
_DEFAULTS = {
    ("stroke-dashoffset", "0"), ("stroke-linejoin", "round"), ("stroke-opacity", "1"),
    ("fill-opacity", "1"), ("opacity", "1"), ("transform", ""),
}  # fmt: skip
"""What the style sheet of the page, or SVG itself, says anyway."""

_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_SPACE = re.compile(r"\s+")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_URL = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"(?:(bold|italic|[1-9]00)\s+)?([\d.]+)px")


def page_svg(
    text: str, prefix: str, title: str, description: str, colors: Mapping[str, str]
) -> Markup:
    """The picture as an element of a page.

    Parameters
    ----------
    text : what matplotlib wrote, with text as text.
    prefix : what its ids begin with; unique in the page.
    title, description : what a screen reader says of it.
    colors : colours in the picture, in lower case, and what stands for them in the page.
    """
    root = ET.fromstring(_CONTROL.sub("\ufffd", text))
    referred = set(_referred(root))
    for element in root.iter():
        _clean(element, prefix, referred, colors)
    _drop(root)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
    names = f"{prefix}-title", f"{prefix}-desc"
    head = (
        f'<svg viewBox="{root.get("viewBox")}" width="{root.get("width")}" '
        f'height="{root.get("height")}" role="img" aria-labelledby="{" ".join(names)}">'
        f'<title id="{names[0]}">{escape(title)}</title>'
        f'<desc id="{names[1]}">{escape(description)}</desc>'
    )
    return Markup(head + "".join(_serialised(child) for child in root) + "</svg>")


def _referred(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == _HREF and value.startswith("#"):
                yield value[1:]
            yield from _URL.findall(value)


def _clean(element: ET.Element, prefix: str, referred: set[str], colors: Mapping[str, str]) -> None:
    """Rewrite the attributes of one element."""
    attributes = dict(element.attrib)
    attributes |= _presentation(attributes.pop("style", ""))
    element.attrib.clear()
    for name, value in attributes.items():
        if name == "id" and value not in referred:
            continue
        text = _attribute(name, value, prefix)
        if (name, text) not in _DEFAULTS:
            element.set("href" if name == _HREF else name, colors.get(text.lower(), text))
    if element.tag == f"{_SVG}text" and "fill" not in element.attrib:
        element.set("fill", "#000")  # black in itself, as on a light cell, not by the style


def _attribute(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return f"{prefix}-{value}"
    if name == _HREF:
        return f"#{prefix}-{value[1:]}" if value.startswith("#") else _SPACE.sub("", value)
    if name == "d":
        return _path(value)
    if name == "transform" and value.startswith("rotate(-0 "):
        return ""
    return _NUMBER.sub(_rounded, _URL.sub(rf"url(#{prefix}-\1)", value))


def _presentation(style: str) -> dict[str, str]:
    """A style as attributes; the page has the typeface."""
    found: dict[str, str] = {}
    for part in style.split(";"):
        name, _, value = (item.strip() for item in part.partition(":"))
        if name == "font":
            match = _FONT.search(value)
            found |= {} if match is None else {"font-size": match[2]}
            if match is not None and match[1]:
                found["font-weight"] = match[1]
        elif name == "font-size":
            found[name] = value.removesuffix("px")
        elif name and name not in ("font-family", "font-stretch", "font-variant"):
            found[name] = value
    return found


def _path(value: str) -> str:
    """Path data with a tenth of a point, which is less than what a screen shows."""
    return _SPACE.sub(" ", _NUMBER.sub(_rounded, value)).strip()


def _rounded(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _drop(parent: ET.Element) -> None:
    """Remove what a page does not need, and groups around nothing."""
    for child in list(parent):
        name = child.tag.removeprefix(_SVG)
        _drop(child)
        is_empty = not len(child) and not child.attrib and not (child.text or "").strip()
        if name in _DROPPED or (name in ("g", "defs") and is_empty):
            parent.remove(child)
        elif name == "g" and not child.attrib:
            at = list(parent).index(child)
            parent.remove(child)
            for offset, inner in enumerate(list(child)):
                parent.insert(at + offset, inner)


def _serialised(element: ET.Element) -> str:
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in element.attrib.items())
    text = (element.text or "") if element.tag in ("text", "tspan") else ""
    inner = escape(text) + "".join(_serialised(child) for child in element)
    if not inner:
        return f"<{element.tag}{attributes}/>"
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"
