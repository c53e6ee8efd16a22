"""How far features are from normal within classes, from counts in bins and central moments.

Everything is about the data's own mean and variance, so that a model that is out of date, or that
smooths or shares variances, is not taken for data that are not normal. `mean_z` and `sd_z` say how
far the data are from the model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri

from ..kernels.learn.standardized import LIMIT, Moments

__all__ = ["NORMAL_BEYOND_3SD", "Normality", "edges_of", "normality_of", "quantiles"]

Floats = NDArray[np.float64]

NORMAL_BEYOND_3SD = 2.0 * float(ndtr(-3.0))
"""The share of a normal distribution that is more than three standard deviations from its mean."""

EXPECTED = 5.0
"""Rows that a normal distribution puts into each group of bins at least, as the G-test needs."""

_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
"""A standard deviation of at most this share of the mean is what rounding left of equal values."""

_BLOCK = 1 << 20
"""Bins that are worked on at a time, so that they need little memory besides their counts."""


class Normality(NamedTuple):
    """What is said of each class and feature, all (k, d) but the last two, which are (d,).

    NaN where it is undefined: without rows, for constants, and where rows are too few, or bins too
    wide, to tell.
    """

    mean_z: Floats
    sd_z: Floats
    skewness: Floats
    excess_kurtosis: Floats
    beyond_3sd: Floats
    kolmogorov: Floats
    negentropy: Floats
    feature_negentropy: Floats
    p_value: Floats


def edges_of(n_bins: int) -> Floats:
    """The edges (n_bins + 1,) of the bins of z, of which the outermost are infinite."""
    return np.concatenate([[-np.inf], np.linspace(-LIMIT, LIMIT, n_bins - 1), [np.inf]])


class _OfClasses(NamedTuple):
    """What is said of some classes (k, d), and what the G-test takes: nats, groups and rows."""

    mean_z: Floats
    sd_z: Floats
    skewness: Floats
    excess_kurtosis: Floats
    beyond_3sd: Floats
    kolmogorov: Floats
    negentropy: Floats
    raw: Floats
    groups: Floats
    effective: Floats


def normality_of(moments: Moments, counts: Floats, rows: Floats) -> Normality:
    """Normality of `moments` (k, d) and `counts` (k, d, B) of z.

    rows : (k,), the effective number of rows of each class, (sum of w)^2 / (sum of w^2).
    """
    step = max(1, _BLOCK // max(1, counts[0].size))
    parts = [
        _of_classes(Moments(*[each[at : at + step] for each in moments]), counts[at : at + step],
                    rows[at : at + step])
        for at in range(0, len(rows), step)
    ]  # fmt: skip
    found = _OfClasses(*[np.concatenate(field) for field in zip(*parts, strict=True)])
    return Normality(
        *found[:7], _mean_over_classes(found.negentropy, moments.weight),
        _p_value(found.raw, found.groups, found.effective),
    )  # fmt: skip


def _of_classes(moments: Moments, counts: Floats, rows: Floats) -> _OfClasses:
    weight = moments.weight
    mean, sd = _or_nan(moments.mean, weight > 0), np.sqrt(_ratio(moments.second, weight))
    sd = np.where(sd <= _ROUNDING * np.abs(mean), 0.0, sd)
    varies = sd > 0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        skewness = _or_nan(_ratio(moments.third, weight) / sd**3, varies)
        kurtosis = _or_nan(_ratio(moments.fourth, weight) / sd**4 - 3.0, varies)
    effective = rows[:, None] * _ratio(weight, weight.max(axis=1, keepdims=True, initial=0.0))
    share = _ratio(counts, weight[:, :, None])
    edges = edges_of(counts.shape[2])
    normal = _normal_cdf(edges, mean, sd)
    kolmogorov = _or_nan(np.abs(np.cumsum(share, axis=2) - normal[:, :, 1:]).max(axis=2), varies)
    raw, groups = _grouped_divergence(share, np.diff(normal, axis=2), effective)
    raw = np.where(varies & (groups > 3), raw, np.nan)
    bias = np.maximum(groups - 3.0, 0.0) / (2.0 * np.maximum(effective, 1.0))
    return _OfClasses(
        mean, sd, skewness, kurtosis, _beyond_3sd(share, edges), kolmogorov,
        np.maximum(raw - bias, 0.0), raw, groups, effective,
    )  # fmt: skip


def quantiles(counts: Floats, mean: float, sd: float) -> tuple[Floats, Floats]:
    """Normal quantiles and those of the data, (m,) each, in the data's own standard deviations.

    counts : (B,) of one class and feature. There is a point for each bin that has rows, but for the
    tails: at the bin's middle, and at the middle of the shares of rows up to its two edges.
    """
    inner = edges_of(len(counts))[1:-1]
    above = np.cumsum(counts)[1:-1]
    has_rows = counts[1:-1] > 0
    share = (above - 0.5 * counts[1:-1])[has_rows] / counts.sum()
    middle = 0.5 * (inner[1:] + inner[:-1])[has_rows]
    return np.asarray(ndtri(share)), (middle - mean) / sd


def _normal_cdf(edges: Floats, mean: Floats, sd: Floats) -> Floats:
    """Normal distribution functions (k, d, B + 1) of the means and standard deviations (k, d)."""
    unit = np.where(sd > 0, sd, 1.0)[:, :, None]
    return np.asarray(ndtr((edges - np.nan_to_num(mean)[:, :, None]) / unit))


def _grouped_divergence(p: Floats, q: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Kullback-Leibler divergences (k, d) in nats of p from q (k, d, B), and numbers of groups.

    Neighbouring bins are put together until q puts EXPECTED of the n (k, d) rows into each group,
    so that empty bins say no more than they can.
    """
    total, groups = np.zeros(n.shape), np.zeros(n.shape)
    p_sum, q_sum = np.zeros(n.shape), np.zeros(n.shape)
    q_left = np.ones(n.shape)
    for b in range(p.shape[2]):
        p_sum, q_sum = p_sum + p[:, :, b], q_sum + q[:, :, b]
        # What is left has to make a group of its own, or it joins the last one.
        is_last = b == p.shape[2] - 1
        is_full = (q_sum * n >= EXPECTED) & ((q_left - q_sum) * n >= EXPECTED)
        ends = is_full | is_last
        total += np.where(ends, _term(p_sum, q_sum), 0.0)
        groups += ends
        q_left = np.where(ends, q_left - q_sum, q_left)
        p_sum, q_sum = np.where(ends, 0.0, p_sum), np.where(ends, 0.0, q_sum)
    return np.maximum(total, 0.0), groups


def _term(p: Floats, q: Floats) -> Floats:
    tiny = np.finfo(np.float64).tiny
    ratio = np.maximum(p, tiny) / np.maximum(q, tiny)
    return np.asarray(np.where(p > 0, p * np.log(ratio), 0.0))


def _beyond_3sd(share: Floats, edges: Floats) -> Floats:
    """Shares (k, d) of the rows that are 3 or more of the model's standard deviations away."""
    return np.asarray(share[:, :, (edges[1:] <= -3.0) | (edges[:-1] >= 3.0)].sum(axis=2))


def _mean_over_classes(values: Floats, weight: Floats) -> Floats:
    """Means (d,) of values (k, d), weighted, of those that are defined."""
    known = np.where(np.isnan(values), 0.0, weight)
    return _ratio((known * np.nan_to_num(values)).sum(axis=0), known.sum(axis=0))


def _p_value(raw: Floats, groups: Floats, n: Floats) -> Floats:
    """The p-value (d,) of each feature by a G-test of normality in all classes.

    Mean and variance are those of the rows, not of the groups, so that the distribution is between
    chi-squared ones with one and with three degrees of freedom less than groups; one errs to the
    safe side.
    """
    known = ~np.isnan(raw)
    statistic = np.where(known, 2.0 * n * raw, 0.0).sum(axis=0)
    freedom = np.where(known, groups - 1.0, 0.0).sum(axis=0)
    return _or_nan(chdtrc(np.maximum(freedom, 1.0), statistic), freedom > 0)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, and NaN where there is nothing to divide by."""
    with np.errstate(invalid="ignore", over="ignore"):
        out = np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan)
        return np.asarray(np.divide(part, whole, out=out, where=whole > 0))


def _or_nan(values: Floats, is_known: NDArray[np.bool_]) -> Floats:
    return np.where(is_known, values, np.nan)
