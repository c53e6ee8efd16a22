"""Labels of rows by the model of all others, for most rows without computing their scores by it.

The labels by the model of all rows come first, from `certified`. A label stays what it is where it
leads by a margin, see `left_out_margin`. Rows for which that is not certain are copied while they
are in the cache, and scored in closed form by `leave_one_out`, so that labels are those of that.
One thing differs: where two classes other than the row's own are within 1e-12 of their scores,
which rounding decides, the label is that of the model of all rows.

Flags: FMA contraction only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, readonly, warmup_call
from ..._numba.in_turn import KernelsInTurn
from ..._numba.threads import Kernel
from ..._numba.transposes import columns
from ..._numba.vectors import aligned, all_greater, keep, load, pointer, shifted, splat, store
from ..rows import round_up
from .certified import marked
from .diagonal import DiagonalTerms
from .driver import GROUPS_PER_BLOCK, Classes, label_rows, rows_of_block, sources, tail_of
from .leave_one_out import Outputs, score_listed, source_of_copies
from .left_out_margin import Margin, margin, squares
from .left_out_model import LeftOut, pack, smallest_terms
from .outputs import Wanted
from .own_class import copy_eight
from .posterior import GROUP

# Multiply-adds of a call from which on it pays.
_CALL_WORK = 1 << 22
# Rows that tell the margin, and the largest share of them whose labels may be open.
_SAMPLED, _MOST_OPEN = 2048, 0.5
# Bytes of rows that are read twice from the cache, and least such parts, which threads share.
_READ_TWICE, _PARTS = 1 << 23, 24
_ROWS_PER_BLOCK = GROUP * GROUPS_PER_BLOCK


class _Packed(NamedTuple):
    """Means of k classes (k, d8), and steep: inverse variances over the roots of limits.

    loses: see `Margin`.
    """

    k: int
    loses: bool
    numbers: NDArray[np.float64]


class _Means(NamedTuple):
    """`_Packed` inside the kernel, and scratch: sums (8, 8), and rows (8, d8)."""

    k: int
    loses: bool
    d8: int
    mean: Any
    steep: Any
    sums: Any
    tile: Any


class _Listed(NamedTuple):
    """Open rows, listed for each block from its first row on: places and classes (n,).

    found (2 blocks,): the first row of each block, and how many are open.
    """

    places: NDArray[np.int64]
    classes: NDArray[np.int32]
    found: NDArray[np.int64]


@llvm_inlined
def _sum_row(x, at, p, d, means):
    """Eight lanes whose sum is R over its limit, of a row at `at` and the class from p on."""
    total = splat(0.0)
    for j in range(0, d, 8):
        t = load(x, at + j) - load(means.mean, p + j)
        r = t * t * load(means.steep, p + j)
        total = total + r * r
    return total


@llvm_inlined
def _copy_row(x, at, d, to, p):
    """Copy a row; what comes after it is overwritten by the next one."""
    for j in range(0, d, 8):
        store(to, p + j, load(x, at + j))


@llvm_inlined
def _list_block(rows, block, means, codes, labels, places, classes, copies):
    """List the rows of a block whose labels are open, copy them, and unmark labels.

    Returns how many they are.
    """
    n, d, sums = 0, rows.d, means.sums
    for at in range(block.start, block.stop, 8):
        to, m = block.to + at - block.start, min(8, block.stop - at)
        if rows.by_columns:
            copy_eight(rows, at, m, means.tile, means.d8)
        for q in range(8):
            p = codes[to + min(q, m - 1)] * means.d8
            if rows.by_columns:
                store(sums, 8 * q, _sum_row(means.tile, q * means.d8, p, d, means))
            else:
                store(sums, 8 * q, _sum_row(rows.data, (at + q) * d, p, d, means))
        a, b, c, e, f, g, h, i = columns(sums, 0, 8)
        store(sums, 0, ((a + b) + (c + e)) + ((f + g) + (h + i)))
        highest = labels[to + m - 1]
        for q in range(m - 1):
            highest = max(highest, labels[to + q])
        if m == 8 and highest < means.k and all_greater(splat(1.0), load(sums, 0)):
            continue
        for q in range(m):
            label, is_open = labels[to + q], not sums[q] < 1.0
            if label >= means.k:
                label -= means.k
                labels[to + q] = label
                is_open |= not means.loses or label == codes[to + q]
            if is_open:
                places[block.to + n] = to + q
                classes[block.to + n] = codes[to + q]
                if rows.by_columns:
                    _copy_row(means.tile, q * means.d8, d, copies, n * d)
                else:
                    _copy_row(rows.data, (at + q) * d, d, copies, n * d)
                n += 1
    return n


@kernel(variants=2)
def _list_open(first, last, source, packed, classes, labels, listed, copies):
    """List the rows whose labels are open, and copy those of block b to row 2048 (b - first)."""
    found = listed.found
    d8, k, n_blocks = round_up(source.d, 8), packed.k, len(found) // 2 - 1
    memory = np.empty(8 + 64 + 8 * d8)
    mean, sums = pointer(packed.numbers), aligned(pointer(memory))
    means = _Means(k, packed.loses, d8, mean, shifted(mean, k * d8), sums, shifted(sums, 64))
    codes, given, places = pointer(classes), pointer(labels), pointer(listed.places)
    theirs, size = pointer(listed.classes), _ROWS_PER_BLOCK * source.d
    tail = tail_of(source, last > n_blocks)
    for b in range(first, last):
        rows, block = rows_of_block(b, source, tail, n_blocks)
        to = shifted(pointer(copies), (b - first) * size)
        found[2 * b] = block.to
        found[2 * b + 1] = _list_block(rows, block, means, codes, given, places, theirs, to)
    keep(memory)
    keep(tail)


class _LabelListScore(KernelsInTurn):
    """The three kernels, over `step` blocks each. Each thread has memory for the rows of these."""

    def __init__(self, label: Kernel, step: int, d: int) -> None:
        super().__init__((label, _list_open, score_listed), step)
        self.memory, self.size = threading.local(), (step * _ROWS_PER_BLOCK, d)

    def _run_each(self, first: int, last: int, args: Sequence[tuple[Any, ...]]) -> None:
        source = self.memory.__dict__.get("source")
        if source is None:
            source = self.memory.__dict__["source"] = source_of_copies(*self.size)
        label, check, score = args
        copied = source._replace(data=readonly(source.data))
        super()._run_each(first, last, (label, (*check, source.data), (copied, *score)))


def label_left_out(
    X: NDArray[Any], codes: NDArray[np.int32], terms: LeftOut
) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """Best classes (n,), and which rows need a refit (n,), as `score_left_out`, of rows X (n, d).

    None where the way of `score_left_out` is the faster one. No row has a weight.
    Cost: that of labels by one model, another read of X, and that of `score_left_out` for the rows
    whose class leads by less than the margin.
    """
    n, (k, d) = len(X), terms.mean.shape
    if n * k * d < _CALL_WORK:
        return None
    sample = np.arange(0, n, -(-n // _SAMPLED))
    given, classes = X[sample].astype(np.float64), codes[sample]
    lead = margin(terms, squares(given, classes, terms), classes)
    if lead is None:
        return None
    scale = np.broadcast_to(np.sqrt(0.5 * terms.inverse), (k, d))
    diagonal = DiagonalTerms(terms.mean, scale, None, terms.const)
    found = marked(diagonal, lead.distance, lead.slope, is_exact=lead.loses)
    if found is None or _open_share(given, classes, found, lead) > _MOST_OPEN:
        return None
    packed, parameters = _pack(terms, lead), pack(terms)
    labels, redo, own = np.empty(n, np.int64), np.zeros(n, np.bool_), np.ascontiguousarray(codes)
    step = min(_READ_TWICE // (X.itemsize * d), n // _PARTS) // _ROWS_PER_BLOCK
    kernels = _LabelListScore(found[0], max(1, step), d)
    places, theirs = np.empty(n, np.int64), np.empty(n, np.int32)
    out = Outputs(np.empty(n), np.empty((0, k)), np.empty(n, np.uint8))
    for source in sources(X):
        n_blocks = -(-source.groups // GROUPS_PER_BLOCK) + 1
        bad = np.empty(n_blocks, np.int64)
        listed = _Listed(places, theirs, np.empty(2 * n_blocks, np.int64))
        label = source, found[1], labels.view(np.float64), bad
        check = source, packed, readonly(own), labels, listed
        score = parameters, readonly(theirs), listed.found, out
        kernels(n_blocks, label, check, score, work=source.n * (k + 3) * d)
        if bad.max() >= 0:
            return None
        at = _listed(listed.found)
        labels[places[at]], redo[places[at]] = out.labels.view(np.int64)[at], out.redo[at]
    return labels, redo


def _open_share(
    X: NDArray[np.float64], codes: NDArray[np.int32], found: tuple[Kernel, Classes], lead: Margin
) -> float:
    """The share of rows X (n, d) whose labels are open."""
    kernel, parameters = found
    scores = label_rows(kernel, X, parameters, Wanted(), X.shape[1] * parameters.k)
    if scores is None or scores.bad >= 0:
        return 1.0
    labels = scores.codes - parameters.k
    return float(np.mean((labels == codes) if lead.loses else (labels >= 0)))


def _listed(found: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the open rows of all blocks are listed."""
    first, n = found[::2], found[1::2]
    before = np.cumsum(n) - n
    return np.repeat(first - before, n) + np.arange(n.sum())


def _pack(terms: LeftOut, found: Margin) -> _Packed:
    """Parameters in one array, features padded with zeros."""
    k, d = terms.mean.shape
    numbers = np.zeros((2, k, round_up(d, 8)))
    numbers[0, :, :d] = terms.mean
    with np.errstate(divide="ignore"):
        # Infinity where rows are always open: the sum is then infinite, or NaN at the mean.
        numbers[1, :, :d] = terms.inverse / found.roots[:, None]
    return _Packed(k, found.loses, numbers.reshape(-1))


@warmup_call
def _warm() -> None:
    terms = smallest_terms()
    packed = _pack(terms, Margin(0.0, 0.0, np.ones(1), False))
    for dtype in (np.float64, np.float32):
        places, codes = np.zeros(1, np.int64), np.zeros(1, np.int32)
        listed = _Listed(places, codes, np.zeros(2, np.int64))
        for source in sources(np.zeros((1, 1), dtype)):
            copies = source_of_copies(_ROWS_PER_BLOCK, 1).data
            _list_open(1, source, packed, readonly(codes), places.copy(), listed, copies, work=1)
