"""Rows with weights or missing values into the sums of a block.

A class's shift and the sums of its last rows, its record, stand side by side, so that a row goes to
one place in memory.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._numba.decorators import jit_helper, llvm_inlined
from ..._numba.vectors import (
    aligned,
    first,
    load,
    shifted,
    splat,
    store,
    where_number,
)
from .shifted_sums import RUN

# Rows of one tile.
TILE = 64


class Records(NamedTuple):
    """Scratch of a block.

    records (k, 4 dp): of each class the shift and the sums of its last rows: w z, w z^2, and w.
    runs (k,): the number of these rows. tile (64, dp): rows copied from columns.
    """

    records: Any
    runs: Any
    tile: Any


@llvm_inlined
def records_size(k, dp):
    """How many numbers of scratch `Records` take."""
    return 4 * k * dp + TILE * dp + k + 8


@llvm_inlined
def carve_records(k, dp, scratch):
    """The parts of scratch, which is all zero."""
    records = aligned(scratch)
    tile = shifted(records, 4 * k * dp)
    return Records(records, shifted(tile, TILE * dp), tile)


@llvm_inlined
def start_records(block, held):
    """Begin to sum around the shifts."""
    for c in range(block.k):
        for j in range(0, block.dp, 8):
            store(held.records, 4 * c * block.dp + j, load(block.shift, c * block.dp + j))


@llvm_inlined
def flush(block, held, c):
    """Move the sums of a class's last rows into the block's."""
    dp, at = block.dp, c * block.dp
    record = shifted(held.records, 4 * at)
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
    held.runs[c] = 0.0


@llvm_inlined
def flush_all(block, held):
    """Move the sums of all classes' last rows into the block's."""
    for c in range(block.k):
        if held.runs[c] > 0.0:
            flush(block, held, c)


@llvm_inlined
def _add_weighted(x, w, record, j, dp):
    z = x - load(record, j)
    wz = w * z
    store(record, dp + j, load(record, dp + j) + wz)
    store(record, 2 * dp + j, load(record, 2 * dp + j) + wz * z)


@llvm_inlined
def _add_present(x, w, record, j, dp):
    """As `_add_weighted`, with NaN left out and the weights of the rest summed."""
    zero = splat(0.0)
    z = where_number(x, x - load(record, j), zero)
    wz = w * z
    store(record, dp + j, load(record, dp + j) + wz)
    store(record, 2 * dp + j, load(record, 2 * dp + j) + wz * z)
    store(record, 3 * dp + j, load(record, 3 * dp + j) + where_number(x, w, zero))


@jit_helper
def add_rows(tile, held, block):
    """Add the rows of a tile, without NaN where `skip` is set; weight 0 is not looked at."""
    data, at, width, dp = tile.data, tile.at, tile.width, block.dp
    last = width - width % 8
    for i in range(tile.m):
        w = tile.weight[i] if tile.has_weight else 1.0
        c = tile.codes[i]
        if w > 0.0:
            record = shifted(held.records, 4 * dp * c)
            ws = splat(w)
            if block.skip:
                for j in range(0, last, 8):
                    _add_present(load(data, at + j), ws, record, j, dp)
                if last < width:
                    x = first(width - last, load(data, at + last))
                    _add_present(x, ws, record, last, dp)
            else:
                for j in range(0, last, 8):
                    _add_weighted(load(data, at + j), ws, record, j, dp)
                if last < width:
                    x = first(width - last, load(data, at + last))
                    _add_weighted(x, ws, record, last, dp)
                record[3 * dp] += w
            held.runs[c] += 1.0
            if held.runs[c] == RUN:
                flush(block, held, c)
        at += tile.step
