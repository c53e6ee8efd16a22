"""What all displays share: axes to draw on, panels, titles, legends, and the table underneath."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._system.optional import plt

__all__ = ["PANELS", "Display", "class_legend", "pandas", "set_title"]

PANELS = 12
"""Most panels of a picture that has one for each class."""

INSIDE = 4
"""Most entries of a legend inside the axes. Longer ones are beside them."""

LEGEND = 30
"""Most entries of a legend."""


def pandas() -> Any:
    """Return the package pandas. Raises ImportError that names the extra where it is missing."""
    from .._system.optional import pd

    return pd


class Display(ABC):
    """A plot and the numbers behind it.

    A subclass takes its numbers as keywords of the constructor, computes them in its ``from_...``
    class methods, and draws in ``plot``, which starts with `_start` or `_start_panels` and returns
    the display.
    """

    ax_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Draw the picture, and return the display."""

    @abstractmethod
    def frame(self) -> Any:
        """Return the numbers behind the plot as a pandas.DataFrame."""

    def _start(self, ax: Any, *, size: tuple[float, float] | None = None) -> Any:
        """Set and return ``ax_``: the axes that were given, or those of a new figure."""
        if ax is None:
            _, ax = plt.subplots(figsize=size, layout="constrained")
        elif not hasattr(ax, "plot"):
            raise ValueError(f"Expected ax to be one matplotlib Axes, got {_described(ax)}.")
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _start_panels(
        self, ax: Any, n: int, *, columns: int = 3, size: tuple[float, float] = (3.2, 3.0)
    ) -> list[Any]:
        """Set ``axes_`` (n,), and return it as a list: axes given, or n of a new figure.

        ``ax_`` is the first of them. `size` is that of a panel, in inches.
        """
        if ax is None:
            across = min(n, columns)
            down = math.ceil(n / across)
            _, grid = plt.subplots(
                down, across, squeeze=False, layout="constrained",
                figsize=(max(6.4, across * size[0]), max(3.2, down * size[1])),
            )  # fmt: skip
            panels = list(grid.ravel())
            for unused in panels[n:]:
                unused.remove()
            panels = panels[:n]
        else:
            panels = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
            if len(panels) != n or not all(hasattr(each, "plot") for each in panels):
                raise ValueError(
                    f"Expected ax to hold {n} matplotlib Axes, one for each panel, got "
                    f"{_described(ax)}. Make them by plt.subplots(1, {n})."
                )
        self.axes_ = np.empty(n, dtype=object)
        self.axes_[:] = panels
        self.ax_, self.figure_ = panels[0], panels[0].figure
        return panels


def _described(ax: Any) -> str:
    if hasattr(ax, "plot"):
        return "one Axes"
    shape = np.shape(np.asarray(ax, dtype=object))
    return f"{math.prod(shape)} objects" if shape else type(ax).__name__


def set_title(ax: Any, title: str, *notes: str) -> None:
    """Set the title, with notes of what is left out in smaller text under it."""
    said = "; ".join(note for note in notes if note)
    ax.set_title(title, pad=20 if said else None)
    if said:
        ax.annotate(
            said, (0.5, 1.0), (0, 5), xycoords="axes fraction", textcoords="offset points",
            ha="center", va="bottom", fontsize="small", annotation_clip=False,
        )  # fmt: skip


def class_legend(
    ax: Any, handles: Sequence[Any], texts: Sequence[str], title: str | None = None, **options: Any
) -> Any:
    """Add a legend: inside the axes for up to four entries, and beside them for more.

    Of more than thirty entries the last one says how many are left out.
    """
    handles, texts = list(handles), list(texts)
    if len(handles) > LEGEND:
        from matplotlib.lines import Line2D

        left = len(handles) - LEGEND + 1
        handles = [*handles[: LEGEND - 1], Line2D([], [], linestyle="none")]
        texts = [*texts[: LEGEND - 1], f"and {left:,} more"]
    place: Mapping[str, Any] = {"loc": "best"}
    if len(handles) > INSIDE:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    size = "small" if len(handles) <= 20 else "x-small"
    return ax.legend(
        handles, texts, title=title,
        **{"fontsize": size, "handlelength": 2.6, "framealpha": 0.85, **place, **options},
    )  # fmt: skip
