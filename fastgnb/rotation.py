"""Bases from statistics, and statistics seen in a basis: no rows are read again.

The mean and the scatter of rotated rows follow exactly from those of the rows, so that a principal
component analysis is a step from statistics to statistics.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .stats import ClassStats

Floats = NDArray[np.float64]


class Axes(NamedTuple):
    """Principal axes: components (g, r, d) of length 1, variance and share of each (g, r)."""

    components: Floats
    variance: Floats
    share: Floats


def principal_axes(scatters: Floats, n_components: int | float | None) -> Axes:
    """The axes of each scatter (g, d, d) along which it is largest, in falling order.

    Parameters
    ----------
    scatters : symmetric, over their weights; variances come in these units.
    n_components : how many; a number between 0 and 1: as few as have together more than that share
        of the variance, of the scatter that needs most; None: all along which something varies, of
        the scatter that has fewest and any.

    The largest component of each axis is positive. What varies by less than float64 can tell from
    0, d 2^-52 of the largest variance, has no axis of its own: its components are 0. Error: of an
    axis, about 1e-16 times the whole variance over the distance to the next one. Cost: O(g d^3).
    Raises ValueError for more than d.
    """
    d = scatters.shape[-1]
    values, vectors = np.linalg.eigh(scatters)
    variance, components = values[:, ::-1], vectors.transpose(0, 2, 1)[:, ::-1]
    largest = np.argmax(np.abs(components), axis=2)[:, :, None]
    signs = np.sign(np.take_along_axis(components, largest, axis=2))
    some = variance > d * np.finfo(np.float64).eps * variance[:, :1]
    variance = np.where(some, variance, 0.0)
    components = np.where(some[:, :, None], components * signs, 0.0)
    whole = variance.sum(axis=1, keepdims=True)
    share = np.divide(variance, whole, out=np.zeros_like(variance), where=whole > 0)
    r = _number(n_components, share)
    return Axes(components[:, :r].copy(), variance[:, :r].copy(), share[:, :r].copy())


def rotate(stats: ClassStats, centre: Floats, components: Floats) -> ClassStats:
    """The statistics, with diagonal scatter, of rows (x - centre) components', (n, r).

    centre (g, d) and components (g, r, d) are of each class, or with g = 1 of all. Needs full
    scatter. Error: a few units of the largest variance of a class. Cost: O(k r d^2).
    """
    if stats.covariance is None:
        raise ValueError("A rotation needs full scatter: make the statistics with scatter='full'.")
    step = (stats.mean - centre) + (stats.mean_low if len(centre) == 1 else 0.0)
    axes = components.transpose(0, 2, 1)
    mean = (step[:, None, :] @ axes)[:, 0, :]
    variance = np.einsum("cdr,cdr->cr", stats.covariance @ axes, np.broadcast_to(
        axes, (len(stats.classes), *axes.shape[1:])
    ))  # fmt: skip
    return replace(
        stats, mean=mean, mean_low=np.zeros_like(mean), variance=np.maximum(variance, 0.0),
        covariance=None, feature_names=None, peak=None,
    )  # fmt: skip


def check_components(n_components: Any) -> None:
    """Raise ValueError unless it is None, a whole number from 1 up or a number within 0 to 1."""
    if n_components is None:
        return
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    number: Any = n_components
    part = isinstance(n_components, Real) and 0 < number < 1
    if not (part or (whole and int(n_components) >= 1)):
        raise ValueError(
            "n_components must be None, a whole number from 1 up, or a number between 0 and 1, "
            f"got {n_components!r}."
        )


def _number(n_components: Any, share: Floats) -> int:
    check_components(n_components)
    d = int(share.shape[1])
    if n_components is None:
        ranks = np.count_nonzero(share, axis=1)
        return int(ranks[ranks > 0].min(initial=d) if ranks.any() else 1)
    if not isinstance(n_components, Integral):
        reached = (np.cumsum(share, axis=1) <= n_components).sum(axis=1)
        return int(min(reached.max() + 1, d))
    if int(n_components) > d:
        raise ValueError(f"n_components={n_components} must be between 1 and n_features={d}.")
    return int(n_components)
