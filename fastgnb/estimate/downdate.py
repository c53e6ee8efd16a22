"""Full covariances without a row: leave-one-out by rank-one downdates.

A row of deviation D that leaves a class takes w (W / (W - w)) D D' from its scatter. By the formula
of Sherman and Morrison, all that a density needs then follows from the squared Mahalanobis distance
h = D' C^-1 D with all rows: 1 - beta h is what is left of the determinant, and h / (1 - beta h) is
the distance without the row. Where classes share a covariance, the distances of a row to other
classes follow from those with all rows and from the distances between the classes' means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.score.left_out_full import FullChanges, score_left_out_full
from ..kernels.score.left_out_linear import SharedMeans, label_left_out_linear
from ..kernels.score.whitened import WhitenedTerms
from ..stats.class_stats import ClassStats
from .correlation import rounding
from .left_out import LeftOutScores, Removal, changes_of_weight
from .parameters import WhitenedParams

__all__ = ["is_certain", "score_full"]

Floats = NDArray[np.float64]

# How far an inverse eigenvalue has to be from those that are taken for 0.
_MARGIN = 200.0


def is_certain(params: WhitenedParams, covariance: Floats) -> bool:
    """Whether covariances (g, d, d) are so far from low rank that none is after a row has left.

    A variance of 0 counts as that of other rows, or as 1, which no row of its class changes.
    """
    _, r, d = params.whitener.shape
    covariance = covariance.reshape(-1, d, d)
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    with np.errstate(over="ignore", invalid="ignore"):
        inverse = ((params.whitener * sd[:, None, :]) ** 2).sum(axis=(1, 2))
    is_low = inverse * _MARGIN * 4.0 * rounding(d) >= 1.0
    return r == d and bool((sd > 0).all() and not is_low.any())


def score_full(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weight: Floats | None,
    stats: ClassStats,
    params: WhitenedParams,
    terms: WhitenedTerms,
    *,
    tied: bool,
    ddof: int,
    has_priors: bool,
    joint: bool,
) -> LeftOutScores:
    """Score the rows X (n, d) of statistics, each without itself; terms are those of params.

    Cost: one scoring of all rows, and O(n k) besides; of labels alone by a tied covariance that of
    `label_left_out_linear`, where it is less. Error: that of the joint log likelihoods.
    """
    removal = changes_of_weight(stats.count, codes, weight)
    numbers = _changes(stats, removal, tied=tied, ddof=ddof, has_priors=has_priors)
    between = _between(stats, params) if tied else np.empty((0, 0))
    changes = FullChanges(terms.const, between, numbers)
    if tied and weight is None and not joint:
        means = SharedMeans(stats.mean, stats.mean_lo)
        labels = label_left_out_linear(X, codes, terms, changes, means)
        if labels is not None:
            return LeftOutScores(labels[0], np.empty((0, len(stats.mean))), labels[1])
    return LeftOutScores(*score_left_out_full(X, codes, terms, changes, joint=joint))


def _changes(
    stats: ClassStats, removal: Removal, *, tied: bool, ddof: int, has_priors: bool
) -> Floats:
    """`FullChanges.numbers`: see there."""
    w, before, left, total, total_left, _, is_known = removal
    lost = ddof * np.count_nonzero(stats.count) if tied else ddof
    of, after = (np.full(len(w), total), total_left) if tied else (before, left)
    is_known = is_known & (after - lost > 0) & (of - lost > 0)
    before, left, total_left = (np.where(is_known, x, 1.0) for x in (before, left, total_left))
    after, of = (np.where(is_known, x - lost, 1.0) for x in (after, of))
    ratio, scale = before / left, after / of
    out = np.zeros((len(w), 7))
    out[:, 0] = w * ratio / of
    out[:, 1] = scale
    out[:, 2] = ratio**2 * scale
    if not has_priors:
        out[:, 3] = np.log(left / before)
        out[:, 5] = np.log(total / total_left)
    out[:, 4] = stats.n_features * np.log(scale)
    out[:, 6] = is_known
    return out


def _between(stats: ClassStats, params: WhitenedParams) -> Floats:
    """Squared Mahalanobis distances (k, k) between the means of classes."""
    whitener = params.whitener[0]
    means = (stats.mean, stats.mean_lo)
    return np.array([
        ((((means[0] - means[0][c]) + (means[1] - means[1][c])) @ whitener.T) ** 2).sum(axis=1)
        for c in range(len(stats.mean))
    ])  # fmt: skip
