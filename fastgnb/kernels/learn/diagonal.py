"""Rows to per-class weight, mean and scatter in one read.

Rows are cut into blocks by the shape of the data. Each block sums w z and w z^2 of the deviations
z = x - shift, where the shift of a class is close to its mean, so that nothing cancels, and blocks
are merged in order by the update of Chan, Golub and LeVeque (1983), with the mean kept as an
unevaluated sum of two float64 numbers.

A class's shift and sums stand side by side, so that a row goes to one place in memory. Features
are padded to a multiple of eight by zeros, which add exactly nothing.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import (
    ir_inlined,
    jit_helper,
    kernel,
    llvm_inlined,
    readonly,
    serial_kernel,
    warmup_call,
)
from ..._numba.transposes import transpose
from ..._numba.vectors import (
    aligned,
    first,
    keep,
    load,
    per_line,
    pointer,
    prefetch,
    shifted,
    splat,
    store,
    where_greater,
    where_number,
)
from ..chunks import block_bounds, contiguous_chunks, padded_tail
from ..rows import OVERREAD, Rows, element
from .encode import EncodedLabels
from .merge import difference, two_sum

# Rows of one class that are summed plainly before they join the block's sums: bounds the error of
# plain summation, whatever the number of classes and rows.
_RUN = 512
# Rows of one tile: of what is copied from columns, or read once for every pair of classes.
_TILE = 64
# Up to this many classes, and eight features, a row is added to all classes: zero times to those
# that are not its own.
_FEW = 4
# Elements, rounded to rows, between those read and those fetched from memory.
_AHEAD = 1024
# Rows that blocks are made of, so that eight rows are never cut by a block's end.
_UNIT = 8
# Blocks that are summed before they are merged, and the most rows of one of so many: sums of 512
# runs of 512 rows keep 13 digits even where every rounding errs to one side.
_BLOCKS = 128
_LONGEST = 1 << 18
# A block is summed again, around its own mean, when the square of the sum eats more than this
# share of the sum of squares; each time brings the shift closer, and four times is enough for any
# weights and outliers that float64 holds.
_POOR = 0.97
_TRIES = 4


class Sums(NamedTuple):
    """What one pass over rows leaves. Shapes: (k, 1) or (k, d) for weight, (k, d) for the rest."""

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_low: NDArray[np.float64]
    scatter: NDArray[np.float64]


class Block(NamedTuple):
    """What a block of rows gathers of k classes and d features, which are padded to `dp`.

    shift, s1, s2, n and known (k, dp): shift and sums of each class, and whether it has a shift;
    without `skip` n and known are meant for whole classes, in column 0. records (k, 4 dp): of each
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


class Codes(NamedTuple):
    """Pointers to what `EncodedLabels` holds, and scratch for the codes of a tile (64,)."""

    has_lookup: bool
    values: Any
    offset: int
    lookup: Any
    stored: Any
    scratch: Any


@llvm_inlined
def _code(codes, i):
    if codes.has_lookup:
        return codes.lookup[codes.values[i] - codes.offset]
    return codes.stored[i]


@llvm_inlined
def _codes_of_tile(codes, at, m):
    """A pointer to the codes of rows at to at + m."""
    if codes.has_lookup:
        for i in range(m):
            codes.scratch[i] = codes.lookup[codes.values[at + i] - codes.offset]
        return codes.scratch
    return shifted(codes.stored, at)


@llvm_inlined
def _padded(width):
    return (width + 7) // 8 * 8


@llvm_inlined
def _size_of_scratch(k, dp):
    return 5 * k * dp + _TILE * dp + 8 * _FEW * _FEW + k + 8


@ir_inlined
def _block(k, d, skip, state, scratch):
    """The parts of 4 k dp and of `_size_of_scratch` numbers, which are all zero."""
    dp = _padded(d)
    size = k * dp
    records = aligned(scratch)
    tile = shifted(records, 4 * size)
    own = shifted(tile, _TILE * dp)
    runs = shifted(own, 8 * _FEW * _FEW)
    for c in range(_FEW):
        store(own, 8 * (_FEW + 1) * c, splat(1.0))
    return Block(
        k, d, dp, skip,
        state, shifted(state, size), shifted(state, 2 * size), shifted(state, 3 * size),
        shifted(runs, k), records, runs, tile, own,
    )  # fmt: skip


@llvm_inlined
def _add(x, record, j, dp):
    """Add features x (8,) of a row to the sums of z and z^2."""
    z = x - load(record, j)
    store(record, dp + j, load(record, dp + j) + z)
    store(record, 2 * dp + j, load(record, 2 * dp + j) + z * z)


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


@llvm_inlined
def _flush(block, c):
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


@jit_helper
def _add_rows(X, at, step, width, m, codes, ahead, block):
    """Add m rows of weight 1 without missing values, `step` apart, from X[at] on."""
    whole, tail, dp = width - width % 8, width % 8, block.dp
    for i in range(m):
        c = codes[i]
        record = shifted(block.records, 4 * dp * c)
        for p in range(at + ahead, at + ahead + (width if ahead else 0), per_line(X)):
            prefetch(X, p)
        for j in range(0, whole, 8):
            _add(load(X, at + j), record, j, dp)
        if tail > 0:
            _add(first(tail, load(X, at + whole)), record, whole, dp)
        at += step
        block.runs[c] += 1.0
        if block.runs[c] == _RUN:
            record[3 * dp] = _RUN
            _flush(block, c)


@llvm_inlined
def _own(z, own, at):
    """z where the row is of this class, else 0."""
    zero = splat(0.0)
    return where_greater(load(own, at), zero, z, zero)


@ir_inlined
def _add_pair(X, at, step, width, m, codes, c, ahead, block):
    """Add the features, at most 8, of a tile's rows to classes c and c + 1, in registers.

    A row adds zero to the class that is not its own, which spares the way through memory from
    one row of a class to the next. Zero is chosen, not multiplied: the difference may overflow.
    """
    dp, own = block.dp, shifted(block.own, 8 * c)
    one, two = shifted(block.records, 4 * dp * c), shifted(block.records, 4 * dp * (c + 1))
    m1, m2 = load(one, 0), load(two, 0)
    a1 = a2 = b1 = b2 = splat(0.0)
    for i in range(m):
        prefetch(X, at + ahead)
        x = first(width, load(X, at))
        mine = codes[i] * _FEW * 8
        z1 = _own(x - m1, own, mine)
        z2 = _own(x - m2, own, mine + 8)
        a1, b1 = a1 + z1, b1 + z1 * z1
        a2, b2 = a2 + z2, b2 + z2 * z2
        at += step
    _gather(a1, b1, one, dp)
    _gather(a2, b2, two, dp)


@ir_inlined
def _add_one(X, at, step, width, m, ahead, block):
    """As `_add_pair`, for a class that is the only one."""
    dp, one = block.dp, block.records
    m1 = load(one, 0)
    a1 = b1 = splat(0.0)
    for _ in range(m):
        prefetch(X, at + ahead)
        z1 = first(width, load(X, at)) - m1
        a1, b1 = a1 + z1, b1 + z1 * z1
        at += step
    _gather(a1, b1, one, dp)


@ir_inlined
def _add_three(X, at, step, width, m, codes, c, ahead, block):
    """As `_add_pair`, for the last three classes."""
    dp, own = block.dp, shifted(block.own, 8 * c)
    one = shifted(block.records, 4 * dp * c)
    two, three = shifted(one, 4 * dp), shifted(one, 8 * dp)
    m1, m2, m3 = load(one, 0), load(two, 0), load(three, 0)
    a1 = a2 = a3 = b1 = b2 = b3 = splat(0.0)
    for i in range(m):
        prefetch(X, at + ahead)
        x = first(width, load(X, at))
        mine = codes[i] * _FEW * 8
        z1 = _own(x - m1, own, mine)
        z2 = _own(x - m2, own, mine + 8)
        z3 = _own(x - m3, own, mine + 16)
        a1, b1 = a1 + z1, b1 + z1 * z1
        a2, b2 = a2 + z2, b2 + z2 * z2
        a3, b3 = a3 + z3, b3 + z3 * z3
        at += step
    _gather(a1, b1, one, dp)
    _gather(a2, b2, two, dp)
    _gather(a3, b3, three, dp)


@llvm_inlined
def _gather(a, b, record, dp):
    """Add sums of z and z^2 to a class's record."""
    store(record, dp, load(record, dp) + a)
    store(record, 2 * dp, load(record, 2 * dp) + b)


@jit_helper
def _add_few(X, at, step, width, m, codes, ahead, block):
    """As `_add_rows`, for few classes and features: two or three classes at a time."""
    for c in range(0, block.k - block.k % 2, 2):
        if c + 3 == block.k:
            _add_three(X, at, step, width, m, codes, c, ahead, block)
        else:
            _add_pair(X, at, step, width, m, codes, c, ahead, block)
    if block.k == 1:
        _add_one(X, at, step, width, m, ahead, block)
    for c in range(block.k):
        count = 0
        for i in range(m):
            count += codes[i] == c
        block.runs[c] += count
        if block.runs[c] >= _RUN:
            block.records[(4 * c + 3) * block.dp] = block.runs[c]
            _flush(block, c)


@jit_helper
def _add_rows_weighted(X, at, step, width, m, codes, has_weight, weight, block):
    """As `_add_rows`, with weights, and with `skip` NaN left out; weight 0 is not looked at."""
    whole, tail, dp = width - width % 8, width % 8, block.dp
    for i in range(m):
        w = weight[i] if has_weight else 1.0
        c = codes[i]
        if w > 0.0:
            record = shifted(block.records, 4 * dp * c)
            ws = splat(w)
            if block.skip:
                for j in range(0, whole, 8):
                    _add_present(load(X, at + j), ws, record, j, dp)
                if tail > 0:
                    _add_present(first(tail, load(X, at + whole)), ws, record, whole, dp)
            else:
                for j in range(0, whole, 8):
                    _add_weighted(load(X, at + j), ws, record, j, dp)
                if tail > 0:
                    _add_weighted(first(tail, load(X, at + whole)), ws, record, whole, dp)
                record[3 * dp] += w
            block.runs[c] += 1.0
            if block.runs[c] == _RUN:
                _flush(block, c)
        at += step


@llvm_inlined
def _add_some(X, at, step, width, m, codes, has_weight, weight, ahead, block):
    if has_weight or block.skip:
        _add_rows_weighted(X, at, step, width, m, codes, has_weight, weight, block)
    elif block.k <= _FEW and block.dp == 8:
        _add_few(X, at, step, width, m, codes, ahead, block)
    else:
        _add_rows(X, at, step, width, m, codes, ahead, block)


@llvm_inlined
def _fill_tile(rows, i, m, block):
    """Copy m rows from i on, a number divisible by eight, from columns into the tile (m, dp)."""
    n, d, dp = rows.n, rows.d, block.dp
    for j in range(0, d, 8):
        for r in range(0, m, 8):
            for q in range(j, min(j + 8, d)):
                prefetch(rows.data, q * n + i + r + 2 * _TILE)
            if d >= 8:
                # The last eight overlap those before, where d is not divisible by eight.
                f = min(j, d - 8)
                transpose(rows.data, f * n + i + r, n, block.tile, r * dp + f, dp)
    for j in range(d if d < 8 else 0):
        for r in range(m):
            block.tile[r * dp + j] = rows.data[j * n + i + r]


@ir_inlined
def _add_range(rows, start, stop, codes, has_weight, weight, off, block):
    """Add rows start to stop; row i has code and weight i + off."""
    ahead = max(1, _AHEAD // rows.d) * rows.d
    for i in range(start, stop, _TILE):
        m = min(_TILE, stop - i)
        y = _codes_of_tile(codes, i + off, m)
        w = shifted(weight, i + off if has_weight else 0)
        if rows.by_columns:
            _fill_tile(rows, i, m, block)
            _add_some(block.tile, 0, block.dp, block.dp, m, y, has_weight, w, 0, block)
        else:
            _add_some(rows.data, i * rows.d, rows.d, rows.d, m, y, has_weight, w, ahead, block)


@ir_inlined
def _add_all(rows, rest, start, stop, codes, has_weight, weight, block):
    """Sums of rows start to stop, of which those from rows.n on are the rows of `rest`."""
    size = block.k * block.dp
    for p in range(0, size, 8):
        store(block.s1, p, splat(0.0))
        store(block.s2, p, splat(0.0))
        store(block.n, p, splat(0.0))
    for c in range(block.k):
        for j in range(0, block.dp, 8):
            store(block.records, 4 * c * block.dp + j, load(block.shift, c * block.dp + j))
    mid = min(stop, max(start, rows.n - rest.n))
    for behind in range(2):
        lo, hi = (mid, stop) if behind else (start, mid)
        off = rows.n - rest.n if behind else 0
        source = rest if behind else rows
        _add_range(source, lo - off, hi - off, codes, has_weight, weight, off, block)
    for c in range(block.k):
        if block.runs[c] > 0.0:
            if not (has_weight or block.skip):
                block.records[(4 * c + 3) * block.dp] = block.runs[c]
            _flush(block, c)


@llvm_inlined
def _first_rows(rows, start, stop, codes, has_weight, weight, block):
    """Set the shift of each class to its first row, or its first values, among start to stop."""
    width, dp, known = block.d, block.dp, block.known
    unknown = block.k * (width if block.skip else 1)
    for i in range(start, stop):
        if unknown == 0:
            break
        if has_weight and weight[i] == 0.0:
            continue
        p = _code(codes, i) * dp
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
def _is_poor(block):
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
def _recentre(block):
    """Move each shift to the mean that the sums show."""
    for c in range(block.k):
        for j in range(block.d):
            p = c * block.dp + j
            w = block.n[p if block.skip else c * block.dp]
            if w > 0.0:
                block.shift[p] += block.s1[p] / w


@ir_inlined
def _sum_block(rows, rest, start, stop, codes, has_weight, weight, block):
    """Sums of one block around shifts that are found, and mended, as the rows need it."""
    _first_rows(rows, start, stop, codes, has_weight, weight, block)
    for attempt in range(_TRIES):
        _add_all(rows, rest, start, stop, codes, has_weight, weight, block)
        if attempt == _TRIES - 1 or not _is_poor(block):
            break
        _recentre(block)


@jit_helper
def _merge(state, k, d, skip, weight, mean, low, scatter, lost):
    """Add a block's sums to the running statistics (Chan, Golub and LeVeque 1983)."""
    dp = _padded(d)
    size = k * dp
    for c in range(k):
        for j in range(d):
            p = c * dp + j
            nb = state[3 * size + (p if skip else c * dp)]
            if nb == 0.0:
                continue
            shift, s1, s2 = state[p], state[size + p], state[2 * size + p]
            off = s1 / nb
            sb = max(s2 - s1 * off, 0.0)
            na = weight[c, j if skip else 0]
            if na == 0.0:
                mean[c, j], low[c, j] = two_sum(shift, off)
                scatter[c, j] = sb
                continue
            share = nb / (na + nb)
            delta = difference(shift, off, mean[c, j], low[c, j])
            # From the heavier side, so that a light side, however far, rounds nothing away.
            if nb > na:
                mean[c, j], low[c, j] = two_sum(shift, off - na / (na + nb) * delta)
            else:
                mean[c, j], low[c, j] = two_sum(mean[c, j], low[c, j] + share * delta)
            scatter[c, j], error = two_sum(scatter[c, j], sb + na * share * delta * delta)
            lost[c, j] += error
        for q in range(d if skip else 1):
            weight[c, q] += state[3 * size + c * dp + q]


@kernel
def _sum_blocks(
    first, last, X, rest, by_columns, n, left, values, offset, lookup, stored, weight, skip, k, d,
    bounds, states,
):  # fmt: skip
    """Sum blocks first to last, which begin at `bounds`, into states (blocks, 4 k dp)."""
    rows, few = Rows(pointer(X), by_columns, n, d), Rows(pointer(rest), False, left, d)
    scratch = np.empty(_size_of_scratch(k, _padded(d)))
    room = np.empty(_TILE, np.int32)
    codes = Codes(
        len(values) > 0, pointer(values), offset, pointer(lookup), pointer(stored), pointer(room)
    )
    for b in range(first, last):
        for i in range(len(scratch)):
            scratch[i] = 0.0
        state = shifted(pointer(states), b * states.shape[1])
        block = _block(k, d, skip, state, pointer(scratch))
        lo, hi = bounds[b], bounds[b + 1]
        _sum_block(rows, few, lo, hi, codes, len(weight) > 0, pointer(weight), block)
    keep(scratch)
    keep(room)


@serial_kernel
def _merge_blocks(states, skip, weight, mean, low, scatter, lost):
    """Add all blocks in their order to the running statistics; `lost` is what scatter rounds."""
    k, d = mean.shape
    for b in range(len(states)):
        _merge(states[b], k, d, skip, weight, mean, low, scatter, lost)


def rows_per_block(n: int, k: int) -> int:
    """Rows of one block, by the shape of the data alone.

    Enough that the sums of a block stay below 2% of its rows and merging below a tenth of the work,
    but for two blocks at least, and 128 blocks, which is enough for as many threads; and no more
    than can be summed without losing digits, however many rows there are.
    """
    return max(1280, min(-(-n // _BLOCKS), _LONGEST), min(160 * k, max(40 * k, -(-n // 2))))


def accumulate(
    X: NDArray[Any],
    labels: EncodedLabels,
    weight: NDArray[np.float64] | None,
    k: int,
    *,
    skip: bool = False,
) -> Sums:
    """Per-class sums of X (n, d) with class codes in 0..k-1 and optional weights (n,).

    With `skip`, each NaN is left out and `weight` of the result is (k, d). Without it a NaN, as
    any infinity, shows as a mean or scatter that is not finite. Rows of weight 0 are not there.
    Cost: one read of X, 3 n d float64 operations (4 with weights). Error: a few units in the last
    place of mean and scatter, see `ClassStats`.
    """
    n, d = X.shape
    if n == 0 or k == 0:
        return _nothing(k, d, skip)
    units = block_bounds(-(-n // _UNIT), -(-rows_per_block(n, k) // _UNIT))
    bounds = np.minimum(units * _UNIT, n)
    w = readonly(np.empty(0) if weight is None else weight)
    sums, lost = _nothing(k, d, skip), np.zeros((k, d))
    # Tiles end where the last rows begin, which must not depend on how rows are split into chunks.
    last = max(0, n - OVERREAD) // _UNIT * _UNIT
    for chunk in contiguous_chunks(X, bounds):
        m = chunk.stop - chunk.start
        left = chunk.stop - min(chunk.stop, max(chunk.start, last))
        rest = padded_tail(chunk.data, chunk.by_columns, m, d, left, left * d + OVERREAD)
        rows = chunk.data, rest, chunk.by_columns, m, left
        values, offset, lookup, codes = labels.slice(chunk.start, chunk.stop)
        encoded = readonly(values), offset, readonly(lookup), readonly(codes)
        own = *encoded, w[chunk.start : chunk.stop], skip
        for b in range(chunk.first, chunk.last, _BLOCKS):
            some = bounds[b : min(b + _BLOCKS, chunk.last) + 1] - chunk.start
            states = np.zeros((len(some) - 1, 4 * k * (-(-d // 8) * 8)))
            _sum_blocks(len(states), *rows, *own, k, d, some, states, work=8 * m * d)
            _merge_blocks(states, skip, *sums, lost)
    if len(bounds) > 2:
        sums.scatter[...] += lost
    return sums


def _nothing(k: int, d: int, skip: bool) -> Sums:
    wide, narrow = (k, d), (k, d if skip else 1)
    return Sums(np.zeros(narrow), np.zeros(wide), np.zeros(wide), np.zeros(wide))


@warmup_call
def _warm() -> None:
    codes = EncodedLabels.from_codes(np.zeros(2, np.int32))
    for dtype in (np.float64, np.float32):
        accumulate(np.zeros((2, 1), dtype), codes, None, 1)
