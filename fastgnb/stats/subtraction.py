"""The statistics of rows without others, and whether these can have been among them.

Everything is computed in units, powers of two, of each class's weight and of each feature's
spread in it, so that neither weights nor rows of any scale leave float64's range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.learn.double_double import difference, two_sum

if TYPE_CHECKING:
    from .class_stats import ClassStats

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# What weights that were added up may be off by, relative to their sum.
ROUNDING = 1e-13
_LEAST = 5e-324


class _Step(NamedTuple):
    """A subtraction in units, which are powers of two.

    power : (k, d), the exponents of the units of rows.
    weight : (k, 1) or (k, d) each: weights before, taken away and left, in units of those before.
    gain : weight taken away over weight left, 0 where none is left.
    variance : (k, d) each: variances before, and of what is taken away, in units of rows squared.
    step : (k, d), difference of the means, in units of rows.
    spread : (k, d), the variance that is left, which rounding may make negative.
    """

    power: NDArray[np.int32]
    weight: tuple[Floats, Floats, Floats]
    gain: Floats
    variance: tuple[Floats, Floats]
    step: Floats
    spread: Floats


def subtract_weights(a: Floats, b: Floats) -> Floats:
    """Weights a less weights b; a difference below 1e-13 of a, of rounding size, is 0.

    Whole numbers below 2^53 are exact. Raises ValueError for more weight in b.
    """
    left = np.asarray(a - b)
    left[(np.abs(left) <= ROUNDING * a) & ~_are_exact(a, b)] = 0.0
    if (left < 0).any():
        raise ValueError(
            "Cannot subtract more weight than was added: the statistics on the right are not of "
            "rows among those on the left."
        )
    return left


def _are_exact(a: Floats, b: Floats) -> Bools:
    return np.asarray((a == np.floor(a)) & (b == np.floor(b)) & (a < 2.0**53))


def max_scatter_of(stats: ClassStats) -> Floats:
    """The largest scatter (k, d) that there ever was, at least the smallest number above 0."""
    if stats.max_scatter is not None:
        return stats.max_scatter
    scatter = stats.to_diag().scatter
    return np.where((stats.variance > 0) & (stats.weight > 0), np.maximum(scatter, _LEAST), scatter)


def subtract(a: ClassStats, b: ClassStats) -> dict[str, Any]:
    """The fields of a's statistics that change as b's rows leave; both are of the same classes.

    Raises ValueError where b's rows cannot all be among a's, and where what is left of a class is
    less than the rounding error of its weight.
    """
    unknown = a.classes[(a.count == 0) & (b.count > 0)].tolist()
    if unknown:
        raise ValueError(f"Cannot subtract rows of classes {unknown}: they were never added.")
    with np.errstate(over="ignore", under="ignore"):  # an infinite bound, or slack, refuses nothing
        return _subtract(a, b)


def _subtract(a: ClassStats, b: ClassStats) -> dict[str, Any]:
    count, left = subtract_weights(a.count, b.count), subtract_weights(a.weight, b.weight)
    if a.feature_count is not None:
        check_values_left(a, b, count, left, range(a.n_features))
    parts = _in_units(a, b, left)
    bound = _bound_in_units(a, parts)
    _check_contained(a, b, parts, bound)
    mean, mean_lo = two_sum(a.mean, a.mean_lo + np.ldexp(parts.gain * parts.step, parts.power))
    variance = np.ldexp(np.maximum(parts.spread, 0.0), 2 * parts.power)
    is_changed = (left > 0) & (b.weight > 0)

    def choose(changed: Floats, kept: Floats) -> Floats:
        return np.where(is_changed, changed, np.where(left > 0, kept, 0.0))

    fields: dict[str, Any] = {
        "count": count,
        "mean": choose(mean, a.mean),
        "variance": choose(variance, a.variance),
        "mean_lo": choose(mean_lo, a.mean_lo),
        "feature_count": None if a.feature_count is None else left,
        "max_scatter": _bound_of_scatter(a, parts, bound),
    }
    if a.covariance is not None:
        fields["covariance"] = _covariance_left(a, b, parts, fields["variance"])
    return fields


def _bound_in_units(a: ClassStats, parts: _Step) -> Floats:
    """The largest scatter (k, d) that a ever had, in units of weight and of `power`."""
    scatter = parts.weight[0] * parts.variance[0]
    if a.max_scatter is None:
        return scatter
    unit = np.frexp(a.weight)[1]
    return np.maximum(np.ldexp(a.max_scatter, -unit - 2 * parts.power), scatter)


def _bound_of_scatter(a: ClassStats, parts: _Step, bound: Floats) -> Floats:
    """The bound (k, d) without units, where it is not 0 at least the smallest number above 0."""
    unit = np.frexp(a.weight)[1]
    scatter = np.maximum(np.ldexp(bound, unit + 2 * parts.power), _LEAST)
    return np.where(bound > 0, scatter, 0.0)


def _in_units(a: ClassStats, b: ClassStats, left: Floats) -> _Step:
    unit = np.frexp(a.weight)[1]
    na, nb, rest = (np.ldexp(w, -unit) for w in (a.weight, b.weight, left))
    gain = np.divide(nb, rest, out=np.zeros_like(rest), where=rest > 0)
    step = difference(a.mean, a.mean_lo, b.mean, b.mean_lo)
    step = np.where(b.weight > 0, step, 0.0)
    size = np.maximum(np.sqrt(np.maximum(a.variance, b.variance)), np.abs(step))
    power = np.frexp(size)[1]
    va, vb = np.ldexp(a.variance, -2 * power), np.ldexp(b.variance, -2 * power)
    step = np.ldexp(step, -power)
    spread = va + gain * (va - vb) - gain * (1 + gain) * step**2
    return _Step(power, (na, nb, rest), gain, (va, vb), step, spread)


def check_values_left(
    a: ClassStats, b: ClassStats, count: Floats, left: Floats, features: Sequence[int]
) -> None:
    """Raise ValueError where values of weight `left` (k, q) cannot be in rows of `count` (k,)."""
    rounded = np.where(_are_exact(a.count, b.count), 0.0, ROUNDING * a.count)
    is_rounding = ((count == 0) & (rounded > 0))[:, None] & (left > 0)
    if is_rounding.any():
        raise _below_rounding(a, b, is_rounding, features)
    without_rows = ((count == 0) & (a.count > 0))[:, None] & (left > 0)
    if (without_rows & (left <= ROUNDING * a.count[:, None])).any():
        raise _other_rows(a, without_rows, features)
    if (left > count[:, None] * (1 + 1e-9) + rounded[:, None]).any():
        raise ValueError(
            "Cannot subtract statistics of rows that were not added: more values than rows "
            "would be left."
        )


def _check_contained(a: ClassStats, b: ClassStats, parts: _Step, bound: Floats) -> None:
    """Raise ValueError where b shows more scatter, or another mean, than a can hold.

    Each is compared with the rounding error of the largest scatter that a ever had, the bound, and
    with what the rounding error of the weights makes of the scatter that is left.
    """
    na, nb, left = parts.weight
    va, vb = parts.variance
    is_exact = _are_exact(a.weight, b.weight)
    slack = 1e-12 * bound + nb * (1e-14 * np.ldexp(a.mean, -parts.power)) ** 2
    slack = slack + na * np.ldexp(16 * _LEAST, -2 * parts.power)  # where variances have few digits
    of_weight = np.where(is_exact, 0.0, ROUNDING * na) * (va + (parts.gain * parts.step) ** 2)
    is_negative = (left > 0) & (nb > 0) & (left * parts.spread < -(slack + of_weight))
    change = nb * np.maximum(np.abs(va - vb), parts.step**2)
    differs = (left == 0) & (nb > 0) & (change > 1e3 * slack)
    if (differs & ~is_exact).any():
        raise _below_rounding(a, b, differs & ~is_exact, range(a.n_features))
    if differs.any():
        raise _other_rows(a, differs, range(a.n_features))
    if is_negative.any():
        c, j = (int(v) for v in np.argwhere(is_negative)[0])
        label = a.classes.tolist()[c]
        raise ValueError(
            f"Cannot subtract statistics of rows that were not added: class {label!r}, "
            f"feature {j} would be left with negative scatter."
        )


def _other_rows(a: ClassStats, where: Bools, features: Sequence[int]) -> ValueError:
    """The error for weights that are equal, and whole numbers, of rows that differ.

    A weight beside which others round away leaves a whole number, too.
    """
    c, j = (int(v) for v in np.argwhere(where)[0])
    label = a.classes.tolist()[c]
    return ValueError(
        f"Cannot subtract: class {label!r} has the weight {a.count[c]:.17g} on both sides, and "
        f"other rows (feature {features[j]}). Either the right side is of rows that were not "
        "added, or what would be left is of so little weight that it cannot be told from rounding."
    )


def _below_rounding(
    a: ClassStats, b: ClassStats, where: Bools, features: Sequence[int]
) -> ValueError:
    """The error for weights that are equal to within rounding, of rows that differ."""
    c, j = (int(v) for v in np.argwhere(where)[0])
    label = a.classes.tolist()[c]
    return ValueError(
        f"Cannot subtract: the weights of class {label!r}, {a.count[c]:.17g} less "
        f"{b.count[c]:.17g}, are equal to within their rounding error, and the rows are not "
        f"(feature {features[j]}). What would be left cannot be told from rounding. Add the "
        "statistics of the rows that stay instead."
    )


def _covariance_left(a: ClassStats, b: ClassStats, parts: _Step, variance: Floats) -> Floats:
    """Covariances (k, d, d) of a's rows without b's, where any are left."""
    assert a.covariance is not None
    assert b.covariance is not None
    gain = parts.gain[:, :1, None]
    power = parts.power[:, :, None] + parts.power[:, None, :]
    before, taken = np.ldexp(a.covariance, -power), np.ldexp(b.covariance, -power)
    outer = gain * (1 + gain) * (parts.step[:, :, None] * parts.step[:, None, :])
    left = np.ldexp(before + gain * (before - taken) - outer, power)
    left = np.where((b.count > 0)[:, None, None], left, a.covariance)
    left[variance.sum(axis=1) == 0] = 0.0
    d = variance.shape[1]
    left[:, np.arange(d), np.arange(d)] = variance
    return left
