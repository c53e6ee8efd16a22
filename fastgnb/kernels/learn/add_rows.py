"""Rows of a tile into the sums of a block: plain, of few classes, weighted or with missing values.

Flags: FMA contraction only.
"""

from __future__ import annotations

from ..._numba.decorators import ir_inlined, jit_helper, llvm_inlined
from ..._numba.vectors import (
    first,
    load,
    per_line,
    prefetch,
    shifted,
    splat,
    store,
    where_greater,
    where_number,
)
from .shifted_sums import FEW, RUN, flush


@llvm_inlined
def add_tile(tile, block):
    """Add the rows of a tile to the sums of a block."""
    if tile.has_weight or block.skip:
        _add_rows_weighted(tile, block)
    elif block.k <= FEW and block.dp == 8:
        _add_few(tile, block)
    else:
        _add_rows(tile, block)


# ------------------------------------------------------------------ plain rows


@llvm_inlined
def _add(x, record, j, dp):
    """Add features x (8,) of a row to the sums of z and z^2."""
    z = x - load(record, j)
    store(record, dp + j, load(record, dp + j) + z)
    store(record, 2 * dp + j, load(record, 2 * dp + j) + z * z)


@jit_helper
def _add_rows(tile, block):
    """Add rows of weight 1 without missing values."""
    data, at, step, width, dp = tile.data, tile.at, tile.step, tile.width, block.dp
    codes, ahead, records, runs = tile.codes, tile.ahead, block.records, block.runs
    body, tail = width - width % 8, width % 8
    for i in range(tile.m):
        c = codes[i]
        record = shifted(records, 4 * dp * c)
        for p in range(at + ahead, at + ahead + (width if ahead else 0), per_line(data)):
            prefetch(data, p)
        for j in range(0, body, 8):
            _add(load(data, at + j), record, j, dp)
        if tail > 0:
            _add(first(tail, load(data, at + body)), record, body, dp)
        at += step
        runs[c] += 1.0
        if runs[c] == RUN:
            record[3 * dp] = RUN
            flush(block, c)


# ------------------------------------------------------------------ few classes and features


@llvm_inlined
def _own(z, own, at):
    """z where the row is of this class, else 0."""
    zero = splat(0.0)
    return where_greater(load(own, at), zero, z, zero)


@llvm_inlined
def _gather(a, b, record, dp):
    """Add sums of z and z^2 to a class's record."""
    store(record, dp, load(record, dp) + a)
    store(record, 2 * dp, load(record, 2 * dp) + b)


@ir_inlined
def _add_one(tile, block):
    """As `_add_two`, for a class that is the only one."""
    at, one = tile.at, block.records
    m1 = load(one, 0)
    a1 = b1 = splat(0.0)
    for _ in range(tile.m):
        prefetch(tile.data, at + tile.ahead)
        z1 = first(tile.width, load(tile.data, at)) - m1
        a1, b1 = a1 + z1, b1 + z1 * z1
        at += tile.step
    _gather(a1, b1, one, block.dp)


@ir_inlined
def _add_two(tile, c, block):
    """Add the features, at most 8, of a tile's rows to classes c and c + 1, in registers.

    A row adds zero to the class that it does not belong to, which spares the way through memory
    from one row of a class to the next. Zero is chosen, not multiplied: the difference may
    overflow.
    """
    at, dp, own = tile.at, block.dp, shifted(block.own, 8 * c)
    one, two = shifted(block.records, 4 * dp * c), shifted(block.records, 4 * dp * (c + 1))
    m1, m2 = load(one, 0), load(two, 0)
    a1 = a2 = b1 = b2 = splat(0.0)
    for i in range(tile.m):
        prefetch(tile.data, at + tile.ahead)
        x = first(tile.width, load(tile.data, at))
        mine = tile.codes[i] * FEW * 8
        z1 = _own(x - m1, own, mine)
        z2 = _own(x - m2, own, mine + 8)
        a1, b1 = a1 + z1, b1 + z1 * z1
        a2, b2 = a2 + z2, b2 + z2 * z2
        at += tile.step
    _gather(a1, b1, one, dp)
    _gather(a2, b2, two, dp)


@ir_inlined
def _add_three(tile, c, block):
    """As `_add_two`, for the last three classes."""
    at, dp, own = tile.at, block.dp, shifted(block.own, 8 * c)
    one = shifted(block.records, 4 * dp * c)
    two, three = shifted(one, 4 * dp), shifted(one, 8 * dp)
    m1, m2, m3 = load(one, 0), load(two, 0), load(three, 0)
    a1 = a2 = a3 = b1 = b2 = b3 = splat(0.0)
    for i in range(tile.m):
        prefetch(tile.data, at + tile.ahead)
        x = first(tile.width, load(tile.data, at))
        mine = tile.codes[i] * FEW * 8
        z1 = _own(x - m1, own, mine)
        z2 = _own(x - m2, own, mine + 8)
        z3 = _own(x - m3, own, mine + 16)
        a1, b1 = a1 + z1, b1 + z1 * z1
        a2, b2 = a2 + z2, b2 + z2 * z2
        a3, b3 = a3 + z3, b3 + z3 * z3
        at += tile.step
    _gather(a1, b1, one, dp)
    _gather(a2, b2, two, dp)
    _gather(a3, b3, three, dp)


@jit_helper
def _add_few(tile, block):
    """As `_add_rows`, for few classes and features: two or three classes at a time."""
    for c in range(0, block.k - block.k % 2, 2):
        if c + 3 == block.k:
            _add_three(tile, c, block)
        else:
            _add_two(tile, c, block)
    if block.k == 1:
        _add_one(tile, block)
    for c in range(block.k):
        count = 0
        for i in range(tile.m):
            count += tile.codes[i] == c
        block.runs[c] += count
        if block.runs[c] >= RUN:
            block.records[(4 * c + 3) * block.dp] = block.runs[c]
            flush(block, c)


# ------------------------------------------------------------------ weights and missing values


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
def _add_rows_weighted(tile, block):
    """As `_add_rows`, with weights, and with `skip` NaN left out; weight 0 is not looked at."""
    data, at, width, dp = tile.data, tile.at, tile.width, block.dp
    last = width - width % 8
    for i in range(tile.m):
        w = tile.weight[i] if tile.has_weight else 1.0
        c = tile.codes[i]
        if w > 0.0:
            record = shifted(block.records, 4 * dp * c)
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
            block.runs[c] += 1.0
            if block.runs[c] == RUN:
                flush(block, c)
        at += tile.step
