"""Joint log likelihoods of continuous and categorical features, fused with what is wanted of them.

The continuous ones are scored as in `kernels.score`. A categorical feature of a row is a slot, a
whole number, and adds what a table holds at that slot for each class. A group's scores, which are
few, take both sums before anything else happens to them, so that no (n, k) array of terms is made
but the one that is asked for.

A row that no class scores above -inf may be too far away, or have a category that no class ever
had, with smoothing 0. Then the classes win that miss the fewest of its categories, which is the
limit of smoothing towards 0, and among them the nearest.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import ir_inlined, jit_helper, kernel, llvm_inlined, readonly, warmup_call
from ..._numba.vectors import keep, load, pointer, shifted, splat, store
from ..chunks import as_flat, block_bounds, contiguous_chunks, padded_tail
from ..rows import OVERREAD, Rows, element
from .diagonal import GROUPS_PER_BLOCK, Model, pack, score_group, unpack
from .outputs import (
    Answers,
    Scores,
    Table,
    better,
    divide_up,
    fill_behind,
    finish_group,
    output_of,
    settle,
    size_of_scratch,
    take_far,
    write_labels,
)
from .overflow import is_finite_row, score_far
from .posterior import GROUP, JOINT


class Lookup(NamedTuple):
    """Slots (q, n) of n rows, flat, and per class and slot (k, width) what they add to a score.

    `limit` holds the same, and where that is -inf the part of it that stays finite in the limit.
    """

    slots: Any
    n: int
    q: int
    table: Any
    limit: Any
    width: int


@llvm_inlined
def _add_terms(lookup, at, m, k, s):
    """Add the terms of m rows, the first of which is row `at`, to scores s (k, 32)."""
    for c in range(k):
        for q in range(lookup.q):
            place = q * lookup.n + at
            for r in range(m):
                s[c * GROUP + r] += lookup.table[c * lookup.width + lookup.slots[place + r]]


@ir_inlined
def _settle_group(model, room):
    """Best classes of 32 rows by their scores; whether every row has one."""
    good = True
    for h in range(0, GROUP, 8):
        best, label = splat(-np.inf), splat(model.values[0])
        for c in range(model.k):
            best, label = better(load(room.s, c * GROUP + h), splat(model.values[c]), best, label)
        good &= settle(best, label, h, room)
    return good


@ir_inlined
def _start_group(model, room):
    """Scores of 32 rows without continuous features."""
    for c in range(model.k):
        for h in range(0, GROUP, 8):
            store(room.s, c * GROUP + h, splat(model.const[c]))


@jit_helper
def _set_limits(model, lookup, i, limits, missed):
    """Set limits (k,) to what is constant in a row's scores as smoothing tends to 0.

    -inf stands there for all classes but those that miss the fewest of the row's categories.
    """
    least = np.inf
    for c in range(model.k):
        total, n_missed = model.const[c], 0.0
        for q in range(lookup.q):
            p = c * lookup.width + lookup.slots[q * lookup.n + i]
            total += lookup.limit[p]
            if lookup.table[p] == -np.inf:
                n_missed += 1.0
        limits[c], missed[c] = total, n_missed
        if total > -np.inf and n_missed < least:
            least = n_missed
    for c in range(model.k):
        if missed[c] > least:
            limits[c] = -np.inf


@jit_helper
def _score_odd(rows, at, model, lookup, i, few):
    """Set few (k,) to scores that order and normalise, for a row that no class scores above -inf.

    `at` is its place in `rows`, and i that in the slots. few has room for three numbers a class.
    """
    limits = shifted(few, 2 * model.k)
    _set_limits(model, lookup, i, limits, few)
    is_far = True
    for c in range(model.k):
        a = limits[c]
        for j in range(rows.d):
            p = c * rows.d + j
            x = np.float64(element(rows, at, j))
            t = (x - model.mean[p]) * model.scale[p]
            if x == x:
                a -= t * t + (model.log_norm[p] if model.skip else 0.0)
        few[c] = a
        if a > -np.inf:
            is_far = False
    if is_far:
        limited = Model(
            model.k, model.mean, model.scale, model.log_norm, limits, model.skip, model.values
        )
        score_far(rows, at, limited, few, shifted(few, model.k))


@llvm_inlined
def _mend(rows, at, m, model, lookup, keep, room, out, to):
    """Score the rows that no class scored above -inf; the first that is not finite, or -1."""
    for r in range(m):
        room.far[r] = 0.0
        if room.best[r] > -np.inf:
            continue
        if not is_finite_row(rows, at + r, model.skip):
            return r
        room.far[r] = 1.0
        _score_odd(rows, at + r, model, lookup, to + r, room.few)
        take_far(r, model.k, model.values, keep, room, out, to)
    fill_behind(m, room)
    return -1


@ir_inlined
def _score_groups(rows, start, stop, to, model, lookup, out, room):
    """Score rows start to stop into rows `to` on; the first row that is not finite, or -1."""
    for at in range(start, stop, GROUP):
        m = min(GROUP, stop - at)
        if rows.d > 0:
            score_group(rows, at, model, True, room)
        else:
            _start_group(model, room)
        _add_terms(lookup, to, m, model.k, room.s)
        good = _settle_group(model, room)
        if out.wants_labels:
            write_labels(room.label, m, out.labels, to)
        if not good:
            bad = _mend(rows, at, m, model, lookup, out.mode != JOINT, room, out, to)
            if bad >= 0:
                return at + bad
        finish_group(model.k, m, good, room, out, to)
        to += m
    return -1


@kernel
def _score_mixed(
    first, last, X, rest, by_columns, n, d, k, groups, n_blocks, packed, skip, slots, q, table,
    limit, width, mode, labels, narrow, wide, evidence, bad,
):  # fmt: skip
    """Score blocks of whole groups of X (n, d), and as the last block the rows of `rest`.

    slots is flat (q, n), table and limit (k, width). bad (blocks,) takes the first bad row of each
    block, or -1.
    """
    model = unpack(pointer(packed), k, d, skip)
    lookup = Lookup(pointer(slots), n, q, pointer(table), pointer(limit), width)
    out = output_of(mode, labels, narrow, wide, evidence)
    scratch = np.empty(size_of_scratch(k) + k)
    room = divide_up(pointer(scratch), k)
    behind = groups * GROUP
    for b in range(first, last):
        is_rest = b == n_blocks
        if is_rest:
            start, stop, off = behind, n, behind
        else:
            start, stop = b * groups // n_blocks * GROUP, (b + 1) * groups // n_blocks * GROUP
            off = 0
        data = pointer(rest) if is_rest else pointer(X)
        rows = Rows(data, by_columns and not is_rest, n - off, d)
        found = _score_groups(rows, start - off, stop - off, start, model, lookup, out, room)
        bad[b] = found + off if found >= 0 else -1
    keep(scratch)


def score_mixed(
    X: NDArray[Any],
    slots: NDArray[np.int32],
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    log_norm: NDArray[np.float64] | None,
    const: NDArray[np.float64],
    table: NDArray[np.float64],
    limit: NDArray[np.float64],
    *,
    codes: bool = True,
    values: NDArray[np.int64] | None = None,
    output: Table | None = None,
    evidence: bool = False,
    dtype: Any = np.float64,
) -> Scores:
    """Score rows of continuous X (n, d) and of slots (q, n), either of which may have none.

    table (k, width) is what a slot adds to the scores of `kernels.score.score`; limit (k, width)
    has finite numbers in the place of -inf. All else is as there, with `output` for its `table`.
    Cost: one read of X and slots, n k (3 d + q) float64 operations.
    """
    (n, d), k = X.shape, len(const)
    answers = Answers.room(n, k, codes, output, evidence, dtype)
    model = k, pack(mean, scale, log_norm, const, values), log_norm is not None
    tables = tuple(readonly(np.ascontiguousarray(each).reshape(-1)) for each in (table, limit))
    contiguous, bad = as_flat(X), -1
    if contiguous is not None:
        return answers.scores(_score_flat(*contiguous, slots, n, d, model, tables, answers), dtype)
    for chunk in contiguous_chunks(X, block_bounds(n, GROUP * GROUPS_PER_BLOCK)):
        part = answers.part(chunk.start, chunk.stop)
        size, own = chunk.stop - chunk.start, slots[:, chunk.start : chunk.stop]
        bad = _score_flat(chunk.data, chunk.by_columns, own, size, d, model, tables, part)
        if bad >= 0:
            bad += chunk.start
            break
    return answers.scores(bad, dtype)


def _score_flat(
    data: NDArray[Any],
    by_columns: bool,
    slots: NDArray[np.int32],
    n: int,
    d: int,
    model: tuple[int, NDArray[np.float64], bool],
    tables: tuple[NDArray[np.float64], ...],
    answers: Answers,
) -> int:
    """Score contiguous rows; the first that is not finite, or -1. See `kernels.score`."""
    k, packed, skip = model
    groups = max(0, n - OVERREAD) // GROUP
    n_blocks = -(-groups // GROUPS_PER_BLOCK)
    left = n - groups * GROUP
    rest = padded_tail(data, by_columns, n, d, left, -(-left // GROUP) * GROUP * d + OVERREAD)
    bad = np.empty(n_blocks + 1, np.int64)
    q, table = len(slots), tables[0]
    _score_mixed(
        n_blocks + 1, data, rest, by_columns, n, d, k, groups, n_blocks, packed, skip,
        readonly(np.ascontiguousarray(slots).reshape(-1)), q, *tables, len(table) // k,
        *answers.flat(), bad, work=n * k * (d + q),
    )  # fmt: skip
    return int(bad[0]) if n_blocks == 0 else int(bad[np.argmax(bad >= 0)])


@warmup_call
def _warm() -> None:
    one, zero, slots = np.ones((1, 1)), np.zeros((1, 1)), np.zeros((1, 1), np.int32)
    for dtype in (np.float64, np.float32):
        score_mixed(
            np.zeros((1, 1), dtype), slots, zero, one, None, np.zeros(1), zero, zero, output="proba"
        )
