"""Rows of continuous and categorical features to sums of both, in one read of a table.

A block of rows is read from memory once: its continuous features are copied side by side and go
through the kernel of `diagonal` that sums them, and its categories are counted by class. Counts
are whole numbers, exact in any order. What blocks leave is merged in their order.

Flags: FMA contraction only; all sums here are of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, warmup_call
from ..._numba.direct import call_kernel
from ..._numba.threads import n_threads
from ..._numba.vectors import keep, pointer, shifted
from ..._numba.words import as_words
from ..rows import OVERREAD, Rows, padded_tail, round_up
from ..slots import (
    TILE,
    Table,
    are_whole,
    copy_others,
    reader_of,
    rows_near,
    set_slots,
    table_of,
    tail_of,
)
from .chunk import addresses, are_known
from .codes import code, codes_of
from .diagonal import bounds_of, merge_blocks, nothing, sums_kernel
from .diagonal import tail_of as tail_of_sums
from .encode import EncodedLabels
from .merge import Sums
from .tiles import Source

# Numbers of the sums of blocks that are merged together, where that leaves eight blocks a thread,
# and the most of their counts.
_STATES, _COUNTS = 3 << 15, 1 << 22
_UNASKED, NOT_KEPT = np.empty(0, np.int64), np.empty((0, 0), np.int32)
# Rows whose slots are put somewhere, of one block.
_KEPT = 1 << 12
_NO_LABELS = EncodedLabels.from_codes(np.empty(0, np.int32))


class Parts(NamedTuple):
    """What blocks leave: sums (blocks, 4 k cp) as in `diagonal`, and counts (blocks, slots k).

    odd (blocks,), or (0,) where that is known: 1 for a block that has an unknown label, or a number
    in the range of a column that is not whole, which leaves nothing else. codes (q, rows): slots,
    which are put there and not counted if it is not (0, 0).
    """

    states: Any
    counts: Any
    odd: Any
    codes: Any


@llvm_inlined
def _copy_block(rows, tail, start, stop, reader, c, panel):
    """Copy the c continuous features of rows start to stop into a panel."""
    mid = stop if rows.by_columns else min(stop, max(start, rows.n - tail.n))
    copy_others(rows, start, mid - start, reader, c, panel)
    if mid < stop:
        at, behind = mid - rows.n + tail.n, shifted(panel, (mid - start) * c)
        copy_others(tail, at, stop - mid, reader, c, behind)


@llvm_inlined
def _count_tile(words, reader, m, codes, at, k, counts):
    """Count the slots of the m rows of a tile by class, of rows from `at` on."""
    for r in range(m):
        c = code(codes, at + r) if k > 1 else 0
        for q in range(reader.n_columns):
            counts[np.int64(words[2 * (r * reader.step + reader.place[q])]) * k + c] += 1


@llvm_inlined
def _keep_tile(words, reader, m, out, at, n):
    """Put the slots of the m rows of a tile into out (q, n), from column `at` on."""
    for q in range(reader.n_columns):
        for r in range(m):
            out[q * n + at + r] = words[2 * (r * reader.step + reader.place[q])]


@llvm_inlined
def _take_block(rows, tail, start, stop, codes, k, reader, tile, counts, out, begin, n):
    """Count the slots of rows start to stop, or put them into out (q, n), row `begin` first."""
    words = as_words(tile)
    for i in range(start, stop, TILE):
        near, at = rows_near(rows, tail, i)
        set_slots(near, at, reader, tile)
        if n > 0:
            _keep_tile(words, reader, min(TILE, stop - i), out, i - begin, n)
        else:
            _count_tile(words, reader, min(TILE, stop - i), codes, i, k, counts)


@llvm_inlined
def _is_odd(rows, tail, start, stop, labels, k, reader):
    """Whether a block has an unknown label, or a number in a range that is not whole."""
    values = labels.values[start:stop]
    if not are_known(values, labels.offset, labels.lookup, len(labels.lookup) > k):
        return True
    for i in range(start, stop, TILE):
        near, at = rows_near(rows, tail, i)
        if not are_whole(near, at, reader):
            return True
    return False


@llvm_inlined
def _labels_of(labels, start, stop):
    """The labels of rows start to stop."""
    values, stored = labels.values[start:stop], labels.stored[start:stop]
    return EncodedLabels(values, labels.offset, labels.lookup, stored)


@kernel(variants=2)
def sum_mixed(first, last, address, source, labels, columns, c, bounds, parts):
    """Sum blocks first to last, which begin at `bounds`, into parts.

    The c continuous features are summed by the kernel of an address.
    """
    n, k = source.n, source.k
    left = tail_of(n)
    copy = padded_tail(source, left, left + TILE)
    rows = Rows(pointer(source.data), source.by_columns, n, source.d)
    tail = Rows(pointer(copy), False, left, source.d)
    longest = 0
    for b in range(first, last):
        longest = max(longest, bounds[b + 1] - bounds[b])
    panel = np.empty(longest * c + OVERREAD, source.data.dtype)
    memory, no_codes = np.empty(TILE * columns.width + 8), np.empty(1, np.int32)
    no_weight, within = np.empty(0), np.zeros(2, np.int64)
    tile, codes, reader = pointer(memory), codes_of(labels, no_codes), reader_of(columns)
    out, n_kept = pointer(parts.codes), parts.codes.shape[1]
    for b in range(first, last):
        start, stop = bounds[b], bounds[b + 1]
        if len(parts.odd) > 0:
            parts.odd[b] = _is_odd(rows, tail, start, stop, labels, k, reader)
            if parts.odd[b] != 0:
                continue
        if c > 0:
            _copy_block(rows, tail, start, stop, reader, c, pointer(panel))
            m = stop - start
            panel[m * c : m * c + OVERREAD] = 0.0
            within[1] = m
            end = stop - min(stop, max(start, n - source.tail))
            block = Source(panel, source.by_columns, m, c, end, k, source.skip)
            own = _labels_of(labels, start, stop)
            given = block, own, no_weight, within, parts.states[b : b + 1]
            if call_kernel(address, 0, 1, given):
                raise MemoryError("no memory for scratch")
        counts = shifted(pointer(parts.counts), b * parts.counts.shape[1])
        _take_block(rows, tail, start, stop, codes, k, reader, tile, counts, out, bounds[0], n_kept)
    keep(copy)
    keep(panel)
    keep(memory)
    keep(no_codes)
    keep(columns)
    keep(labels)


def accumulate_mixed(
    table: Table, size: int, labels: EncodedLabels, k: int, *, skip: bool = False
) -> tuple[Sums, NDArray[np.int64]]:
    """Sums of the continuous features of a table, and counts (size, k) of slots and classes.

    size: how many slots its columns have. The sums are those of `diagonal.accumulate`, bit for bit.
    Cost: one read of the table, and memory for the continuous features of one block a thread.
    """
    n, d = table.X.shape
    c = d - len(table.columns.place)
    sums, lost = nothing(k, c, skip), np.zeros((k, c))
    counts, bounds = np.zeros(size * k, np.int64), bounds_of(n, k)
    for parts in _parts_of(table, size, labels, k, skip, bounds, c):
        if c:
            merge_blocks(parts.states, skip, sums, lost)
        counts += parts.counts.sum(axis=0)
    if len(bounds) > 2:
        sums.scatter[...] += lost
    return sums, counts.reshape(size, k)


def occurring(table: Table, size: int) -> NDArray[np.bool_]:
    """Which of the slots (size,) of a table's columns its rows have."""
    seen = np.zeros(size, np.bool_)
    bounds = bounds_of(len(table.X), 1)
    for parts in _parts_of(table, size, _NO_LABELS, 1, False, bounds, 0):
        seen |= parts.counts.any(axis=0)
    return seen


def look_up(table: Table, start: int, stop: int) -> NDArray[np.int32]:
    """Slots (q, m) of rows start to stop of a table."""
    (data, by_columns), (n, d) = table.flat(), table.X.shape
    codes = np.empty((len(table.columns.place), stop - start), np.int32)
    if not codes.size:
        return codes
    bounds = np.append(np.arange(start, stop, _KEPT), stop)
    n_blocks = len(bounds) - 1
    nothing_else = np.empty((n_blocks, 0)), np.empty((n_blocks, 0), np.int32), _UNASKED
    source, labels = Source(data, by_columns, n, d, 0, 1, False), _NO_LABELS.as_readonly()
    rest = 0, source, labels, table.columns, 0, bounds, Parts(*nothing_else, codes)
    sum_mixed(n_blocks, *rest, work=8 * codes.size)
    return codes


def _parts_of(
    table: Table,
    size: int,
    labels: EncodedLabels,
    k: int,
    skip: bool,
    bounds: NDArray[np.int64],
    c: int,
) -> Iterator[Parts]:
    """Sums of blocks, as many at a time as fit the cache; without c of categories alone."""
    (data, by_columns), (n, d), width = table.flat(), table.X.shape, 4 * k * round_up(c, 8)
    source, own = Source(data, by_columns, n, d, tail_of_sums(n), k, skip), labels.as_readonly()
    address = addresses.of(data.dtype, sums_kernel(False, skip, k, c)) if c else 0
    most = max(8 * n_threads(), _STATES // max(width, 1))
    most = max(1, min(most, _COUNTS // max(1, size * k), len(bounds) - 1))
    states, counts = np.empty((most, width)), np.empty((most, size * k), np.int32)
    for b in range(0, len(bounds) - 1, most):
        within = bounds[b : b + most + 1]
        n_blocks = len(within) - 1
        parts = Parts(states[:n_blocks], counts[:n_blocks], _UNASKED, NOT_KEPT)
        parts.counts[:] = 0
        rest = table.columns, c, within, parts
        sum_mixed(n_blocks, address, source, own, *rest, work=8 * n * d)
        yield parts


@warmup_call
def _warm() -> None:
    labels, one = EncodedLabels.from_codes(np.zeros(1, np.int32)), np.zeros(1, np.int64)
    for dtype in (np.float64, np.float32):
        table = table_of(np.zeros((1, 1), dtype), one, (one, one + 1, one))
        accumulate_mixed(table, 3, labels, 1)
