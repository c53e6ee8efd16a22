"""Blocks of plain rows, weight 1 and none missing: one kernel for each way to sum them.

The numbers of classes and features alone choose the way, so that bits do not depend on layout, type
or threads, and only the kernel in need is compiled:

    few_classes.py    two to four classes of at most eight features
    in_order.py       so few classes and features that all sums stay in the first-level cache
    by_class.py       more than that

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np

from ..._numba.decorators import kernel, llvm_inlined
from ..._numba.threads import Kernel
from ..._numba.vectors import keep, pointer, shifted
from ..rows import Rows, padded_tail, round_up
from .by_class import add_by_class, by_class_panel_size, carve_order, order_size, tile_rows
from .codes import codes_of
from .few_classes import FEW_ROWS, LANES_SIZE, TILE_SIZE, add_few, carve_lanes, has_few
from .in_order import TILE, add_in_order, carve_records, n_sets, panel_size, records_size
from .shifted_sums import TRIES, carve, clear, is_poor, recentre


@llvm_inlined
def _sum_each(add, held, first, last, source, copy, codes, known, bounds, states):
    """Sum blocks first to last, where `add` adds rows to a block's sums.

    The last `source.tail` rows are read from a padded copy.
    """
    n, d, k = source.n, source.d, source.k
    data, padded = pointer(source.data), pointer(copy)
    tail = n - source.tail if last == len(states) else n
    for b in range(first, last):
        for c in range(k):
            known[c] = 0.0
        block = carve(k, d, False, shifted(pointer(states), b * states.shape[1]), pointer(known))
        start, stop = bounds[b], bounds[b + 1]
        mid = min(stop, max(start, tail))
        for attempt in range(TRIES):
            clear(block)
            # One call, which is inlined once.
            for part in range(2):
                lo, hi, at = (mid, stop, tail) if part else (start, mid, 0)
                rows = Rows(padded if part else data, source.by_columns and part == 0, n - at, d)
                add(rows, lo - at, hi - at, codes, at, held, block)
            if attempt == TRIES - 1 or not is_poor(block):
                break
            recentre(block)


@llvm_inlined
def _tail_of(source, last, states):
    """A padded copy of the last rows, which only the last block reaches."""
    left = source.tail if last == len(states) else 0
    return padded_tail(source, left, round_up(left, 8))


@kernel(variants=2)
def _sum_few(first, last, source, labels, weight, bounds, states):
    """Sum blocks first to last, which begin at `bounds`, into states (blocks, 4 k dp)."""
    copy = _tail_of(source, last, states)
    known, lanes = np.empty(source.k), np.empty(LANES_SIZE)
    pairs, tile_codes = np.empty(FEW_ROWS, np.int32), np.empty(FEW_ROWS, np.int32)
    tile = np.empty(TILE_SIZE, source.data.dtype)
    held = carve_lanes(pointer(lanes), pointer(pairs), pointer(tile))
    codes = codes_of(labels, tile_codes)
    _sum_each(add_few, held, first, last, source, copy, codes, known, bounds, states)
    keep(copy)
    keep(known)
    keep(lanes)
    keep(pairs)
    keep(tile)
    keep(tile_codes)


@kernel(variants=2)
def _sum_in_order(first, last, source, labels, weight, bounds, states):
    """As `_sum_few`, of rows in their order."""
    copy, k, d = _tail_of(source, last, states), source.k, source.d
    known, records = np.empty(k), np.empty(records_size(k, d))
    tile_codes = np.empty(TILE, np.int32)
    panel = np.empty(panel_size(d, source.by_columns), source.data.dtype)
    held = carve_records(k, d, pointer(records), pointer(panel))
    codes = codes_of(labels, tile_codes)
    _sum_each(add_in_order, held, first, last, source, copy, codes, known, bounds, states)
    keep(copy)
    keep(known)
    keep(records)
    keep(panel)
    keep(tile_codes)


@kernel(variants=2)
def _sum_by_class(first, last, source, labels, weight, bounds, states):
    """As `_sum_few`, of rows in the order of their classes."""
    copy, k = _tail_of(source, last, states), source.k
    known, order = np.empty(k), np.empty(order_size(k), np.int32)
    tile_codes = np.empty(tile_rows(k), np.int32)
    panel = np.empty(by_class_panel_size(k, source.by_columns), source.data.dtype)
    held = carve_order(k, pointer(order), pointer(panel))
    codes = codes_of(labels, tile_codes)
    _sum_each(add_by_class, held, first, last, source, copy, codes, known, bounds, states)
    keep(copy)
    keep(known)
    keep(order)
    keep(panel)
    keep(tile_codes)


def plain_kernel(k: int, d: int) -> Kernel:
    """The kernel that sums rows of so many classes and features."""
    if has_few(k, d):
        return _sum_few
    return _sum_in_order if n_sets(k, d) else _sum_by_class


def same_order(few: int, k: int, d: int) -> bool:
    """Whether rows of `few` classes are added in the same order if k classes may occur."""
    if few == k:
        return True
    if has_few(few, d) or has_few(k, d) or n_sets(few, d) != n_sets(k, d):
        return False
    return bool(n_sets(k, d) or tile_rows(few) == tile_rows(k))
