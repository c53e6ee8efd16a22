"""Plain rows into the sums of a block, in the order in which they come: weight 1, none missing.

A class's shift and the sums of its last rows, its record, stand side by side, so that a row goes to
one place in memory. Rows are read in their order, which the processor fetches well ahead.

A row of the same class as one shortly before waits until that one's sums have been written, and the
processor guesses badly which rows these are. So rows take turns at two or four sets of records,
which fit into the first-level cache. Longer rows hide such waits, but column-major ones are added
sooner class by class.

Row-major rows are read where they are. Column-major ones are copied, some features of a few rows at
a time. Features do not mix: how many are taken at a time changes no bit.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._numba.decorators import jitable, llvm_inlined, never_inlined
from ..._numba.vectors import aligned, load, per_line, prefetch, shifted, splat, store
from ..rows import round_up
from .codes import codes_of_tile, fetch_codes
from .shifted_sums import RUN, all_known, note_shifts
from .tiles import fill_panel

# The most numbers of one class each, k dp, of records of four sets and of two, and the most
# features of a row.
_FOUR, _TWO = 128, 800
_SHORT_ROW = 32
# Numbers of a record for each vector of features.
_RECORD = 24
# Rows of a tile, whose codes stay in the first-level cache, of row-major and of column-major rows;
# both are multiples of four. The most features of a panel.
TILE, _ROWS = 128, 64
_WIDTH = 16
# Elements between rows that are read and rows that are fetched from memory; codes alike.
_AHEAD = 1024
# From how many classes on rows are counted one by one.
_COUNTED = 12


class Records(NamedTuple):
    """Scratch: `sets` records of each class, and a panel.

    records (sets, k, dp / 8, 3, 8): shift, sums of z and of z^2, by vectors of features. panel:
    some features of column-major rows, by rows.
    """

    sets: int
    records: Any
    panel: Any


@jitable
def n_sets(k, d):
    """Sets of records, by the numbers of classes and features alone; 0 where they are too many."""
    dp = round_up(d, 8)
    if dp > _SHORT_ROW or k * dp > _TWO:
        return 0
    return 4 if k * dp <= _FOUR else 2


@jitable
def records_size(k, d):
    """How many numbers of scratch records take."""
    return n_sets(k, d) * k * round_up(d, 8) // 8 * _RECORD + 8


@jitable
def panel_size(d, by_columns):
    """How many numbers of scratch a panel takes."""
    return _ROWS * min(_WIDTH, round_up(d, 8)) if by_columns else 0


@llvm_inlined
def carve_records(k, d, scratch, panel):
    """The parts of scratch."""
    return Records(n_sets(k, d), aligned(scratch), panel)


# ------------------------------------------------------------------ rows into records


@llvm_inlined
def _add(x, record, at):
    """Add eight features of a row to the sums of z and z^2."""
    z = x - load(record, at)
    store(record, at + 8, load(record, at + 8) + z)
    store(record, at + 16, load(record, at + 16) + z * z)


@never_inlined
def _add_rows(data, at, step, m, y, ahead, records, sets, k, dp, vectors):
    """Add some vectors of m rows, `step` elements apart, and fetch rows `ahead` elements on."""
    size, turned = dp // 8 * _RECORD, m - m % 4
    two = shifted(records, k * size)
    three = shifted(records, 2 * k * size if sets == 4 else 0)
    four = shifted(three, k * size)
    for i in range(0, turned, 4):
        p1 = at + i * step
        p2, p3 = p1 + step, p1 + 2 * step
        p4 = p2 + 2 * step
        for q in range(p1 + ahead, p1 + ahead + (4 * step if ahead else 0), per_line(data)):
            prefetch(data, q)
        r1, r2 = shifted(records, size * y[i]), shifted(two, size * y[i + 1])
        r3, r4 = shifted(three, size * y[i + 2]), shifted(four, size * y[i + 3])
        for v in range(vectors):
            j, r = 8 * v, _RECORD * v
            _add(load(data, p1 + j), r1, r)
            _add(load(data, p2 + j), r2, r)
            _add(load(data, p3 + j), r3, r)
            _add(load(data, p4 + j), r4, r)
    for i in range(turned, m):
        p, record = at + i * step, shifted(records, size * y[i])
        for v in range(vectors):
            _add(load(data, p + 8 * v), record, _RECORD * v)


# ------------------------------------------------------------------ runs of rows


@llvm_inlined
def _start(held, block):
    """Begin to sum around the shifts of the block."""
    n, zero = block.k * block.dp // 8, splat(0.0)
    for s in range(held.sets):
        for v in range(n):
            at = _RECORD * (s * n + v)
            store(held.records, at, load(block.shift, 8 * v))
            store(held.records, at + 8, zero)
            store(held.records, at + 16, zero)


@llvm_inlined
def _join(held, block):
    """Add the sums of a run to the block's."""
    n = block.k * block.dp // 8
    for s in range(held.sets):
        for v in range(n):
            at, to = _RECORD * (s * n + v), 8 * v
            store(block.s1, to, load(block.s1, to) + load(held.records, at + 8))
            store(block.s2, to, load(block.s2, to) + load(held.records, at + 16))


@llvm_inlined
def _count(y, m, block):
    """Count the rows of each class."""
    if block.k >= _COUNTED:
        for i in range(m):
            block.n[y[i] * block.dp] += 1.0
        return
    for c in range(block.k):
        count = 0
        for i in range(m):
            count += y[i] == c
        block.n[c * block.dp] += count


@llvm_inlined
def _add_columns(source, at, m, y, held, block):
    """Add column-major rows, panel by panel."""
    d, vectors, n_panels = source.d, block.dp // 8, -(-block.dp // _WIDTH)
    first = 0
    for panel in range(n_panels):
        last = vectors * (panel + 1) // n_panels
        j, wide = 8 * first, 8 * (last - first)
        fill_panel(source, at, m, j, min(wide, d - j), wide, held.panel)
        records = shifted(held.records, _RECORD * first)
        _add_rows(held.panel, 0, wide, m, y, 0, records, held.sets, block.k, block.dp, last - first)
        first = last


@llvm_inlined
def _add_tile(source, at, m, codes, offset, held, block):
    """Add rows at to at + m."""
    d, dp = source.d, block.dp
    y = codes_of_tile(codes, at + offset, m)
    fetch_codes(codes, at + offset + _AHEAD, m)
    _count(y, m, block)
    if source.by_columns:
        _add_columns(source, at, m, y, held, block)
    else:
        ahead, records = max(1, _AHEAD // d) * d, held.records
        _add_rows(source.data, at * d, d, m, y, ahead, records, held.sets, block.k, dp, dp // 8)


@never_inlined
def add_in_order(source, start, stop, codes, offset, held, block):
    """Add rows start to stop to the sums of a block; row i has code i + offset."""
    is_known = all_known(block)
    for run in range(start, stop, RUN):
        end = min(run + RUN, stop)
        if not is_known:
            note_shifts(source, run, end, codes, offset, block)
            is_known = all_known(block)
        _start(held, block)
        step = _ROWS if source.by_columns else TILE
        for at in range(run, end, step):
            _add_tile(source, at, min(step, end - at), codes, offset, held, block)
        _join(held, block)
