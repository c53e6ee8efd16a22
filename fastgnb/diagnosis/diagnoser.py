"""One pass over labelled rows to what a diagnosis is computed from: numbers that add.

`Diagnoser` keeps counts in bins and moments of standardized values, and statistics of two halves of
the rows. Its memory depends on classes and features alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimate.diagonal import DiagonalEstimate
from ..input.label_types import check_kind, positions
from ..input.labels import Labels, encode_labels
from ..input.rows import check_finite
from ..kernels.learn.encode import EncodedLabels
from ..kernels.learn.standardized import Moments, describe, merge_moments, take_turns
from ..model.model import Model
from ..stats.class_stats import ClassStats, from_arrays

__all__ = ["Diagnoser", "KnownRows", "known_rows", "units_of"]

Floats = NDArray[np.float64]

BINS = 258
"""Bins of standardized values, the two tails included."""

FEWEST_BINS = 34
"""Bins where classes and features are many: half a standard deviation wide."""

MOST_COUNTS = 1 << 24
"""Most numbers that all counts take (128 MB)."""

MOST_PAIRS = 1 << 25
"""Most numbers that the statistics of both halves take with full scatter (256 MB)."""


class KnownRows(NamedTuple):
    """Rows (n, d) of continuous features whose labels the model knows, and whose weight is not 0.

    codes (n,) of its classes; weight (n,), or None. n_unknown: rows of other labels.
    """

    X: NDArray[Any]
    codes: NDArray[np.int32]
    weight: Floats | None
    n_unknown: int

    def select(self, mask: NDArray[np.bool_]) -> KnownRows:
        """Those of the rows that are marked (n,)."""
        weight = None if self.weight is None else self.weight[mask]
        return KnownRows(self.X[mask], self.codes[mask], weight, self.n_unknown)

    def whole(self) -> KnownRows:
        """The rows without a missing value."""
        mask = ~np.isnan(self.X).any(axis=1)
        return self if mask.all() else self.select(mask)


def known_rows(model: Model, X: NDArray[Any], y: NDArray[Any], weight: Floats | None) -> KnownRows:
    """Rows X (n, d) with labels y (n,) that a model knows.

    Raises TypeError where labels are text and those of the model are not, or the other way round.
    """
    labels = encode_labels(y)
    check_kind(model.classes, labels.classes, "Labels")
    place = positions(labels.classes, model.classes, absent=-1).astype(np.int32)
    codes = place[labels.codes] if len(place) else np.empty(0, np.int32)
    known, counts = codes >= 0, np.ones(len(codes), np.bool_) if weight is None else weight > 0
    found = KnownRows(X, codes, weight, int((counts & ~known).sum()))
    return found if (known & counts).all() else found.select(known & counts)


def units_of(model: Model) -> tuple[Floats, Floats]:
    """Means and standard deviations (k, d) of a model's continuous features in each class.

    Along axes, those of its statistics. A standard deviation of 0 is replaced by that of all rows,
    or by 1.
    """
    own, likelihood = _gaussian_stats(model), model.member.likelihood
    if likelihood.along_axes:
        mean, variance = own.mean, own.variance
    else:
        moments: DiagonalEstimate = model.moments
        mean, variance = moments.theta, moments.var
    with np.errstate(over="ignore"):
        overall = own.to_diag().as_one_class().variance[0]
    other = np.where((overall > 0) & np.isfinite(overall), overall, 1.0)
    usable = (variance > 0) & np.isfinite(variance)
    return np.asarray(mean, np.float64), np.sqrt(np.where(usable, variance, other))


def _gaussian_stats(model: Model) -> ClassStats:
    stats: ClassStats = model.stats.gaussian if model.member.takes_categories else model.stats
    return stats


class Diagnoser:
    """Adds up batches of rows of a model. Raises ValueError where that takes too much memory.

    Cost of a batch: O(n d), and O(n d^2) for pairs of features. Memory: O(k d) numbers, the counts
    of 34 to 258 for each class and feature, and 2 k d^2 for pairs, unless those are too many.
    """

    def __init__(self, model: Model) -> None:
        _ = model.params  # raises for edited attributes as scoring does
        self.model = model
        k, d = len(model.classes), _gaussian_stats(model).n_features
        if d == 0:
            raise ValueError("The model has no continuous feature: there is nothing to diagnose.")
        n_bins = BINS
        while n_bins > FEWEST_BINS and k * d * n_bins > MOST_COUNTS:
            n_bins = (n_bins - 2) // 2 + 2
        if k * d * n_bins > MOST_COUNTS:
            raise ValueError(
                f"Distributions of {k} classes and {d} features take {8 * k * d * n_bins} bytes, "
                f"more than the limit of {8 * MOST_COUNTS}. Diagnose a model of fewer features or "
                "classes."
            )
        self.skip = model.missing == "skip"
        self.has_pairs = 2 * k * d * d <= MOST_PAIRS
        mean, sd = units_of(model)
        self._units = mean, 1.0 / sd
        self.moments = Moments(*np.zeros((5, k, d)))
        self.counts = np.zeros((k, d, n_bins))
        self.rows = np.zeros(k, np.int64)
        self.weight, self.norm = np.zeros(k), np.zeros(k)
        self.n_known = self.n_whole = self.n_unknown = 0
        self._seen = np.zeros(k, np.int64)
        self._halves: ClassStats | None = None

    def update(self, X: NDArray[Any], y: NDArray[Any], weight: Floats | None = None) -> None:
        """Add rows X (n, d) of continuous features with labels y and weights, or none of them.

        Rows of labels that the model does not know, and of weight 0, are left out. Raises
        NotFiniteError for infinities, and for missing values unless the model skips them.
        """
        found = known_rows(self.model, X, y, weight)
        k = len(self.model.classes)
        described = describe(
            found.X, found.codes, found.weight, self._units, self.counts.shape[2], skip=self.skip
        )
        if not np.isfinite(described[0].mean).all():
            self._refuse(X, y, weight)
        rows = found.whole() if self.skip else found
        seen = self._seen.copy()
        halves = self._statistics(rows, seen)
        # Nothing below fails, so that a batch is added as a whole or not at all.
        with np.errstate(over="ignore", invalid="ignore"):
            self.moments = merge_moments(self.moments, described[0])
        self.counts += described[1]
        self._halves = halves if self._halves is None else self._halves + halves
        self._seen = seen
        self.rows += np.bincount(found.codes, minlength=k)
        self.weight += np.bincount(found.codes, found.weight, k)
        self.norm = np.hypot(self.norm, _norms(found.codes, found.weight, k))
        self.n_known += len(found.X)
        self.n_whole += len(rows.X)
        self.n_unknown += found.n_unknown

    def _statistics(self, rows: KnownRows, seen: NDArray[np.int64]) -> ClassStats:
        """Statistics of 2 k classes: of each class the two halves."""
        codes = (2 * rows.codes + take_turns(rows.codes, seen)).astype(np.int32)
        labels = Labels(np.arange(2 * len(seen)), EncodedLabels.from_codes(codes))
        return from_arrays(
            rows.X, labels, rows.weight, skip=False, feature_names=None, full=self.has_pairs
        )

    def _refuse(self, X: NDArray[Any], y: NDArray[Any], weight: Floats | None) -> None:
        """Raise NotFiniteError for a value of a row that counts; values may only be far apart."""
        known = positions(y, self.model.classes, absent=-1) >= 0
        counts = known if weight is None else known & (weight > 0)
        can_skip = self.model.member.has("missing")
        check_finite(X, counts.astype(np.float64), skip=self.skip, can_skip=can_skip)

    def halves(self) -> tuple[ClassStats, ClassStats] | None:
        """Statistics of both halves of the whole rows, over the model's classes; None without."""
        if self._halves is None or not self.n_whole:
            return None
        return _part(self._halves, self.model, 0), _part(self._halves, self.model, 1)

    @property
    def seen(self) -> NDArray[np.int64]:
        """How many whole rows of each class (k,) have taken turns so far."""
        return self._seen

    @property
    def effective(self) -> Floats:
        """The effective number of rows of each class (k,): (sum of w)^2 / (sum of w^2)."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = (self.weight / self.norm) ** 2
        return np.where(np.isfinite(found), found, self.rows)

    @property
    def effective_total(self) -> float:
        """The effective number of all whole rows."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = (self.weight.sum() / np.hypot.reduce(self.norm)) ** 2
        n = float(found) if np.isfinite(found) else float(self.n_known)
        return n * self.n_whole / max(self.n_known, 1)

    def __add__(self, other: Diagnoser) -> Diagnoser:
        """The rows of both, which are of one model, as if they had come one after the other."""
        both = Diagnoser(self.model)
        both.moments = merge_moments(self.moments, other.moments)
        for name in (
            "counts", "rows", "weight", "n_known", "n_whole", "n_unknown"
        ):  # fmt: skip
            setattr(both, name, getattr(self, name) + getattr(other, name))
        both.norm = np.hypot(self.norm, other.norm)
        more = other._halves
        if more is not None:  # its first row of a class takes the turn after the last one of here
            more = _swap_halves(more, self._seen % 2 == 1)
        known = [each for each in (self._halves, more) if each is not None]
        both._halves = sum(known[1:], known[0]) if known else None
        both._seen = self._seen + other._seen
        return both


def _norms(codes: NDArray[np.int32], weight: Floats | None, k: int) -> Floats:
    """Roots of the sums of squared weights of each class (k,), of weights of any size."""
    if weight is None:
        return np.sqrt(np.bincount(codes, minlength=k))
    scale = weight.max(initial=0.0) or 1.0
    return np.asarray(scale * np.sqrt(np.bincount(codes, (weight / scale) ** 2, k)))


def _swap_halves(stats: ClassStats, mask: NDArray[np.bool_]) -> ClassStats:
    """Statistics of 2 k classes, where the two halves of the marked classes (k,) change places."""
    pairs = np.arange(2 * len(mask)).reshape(-1, 2)
    pairs[mask] = pairs[mask][:, ::-1]
    at = pairs.ravel()
    return replace(
        stats, count=stats.count[at], mean=stats.mean[at], variance=stats.variance[at],
        mean_lo=stats.mean_lo[at],
        covariance=None if stats.covariance is None else stats.covariance[at],
    )  # fmt: skip


def _part(stats: ClassStats, model: Model, half: int) -> ClassStats:
    """Statistics of one half, of those of 2 k classes."""
    own = slice(half, None, 2)
    return ClassStats(
        model.classes, stats.count[own], stats.mean[own], stats.variance[own], stats.mean_lo[own],
        covariance=None if stats.covariance is None else stats.covariance[own],
    )  # fmt: skip
