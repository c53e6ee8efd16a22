"""Rows and parameters to joint log likelihoods, fused with what is wanted of them.

A row is one vector lane, and every lane does the same operations in the same order, so a row's
scores have the same bits alone, anywhere in any batch, and for either layout. A class costs three
float64 operations a feature: t = (x - mean) * scale, s -= t * t, of which the first runs beside the
other two where there are adders apart from the multipliers. The square is never expanded, so
nothing cancels however far the data lie from 0.

Eight features of eight rows are transposed in registers and stay there while every class takes its
squares. Only the scores are kept in memory in between, and they are few.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import ir_inlined, kernel, llvm_inlined, warmup_call
from ..._numba.vectors import load, pointer, shifted, splat, store, where_number
from ..rows import eight_rows, fetch_eight
from .driver import score_blocks, score_rows
from .outputs import Scores, Wanted, store_argmax, update_argmax
from .overflow import score_overflowed
from .posterior import GROUP

# Rows between those scored and those fetched from memory.
_AHEAD = 2 * GROUP


class DiagonalTerms(NamedTuple):
    """Parameters of k classes: a feature adds -((x - mean) scale)^2 to a class's score.

    mean, scale (k, d); const (k,): what a score begins with. log_norm (k, d), where given, is what
    a feature takes away besides its square; the whole term of a NaN is then left out.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    log_norm: NDArray[np.float64] | None
    const: NDArray[np.float64]


class Packed(NamedTuple):
    """`DiagonalTerms` and what is put out for k classes as kernels take them, in one array.

    They are read side by side. Where arrays of their own lie depends on the process, and costs up
    to a third of the speed where their addresses clash in the cache.
    """

    k: int
    skip: bool
    numbers: NDArray[np.float64]


class DiagonalModel(NamedTuple):
    """`Packed` inside a kernel: pointers to its parts, and what the driver reads of a model."""

    k: int
    mean: Any
    scale: Any
    log_norm: Any
    const: Any
    values: Any
    skip: bool
    extra: int


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
def _up_to_eight(a, x, mean, scale, p, m):
    """Take the squares of m features, 1 to 8, from the scores a."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    if m >= 4:
        a = _four(a, x0, x1, x2, x3, mean, scale, p)
        if m == 8:
            return _four(a, x4, x5, x6, x7, mean, scale, p + 4)
        if m > 4:
            a = _up_to_three(a, x4, x5, x6, mean, scale, p + 4, m - 4)
        return a
    return _up_to_three(a, x0, x1, x2, mean, scale, p, m)


@llvm_inlined
def _score_eight(rows, at, model, h, keeps, scratch):
    """Scores of eight rows, and their best classes, at lanes h to h + 8 of a group.

    The scores s are complete with `keeps` only. Returns whether every row has a best class.
    """
    d, s, mean, scale = rows.d, scratch.s, model.mean, model.scale
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
    x = eight_rows(rows, at, last)
    best, label = splat(-np.inf), splat(model.values[0])
    for c in range(model.k):
        a = splat(model.const[c]) if last == 0 else load(s, c * GROUP + h)
        a = _up_to_eight(a, x, mean, scale, c * d + last, d - last)
        if keeps:
            store(s, c * GROUP + h, a)
        best, label = update_argmax(a, splat(model.values[c]), best, label)
    return store_argmax(best, label, h, scratch)


@llvm_inlined
def _score_eight_skip(rows, at, model, h, scratch):
    """As `_score_eight`, with NaN left out and all scores kept."""
    d, s, tile = rows.d, scratch.s, scratch.tile
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
        best, label = update_argmax(a, splat(model.values[c]), best, label)
    return store_argmax(best, label, h, scratch)


@ir_inlined
def score_group(rows, group, model, keeps, scratch):
    """Score 32 rows and find their best classes; return whether every row has one."""
    is_complete = True
    for h in range(0, GROUP, 8):
        if model.skip:
            is_complete &= _score_eight_skip(rows, group.at + h, model, h, scratch)
        else:
            is_complete &= _score_eight(rows, group.at + h, model, h, keeps, scratch)
    return is_complete


@ir_inlined
def _rescore_row(rows, r, group, model, scratch):
    scores = scratch.row_scores
    score_overflowed(rows, group.at + r, model, scores, shifted(scores, model.k))


@ir_inlined
def unpack(packed, d):
    """The parts of packed parameters of d features."""
    k, mean = packed.k, pointer(packed.numbers)
    scale, log_norm = shifted(mean, k * d), shifted(mean, 2 * k * d)
    const = shifted(log_norm, k * d if packed.skip else 0)
    return DiagonalModel(k, mean, scale, log_norm, const, shifted(const, k), packed.skip, 0)


@kernel
def _score(first, last, source, packed, outputs, bad):
    """Score blocks of rows. See `driver.score_blocks`."""
    model = unpack(packed, source.d)
    score_blocks(first, last, source, model, outputs, bad, score_group, _rescore_row)


def score(X: NDArray[Any], terms: DiagonalTerms, wanted: Wanted) -> Scores:
    """Score rows X (n, d) against k classes: s_c = const_c - sum_j ((x_j - mean_cj) scale_cj)^2.

    Cost: one read of X, 3 n d k float64 operations. Error: relative 1e-15 per term.
    """
    return score_rows(_score, X, pack(terms, wanted), wanted, terms.mean.size)


def pack(terms: DiagonalTerms, wanted: Wanted) -> Packed:
    """Copy parameters of any layout, and what is put out for each class, into one array."""
    mean, scale, log_norm, const = terms
    norms = () if log_norm is None else (log_norm.reshape(-1),)
    labels = wanted.labels(len(const))
    numbers = np.concatenate((mean.reshape(-1), scale.reshape(-1), *norms, const, labels))
    return Packed(len(const), log_norm is not None, numbers)


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    for dtype in (np.float64, np.float32):
        terms = DiagonalTerms(zero, one, None, np.zeros(1))
        score(np.zeros((1, 1), dtype), terms, Wanted(table="proba"))
