"""Plain rows into the sums of a block, class by class: weight 1, no missing values.

The rows of a tile are put in the order of their classes, by number, and each class's rows join its
sums in registers, up to 32 features at a time. So a class's sums are read and written once a tile,
and rows of one class never wait for each other's sums to pass through memory. Features do not mix:
how many are taken at a time changes no bit.

Row-major rows are read where they are. A tile that a core's caches hold is read in order first; of
a larger one, rows of the next tile are fetched from memory meanwhile. With many classes a tile is
so long that each class has rows in it, longer than the caches; then it is the next rows of the
class that are fetched. Column-major rows are copied, panel by panel.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._numba.decorators import jit_helper, jitable, llvm_inlined, never_inlined
from ..._numba.touches import touch
from ..._numba.vectors import load, per_line, prefetch_near, shifted, splat, store
from ..rows import element, round_up
from .codes import codes_of_tile, fetch_codes
from .shifted_sums import RUN
from .tiles import fill_panel

# Rows of a tile that stays, with the next one, in the second-level cache.
_SHORT = 512
# Classes from which on tiles are twice as long, and from which on they are long.
_HALF, _MANY = 64, 128
# Rows of a long tile: a class, and the most.
_A_CLASS, _LONGEST = 64, 1 << 16
# The most elements of a tile that is read in order first. It stays in the second-level cache, or in
# a core's share of the third.
_TOUCHED = 1 << 18
# Rows between those summed and those fetched, in a long tile.
_AHEAD = 64
# Vectors of features that are summed at a time; of columns it is one.
_WIDE = 4


class Order(NamedTuple):
    """Scratch: the rows of a tile by class, where each class ends, and which rows to fetch.

    rows (size + 64,) and ends (k + 1,): int32. counting (size,): 0, 1, 2, ... size: the rows of the
    longest tile. panel: room for some features of a tile's rows.
    """

    rows: Any
    ends: Any
    counting: Any
    panel: Any
    size: int


@jitable
def tile_rows(k):
    """Rows of a tile, by the number of classes alone."""
    if k < _MANY:
        return _SHORT if k < _HALF else 2 * _SHORT
    return min(_LONGEST, _A_CLASS * k)


@jitable
def order_size(k):
    """How many int32 of scratch an `Order` takes."""
    return 2 * tile_rows(k) + _AHEAD + k + 1


@jitable
def by_class_panel_size(k, by_columns):
    """How many numbers of scratch a panel takes."""
    return 8 * tile_rows(k) if by_columns else 0


@llvm_inlined
def carve_order(k, scratch, panel):
    """The parts of scratch of `order_size` numbers."""
    size = tile_rows(k)
    ends = shifted(scratch, size + _AHEAD)
    counting = shifted(ends, k + 1)
    for i in range(size):
        counting[i] = i
    return Order(scratch, ends, counting, panel, size)


@llvm_inlined
def _sort(codes, at, m, k, order):
    """Order rows at to at + m by class; ends[c] is where class c ends. Fetch the next codes."""
    rows, ends = order.rows, order.ends
    for c in range(k + 1):
        ends[c] = 0
    y = codes_of_tile(codes, at, m)
    fetch_codes(codes, at + m, order.size)
    for i in range(m):
        ends[y[i] + 1] += 1
    for c in range(k):
        ends[c + 1] += ends[c]
    for i in range(m):
        c = y[i]
        rows[ends[c]] = i
        ends[c] += 1
    for i in range(m, m + _AHEAD if k >= _MANY else m):
        rows[i] = rows[m - 1]


@llvm_inlined
def _note_classes(source, at, order, block):
    """Count the rows of each class of a tile; the first row of a class is its shift."""
    begin, dp = 0, block.dp
    for c in range(block.k):
        end = order.ends[c]
        if end > begin:
            block.n[c * dp] += end - begin
            if block.known[c] == 0.0:
                block.known[c] = 1.0
                for j in range(block.d):
                    block.shift[c * dp + j] = element(source, at + order.rows[begin], j)
        begin = end


# ------------------------------------------------------------------ rows of one class


class _Rows(NamedTuple):
    """Rows of some features: row i begins at data[at + rows[i] step].

    Where `fetches` is set, what is fetched from memory meanwhile begins at
    data[ahead + fetched[i] step].
    """

    data: Any
    at: int
    step: int
    rows: Any
    fetches: bool
    ahead: int
    fetched: Any


@llvm_inlined
def _start(x, i):
    return x.at + x.rows[i] * x.step


@llvm_inlined
def _fetch(x, i, size):
    if x.fetches:
        p = x.ahead + x.fetched[i] * x.step
        for q in range(0, size, per_line(x.data)):
            prefetch_near(x.data, p + q)


@llvm_inlined
def _add(x, shift, a, b):
    """The sums of z and z^2 with one more row."""
    z = x - shift
    return a + z, b + z * z


@llvm_inlined
def _join(block, at, a, b):
    store(block.s1, at, load(block.s1, at) + a)
    store(block.s2, at, load(block.s2, at) + b)


@llvm_inlined
def _sum_four(x, begin, end, at, block):
    """Add 32 features of rows begin to end, which are of one class, to its sums.

    Even and odd rows are summed apart: an addition need not wait for the one before it.
    """
    data = x.data
    m1, m2 = load(block.shift, at), load(block.shift, at + 8)
    m3, m4 = load(block.shift, at + 16), load(block.shift, at + 24)
    a1 = a2 = a3 = a4 = b1 = b2 = b3 = b4 = splat(0.0)
    c1 = c2 = c3 = c4 = d1 = d2 = d3 = d4 = splat(0.0)
    for i in range(begin, end - 1, 2):
        p, q = _start(x, i), _start(x, i + 1)
        _fetch(x, i, 32)
        _fetch(x, i + 1, 32)
        a1, b1 = _add(load(data, p), m1, a1, b1)
        a2, b2 = _add(load(data, p + 8), m2, a2, b2)
        a3, b3 = _add(load(data, p + 16), m3, a3, b3)
        a4, b4 = _add(load(data, p + 24), m4, a4, b4)
        c1, d1 = _add(load(data, q), m1, c1, d1)
        c2, d2 = _add(load(data, q + 8), m2, c2, d2)
        c3, d3 = _add(load(data, q + 16), m3, c3, d3)
        c4, d4 = _add(load(data, q + 24), m4, c4, d4)
    if (end - begin) % 2 == 1:
        p = _start(x, end - 1)
        _fetch(x, end - 1, 32)
        a1, b1 = _add(load(data, p), m1, a1, b1)
        a2, b2 = _add(load(data, p + 8), m2, a2, b2)
        a3, b3 = _add(load(data, p + 16), m3, a3, b3)
        a4, b4 = _add(load(data, p + 24), m4, a4, b4)
    _join(block, at, a1 + c1, b1 + d1)
    _join(block, at + 8, a2 + c2, b2 + d2)
    _join(block, at + 16, a3 + c3, b3 + d3)
    _join(block, at + 24, a4 + c4, b4 + d4)


@llvm_inlined
def _sum_three(x, begin, end, at, block):
    """As `_sum_four`, of 24 features."""
    data = x.data
    m1, m2, m3 = load(block.shift, at), load(block.shift, at + 8), load(block.shift, at + 16)
    a1 = a2 = a3 = b1 = b2 = b3 = c1 = c2 = c3 = d1 = d2 = d3 = splat(0.0)
    for i in range(begin, end - 1, 2):
        p, q = _start(x, i), _start(x, i + 1)
        _fetch(x, i, 24)
        _fetch(x, i + 1, 24)
        a1, b1 = _add(load(data, p), m1, a1, b1)
        a2, b2 = _add(load(data, p + 8), m2, a2, b2)
        a3, b3 = _add(load(data, p + 16), m3, a3, b3)
        c1, d1 = _add(load(data, q), m1, c1, d1)
        c2, d2 = _add(load(data, q + 8), m2, c2, d2)
        c3, d3 = _add(load(data, q + 16), m3, c3, d3)
    if (end - begin) % 2 == 1:
        p = _start(x, end - 1)
        _fetch(x, end - 1, 24)
        a1, b1 = _add(load(data, p), m1, a1, b1)
        a2, b2 = _add(load(data, p + 8), m2, a2, b2)
        a3, b3 = _add(load(data, p + 16), m3, a3, b3)
    _join(block, at, a1 + c1, b1 + d1)
    _join(block, at + 8, a2 + c2, b2 + d2)
    _join(block, at + 16, a3 + c3, b3 + d3)


@llvm_inlined
def _sum_two(x, begin, end, at, block):
    """As `_sum_four`, of 16 features."""
    data = x.data
    m1, m2 = load(block.shift, at), load(block.shift, at + 8)
    a1 = a2 = b1 = b2 = c1 = c2 = d1 = d2 = splat(0.0)
    for i in range(begin, end - 1, 2):
        p, q = _start(x, i), _start(x, i + 1)
        _fetch(x, i, 16)
        _fetch(x, i + 1, 16)
        a1, b1 = _add(load(data, p), m1, a1, b1)
        a2, b2 = _add(load(data, p + 8), m2, a2, b2)
        c1, d1 = _add(load(data, q), m1, c1, d1)
        c2, d2 = _add(load(data, q + 8), m2, c2, d2)
    if (end - begin) % 2 == 1:
        p = _start(x, end - 1)
        _fetch(x, end - 1, 16)
        a1, b1 = _add(load(data, p), m1, a1, b1)
        a2, b2 = _add(load(data, p + 8), m2, a2, b2)
    _join(block, at, a1 + c1, b1 + d1)
    _join(block, at + 8, a2 + c2, b2 + d2)


@llvm_inlined
def _sum_one(x, begin, end, at, block):
    """As `_sum_four`, of 8 features."""
    data = x.data
    m1 = load(block.shift, at)
    a1 = b1 = c1 = d1 = splat(0.0)
    for i in range(begin, end - 1, 2):
        _fetch(x, i, 8)
        _fetch(x, i + 1, 8)
        a1, b1 = _add(load(data, _start(x, i)), m1, a1, b1)
        c1, d1 = _add(load(data, _start(x, i + 1)), m1, c1, d1)
    if (end - begin) % 2 == 1:
        _fetch(x, end - 1, 8)
        a1, b1 = _add(load(data, _start(x, end - 1)), m1, a1, b1)
    _join(block, at, a1 + c1, b1 + d1)


@jit_helper
def _sum_panel(x, j, vectors, order, block):
    """Add 8 `vectors` features from j on of a tile's rows to the sums of their classes.

    RUN rows of a class, even or odd ones, are summed plainly before they join the block's sums.
    """
    begin = 0
    for c in range(block.k):
        at, last = c * block.dp + j, order.ends[c]
        while begin < last:
            end = min(last, begin + 2 * RUN)
            if vectors == 4:
                _sum_four(x, begin, end, at, block)
            elif vectors == 3:
                _sum_three(x, begin, end, at, block)
            elif vectors == 2:
                _sum_two(x, begin, end, at, block)
            else:
                _sum_one(x, begin, end, at, block)
            begin = end


# ------------------------------------------------------------------ tiles


@llvm_inlined
def _is_touched(source, m):
    return not source.by_columns and m * source.d < _TOUCHED


@llvm_inlined
def _touch_tile(source, at, m):
    """Read a tile in order, which the processor fetches well ahead.

    Rows that come from memory one by one, in the order of their classes, take twice as long.
    """
    data, d = source.data, source.d
    for p in range(at * d, (at + m) * d, per_line(data)):
        touch(data, p)


@llvm_inlined
def _add_tile(source, at, m, order, block):
    """Add rows at to at + m, which are in order, panel by panel."""
    d, is_long, vectors = source.d, block.k >= _MANY, block.dp // 8
    widest = 1 if source.by_columns else _WIDE
    n_panels = -(-vectors // widest)
    first = 0
    for panel in range(n_panels):
        last = vectors * (panel + 1) // n_panels
        j, wide = 8 * first, last - first
        if source.by_columns:
            fill_panel(source, at, m, j, min(8 * wide, d - j), 8 * wide, order.panel)
            x = _Rows(order.panel, 0, 8 * wide, order.rows, False, 0, order.rows)
        elif is_long:
            begin = at * d + j
            x = _Rows(source.data, begin, d, order.rows, True, begin, shifted(order.rows, _AHEAD))
        else:
            begin = at * d + j
            fetches = not _is_touched(source, m)
            x = _Rows(source.data, begin, d, order.rows, fetches, begin + m * d, order.counting)
        _sum_panel(x, j, wide, order, block)
        first = last


@never_inlined
def add_by_class(source, start, stop, codes, offset, order, block):
    """Add rows start to stop to the sums of a block; row i has code i + offset.

    Tiles are of one length, as near as may be: each fetches as many rows as it has.
    """
    n_tiles = -(-(stop - start) // order.size)
    size = round_up(-(-(stop - start) // max(1, n_tiles)), 8)
    for at in range(start, stop, max(1, size)):
        m = min(size, stop - at)
        _sort(codes, at + offset, m, block.k, order)
        if _is_touched(source, m):
            _touch_tile(source, at, m)
        _note_classes(source, at, order, block)
        _add_tile(source, at, m, order, block)
