"""Checks of statistics: shapes, memory, and numbers beyond float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.learn.merge import LARGE, LARGE_MEAN

if TYPE_CHECKING:
    from .class_stats import ClassStats


# Most memory that the covariances of statistics may take.
MOST_BYTES = 1 << 32


def check_scatter(scatter: object) -> bool:
    """Whether scatter is "full". Raises ValueError unless it is "full" or "diag"."""
    if scatter not in ("full", "diag"):
        raise ValueError(f"scatter must be 'diag' or 'full', got {scatter!r}.")
    return scatter == "full"


def check_size(k: int, d: int) -> None:
    """Raise ValueError where means and variances of k classes would take too much memory."""
    size = 8 * 3 * k * d
    if size > MOST_BYTES:
        raise ValueError(
            f"Statistics of {k} classes and {d} features take {size} bytes, more than the limit of "
            f"{MOST_BYTES}. A target of so many distinct labels may be an identifier, or a "
            "quantity for regression."
        )


def check_counts_size(k: int, m: int, name: str) -> None:
    """Raise ValueError where the counts of m categories in k classes would take too much memory."""
    size = 8 * k * m
    if size > MOST_BYTES:
        raise ValueError(
            f"Counts of {m} categories of feature {name} in {k} classes take {size} bytes, more "
            f"than the limit of {MOST_BYTES}. Leave the feature out if it identifies rows."
        )


def check_full_size(k: int, d: int, *, skip: bool) -> None:
    """Raise ValueError where full scatter is not defined, or takes too much memory."""
    if skip:
        raise ValueError(
            "Full scatter needs whole rows, and missing='skip' leaves values out. Fill them in, "
            "or use scatter='diag'."
        )
    size = 8 * k * d * d
    if size > MOST_BYTES:
        raise ValueError(
            f"Full scatter of {k} classes and {d} features takes {size} bytes, more than the "
            f"limit of {MOST_BYTES}. Use fewer features, or scatter='diag'."
        )


def check_shapes(stats: ClassStats) -> None:
    """Raise ValueError unless all arrays are of the same k classes and d features."""
    shape = np.shape(stats.mean)
    k, d = shape if len(shape) == 2 else (-1, -1)
    wanted = {
        "classes": (k,), "count": (k,), "mean": (k, d), "variance": (k, d), "mean_lo": (k, d),
        "feature_count": (k, d), "max_scatter": (k, d), "covariance": (k, d, d),
    }  # fmt: skip
    for name, expected in wanted.items():
        value = getattr(stats, name)
        if value is not None and np.shape(value) != expected:
            raise ValueError(
                f"Expected statistics of {k} classes and {d} features: {name} of shape {expected}, "
                f"got {np.shape(value)}."
            )


def check_overflow(stats: ClassStats) -> None:
    """Raise ValueError where weights or variances do not fit float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        # One sum tells whether all is well, as it nearly always is.
        weight = stats.weight.sum() + (stats.count.sum() if stats.feature_count is not None else 0)
        if math.isfinite(stats.variance.sum() + stats.mean.sum() + weight):
            return
        total = stats.weight.sum(axis=0).max(initial=stats.count.sum())
    if not np.isfinite(total):
        raise ValueError("The sum of the weights overflows float64. Scale them down.")
    finite = np.isfinite(stats.variance) & np.isfinite(stats.mean)
    if not finite.all():
        raise ValueError(
            f"Feature {int(np.argwhere(~finite)[0, 1])} spans values so far apart that its "
            "variance overflows float64. Scale it down."
        )


def is_usual(stats: ClassStats) -> bool:
    """Whether no number is so large that what is derived of all classes may overflow."""
    lowest, highest = stats.mean.min(initial=0.0), stats.mean.max(initial=0.0)
    largest = max(stats.variance.max(initial=0.0), stats.count.max(initial=0.0))
    return bool(lowest > -LARGE_MEAN and highest < LARGE_MEAN and largest < LARGE)


def check_name_count(names: Sequence[str], d: int) -> None:
    """Raise ValueError unless there is a name for each of d features."""
    if len(names) != d:
        raise ValueError(f"Expected {d} feature names, one a column, got {len(names)}.")


def check_factor(factor: float) -> float:
    """A factor of decay as a float. Raises ValueError unless it is above 0 and at most 1."""
    if not isinstance(factor, Real) or not 0.0 < factor <= 1.0:
        raise ValueError(f"factor must be a number above 0 and at most 1, got {factor!r}.")
    return float(factor)
