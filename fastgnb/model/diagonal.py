"""Naive Bayes: independent normal features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.diagonal import estimate_diagonal, never_overflows
from ..estimate.parameters import GaussianParams, check_possible
from .likelihood import Attributes, Floats, Likelihood
from .scoring import diagonal_terms

if TYPE_CHECKING:
    from ..estimate.left_out import LeftOutScores
    from .left_out import LearnedRows

__all__ = ["DiagonalLikelihood", "normal_draws"]


class DiagonalLikelihood(Likelihood):
    """Means and variances of each class."""

    decisive = ("class_prior_", "theta_", "var_")
    shared = frozenset({"priors", "var_smoothing", "covariance_type", "tied", "ddof"})

    def estimate(self, stats: Any, *, missing: str = "error", **options: Any) -> dict[str, Any]:
        moments = estimate_diagonal(stats, **options)
        names = "class_prior_", "theta_", "var_", "epsilon_"
        return dict(zip(names, moments, strict=True))

    def can_wait(
        self, stats: Any, *, priors: Any = None, var_smoothing: Any = 0.0, **options: Any
    ) -> bool:
        return never_overflows(stats, priors, var_smoothing)

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> GaussianParams:
        return GaussianParams.from_estimate(
            *[attributes[name] for name in self.decisive],
            classes=stats.classes, n_features=stats.n_features, count=stats.count,
            feature_names=stats.feature_names,
        )  # fmt: skip

    def leave_one_out(
        self, stats: Any, options: Attributes, rows: LearnedRows, *, joint: bool
    ) -> LeftOutScores | None:
        from .left_out import leave_out_diagonal

        return leave_out_diagonal(stats, options, rows, joint=joint)

    def label_by_models(
        self, stats: Any, options: Sequence[Attributes]
    ) -> Callable[[NDArray[Any]], NDArray[Any]] | None:
        from ..kernels.score.many_models import label_in_turn

        if options[0]["missing"] != "error":
            return None
        models = []
        for each in options:
            params = self.params(stats, self.estimate(stats, **each), is_edited=False)
            check_possible(params.log_prior > -np.inf)
            models.append(diagonal_terms(params, skip=False))
        return partial(label_in_turn, models=models)

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        return normal_draws(attributes, codes, draw)


def normal_draws(attributes: Attributes, codes: NDArray[Any], draw: Any) -> Floats:
    """Independent draws (n, d) of means and variances of each class."""
    theta, var = (np.asarray(attributes[name], np.float64) for name in ("theta_", "var_"))
    noise = draw.standard_normal((len(codes), theta.shape[1]))
    return np.asarray(theta[codes] + np.sqrt(var[codes]) * noise)
