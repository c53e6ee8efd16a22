"""Statistics of rows in another basis, without another read of the rows.

The mean and the scatter of rotated rows follow exactly from those of the rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .class_stats import ClassStats

Floats = NDArray[np.float64]


def rotate(stats: ClassStats, centre: Floats, components: Floats) -> ClassStats:
    """The statistics, with diagonal scatter, of rows (x - centre) components', (n, r).

    centre (g, d) and components (g, r, d) are of each class, or with g = 1 of all. Needs full
    scatter. Error: a few units of the largest variance of a class. Cost: O(k r d^2).
    """
    if stats.covariance is None:
        raise ValueError("A rotation needs full scatter: make the statistics with scatter='full'.")
    mean = rotated_means(stats, centre, components)
    axes = components.transpose(0, 2, 1)
    variance = np.einsum("cdr,cdr->cr", stats.covariance @ axes, np.broadcast_to(
        axes, (len(stats.classes), *axes.shape[1:])
    ))  # fmt: skip
    return replace(
        stats, mean=mean, mean_lo=np.zeros_like(mean), variance=np.maximum(variance, 0.0),
        covariance=None, feature_names=None, max_scatter=None,
    )  # fmt: skip


def rotated_means(stats: ClassStats, centre: Floats, components: Floats) -> Floats:
    """Means (k, r) of rows (x - centre) components'. Cost: O(k r d)."""
    step = (stats.mean - centre) + stats.mean_lo
    return np.asarray((step[:, None, :] @ components.transpose(0, 2, 1))[:, 0, :])
