"""ClassStats: per-class weight, mean and scatter of rows; numbers that add and subtract.

The variance of a class is what is stored, and scatter is weight times variance: in that form every
update uses ratios of weights only, so that weights as small as float64 holds leave means and
variances right. The mean is an unevaluated sum of two float64 numbers, since one alone loses the
distance between two means at mean/sd 1e8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.label_types import same_labels, union
from ..input.labels import Labels, as_labels, classes_of, encode_labels, locate_labels
from ..input.rows import (
    check_feature_names,
    check_finite,
    check_lengths,
    check_missing,
    check_rows,
    feature_names_of,
)
from ..input.weights import check_weight
from ..kernels.learn.diagonal import Sums, accumulate
from ..kernels.learn.full import FullSums, accumulate_scatter
from ..kernels.learn.merge import Parts, collapse, merge
from .pooling import difference, pooled, rooted
from .subtraction import max_scatter_of, without

Floats = NDArray[np.float64]

# Most memory that the covariances of statistics may take.
MOST_BYTES = 1 << 32

# Weights whose plain sum keeps 13 digits, even where every rounding errs to one side.
_SHORT = 1 << 11


@dataclass(frozen=True, eq=False)
class ClassStats:
    """Sufficient statistics of the rows of k classes over d features.

    Attributes
    ----------
    classes : (k,) sorted distinct labels.
    count : (k,) float64, sum of weights of each class.
    mean : (k, d) float64, weighted means (0 for a class without rows).
    variance : (k, d) float64, scatter / count: weighted mean squared deviations from the mean.
    mean_lo : (k, d) float64, what `mean` lost in rounding: mean + mean_lo has twice the digits.
    feature_count : (k, d) float64 or None, sum of weights of the values present, where missing
        values are skipped. None: it is `count` for every feature.
    feature_names : tuple of d str, or None where the rows had none.
    max_scatter : (k, d) float64 or None, the largest scatter held before a subtraction; it bounds
        the error of `-`.
    covariance : (k, d, d) float64 or None, full scatter / count, whose diagonals are `variance`:
        with scatter="full" only.

    Notes
    -----
    `a + b` are the statistics of the rows of both (Chan, Golub and LeVeque 1983), `a - b` those of
    a's rows without b's. `sum` works on a list. Classes are matched by label: 1, 1.0 and True are
    one label, text is never a number, and the type is that of `a` where it holds all exactly.
    Cost: merging takes O(k d), or O(k d^2) with full scatter, without any rows.

    The error of mean and scatter, relative to exact arithmetic, stays below 1e-13 for |mean| / sd
    up to 1e8, over any number of rows, chunks and a million merges: there it grows as the square
    root of their number. It is larger where float64 itself has fewer digits: for variances below
    1e-300. Only ratios of weights matter, from 5e-324 up, except in `scatter`, `total()`,
    `within()` and `between()`, which may overflow; a row whose weight is below 2^-1022 of the
    largest of its class has fewer digits, and below 2^-1074 none. What `-` leaves has the error of
    what was there: a window that slides by `+` and `-` gathers at most 2^-52 of its largest scatter
    with each step.
    The bits are the same for any number of threads and any layout of the same numbers in memory.

    References
    ----------
    T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance",
    The American Statistician 37 (1983) 242-247.
    """

    classes: NDArray[Any]
    count: Floats
    mean: Floats
    variance: Floats
    mean_lo: Floats
    feature_count: Floats | None = None
    feature_names: tuple[str, ...] | None = None
    max_scatter: Floats | None = None
    covariance: Floats | None = None

    @classmethod
    def from_rows(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        missing: str = "error",
        feature_names: Sequence[str] | None = None,
        scatter: str = "diag",
    ) -> ClassStats:
        """Statistics of rows X (n, d) with labels y (n,) and weights (n,), in one read of X.

        Parameters
        ----------
        X : real numbers of any dtype and layout, or a frame; sums are float64 whatever it is.
            Masked values are missing.
        y : labels: whole numbers, booleans or text.
        sample_weight : 0 or more, a number for equal weights, or None for 1. A row of weight 0
            is as if it were not there.
        classes : labels that may occur, when y need not hold all of them; None: those of y.
        missing : "error", or "skip" to leave each NaN out of its feature's sums.
        feature_names : names of the d columns; None: those of X where it is a frame.
        scatter : "diag" for one number a feature, or "full" for one a pair of features, which
            takes k d^2 float64 numbers and n d^2 / 2 multiply-adds.

        Raises
        ------
        ValueError
            NaN or infinity in X (a NaN only with missing="error"), wrong shapes or lengths,
            labels that are not classes or not in `classes`, weights negative or not finite,
            dates, text, masked labels or weights, a feature name twice, values so far apart that
            a variance overflows; more than 4 GiB of means and variances, or of covariances;
            scatter="full" with missing="skip".
        TypeError
            Sparse X, objects that are no numbers, or labels that mix text and numbers.
        """
        skip = check_missing(missing)
        full = check_scatter(scatter)
        rows = check_rows(X)
        labels = as_labels(y)
        check_lengths(rows, labels)
        weight = check_weight(sample_weight, len(rows))
        found = encode_labels(labels)
        if classes is not None:
            found = locate_labels(found, classes_of(classes))
        names = feature_names_of(X) if feature_names is None else feature_names
        if names is not None:
            names = check_feature_names(names)
        return from_arrays(rows, found, weight, skip=skip, feature_names=names, full=full)

    def update(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> ClassStats:
        """Statistics of the rows so far and these; `self` stays as it is. See `from_rows`."""
        missing = "error" if self.feature_count is None else "skip"
        scatter = "diag" if self.covariance is None else "full"
        return self + ClassStats.from_rows(X, y, sample_weight, missing=missing, scatter=scatter)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.mean.shape[1])

    @property
    def weight(self) -> Floats:
        """Sum of weights behind each mean: (k, d) where missing values are skipped, else (k, 1)."""
        return self.count[:, None] if self.feature_count is None else self.feature_count

    @property
    def scatter(self) -> Floats:
        """Scatter of each class: sum of w (x - mean)^2 (k, d), or of w (x - mean)(x - mean)'.

        A weight times a variance: it is infinite, or 0, where float64 does not hold that, which
        the variances, and all that is estimated from them, do not feel.
        """
        with np.errstate(over="ignore"):
            if self.covariance is None:
                return self.weight * self.variance
            return self.count[:, None, None] * self.covariance

    def to_diag(self) -> ClassStats:
        """The statistics without what pairs of features have in common."""
        return replace(self, covariance=None)

    def total(self) -> Floats:
        """Scatter (d,) or (d, d) of all rows around their mean: `within() + between()`."""
        return np.asarray(self.as_one_class().scatter[0])

    def within(self) -> Floats:
        """Scatter (d,) or (d, d) of all rows around the means of their classes."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.scatter.sum(axis=0))

    def between(self) -> Floats:
        """Scatter of the class means, weighted by class, around the mean of all rows."""
        whole = self.as_one_class()
        step = rooted(self.weight, _steps_from(self, whole))
        with np.errstate(over="ignore"):
            if self.covariance is not None:
                return np.asarray(whole.count * _outer(step))
            return np.asarray(whole.weight[0] * (step**2).sum(axis=0))

    def as_one_class(self) -> ClassStats:
        """The statistics of all rows as one class, labelled 0."""
        weight, *moments = collapse(self._parts())
        mean, low, variance = moments
        whole = ClassStats(np.zeros(1, np.int64), weight[:, 0], mean, variance, low)
        if self.covariance is not None:
            whole = replace(whole, covariance=_collapsed(self, whole))
        if self.feature_count is None:
            return replace(whole, feature_names=self.feature_names)
        count = np.array([self.count.sum()])
        return replace(whole, count=count, feature_count=weight, feature_names=self.feature_names)

    def _parts(self) -> Parts:
        """What kernels read. Raises ValueError where shapes differ, which a kernel does not see."""
        _check_shapes(self)
        return Parts(self.weight, self.mean, self.mean_lo, self.variance)

    def __add__(self, other: object) -> ClassStats:
        if not isinstance(other, ClassStats):
            return NotImplemented
        a, b = aligned(self, other)
        weight, mean, low, variance = merge(a._parts(), b._parts())
        is_skip = a.feature_count is not None
        both = ClassStats(
            a.classes,
            a.count + b.count if is_skip else weight[:, 0],
            mean,
            variance,
            low,
            weight if is_skip else None,
            a.feature_names,
            None
            if a.max_scatter is None and b.max_scatter is None
            else max_scatter_of(a) + max_scatter_of(b),
        )
        _check_overflow(both)
        if a.covariance is None:
            return both
        return replace(both, covariance=_merged_covariance(a, b, variance))

    def __radd__(self, other: object) -> ClassStats:
        return self if other == 0 else NotImplemented  # sum() starts from 0

    def __sub__(self, other: object) -> ClassStats:
        """The statistics of this one's rows without the other's (unlearning).

        Raises ValueError where the other's rows cannot all be among this one's: an unknown class,
        more weight, or more scatter than there is. What is left has the rounding error of `self`,
        so its relative error grows with the share that is taken away: of scatter, and of weights
        that are not whole numbers below 2^53. A weight of less than 1e-13 of what it was cannot be
        told from rounding and is 0. Raises ValueError where the means or variances show that rows
        of so little weight would be left.
        """
        if not isinstance(other, ClassStats):
            return NotImplemented
        a, b = aligned(self, other)
        strange = a.classes[(a.count == 0) & (b.count > 0)].tolist()
        if strange:
            raise ValueError(f"Cannot subtract rows of classes {strange}: they were never added.")
        return replace(a, **without(a, b))

    def decay(self, factor: float) -> ClassStats:
        """The statistics with all weights times `factor`, from above 0 to 1: forgetting.

        A stream that decays by f before each batch counts a row of t batches ago f^t times
        (exponential forgetting). Means and variances keep their bits; a factor that is a power of
        two keeps the weights' too. Weights below 2^-1022 lose digits, and a class, or a feature of
        it, whose weight comes to 0 is as if none of its rows had been there. Raises ValueError for
        another factor.
        """
        if not isinstance(factor, Real) or not 0.0 < factor <= 1.0:
            raise ValueError(f"factor must be a number above 0 and at most 1, got {factor!r}.")
        share = float(factor)
        count, present = self.count * share, self.feature_count
        present = None if present is None else present * share
        less = replace(
            self,
            count=count,
            feature_count=present,
            max_scatter=None if self.max_scatter is None else self.max_scatter * share,
        )
        gone = (self.weight > 0) & (less.weight == 0)
        return _without(less, gone) if gone.any() else less

    def __repr__(self) -> str:
        k, d = self.mean.shape
        return f"<ClassStats: {k} classes, {d} features, total weight {self.count.sum():g}>"


def from_arrays(
    rows: NDArray[Any],
    labels: Labels,
    weight: Floats | None,
    *,
    skip: bool,
    feature_names: tuple[str, ...] | None,
    full: bool = False,
) -> ClassStats:
    """`ClassStats.from_rows` for input that is checked and encoded already.

    Raises ValueError where X is not finite, or so wide that a variance overflows.
    """
    k, d = len(labels.classes), rows.shape[1]
    if feature_names is not None and len(feature_names) != d:
        raise ValueError(f"Expected {d} feature names, one a column, got {len(feature_names)}.")
    check_size(k, d)
    if full:
        _check_full(k, d, skip=skip)
    unit = _weight_exponents(weight, labels, k)
    if weight is not None and unit is not None:
        given, weight = weight, np.ldexp(weight, -unit[labels.codes])
        if ((weight == 0) & (given > 0)).any():
            check_finite(rows, given, skip=skip, can_skip=not full)
    sums = _sums(rows, labels, weight, k, skip=skip, full=full)
    if weight is not None and unit is None and _lack_digits(sums, rows, weight):
        unit = _exponents(weight, labels, k)
        weight = np.ldexp(weight, -unit[labels.codes])
        sums = _sums(rows, labels, weight, k, skip=skip, full=full)
    if not (np.isfinite(sums.mean).all() and np.isfinite(sums.scatter).all()):
        check_finite(rows, weight, skip=skip, can_skip=not full)
        weight, unit = _rescale_weights(weight, unit, labels, k)
        sums = _sums(rows, labels, weight, k, skip=skip, full=full)
    covariance = _covariance(sums) if full else None
    if covariance is not None:
        variance = np.diagonal(covariance, axis1=1, axis2=2).copy()
    else:
        some = sums.weight > 0
        variance = np.divide(sums.scatter, sums.weight, out=np.zeros((k, d)), where=some)
    with np.errstate(over="ignore"):
        total = sums.weight if unit is None else np.ldexp(sums.weight, unit[:, None])
        count = _count(weight, unit, labels, k) if skip else total[:, 0]
    stats = ClassStats(
        labels.classes, count, sums.mean, variance, sums.mean_lo, total if skip else None,
        feature_names, None, covariance,
    )  # fmt: skip
    _check_overflow(stats)
    return stats


def _check_shapes(stats: ClassStats) -> None:
    """Raise ValueError unless all arrays are of the same k classes and d features."""
    shape = np.shape(stats.mean)
    k, d = shape if len(shape) == 2 else (-1, -1)
    wanted = {
        "classes": (k,), "count": (k,), "mean": (k, d), "variance": (k, d), "mean_lo": (k, d),
        "feature_count": (k, d), "max_scatter": (k, d), "covariance": (k, d, d),
    }  # fmt: skip
    for name, expected in wanted.items():
        value = getattr(stats, name)
        if value is not None and np.shape(value) != expected:
            raise ValueError(
                f"Expected statistics of {k} classes and {d} features: {name} of shape {expected}, "
                f"got {np.shape(value)}."
            )


def _without(stats: ClassStats, gone: NDArray[np.bool_]) -> ClassStats:
    """The statistics without values (k, d), or classes (k, 1), whose weight is 0."""
    wide = np.broadcast_to(gone, stats.mean.shape)
    fields: dict[str, Any] = {
        name: np.where(wide, 0.0, value)
        for name in ("mean", "variance", "mean_lo", "max_scatter")
        if (value := getattr(stats, name)) is not None
    }
    if stats.covariance is not None:
        fields["covariance"] = np.where(gone[:, :, None], 0.0, stats.covariance)
    return replace(stats, **fields)


def check_scatter(scatter: object) -> bool:
    """Whether scatter is "full". Raises ValueError unless it is "full" or "diag"."""
    if scatter not in ("full", "diag"):
        raise ValueError(f"scatter must be 'diag' or 'full', got {scatter!r}.")
    return scatter == "full"


def check_size(k: int, d: int) -> None:
    """Raise ValueError where means and variances of k classes would take too much memory."""
    size = 8 * 3 * k * d
    if size > MOST_BYTES:
        raise ValueError(
            f"Statistics of {k} classes and {d} features take {size} bytes, more than the limit of "
            f"{MOST_BYTES}. A target of so many distinct labels may be an identifier, or a "
            "quantity for regression."
        )


def _check_full(k: int, d: int, *, skip: bool) -> None:
    """Raise ValueError where full scatter is not defined, or takes too much memory."""
    if skip:
        raise ValueError(
            "Full scatter needs whole rows, and missing='skip' leaves values out. Fill them in, "
            "or use scatter='diag'."
        )
    size = 8 * k * d * d
    if size > MOST_BYTES:
        raise ValueError(
            f"Full scatter of {k} classes and {d} features takes {size} bytes, more than the "
            f"limit of {MOST_BYTES}. Use fewer features, or scatter='diag'."
        )


def _sums(
    rows: NDArray[Any],
    labels: Labels,
    weight: Floats | None,
    k: int,
    *,
    skip: bool,
    full: bool,
) -> Sums | FullSums:
    if full:
        return accumulate_scatter(rows, labels.coded, weight, k)
    return accumulate(rows, labels.coded, weight, k, skip=skip)


def _covariance(sums: Sums | FullSums) -> Floats:
    """Scatter (k, d, d) over weight, in its place."""
    some = np.where(sums.weight > 0, sums.weight, 1.0)
    return np.divide(sums.scatter, some[:, :, None], out=sums.scatter)


def _with_diagonal(covariance: Floats, variance: Floats) -> Floats:
    """The covariances with these variances, of which rounding gave them others."""
    d = variance.shape[1]
    covariance[:, np.arange(d), np.arange(d)] = variance
    return covariance


def _merged_covariance(a: ClassStats, b: ClassStats, variance: Floats) -> Floats:
    """Covariances of the rows of both (Chan, Golub and LeVeque 1983), in ratios of weights."""
    assert a.covariance is not None
    assert b.covariance is not None
    whole = a.count + b.count
    share = np.divide(b.count, whole, out=np.zeros_like(whole), where=whole > 0)[:, None, None]
    rest = np.divide(a.count, whole, out=np.zeros_like(whole), where=whole > 0)[:, None, None]
    step = difference(b.mean, b.mean_lo, a.mean, a.mean_lo)
    step[(a.count == 0) | (b.count == 0)] = 0.0
    outer = (rest * step[:, :, None]) * (share * step[:, None, :])
    # The two factors round alike, so that the result is symmetric to the bit.
    outer = 0.5 * (outer + outer.transpose(0, 2, 1))
    heavy = rest * a.covariance + share * b.covariance
    return _with_diagonal(heavy + outer, variance)


def _collapsed(stats: ClassStats, whole: ClassStats) -> Floats:
    """Covariance (1, d, d) of all rows, around their mean."""
    assert stats.covariance is not None
    step = rooted(stats.count, _steps_from(stats, whole))
    with np.errstate(over="ignore", invalid="ignore"):  # as of the variances, which tell
        covariance = pooled(stats.count, stats.covariance) + _outer(step)
    return _with_diagonal(covariance[None], whole.variance)


def _steps_from(stats: ClassStats, whole: ClassStats) -> Floats:
    """Differences (k, d) of the means of classes to that of all rows."""
    return difference(stats.mean, stats.mean_lo, whole.mean, whole.mean_lo)


def _outer(step: Floats) -> Floats:
    """Sum (d, d) of the outer products of steps (k, d) with themselves, in their order."""
    both = np.zeros((step.shape[1], step.shape[1]))
    for z in step:
        both += np.multiply.outer(z, z)
    return both


def _rescale_weights(
    weight: Floats | None, unit: NDArray[Any] | None, labels: Labels, k: int
) -> tuple[Floats, NDArray[Any]]:
    """Weights whose sum in each class is at most 1, and the exponents (k,) to undo it.

    A variance that fits float64 then has a scatter that does.
    """
    codes = labels.codes
    share = np.frexp(np.bincount(codes, weight, k))[1]
    ones = np.ones(len(codes)) if weight is None else weight
    return np.ldexp(ones, -share[codes]), share if unit is None else unit + share


def _count(weight: Floats | None, unit: NDArray[Any] | None, labels: Labels, k: int) -> Floats:
    """Sums of weights (k,) of the classes, of which those of features with missing values differ.

    Many are summed as features are, since one long sum would lose digits.
    """
    if weight is None or len(weight) <= _SHORT:
        count = np.bincount(labels.codes, weight, k).astype(np.float64)
    else:
        nothing = np.zeros((len(weight), 1), np.float32)
        count = accumulate(nothing, labels.coded, weight, k).weight[:, 0]
    return count if unit is None else np.asarray(np.ldexp(count, unit))


def _weight_exponents(weight: Floats | None, labels: Labels, k: int) -> NDArray[Any] | None:
    """Exponents (k,) that bring each class's largest weight near 1, where any is extreme.

    Products of weights and squares would lose digits below about 1e-308, and overflow above.
    """
    if weight is None or not len(weight):
        return None
    top = float(weight.max())
    if 2.0**-100 < top < 2.0**100 and not ((weight > 0) & (weight < 2.0**-100)).any():
        return None
    return _exponents(weight, labels, k)


def _exponents(weight: Floats, labels: Labels, k: int) -> NDArray[Any]:
    """The exponents (k,) of the largest weight of each class."""
    largest = np.zeros(k)
    np.maximum.at(largest, labels.codes, weight)
    return np.asarray(np.frexp(largest)[1])


def _lack_digits(sums: Sums | FullSums, rows: NDArray[Any], weight: Floats) -> bool:
    """Whether small weights may have taken digits from squares of tiny deviations."""
    if not len(weight) or weight.max() >= 0.25:
        return False
    scatter = sums.scatter
    scatter = scatter if scatter.ndim == 2 else np.diagonal(scatter, axis1=1, axis2=2)
    if ((scatter > 0) & (scatter < 2.0**-960)).any():
        return True
    # Numbers beyond 2^-430 differ by so much that the square of that is not 0.
    is_zero = (scatter == 0) & (sums.weight > 0) & (np.abs(sums.mean) < 2.0**-430)
    if (is_zero & (sums.mean != 0)).any():
        return True
    for j in np.flatnonzero(is_zero.any(axis=0)):
        low, high = np.fmin.reduce(rows[:, j]), np.fmax.reduce(rows[:, j])
        if low < high and max(-float(low), float(high)) < 2.0**-430:
            return True
    return False


def _check_overflow(stats: ClassStats) -> None:
    """Raise ValueError where weights or variances do not fit float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        # One sum tells whether all is well, as it nearly always is.
        weight = stats.weight.sum() + (stats.count.sum() if stats.feature_count is not None else 0)
        if math.isfinite(stats.variance.sum() + stats.mean.sum() + weight):
            return
        whole = stats.weight.sum(axis=0).max(initial=stats.count.sum())
    if not np.isfinite(whole):
        raise ValueError("The sum of the weights overflows float64. Scale them down.")
    good = np.isfinite(stats.variance) & np.isfinite(stats.mean)
    if not good.all():
        raise ValueError(
            f"Feature {int(np.argwhere(~good)[0, 1])} spans values so far apart that its variance "
            "overflows float64. Scale it down."
        )


def aligned(a: ClassStats, b: ClassStats) -> tuple[ClassStats, ClassStats]:
    """Both over the union of their classes, in sorted order, with missing counts of one kind."""
    # No rows and no features, as of `np.empty((0, 0))`, go with everything.
    a, b = (_widened(one, other) for one, other in ((a, b), (b, a)))
    names = common_names(a, b)
    if (a.feature_count is None) != (b.feature_count is None):
        a, b = _with_feature_count(a), _with_feature_count(b)
    if (a.covariance is None) != (b.covariance is None):
        raise ValueError(
            "Statistics with full and with diagonal scatter cannot be combined: take to_diag() of "
            "the full ones."
        )
    if a.feature_names != b.feature_names:
        a = replace(a, feature_names=names)
    if a.classes is b.classes or same_labels(a.classes, b.classes):
        return a, b
    labels, at_a, at_b = union(a.classes, b.classes, "Classes")
    check_size(len(labels), a.n_features)
    return _over(a, labels, at_a), _over(b, labels, at_b)


def common_names(a: Any, b: Any) -> tuple[str, ...] | None:
    """The names of the features of two statistics. Raises ValueError unless they are the same."""
    if a.n_features != b.n_features:
        raise ValueError(
            f"Statistics of {a.n_features} features cannot be combined with {b.n_features}."
        )
    names = {a.feature_names, b.feature_names} - {None}
    if len(names) > 1:
        raise ValueError(
            f"Statistics of different features cannot be combined: {_difference_of(a, b)}."
        )
    return names.pop() if names else None


def _difference_of(a: Any, b: Any) -> str:
    """Names that only one of two statistics has, or that they differ in order alone."""
    parts = []
    for names, others, which in ((a, b, "first"), (b, a, "second")):
        only = [name for name in names.feature_names if name not in set(others.feature_names)]
        if only:
            more = f" and {len(only) - 8} more" if len(only) > 8 else ""
            parts.append(f"only the {which} have {only[:8]}{more}")
    return "; ".join(parts) or f"they are in another order, {a.feature_names} and {b.feature_names}"


def _widened(stats: ClassStats, other: ClassStats) -> ClassStats:
    if stats.n_features or len(stats.classes):
        return stats
    d = other.n_features
    none = np.zeros((0, d))
    full = None if other.covariance is None else np.zeros((0, d, d))
    return replace(
        stats, classes=other.classes[:0], mean=none, variance=none, mean_lo=none, covariance=full
    )


def _with_feature_count(stats: ClassStats) -> ClassStats:
    if stats.feature_count is not None:
        return stats
    shape = stats.mean.shape
    return replace(stats, feature_count=np.broadcast_to(stats.count[:, None], shape).copy())


def _over(stats: ClassStats, classes: NDArray[Any], at: NDArray[np.int64]) -> ClassStats:
    """The same statistics over more classes, whose rows are of weight 0; its own are `at` (k,)."""
    if classes is stats.classes:
        return stats
    k, d = len(classes), stats.n_features

    def spread(values: Floats, shape: tuple[int, ...]) -> Floats:
        out = np.zeros(shape)
        out[at] = values
        return out

    return replace(
        stats,
        classes=classes,
        count=spread(stats.count, (k,)),
        mean=spread(stats.mean, (k, d)),
        variance=spread(stats.variance, (k, d)),
        mean_lo=spread(stats.mean_lo, (k, d)),
        feature_count=None
        if stats.feature_count is None
        else spread(stats.feature_count, (k, d)),
        max_scatter=None if stats.max_scatter is None else spread(stats.max_scatter, (k, d)),
        covariance=None
        if stats.covariance is None
        else spread(stats.covariance, (k, d, d)),
    )  # fmt: skip
