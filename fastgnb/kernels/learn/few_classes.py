"""Plain rows of two to four classes and at most eight features into the sums of a block.

A vector holds a row, or two of four features. It is added to every class:
zero in the lanes of rows that do not belong to it. So sums stay in registers, whatever the order of
the labels. Zero is chosen, not multiplied: the difference may overflow.

Row-major rows are read where they are, column-major ones are copied, a short tile at a time.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._numba.decorators import jit_helper, jitable, llvm_inlined, never_inlined
from ..._numba.vectors import load, prefetch, shifted, splat, store, where_equal
from ..rows import OVERREAD
from .codes import codes_of_tile, fetch_codes
from .shifted_sums import all_known, note_shifts
from .tiles import fill_panel

# The most classes and features.
_CLASSES, _FEATURES = 4, 8
# Rows of a tile, whose codes stay in the first-level cache.
FEW_ROWS = 128
# Elements, and codes, between rows that are read and rows that are fetched from memory.
_AHEAD = 1024
# Numbers of scratch for one vector of each class, and for one of each pair of classes or none.
_SIZE, _PAIRS = 8 * _CLASSES, 8 * (_CLASSES + 1) ** 2
LANES_SIZE = 3 * _SIZE + _PAIRS
TILE_SIZE = _FEATURES * FEW_ROWS + OVERREAD


class Lanes(NamedTuple):
    """Scratch: sums in lanes, and a tile.

    shift, s1, s2 (4, 8): of each class, what each lane takes off and adds up. values (5, 5, 8):
    [b, c] is b in the first four lanes and c in the others. pairs (128,): which of these has the
    classes of a vector's rows. tile: column-major rows, by rows.
    """

    shift: Any
    s1: Any
    s2: Any
    values: Any
    pairs: Any
    tile: Any


@jitable
def has_few(k, d):
    """Whether rows of so many classes and features are added in this way."""
    return 1 < k <= _CLASSES and d <= _FEATURES


@llvm_inlined
def carve_lanes(scratch, pairs, tile):
    """The parts of scratch of LANES_SIZE numbers, FEW_ROWS int32 and TILE_SIZE numbers."""
    values = shifted(scratch, 3 * _SIZE)
    for p in range(_PAIRS):
        values[p] = p // 40 if p % 8 < 4 else p // 8 % 5
    return Lanes(scratch, shifted(scratch, _SIZE), shifted(scratch, 2 * _SIZE), values, pairs, tile)


@llvm_inlined
def _width(d):
    """Lanes that a row takes."""
    return 4 if d == 4 else 8


@llvm_inlined
def _set_shifts(block, lanes):
    """Take the shifts of the block into lanes."""
    width = _width(block.d)
    for c in range(block.k):
        for j in range(8):
            known = block.known[c] > 0.0 and j % width < block.d
            lanes.shift[8 * c + j] = block.shift[c * block.dp + j % width] if known else 0.0


# ------------------------------------------------------------------ rows in lanes


@llvm_inlined
def _add(x, y, shift, c, a, b):
    """Sums of z and z^2 with the lanes of x whose rows are of class c."""
    z = where_equal(y, c, x - shift, splat(0.0))
    return a + z, b + z * z


@llvm_inlined
def _join(lanes, c, a, b):
    at = 8 * c
    store(lanes.s1, at, load(lanes.s1, at) + a)
    store(lanes.s2, at, load(lanes.s2, at) + b)


@jit_helper
def _add_two(data, at, step, size, c, lanes):
    """Add `size` vectors, `step` elements apart, to classes c and c + 1.

    Even and odd ones are summed apart: an addition need not wait for the one before it.
    """
    values, pairs = lanes.values, lanes.pairs
    one, two = load(values, 48 * c), load(values, 48 * c + 48)
    m1, m2 = load(lanes.shift, 8 * c), load(lanes.shift, 8 * c + 8)
    a1 = a2 = b1 = b2 = d1 = d2 = e1 = e2 = splat(0.0)
    for i in range(0, size - 1, 2):
        p = at + i * step
        prefetch(data, p + _AHEAD)
        prefetch(data, p + step + _AHEAD)
        u, v = load(data, p), load(data, p + step)
        f, g = load(values, 8 * pairs[i]), load(values, 8 * pairs[i + 1])
        a1, b1 = _add(u, f, m1, one, a1, b1)
        a2, b2 = _add(u, f, m2, two, a2, b2)
        d1, e1 = _add(v, g, m1, one, d1, e1)
        d2, e2 = _add(v, g, m2, two, d2, e2)
    if size % 2 == 1:
        u, f = load(data, at + (size - 1) * step), load(values, 8 * pairs[size - 1])
        a1, b1 = _add(u, f, m1, one, a1, b1)
        a2, b2 = _add(u, f, m2, two, a2, b2)
    _join(lanes, c, a1 + d1, b1 + e1)
    _join(lanes, c + 1, a2 + d2, b2 + e2)


@jit_helper
def _add_three(data, at, step, size, lanes):
    """As `_add_two`, to three classes."""
    values, pairs, shift = lanes.values, lanes.pairs, lanes.shift
    one, two, three = load(values, 0), load(values, 48), load(values, 96)
    m1, m2, m3 = load(shift, 0), load(shift, 8), load(shift, 16)
    a1 = a2 = a3 = b1 = b2 = b3 = splat(0.0)
    for i in range(size):
        p = at + i * step
        prefetch(data, p + _AHEAD)
        u, f = load(data, p), load(values, 8 * pairs[i])
        a1, b1 = _add(u, f, m1, one, a1, b1)
        a2, b2 = _add(u, f, m2, two, a2, b2)
        a3, b3 = _add(u, f, m3, three, a3, b3)
    _join(lanes, 0, a1, b1)
    _join(lanes, 1, a2, b2)
    _join(lanes, 2, a3, b3)


# ------------------------------------------------------------------ tiles


@llvm_inlined
def _note_classes(y, m, width, lanes, block):
    """Count the rows of each class, and note the classes of each vector's rows."""
    for c in range(block.k):
        count = 0
        for i in range(m):
            count += y[i] == c
        block.n[c * block.dp] += count
    pairs = lanes.pairs
    if width == 8:
        for i in range(m):
            pairs[i] = 6 * y[i]
        return
    for i in range(m // 2):
        pairs[i] = 5 * y[2 * i] + y[2 * i + 1]
    if m % 2 == 1:
        pairs[m // 2] = 5 * y[m - 1] + _CLASSES


@llvm_inlined
def _start(lanes, block):
    """Begin to sum around the shifts of the block, as far as there are."""
    for p in range(0, 2 * _SIZE, 8):
        store(lanes.s1, p, splat(0.0))
    _set_shifts(block, lanes)


@llvm_inlined
def _join_block(lanes, block):
    """Add the sums in lanes to those of the block."""
    d, dp = block.d, block.dp
    for c in range(block.k):
        for lane in range(8):
            j = lane % _width(d)
            if j < d:
                block.s1[c * dp + j] += lanes.s1[8 * c + lane]
                block.s2[c * dp + j] += lanes.s2[8 * c + lane]


@never_inlined
def add_few(source, start, stop, codes, offset, lanes, block):
    """Add rows start to stop to the sums of a block; row i has code i + offset."""
    d = source.d
    width = _width(d)
    _start(lanes, block)
    is_known = all_known(block)
    for at in range(start, stop, FEW_ROWS):
        m = min(FEW_ROWS, stop - at)
        y = codes_of_tile(codes, at + offset, m)
        fetch_codes(codes, at + offset + _AHEAD, m)
        if not is_known and note_shifts(source, at, at + m, codes, offset, block):
            _set_shifts(block, lanes)
            is_known = all_known(block)
        _note_classes(y, m, width, lanes, block)
        size, step = (m * width + 7) // 8, d * 8 // width
        data, begin = source.data, at * d
        if source.by_columns:
            fill_panel(source, at, m, 0, d, d, lanes.tile)
            data, begin = lanes.tile, 0
        if block.k == 3:
            _add_three(data, begin, step, size, lanes)
        else:
            for c in range(0, block.k, 2):
                _add_two(data, begin, step, size, c, lanes)
    _join_block(lanes, block)
