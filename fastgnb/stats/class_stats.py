"""ClassStats: weight, mean and scatter of the rows of each class; numbers that add and subtract.

What is stored is the variance of a class, and scatter is weight times variance: in that form every
update uses ratios of weights only, so that weights as small as float64 holds leave means and
variances right. The mean is an unevaluated sum of two float64 numbers, since one alone loses the
distance between two means at mean/sd 1e8.

The operations are in `accumulation` (from rows), `merging` (+) and `subtraction` (-).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.labels import Labels
from ..input.rows import check_missing, check_rows, resolve_feature_names
from ..input.targets import encode_targets
from .accumulation import accumulate_rows
from .alignment import align
from .checks import check_name_count, check_overflow, check_scatter
from .chunks import PreparedStats, Running
from .merging import between, decay, merge_classes, merge_rows
from .subtraction import subtract

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassStats(PreparedStats):
    """Sufficient statistics of the rows of k classes over d features.

    `a + b` are the statistics of the rows of both, `a - b` those of a's rows without b's, and `sum`
    works on a list. Nothing changes an instance.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        Distinct labels, sorted.
    count : ndarray of shape (k,), float64
        Sum of the weights of each class.
    mean : ndarray of shape (k, d), float64
        Weighted means, 0 for a class without rows.
    variance : ndarray of shape (k, d), float64
        Weighted mean squared deviations from the mean: scatter / count.
    mean_lo : ndarray of shape (k, d), float64
        What `mean` lost in rounding: mean + mean_lo has twice the digits.
    feature_count : ndarray of shape (k, d), float64, or None
        Sum of the weights of the values present, where missing values are skipped. None: it is
        `count` for every feature.
    feature_names : tuple of str of length d, or None
        Names of the features, None where the rows had none.
    max_scatter : ndarray of shape (k, d), float64, or None
        Largest scatter held before a subtraction; it bounds the error of `-`. None: nothing was
        subtracted.
    covariance : ndarray of shape (k, d, d), float64, or None
        Full scatter / count, whose diagonals are `variance`: with ``scatter="full"`` only.

    See Also
    --------
    MixedStats : Statistics of continuous and categorical features.
    GaussianNB.fit_stats : A model of statistics.

    Notes
    -----
    Merging [1]_ takes O(k d), or O(k d^2) with full scatter, and no rows. Classes are matched by
    label: 1, 1.0 and True are one label, text is never a number, and the type is that of `a` where
    it holds all exactly.

    The error of mean and scatter, relative to exact arithmetic, stays below 1e-13 up to a mean/sd
    of 1e8, over any number of rows, chunks and a million merges: there it grows as the square
    root of their number. It is larger where float64 itself has fewer digits: for variances below
    1e-300. Only ratios of weights matter, from 5e-324 up, except in `scatter`, `total`, `within`
    and `between`, which may overflow; a row whose weight is below 2^-1022 of the largest of its
    class has fewer digits, and below 2^-1074 none. What `-` leaves has the error of what was
    there: a window that slides by `+` and `-` gathers at most 2^-52 of its largest scatter with
    each step. The bits are the same for any number of threads and any layout of the same numbers
    in memory.

    References
    ----------
    .. [1] Chan, Golub, LeVeque, "Algorithms for computing the sample variance", The American
       Statistician 37 (1983) 242-247.

    Examples
    --------
    >>> from fastgnb import ClassStats
    >>> a = ClassStats.from_rows([[1.0], [3.0], [8.0]], [0, 0, 1])
    >>> b = ClassStats.from_rows([[5.0], [9.0]], [0, 2])
    >>> both = a + b
    >>> both.classes, both.count
    (array([0, 1, 2]), array([3., 1., 1.]))
    >>> both.mean.ravel()
    array([3., 8., 9.])
    >>> (both - b).count
    array([2., 1., 0.])
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
        """Make statistics of rows, in one read of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Real numbers of any dtype and layout, or a frame; sums are float64 whatever it is.
            Masked values are missing.
        y : array-like of shape (n_samples,)
            Labels: whole numbers, booleans or text.
        sample_weight : array-like of shape (n_samples,), float, or None
            Weights of 0 or more, a number for equal weights, or None for 1. A row of weight 0 is
            as if it were not there.
        classes : array-like of shape (n_classes,), or None
            Labels that may occur, when y need not hold all of them. None: those of y.
        missing : {"error", "skip"}
            What to do with NaN: raise, or leave each out of its feature's sums.
        feature_names : sequence of str of length n_features, or None
            Names of the features. None: the columns' where X is a frame.
        scatter : {"diag", "full"}
            Keep one number a feature, or one a pair of features, which takes k d^2 float64
            numbers and n d^2 / 2 multiply-adds.

        Returns
        -------
        ClassStats
            Statistics of k = n_classes classes and d = n_features features.

        Raises
        ------
        ValueError
            NaN or infinity in X (a NaN only with ``missing="error"``), wrong shapes or lengths,
            labels that are not classes or not in `classes`, weights negative or not finite, dates,
            text, masked labels or weights, a feature name twice, values so far apart that a
            variance overflows; more than 4 GiB of means and variances, or of covariances;
            ``scatter="full"`` with ``missing="skip"``.
        TypeError
            Sparse X, objects that are no numbers, or labels that mix text and numbers.
        """
        skip = check_missing(missing)
        full = check_scatter(scatter)
        rows = check_rows(X)
        targets = encode_targets(rows, y, sample_weight, classes)
        names = resolve_feature_names(X, feature_names)
        return from_arrays(rows, *targets, skip=skip, feature_names=names, full=full)

    def update(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> ClassStats:
        """Add rows to these statistics, which stay as they are.

        Parameters
        ----------
        X, y, sample_weight : array-like
            Further rows, as `from_rows` takes them; new labels are further classes.

        Returns
        -------
        ClassStats
            Statistics of the rows so far and these.
        """
        running = Running.of(self)
        if running and (both := running.add(X, y, sample_weight, declared=False)):
            return both.stats()
        missing = "error" if self.feature_count is None else "skip"
        scatter = "diag" if self.covariance is None else "full"
        return self + ClassStats.from_rows(X, y, sample_weight, missing=missing, scatter=scatter)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.mean.shape[1])

    @property
    def weight(self) -> Floats:
        """Sum of weights of each mean: (k, d) where missing values are skipped, else (k, 1)."""
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
        """Leave out what pairs of features have in common.

        Returns
        -------
        ClassStats
            Statistics with ``covariance=None``.
        """
        return replace(self, covariance=None)

    def total(self) -> Floats:
        """Scatter of all rows around their mean: `within` + `between`.

        Returns
        -------
        ndarray of shape (d,) or (d, d), float64
            Infinite where it overflows.
        """
        return np.asarray(self.as_one_class().scatter[0])

    def within(self) -> Floats:
        """Scatter of all rows around the means of their classes.

        Returns
        -------
        ndarray of shape (d,) or (d, d), float64
            Infinite where it overflows.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.scatter.sum(axis=0))

    def between(self) -> Floats:
        """Scatter of the class means, weighted by class, around the mean of all rows.

        Returns
        -------
        ndarray of shape (d,) or (d, d), float64
            Infinite where it overflows.
        """
        return between(self, self.as_one_class())

    def as_one_class(self) -> ClassStats:
        """Merge all classes into one, labelled 0.

        Returns
        -------
        ClassStats
            Statistics of the same rows, with k = 1. The cost is O(k d), or O(k d^2).
        """
        return replace(self, classes=np.zeros(1, np.int64), **merge_classes(self))

    def __add__(self, other: object) -> ClassStats:
        """Statistics of the rows of both."""
        if not isinstance(other, ClassStats):
            return NotImplemented
        a, b = align(self, other)
        both = replace(a, **merge_rows(a, b))
        check_overflow(both)
        return both

    def __radd__(self, other: object) -> ClassStats:
        """Statistics as they are beside the 0 that `sum` starts from."""
        return self if other == 0 else NotImplemented

    def __sub__(self, other: object) -> ClassStats:
        """Statistics of this one's rows without the other's (unlearning).

        Raises ValueError where the other's rows cannot all be among this one's: an unknown class,
        more weight, or more scatter than there is. What is left has the rounding error of `self`,
        so its relative error grows with the share that is taken away: of scatter, and of weights
        that are not whole numbers below 2^53. A weight of less than 1e-13 of what it was cannot be
        told from rounding and is 0. Raises ValueError where the means or variances show that rows
        of so little weight would be left.
        """
        if not isinstance(other, ClassStats):
            return NotImplemented
        a, b = align(self, other)
        return replace(a, **subtract(a, b))

    def decay(self, factor: float) -> ClassStats:
        """Down-weight all rows, so that old ones are forgotten exponentially.

        A stream that decays by f before each batch counts a row of t batches ago f^t times.

        Parameters
        ----------
        factor : float
            What all weights are multiplied by, above 0 and at most 1.

        Returns
        -------
        ClassStats
            Statistics of the same rows with smaller weights.

        Raises
        ------
        ValueError
            For another factor.

        Notes
        -----
        Means and variances keep their bits; a factor that is a power of two keeps the weights'
        too. Weights below 2^-1022 lose digits, and a class, or a feature of it, whose weight comes
        to 0 is as if none of its rows had been there.

        Examples
        --------
        >>> from fastgnb import ClassStats
        >>> stats = ClassStats.from_rows([[1.0], [3.0]], [0, 0])
        >>> half = stats.decay(0.5)
        >>> half.count, half.mean
        (array([1.]), array([[2.]]))
        """
        return replace(self, **decay(self, factor))

    def __repr__(self) -> str:
        """Numbers of classes and features, and the total weight."""
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
    """`from_rows` of checked and encoded input. Raises ValueError where X is not finite."""
    if feature_names is not None:
        check_name_count(feature_names, rows.shape[1])
    fields = accumulate_rows(rows, labels, weight, skip=skip, full=full)
    stats = ClassStats(labels.classes, feature_names=feature_names, **fields)
    check_overflow(stats)
    return stats
