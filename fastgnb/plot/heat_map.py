"""Heat maps: tables of numbers as colors, the names of their cells, and numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import top
from .names import TOP, is_crowded
from .palette import DIVERGING, SEQUENTIAL

__all__ = [
    "draw_heat_map",
    "draw_table",
    "label_cells",
    "strongest",
    "tall_size",
    "write_numbers",
]

NUMBERS = 10
"""Most rows and columns of a heat map whose numbers are written into it."""


def tall_size(rows: int, columns: int, longest: int = 8) -> tuple[float, float]:
    """The size in inches of a figure with that many named rows and columns.

    Few columns have room for numbers. `longest` is how many characters the longest name has.
    """
    cell = 0.5 if columns <= NUMBERS else 0.22
    names = 0.075 * longest
    return max(6.4, 2.0 + names + cell * columns), max(4.8, 1.0 + names + max(2.5, 0.2 * rows))


def draw_table(panel: Any, table: NDArray[np.float64], **options: Any) -> Any:
    """Draw a table as an image, and no grid: styles that have one would rule it through numbers."""
    panel.grid(visible=False, which="both")
    return panel.imshow(table, **options)


def draw_heat_map(
    panel: Any,
    table: NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    label: str,
    is_signed: bool = False,
    number_format: str = ".2g",
    colorbar: bool = True,
    **options: Any,
) -> Any:
    """Draw a table (n, m) with names of its rows and columns, and return the image.

    NaN are left blank. Signed numbers have a colormap that is light at 0. Numbers are written into
    tables of at most ten rows and columns; of more than five, not below 1/1000 of the largest.
    """
    largest = float(np.nanmax(np.abs(table), initial=0.0)) or 1.0
    style = {
        "cmap": DIVERGING if is_signed else SEQUENTIAL, "vmin": -largest if is_signed else 0.0,
        "vmax": largest, "aspect": "auto", "interpolation": "nearest",
    }  # fmt: skip
    image = draw_table(panel, table, **{**style, **options})
    small = {"fontsize": "small"} if max(table.shape) > NUMBERS else {}
    panel.set_yticks(np.arange(len(rows)), rows, **small)
    turned = {"rotation": 90} if is_crowded(columns) else {}
    panel.set_xticks(np.arange(len(columns)), columns, **turned, **small)
    if colorbar:
        panel.figure.colorbar(image, ax=panel, label=label)
    if max(table.shape) <= NUMBERS:
        least = 0.0 if max(table.shape) <= NUMBERS // 2 else 1e-3 * largest
        write_numbers(panel, table, image, number_format, least)
    return image


def label_cells(panel: Any, texts: Sequence[str], *, left: bool, low: bool) -> None:
    """Name the rows (`left`) and the columns (`low`) of a square heat map."""
    size = "small" if len(texts) <= 15 else "x-small"
    ticks = np.arange(len(texts))
    panel.set_xticks(ticks, texts if low else [], rotation=90, fontsize=size)
    panel.set_yticks(ticks, texts if left else [], fontsize=size)


def write_numbers(
    panel: Any,
    matrix: NDArray[np.float64],
    image: Any,
    number_format: str = ".2f",
    least: float = 0.0,
) -> NDArray[Any]:
    """Write the numbers of a matrix into its cells, in black on light and white on dark ones.

    Numbers whose amount is below `least`, and NaN, are left out.
    """
    out = np.empty(matrix.shape, dtype=object)
    size = "small" if max(matrix.shape) <= 5 else "x-small"
    for (i, j), value in np.ndenumerate(matrix):
        if not abs(value) >= least:
            continue
        red, green, blue, _ = image.cmap(image.norm(value))
        is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
        out[i, j] = panel.text(
            j, i, _text(value, number_format), ha="center", va="center",
            color="black" if is_light else "white", fontsize=size,
        )  # fmt: skip
    return out


def _text(value: float, number_format: str) -> str:
    """A number, without the sign of one that is rounded to 0."""
    text = format(value, number_format)
    return text.lstrip("-") if float(text) == 0.0 else text


def strongest(correlation: NDArray[np.float64], pooled: NDArray[np.float64]) -> NDArray[np.intp]:
    """Features, in their order: all, or of more than TOP those with the strongest correlations."""
    d = len(pooled)
    if d <= TOP:
        return np.arange(d)
    size = np.abs(pooled)
    for matrix in correlation:
        size = np.maximum(size, np.abs(matrix))
    np.fill_diagonal(size, 0.0)
    return np.sort(top(size.max(axis=1), TOP))
