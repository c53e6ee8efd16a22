"""Rows to the sums of each class: one pass over checked rows, in units that keep digits.

Products of weights and squares leave float64's range where the statistics do not. So the weights of
a class are brought near 1 by a power of two where any is extreme, and the exponents are undone in
the sums of weights alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..input.labels import Labels
from ..input.rows import check_finite
from ..kernels.learn.diagonal import accumulate
from ..kernels.learn.merge import Sums
from .checks import check_full_size, check_size

if TYPE_CHECKING:
    from ..input.category_codes import FloatTable

Floats = NDArray[np.float64]


# Weights whose plain sum keeps 13 digits, even where every rounding errs to one side.
_SHORT = 1 << 11


class _Batch(NamedTuple):
    """Checked rows (n, d) with their labels, and weights over 2^exponents of their class.

    weight : (n,), or None where all are 1.
    exponents : (k,), or None where weights are as they were given.
    """

    rows: NDArray[Any]
    labels: Labels
    weight: Floats | None
    exponents: NDArray[Any] | None
    skip: bool
    full: bool

    def sums(self) -> Sums:
        """One pass over the rows."""
        k = len(self.labels.classes)
        if self.full:
            from ..kernels.learn.full import accumulate_scatter

            return accumulate_scatter(self.rows, self.labels.coded, self.weight, k)
        return accumulate(self.rows, self.labels.coded, self.weight, k, skip=self.skip)

    def check_finite(self, weight: Floats | None) -> None:
        """Raise NotFiniteError for a value of a row of weight above 0 that is not finite."""
        check_finite(self.rows, weight, skip=self.skip, can_skip=not self.full)


def accumulate_rows(
    rows: NDArray[Any], labels: Labels, weight: Floats | None, *, skip: bool, full: bool
) -> dict[str, Any]:
    """The fields of `ClassStats` that come from rows. Raises ValueError where X is not finite."""
    k, d = len(labels.classes), rows.shape[1]
    check_size(k, d)
    if full:
        check_full_size(k, d, skip=skip)
    batch = _with_usual_weights(_Batch(rows, labels, weight, None, skip, full))
    sums = batch.sums()
    if weight is not None and batch.exponents is None and _lack_digits(sums, rows, weight):
        exponents = _largest_exponents(weight, labels)
        scaled = np.ldexp(weight, -exponents[labels.codes])
        batch = batch._replace(weight=scaled, exponents=exponents)
        sums = batch.sums()
    if not (np.isfinite(sums.mean).all() and np.isfinite(sums.scatter).all()):
        batch.check_finite(batch.weight)
        batch = _rescale_weights(batch)
        sums = batch.sums()
    return _fields_of(batch, sums)


def accumulate_table(
    rows: NDArray[Any], table: FloatTable, labels: Labels, *, skip: bool
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """As `accumulate_rows` of the continuous features of a table, and counts (size, k) of slots."""
    from ..kernels.learn.mixed import accumulate_mixed

    k = len(labels.classes)
    check_size(k, rows.shape[1])
    batch = _Batch(rows, labels, None, None, skip, full=False)
    sums, counts = accumulate_mixed(table.in_ranges(), table.size, labels.coded, k, skip=skip)
    if not (np.isfinite(sums.mean).all() and np.isfinite(sums.scatter).all()):
        batch.check_finite(None)
        batch = _rescale_weights(batch)
        sums = batch.sums()
    return _fields_of(batch, sums), counts


def _fields_of(batch: _Batch, sums: Sums) -> dict[str, Any]:
    """Sums as means, variances and weights, in the units that the weights came in."""
    covariance = _covariance(sums) if batch.full else None
    if covariance is not None:
        variance = np.diagonal(covariance, axis1=1, axis2=2).copy()
    else:
        variance = np.zeros(sums.scatter.shape)
        np.divide(sums.scatter, sums.weight, out=variance, where=sums.weight > 0)
    with np.errstate(over="ignore"):
        weight = _unscale(sums.weight, batch)
        count = _unscale(_count(batch), batch)[:, 0] if batch.skip else weight[:, 0]
    return {
        "count": count,
        "mean": sums.mean,
        "mean_lo": sums.mean_lo,
        "variance": variance,
        "feature_count": weight if batch.skip else None,
        "covariance": covariance,
    }


def _covariance(sums: Sums) -> Floats:
    """Scatter (k, d, d) over weight, in its place."""
    weight = np.where(sums.weight > 0, sums.weight, 1.0)
    return np.divide(sums.scatter, weight[:, :, None], out=sums.scatter)


def _unscale(sums: Floats, batch: _Batch) -> Floats:
    """Sums of weights (k, 1) or (k, d) of the batch in the units that the weights came in."""
    if batch.exponents is None:
        return sums
    return np.asarray(np.ldexp(sums, batch.exponents[:, None]))


def _with_usual_weights(batch: _Batch) -> _Batch:
    """The batch with weights that keep the digits of products and squares.

    Raises NotFiniteError for what is not finite in a row whose weight comes to 0.
    """
    given = batch.weight
    exponents = _weight_exponents(given, batch.labels)
    if given is None or exponents is None:
        return batch
    weight = np.ldexp(given, -exponents[batch.labels.codes])
    if ((weight == 0) & (given > 0)).any():
        batch.check_finite(given)
    return batch._replace(weight=weight, exponents=exponents)


def _rescale_weights(batch: _Batch) -> _Batch:
    """The batch with weights whose sum in each class is at most 1.

    A variance that fits float64 then has a scatter that does.
    """
    codes, weight = batch.labels.codes, batch.weight
    share = np.frexp(np.bincount(codes, weight, len(batch.labels.classes)))[1]
    ones = np.ones(len(codes)) if weight is None else weight
    exponents = share if batch.exponents is None else batch.exponents + share
    return batch._replace(weight=np.ldexp(ones, -share[codes]), exponents=exponents)


def _count(batch: _Batch) -> Floats:
    """Sums of weights (k, 1) of the classes, whatever values are missing.

    Many are summed as features are, since one long sum would lose digits.
    """
    labels, weight, k = batch.labels, batch.weight, len(batch.labels.classes)
    if weight is None or len(weight) <= _SHORT:
        return np.bincount(labels.codes, weight, k).astype(np.float64)[:, None]
    zeros = np.zeros((len(weight), 1), np.float32)
    return accumulate(zeros, labels.coded, weight, k).weight


def _weight_exponents(weight: Floats | None, labels: Labels) -> NDArray[Any] | None:
    """Exponents (k,) that bring each class's largest weight near 1, where any is extreme.

    Products of weights and squares would lose digits below about 1e-308, and overflow above.
    """
    if weight is None or not len(weight):
        return None
    top = float(weight.max())
    if 2.0**-100 < top < 2.0**100 and not ((weight > 0) & (weight < 2.0**-100)).any():
        return None
    return _largest_exponents(weight, labels)


def _largest_exponents(weight: Floats, labels: Labels) -> NDArray[Any]:
    """The exponents (k,) of the largest weight of each class."""
    largest = np.zeros(len(labels.classes))
    np.maximum.at(largest, labels.codes, weight)
    return np.asarray(np.frexp(largest)[1])


def _lack_digits(sums: Sums, rows: NDArray[Any], weight: Floats) -> bool:
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
