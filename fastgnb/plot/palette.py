"""Colors, dashes and markers that tell classes apart, also for colour-blind readers and in grey.

The seven colors have a contrast of at least 3 to both white and black (WCAG 2.2, 1.4.11), and
differ by at least 18 units of CIEDE2000 from each other, also as protanopes, deuteranopes and
tritanopes see them. The tests compute both. Seven colors in the narrow band of luminance that both
backgrounds leave are about all there are: the largest least distance is 23 for five of them, 21 for
six, 18 for seven and 16 for eight.

Twenty classes therefore differ in color and dash, or in color and marker. Each of these pairs is
distinct by itself, since some pictures have lines only, and others points only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "COLORS",
    "DASHES",
    "DIVERGING",
    "MARKERS",
    "SEQUENTIAL",
    "line_style",
    "marker_style",
    "style_numbers",
]

COLORS = ("#1e96ff", "#e1781e", "#2d785a", "#4b2dff", "#b41e00", "#a58796", "#695a78")
"""Blue, orange, green, violet, red, taupe, slate."""

DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 1.5)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1, 1.5)),
)
"""Solid, dashed, dotted, dash-dotted, in units of the line width."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Filled markers, so that each has a face of its color."""

SEQUENTIAL = "cividis"
"""Colormap of amounts, which colour-blind readers see alike."""

DIVERGING = "PuOr"
"""Colormap of signed numbers, light at 0."""


def style_numbers(positions: Sequence[int]) -> list[int]:
    """Numbers of styles for the classes at these positions in a model.

    They are the positions, so that a class looks alike in all pictures, unless styles would repeat.
    """
    numbers = [int(position) for position in positions]
    distinct = len(COLORS) * len(DASHES)
    return numbers if max(numbers, default=0) < distinct else list(range(len(numbers)))


def line_style(position: int) -> dict[str, Any]:
    """Color and dash of the class at a position: distinct for the first 28."""
    turn, color = divmod(position, len(COLORS))
    return {"color": COLORS[color], "linestyle": DASHES[turn % len(DASHES)]}


def marker_style(position: int) -> dict[str, Any]:
    """Color and marker of the class at a position: distinct for the first 56."""
    marker = MARKERS[position % len(MARKERS)]  # 7 and 8 have no common divisor
    return {"color": COLORS[position % len(COLORS)], "marker": marker}
