"""Errors and rows for tests of statistics."""

from __future__ import annotations

import numpy as np
import oracles

TOLERANCE = 1e-13


def errors(stats, exact):
    """Relative errors of mean and scatter, the mean's where it is not small beside the sd."""
    return (
        oracles.relative_error(stats.mean, exact.mean),
        oracles.relative_error(stats.scatter, exact.scatter),
    )


def offset_rows(rng, n, offset, dtype=np.float64):
    """Rows of sd 1 and means offset (times a class-dependent factor in one column)."""
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3)) + 3 + offset * np.array([1.0, -1.0, 1.0])
    X[:, 1] += y * offset
    return X.astype(dtype), y


def parts(stats):
    return stats.count, stats.mean, stats.variance, stats.mean_lo
