"""When whole numbers decide a class: parameters of scores in fixed point, and their error.

Derived in docs/certified.md. With rows less the centre, x, and a class at m less the centre, its
score is the start - sum (r m)^2, plus 2 r^2 m x - r^2 x^2 for each feature. x and x^2 are rounded
to int16, and so are their coefficients, times a unit that is the same for all classes. Products and
sums are whole numbers, and so exact. What the rounding costs, in units, is at most

    floor + 0.501 (sum |x| + sum x^2), the last two as they are rounded.

It holds for rows whose features are within REACH, and whose norm is below a limit, so that no score
of theirs leaves the range of int32.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .certificate import UNIT64, Certificate

# What x and x^2 of a feature are at the end of its range: within int16, the latter less 2^15.
REACH = 32_766.0
_SQUARE = 65_000.0
# The range of a feature reaches so many times sqrt(2) standard deviations beyond all means.
_DEVIATIONS = 4.5
_LARGEST = 32_767.0
_RANGE = 2.0**31 * 0.99
# Largest error, in nats, at which scores in fixed point are worth computing.
_LARGEST_ERROR = 0.2
_LANES = 4
# From so many classes on, less arithmetic is worth the rounding of rows.
FEWEST_CLASSES = 32


class FixedPoint(NamedTuple):
    """Parameters of the classes of a certificate, padded to fours with impossible ones.

    words (k, d) and start (k,) int32: the coefficients of x (low half) and x^2, and what a score
    begins with. unit (d,): of x. A row's scores are within int32 where sum (x steep)^2 < limit.
    """

    words: NDArray[np.int32]
    start: NDArray[np.int32]
    unit: NDArray[np.float32]
    steep: NDArray[np.float32]
    limit: float
    floor: float
    scale: float


# x^2 as it is rounded, of x as it is rounded.
RATIO = _SQUARE / REACH**2


def fixed_point(
    found: Certificate,
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    const: NDArray[np.float64],
) -> FixedPoint | None:
    """Parameters in fixed point of a certificate's classes; None for few or with a large error."""
    if len(found.classes) < FEWEST_CLASSES:
        return None
    r, m = scale[found.classes], mean[found.classes] - found.centre
    start = const[found.classes] - found.base
    reach = (np.abs(m) + _DEVIATIONS / r).max(axis=0)
    unit = (REACH / reach).astype(np.float32)
    wide = unit.astype(np.float64)
    steepest, usual = r.max(axis=0), np.sqrt(m * m + 0.5 / (r * r))
    limit = 2.0 * float(np.square(steepest * usual).sum(axis=1).max()) + 20.0
    norm = math.sqrt(float(np.square(r * m).sum(axis=1).max()))
    of_x, of_square = 2.0 * r * r * m / wide, -r * r / (wide * wide * RATIO)
    largest = max(float(np.abs(of_x).max()), float(np.abs(of_square).max()))
    size = (math.sqrt(limit) + norm) ** 2 + float(np.abs(start).max())
    units = min(_RANGE / size, _LARGEST / largest)
    a, b = np.rint(of_x * units), np.rint(of_square * units)
    floor = float((0.505 * np.abs(a) + 0.525 * np.abs(b)).sum(axis=1).max()) + 4.0
    floor += 4.0 * UNIT64 * (len(unit) + 5) * (abs(found.base) + size) * units
    rounded = usual * wide
    error = floor + 0.501 * float((rounded + rounded * rounded * RATIO).sum(axis=1).max())
    worst = floor + 0.501 * len(unit) * (REACH + _SQUARE)
    if not (error <= _LARGEST_ERROR * units and worst <= 0.009 * 2.0**31):
        return None
    base = np.rint((start - np.square(r * m).sum(axis=1)) * units) + 2.0**15 * b.sum(axis=1)
    steep = (steepest / wide).astype(np.float32)
    return FixedPoint(*_padded(a, b, base), unit, steep, 0.999 * limit, floor, units)


def _padded(
    a: NDArray[np.float64], b: NDArray[np.float64], start: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Coefficients as words, and the start modulo 2^32, with impossible classes at the end."""
    k, d = a.shape
    rows = -(-k // _LANES) * _LANES
    halves = np.zeros((rows, d, 2), np.int16)
    halves[:k, :, 0], halves[:k, :, 1] = a, b
    begin = np.full(rows, -(1 << 31), np.int64)
    begin[:k] = start.astype(np.int64)
    return halves.view(np.int32)[:, :, 0], (begin & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
