"""Rows and parameters to joint log likelihoods, fused with what is wanted of them.

A row is one vector lane, and every lane does the same operations in the same order, so a row's
scores have the same bits alone, anywhere in any batch, and for either layout. A class costs three
float64 operations a feature: t = (x - mean) * scale, s -= t * t, of which the first runs beside the
other two where there are adders apart from the multipliers. The square is never expanded, so
nothing cancels however far the data lie from 0.

Labels alone are a kernel of their own, which compiles in a fraction of the time of the other, for
tables, log evidence, missing values, and rows that no class scores above -inf. See `squares` for
the loops of both.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, warmup_call
from ..._numba.threads import Kernel
from ..._numba.vectors import aligned, all_greater, keep, load, pointer, shifted, splat
from .certificate import pays
from .driver import Classes, label_rows, rows_of_block, score_blocks, score_rows, tail_of
from .outputs import Scores, Table, Wanted, write_labels
from .overflow import score_overflowed
from .posterior import GROUP
from .squares import score_classes, score_classes_skip, tile_size


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


class LabelScratch(NamedTuple):
    """Memory for one group whose labels alone are wanted; as in `outputs.Scratch`."""

    best: Any
    label: Any
    s: Any
    extra: Any


@llvm_inlined
def _is_complete(best):
    """Whether 32 rows all have a best class."""
    low = splat(-np.inf)
    lower = all_greater(load(best, 0), low) and all_greater(load(best, 8), low)
    return lower and all_greater(load(best, 16), low) and all_greater(load(best, 24), low)


@llvm_inlined
def score_group(rows, group, model, keeps, scratch):
    """Score 32 rows and find their best classes; return whether every row has one."""
    if model.skip:
        score_classes_skip(rows, group.at, model, scratch)
    else:
        score_classes(rows, group.at, model, True, scratch)
    return _is_complete(scratch.best)


@llvm_inlined
def _rescore_row(rows, r, group, model, scratch):
    scores = scratch.row_scores
    score_overflowed(rows, group.at + r, model, scores, shifted(scores, model.k))


@llvm_inlined
def unpack(packed, d):
    """The parts of packed parameters of d features."""
    k, mean = packed.k, pointer(packed.numbers)
    scale, log_norm = shifted(mean, k * d), shifted(mean, 2 * k * d)
    const = shifted(log_norm, k * d if packed.skip else 0)
    values = shifted(const, k)
    return DiagonalModel(k, mean, scale, log_norm, const, values, packed.skip, tile_size(d))


@llvm_inlined
def label_block(rows, block, model, out, scratch):
    """Label the rows of a block; the number of the first without a best class, or -1."""
    for at in range(block.start, block.stop, GROUP):
        score_classes(rows, at, model, False, scratch)
        m, to = min(GROUP, block.stop - at), block.to + at - block.start
        if not _is_complete(scratch.best):
            for r in range(m):
                if not scratch.best[r] > -np.inf:
                    return to + r
        write_labels(scratch.label, m, out, to)
    return -1


@kernel(variants=2)
def _label(first, last, source, packed, labels, bad):
    """Label blocks of rows; bad (blocks,) takes the first row of each without a label, or -1."""
    model = unpack(packed, source.d)
    memory = np.empty(2 * GROUP + model.extra + model.k * GROUP + 8)
    best = aligned(pointer(memory))
    label, tile = shifted(best, GROUP), shifted(best, 2 * GROUP)
    scratch = LabelScratch(best, label, shifted(tile, model.extra), tile)
    tail = tail_of(source, last > len(bad) - 1)
    for b in range(first, last):
        rows, block = rows_of_block(b, source, tail, len(bad) - 1)
        bad[b] = label_block(rows, block, model, pointer(labels), scratch)
    keep(memory)
    keep(tail)


@kernel(variants=2)
def _score(first, last, source, packed, outputs, bad):
    """Score blocks of rows. See `driver.score_blocks`."""
    model = unpack(packed, source.d)
    score_blocks(first, last, source, model, outputs, bad, score_group, _rescore_row)


def score(X: NDArray[Any], terms: DiagonalTerms, wanted: Wanted) -> Scores:
    """Score rows X (n, d) against k classes: s_c = const_c - sum_j ((x_j - mean_cj) scale_cj)^2.

    Cost: one read of X, 3 n d k float64 operations. Error: relative 1e-15 per term. Labels alone
    of many rows are found by `certified`, where the parameters allow it: the same, faster.
    """
    packed = pack(terms, wanted)
    if wanted.is_labels and not packed.skip:
        certain = _certain(X, terms, wanted)
        kernel, parameters = (_label, packed) if certain is None else certain
        scores = label_rows(kernel, X, parameters, wanted, terms.mean.size)
        if scores is not None:
            return scores
    return score_rows(_score, X, packed, wanted, terms.mean.size)


def labels_in_float64(terms: DiagonalTerms) -> tuple[Kernel, Packed]:
    """The kernel of labels alone, and its parameters; no value is missing."""
    return _label, pack(terms, Wanted())


def _certain(
    X: NDArray[Any], terms: DiagonalTerms, wanted: Wanted
) -> tuple[Kernel, Classes] | None:
    """The kernel of certified labels and its parameters, where these pay for rows X (n, d)."""
    n = len(X) * wanted.calls
    if not pays(n, terms.mean.shape, is_narrow=X.dtype == np.float32):
        return None
    from .certified import labeller

    return labeller(terms, wanted, X.dtype)


def pack(terms: DiagonalTerms, wanted: Wanted) -> Packed:
    """Copy parameters of any layout, and what is put out for each class, into one array."""
    mean, scale, log_norm, const = terms
    norms = () if log_norm is None else (log_norm.reshape(-1),)
    labels = wanted.labels(len(const))
    numbers = np.concatenate((mean.reshape(-1), scale.reshape(-1), *norms, const, labels))
    return Packed(len(const), log_norm is not None, numbers)


@warmup_call(cases=(None, "proba"))
def _warm(table: Table | None) -> None:
    terms = DiagonalTerms(np.zeros((1, 1)), np.ones((1, 1)), None, np.zeros(1))
    for dtype in (np.float64, np.float32):
        score(np.zeros((1, 1), dtype), terms, Wanted(table=table))
