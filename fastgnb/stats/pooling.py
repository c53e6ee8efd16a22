"""Means of variances and covariances over classes, weighted by shares of weight.

A weight times a variance may leave float64's range where the variance that it belongs to does not:
weights of 1e-300 and rows of 1e-20, or of 1e200 and 1e60. Ratios of weights cannot, so whatever
decides is made of these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shares(weight: Floats) -> Floats:
    """Weights (k, ...) over their sum over the classes; 0 where that is 0.

    Error: half a unit in the last place, for weights down to 5e-324. A share below 2^-1022 has
    fewer digits.
    """
    total = weight.sum(axis=0)
    return np.asarray(np.divide(weight, total, out=np.zeros(weight.shape), where=total > 0))


def pooled(weight: Floats, values: Floats, ddof: int = 0) -> Floats:
    """The mean (...) of values (k, ...) over the classes, weighted by weight.

    weight : (k,) of the classes, or (k, d) or (k, 1) of features, as `ClassStats.weight` has it.
    values : (k, d) variances or (k, d, d) covariances.
    ddof : what each class with weight takes from the sum of weights that the sum of weight times
        values is divided by; where nothing is left of that sum, the result is 0.

    Only ratios of weights are formed: weights times any constant give the same values, to rounding.
    """
    part = shares(weight).reshape(weight.shape + (1,) * (values.ndim - weight.ndim))
    mean = np.asarray((part * values).sum(axis=0))
    if not ddof:
        return mean
    total = weight.sum(axis=0)
    left = total - ddof * np.count_nonzero(weight, axis=0)
    gain = np.divide(total, left, out=np.zeros(np.shape(total)), where=left > 0)
    with np.errstate(over="ignore"):  # a weight just above ddof may leave no variance in range
        return np.asarray(mean * gain)


def mean_of(variance: Floats) -> Floats:
    """Means (k,) of variances (k, d) over their features, also where their sum overflows."""
    d = variance.shape[1]
    with np.errstate(over="ignore"):
        mean = variance.mean(axis=1)
    return mean if np.isfinite(mean).all() else np.asarray((variance / d).sum(axis=1))


def rooted(weight: Floats, step: Floats) -> Floats:
    """Steps (k, d) times the square roots of the classes' shares of weight, (k,) or (k, d).

    The squares of a feature's column sum to what the steps add to its variance, and so do products
    of two columns for a covariance, neither of which overflows unless the variances do.
    """
    part = np.sqrt(shares(weight))
    part = part[:, None] if part.ndim < step.ndim else part
    return np.where(part > 0, part * step, 0.0)
