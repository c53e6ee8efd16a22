"""Rows and parameters to joint log likelihoods, fused with what is wanted of them.

A row is one vector lane, and every lane does the same operations in the same order, so a row's
scores have the same bits alone, anywhere in any batch, and for either layout. A class costs three
float64 operations a feature: t = (x - mean) * scale, s -= t * t, of which the first runs beside the
other two where there are adders apart from the multipliers. The square is never expanded, so
nothing cancels however far the data lie from 0.

Eight features of eight rows are turned in registers, stay there while all classes take their part
of the squares, and are forgotten. What waits in memory are the scores, which are few.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import ir_inlined, kernel, llvm_inlined, warmup_call
from ..._numba.vectors import keep, load, pointer, shifted, splat, store, where_number
from ..chunks import as_flat, block_bounds, contiguous_chunks, padded_tail
from ..rows import OVERREAD, Rows, eight_rows, fetch_eight
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

GROUPS_PER_BLOCK = 64
# Rows between those scored and those fetched from memory.
_AHEAD = 2 * GROUP


class Model(NamedTuple):
    """What scoring wants of k classes: parameters (k, d) and (k,), labels as the bits of floats."""

    k: int
    mean: Any
    scale: Any
    log_norm: Any
    const: Any
    skip: bool
    values: Any


@llvm_inlined
def _step(a, x, mean, scale):
    t = (x - mean) * scale
    return a - t * t


@llvm_inlined
def _step_skip(a, x, mean, scale, log_norm):
    """As `_step`; the whole term of a NaN, normaliser included, is absent."""
    t = (x - mean) * scale
    return where_number(x, a - (t * t + log_norm), a)


@llvm_inlined
def _four(a, x0, x1, x2, x3, mean, scale, p):
    a = _step(a, x0, splat(mean[p]), splat(scale[p]))
    a = _step(a, x1, splat(mean[p + 1]), splat(scale[p + 1]))
    a = _step(a, x2, splat(mean[p + 2]), splat(scale[p + 2]))
    return _step(a, x3, splat(mean[p + 3]), splat(scale[p + 3]))


@llvm_inlined
def _up_to_three(a, x0, x1, x2, mean, scale, p, m):
    a = _step(a, x0, splat(mean[p]), splat(scale[p]))
    if m > 1:
        a = _step(a, x1, splat(mean[p + 1]), splat(scale[p + 1]))
    if m > 2:
        a = _step(a, x2, splat(mean[p + 2]), splat(scale[p + 2]))
    return a


@llvm_inlined
def _up_to_eight(a, x0, x1, x2, x3, x4, x5, x6, x7, mean, scale, p, m):
    """Take the squares of m features, 1 to 8, from the scores a."""
    if m >= 4:
        a = _four(a, x0, x1, x2, x3, mean, scale, p)
        if m == 8:
            return _four(a, x4, x5, x6, x7, mean, scale, p + 4)
        if m > 4:
            a = _up_to_three(a, x4, x5, x6, mean, scale, p + 4, m - 4)
        return a
    return _up_to_three(a, x0, x1, x2, mean, scale, p, m)


@llvm_inlined
def _score_eight(rows, at, model, h, keep, room):
    """Scores of eight rows, and their best classes, at lanes h to h + 8 of a group.

    The scores s are complete with `keep` only. Returns whether every row has a best class.
    """
    d, s, mean, scale = rows.d, room.s, model.mean, model.scale
    last = (d - 1) // 8 * 8
    for j in range(0, last, 8):
        fetch_eight(rows, at + _AHEAD, j)
        x0, x1, x2, x3, x4, x5, x6, x7 = eight_rows(rows, at, j)
        for c in range(model.k):
            a = splat(model.const[c]) if j == 0 else load(s, c * GROUP + h)
            a = _four(a, x0, x1, x2, x3, mean, scale, c * d + j)
            a = _four(a, x4, x5, x6, x7, mean, scale, c * d + j + 4)
            store(s, c * GROUP + h, a)
    fetch_eight(rows, at + _AHEAD, last)
    x0, x1, x2, x3, x4, x5, x6, x7 = eight_rows(rows, at, last)
    best, label = splat(-np.inf), splat(model.values[0])
    for c in range(model.k):
        a = splat(model.const[c]) if last == 0 else load(s, c * GROUP + h)
        p = c * d + last
        a = _up_to_eight(a, x0, x1, x2, x3, x4, x5, x6, x7, mean, scale, p, d - last)
        if keep:
            store(s, c * GROUP + h, a)
        best, label = better(a, splat(model.values[c]), best, label)
    return settle(best, label, h, room)


@llvm_inlined
def _score_eight_skip(rows, at, model, h, room):
    """As `_score_eight`, with NaN left out and all scores kept."""
    d, s, tile = rows.d, room.s, room.tile
    for c in range(model.k):
        store(s, c * GROUP + h, splat(model.const[c]))
    for j in range(0, d, 8):
        fetch_eight(rows, at + _AHEAD, j)
        for q, x in enumerate(eight_rows(rows, at, j)):
            store(tile, 8 * q, x)
        for c in range(model.k):
            a = load(s, c * GROUP + h)
            for q in range(min(8, d - j)):
                p = c * d + j + q
                m, w, g = splat(model.mean[p]), splat(model.scale[p]), splat(model.log_norm[p])
                a = _step_skip(a, load(tile, 8 * q), m, w, g)
            store(s, c * GROUP + h, a)
    best, label = splat(-np.inf), splat(model.values[0])
    for c in range(model.k):
        a = load(s, c * GROUP + h)
        best, label = better(a, splat(model.values[c]), best, label)
    return settle(best, label, h, room)


@ir_inlined
def score_group(rows, at, model, keep, room):
    """Scores of 32 rows and their best classes; whether every row has one."""
    good = True
    for h in range(0, GROUP, 8):
        if model.skip:
            good &= _score_eight_skip(rows, at + h, model, h, room)
        else:
            good &= _score_eight(rows, at + h, model, h, keep, room)
    return good


@llvm_inlined
def _mend(rows, at, m, model, keep, room, out, to):
    """Score the rows that no class scored above -inf; the first that is not finite, or -1.

    Their joint log likelihoods overflow float64, so s keeps what `score_far` gives instead: scores
    that order and normalise.
    """
    for r in range(m):
        room.far[r] = 0.0
        if room.best[r] > -np.inf:
            continue
        if not is_finite_row(rows, at + r, model.skip):
            return r
        room.far[r] = 1.0
        score_far(rows, at + r, model, room.few, shifted(room.few, model.k))
        take_far(r, model.k, model.values, keep, room, out, to)
    fill_behind(m, room)
    return -1


@ir_inlined
def _score_groups(rows, start, stop, to, model, out, room):
    """Score rows start to stop into rows `to` on; the first row that is not finite, or -1."""
    keep = out.mode > 0 or out.wants_evidence
    for at in range(start, stop, GROUP):
        m = min(GROUP, stop - at)
        good = score_group(rows, at, model, keep, room)
        if out.wants_labels:
            write_labels(room.label, m, out.labels, to)
        if not good:
            bad = _mend(rows, at, m, model, out.mode != JOINT and keep, room, out, to)
            if bad >= 0:
                return at + bad
        finish_group(model.k, m, good, room, out, to)
        to += m
    return -1


@ir_inlined
def unpack(packed, k, d, skip):
    """The model in the numbers that `pack` puts together."""
    size = k * d
    log_norm = shifted(packed, 2 * size)
    const = shifted(packed, 3 * size if skip else 2 * size)
    return Model(k, packed, shifted(packed, size), log_norm, const, skip, shifted(const, k))


@kernel
def _score(
    first, last, X, rest, by_columns, n, d, k, groups, n_blocks, packed, skip, mode, labels, narrow,
    wide, evidence, bad,
):  # fmt: skip
    """Score blocks of whole groups of X (n, d), and as the last block the rows of `rest`.

    bad (blocks,) takes the first bad row of each block, or -1.
    """
    model = unpack(pointer(packed), k, d, skip)
    out = output_of(mode, labels, narrow, wide, evidence)
    scratch = np.empty(size_of_scratch(k))
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
        found = _score_groups(rows, start - off, stop - off, start, model, out, room)
        bad[b] = found + off if found >= 0 else -1
    keep(scratch)


def score(
    X: NDArray[Any],
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    log_norm: NDArray[np.float64] | None,
    const: NDArray[np.float64],
    *,
    codes: bool = True,
    values: NDArray[np.int64] | None = None,
    table: Table | None = None,
    evidence: bool = False,
    dtype: Any = np.float64,
) -> Scores:
    """Score rows X (n, d) against k classes: s_c = const_c - sum_j ((x_j - mean_cj) scale_cj)^2.

    log_norm (k, d), where given, is what a feature adds to -s besides its square; a NaN then
    leaves the whole term of its feature out. `values` (k,) are put out for the codes 0..k-1.
    `codes`, `table` and `evidence` say what to return, the table in `dtype`.
    Cost: one read of X, 3 n d k float64 operations. Error: relative 1e-15 per term.
    """
    (n, d), k = X.shape, len(const)
    answers = Answers.room(n, k, codes, table, evidence, dtype)
    model = k, pack(mean, scale, log_norm, const, values), log_norm is not None
    contiguous = as_flat(X)
    if contiguous is not None:
        return answers.scores(_score_flat(*contiguous, n, d, model, answers), dtype)
    bad = -1
    for chunk in contiguous_chunks(X, block_bounds(n, GROUP * GROUPS_PER_BLOCK)):
        part = answers.part(chunk.start, chunk.stop)
        size = chunk.stop - chunk.start
        found = _score_flat(chunk.data, chunk.by_columns, size, d, model, part)
        if found >= 0:
            bad = chunk.start + found
            break
    return answers.scores(bad, dtype)


def _score_flat(
    data: NDArray[Any],
    by_columns: bool,
    n: int,
    d: int,
    model: tuple[int, NDArray[np.float64], bool],
    answers: Answers,
) -> int:
    """Score contiguous rows; the first that is not finite, or -1.

    Whole groups are read where they are, and the last few rows from a copy that has room behind.
    """
    k, packed, skip = model
    groups = max(0, n - OVERREAD) // GROUP
    n_blocks = -(-groups // GROUPS_PER_BLOCK)
    left = n - groups * GROUP
    rest = padded_tail(data, by_columns, n, d, left, -(-left // GROUP) * GROUP * d + OVERREAD)
    bad = np.empty(n_blocks + 1, np.int64)
    _score(
        n_blocks + 1, data, rest, by_columns, n, d, k, groups, n_blocks, packed, skip,
        *answers.flat(), bad, work=n * d * k,
    )  # fmt: skip
    return int(bad[0]) if n_blocks == 0 else int(bad[np.argmax(bad >= 0)])


def pack(
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    log_norm: NDArray[np.float64] | None,
    const: NDArray[np.float64],
    values: NDArray[np.int64] | None,
) -> NDArray[np.float64]:
    """All that describes the classes in one array, labels as the bits of floats."""
    k, size = len(const), mean.size
    at = 2 * size if log_norm is None else 3 * size
    packed = np.empty(at + 2 * k)
    packed[:size] = mean.reshape(-1)
    packed[size : 2 * size] = scale.reshape(-1)
    if log_norm is not None:
        packed[2 * size : at] = log_norm.reshape(-1)
    packed[at : at + k] = const
    packed[at + k :].view(np.int64)[:] = np.arange(k) if values is None else values
    return packed


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    for dtype in (np.float64, np.float32):
        score(np.zeros((1, 1), dtype), zero, one, None, np.zeros(1), table="proba")
