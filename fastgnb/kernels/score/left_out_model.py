"""Parameters of leave-one-out with diagonal variances, as its kernel takes them, and its memory.

A row of weight w that leaves its class of weight W changes the class's mean by w / (W - w) of its
deviation D, and the variance to alpha v - beta D^2, where alpha and beta depend on weights alone.
The smoothing epsilon changes with the variance of all rows, and with it every variance. So each row
has an epsilon, and variances, of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import llvm_inlined, readonly
from ..._numba.vectors import aligned, pointer, shifted
from ..rows import round_up
from .posterior import GROUP

# Numbers of `LeftOut.changes` for each class, or for each row where rows have weights.
CHANGES = 7
# The largest change of a variance, relative to it, that the polynomial holds to rounding, and the
# least one that is not lost in rounding.
LARGEST_CHANGE, LEAST_CHANGE = 2e-3, 1e-11
# What has to be left of a variance, relative to it: less would lose more than two digits.
LEAST_LEFT = 0.02
# Of powers of two that float64 holds, and whose inverses it holds too.
_LARGEST_EXPONENT = 1000


class LeftOut(NamedTuple):
    """What the scores of n rows need, each by the model of all others, of k classes.

    tied, spherical : which variances there are.
    mean : (k, d).
    inverse : (k, d), 1 / (variance + epsilon) with all rows, or (1, d) where they are tied.
    variance : (k, d) or (1, d), without smoothing, by ddof=0.
    gain : (k,), what ddof makes of the variance with all rows.
    const : (k,), log prior and normaliser with all rows.
    total_mean, total_variance : (d,), of all rows.
    smoothing : var_smoothing.
    epsilon : what var_smoothing adds to variances with all rows.
    floor : what is added to variances in any case.
    reach : changes of epsilon up to which the polynomial holds.
    changes : (k, 7) or, where rows have weights, (n, 7): alpha (NaN: score the row by a refit),
        beta, half of (W / (W - w))^2, what is added to the log prior of the class, and to those of
        all classes, w / (T - w) and T / (T - w) of the sum T of all weights.
    """

    tied: bool
    spherical: bool
    mean: NDArray[np.float64]
    inverse: NDArray[np.float64]
    variance: NDArray[np.float64]
    gain: NDArray[np.float64]
    const: NDArray[np.float64]
    total_mean: NDArray[np.float64]
    total_variance: NDArray[np.float64]
    smoothing: float
    epsilon: float
    floor: float
    reach: float
    changes: NDArray[np.float64]


class PackedLeftOut(NamedTuple):
    """`LeftOut` as the kernel takes it, with features padded to d8, a multiple of 8, in one array.

    The parts of `numbers` are in `unpack`. top : the feature of largest variance. second : the
    largest variance of any other. by_row : whether `changes` has an entry for each row. moves :
    whether epsilon changes any variance beyond rounding. per_unit : changes of epsilon times this
    are near 1 or below, and powers are for changes in that unit: their fourth power would leave
    the range of float64 otherwise.
    """

    k: int
    d: int
    tied: bool
    spherical: bool
    by_row: bool
    moves: bool
    top: int
    second: float
    smoothing: float
    epsilon: float
    floor: float
    reach: float
    per_unit: float
    numbers: NDArray[np.float64]
    changes: NDArray[np.float64]


class LeftOutModel(NamedTuple):
    """`PackedLeftOut` inside the kernel, by pointers."""

    k: int
    d: int
    d8: int
    tied: bool
    spherical: bool
    moves: bool
    top: int
    second: float
    smoothing: float
    epsilon: float
    floor: float
    reach: float
    per_unit: float
    by_row: bool
    changes: Any
    mean: Any
    half: Any
    inverse: Any
    variance: Any
    padding: Any
    total_mean: Any
    total_variance: Any
    level: Any
    gain: Any
    const: Any
    values: Any
    powers: Any


class LeftOutScratch(NamedTuple):
    """Memory for 32 rows: scores s (k, 32), and 32 numbers each of best scores and their classes,
    changes of epsilon, own squares and normalisers; tiles (8, 8) of lanes to be added up, and
    (8, d8) of rows and of inverse variances."""

    s: Any
    best: Any
    label: Any
    delta: Any
    square: Any
    product: Any
    squares: Any
    products: Any
    rows: Any
    halves: Any


@llvm_inlined
def unpack(packed):
    k, d = packed.k, packed.d
    d8 = round_up(d, 8)
    g = 1 if packed.tied else k
    mean = pointer(packed.numbers)
    half = shifted(mean, k * d8)
    inverse = shifted(half, g * d8)
    variance = shifted(inverse, g * d8)
    padding = shifted(variance, g * d8)
    total_mean = shifted(padding, d8)
    total_variance = shifted(total_mean, d8)
    level = shifted(total_variance, d8)
    gain = shifted(level, d8)
    const = shifted(gain, k)
    return LeftOutModel(
        k, d, d8, packed.tied, packed.spherical, packed.moves, packed.top, packed.second,
        packed.smoothing, packed.epsilon, packed.floor, packed.reach, packed.per_unit,
        packed.by_row, pointer(packed.changes), mean, half, inverse, variance, padding,
        total_mean, total_variance, level, gain, const,
        shifted(const, k), shifted(const, 2 * k),
    )  # fmt: skip


@llvm_inlined
def change_of(model, i, c):
    return shifted(model.changes, CHANGES * (i if model.by_row else c))


@llvm_inlined
def scratch_size(k, d8):
    return 8 + k * GROUP + 5 * GROUP + 2 * 64 + 2 * 8 * d8


@llvm_inlined
def carve(memory, k, d8):
    s = aligned(memory)
    best = shifted(s, k * GROUP)
    label, delta = shifted(best, GROUP), shifted(best, 2 * GROUP)
    square, product = shifted(best, 3 * GROUP), shifted(best, 4 * GROUP)
    squares = shifted(best, 5 * GROUP)
    products = shifted(squares, 64)
    tile = shifted(products, 64)
    return LeftOutScratch(
        s, best, label, delta, square, product, squares, products, tile, shifted(tile, 8 * d8)
    )


def pack(terms: LeftOut) -> PackedLeftOut:
    """Copy parameters of any layout into one array, features padded with zeros."""
    k, d = terms.mean.shape
    d8 = round_up(d, 8)
    inverse, total = terms.inverse, terms.total_variance
    top = int(total.argmax()) if d else 0
    largest = np.abs(terms.changes[:, 5]).max(initial=0.0, where=np.isfinite(terms.changes[:, 5]))
    # Changes of epsilon of nearly all rows: those of eight standard deviations.
    reach = min(66.0 * largest * terms.epsilon, terms.reach)
    padding = np.zeros(d8)
    padding[d:] = 1.0
    level = np.zeros(d8)
    if terms.smoothing > 0 and not terms.tied:
        most = np.zeros(d8)
        most[:d] = inverse.max(axis=0)
        blocks = most.reshape(-1, 8).max(axis=1) * reach > LEAST_CHANGE
        level = np.repeat(blocks, 8).astype(np.float64)
    inverse = _padded(inverse, d8)
    unit = min(max(int(np.frexp(reach)[1]), -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
    moved = np.ldexp(inverse, unit) * level
    powers = np.stack([(moved**p).sum(axis=1) * s / p for p, s in _SERIES], axis=1)
    numbers = np.concatenate([
        np.ravel(part) for part in (
            _padded(terms.mean, d8), 0.5 * inverse, inverse, _padded(terms.variance, d8, 1.0),
            padding, _padded(terms.total_mean[None], d8), _padded(total[None], d8), level,
            np.broadcast_to(terms.gain, k), terms.const,
            np.arange(k, dtype=np.int64).view(np.float64), powers,
        )
    ])  # fmt: skip
    second = float(np.delete(total, top).max(initial=0.0))
    return PackedLeftOut(
        k, d, terms.tied, terms.spherical, len(terms.changes) != k, bool(level.any()), top, second,
        terms.smoothing, terms.epsilon, terms.floor, reach, 2.0**-unit, numbers,
        readonly(np.ascontiguousarray(terms.changes).reshape(-1)),
    )  # fmt: skip


# Half of log(1 + y) is y / 2 - y^2 / 4 + y^3 / 6 - y^4 / 8.
_SERIES = ((1, 0.5), (2, -0.5), (3, 0.5), (4, -0.5))


def _padded(values: NDArray[np.float64], d8: int, fill: float = 0.0) -> NDArray[np.float64]:
    out = np.full((len(values), d8), fill)
    out[:, : values.shape[1]] = values
    return out


def smallest_terms() -> LeftOut:
    """Parameters of one class and one feature, for warm-up calls."""
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    return LeftOut(
        False, False, zero, one, one, np.ones(1), np.zeros(1), np.zeros(1), np.ones(1), 0.0, 0.0,
        0.0, 0.0, np.ones((1, CHANGES)),
    )  # fmt: skip
