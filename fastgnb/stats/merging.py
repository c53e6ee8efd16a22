"""Statistics merged: over rows, over classes, and with less weight. Only fields that change.

Chan's update in ratios of weights: see `kernels.learn.merge` for means and variances.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.learn.double_double import difference
from ..kernels.learn.merge import Parts, collapse, merge, merge_covariances
from .checks import check_factor, check_shapes
from .pooling import pooled, rooted
from .subtraction import max_scatter_of

if TYPE_CHECKING:
    from .class_stats import ClassStats

Floats = NDArray[np.float64]


def merge_rows(a: ClassStats, b: ClassStats) -> dict[str, Any]:
    """The fields of the statistics of the rows of both, which are of the same classes."""
    parts = _parts_of(a), _parts_of(b)
    weight, mean, mean_lo, variance = merge(*parts)
    covariance = None
    if a.covariance is not None and b.covariance is not None:
        covariance = merge_covariances(*parts, a.covariance, b.covariance, variance)
    is_skip = a.feature_count is not None
    subtracted = a.max_scatter is not None or b.max_scatter is not None
    return {
        "count": a.count + b.count if is_skip else weight[:, 0],
        "mean": mean,
        "variance": variance,
        "mean_lo": mean_lo,
        "feature_count": weight if is_skip else None,
        "max_scatter": max_scatter_of(a) + max_scatter_of(b) if subtracted else None,
        "covariance": covariance,
    }


def merge_classes(stats: ClassStats) -> dict[str, Any]:
    """The fields of the statistics of all rows as one class."""
    weight, mean, mean_lo, variance = collapse(_parts_of(stats))
    is_skip = stats.feature_count is not None
    fields: dict[str, Any] = {
        "count": np.array([stats.count.sum()]) if is_skip else weight[:, 0],
        "mean": mean,
        "variance": variance,
        "mean_lo": mean_lo,
        "feature_count": weight if is_skip else None,
        "max_scatter": None,
    }
    if stats.covariance is not None:
        fields["covariance"] = _covariance_of_all(stats, mean, mean_lo, variance)
    return fields


def between(stats: ClassStats, overall: ClassStats) -> Floats:
    """Scatter (d,) or (d, d) of the class means around that of all rows, which `overall` has."""
    step = rooted(stats.weight, _steps_from(stats, overall.mean, overall.mean_lo))
    with np.errstate(over="ignore"):
        if stats.covariance is not None:
            return np.asarray(overall.count * _outer(step))
        return np.asarray(overall.weight[0] * (step**2).sum(axis=0))


def decay(stats: ClassStats, factor: float) -> dict[str, Any]:
    """The fields of the statistics with all weights times `factor`. Raises ValueError."""
    share = check_factor(factor)
    present, bound = stats.feature_count, stats.max_scatter
    fields: dict[str, Any] = {
        "count": stats.count * share,
        "feature_count": None if present is None else present * share,
        "max_scatter": None if bound is None else bound * share,
    }
    decayed = replace(stats, **fields)
    vanished = (stats.weight > 0) & (decayed.weight == 0)
    return fields | _cleared(decayed, vanished) if vanished.any() else fields


def _cleared(stats: ClassStats, vanished: NDArray[np.bool_]) -> dict[str, Any]:
    """The fields with 0 for values (k, d), or classes (k, 1), whose weight is 0."""
    mask = np.broadcast_to(vanished, stats.mean.shape)
    fields: dict[str, Any] = {
        name: np.where(mask, 0.0, value)
        for name in ("mean", "variance", "mean_lo", "max_scatter")
        if (value := getattr(stats, name)) is not None
    }
    if stats.covariance is not None:
        fields["covariance"] = np.where(vanished[:, :, None], 0.0, stats.covariance)
    return fields


def _parts_of(stats: ClassStats) -> Parts:
    """What kernels read. Raises ValueError where shapes differ, which a kernel does not see."""
    check_shapes(stats)
    return Parts(stats.weight, stats.mean, stats.mean_lo, stats.variance)


def _covariance_of_all(
    stats: ClassStats, mean: Floats, mean_lo: Floats, variance: Floats
) -> Floats:
    """Covariance (1, d, d) of all rows, around their mean (1, d)."""
    assert stats.covariance is not None
    step = rooted(stats.count, _steps_from(stats, mean, mean_lo))
    with np.errstate(over="ignore", invalid="ignore"):  # as of the variances, which tell
        covariance = pooled(stats.count, stats.covariance) + _outer(step)
    return _with_diagonal(covariance[None], variance)


def _steps_from(stats: ClassStats, mean: Floats, mean_lo: Floats) -> Floats:
    """Differences (k, d) of the means of classes to another one (1, d)."""
    return np.asarray(difference(stats.mean, stats.mean_lo, mean, mean_lo))


def _outer(step: Floats) -> Floats:
    """Sum (d, d) of the outer products of steps (k, d) with themselves, in their order."""
    both = np.zeros((step.shape[1], step.shape[1]))
    for z in step:
        both += np.multiply.outer(z, z)
    return both


def _with_diagonal(covariance: Floats, variance: Floats) -> Floats:
    """The covariances with these variances, of which rounding gave them others."""
    d = variance.shape[1]
    covariance[:, np.arange(d), np.arange(d)] = variance
    return covariance
