"""Statistics and labels of rows compared with the distribution that the rows are drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Problem

__all__ = ["bayes_accuracy", "deviations", "relative_error"]


def deviations(problem: Problem, stats: Any) -> dict[str, float]:
    """The largest deviations of statistics, in standard errors of their sampling.

    Of N numbers the largest is about sqrt(2 log N): 2.9 of 60 means or variances.
    """
    count, prior = stats.count[:, None], problem.prior
    n = stats.count.sum()
    mean = stats.mean - problem.mean + stats.mean_lo
    return {
        "count": _largest((stats.count - n * prior) / np.sqrt(n * prior * (1 - prior))),
        "mean": _largest(mean / problem.sd * np.sqrt(count)),
        "variance": _largest((stats.variance / problem.sd**2 - 1) * np.sqrt(count / 2)),
    }


def relative_error(found: Any, wanted: Any) -> float:
    """The largest error relative to what is wanted; infinite where something is not finite."""
    error = np.abs(np.asarray(found) / np.asarray(wanted) - 1)
    return float(error.max()) if np.isfinite(error).all() else float("inf")


def bayes_accuracy(problem: Problem, X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Share of rows that the distribution itself tells the class of, which no model exceeds."""
    z = (X[:, None] - problem.mean) / problem.sd
    score = np.log(problem.prior) - np.log(problem.sd).sum(axis=1) - 0.5 * (z**2).sum(axis=2)
    return float((score.argmax(axis=1) == y).mean())


def _largest(values: NDArray[np.float64]) -> float:
    return float(np.abs(values).max())
