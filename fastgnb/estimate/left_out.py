"""What a row changes of diagonal parameters when it is left out: leave-one-out in closed form.

The scores themselves are in `kernels.score.leave_one_out`, and what is not in its terms is scored
by a refit.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.logs import log, log_densities
from ..kernels.score.leave_one_out import score_left_out
from ..kernels.score.left_out_labels import label_left_out
from ..kernels.score.left_out_model import LARGEST_CHANGE, LEAST_LEFT, LeftOut
from ..stats.class_stats import ClassStats
from ..stats.pooling import mean_of, pooled

__all__ = [
    "DiagonalOptions",
    "LeftOutScores",
    "changes_of_weight",
    "left_out_terms",
    "score_diagonal",
    "without_missing",
]

Floats = NDArray[np.float64]

_LOG_2PI = math.log(2.0 * math.pi)


class LeftOutScores(NamedTuple):
    """Scores of n rows, each by the model of all others.

    codes (n,) : positions of the best classes. joint (n, k) or (0, k) : joint log likelihoods.
    redo (n,) : rows that are to be scored by a refit.
    """

    codes: NDArray[np.int64]
    joint: Floats
    redo: NDArray[np.bool_]


class DiagonalOptions(NamedTuple):
    """Options of diagonal variances: (1 - reg_param) v + reg_param + epsilon."""

    var_smoothing: float
    epsilon: float
    spherical: bool
    tied: bool
    ddof: int
    has_priors: bool
    reg_param: float = 0.0


class Removal(NamedTuple):
    """Weights as each row leaves: of each class (k,) where all weights are 1, else of each row.

    weight : of the row. of_class, left : of its class, before and after. total, total_left : of all
    rows. is_last : whether at most one row is left in the class. is_known : whether the weight that
    is left has its digits, and is not 0.
    """

    weight: Floats
    of_class: Floats
    left: Floats
    total: float
    total_left: Floats
    is_last: NDArray[np.bool_]
    is_known: NDArray[np.bool_]


def without_missing(stats: ClassStats) -> ClassStats | None:
    """Statistics of rows among which no value was missing, or None if one was."""
    if stats.feature_count is None:
        return stats
    if not (stats.feature_count == stats.count[:, None]).all():
        return None
    return replace(stats, feature_count=None)


def score_diagonal(
    rows: NDArray[Any],
    codes: NDArray[np.int32],
    weight: Floats | None,
    stats: ClassStats,
    prior: Floats,
    options: DiagonalOptions,
    *,
    joint: bool,
) -> LeftOutScores | None:
    """Score the rows of statistics, each without itself; None where there is no closed form.

    Cost: see `kernels.score.leave_one_out.score_left_out`.
    """
    if weight is not None and not np.isfinite(rows[weight == 0]).all():
        return None
    terms = left_out_terms(stats, prior, options, codes, weight)
    if terms is None:
        return None
    if weight is None and not joint:
        labels = label_left_out(rows, codes, terms)
        if labels is not None:
            return LeftOutScores(labels[0], np.empty((0, len(terms.mean))), labels[1])
    return LeftOutScores(*score_left_out(rows, codes, terms, joint=joint))


def changes_of_weight(count: Floats, codes: NDArray[np.int32], weight: Floats | None) -> Removal:
    """How weights change as each row leaves; codes (n,) are the rows' classes of weights (k,)."""
    total = float(count.sum())
    if weight is None:
        one = np.ones(len(count))
        left, total_left = count - 1.0, total - one
        return Removal(
            one, count, left, total, total_left, left <= 1, (left > 0) & (total_left > 0)
        )
    rows = np.bincount(codes[weight > 0], minlength=len(count))[codes] - (weight > 0)
    of_class = count[codes]
    left, total_left = of_class - weight, total - weight
    known = (left > LEAST_LEFT * of_class) & (total_left > LEAST_LEFT * total) & (rows > 0)
    return Removal(weight, of_class, left, total, total_left, rows <= 1, known)


def left_out_terms(
    stats: ClassStats,
    prior: Floats,
    options: DiagonalOptions,
    codes: NDArray[np.int32],
    weight: Floats | None,
) -> LeftOut | None:
    """What scoring needs of statistics of all rows; None where a variance is 0, or all but.

    prior (k,) with all rows. Cost: O(k d), and O(n) where rows have weights.
    """
    removal = changes_of_weight(stats.count, codes, weight)
    plain, gain = _plain_variances(stats, options)
    possible = (prior > 0) & (stats.count > 0)
    with np.errstate(over="ignore"):
        smooth = gain[:, None] * plain + (options.epsilon + options.reg_param)
    # The inverse of a subnormal number may overflow.
    usable = (smooth >= np.finfo(np.float64).tiny) & (smooth < np.inf)
    if not usable[possible if len(smooth) > 1 else slice(None)].all():
        return None
    smooth = np.where(usable, smooth, 1.0)
    k, d = stats.mean.shape
    log_prior, log_det = log_densities(prior, possible, np.broadcast_to(smooth, (k, d)))
    inverse = 1.0 / smooth
    overall = stats.as_one_class()
    spread = float(overall.variance.max(initial=0.0))
    return LeftOut(
        options.tied, options.spherical, stats.mean, inverse, plain, gain,
        log_prior - 0.5 * (log_det + d * _LOG_2PI), overall.mean[0], overall.variance[0],
        options.var_smoothing if spread > 0 else 0.0, options.epsilon, options.reg_param,
        LARGEST_CHANGE / float(inverse.max(initial=0.0) or 1.0), _changes(stats, options, removal),
    )  # fmt: skip


def _plain_variances(stats: ClassStats, options: DiagonalOptions) -> tuple[Floats, Floats]:
    """Variances (k, d) or (1, d) by ddof=0, and what ddof and reg_param multiply them by."""
    kept = 1.0 - options.reg_param
    if options.tied:
        plain = pooled(stats.weight, stats.variance)[None]
        total = float(stats.count.sum())
        left = np.array([total - options.ddof * np.count_nonzero(stats.count)])
        gain = np.where(left > 0, kept * total / np.where(left > 0, left, 1.0), 0.0)
    else:
        plain = stats.variance
        left = stats.count - options.ddof
        gain = np.where(left > 0, kept * stats.count / np.where(left > 0, left, 1.0), 0.0)
    if options.spherical:
        plain = np.broadcast_to(mean_of(plain)[:, None], plain.shape)
    return plain, gain


def _changes(stats: ClassStats, options: DiagonalOptions, removal: Removal) -> Floats:
    """`LeftOut.changes`: see there."""
    w, before, left, total, total_left, is_last, is_known = removal
    if options.tied:
        n_classes = np.count_nonzero(stats.count)
        of, divisor = np.full(len(w), total), total_left - options.ddof * n_classes
        has_variance = is_known & (divisor > 0)
    else:
        of, divisor = before, left - options.ddof
        has_variance = is_known & (divisor > 0) & ~is_last
    known, divisor = np.where(is_known, left, 1.0), np.where(has_variance, divisor, 1.0)
    everything = np.where(is_known, total_left, 1.0)
    out = np.zeros((len(w), 7))
    kept = 1.0 - options.reg_param
    out[:, 0] = np.where(has_variance, kept * of / divisor, np.where(is_known, 0.0, np.nan))
    out[:, 1] = np.where(has_variance, kept * w * (before / known) / divisor, 0.0)
    out[:, 2] = 0.5 * (before / known) ** 2
    if not options.has_priors:
        out[:, 3] = log(np.where(is_known, left / np.where(before > 0, before, 1.0), 1.0))
        out[:, 4] = log(total / everything)
    out[:, 5] = np.where(is_known, w / everything, 0.0)
    out[:, 6] = np.where(is_known, total / everything, 1.0)
    return out
