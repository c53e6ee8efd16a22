"""The ellipses, means and rows of `EllipseDisplay`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..densities.marginals import Marginal
from ..files.phrases import counted
from ..model.model import Model
from .arguments import curve_options, sampled, top
from .display import class_legend, set_title
from .names import class_texts, selection_note, shorten
from .palette import line_style, marker_style, style_numbers
from .regions import draw_regions
from .rows import check_both, class_codes, columns

__all__ = ["CLASSES", "Rows", "draw_ellipses", "ellipse_points", "limits_of", "rows_of"]

Floats = NDArray[np.float64]
Limits = tuple[tuple[float, float], tuple[float, float]]

CLASSES = 20
"""Most classes whose ellipses are drawn."""

SIGMAS = (1.0, 2.0, 3.0)
"""Radii of the ellipses of up to seven classes; of more classes the first only."""

_FEW = 7

_REACH = 3.4
"""How many standard deviations around each mean are in the picture."""


class Rows(NamedTuple):
    """Rows that are drawn.

    Parameters
    ----------
    values : ndarray of shape (n_rows, 2)
        Values of the two features.
    codes : ndarray of shape (n_rows,)
        Positions of the rows' classes.
    n_rows : int
        Number of rows that these were chosen from.
    n_outside : int
        Those of all rows that are outside of the picture, or lack a value.
    """

    values: Floats
    codes: NDArray[np.int64]
    n_rows: int
    n_outside: int


def limits_of(densities: Marginal) -> Limits:
    """Bounds of both features that hold the densities of all classes."""
    low = (densities.mean - _REACH * densities.sd).min(axis=0)
    high = (densities.mean + _REACH * densities.sd).max(axis=0)
    pad = np.where(high > low, 0.0, 0.5 * np.maximum(np.abs(low), 1.0))
    (a, b), (c, d) = (low - pad).tolist(), (high + pad).tolist()
    return (a, c), (b, d)


def rows_of(
    model: Model, densities: Marginal, X: Any, y: Any, pair: Sequence[int], limits: Limits
) -> Rows | None:
    """Rows to draw, of classes that can win; None where none were given."""
    if not check_both(X, y):
        return None
    position = np.full(len(model.classes), -1)
    position[densities.position] = np.arange(len(densities.position))
    codes = position[class_codes(X, y, model)]
    values = columns(X, pair, model)
    inside = codes >= 0
    for j, (low, high) in enumerate(limits):
        inside &= (values[:, j] >= low) & (values[:, j] <= high)
    chosen = np.flatnonzero(inside)
    part = chosen[sampled(len(chosen))]
    return Rows(values[part], codes[part], len(codes), len(codes) - len(chosen))


def draw_ellipses(shown: Any, ax: Any, sigmas: Sequence[float] | None, kwargs: Any) -> None:
    """Draw an `EllipseDisplay`."""
    k = len(shown.classes)
    chosen = np.sort(top(shown.class_prior, CLASSES))
    sigmas = _sigmas(sigmas, len(chosen))
    position = np.arange(k) if shown.position is None else np.asarray(shown.position)
    styles = style_numbers(position[chosen].tolist())
    texts = class_texts(shown.classes)
    ax = shown._start(ax)
    if shown.regions is not None:
        colors = {int(c): line_style(i)["color"] for c, i in zip(chosen, styles, strict=True)}
        draw_regions(ax, shown.regions, colors)
    _draw_rows(ax, shown.rows, chosen, styles)
    shown.ellipses_ = _draw_curves(ax, shown, chosen, styles, sigmas, kwargs)
    handles = [_draw_mean(ax, shown.mean[c], i) for c, i in zip(chosen, styles, strict=True)]
    class_legend(ax, handles, [texts[c] for c in chosen], "class")
    if shown.regions is not None:
        ax.set_xlim(shown.regions.x[0], shown.regions.x[-1])
        ax.set_ylim(shown.regions.y[0], shown.regions.y[-1])
    for set_label, name in zip((ax.set_xlabel, ax.set_ylabel), shown.feature_names, strict=True):
        set_label(shorten(name, 50).replace("$", r"\$"))
    which = selection_note(len(chosen), k, "classes", which="the largest ")
    set_title(ax, "", which, *_notes(shown.rows, sigmas), *shown.notes)


def ellipse_points(mean: Floats, covariance: Floats, sigma: float, n: int = 121) -> Floats:
    """Points (n, 2) at Mahalanobis distance `sigma` from a mean; a line where the rank is low.

    The covariance is taken in units of its standard deviations, so that features of any units keep
    their digits.
    """
    sd = np.sqrt(np.diagonal(covariance))
    unit = np.where(sd > 0, sd, 1.0)
    r = float(np.clip(covariance[0, 1] / unit[0] / unit[1], -1.0, 1.0))
    turn = np.linspace(0.0, 2.0 * np.pi, n)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    lower = np.array([[1.0, 0.0], [r, np.sqrt((1.0 - r) * (1.0 + r))]])
    return np.asarray(mean + sigma * (circle @ lower.T) * sd)


def _sigmas(sigmas: Sequence[float] | None, k: int) -> list[float]:
    if sigmas is None:
        return list(SIGMAS if k <= _FEW else SIGMAS[:1])
    given = [float(sigma) for sigma in sigmas]
    if not given or not all(0.0 < sigma < np.inf for sigma in given):
        raise ValueError(f"Expected sigmas of one or more finite numbers above 0, got {sigmas!r}.")
    return sorted(given)


def _draw_rows(ax: Any, rows: Rows | None, chosen: NDArray[np.intp], styles: Sequence[int]) -> None:
    if rows is None:
        return
    for c, i in zip(chosen, styles, strict=True):
        part = rows.values[rows.codes == c]
        style = marker_style(i)
        ax.scatter(
            part[:, 0], part[:, 1], s=12 if len(chosen) <= _FEW else 8, alpha=0.5, linewidths=0,
            c=style["color"], marker=style["marker"], zorder=1,
        )  # fmt: skip


def _draw_curves(
    ax: Any,
    shown: Any,
    chosen: NDArray[np.intp],
    styles: Sequence[int],
    sigmas: Sequence[float],
    kwargs: Any,
) -> list[list[Any]]:
    """Draw the ellipses of each class, which are thinner the larger they are."""
    from matplotlib.lines import Line2D

    options = curve_options(kwargs, [line_style(i) for i in styles], Line2D)
    ellipses: list[list[Any]] = []
    for c, option in zip(chosen, options, strict=True):
        curves = []
        for i, sigma in enumerate(sigmas):
            points = ellipse_points(shown.mean[c], shown.covariance[c], sigma)
            width = {"linewidth": max(0.7, 1.8 - 0.5 * i), "zorder": 2}
            curves += ax.plot(points[:, 0], points[:, 1], **{**width, **option})
        ellipses.append(curves)
    return ellipses


def _draw_mean(ax: Any, mean: Floats, i: int) -> Any:
    """Draw a mean, and return a handle for the legend, which has the line's style too."""
    from matplotlib.lines import Line2D

    style = marker_style(i)
    edge = ax.get_facecolor()
    ax.plot(
        *mean, linestyle="none", marker=style["marker"], color=style["color"], markersize=8,
        markeredgecolor=edge, zorder=3,
    )  # fmt: skip
    return Line2D([], [], marker=style["marker"], markersize=6, **line_style(i))


def _notes(rows: Rows | None, sigmas: Sequence[float]) -> list[str]:
    notes = ["ellipses of " + ", ".join(f"{sigma:g}" for sigma in sigmas) + " sigma"]
    if rows is not None and len(rows.values) < rows.n_rows - rows.n_outside:
        notes.append(f"{len(rows.values):,} of {rows.n_rows:,} rows")
    if rows is not None and rows.n_outside:
        n = rows.n_outside
        verbs = "lies outside or lacks a value" if n == 1 else "lie outside or lack a value"
        notes.append(f"{counted(n, 'row')} {verbs}")
    return notes
