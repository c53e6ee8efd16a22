"""Sums of one block of rows: of w, w z and w z^2, where z are deviations from a class's shift.

The shift of a class is its first row. Where that turns out to lie far from the mean, the block is
summed again around the mean, so that nothing cancels. Features are padded to a multiple of eight;
what stands there means nothing.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._numba.decorators import llvm_inlined
from ..._numba.vectors import (
    all_greater,
    first,
    load,
    shifted,
    splat,
    store,
    where_equal,
    where_greater,
)
from ..rows import element, round_up
from .codes import code

# Rows of one class that are summed plainly before they join the block's sums: bounds the error of
# plain summation, whatever the number of classes and rows.
RUN = 512
# Times that a block is summed, each time around a shift closer to its mean: enough for any weights
# and outliers that float64 holds.
TRIES = 4
# A block is summed again, around its own mean, when the square of the sum eats more than this
# share of the sum of squares.
_POOR = 0.97


class Block(NamedTuple):
    """What a block of rows gathers of k classes and d features, which are padded to `dp`.

    shift, s1, s2 and n (k, dp): shift and sums of each class; without `skip` n is meant for all
    features, in column 0. known: whether a class has a shift, (k,), or with `skip` (k, dp).
    """

    k: int
    d: int
    dp: int
    skip: bool
    shift: Any
    s1: Any
    s2: Any
    n: Any
    known: Any


@llvm_inlined
def carve(k, d, skip, state, known):
    """The parts of a block's state (4, k, dp); `known` is all zero."""
    dp = round_up(d, 8)
    size = k * dp
    s1 = shifted(state, size)
    return Block(k, d, dp, skip, state, s1, shifted(s1, size), shifted(s1, 2 * size), known)


@llvm_inlined
def clear(block):
    """Begin to sum. Padded features have shift 0, so that their deviations do not overflow."""
    for p in range(0, block.k * block.dp, 8):
        store(block.s1, p, splat(0.0))
        store(block.s2, p, splat(0.0))
        store(block.n, p, splat(0.0))
    for c in range(block.k):
        for p in range(c * block.dp + block.d, (c + 1) * block.dp):
            block.shift[p] = 0.0


@llvm_inlined
def first_shifts(rows, start, stop, codes, has_weight, weight, block):
    """Set the shift of each class to its first row, or its first values, among start to stop."""
    width, dp, known = block.d, block.dp, block.known
    unknown = block.k * (width if block.skip else 1)
    for i in range(start, stop):
        if unknown == 0:
            break
        if has_weight and weight[i] == 0.0:
            continue
        c = code(codes, i)
        p = c * dp
        if block.skip:
            for j in range(width):
                x = element(rows, i, j)
                if known[p + j] == 0.0 and x == x:
                    block.shift[p + j] = x
                    known[p + j] = 1.0
                    unknown -= 1
        elif known[c] == 0.0:
            for j in range(width):
                block.shift[p + j] = element(rows, i, j)
            known[c] = 1.0
            unknown -= 1


@llvm_inlined
def note_shifts(source, start, stop, codes, offset, block):
    """Let a class's first row be its shift, if that is among start to stop; says if any is new."""
    is_new = False
    for i in range(start, stop):
        c = code(codes, i + offset)
        if block.known[c] == 0.0:
            is_new = True
            block.known[c] = 1.0
            for j in range(block.d):
                block.shift[c * block.dp + j] = element(source, i, j)
    return is_new


@llvm_inlined
def all_known(block):
    """Whether each class has a shift."""
    total = 0.0
    for c in range(block.k):
        total += block.known[c]
    return total == block.k


@llvm_inlined
def is_poor(block):
    """Whether some shift was so far from its mean that digits of the scatter were lost."""
    one, zero, worst = splat(1.0), splat(0.0), splat(0.0)
    for c in range(block.k):
        n = splat(block.n[c * block.dp])
        for j in range(0, block.d, 8):
            p = c * block.dp + j
            s1, s2 = load(block.s1, p), load(block.s2, p)
            if block.skip:
                n = load(block.n, p)
            poor = where_greater(s1 * s1, splat(_POOR) * n * s2, one, zero)
            # Sums that overflow around an outlier may be finite around the mean.
            poor = where_equal(s2, splat(np.inf), one, poor)
            worst = worst + first(block.d - j, poor)
    return not all_greater(one, worst)


@llvm_inlined
def recentre(block):
    """Move each shift to the mean that the sums show."""
    for c in range(block.k):
        for j in range(block.d):
            p = c * block.dp + j
            w = block.n[p if block.skip else c * block.dp]
            if w > 0.0:
                block.shift[p] += block.s1[p] / w
