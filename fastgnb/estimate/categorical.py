"""Mixed statistics to parameters: smoothed log probabilities of categories, and their table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.categorical import kind_of_marks, marked
from ..kernels.logs import log
from ..stats.mixed_stats import MixedStats, check_few_categories
from .diagonal import DiagonalEstimate, GaussianParams, as_float, check_attribute, estimate_diagonal

Floats = NDArray[np.float64]


class CategoryEstimate(NamedTuple):
    """What decides of one categorical feature: log_prob (k, m) of its categories in each class,
    and unseen (k,), that of any other category.
    """

    log_prob: Floats
    unseen: Floats


class MixedEstimate(NamedTuple):
    """What a mixed naive Bayes model decides by, for both kinds of features."""

    gaussian: DiagonalEstimate
    categorical: list[CategoryEstimate]


@dataclass(frozen=True, eq=False)
class MixedParams:
    """Gaussian densities and a table of log probabilities, as scoring needs them.

    table (k, width) has for each categorical feature m + 2 numbers a class: of its categories, of
    an unseen one, and 0 for a missing one. limit (k, width): the same, where -inf is replaced by
    what stays finite of it as smoothing tends to 0.
    """

    gaussian: GaussianParams
    table: Floats
    limit: Floats

    @classmethod
    def from_moments(
        cls, gaussian: GaussianParams, categorical: Sequence[CategoryEstimate], stats: MixedStats
    ) -> MixedParams:
        """The table of log probabilities. Raises ValueError for other shapes than the counts',
        which a kernel would read beyond, and for NaN and infinity.
        """
        k = len(stats.classes)
        tables, limits = [np.zeros((k, 0))], [np.zeros((k, 0))]
        for (log_prob, unseen), counts in zip(categorical, stats.counts, strict=True):
            known = check_attribute(log_prob, "feature_log_prob_", counts.shape)
            other = check_attribute(unseen, "unseen_log_prob_", (k,))
            part = np.column_stack([known, other, np.zeros(k)])
            if not (part < np.inf).all():
                raise ValueError("Expected log probabilities of categories, got NaN or infinity.")
            total = check_attribute(counts, "counts", np.shape(counts)).sum(axis=1)
            rest = -log(np.where(total > 0, total, 1.0))
            tables.append(part)
            limits.append(np.where(part == -np.inf, rest[:, None], part))
        return cls(gaussian, np.hstack(tables), np.hstack(limits))


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
    _check_marked(categorical_features, stats)
    check_few_categories(stats, max_categories)
    gaussian = estimate_diagonal(stats.gaussian, priors=priors, var_smoothing=var_smoothing)
    least = least_categories(min_categories, len(stats.counts))
    return MixedEstimate(
        gaussian,
        [
            _smoothed(counts, check_alpha(alpha), max(counts.shape[1], int(low), 1))
            for counts, low in zip(stats.counts, least, strict=True)
        ],
    )


def check_marks(categorical_features: Any) -> None:
    """Raise ValueError unless it is None, "auto", or an array-like of bool, int or str."""
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "auto"
    ):
        return
    kind_of_marks(categorical_features)


def _check_marked(categorical_features: Any, stats: MixedStats) -> None:
    """Raise ValueError where the statistics are of other categorical features."""
    if categorical_features is None or isinstance(categorical_features, str):
        return
    mask = marked(categorical_features, stats.n_features, stats.feature_names)
    if not np.array_equal(mask, stats.is_categorical):
        raise ValueError(
            f"The statistics have categorical features {stats.is_categorical.nonzero()[0]} "
            f"and categorical_features asks for {mask.nonzero()[0]}."
        )


def check_alpha(alpha: object) -> float:
    """Alpha as a float. Raises ValueError unless it is a number from 0 up."""
    value = math.nan if isinstance(alpha, bool) else as_float(alpha)
    if not 0.0 <= value < math.inf:
        raise ValueError(f"alpha must be a number from 0 up, got {alpha!r}.")
    return value


def check_most(max_categories: object) -> None:
    """Raise ValueError unless max_categories is None or a whole number from 1 up."""
    is_whole = isinstance(max_categories, Integral) and not isinstance(max_categories, bool)
    if max_categories is not None and not (is_whole and max_categories >= 1):  # type: ignore[operator]
        raise ValueError(
            f"max_categories must be None or a whole number from 1 up, got {max_categories!r:.80}."
        )


def least_categories(min_categories: Any, q: int | None) -> NDArray[np.int64]:
    """min_categories for each of q categorical features; q None: any number of them.

    Raises ValueError, in the words of scikit-learn's CategoricalNB.
    """
    if min_categories is None:
        return np.zeros(q or 0, np.int64)
    given = np.asarray(min_categories)
    if given.dtype.kind not in "iu":
        raise ValueError(f"'min_categories' should have integral type. Got {given.dtype} instead.")
    if given.size and given.max() > np.iinfo(np.int64).max:
        raise ValueError(f"min_categories must be below 2^63, got {min_categories!r:.80}.")
    if given.size and given.min() < (1 if isinstance(min_categories, Integral) else 0):
        raise ValueError(f"min_categories must be from 1 up, got {min_categories!r:.80}.")
    if given.ndim == 0:
        return np.full(q or 0, given, np.int64)
    if given.ndim != 1 or (q is not None and len(given) != q):
        raise ValueError(
            f"'min_categories' should have shape ({q},), one number a categorical feature, when "
            f"an array-like is provided. Got {given.shape} instead."
        )
    return given.astype(np.int64)


def _smoothed(counts: Floats, alpha: float, m: int) -> CategoryEstimate:
    total = counts.sum(axis=1)
    whole = total + alpha * m
    if not np.isfinite(whole).all():
        raise ValueError(
            f"alpha {alpha} times {m} categories overflows float64. Take a smaller alpha."
        )
    part, rest = counts + alpha, np.full(len(counts), alpha)
    if alpha == 0.0:
        none = total == 0
        part, rest = np.where(none[:, None], 1.0, part), np.where(none, 1.0, rest)
        whole = np.where(none, float(m), whole)
    base = log(whole)
    return CategoryEstimate(
        np.minimum(_log(part) - base[:, None], 0.0), np.minimum(_log(rest) - base, 0.0)
    )


def _log(values: Floats) -> Floats:
    """Logarithms, also of 0."""
    return np.where(values > 0, log(np.where(values > 0, values, 1.0)), -np.inf)
