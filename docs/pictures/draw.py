"""Draws the pictures of docs/how_it_works.md, as SVG whose colours follow the theme of the page.

python docs/pictures/draw.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLUE, ORANGE, GREEN = "var(--picture-blue)", "var(--picture-orange)", "var(--picture-green)"
TEXT, LINE, FILL = "var(--pst-color-text-base)", "var(--picture-line)", "var(--picture-fill)"


def svg(name: str, width: int, height: int, title: str, parts: Iterable[str]) -> None:
    """Write a picture. Its title is what screen readers say, since its text is not read."""
    head = (
        '<div class="picture-frame" tabindex="0" role="group" aria-label="Picture">'
        f'<svg class="picture" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-labelledby="{name}-title" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{name}-title">{title}</title>'
        '<g font-family="var(--pst-font-family-base)" font-size="14" stroke-width="1.5">'
    )
    text = head + "\n" + "\n".join(parts) + "\n</g></svg></div>\n"
    (HERE / f"{name}.svg").write_text(text, encoding="utf-8")


def box(x: float, y: float, w: float, h: float, stroke: str = LINE, fill: str = FILL) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" style="stroke:{stroke};'
        f'fill:{fill}"/>'
    )


def text(x: float, y: float, words: str, *, bold: bool = False, anchor: str = "middle") -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}"{weight} style="fill:{TEXT}">{words}</text>'
    )


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line with a head, whatever its direction."""
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length * 8, (y2 - y1) / length * 8
    head = (
        f"M{x2 - dx - dy / 2:.1f} {y2 - dy + dx / 2:.1f}L{x2} {y2}"
        f"L{x2 - dx + dy / 2:.1f} {y2 - dy - dx / 2:.1f}"
    )
    return f'<path d="M{x1} {y1}L{x2} {y2}{head}" style="stroke:{LINE};fill:none"/>'


def bell(x: float, base: float, width: float, height: float, colour: str) -> str:
    """The curve of a normal density, filled."""
    left, right = f"{x - 3 * width:.1f},{base}", f"{x + 3 * width:.1f},{base}"
    points = [
        f"{x + t * width:.1f},{base - height * math.exp(-t * t / 2):.1f}"
        for t in [k / 8 for k in range(-24, 25)]
    ]
    return (
        f'<polygon points="{left} {" ".join(points)} {right}" '
        f'style="stroke:{colour};fill:{colour};fill-opacity:.25"/>'
    )


def ellipse(x: float, y: float, rx: float, ry: float, angle: float, colour: str) -> str:
    return (
        f'<ellipse cx="{x}" cy="{y}" rx="{rx}" ry="{ry}" transform="rotate({angle} {x} {y})" '
        f'style="stroke:{colour};fill:{colour};fill-opacity:.2"/>'
    )


def flow() -> None:
    steps = [
        ("rows", "arrays, frames, files", LINE),
        ("statistics", "weight, mean, scatter", BLUE),
        ("parameters", "prior, mean, covariance", ORANGE),
        ("answers", "labels, probabilities", GREEN),
    ]
    verbs = ["accumulate", "estimate", "score"]
    parts = []
    for i, (name, detail, colour) in enumerate(steps):
        x = 10 + 260 * i
        parts += [box(x, 50, 190, 64, colour), text(x + 95, 77, name, bold=True)]
        parts += [text(x + 95, 99, detail)]
    for i, verb in enumerate(verbs):
        x = 200 + 260 * i
        parts += [arrow(x + 4, 82, x + 66, 82), text(x + 35, 42, verb)]
    parts += [
        f'<path d="M325 114C315 160 405 160 395 120" style="stroke:{LINE};fill:none"/>',
        arrow(395.2, 122, 394, 116),
        text(360, 168, "merge, subtract, decay"),
        text(885, 168, "rows to score"),
        arrow(885, 152, 885, 118),
    ]
    title = "Rows are accumulated to statistics, from which parameters are estimated, which score."
    svg("flow", 990, 180, title, parts)


def merge() -> None:
    leaves = ["block 1", "block 2", "file 2", "worker 3"]
    parts = []
    for i, name in enumerate(leaves):
        x = 10 + 150 * i
        parts += [box(x, 10, 120, 40, BLUE), text(x + 60, 35, name)]
        parts += [arrow(x + 60, 50, 145 + 300 * (i // 2) - (15 if i % 2 == 0 else -15), 88)]
    for i in range(2):
        x = 85 + 300 * i
        parts += [box(x, 90, 120, 40, BLUE), text(x + 60, 115, "sum")]
        parts += [arrow(x + 60, 130, 280 if i == 0 else 310, 168)]
    parts += [box(215, 170, 160, 40, GREEN), text(295, 195, "all rows", bold=True)]
    title = "Statistics of blocks, files and workers are added in pairs, up to those of all rows."
    svg("merge", 590, 220, title, parts)


def decision() -> None:
    parts = [
        text(110, 24, "diagonal", bold=True),
        ellipse(75, 120, 28, 55, 0, BLUE),
        ellipse(150, 105, 45, 22, 0, ORANGE),
        text(330, 24, "full", bold=True),
        ellipse(295, 125, 22, 60, 30, BLUE),
        ellipse(370, 100, 50, 20, -25, ORANGE),
        text(550, 24, "full, tied", bold=True),
        ellipse(515, 130, 20, 55, 35, BLUE),
        ellipse(590, 95, 20, 55, 35, ORANGE),
        text(770, 24, "spherical, tied", bold=True),
        ellipse(735, 130, 34, 34, 0, BLUE),
        ellipse(810, 90, 34, 34, 0, ORANGE),
    ]
    title = (
        "Two classes as ellipses: along the axes for diagonal covariances, turned for full ones, "
        "of one shape if tied, circles if spherical."
    )
    svg("decision", 880, 195, title, parts)


def blocks() -> None:
    parts = []
    for i in range(8):
        colour = BLUE if i in (0, 2, 3, 6) else ORANGE
        parts += [box(10 + 92 * i, 30, 84, 34, colour), text(52 + 92 * i, 52, f"rows {i + 1}")]
        parts += [arrow(52 + 92 * i, 66, 52 + 92 * i, 98)]
        parts += [box(27 + 92 * i, 100, 50, 30, LINE)]
        parts += [bell(52 + 92 * i, 127, 7, 20, colour)]
        if i < 7:
            parts += [arrow(79 + 92 * i, 115, 117 + 92 * i, 115)]
    parts += [text(10, 20, "blocks, cut by the shape of the data; threads take the next one",
                   anchor="start")]  # fmt: skip
    parts += [text(10, 155, "their statistics, merged in the order of the blocks", anchor="start")]
    title = "Two threads take blocks of rows as they come; their sums are merged in block order."
    svg("blocks", 750, 165, title, parts)


if __name__ == "__main__":
    for draw in (flow, merge, decision, blocks):
        draw()
