"""Joint log likelihoods of continuous and categorical features, fused with what is wanted of them.

The continuous ones are scored as in `kernels.score.diagonal`. A categorical feature of a row is a
slot, a whole number, and adds what a table holds at that slot for each class. Both are added up in
the scores of a group, so that no (n, k) array of terms is made but the one that is asked for.

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
from ..._numba.vectors import pointer, shifted, splat, store
from ..rows import element
from .diagonal import DiagonalModel, DiagonalTerms, Packed, pack, score_group, unpack
from .driver import score_blocks, score_rows
from .outputs import Scores, Wanted, find_argmax
from .overflow import score_overflowed
from .posterior import GROUP


class CategoricalTerms(NamedTuple):
    """Slots (q, n) of n rows, int32, and per class and slot (k, width) what they add to a score.

    `limit` holds the same as `table`, and where that is -inf the part of it that stays finite as
    smoothing tends to 0.
    """

    slots: NDArray[np.int32]
    table: NDArray[np.float64]
    limit: NDArray[np.float64]


class Lookup(NamedTuple):
    """`CategoricalTerms` inside a kernel, by pointers, with their sizes.

    Slot q of row i is at q n + i.
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


class PackedMixed(NamedTuple):
    """Parameters of both kinds of features of k classes, as kernels take them."""

    k: int
    continuous: Packed
    categorical: CategoricalTerms


class MixedModel(NamedTuple):
    """`PackedMixed` inside a kernel, and what the driver reads of a model."""

    continuous: DiagonalModel
    lookup: Lookup
    k: int
    values: Any
    skip: bool
    extra: int


@ir_inlined
def _start_group(model, s):
    """Scores of 32 rows without continuous features."""
    for c in range(model.k):
        for h in range(0, GROUP, 8):
            store(s, c * GROUP + h, splat(model.const[c]))


@ir_inlined
def _score_mixed_group(rows, group, model, keeps, scratch):
    """Score 32 rows and find their best classes; return whether every row has one."""
    if rows.d > 0:
        score_group(rows, group, model.continuous, True, scratch)
    else:
        _start_group(model.continuous, scratch.s)
    _add_terms(model.lookup, group.to, group.m, model.k, scratch.s)
    return find_argmax(model, scratch)


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
def _score_overflowed(rows, at, model, lookup, i, scores):
    """Set scores (k,) of a row that no class scores above -inf; they order and normalise.

    `at` is its place in `rows`, and i that in the slots. `scores` holds 3 k numbers.
    """
    limits = shifted(scores, 2 * model.k)
    _set_limits(model, lookup, i, limits, scores)
    overflows = True
    for c in range(model.k):
        a = limits[c]
        for j in range(rows.d):
            p = c * rows.d + j
            x = np.float64(element(rows, at, j))
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
        score_overflowed(rows, at, limited, scores, shifted(scores, model.k))


@ir_inlined
def _rescore_row(rows, r, group, model, scratch):
    _score_overflowed(
        rows, group.at + r, model.continuous, model.lookup, group.to + r, scratch.row_scores
    )


@ir_inlined
def _unpack(packed, d):
    slots, table, limit = packed.categorical
    q, n = slots.shape
    lookup = Lookup(pointer(slots), n, q, pointer(table), pointer(limit), table.shape[1])
    continuous = unpack(packed.continuous, d)
    return MixedModel(continuous, lookup, packed.k, continuous.values, continuous.skip, 0)


@kernel
def _score_mixed(first, last, source, packed, outputs, bad):
    """Score blocks of rows. See `driver.score_blocks`."""
    model = _unpack(packed, source.d)
    score_blocks(first, last, source, model, outputs, bad, _score_mixed_group, _rescore_row)


def score_mixed(
    X: NDArray[Any], continuous: DiagonalTerms, categorical: CategoricalTerms, wanted: Wanted
) -> Scores:
    """Score rows of continuous X (n, d) and of slots (q, n), either of which may have none.

    Cost: one read of X and slots, n k (3 d + q) float64 operations.
    """
    terms = CategoricalTerms(*[readonly(np.ascontiguousarray(each)) for each in categorical])
    packed = PackedMixed(len(terms.table), pack(continuous, wanted), terms)
    row_work = packed.k * (X.shape[1] + len(terms.slots))
    return score_rows(_score_mixed, X, packed, wanted, row_work)


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    categorical = CategoricalTerms(np.zeros((1, 1), np.int32), zero, zero)
    for dtype in (np.float64, np.float32):
        continuous = DiagonalTerms(zero, one, None, np.zeros(1))
        score_mixed(np.zeros((1, 1), dtype), continuous, categorical, Wanted(table="proba"))
