"""The curves, bars and histograms of `DensityDisplay`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.phrases import counted
from .arguments import curve_options, top
from .class_densities import Densities
from .display import class_legend
from .heat_map import draw_table
from .histograms import Histogram
from .names import TOP, class_texts, is_crowded, selection_note
from .palette import COLORS, SEQUENTIAL, line_style, style_numbers

__all__ = ["draw_categories", "draw_curves"]

Floats = NDArray[np.float64]

FILLED = 6
"""Most histograms that are filled; more of them are outlines."""

HISTOGRAMS = 12
"""Most histograms."""

BARS = len(COLORS)
"""Most classes whose probabilities of categories are bars; those of more are a heat map."""

_TALL = 8.0
"""How many times the median peak the axis reaches at most."""

_THIN = 1 / 300
"""Peaks of a standard deviation below this share of the axis do not count for that."""

Drawn = tuple[list[Any], list[str]]


def draw_curves(
    ax: Any, shown: Any, kind: str, chosen: NDArray[np.intp], texts: Sequence[str], kwargs: Any
) -> Drawn:
    """Draw the curves of classes `chosen`; return them, and notes of what is not in the picture."""
    densities: Densities = shown.densities
    table = densities.table(kind)[chosen]
    peaks = table.max(axis=1)
    limit = _top_of(densities, peaks, chosen) if kind != "posterior" else 1.0
    styles = [line_style(i) for i in style_numbers(densities.position[chosen].tolist())]
    highest = _draw_histograms(ax, shown.histogram, kind, chosen, styles)
    limit = max(limit, min(highest, 2.0 * limit))
    from matplotlib.lines import Line2D

    options = curve_options(kwargs, [{"linewidth": 1.8, **style} for style in styles], Line2D)
    lines = [
        ax.plot(*_visible(densities.points, row, limit), label=texts[c], **option)[0]
        for c, row, option in zip(chosen, table, options, strict=True)
    ]
    names = [texts[c] for c in chosen]
    total = densities.table("weighted").sum(axis=0)
    if kind == "weighted" and 1 < len(chosen) == len(densities.prior) and total.max() < 3.0 * limit:
        limit = max(limit, float(total.max()))
        color = ax.xaxis.label.get_color()
        lines += ax.plot(densities.points, total, color=color, linewidth=0.8, label="all classes")
        names.append("all classes")
    ax.set_xlim(densities.points[0], densities.points[-1])
    ax.set_ylim(0.0, 1.05 * limit)
    class_legend(ax, lines, names, "class")
    tall = [texts[c] for c, peak in zip(chosen, peaks, strict=True) if peak > 1.05 * limit]
    notes = [f"peaks cut off: {', '.join(tall[:3])}{' ...' * (len(tall) > 3)}"] if tall else []
    if shown.histogram is not None and len(chosen) > HISTOGRAMS:
        notes.append(f"histograms of at most {HISTOGRAMS} classes: choose classes")
    return lines[: len(chosen)], [*notes, *_outside(shown.histogram)]


def draw_categories(
    ax: Any, shown: Any, kind: str, chosen: NDArray[np.intp], texts: Sequence[str], kwargs: Any
) -> Drawn:
    """Draw a group of bars for each category, or a heat map of many classes.

    Return the bars of each class, or the image, and notes of what is not in the picture.
    """
    densities: Densities = shown.densities
    at = np.sort(top(densities.prior @ densities.density, TOP))
    table = densities.table(kind)[np.ix_(chosen, at)]
    names = class_texts(densities.points[at], 16)
    ax.set_xticks(np.arange(len(at)), names, **_turned(names))
    notes = [selection_note(len(at), len(densities.points), "categories")]
    if len(chosen) > BARS:
        image = draw_table(
            ax, table, aspect="auto", cmap=SEQUENTIAL, vmin=0.0, interpolation="nearest"
        )
        ax.set_yticks(np.arange(len(chosen)), [texts[c] for c in chosen])
        ax.figure.colorbar(image, ax=ax)
        return [image], notes
    bars = _draw_bars(ax, densities.position[chosen].tolist(), table, kwargs)
    handles, labels = list(bars), [texts[c] for c in chosen]
    if shown.histogram is not None and kind != "posterior":
        handles.append(_draw_shares(ax, shown.histogram, kind, chosen, at))
        labels.append("share of the rows")
        notes += _outside(shown.histogram)
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if len(at) > 8 else {}
    class_legend(ax, handles, labels, "class", **beside)
    return bars, notes


def _turned(names: Sequence[str]) -> dict[str, Any]:
    """How the names of categories are turned, so that none is written over another."""
    if not is_crowded(names):
        return {}
    if max(map(len, names)) <= 4:
        return {"rotation": 90}
    return {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}


def _draw_bars(ax: Any, positions: Sequence[int], table: Floats, kwargs: Any) -> list[Any]:
    """Bars of classes (k,) for categories, of heights (k, m)."""
    from matplotlib.patches import Rectangle

    k, m = table.shape
    width = 0.8 / k
    styles = [{"color": line_style(i)["color"]} for i in style_numbers(positions)]
    options = curve_options(kwargs, styles, Rectangle)
    offsets = (np.arange(k) - (k - 1) / 2) * width
    rows = zip(offsets, table, options, strict=True)
    return [ax.bar(np.arange(m) + x, row, width, **option) for x, row, option in rows]


def _draw_shares(
    ax: Any, histogram: Histogram, kind: str, chosen: NDArray[np.intp], at: NDArray[np.intp]
) -> Any:
    """Mark the shares of rows over the bars, and return a mark for the legend."""
    width = 0.8 / len(chosen)
    offsets = (np.arange(len(chosen)) - (len(chosen) - 1) / 2) * width
    for c, x in zip(chosen, offsets, strict=True):
        share = histogram.density[c, at] * (histogram.share[c] if kind == "weighted" else 1.0)
        color = ax.xaxis.label.get_color()
        (mark,) = ax.plot(np.arange(len(at)) + x, share, "_", color=color, markersize=5)
    return mark


def _draw_histograms(
    ax: Any,
    histogram: Histogram | None,
    kind: str,
    chosen: NDArray[np.intp],
    styles: Sequence[Any],
) -> float:
    """Draw the histograms of classes behind their curves; return the height of the tallest."""
    if histogram is None or kind == "posterior" or len(chosen) > HISTOGRAMS:
        return 0.0
    weight = histogram.share if kind == "weighted" else np.ones_like(histogram.share)
    is_filled = len(chosen) <= FILLED
    for c, style in zip(chosen, styles, strict=True):
        if histogram.density[c].any():
            ax.stairs(
                histogram.density[c] * weight[c], histogram.edges[c], color=style["color"],
                fill=is_filled, alpha=0.25 if is_filled else 0.5, linewidth=0.7,
            )  # fmt: skip
    return float((histogram.density * weight[:, None])[chosen].max())


def _visible(points: Floats, row: Floats, limit: float) -> tuple[Floats, Floats]:
    """The part of a curve that is not flat at 0, and the line of a class that is one point."""
    if np.isinf(row).any():
        at = float(points[np.isinf(row).argmax()])
        return np.array([at, at]), np.array([0.0, 1.05 * limit])
    high = np.flatnonzero(row > 5e-4 * limit)
    if not len(high):
        return points[:0], row[:0]
    part = slice(max(0, high[0] - 1), high[-1] + 2)
    return points[part], row[part]


def _top_of(densities: Densities, peaks: Floats, chosen: NDArray[np.intp]) -> float:
    """Where the axis ends: at the largest peak, unless it dwarfs most of them."""
    span = densities.points[-1] - densities.points[0]
    wide = peaks[densities.sd[chosen] >= _THIN * span]
    finite = peaks[np.isfinite(peaks)]
    counted = np.sort(wide if len(wide) else finite)
    if not len(counted):
        return 1.0
    return float(min(counted[-1], _TALL * counted[(len(counted) - 1) // 2]))


def _outside(histogram: Histogram | None) -> list[str]:
    if histogram is None or not histogram.n_outside > 0.5:
        return []
    n, total = round(histogram.n_outside), round(histogram.n_rows)
    verbs = "lies outside or has no value" if n == 1 else "lie outside or have no value"
    return [f"{n:,} of {counted(total, 'row')} {verbs}"]
