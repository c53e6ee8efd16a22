"""Columns of a table that hold categories, and the slots of their values in tables by category.

A column has a slot for each whole number of a range, one for any other number, and one for a
missing value. The slots of 32 rows are found eight at a time, in floats, and kept in a tile: as
whole numbers in the low halves of float64 that are 2^52 and more, on processors that are all
little-endian.

Row-major tables are read in groups of eight features side by side, each of which begins with a
column of categories. What else is in a group gets slots that nobody reads.

Flags: FMA contraction only; all sums here are exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._numba.decorators import jitable, llvm_inlined, readonly
from .._numba.transposes import transpose
from .._numba.vectors import (
    all_greater,
    load,
    per_line,
    pointer,
    prefetch,
    shifted,
    splat,
    store,
    where_equal,
    where_greater,
    where_number,
)
from .._numba.words import as_words
from .chunks import as_flat
from .rows import OVERREAD, round_up

# Rows of a tile.
TILE = 32
# From rows whose slots are found to those fetched are a group of them, or so many elements.
_AHEAD = 2048
# Added to a whole number, this leaves it in the low half.
_LOW_HALF = 2.0**52
_NO_LOOKUP = np.empty(0, np.int32)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Columns(NamedTuple):
    """Columns (q,) of categories of a table, as kernels take them.

    by_columns: whether slots are found column by column, as in a column-major table. width: how
    many numbers the slots of a row take in a tile. place (q,): where the slots of a column begin
    there. start (g,): the first feature of what is read at a time. low, span, base (8 g,), or (q,)
    by columns: a range of whole numbers, and the slot of the first one, with 2^52. lookup: what to
    put in the place of each slot, or (0,). runs (r, 3): other features that lie side by side: the
    first, its position among all others, and how many there are.
    """

    by_columns: bool
    width: int
    place: Any
    start: Any
    low: Any
    span: Any
    base: Any
    lookup: Any
    runs: Any


class Reader(NamedTuple):
    """`Columns` inside a kernel, by pointers, with their sizes: arrays would be counted.

    step: how far the slots of the next row are in a tile.
    """

    by_columns: bool
    width: int
    step: int
    n_columns: int
    place: Any
    n_starts: int
    start: Any
    low: Any
    span: Any
    base: Any
    n_lookup: int
    lookup: Any
    n_runs: int
    runs: Any


class Table(NamedTuple):
    """A contiguous table (n, d) of native floats, and its columns of categories."""

    X: NDArray[Any]
    columns: Columns

    def flat(self) -> tuple[NDArray[Any], bool]:
        """X as flat memory, and whether it is column-major."""
        contiguous = as_flat(self.X)
        assert contiguous is not None
        return contiguous

    def slots(self) -> NDArray[Any]:
        """Slots of rows, among them the least and the greatest that any may have."""
        base, span, lookup = (getattr(self.columns, name) for name in ("base", "span", "lookup"))
        return lookup if len(lookup) else np.concatenate([base, base + span + 1.0]) - _LOW_HALF


@llvm_inlined
def reader_of(columns):
    """`Columns` as the functions below take them."""
    return Reader(
        columns.by_columns, columns.width, 1 if columns.by_columns else columns.width,
        len(columns.place), pointer(columns.place), len(columns.start), pointer(columns.start),
        pointer(columns.low), pointer(columns.span), pointer(columns.base), len(columns.lookup),
        pointer(columns.lookup), len(columns.runs), pointer(columns.runs),
    )  # fmt: skip


@llvm_inlined
def _slots_of(x, low, span, base):
    """Slots of eight numbers: base + x - low in the range, span for others, span + 1 for NaN."""
    t = x - low
    t = where_greater(span, t, t, span)
    t = where_greater(t, splat(-0.5), t, span)
    return where_number(x, t, span + splat(1.0)) + base


class Ahead(NamedTuple):
    """Cache lines of later rows, from element `start` of `data` on: as many as 32 rows have.

    Half of them are fetched as slots are found, and the others as is best for what comes then: all
    at a time would keep what is read meanwhile waiting.
    """

    data: Any
    start: int
    n: int


@llvm_inlined
def lines_ahead(rows, at):
    """What to fetch with rows at to at + 32; nothing of column-major rows."""
    start = max(at * rows.d + _AHEAD, (at + TILE) * rows.d)
    return Ahead(rows.data, start, 0 if rows.by_columns else TILE * rows.d // per_line(rows.data))


@llvm_inlined
def fetch(ahead, i, n):
    """Fetch share i of n of the lines ahead."""
    for line in range(i * ahead.n // n, (i + 1) * ahead.n // n):
        prefetch(ahead.data, ahead.start + line * per_line(ahead.data))


@llvm_inlined
def set_slots(rows, at, reader, tile):
    """Set a tile to the slots of rows at to at + 32."""
    data, width = rows.data, reader.width
    lows, spans, bases = reader.low, reader.span, reader.base
    if reader.by_columns:
        for q in range(reader.n_starts):
            low, span, base = splat(lows[q]), splat(spans[q]), splat(bases[q])
            j, to = reader.start[q], q * TILE
            if not rows.by_columns:  # the last rows of a column-major table
                for r in range(TILE):
                    tile[to + r] = data[(at + r) * rows.d + j]
            for h in range(0, TILE, 8):
                x = load(data, j * rows.n + at + h) if rows.by_columns else load(tile, to + h)
                store(tile, to + h, _slots_of(x, low, span, base))
    else:
        ahead = lines_ahead(rows, at)
        # Row by row: rows of many features may be so far apart that they clash in the cache.
        for r in range(TILE):
            fetch(ahead, r, 2 * TILE)
            for g in range(reader.n_starts):
                j = 8 * g
                x = load(data, (at + r) * rows.d + reader.start[g])
                slots = _slots_of(x, load(lows, j), load(spans, j), load(bases, j))
                store(tile, r * width + j, slots)
    if reader.n_lookup > 0:
        words = as_words(tile)
        for p in range(0, 2 * TILE * width, 2):
            words[p] = reader.lookup[words[p]]


@jitable
def tail_of(n):
    """How many of the last rows are read from a padded copy, where 32 are read at a time."""
    return min(n, TILE + OVERREAD)


@llvm_inlined
def rows_near(rows, tail, at):
    """What to read 32 rows from row `at` on in, and where: the table, or its padded tail."""
    if at + TILE + OVERREAD <= rows.n:
        return rows, at
    return tail, at - rows.n + tail.n


@llvm_inlined
def _note_odd(odd, x, low, span):
    """`odd`, with 1 in the lanes where a number is within a range, but no whole one."""
    t = x - low
    whole = (t + splat(_LOW_HALF)) - splat(_LOW_HALF)
    other = where_equal(whole, t, odd, splat(1.0))
    return where_greater(span, t, where_greater(t, splat(-1.0), other, odd), odd)


@llvm_inlined
def are_whole(rows, at, reader):
    """Whether rows at to at + 32 have whole numbers where they are in the ranges of columns."""
    odd, data = splat(0.0), rows.data
    if reader.by_columns:
        for q in range(reader.n_starts):
            low, span, j = splat(reader.low[q]), splat(reader.span[q]), reader.start[q]
            if rows.by_columns:
                for h in range(0, TILE, 8):
                    odd = _note_odd(odd, load(data, j * rows.n + at + h), low, span)
            else:
                for r in range(TILE):
                    odd = _note_odd(odd, splat(data[(at + r) * rows.d + j]), low, span)
    else:
        for r in range(TILE):
            for g in range(reader.n_starts):
                x = load(data, (at + r) * rows.d + reader.start[g])
                odd = _note_odd(odd, x, load(reader.low, 8 * g), load(reader.span, 8 * g))
    return all_greater(splat(0.5), odd)


@llvm_inlined
def copy_others(rows, at, m, reader, c, panel):
    """Copy the c other features of rows at to at + m, in the order of the table, into a panel.

    Seven numbers behind the panel may be written too.
    """
    if rows.by_columns:
        for i in range(reader.n_runs):
            for q in range(reader.runs[3 * i + 2]):
                source = shifted(rows.data, (reader.runs[3 * i] + q) * rows.n + at)
                target = shifted(panel, (reader.runs[3 * i + 1] + q) * m)
                for h in range(0, m - m % 8, 8):
                    store(target, h, load(source, h))
                for h in range(m - m % 8, m):
                    target[h] = source[h]
    else:
        # Row by row, since what is written behind a run belongs to the next one.
        for r in range(m):
            source, target = shifted(rows.data, (at + r) * rows.d), shifted(panel, r * c)
            for i in range(reader.n_runs):
                j, to = reader.runs[3 * i], reader.runs[3 * i + 1]
                for q in range(0, reader.runs[3 * i + 2], 8):
                    store(target, to + q, load(source, j + q))


@llvm_inlined
def fill_panel(rows, at, reader, panel):
    """Copy the other features of rows at to at + 32, one after the other, into a panel (c, 32).

    Of up to seven features behind it there may be copies too.
    """
    for i in range(reader.n_runs):
        j, to, size = reader.runs[3 * i], reader.runs[3 * i + 1], reader.runs[3 * i + 2]
        if rows.by_columns:
            for q in range(size):
                p = (j + q) * rows.n + at
                for h in range(0, TILE, 8):
                    store(panel, (to + q) * TILE + h, load(rows.data, p + h))
        else:
            for q in range(0, size, 8):
                for h in range(0, TILE, 8):
                    p = (at + h) * rows.d + j + q
                    transpose(rows.data, p, rows.d, panel, (to + q) * TILE + h, TILE)


def table_of(
    X: NDArray[Any],
    column: Integers,
    ranges: tuple[Integers, Integers, Integers],
    lookup: NDArray[np.int32] | None = None,
) -> Table:
    """A contiguous X (n, d) with its sorted columns (q,) of categories.

    ranges (q,): the least number, how many there are, and the slot of the first. Other numbers have
    the slot that follows those of the range, and missing values the next one.
    """
    by_columns = not X.flags.c_contiguous
    return Table(X, _columns_of(column, ranges, lookup, X.shape[1], by_columns))


def _columns_of(
    column: Integers,
    ranges: tuple[Integers, Integers, Integers],
    lookup: NDArray[np.int32] | None,
    d: int,
    by_columns: bool,
) -> Columns:
    """Sorted columns (q,) of a table of d features; ranges (q,): low, span, and first slots."""
    start, at = first_features(column, by_columns)
    width, place = (len(column), TILE // 8 * at) if by_columns else (8 * len(start), at)
    at = at // 8 if by_columns else at
    parts = np.zeros((3, width))
    parts[0] = np.nan  # nothing is in the range of what is no column
    parts[:, at] = ranges
    parts[2] += _LOW_HALF
    lookup = _NO_LOOKUP if lookup is None else lookup
    runs = _runs(column, d)
    return Columns(by_columns, width, place, start, parts[0], parts[1], parts[2], lookup, runs)


def given_columns(q: int, c: int) -> Columns:
    """Columns whose slots are given, beside a table of c other features."""
    none = np.empty(0)
    place, start = TILE * np.arange(q), np.empty(0, np.int64)
    return Columns(True, q, place, start, none, none, none, _NO_LOOKUP, _runs(start, c))


def first_features(column: Integers, by_columns: bool) -> tuple[Integers, Integers]:
    """The first features of groups of eight lanes, and the first lane of each column.

    By columns all lanes of a group are of one column.
    """
    if by_columns:
        return column, 8 * np.arange(len(column))
    starts: list[int] = []
    at = np.empty(len(column), np.int64)
    for q, j in enumerate(column.tolist()):
        if not starts or j >= starts[-1] + 8:
            starts.append(j)
        at[q] = 8 * (len(starts) - 1) + j - starts[-1]
    return np.array(starts, np.int64), at


def _runs(column: Integers, d: int) -> Integers:
    """Features that are no columns, in runs: the first, its position among them, how many."""
    ends = np.concatenate([[-1], column, [d]])
    first, size = ends[:-1] + 1, np.diff(ends) - 1
    runs = np.stack([first, first - np.arange(len(first)), size], axis=1)
    return np.ascontiguousarray(runs[size > 0], np.int64)


# ------------------------------------------------------------------ terms by slot


def stride_of(k: int) -> int:
    """From the terms of k classes at a slot to those at the next one."""
    return 4 if k <= 4 else round_up(k, 8)


def by_slot(table: Floats) -> Floats:
    """A table (k, width) as kernels read it, flat: those of all classes at a slot side by side.

    From the start of a cache line on; eight more numbers are behind. It is copied unless it is a
    view that `terms_by_slot` made.
    """
    k, width = table.shape
    base, size = table.base, width * stride_of(k)
    if isinstance(base, np.ndarray) and base.ndim == 1 and len(base) == size + 16:
        if table.strides == (8, 8 * stride_of(k)):
            at = (table.ctypes.data - base.ctypes.data) // 8
            if at == _line_of(base):
                return readonly(base[at : at + size + 8])
    flat, out = _empty_terms(k, width)
    out[:] = table
    return readonly(flat)


def terms_by_slot(table: Floats) -> Floats:
    """A copy of a table (k, width), in memory as `by_slot` has it."""
    _, out = _empty_terms(*table.shape)
    out[:] = table
    return out


def _empty_terms(k: int, width: int) -> tuple[Floats, Floats]:
    """Flat terms, all 0, and a view of them as a table (k, width)."""
    stride = stride_of(k)
    flat = np.zeros(width * stride + 16)
    at = _line_of(flat)
    flat = flat[at : at + width * stride + 8]
    return flat, flat[:-8].reshape(width, stride)[:, :k].T


def _line_of(flat: Floats) -> int:
    """The first number at the start of a cache line."""
    return -flat.ctypes.data % 64 // 8
