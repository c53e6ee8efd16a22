"""Charts: a display as a card with a picture, a sentence on how to read it, and its table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..plot.svg import AXIS, GROUND, INK, LINE, svg_of
from .markup import Markup, tag
from .svg import page_svg
from .tables import from_frame, render

__all__ = ["Chart", "card", "cards", "render_chart"]

_COLORS = {
    INK: "currentColor",
    AXIS: "var(--edge)",
    LINE: "var(--line)",
    GROUND: "var(--card)",
    "#000000": "currentColor",
}


class Chart(NamedTuple):
    """A chart, before it is drawn.

    id_ : unique in the page. title : what it shows. hint : how to read it, in a sentence. draw :
    returns a display that has been drawn. is_curve : whether its table is one of points along
    curves. is_wide : whether it takes the width of two. missing : why there is none.
    """

    id_: str
    title: str
    hint: str
    draw: Callable[[], Any] | None
    is_curve: bool = False
    is_wide: bool = False
    missing: str = ""


def cards(parts: Iterable[Markup]) -> Markup:
    """Cards side by side, where the window is wide enough."""
    return tag("div", *parts, class_="cards")


def card(*parts: Any, is_wide: bool = False, id_: str | None = None) -> Markup:
    """A card; a wide one takes the full width."""
    return tag("div", *parts, class_="card wide" if is_wide else "card", id_=id_)


def render_chart(chart: Chart, *, longest: int) -> Markup:
    """A figure with its table, or why there is none, which a display says that cannot be drawn.

    `longest` is how many characters matplotlib may write for it, of which about a third reach the
    page; see `svg_of`.
    """
    title = tag("h3", chart.title)
    if chart.draw is None:
        return card(title, tag("p", chart.missing, class_="hint"), is_wide=chart.is_wide)
    try:
        text, frame = svg_of(chart.draw, longest=longest)
    except ValueError as error:
        reason = tag("p", f"This chart is not drawn. {error}", class_="hint")
        return card(title, reason, is_wide=chart.is_wide)
    description = f"{chart.hint} The table that follows holds its numbers."
    picture = page_svg(text, chart.id_, chart.title, description, _COLORS)
    table = render(
        from_frame(frame, f"{chart.title}: the numbers", is_curve=chart.is_curve),
        f"{chart.id_}-table",
    )
    details = tag("details", tag("summary", f"Table: {chart.title}"), table)
    figure = tag(
        "figure",
        tag("div", picture, class_="picture"),
        tag("figcaption", chart.hint, class_="hint"),
    )
    return card(title, figure, details, is_wide=chart.is_wide, id_=chart.id_)
