"""How far scores by the model of all rows may be from those by the model of all others.

Where the best class of a row leads by more than that, it is the best without the row too, and
nothing else has to be computed. With r_j = (x_j - mean_j)^2 / V_j, for variances V with smoothing,
a row changes the variances of its class by factors of a_j - beta r_j, where all a_j are within
bounds that the model gives. What follows for scores needs of the row the sum R of r_j^2 alone. It
holds for R up to a limit.

With f = 1 - beta sqrt(R) / a, the row's own class loses at most

    (h / a - 1/2) sqrt(d R) + h beta R / (a^2 f) + d log(a) / 2 - shift

where h is half of (W / (W - w))^2 and shift what its log prior gains, and gains at most g sqrt(d R)
- d log(a) / 2 + shift, where g = max(0, 1/2 - (h - beta / 2) / a). The scores of other classes move
where smoothing changes, or they share the variances: in proportion to their size, up to `slope`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .left_out_model import LeftOut

Floats = NDArray[np.float64]

# Rounding of scores, relative to their size, with much to spare.
_ROUNDING = 1e-11
# Changes of scores, and of scores relative to their size, that count as none where two classes
# other than the row's own are compared: what rounding does to a refit.
_TIE = 1e-12
# What has to be left of a variance, and the share of it that a row may take.
_LEAST, _MOST = 0.5, 0.25
# The margin is the one that leaves the fewest rows open: those whose own class loses more, and
# about such a share of all for each nat. It has some spare for rows that are not in the sample.
_OPEN, _SPARE = 0.5, 1.1


class Margin(NamedTuple):
    """Lead from which on a class stays the best: distance + slope times both scores' sizes.

    roots (k,): up to which square root of R it holds for rows of each class; 0: for none. loses:
    whether nothing but losses of own classes is beyond rounding, so that another class that is the
    best stays the best.
    """

    distance: float
    slope: float
    roots: Floats
    loses: bool


class _Factors(NamedTuple):
    """Bounds on a_j (k,), and on changes of smoothing, for rows of each class."""

    low: Floats
    high: Floats
    less: Floats
    more: Floats


def squares(X: Floats, codes: NDArray[np.int32], terms: LeftOut) -> Floats:
    """Square roots of R (n,) of rows X (n, d)."""
    inverse = terms.inverse[0] if terms.tied else terms.inverse[codes]
    with np.errstate(over="ignore"):
        of_features = np.square(X - terms.mean[codes]) * inverse
        return np.asarray(np.sqrt(np.square(of_features).sum(axis=1)))


def margin(terms: LeftOut, roots: Floats, codes: NDArray[np.int32]) -> Margin | None:
    """The margin that nearly all rows keep, from a sample of their roots (m,) and classes (m,).

    None where there is no useful one.
    """
    d = terms.mean.shape[1]
    alpha, beta, h, shift = terms.changes.T[:4]
    with np.errstate(all="ignore"):
        usual = 2.0 * float(np.sort(roots)[len(roots) * 999 // 1000])
        factors = _factors(terms, usual)
        largest = np.minimum(usual, _MOST * factors.low / np.maximum(beta, 1e-300))
        is_usable = (alpha > 0) & (factors.low > _LEAST) & (largest > 0)
        loss = _Loss(
            math.sqrt(d) * np.maximum(h / factors.low - 0.5, 0.0),
            h * beta / factors.low**2, beta / factors.low,
            (0.0 if terms.tied else 0.5 * d * np.log(factors.high)) - shift,
        )  # fmt: skip
        losses = np.sort(np.maximum(loss.at(codes).of(roots)[is_usable[codes]], 0.0))
        if not len(losses):
            return None
        lost = _OPEN * losses - np.arange(len(losses)) / len(losses)
        most = _SPARE * float(losses[lost.argmin()])
        limits = np.where(is_usable, loss.limit(most, largest), 0.0)
        is_usable = limits > 0
        if not is_usable.any():
            return None
        gain = _gain(terms, factors, limits)
        constant, slope = _others(terms, factors, limits, is_usable)
        const = terms.const[terms.const > -np.inf]
        distance = max(most, constant) + max(float(gain[is_usable].max()), constant, 0.0)
        distance += _ROUNDING * (d + float(np.abs(const).max(initial=0.0)))
    if not (math.isfinite(distance) and slope < 0.1):
        return None
    loses = max(float(gain[is_usable].max()) + constant, constant - _TIE, slope - _TIE) <= 0
    return Margin(distance, slope + _ROUNDING, limits, loses)


class _Loss(NamedTuple):
    """What own classes (k,) lose: constant + linear s + square s^2 / (1 - share s), s^2 = R."""

    linear: Floats
    square: Floats
    share: Floats
    constant: Floats

    def at(self, codes: NDArray[np.int32]) -> _Loss:
        return _Loss(*(each[codes] for each in self))

    def of(self, root: Floats) -> Floats:
        left = 1.0 - self.share * root
        loss = self.constant + self.linear * root + self.square * root**2 / left
        return np.where(left > 0, loss, np.inf)

    def limit(self, most: float, largest: Floats) -> Floats:
        """The largest roots up to `largest` whose loss is at most `most`; 0 where there is none."""
        low, high = np.zeros(len(largest)), np.where(largest > 0, largest, 0.0)
        for _ in range(30):
            middle = 0.5 * (low + high)
            is_within = self.of(middle) <= most
            low, high = np.where(is_within, middle, low), np.where(is_within, high, middle)
        return low


def _factors(terms: LeftOut, root: float) -> _Factors:
    """For rows whose root is at most `root`."""
    less = more = np.zeros(len(terms.changes))
    share, gain = terms.changes[:, 5], terms.changes[:, 6]
    if terms.smoothing > 0:
        top = int(terms.total_variance.argmax())
        inverse = np.broadcast_to(terms.inverse[:, top], len(less))
        step = np.abs(terms.mean[:, top] - terms.total_mean[top]) + np.sqrt(root / inverse)
        less, more = -terms.smoothing * gain * share * step**2, terms.epsilon * (gain - 1.0)
    variance = terms.changes[:, :1] * terms.variance + (terms.epsilon + terms.floor)
    low = ((variance + less[:, None]) * terms.inverse).min(axis=1)
    high = ((variance + more[:, None]) * terms.inverse).max(axis=1)
    return _Factors(low, high, less, more)


def _gain(terms: LeftOut, factors: _Factors, roots: Floats) -> Floats:
    """The most that own classes (k,) gain, of rows whose roots are at most `roots`."""
    d = terms.mean.shape[1]
    beta, h, shift = terms.changes.T[1:4]
    if terms.tied:
        steep, constant = 0.5 - h / factors.high, 0.0
    else:
        steep = 0.5 - (h - 0.5 * beta) / factors.high
        constant = -0.5 * d * np.log(factors.low)
    return np.asarray(shift + constant + np.maximum(steep, 0.0) * math.sqrt(d) * roots)


def _others(
    terms: LeftOut, factors: _Factors, roots: Floats, is_usable: NDArray[np.bool_]
) -> tuple[float, float]:
    """By how much scores of other classes move: a constant, and a share of their size."""
    if terms.tied:
        left = factors.low - terms.changes[:, 1] * roots
        rise, fall = 1.0 - 1.0 / factors.high, 1.0 / left - 1.0
        return 0.0, max(float(np.maximum(rise, fall)[is_usable].max()), 0.0)
    change = np.maximum(-factors.less, factors.more)[is_usable].max() * terms.inverse.max()
    share = float(change / (1.0 - change)) if change < _LEAST else math.inf
    return 0.5 * terms.mean.shape[1] * share, share
