"""The loop of every scoring kernel: blocks, groups of rows, the tail, overflow and outputs.

A kernel is this loop with two steps, which hold its mathematics:

- `score_group(rows, group, model, keeps, scratch)` sets the scores `scratch.s` (k, 32) of a group
  of rows and its best classes, and returns whether every row has one. Without `keeps` the scores
  are not read again.
- `rescore_row(rows, r, group, model, scratch)` sets `scratch.row_scores` (k,) of row r of a group,
  which no class scored above -inf, to scores that order and normalise.

The steps are arguments of the loop. Numba resolves them when it compiles the kernel, since each is
a compiled function of a type of its own, and puts them in line.

`model` is a struct of what the steps read. The loop reads these of its fields: k, the number of
classes; values (k,), what is put out for each, as the bits of floats; skip, whether a NaN is a
missing value and no error; extra, how many float64 of scratch the steps take.

Whole groups are read where they are. Kernels read eight features at a time, up to OVERREAD elements
past the end, and so the last rows are read from a padded copy.

Flags: FMA contraction only; there is no arithmetic here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import llvm_inlined
from ..._numba.threads import Kernel
from ..._numba.vectors import keep, pointer
from ..chunks import as_flat, block_bounds, contiguous_chunks
from ..rows import OVERREAD, Rows, padded_tail, round_up
from .log_odds import to_log_odds
from .outputs import (
    Outputs,
    Scores,
    Wanted,
    carve,
    clear_evidence,
    output_of,
    replace_scores,
    scratch_size,
    write_labels,
    write_posterior,
)
from .overflow import is_finite_row
from .posterior import GROUP

GROUPS_PER_BLOCK = 64


class Classes(Protocol):
    """A struct of parameters of k classes, whatever else it holds."""

    @property
    def k(self) -> int:
        """The number of classes."""


class Source(NamedTuple):
    """Rows (n, d) in contiguous memory, by rows or by columns.

    start: the number of the first. groups: how many whole groups are read where they are.
    """

    data: Any
    by_columns: bool
    n: int
    d: int
    start: int
    groups: int


class Block(NamedTuple):
    """Rows `start` to `stop` of a kernel's rows, whose outputs begin at `to`."""

    start: int
    stop: int
    to: int


class Group(NamedTuple):
    """Up to 32 rows: where the first is, where its outputs go, and how many there are."""

    at: int
    to: int
    m: int


@llvm_inlined
def _rescore(rows, group, model, out, scratch, rescore_row):
    """Score the rows that no class scored above -inf; the first that is not finite, or -1."""
    for r in range(group.m):
        scratch.is_overflow[r] = 0.0
        if scratch.best[r] > -np.inf:
            continue
        if not is_finite_row(rows, group.at + r, model.skip):
            return r
        scratch.is_overflow[r] = 1.0
        rescore_row(rows, r, group, model, scratch)
        replace_scores(r, group, model, scratch, out)
    for r in range(group.m, GROUP):
        # A number that is finite; what comes of it is not written.
        scratch.best[r] = 0.0
    return -1


@llvm_inlined
def _score_block(rows, block, model, out, scratch, score_group, rescore_row):
    """Score the rows of a block; the first that is not finite, or -1."""
    keeps = out.mode > 0 or out.wants_evidence
    to = block.to
    for at in range(block.start, block.stop, GROUP):
        group = Group(at, to, min(GROUP, block.stop - at))
        is_complete = score_group(rows, group, model, keeps, scratch)
        if out.wants_labels:
            write_labels(scratch.label, group.m, out.labels, to)
        if not is_complete:
            bad = _rescore(rows, group, model, out, scratch, rescore_row)
            if bad >= 0:
                return at + bad
        write_posterior(model.k, group, scratch, out)
        if not is_complete and out.wants_evidence:
            clear_evidence(group, scratch, out)
        to += GROUP
    return -1


@llvm_inlined
def tail_of(source, is_scored):
    """The rows after the whole groups, padded; none where the call does not score them."""
    left = source.n - source.groups * GROUP if is_scored else 0
    return padded_tail(source, left, round_up(left, GROUP))


@llvm_inlined
def rows_of_block(b, source, tail, n_blocks):
    """The rows that block b of n_blocks and the tail reads, and its place in them."""
    n, groups = source.n, source.groups
    if b == n_blocks:
        start = groups * GROUP
        rows = Rows(pointer(tail), False, n - start, source.d)
        return rows, Block(0, n - start, source.start + start)
    start, stop = b * groups // n_blocks * GROUP, (b + 1) * groups // n_blocks * GROUP
    rows = Rows(pointer(source.data), source.by_columns, n, source.d)
    return rows, Block(start, stop, source.start + start)


@llvm_inlined
def score_blocks(first, last, source, model, outputs, bad, score_group, rescore_row):
    """Score blocks `first` to `last` of whole groups, the last of all of which is the tail.

    bad (blocks,) takes the first row of each that is not finite, or -1.
    """
    out = output_of(outputs)
    memory = np.empty(scratch_size(model.k) + model.extra)
    scratch = carve(pointer(memory), model.k)
    n_blocks = len(bad) - 1
    tail = tail_of(source, last > n_blocks)
    for b in range(first, last):
        rows, block = rows_of_block(b, source, tail, n_blocks)
        found = _score_block(rows, block, model, out, scratch, score_group, rescore_row)
        bad[b] = block.to - block.start + found if found >= 0 else -1
    keep(memory)
    keep(tail)


def score_rows(
    kernel: Kernel, X: NDArray[Any], parameters: Classes, wanted: Wanted, row_work: int
) -> Scores:
    """Score rows X (n, d) by a kernel; row_work is its number of multiply-adds a row."""
    pieces = ((source, parameters) for source in sources(X))
    return score_pieces(kernel, pieces, len(X), parameters.k, wanted, row_work)


def score_pieces(
    kernel: Kernel,
    pieces: Iterable[tuple[Source, Classes]],
    n: int,
    k: int,
    wanted: Wanted,
    row_work: int,
) -> Scores:
    """Score n rows that come in pieces, each with parameters of k classes."""
    outputs = Outputs.allocate(n, k, wanted)
    bad = -1
    for source, parameters in pieces:
        bad = run(kernel, source, parameters, outputs, row_work)
        if bad >= 0:
            break
    if wanted.table == "log_odds" and bad < 0:
        to_log_odds(outputs.wide)
    return outputs.result(wanted, bad)


def label_rows(
    kernel: Kernel, X: NDArray[Any], parameters: Classes, wanted: Wanted, row_work: int
) -> Scores | None:
    """Label rows X (n, d) by a kernel for labels alone.

    None: a row whose values are finite has no class that scores it above -inf.
    """
    outputs = Outputs.allocate(len(X), parameters.k, wanted)
    for source in sources(X):
        bad = run(kernel, source, parameters, outputs.labels, row_work)
        if bad >= 0:
            return None if np.isfinite(X[bad]).all() else outputs.result(wanted, bad)
    return outputs.result(wanted, -1)


def source_of(data: NDArray[Any], by_columns: bool, n: int, d: int, start: int) -> Source:
    """Rows in contiguous memory, behind which nothing needs to be readable, as a source."""
    return Source(data, by_columns, n, d, start, _whole_groups(n))


def sources(X: NDArray[Any]) -> Iterator[Source]:
    """X (n, d) as one source where kernels can read it, or else as chunks in a buffer."""
    (n, d), contiguous = X.shape, as_flat(X)
    if contiguous is not None:
        yield source_of(*contiguous, n, d, 0)
        return
    for chunk in contiguous_chunks(X, block_bounds(n, GROUP * GROUPS_PER_BLOCK)):
        n = chunk.stop - chunk.start
        yield source_of(chunk.data, chunk.by_columns, n, d, chunk.start)


def _whole_groups(n: int) -> int:
    return max(0, n - OVERREAD) // GROUP


def run(kernel: Kernel, source: Source, parameters: Classes, outputs: Any, row_work: int) -> int:
    """Run a kernel on contiguous rows; the number of the first that it reports, or -1."""
    n_blocks = -(-source.groups // GROUPS_PER_BLOCK) + 1
    bad = np.empty(n_blocks, np.int64)
    kernel(n_blocks, source, parameters, outputs, bad, work=source.n * row_work)
    return int(bad[0]) if n_blocks == 1 else int(bad[np.argmax(bad >= 0)])
