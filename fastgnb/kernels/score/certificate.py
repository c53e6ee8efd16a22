"""When float32 decides a class: the parameters of float32 scores, and a bound on their error.

Derived in docs/certified.md. With u = 2^-24, k classes and d features, a class's score relative to
the largest constant is S = C - Q, where C <= 0 and Q >= 0 is a sum of squares T^2 of
T = (x - m) r. Float32 computes t = x' a + b of the centred row x' = fl(x - g), and s = C - sum t^2
term by term. All terms have one sign, so that the error of s is relative to |s|, apart from what
the centre costs: |b| may be large where t is not. It holds for every class and row that

    |S - s| <= floor + slope |s|.

So where s1 is the largest score and s2 the largest of the others, the float64 scores have the same
largest one if s1 - s2 > 2 floor + slope (|s1| + |s2|).

All of it depends on the model alone, and holds with fused multiply-adds and without.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-24
UNIT64 = 2.0**-53
# Scales within these bounds keep coefficients normal numbers, and their underflow below `floor`.
LARGEST_SCALE = 2.0**60
# Largest error, in nats, at which float32 scores are worth computing.
LARGEST_ERROR = 0.05
_LARGEST_BALANCE = 2.0**10
_MOST_FEATURES = 2**14


# From so many classes on it pays to centre and round rows, of float64 and float32, and from so many
# multiply-adds: of a row, and of a call, which may have to compile a kernel.
CLASSES, CLASSES_OF_NARROW = 8, 4
ROW_WORK = 80
CALL_WORK = 1 << 26


def pays(n: int, shape: tuple[int, int], *, is_narrow: bool = False) -> bool:
    """Whether n rows, with `is_narrow` of float32, are worth a certificate for mean (k, d)."""
    k, d = shape
    fewest = CLASSES_OF_NARROW if is_narrow else CLASSES
    return k >= fewest and k * d >= ROW_WORK and n * k * d >= CALL_WORK


class Certificate(NamedTuple):
    """Float32 parameters of the classes that have a finite constant, and the bound on scores.

    classes (k,): their positions among all; centre (d,) float64; a, b (k, d) and start (k,)
    float32; floor and slope: of the bound. base: the largest constant, which scores are relative
    to.
    """

    classes: NDArray[np.int64]
    centre: NDArray[np.float64]
    a: NDArray[np.float32]
    b: NDArray[np.float32]
    start: NDArray[np.float32]
    base: float
    floor: float
    slope: float

    def error(self, score: float) -> float:
        """The bound on the error of a float32 score."""
        return self.floor + self.slope * abs(score)


def certificate(
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    const: NDArray[np.float64],
    *,
    is_narrow: bool = False,
) -> Certificate | None:
    """The certificate of k classes; None if too few are possible, or the bound is of no use.

    A class's score is const_c - sum_j ((x_j - mean_cj) scale_cj)^2. is_narrow: the centre is of
    float32 numbers, for rows that are centred in float32.
    """
    classes = np.flatnonzero(const > -np.inf)
    d = mean.shape[1]
    if len(classes) < 2 or not 0 < d <= _MOST_FEATURES:
        return None
    m, r, c = mean[classes], scale[classes], const[classes]
    if not (r.min() >= 1.0 / LARGEST_SCALE and r.max() <= LARGEST_SCALE):
        return None
    with np.errstate(all="ignore"):
        centre = _centre(m, r)
        if is_narrow:
            centre = centre.astype(np.float32).astype(np.float64)
        b = (centre - m) * r
        norm = math.sqrt(float(np.square(b).sum(axis=1).max()))
        base = float(c.max())
        start = c - base
        floor, slope = _bound(d, norm, base)
        typical = floor + slope * (d - float(start.mean()))
    # Written so that NaN gives None.
    if not (typical <= LARGEST_ERROR and norm <= LARGEST_SCALE and np.all(np.isfinite(start))):
        return None
    narrow = np.float32
    return Certificate(
        classes, centre, r.astype(narrow), b.astype(narrow), start.astype(narrow),
        base, floor, slope,
    )  # fmt: skip


def _centre(mean: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each feature the means' average (d,), with the weights that make sum |b|^2 least."""
    weight = np.square(scale / scale.max(axis=0))
    first = mean[0]
    average: NDArray[np.float64] = first + (weight * (mean - first)).sum(axis=0) / weight.sum(
        axis=0
    )
    return average


def _bound(d: int, norm: float, base: float) -> tuple[float, float]:
    """floor and slope for d features, coefficients b of norm at most `norm`, and a constant."""
    balance = min(max(1.0, norm / math.sqrt(d)), _LARGEST_BALANCE)
    slope = 1.1 * UNIT * (d + 10 + 4 * balance)
    floor = 1.1 * (4 * UNIT * norm**2 / balance + UNIT64 * (d + 5) * abs(base)) + d * 2.0**-62
    return floor, slope
