"""Densities of one or two features in each class, with all other features integrated out.

Of normal densities the marginal is exact: it has the means and the submatrix of the covariances.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimate.parameters import check_possible
from ..model.model import Model

__all__ = ["Marginal", "axis_marginal", "marginal"]

Floats = NDArray[np.float64]

_LOG_2PI = float(np.log(2.0 * np.pi))


class Marginal(NamedTuple):
    """Normal densities of m features in k classes that can win, and the priors of these.

    position : (k,), their positions among all classes of the model.
    prior : (k,), summing to 1.
    mean : (k, m). covariance : (k, m, m).
    """

    position: NDArray[np.intp]
    prior: Floats
    mean: Floats
    covariance: Floats

    def only(self, classes: Any) -> Marginal:
        """The same of some of the classes, by a slice, a mask or positions."""
        return Marginal(
            self.position[classes], self.prior[classes], self.mean[classes],
            self.covariance[classes],
        )  # fmt: skip

    @property
    def sd(self) -> Floats:
        """Standard deviations (k, m)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2)))

    @property
    def has_density(self) -> NDArray[np.bool_]:
        """Whether the covariance of a class (k,) has full rank, as far as float64 can tell."""
        m = self.mean.shape[1]
        sd = self.sd
        unit = np.where(sd > 0, sd, 1.0)
        values = np.linalg.eigvalsh(self.covariance / unit[:, :, None] / unit[:, None, :])
        return np.asarray(values[:, 0] > m * np.finfo(np.float64).eps / 4)

    def log_density(self, points: Floats) -> Floats:
        """Log densities (n, k) at points (n, m). Raises ValueError for a class without density."""
        if not self.has_density.all():
            raise ValueError("Expected covariances of full rank.")
        out = np.empty((len(points), len(self.mean)))
        for c, (mean, sd, covariance) in enumerate(
            zip(self.mean, self.sd, self.covariance, strict=True)
        ):
            lower = np.linalg.cholesky(covariance / sd[:, None] / sd)
            z = np.linalg.solve(lower, ((points - mean) / sd).T)
            log_sd = np.log(np.diagonal(lower) * sd).sum()
            out[:, c] = -0.5 * (z * z).sum(axis=0) - log_sd - 0.5 * len(sd) * _LOG_2PI
        return out

    def joint(self, points: Floats) -> Floats:
        """Joint log likelihoods (n, k) at points (n, m): log prior + log density."""
        return np.asarray(np.log(self.prior) + self.log_density(points))

    def posterior(self, points: Floats) -> Floats:
        """Posterior probabilities (n, k) of the classes at points (n, m)."""
        joint = self.joint(points)
        joint -= joint.max(axis=1, keepdims=True)
        share = np.exp(joint)
        return np.asarray(share / share.sum(axis=1, keepdims=True))


def marginal(model: Model, features: Any) -> Marginal:
    """The marginal of features at these positions, of the classes that can win.

    Raises ValueError for categorical features, and where no class can win.
    """
    mean, covariance = model.marginal(features)
    return _of_possible(model, mean, covariance)


def axis_marginal(model: Model, axis: int) -> Marginal:
    """The densities along a principal axis, by which a model along axes decides."""
    moments = model.moments
    return _of_possible(model, moments.theta[:, [axis]], moments.var[:, [axis], None])


def _of_possible(model: Model, mean: Floats, covariance: Floats) -> Marginal:
    possible = model.is_possible
    check_possible(possible)
    prior = np.asarray(model.attributes["class_prior_"], np.float64)[possible]
    prior = prior / prior.max()  # whose sum may overflow
    position = np.flatnonzero(possible)
    return Marginal(position, prior / prior.sum(), mean[possible], covariance[possible])
