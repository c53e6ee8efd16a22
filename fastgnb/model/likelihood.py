"""How a member turns statistics into fitted attributes, densities and samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..estimate.diagonal import DiagonalEstimate
from ..estimate.parameters import GaussianParams, WhitenedParams
from ..input.categorical import MixedRows
from ..kernels.score.outputs import Scores
from ..stats.class_stats import ClassStats
from .scoring import score

__all__ = ["Attributes", "Floats", "Likelihood"]

Floats = NDArray[np.float64]
Attributes = Mapping[str, Any]


class Likelihood:
    """How a member is estimated, and what its fitted attributes decide.

    `estimate` takes statistics and options to the fitted attributes, by their public names.
    `params`, for scoring, and `sample` read only the statistics and the attributes that are
    `decisive`, so that both obey an edited attribute, or raise ValueError if it makes no density.
    """

    stats_class: ClassVar[type[Any]] = ClassStats
    """The statistics that it takes."""

    decisive: ClassVar[tuple[str, ...]]
    """The names of the attributes that scoring and sampling read."""

    read_only: ClassVar[bool] = False
    """Whether these are read-only arrays of an estimator: where comparing them takes long."""

    is_exact: ClassVar[bool] = True
    """Whether estimates have the same bits on every machine: those out of LAPACK do not."""

    along_axes: ClassVar[bool] = False
    """Whether `theta_` and `var_` are along axes, and not of features."""

    def estimate(self, stats: Any, **options: Any) -> dict[str, Any]:
        """Return the fitted attributes. Raises ValueError for options that do not fit."""
        raise NotImplementedError

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> Any:
        """Return what scoring needs. Raises ValueError if edited attributes make no densities."""
        raise NotImplementedError

    def moments(self, stats: Any, attributes: Attributes) -> DiagonalEstimate:
        """Priors (k,), means and variances (k, c) of continuous features, or along axes."""
        names = "class_prior_", "theta_", "var_", "epsilon_"
        return DiagonalEstimate(*[attributes[name] for name in names])

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        """Draw a row for each class of `codes` (n,), by NumPy's generator of either kind."""
        raise NotImplementedError

    def score(
        self,
        rows: NDArray[Any] | MixedRows,
        params: GaussianParams | WhitenedParams,
        stats: Any,
        attributes: Attributes,
        **wanted: Any,
    ) -> Scores:
        """Score checked rows. See `scoring.score` for what is wanted."""
        plain = rows.continuous if isinstance(rows, MixedRows) else rows
        return score(plain, params, **wanted)
