"""Naive Bayes: independent normal features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.diagonal import estimate_diagonal
from ..estimate.parameters import GaussianParams
from .likelihood import Attributes, Floats, Likelihood

__all__ = ["DiagonalLikelihood", "normal_draws"]


class DiagonalLikelihood(Likelihood):
    """Means and variances of each class."""

    decisive = ("class_prior_", "theta_", "var_")

    def estimate(self, stats: Any, *, missing: str = "error", **options: Any) -> dict[str, Any]:
        moments = estimate_diagonal(stats, **options)
        names = "class_prior_", "theta_", "var_", "epsilon_"
        return dict(zip(names, moments, strict=True))

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> GaussianParams:
        return GaussianParams.from_estimate(
            *[attributes[name] for name in self.decisive],
            classes=stats.classes, n_features=stats.n_features, count=stats.count,
            feature_names=stats.feature_names,
        )  # fmt: skip

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        return normal_draws(attributes, codes, draw)


def normal_draws(attributes: Attributes, codes: NDArray[Any], draw: Any) -> Floats:
    """Independent draws (n, d) of means and variances of each class."""
    theta, var = (np.asarray(attributes[name], np.float64) for name in ("theta_", "var_"))
    noise = draw.standard_normal((len(codes), theta.shape[1]))
    return np.asarray(theta[codes] + np.sqrt(var[codes]) * noise)
