"""Naive Bayes of normal and of categorical features together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.categorical import CategoryEstimate, check_columns, estimate_mixed
from ..estimate.diagonal import never_overflows
from ..estimate.options import check_min_categories
from ..estimate.parameters import GaussianParams, MixedParams
from ..input.categorical import MixedRows, table_lookup
from ..input.label_types import check_kind
from ..kernels.score.outputs import Scores
from ..stats.mixed_stats import MixedStats
from .diagonal import normal_draws
from .likelihood import Attributes, Floats, Likelihood
from .scoring import score, score_mixed

__all__ = ["MixedLikelihood"]

_LISTS = ("categories_", "feature_log_prob_", "unseen_log_prob_")  # one array a feature


class MixedLikelihood(Likelihood):
    """Means and variances of continuous features, and probabilities of categories."""

    stats_class = MixedStats
    decisive = ("class_prior_", "theta_", "var_", *_LISTS, "is_categorical_")

    def estimate(self, stats: Any, *, missing: str = "error", **options: Any) -> dict[str, Any]:
        gaussian, categorical = estimate_mixed(stats, **options)
        return {
            "class_prior_": gaussian.class_prior,
            "theta_": gaussian.theta,
            "var_": gaussian.var,
            "epsilon_": gaussian.epsilon,
            "is_categorical_": stats.is_categorical.copy(),
            "categories_": [each.copy() for each in stats.categories],
            "category_count_": [each.copy() for each in stats.counts],
            "feature_log_prob_": [each.log_prob for each in categorical],
            "unseen_log_prob_": [each.unseen for each in categorical],
        }

    def can_wait(
        self,
        stats: Any,
        *,
        missing: str = "error",
        priors: Any = None,
        var_smoothing: Any = 0.0,
        **options: Any,
    ) -> bool:
        check_columns(stats, options["categorical_features"], options["max_categories"])
        can_wait = never_overflows(stats.gaussian, priors, var_smoothing)
        check_min_categories(options["min_categories"], len(stats.counts))
        return can_wait and options["alpha"] <= 1.0

    def suits_further_rows(self, options: Mapping[str, Any]) -> bool:
        # Chunks that are added without a look at the options bring no further categories.
        return super().suits_further_rows(options) and options["alpha"] <= 1.0

    def running(self, stats: Any) -> Any:
        from ..stats.mixed_chunks import running_mixed

        return running_mixed(stats) if type(stats) is MixedStats else None

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> MixedParams:
        if is_edited:
            _check_categories(stats, attributes)
        gaussian = GaussianParams.from_estimate(
            *[attributes[name] for name in ("class_prior_", "theta_", "var_")],
            classes=stats.classes, n_features=stats.gaussian.n_features, count=stats.count,
            feature_names=stats.gaussian.feature_names,
        )  # fmt: skip
        logs = [attributes[name] for name in ("feature_log_prob_", "unseen_log_prob_")]
        return MixedParams.from_estimate(gaussian, list(map(CategoryEstimate, *logs)), stats)

    def category_probabilities(self, stats: Any, attributes: Attributes) -> list[Floats]:
        shares = [np.exp(np.asarray(each, np.float64)) for each in attributes["feature_log_prob_"]]
        rest = [1.0 - share.sum(axis=1) for share in shares]
        limits = [2.0**-50 * (share.shape[1] + 1) for share in shares]  # of rounding
        return [
            np.column_stack([share, np.where(other > limit, other, 0.0)])
            for share, other, limit in zip(shares, rest, limits, strict=True)
        ]

    def marginal(
        self, stats: Any, attributes: Attributes, features: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        if stats.is_categorical[features].any():
            j = int(features[stats.is_categorical[features]][0])
            name = f"{j}" if stats.feature_names is None else f"{j} ({stats.feature_names[j]!r})"
            raise ValueError(f"Expected continuous features, and feature {name} is categorical.")
        position = np.cumsum(~stats.is_categorical) - 1
        return super().marginal(stats, attributes, position[features])

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        mask = stats.is_categorical
        normal = normal_draws(attributes, codes, draw)
        labels = [each for one in attributes["categories_"] for each in np.asarray(one).tolist()]
        is_number = all(not isinstance(each, str) and float(each) == each for each in labels)
        X = np.empty((len(codes), len(mask)), np.float64 if is_number else object)
        X[:, ~mask] = normal
        for q, j in enumerate(np.flatnonzero(mask)):
            given = attributes["feature_log_prob_"][q], attributes["categories_"][q]
            X[:, j] = _drawn_categories(*given, codes, draw.random(len(codes)))
        return X

    def score(
        self,
        rows: NDArray[Any] | MixedRows,
        params: Any,
        stats: Any,
        attributes: Attributes,
        **wanted: Any,
    ) -> Scores:
        if not isinstance(rows, MixedRows):
            return score(rows, params.gaussian, **wanted)
        if not rows.columns:
            return score(rows.continuous, params.gaussian, **wanted)
        known = [np.asarray(each) for each in attributes["categories_"]]
        at = table_lookup(rows, known, stats.categorical_names())
        return score_mixed(rows.continuous, at, params, **wanted)


def _check_categories(stats: Any, attributes: Attributes) -> None:
    """Raise ValueError for edited attributes whose shapes differ from the statistics'."""
    for name in _LISTS:
        if len(attributes[name]) != len(stats.counts):
            raise ValueError(
                f"Expected {name} of {len(stats.counts)} categorical features, got "
                f"{len(attributes[name])}."
            )
    names = stats.categorical_names()
    for j, (edited, count) in enumerate(zip(attributes["categories_"], stats.counts, strict=True)):
        if np.shape(edited) != count.shape[1:]:
            raise ValueError(
                f"Expected categories_ of shape {count.shape[1:]}, got {np.shape(edited)}."
            )
        check_kind(stats.categories[j], np.asarray(edited), f"Categories of feature {names[j]}")


def _drawn_categories(
    log_prob: Any, categories: Any, codes: NDArray[Any], u: Floats
) -> NDArray[Any]:
    """Categories of rows of classes `codes` at the quantiles u, among those that were seen."""
    log_prob = np.asarray(log_prob, np.float64)
    if not log_prob.shape[1]:
        return np.full(len(codes), np.nan)
    share = np.exp(log_prob - np.maximum(log_prob.max(axis=1, keepdims=True), 0.0))  # if edited
    upper = np.cumsum(share, axis=1)
    at = np.zeros(len(codes), np.int64)
    for c in np.unique(codes):
        own = codes == c
        at[own] = np.searchsorted(upper[c], u[own] * upper[c, -1], side="right")
    return np.asarray(np.asarray(categories)[at])
