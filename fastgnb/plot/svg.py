"""Displays as SVG text for pages: in placeholder colours, with text as text, of bounded length."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

from .._system.optional import plt

__all__ = ["AXIS", "GROUND", "INK", "LINE", "svg_of"]

INK, AXIS, LINE, GROUND = "#010203", "#010204", "#010205", "#010206"
"""Text, axes, grid and ground: no picture has these colours, so that a page can put its own."""

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fastgnb",
    "figure.figsize": (5.6, 4.0),
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": AXIS,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "text.color": INK,
    "xtick.color": AXIS,
    "ytick.color": AXIS,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "legend.facecolor": GROUND,
    "legend.edgecolor": LINE,
    "legend.labelcolor": INK,
    "hatch.color": AXIS,
    "font.size": 10,
}

_DPI = 110
"""Resolution of the parts of a picture that are too long as curves."""


def svg_of(draw: Callable[[], Any], *, longest: int) -> tuple[str, Any]:
    """Draw, and return the picture as SVG, and the table under it.

    Parameters
    ----------
    draw : callable
        Returns a display that has been drawn on a new figure.
    longest : int
        Most characters; of a longer picture, what is within the axes becomes pixels.

    The title of a single picture is left out, since the page has its own. Those of panels stay.

    Returns
    -------
    tuple of str and DataFrame
        The same for the same numbers.
    """
    before = set(plt.get_fignums())
    with plt.ioff(), plt.style.context(["default", _STYLE]), warnings.catch_warnings():
        # The fonts of the browser draw the text, not those that matplotlib measures it with.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        try:
            display = draw()
            _drop_title(display.figure_)
            text = _saved(display.figure_)
            if len(text) > longest:
                _rasterize(display.figure_)
                text = _saved(display.figure_)
        finally:
            for figure in set(plt.get_fignums()) - before:
                plt.close(figure)
    return text, display.frame()


def _drop_title(figure: Any) -> None:
    titled = [ax for ax in figure.axes if ax.get_title()]
    if len(titled) == 1:
        titled[0].set_title("")


def _saved(figure: Any) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg", dpi=_DPI, metadata={"Date": None})
    return file.getvalue()


def _rasterize(figure: Any) -> None:
    """Make pixels of lines, areas and points, and leave text and axes as they are."""
    for ax in figure.axes:
        for artist in (*ax.lines, *ax.collections, *ax.patches):
            artist.set_rasterized(True)
