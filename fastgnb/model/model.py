"""A model: a member of the family with its options, statistics and parameters.

It estimates, scores, samples, reestimates and merges, and knows neither scikit-learn nor files. An
estimator holds one. A model file holds one, and the names of the files that it has learned.

The rule for edited fitted attributes, in memory and in model files: the attributes that the
member's `Likelihood` calls decisive decide, whoever set them. Scoring, sampling and saving obey an
edited one. They raise ValueError if it makes no density, and saving also if a file of this member
cannot hold it (`Member.stores_edits`). Learning starts from the statistics, and overwrites the
attributes. Parameters for scoring are derived once for each set of attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.diagonal import DiagonalEstimate
from ..estimate.options import as_plain, as_priors
from ..estimate.parameters import check_possible
from ..input.categorical import MixedRows, exact_table, split_columns
from ..input.frames import in_memory, is_frame
from ..input.rows import check_finite, check_missing
from ..kernels.score.outputs import Scores
from ..stats.feature_order import match_feature_order
from .estimates import Estimates
from .family import MEMBERS, Member

if TYPE_CHECKING:
    from ..estimate.left_out import LeftOutScores
    from .left_out import LearnedRows

__all__ = ["IMMUTABLE", "Model", "plain_options"]

# Types of options that cannot change in place.
IMMUTABLE = frozenset({type(None), str, bool, int, float})


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted member of the family.

    Parameters
    ----------
    member : Member
    options : dict of str to object
        Every option of the member, of Python's own types.
    stats : ClassStats or MixedStats
    attributes : dict of str to object
        The fitted attributes, by their public names.
    is_edited : bool, default=False
        Whether these may be others than the statistics give.
    """

    member: Member
    options: Mapping[str, Any]
    stats: Any
    attributes: Mapping[str, Any]
    is_edited: bool = False

    @classmethod
    def of(cls, member: Member | str, stats: Any, **options: Any) -> Model:
        """Return the model of statistics: the one way in which any member is estimated.

        Options that are left out have the member's defaults. Raises ValueError for options that are
        invalid or do not fit the statistics, and for statistics that hold no rows.
        """
        if isinstance(member, str):
            member = MEMBERS[member]
        return cls.estimated(member, stats, plain_options(member, options))

    @classmethod
    def estimated(cls, member: Member, stats: Any, options: Mapping[str, Any]) -> Model:
        """As `of`, with what `plain_options` returned."""
        if not stats.count.sum() > 0:
            raise ValueError("The statistics hold no rows: their total weight is 0.")
        return cls(member, options, stats, member.likelihood.estimate(stats, **options))

    @classmethod
    def learned(cls, member: Member, stats: Any, options: Mapping[str, Any]) -> Model:
        """As `estimated`, with the same errors, but estimated when an attribute is read.

        Members that declare no attributes, and statistics whose estimate may fail, do not wait.
        """
        likelihood = member.likelihood
        if member.estimated and stats.count.sum() > 0 and likelihood.can_wait(stats, **options):
            return cls(member, options, stats, Estimates(likelihood, stats, options))
        return cls.estimated(member, stats, options)

    def with_stats(self, stats: Any) -> Model:
        """Return the model of other statistics, with these options."""
        return Model.of(self.member, stats, **self.options)

    def reestimate(self, member: Member | str | None = None, **options: Any) -> Model:
        """Return the model of the same statistics with other options, or of another member."""
        kept = self.options if member is None else {}
        return Model.of(member or self.member, self.stats, **{**kept, **options})

    def merge(self, other: Model) -> Model:
        """Return the model of the rows of both, with these options; matches features by name."""
        return self.with_stats(self.stats + match_feature_order(other.stats, self.stats))

    def edited(self, stats: Any, attributes: Mapping[str, Any]) -> Model:
        """Return a model with other attributes."""
        return replace(self, stats=stats, attributes=attributes, is_edited=True)

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted labels (k,)."""
        return np.asarray(self.stats.classes)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the d features, or None."""
        names: tuple[str, ...] | None = self.stats.feature_names
        return names

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.stats.n_features)

    @property
    def missing(self) -> str:
        """What a missing value is: "error" or "skip"; "error" if the member cannot skip them."""
        return str(self.options.get("missing", "error"))

    @property
    def has_categories(self) -> bool:
        """Whether some of its features are categorical."""
        return self.member.takes_categories and bool(self.stats.is_categorical.any())

    @property
    def params(self) -> Any:
        """What scoring needs, derived once. Raises ValueError for attributes that make no density.

        It is no `cached_property`, which holds a lock before Python 3.12, so that no function that
        refers to this class could be pickled by value.
        """
        kept = self.__dict__.get("_params")
        if kept is None:
            likelihood = self.member.likelihood
            kept = likelihood.params(self.stats, self.attributes, is_edited=self.is_edited)
            self.__dict__["_params"] = kept
        return kept

    @property
    def moments(self) -> DiagonalEstimate:
        """Priors (k,), means and variances (k, c) of continuous features or axes, and epsilon."""
        return self.member.likelihood.moments(self.stats, self.attributes)

    def marginal(self, features: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means (k, m) and covariances (k, m, m) of m features, with all others integrated out.

        Raises ValueError for attributes that make no density, and for categorical features.
        """
        _ = self.params  # raises for edited attributes as scoring does
        at = np.asarray(features, np.intp)
        return self.member.likelihood.marginal(self.stats, self.attributes, at)

    @property
    def feature_moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means (k, c) and variances (k, c) of the continuous features in each class."""
        _ = self.params
        return self.member.likelihood.feature_moments(self.stats, self.attributes)

    @property
    def category_probabilities(self) -> list[NDArray[np.float64]]:
        """For each categorical feature, probabilities (k, m + 1): of its m categories, and of all
        others together."""
        _ = self.params
        return self.member.likelihood.category_probabilities(self.stats, self.attributes)

    @property
    def is_continuous(self) -> NDArray[np.bool_]:
        """Which features (d,) are continuous."""
        if not self.member.takes_categories:
            return np.ones(self.n_features, np.bool_)
        return np.asarray(~self.stats.is_categorical)

    @property
    def is_possible(self) -> NDArray[np.bool_]:
        """Which classes (k,) can win: those that have rows, and a prior above 0."""
        _ = self.params
        prior = np.asarray(self.attributes["class_prior_"], np.float64)
        return np.asarray((prior > 0) & (self.stats.count > 0))

    def score_rows(self, rows: NDArray[Any] | MixedRows, *, skip: bool, **wanted: Any) -> Scores:
        """Score checked rows in one pass. The caller has to look at `Scores.bad`.

        See `scoring.score` for what can be asked for.
        """
        return self.member.likelihood.score(
            rows, self.params, self.stats, self.attributes, skip=skip, **wanted
        )

    def score(self, X: Any, **wanted: Any) -> Scores:
        """Score rows X (n, d) in one pass; see `Scores`. `wanted` are fields of `Wanted`.

        With categorical features X may be a data frame, or rows whose columns are split already.
        Raises ValueError for another number of
        features, NotFiniteError for a NaN or infinity that `missing` does not allow, and TypeError
        for values that are no categories.
        """
        d = len(X.is_categorical) if isinstance(X, MixedRows) else X.shape[1]
        if d != self.n_features:
            raise ValueError(f"X has {d} features, but the model is expecting {self.n_features}.")
        skip = self.missing == "skip"
        rows = self._rows(X, skip=skip)
        scores = self.score_rows(rows, skip=skip, **wanted)
        if scores.bad >= 0:
            if isinstance(rows, MixedRows):
                rows.check_finite(skip=skip)
                return scores
            check_finite(rows, None, skip=skip, can_skip=self.member.has("missing"))
        return scores

    def leave_one_out(self, rows: LearnedRows, *, joint: bool = False) -> LeftOutScores | None:
        """Score the rows that the statistics are of, each by the model of all others.

        None where the member has no closed form for its options. See `Likelihood.leave_one_out`.
        """
        return self.member.likelihood.leave_one_out(self.stats, self.options, rows, joint=joint)

    def _rows(self, X: Any, *, skip: bool) -> NDArray[Any] | MixedRows:
        """Return split columns if some features are categorical, else an array."""
        if not self.has_categories:
            rows: NDArray[Any] = X.continuous if isinstance(X, MixedRows) else X
            return rows
        if not isinstance(X, MixedRows):
            given = in_memory(X)
            given = given if is_frame(given) else np.asarray(exact_table(given))
            X = split_columns(given, self.stats.is_categorical, skip=skip)
        mixed: MixedRows = X
        if not skip:
            mixed.check_present()
        return mixed

    def sample(self, n: int, draw: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Draw n rows X (n, d) and the codes (n,) of their classes, by a generator of NumPy's.

        Raises ValueError if no class that has rows has a prior above 0, and if rows overflow.
        """
        _ = self.params  # raises for edited attributes as scoring does
        prior = np.asarray(self.attributes["class_prior_"], np.float64)
        prior = np.where(self.stats.count > 0, prior, 0.0)
        check_possible(prior > 0)
        prior = prior / prior.max()  # whose sum may overflow
        codes = draw.choice(len(prior), size=n, p=prior / prior.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            X = self.member.likelihood.sample(self.stats, self.attributes, codes, draw)
        if X.dtype.kind == "f" and np.isinf(X).any():
            raise ValueError("Rows of this model overflow float64. Scale the features down.")
        return X, codes


def plain_options(member: Member, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option of a member, checked, in Python's own types, with defaults filled in.

    Raises ValueError or TypeError for invalid values, and for names that the member lacks.
    """
    values = tuple(options.values())
    kinds = tuple(map(type, values))
    if IMMUTABLE.issuperset(kinds):  # a batch of a few rows should not wait for the same checks
        return dict(_checked_once(member, tuple(options), kinds, values))
    return _checked(member, options)


@lru_cache(maxsize=256)
def _checked_once(
    member: Member, names: tuple[str, ...], kinds: tuple[type, ...], values: tuple[Any, ...]
) -> dict[str, Any]:
    """As `plain_options`; kinds are in the key because True, 1 and 1.0 are equal."""
    return _checked(member, dict(zip(names, values, strict=True)))


def _checked(member: Member, options: Mapping[str, Any]) -> dict[str, Any]:
    given = {**member.defaults, **options}
    for name in options.keys() - member.defaults.keys():
        if name != "missing" or check_missing(options[name]):
            raise ValueError(f"{name} is not an option of {member.name}.")
        del given[name]
    member.check(given)  # as they are: NumPy's booleans are no numbers
    return {name: _plain(name, as_plain(value)) for name, value in given.items()}


def _plain(name: str, value: Any) -> Any:
    """An option as JSON has it."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return as_priors(value).tolist() if name == "priors" else np.asarray(value).tolist()
