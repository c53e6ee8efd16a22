"""Joint log likelihoods of continuous and categorical features, fused with what is wanted of them.

The continuous ones are scored as in `kernels.score.diagonal`. A categorical feature of a row is a
slot, a whole number, and adds what a table holds at that slot for each class. Both are added up in
the scores of a group, so that no (n, k) array of terms is made but the one that is asked for.

Slots are given, or found from the values of a table of floats, group by group: see `kernels.slots`.
The continuous features of a group are copied side by side, since they are where its rows are.

The terms of all classes lie side by side at a slot, and are added eight at a time to the scores of
a row, which are turned for that from eight rows of a class to eight classes of a row and back. A
row's terms are added one after the other, as those of the rows beside it are meanwhile.

A row that no class scores above -inf may be too far away, or have a category that no class ever
had, with smoothing 0. Then the classes win that miss the fewest of its categories, which is the
limit of smoothing towards 0, and among them the nearest.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, kernel, llvm_inlined, readonly, warmup_call
from ..._numba.transposes import transpose
from ..._numba.vectors import keep, load, pointer, shifted, splat, store
from ..._numba.words import as_words
from ..rows import Rows, element, round_up
from ..slots import (
    TILE,
    Columns,
    Reader,
    Table,
    by_slot,
    fetch,
    fill_panel,
    given_columns,
    lines_ahead,
    reader_of,
    set_slots,
    stride_of,
)
from .diagonal import DiagonalModel, DiagonalTerms, Packed, pack, score_group, unpack
from .driver import Group, score_blocks, score_rows
from .outputs import Scores, Wanted, find_argmax
from .overflow import score_overflowed
from .posterior import GROUP

# Features whose terms are added to all rows of a group before those of others, so that they are
# still in the first level of the cache.
_FEATURES = 32


class CategoricalTerms(NamedTuple):
    """Slots (q, n) of n rows, int32, and per class and slot (k, width) what they add to a score.

    `slots` may be what finds them in a table. `limit` holds the same as `table`, and where that is
    -inf the part of it that stays finite as smoothing tends to 0.
    """

    slots: NDArray[np.int32] | Table
    table: NDArray[np.float64]
    limit: NDArray[np.float64]


class Lookup(NamedTuple):
    """Terms of a group inside a kernel, by pointers, with their sizes.

    words, step, place: the slot of feature q of row r is words[2 (r step + place[q])]. The term of
    class c at a slot is at slot stride + c in `table`, behind which eight more numbers can be read,
    and its part that stays finite at c n_slots + slot in `limit`.
    """

    words: Any
    step: int
    place: Any
    q: int
    table: Any
    stride: int
    limit: Any
    n_slots: int


@llvm_inlined
def _term(lookup, p, c):
    """The terms of eight classes, from c on, at the slot in place p of a tile."""
    return load(lookup.table, lookup.words[2 * p] * np.int64(lookup.stride) + c)


@llvm_inlined
def _add_to_eight(lookup, r, c, first, stop, page, kp):
    """Add terms of four rows, from r on, to their scores of eight classes, from c on.

    They are those of features first to stop.
    """
    p, step = r * kp + c, lookup.step
    a0, a1 = load(page, p), load(page, p + kp)
    a2, a3 = load(page, p + 2 * kp), load(page, p + 3 * kp)
    for q in range(first, stop):
        i = r * step + lookup.place[q]
        a0 = a0 + _term(lookup, i, c)
        a1 = a1 + _term(lookup, i + step, c)
        a2 = a2 + _term(lookup, i + 2 * step, c)
        a3 = a3 + _term(lookup, i + 3 * step, c)
    store(page, p, a0)
    store(page, p + kp, a1)
    store(page, p + 2 * kp, a2)
    store(page, p + 3 * kp, a3)


@llvm_inlined
def _add_to_sixteen(lookup, r, c, first, stop, page, kp):
    """As `_add_to_eight`, of sixteen classes."""
    p, step = r * kp + c, lookup.step
    a0, a1 = load(page, p), load(page, p + kp)
    a2, a3 = load(page, p + 2 * kp), load(page, p + 3 * kp)
    b0, b1 = load(page, p + 8), load(page, p + kp + 8)
    b2, b3 = load(page, p + 2 * kp + 8), load(page, p + 3 * kp + 8)
    for q in range(first, stop):
        i = r * step + lookup.place[q]
        a0, b0 = a0 + _term(lookup, i, c), b0 + _term(lookup, i, c + 8)
        i += step
        a1, b1 = a1 + _term(lookup, i, c), b1 + _term(lookup, i, c + 8)
        i += step
        a2, b2 = a2 + _term(lookup, i, c), b2 + _term(lookup, i, c + 8)
        i += step
        a3, b3 = a3 + _term(lookup, i, c), b3 + _term(lookup, i, c + 8)
    store(page, p, a0)
    store(page, p + kp, a1)
    store(page, p + 2 * kp, a2)
    store(page, p + 3 * kp, a3)
    store(page, p + 8, b0)
    store(page, p + kp + 8, b1)
    store(page, p + 2 * kp + 8, b2)
    store(page, p + 3 * kp + 8, b3)


@llvm_inlined
def _add_terms(lookup, k, s, page, ahead):
    """Add the terms of a group to its scores s (k, 32).

    The page holds 32 rows of k scores, padded to whole registers.
    """
    kp = round_up(k, 8)
    for h in range(0, GROUP, 8):
        for c in range(0, k, 8):
            transpose(s, c * GROUP + h, GROUP, page, h * kp + c, kp)
    paired = kp // 16 * 16
    shares = share = GROUP // 4 * ((lookup.q + _FEATURES - 1) // _FEATURES)
    for first in range(0, lookup.q, _FEATURES):
        stop = min(first + _FEATURES, lookup.q)
        for r in range(0, GROUP, 4):
            fetch(ahead, share, 2 * shares)
            share += 1
            for c in range(0, paired, 16):
                _add_to_sixteen(lookup, r, c, first, stop, page, kp)
            if paired < kp:
                _add_to_eight(lookup, r, paired, first, stop, page, kp)
    for h in range(0, GROUP, 8):
        for c in range(0, k, 8):
            transpose(page, h * kp + c, kp, s, c * GROUP + h, GROUP)


class PackedTerms(NamedTuple):
    """`CategoricalTerms` as kernels take them, with slots (q, n) or the columns that have them.

    Slots that are given have a place (q,) in a tile too. table: the terms of each slot, those of
    all classes side by side, `stride` apart, and eight more numbers.
    """

    slots: NDArray[np.int32]
    columns: Columns
    table: NDArray[np.float64]
    stride: int
    limit: NDArray[np.float64]


class PackedMixed(NamedTuple):
    """Parameters of both kinds of features of k classes and c continuous features."""

    k: int
    c: int
    continuous: Packed
    categorical: PackedTerms


class MixedModel(NamedTuple):
    """`PackedMixed` inside a kernel, by pointers, and what the driver reads of a model.

    slots: those that are given of n rows, if any are. table, stride, limit, n_slots: as in
    `Lookup`. page, tile, panel: where in the scratch of a group they are.
    """

    continuous: DiagonalModel
    reader: Reader
    has_slots: bool
    slots: Any
    n: int
    table: Any
    stride: int
    limit: Any
    n_slots: int
    k: int
    c: int
    values: Any
    skip: bool
    extra: int
    page: int
    tile: int
    panel: int


@llvm_inlined
def _start_group(model, s):
    """Scores of 32 rows without continuous features."""
    for c in range(model.k):
        for h in range(0, GROUP, 8):
            store(s, c * GROUP + h, splat(model.const[c]))


@llvm_inlined
def _lookup_of(model, scratch):
    """The terms of the group whose slots are in the tile."""
    words, reader = as_words(shifted(scratch.extra, model.tile)), model.reader
    return Lookup(
        words, reader.step, reader.place, reader.n_columns, model.table, model.stride, model.limit,
        model.n_slots,
    )  # fmt: skip


@llvm_inlined
def _take_slots(model, group, tile):
    """Copy slots that are given of the rows of a group into its tile, column by column."""
    words = as_words(tile)
    for q in range(model.reader.n_columns):
        for r in range(GROUP):
            at = group.to + min(r, group.m - 1)
            words[2 * (q * TILE + r)] = model.slots[q * model.n + at]


@llvm_inlined
def _panel_of(model, scratch):
    """The continuous features of a group, which lie by columns."""
    return Rows(shifted(scratch.extra, model.panel), True, GROUP, model.c)


@llvm_inlined
def _score_mixed_group(rows, group, model, keeps, scratch):
    """Score 32 rows and find their best classes; return whether every row has one."""
    reader, tile = model.reader, shifted(scratch.extra, model.tile)
    if model.has_slots:
        _take_slots(model, group, tile)
    else:
        set_slots(rows, group.at, reader, tile)
    if model.c > 0:
        panel = _panel_of(model, scratch)
        fill_panel(rows, group.at, reader, panel.data)
        score_group(panel, Group(0, group.to, group.m), model.continuous, True, scratch)
    else:
        _start_group(model.continuous, scratch.s)
    page = shifted(scratch.extra, model.page)
    ahead = lines_ahead(rows, group.at)
    _add_terms(_lookup_of(model, scratch), model.k, scratch.s, page, ahead)
    return find_argmax(model, scratch)


@jit_helper
def _set_limits(model, lookup, r, limits, missed):
    """Set limits (k,) to what is constant in the scores of row r as smoothing tends to 0.

    -inf stands there for all classes but those that miss the fewest of the row's categories.
    """
    least = np.inf
    for c in range(model.k):
        total, n_missed = model.const[c], 0.0
        for q in range(lookup.q):
            slot = np.int64(lookup.words[2 * (r * lookup.step + lookup.place[q])])
            total += lookup.limit[c * lookup.n_slots + slot]
            if lookup.table[slot * lookup.stride + c] == -np.inf:
                n_missed += 1.0
        limits[c], missed[c] = total, n_missed
        if total > -np.inf and n_missed < least:
            least = n_missed
    for c in range(model.k):
        if missed[c] > least:
            limits[c] = -np.inf


@jit_helper
def _score_overflowed(rows, r, model, lookup, scores):
    """Set scores (k,) of a row that no class scores above -inf; they order and normalise.

    r is its place in the panel `rows` and in the tile. `scores` holds 3 k numbers.
    """
    limits = shifted(scores, 2 * model.k)
    _set_limits(model, lookup, r, limits, scores)
    overflows = True
    for c in range(model.k):
        a = limits[c]
        for j in range(rows.d):
            p = c * rows.d + j
            x = np.float64(element(rows, r, j))
            t = (x - model.mean[p]) * model.scale[p]
            if x == x:
                a -= t * t + (model.log_norm[p] if model.skip else 0.0)
        scores[c] = a
        if a > -np.inf:
            overflows = False
    if overflows:
        limited = DiagonalModel(
            model.k, model.mean, model.scale, model.log_norm, limits, model.values, model.skip,
            model.extra,
        )  # fmt: skip
        score_overflowed(rows, r, limited, scores, shifted(scores, model.k))


@llvm_inlined
def _rescore_row(rows, r, group, model, scratch):
    panel, lookup = _panel_of(model, scratch), _lookup_of(model, scratch)
    _score_overflowed(panel, r, model.continuous, lookup, scratch.row_scores)


@llvm_inlined
def _unpack(packed):
    """The model, with the parts of its scratch: a tile of scores, a page, slots and a panel."""
    terms, continuous = packed.categorical, unpack(packed.continuous, packed.c)
    page = round_up(continuous.extra, 8)
    tile = page + GROUP * round_up(packed.k, 8)
    panel = tile + TILE * terms.columns.width
    extra = panel + GROUP * (packed.c + 8)
    return MixedModel(
        continuous, reader_of(terms.columns), len(terms.slots) > 0, pointer(terms.slots),
        terms.slots.shape[1], pointer(terms.table), terms.stride, pointer(terms.limit),
        terms.limit.shape[1], packed.k, packed.c, continuous.values, continuous.skip, extra, page,
        tile, panel,
    )  # fmt: skip


@kernel(variants=2)
def _score_mixed(first, last, source, packed, outputs, bad):
    """Score blocks of rows. See `driver.score_blocks`."""
    model = _unpack(packed)
    score_blocks(first, last, source, model, outputs, bad, _score_mixed_group, _rescore_row)
    keep(packed)


def score_mixed(
    X: NDArray[Any], continuous: DiagonalTerms, categorical: CategoricalTerms, wanted: Wanted
) -> Scores:
    """Score rows of continuous X (n, c) and of slots (q, n), either of which may have none.

    Cost: one read of X and slots, n k (3 c + q) float64 operations.
    """
    k, c = len(categorical.table), X.shape[1]
    table, limit = by_slot(categorical.table), readonly(np.ascontiguousarray(categorical.limit))
    slots = categorical.slots
    if isinstance(slots, Table):
        rows, columns, given = slots.X, slots.columns, np.empty((0, 0), np.int32)
    else:
        given = np.ascontiguousarray(slots)
        rows, columns = X, given_columns(len(given), c)
    terms = PackedTerms(readonly(given), columns, table, stride_of(k), limit)
    packed = PackedMixed(k, c, pack(continuous, wanted), terms)
    return score_rows(_score_mixed, rows, packed, wanted, k * (c + len(columns.place)))


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    categorical = CategoricalTerms(np.zeros((1, 1), np.int32), zero, zero)
    for dtype in (np.float64, np.float32):
        continuous = DiagonalTerms(zero, one, None, np.zeros(1))
        score_mixed(np.zeros((1, 1), dtype), continuous, categorical, Wanted(table="proba"))
