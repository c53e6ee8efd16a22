"""How a member turns statistics into fitted attributes, densities and samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..estimate.diagonal import DiagonalEstimate
from ..estimate.parameters import GaussianParams, WhitenedParams
from ..input.categorical import MixedRows
from ..kernels.score.outputs import Scores
from ..stats.chunks import Running
from ..stats.class_stats import ClassStats
from .scoring import score

if TYPE_CHECKING:
    from ..estimate.left_out import LeftOutScores
    from .left_out import LearnedRows

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

    shared: ClassVar[frozenset[str]] = frozenset()
    """Options in which models that are labelled at once may differ: see `label_by_models`."""

    def estimate(self, stats: Any, **options: Any) -> dict[str, Any]:
        """Return the fitted attributes. Raises ValueError for options that do not fit."""
        raise NotImplementedError

    def can_wait(self, stats: Any, **options: Any) -> bool:
        """Whether `estimate` is known not to raise for these options. May raise what it raises."""
        return False

    def suits_further_rows(self, options: Mapping[str, Any]) -> bool:
        """Whether options that fit statistics also fit them with further rows of the same classes,
        as long as no number of theirs is extreme: see `kernels.learn.chunk`."""
        return bool(options.get("var_smoothing", 2.0) <= 1.0)

    def running(self, stats: Any) -> Any:
        """Statistics as they take chunks of rows, or None where they do not."""
        return Running.of(stats) if type(stats) is ClassStats else None

    def params(self, stats: Any, attributes: Attributes, *, is_edited: bool) -> Any:
        """Return what scoring needs. Raises ValueError if edited attributes make no densities."""
        raise NotImplementedError

    def moments(self, stats: Any, attributes: Attributes) -> DiagonalEstimate:
        """Priors (k,), means and variances (k, c) of continuous features, or along axes."""
        names = "class_prior_", "theta_", "var_", "epsilon_"
        return DiagonalEstimate(*[attributes[name] for name in names])

    def feature_moments(self, stats: Any, attributes: Attributes) -> tuple[Floats, Floats]:
        """Means (k, c) and variances (k, c) of the continuous features in each class."""
        moments = self.moments(stats, attributes)
        return np.asarray(moments.theta, np.float64), np.asarray(moments.var, np.float64)

    def category_probabilities(self, stats: Any, attributes: Attributes) -> list[Floats]:
        """For each categorical feature, probabilities (k, m + 1): of its m categories, and of all
        others together."""
        return []

    def marginal(
        self, stats: Any, attributes: Attributes, features: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Means (k, m) and covariances (k, m, m) of m continuous features, here independent ones.

        That is the normal density that is left of a class's when all other features are integrated
        out. Raises ValueError for a categorical feature.
        """
        mean, variance = self.feature_moments(stats, attributes)
        return mean[:, features], variance[:, features, None] * np.eye(len(features))

    def sample(
        self, stats: Any, attributes: Attributes, codes: NDArray[Any], draw: Any
    ) -> NDArray[Any]:
        """Draw a row for each class of `codes` (n,), by NumPy's generator of either kind."""
        raise NotImplementedError

    def leave_one_out(
        self, stats: Any, options: Mapping[str, Any], rows: LearnedRows, *, joint: bool
    ) -> LeftOutScores | None:
        """Score rows, each by the model of all others: their best classes, and with `joint` all
        joint log likelihoods. `stats` are those of the rows. None: there is no closed form."""
        return None

    def label_by_models(
        self, stats: Any, options: Sequence[Mapping[str, Any]]
    ) -> Callable[[NDArray[Any]], NDArray[Any]] | None:
        """What labels rows (n, d) at once by models that differ in `shared` options; None: nothing.

        It returns positions (m, n) of classes, and -1 where the label is not certain: the model
        itself has to tell then.
        """
        return None

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
