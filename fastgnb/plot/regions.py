"""Decision regions in the plane of two features: exact scores on a grid, and their boundaries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..densities.marginals import Marginal
from .arguments import top

__all__ = ["Regions", "draw_regions", "regions_of"]

Floats = NDArray[np.float64]

GRID = 240
"""Points of the grid along each feature."""

_AT_ONCE = 64
"""Classes that are scored at a time, so that memory does not grow with their number."""


class Regions(NamedTuple):
    """Scores on a grid of two features.

    Parameters
    ----------
    x : ndarray of shape (n_x,)
        Values of the first feature.
    y : ndarray of shape (n_y,)
        Values of the second feature.
    winner : ndarray of shape (n_y, n_x)
        Position of the class of largest posterior probability.
    best, second : ndarray of shape (n_y, n_x)
        The two largest joint log likelihoods, log prior + log density of the two features.
    position : ndarray of shape (n_shown,)
        Positions of the classes of largest prior.
    joint : ndarray of shape (n_y, n_x, n_shown)
        Joint log likelihoods of these.
    """

    x: Floats
    y: Floats
    winner: NDArray[np.intp]
    best: Floats
    second: Floats
    position: NDArray[np.intp]
    joint: Floats

    def margin(self, c: int) -> Floats:
        """Log odds (n_y, n_x) of the class at position c against the best of the others."""
        joint = self.joint[:, :, self.position.tolist().index(c)]
        return np.asarray(joint - np.where(self.winner == c, self.second, self.best))


def regions_of(
    densities: Marginal, x: tuple[float, float], y: tuple[float, float], most: int
) -> Regions:
    """Scores of all classes between bounds of two features; tables of `most` classes are kept."""
    across, up = np.linspace(*x, GRID), np.linspace(*y, GRID)
    points = np.stack([each.ravel() for each in np.meshgrid(across, up)], axis=1)
    position = np.sort(top(densities.prior, most))
    winner = np.zeros(len(points), np.intp)
    two = np.full((len(points), 2), -np.inf)  # the second best, and the best
    for start in range(0, len(densities.prior), _AT_ONCE):
        joint = densities.only(slice(start, start + _AT_ONCE)).joint(points)
        winner = np.where(joint.max(axis=1) > two[:, 1], start + joint.argmax(axis=1), winner)
        two = np.partition(np.hstack([two, joint]), -2, axis=1)[:, -2:]
    kept = densities.only(position).joint(points)
    shape = (GRID, GRID)
    return Regions(
        across, up, winner.reshape(shape), two[:, 1].reshape(shape), two[:, 0].reshape(shape),
        position, kept.reshape(*shape, -1),
    )  # fmt: skip


def draw_regions(ax: Any, regions: Regions, colors: dict[int, str]) -> None:
    """Fill the region of each class in `colors`, by its position, and draw its boundary.

    The boundary is where the log odds of the class against the best other one are 0, between points
    of the grid by linear interpolation.
    """
    winners = set(np.unique(regions.winner).tolist())
    for c, color in colors.items():
        if c not in winners:
            continue
        margin = regions.margin(c)
        ax.contourf(
            regions.x, regions.y, margin, levels=[0.0, np.inf], colors=[color], alpha=0.14,
            zorder=0,
        )  # fmt: skip
        if margin.min() < 0:
            line = ax.xaxis.label.get_color()
            ax.contour(
                regions.x, regions.y, margin, levels=[0.0], colors=[line], linewidths=0.6,
                alpha=0.5, zorder=0.5,
            )  # fmt: skip
