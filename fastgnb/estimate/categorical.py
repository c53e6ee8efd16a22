"""Mixed statistics to parameters: smoothed log probabilities of categories, and their table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.categorical import categorical_mask
from ..kernels.logs import log
from ..stats.category_counts import check_few_categories
from ..stats.mixed_stats import MixedStats
from .diagonal import DiagonalEstimate, estimate_diagonal
from .options import check_alpha, check_min_categories

Floats = NDArray[np.float64]


class CategoryEstimate(NamedTuple):
    """What decides of one categorical feature.

    log_prob : (k, m), log probabilities of its categories in each class.
    unseen : (k,), the log probability of any other category.
    """

    log_prob: Floats
    unseen: Floats


class MixedEstimate(NamedTuple):
    """What a mixed naive Bayes model decides by, for both kinds of features."""

    gaussian: DiagonalEstimate
    categorical: list[CategoryEstimate]


def estimate_mixed(
    stats: MixedStats,
    *,
    priors: ArrayLike | None = None,
    var_smoothing: float = 1e-9,
    alpha: float = 1.0,
    min_categories: Any = None,
    max_categories: int | None = None,
    categorical_features: Any = None,
) -> MixedEstimate:
    """Priors, moments of continuous features and log probabilities of categorical ones.

    A category of weight w in a class of weight W has probability (w + alpha) / (W + alpha m), with
    m the larger of the number of categories and min_categories; any other one has w = 0. W counts
    the rows in which the feature is not missing. Where that is 0 all are alike, 1 / m, also for
    alpha=0. Cost: O(k m). Error: relative 1e-15 of the largest logarithm.
    Raises ValueError as `estimate_diagonal`, for min_categories of another shape than (q,), and for
    a feature of more than max_categories.
    """
    check_columns(stats, categorical_features, max_categories)
    gaussian = estimate_diagonal(stats.gaussian, priors=priors, var_smoothing=var_smoothing)
    least = check_min_categories(min_categories, len(stats.counts))
    return MixedEstimate(
        gaussian,
        [
            _smoothed(counts, check_alpha(alpha), max(counts.shape[1], int(low), 1))
            for counts, low in zip(stats.counts, least, strict=True)
        ],
    )


def check_columns(stats: MixedStats, categorical_features: Any, max_categories: int | None) -> None:
    """Raise ValueError for other categorical features, or for more than max_categories of one."""
    _check_mask(categorical_features, stats)
    check_few_categories(stats, max_categories)


def _check_mask(categorical_features: Any, stats: MixedStats) -> None:
    """Raise ValueError where the statistics are of other categorical features."""
    if categorical_features is None or isinstance(categorical_features, str):
        return
    mask = categorical_mask(categorical_features, stats.n_features, stats.feature_names)
    if not np.array_equal(mask, stats.is_categorical):
        raise ValueError(
            f"The statistics have categorical features {stats.is_categorical.nonzero()[0]} "
            f"and categorical_features asks for {mask.nonzero()[0]}."
        )


def _smoothed(counts: Floats, alpha: float, m: int) -> CategoryEstimate:
    total = counts.sum(axis=1)
    denominator = total + alpha * m
    if not np.isfinite(denominator).all():
        raise ValueError(
            f"alpha {alpha} times {m} categories overflows float64. Take a smaller alpha."
        )
    part, rest = counts + alpha, np.full(len(counts), alpha)
    if alpha == 0.0:
        none = total == 0
        part, rest = np.where(none[:, None], 1.0, part), np.where(none, 1.0, rest)
        denominator = np.where(none, float(m), denominator)
    base = log(denominator)
    return CategoryEstimate(
        np.minimum(_log(part) - base[:, None], 0.0), np.minimum(_log(rest) - base, 0.0)
    )


def _log(values: Floats) -> Floats:
    """Logarithms, also of 0."""
    return np.where(values > 0, log(np.where(values > 0, values, 1.0)), -np.inf)
