"""Sums of one block of rows: of w, w z and w z^2, where z are deviations from a class's shift.

The shift of a class is its first row. Where that turns out to lie far from the mean, the block is
summed again around the mean, so that nothing cancels.

A class's shift and the sums of its last rows, its record, stand side by side, so that a row goes to
one place in memory. Features are padded to a multiple of eight by zeros, which add exactly nothing.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._numba.decorators import ir_inlined, llvm_inlined
from ..._numba.vectors import aligned, load, shifted, splat, store
from ..rows import element, round_up
from .codes import code

# Rows of one class that are summed plainly before they join the block's sums: bounds the error of
# plain summation, whatever the number of classes and rows.
RUN = 512
# Rows of one tile: of what is copied from columns, or read once for every pair of classes.
TILE = 64
# Up to this many classes, and eight features, a row is added to all classes: zero times to those
# that it does not belong to.
FEW = 4
# A block is summed again, around its own mean, when the square of the sum eats more than this
# share of the sum of squares; each time brings the shift closer, and four times is enough for any
# weights and outliers that float64 holds.
_POOR = 0.97


class Block(NamedTuple):
    """What a block of rows gathers of k classes and d features, which are padded to `dp`.

    shift, s1, s2, n and known (k, dp): shift and sums of each class, and whether it has a shift;
    without `skip` n and known are meant for all features, in column 0. records (k, 4 dp): of each
    class the shift and the sums of its last rows: w z, w z^2, and with `skip` w. runs (k,): the
    number of these rows. tile (64, dp): rows copied from columns. own (4, 4, 8): [c, c] is 1.
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
    records: Any
    runs: Any
    tile: Any
    own: Any


@llvm_inlined
def scratch_size(k, dp):
    """How many numbers of scratch a block takes besides its state (4, k, dp)."""
    return 5 * k * dp + TILE * dp + 8 * FEW * FEW + k + 8


@ir_inlined
def carve(k, d, skip, state, scratch):
    """The parts of a block's state and scratch, which are all zero."""
    dp = round_up(d, 8)
    size = k * dp
    records = aligned(scratch)
    tile = shifted(records, 4 * size)
    own = shifted(tile, TILE * dp)
    runs = shifted(own, 8 * FEW * FEW)
    for c in range(FEW):
        store(own, 8 * (FEW + 1) * c, splat(1.0))
    return Block(
        k, d, dp, skip,
        state, shifted(state, size), shifted(state, 2 * size), shifted(state, 3 * size),
        shifted(runs, k), records, runs, tile, own,
    )  # fmt: skip


@llvm_inlined
def flush(block, c):
    """Move the sums of a class's last rows into the block's."""
    dp, at = block.dp, c * block.dp
    record = shifted(block.records, 4 * at)
    zero = splat(0.0)
    for j in range(0, dp, 8):
        store(block.s1, at + j, load(block.s1, at + j) + load(record, dp + j))
        store(block.s2, at + j, load(block.s2, at + j) + load(record, 2 * dp + j))
        store(record, dp + j, zero)
        store(record, 2 * dp + j, zero)
        if block.skip:
            store(block.n, at + j, load(block.n, at + j) + load(record, 3 * dp + j))
            store(record, 3 * dp + j, zero)
    if not block.skip:
        block.n[at] += record[3 * dp]
        record[3 * dp] = 0.0
    block.runs[c] = 0.0


@llvm_inlined
def clear(block):
    """Begin to sum: no sums yet, and records around the shifts."""
    for p in range(0, block.k * block.dp, 8):
        store(block.s1, p, splat(0.0))
        store(block.s2, p, splat(0.0))
        store(block.n, p, splat(0.0))
    for c in range(block.k):
        for j in range(0, block.dp, 8):
            store(block.records, 4 * c * block.dp + j, load(block.shift, c * block.dp + j))


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
        p = code(codes, i) * dp
        if block.skip:
            for j in range(width):
                x = element(rows, i, j)
                if known[p + j] == 0.0 and x == x:
                    block.shift[p + j] = x
                    known[p + j] = 1.0
                    unknown -= 1
        elif known[p] == 0.0:
            for j in range(width):
                block.shift[p + j] = element(rows, i, j)
            known[p] = 1.0
            unknown -= 1


@llvm_inlined
def is_poor(block):
    """Whether some shift was so far from its mean that digits of the scatter were lost."""
    for c in range(block.k):
        for j in range(block.d):
            p = c * block.dp + j
            square = block.s1[p] * block.s1[p]
            n = block.n[p if block.skip else c * block.dp]
            # Sums that overflow around an outlier may be finite around the mean.
            if block.s2[p] == np.inf or square > _POOR * n * block.s2[p]:
                return True
    return False


@llvm_inlined
def recentre(block):
    """Move each shift to the mean that the sums show."""
    for c in range(block.k):
        for j in range(block.d):
            p = c * block.dp + j
            w = block.n[p if block.skip else c * block.dp]
            if w > 0.0:
                block.shift[p] += block.s1[p] / w
