"""Full covariances: discriminant analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.correlation import certain, varying
from ..estimate.diagonal import DiagonalEstimate, never_overflows
from ..estimate.full import FullEstimate, estimate_full, submatrices, whiten
from ..estimate.parameters import WhitenedParams, check_attribute, check_prior
from ..stats.class_stats import ClassStats
from .likelihood import Attributes, Floats, Likelihood

if TYPE_CHECKING:
    from ..estimate.left_out import LeftOutScores
    from .left_out import LearnedRows

__all__ = ["FullLikelihood"]


class FullLikelihood(Likelihood):
    """A covariance of each class, or one of all."""

    decisive = ("class_prior_", "means_", "covariance_")
    read_only = True
    shared = frozenset({"priors", "reg_param", "var_smoothing"})
    is_exact = False

    def estimate(self, stats: Any, **options: Any) -> dict[str, Any]:
        moments = estimate_full(stats, **options)
        names = "class_prior_", "means_", "covariance_", "epsilon_"
        return dict(zip(names, moments, strict=True))

    def can_wait(
        self, stats: Any, *, priors: Any = None, var_smoothing: Any = 0.0, **options: Any
    ) -> bool:
        return stats.covariance is not None and never_overflows(stats, priors, var_smoothing)

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> WhitenedParams:
        prior, means, covariance = (attributes[name] for name in self.decisive)
        if not is_edited:
            return whiten(stats, FullEstimate(prior, means, covariance, 0.0))
        k, d = len(stats.count), stats.n_features
        prior = check_prior(prior, k)
        means = check_attribute(means, "means_", (k, d))
        shape = (d, d) if np.ndim(covariance) == 2 else (k, d, d)
        covariance = check_attribute(covariance, "covariance_", shape)
        if not np.isfinite(means).all():
            raise ValueError(f"Expected means_ of finite values, got {means}.")
        if stats.covariance is None:
            raise ValueError("Expected stats_ with full scatter, got them without covariance.")
        _check_covariance(covariance, stats)
        if not np.array_equal(means, stats.mean):
            stats = replace(stats, mean=means, mean_lo=np.zeros_like(means))
        return whiten(stats, FullEstimate(prior, means, covariance, 0.0))

    def moments(self, stats: Any, attributes: Attributes) -> DiagonalEstimate:
        means = attributes["means_"]
        variance = np.diagonal(attributes["covariance_"], axis1=-2, axis2=-1)
        variance = np.broadcast_to(variance, means.shape).copy()
        return DiagonalEstimate(attributes["class_prior_"], means, variance, attributes["epsilon_"])

    def marginal(
        self, stats: Any, attributes: Attributes, features: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Means and submatrices of the covariances; of low rank they are as thin as in scoring."""
        means, given = (np.asarray(attributes[name], np.float64) for name in self.decisive[1:])
        k, d = means.shape
        parts = submatrices(stats, given.reshape(-1, d, d), features)
        return means[:, features], np.broadcast_to(parts, (k, *parts.shape[1:])).copy()

    def leave_one_out(
        self, stats: Any, options: Attributes, rows: LearnedRows, *, joint: bool
    ) -> LeftOutScores | None:
        from .left_out import leave_out_full

        return leave_out_full(stats, options, rows, joint=joint)

    def label_by_models(
        self, stats: Any, options: Sequence[Attributes]
    ) -> Callable[[NDArray[Any]], NDArray[np.int32]] | None:
        from ..estimate.shared_axes import shared_axes
        from ..kernels.score.shared_axes import label_by_models

        models = shared_axes(stats, options)
        return None if models is None else partial(label_by_models, models=models)

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        means, covariance = (
            np.asarray(attributes[name], np.float64) for name in ("means_", "covariance_")
        )
        d = means.shape[1]
        out = draw.standard_normal((len(codes), d))
        covariance = np.broadcast_to(covariance, (len(means), d, d))
        for c in np.unique(codes):
            # Among correlations, since an error of 1e-16 of the largest variance may be all of one.
            rows, sd, correlations = varying(covariance[c])
            values, vectors = np.linalg.eigh(correlations)
            root = np.zeros((d, d))
            root[rows, : len(rows)] = sd[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
            out[codes == c] = out[codes == c] @ root.T + means[c]
        return np.asarray(out)


def _check_covariance(covariance: Floats, stats: ClassStats) -> None:
    """Raise ValueError for an edited covariance (..., d, d) that is invalid.

    After a subtraction, covariances hold rounding errors of the scatter before it.
    """
    if not np.isfinite(covariance).all():
        raise ValueError("Expected covariance_ of finite values, got NaN or infinity.")
    sd = np.sqrt(np.abs(np.diagonal(covariance, axis1=-2, axis2=-1)))
    most = 1e-9 * sd[..., :, None] * sd[..., None, :]
    if (np.abs(covariance - np.swapaxes(covariance, -1, -2)) > most).any():
        raise ValueError("Expected covariance_ to be symmetric.")
    loss = float(certain(stats)[1].max(initial=1.0))
    for matrix in covariance.reshape(-1, *covariance.shape[-2:]):
        _check_eigenvalues(matrix, loss)


def _check_eigenvalues(covariance: Floats, loss: float) -> None:
    """Raise ValueError for a covariance with an eigenvalue that is negative beyond rounding.

    Each feature is measured in its own units, so that large variances do not hide small ones.
    Variances below 2^-960 have few digits.
    """
    least = min(0.0, float(np.diagonal(covariance).min(initial=0.0)))
    _, sd, correlations = varying(covariance)
    known = sd > 2.0**-480
    if least == 0.0 and known.any():
        values = np.linalg.eigvalsh(correlations[np.ix_(known, known)])
        if values[0] < -1e-9 * loss:
            least = float(np.linalg.eigvalsh(covariance)[0])
            least = least if least < 0 else float(values[0] * sd[known].min() ** 2)
    if least < 0.0:
        raise ValueError(
            f"Expected covariance_ without negative eigenvalues, got one of {least:g}."
        )
