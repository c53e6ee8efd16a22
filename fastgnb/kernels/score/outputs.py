"""What scoring puts out, whatever the scores come from: labels, tables and log evidence of groups.

A group is 32 rows, a row a lane. Kernels set its scores s (k, 32) and its best classes, and what is
wanted of them is written here.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import llvm_inlined
from ..._numba.vectors import (
    aligned,
    all_greater,
    load,
    pointer,
    shifted,
    splat,
    store,
    where_greater,
)
from .posterior import (
    GROUP,
    JOINT,
    LOG_PROBA,
    PROBA,
    SCORES,
    divide,
    exponentials,
    fill_page,
    log_rounded,
    subtract,
    write_columns,
    write_page,
)

Table = Literal["joint", "log_proba", "proba", "log_odds"]

# Log odds are made of complete scores, by a kernel that only those compile who want them.
MODES = {
    None: 0, "joint": JOINT, "log_odds": SCORES, "log_proba": LOG_PROBA, "proba": PROBA,
}  # fmt: skip


class Wanted(NamedTuple):
    """What is wanted of each row.

    codes: the position of the best class, or its value in `values` (k,) int64. table: a row of k
    numbers in `dtype`, float32 or float64; log odds are float64. column_major: whether the table is
    column-major, as log odds never are. evidence: log p(x). out: a C-contiguous array for the table
    where one is wanted, or else for the codes; None makes a new one. calls: how many calls like
    this one there are, of which the first may have to compile a kernel.
    """

    codes: bool = True
    values: NDArray[np.int64] | None = None
    table: Table | None = None
    evidence: bool = False
    dtype: Any = np.float64
    column_major: bool = False
    out: NDArray[Any] | None = None
    calls: int = 1

    @property
    def is_narrow(self) -> bool:
        """Whether the table is float32."""
        return bool(self.dtype == np.float32) and self.table != "log_odds"

    @property
    def by_columns(self) -> bool:
        """Whether the table is column-major."""
        return self.column_major and self.table not in (None, "log_odds")

    @property
    def is_labels(self) -> bool:
        """Whether labels alone are wanted."""
        return self.codes and self.table is None and not self.evidence

    def labels(self, k: int) -> NDArray[np.float64]:
        """What is put out for each of k classes, as the bits of floats."""
        values = np.arange(k, dtype=np.int64) if self.values is None else self.values
        return values.view(np.float64)

    def new_labels(self, n: int) -> NDArray[np.float64]:
        """Memory for the labels of n rows, as the bits of floats; (0,) where none are wanted."""
        if self.out is not None and self.table is None:
            return self.out.view(np.float64)
        return np.empty(n if self.codes else 0)

    def new_table(self, n: int, k: int) -> NDArray[Any]:
        """Memory for the table (n, k), or by columns (k, n); n is 0 where none is wanted."""
        if self.out is not None and self.table is not None:
            return self.out
        n = n if self.table else 0
        shape = (k, n) if self.by_columns else (n, k)
        return np.empty(shape, np.float32 if self.is_narrow else np.float64)


class Scores(NamedTuple):
    """What scoring n rows gives; without what was not asked for.

    codes (n,) int64, or (0,): position of the best class, or its value; table (n, k); evidence
    (n,): log p(x); bad: the first row that holds a NaN or an infinity, or -1.
    """

    codes: NDArray[np.int64]
    table: NDArray[Any] | None
    evidence: NDArray[np.float64] | None
    bad: int


class Outputs(NamedTuple):
    """Arrays for what is wanted of n rows: labels (n,) or (0,), a table and evidence, or (0, ...).

    Labels are the bits of floats. narrow and wide are the table (n, k), or by columns (k, n), as
    float32 and float64, of which one is empty.
    """

    mode: int
    labels: NDArray[np.float64]
    by_columns: bool
    narrow: NDArray[np.float32]
    wide: NDArray[np.float64]
    evidence: NDArray[np.float64]

    @classmethod
    def allocate(cls, n: int, k: int, wanted: Wanted) -> Self:
        """Make arrays for n rows and k classes, but for the one that is given."""
        labels = wanted.new_labels(n)
        table = wanted.new_table(n, k)
        none = np.empty((0, 0), np.float64 if wanted.is_narrow else np.float32)
        narrow, wide = (table, none) if wanted.is_narrow else (none, table)
        evidence = np.empty(n if wanted.evidence else 0)
        return cls(MODES[wanted.table], labels, wanted.by_columns, narrow, wide, evidence)

    def result(self, wanted: Wanted, bad: int) -> Scores:
        """What was wanted, with the first row that is not finite, or -1."""
        table = self.narrow if wanted.is_narrow else self.wide
        return Scores(
            self.labels.view(np.int64),
            (table.T if self.by_columns else table) if self.mode else None,
            self.evidence if wanted.evidence else None,
            bad,
        )


class Output(NamedTuple):
    """`Outputs` inside a kernel, by pointers, and what is wanted.

    n: how many rows a column-major table has, or 0.
    """

    wants_labels: bool
    labels: Any
    mode: int
    n: int
    is_narrow: bool
    narrow: Any
    wide: Any
    wants_evidence: bool
    evidence: Any


class Scratch(NamedTuple):
    """Memory for one group: its best scores and their labels (32,), scores s (k, 32), and more.

    total: sums of exponentials (32,). is_overflow: marks of the rows that were rescored (32,).
    page: the group's piece of the table. row_scores: three numbers a class. extra: what the model's
    own steps take, from a cache line's start on.
    """

    best: Any
    label: Any
    total: Any
    is_overflow: Any
    s: Any
    page: Any
    row_scores: Any
    extra: Any


@llvm_inlined
def scratch_size(k):
    return 4 * GROUP + (k + 8) * GROUP + (k * GROUP + 8) + 3 * k + 16


@llvm_inlined
def carve(memory, k):
    """The parts of `scratch_size` numbers, and what is behind them."""
    best = aligned(memory)
    label, total, marks = shifted(best, GROUP), shifted(best, 2 * GROUP), shifted(best, 3 * GROUP)
    s = shifted(best, 4 * GROUP)
    page = shifted(s, (k + 8) * GROUP)
    row_scores = shifted(page, k * GROUP + 8)
    extra = aligned(shifted(row_scores, 3 * k))
    return Scratch(best, label, total, marks, s, page, row_scores, extra)


@llvm_inlined
def output_of(outputs):
    n = max(outputs.narrow.shape[1], outputs.wide.shape[1]) if outputs.by_columns else 0
    return Output(
        len(outputs.labels) > 0, pointer(outputs.labels), outputs.mode, n,
        len(outputs.narrow) > 0, pointer(outputs.narrow), pointer(outputs.wide),
        len(outputs.evidence) > 0, pointer(outputs.evidence),
    )  # fmt: skip


@llvm_inlined
def update_argmax(a, value, best, label):
    """The better of scores a and `best`, and its label; a tie keeps the first class."""
    return where_greater(a, best, a, best), where_greater(a, best, value, label)


@llvm_inlined
def store_argmax(best, label, h, scratch):
    """Keep the best classes of eight rows; return whether every row has one."""
    store(scratch.best, h, best)
    store(scratch.label, h, label)
    return all_greater(best, splat(-np.inf))


@llvm_inlined
def find_argmax(model, scratch):
    """Find the best classes of 32 rows from their scores; return whether every row has one."""
    is_complete = True
    for h in range(0, GROUP, 8):
        best, label = splat(-np.inf), splat(model.values[0])
        for c in range(model.k):
            a = load(scratch.s, c * GROUP + h)
            best, label = update_argmax(a, splat(model.values[c]), best, label)
        is_complete &= store_argmax(best, label, h, scratch)
    return is_complete


@llvm_inlined
def write_labels(label, m, labels, to):
    if m == GROUP:
        for h in range(0, GROUP, 8):
            store(labels, to + h, load(label, h))
    else:
        for r in range(m):
            labels[to + r] = label[r]


@llvm_inlined
def write_posterior(k, group, scratch, out):
    """Write the scores of a group to the table, and its log evidence."""
    if out.mode > SCORES or out.wants_evidence:
        exponentials(scratch.s, k, scratch.best, scratch.total, out.mode == PROBA)
        if out.wants_evidence:
            for r in range(group.m):
                out.evidence[group.to + r] = scratch.best[r] + np.log(scratch.total[r])
        if out.mode == PROBA:
            divide(scratch.s, k, scratch.total)
        elif out.mode == LOG_PROBA:
            subtract(scratch.s, k, scratch.best)
            log_rounded(scratch.total, out.is_narrow, out.narrow, group.m)
            subtract(scratch.s, k, scratch.total)
    if out.n > 0:
        if out.is_narrow:
            write_columns(scratch.s, k, group.m, out.narrow, out.n, group.to)
        else:
            write_columns(scratch.s, k, group.m, out.wide, out.n, group.to)
    elif out.mode > 0:
        fill_page(scratch.s, k, scratch.page)
        if out.is_narrow:
            write_page(scratch.page, group.m * k, out.narrow, group.to * k)
        else:
            write_page(scratch.page, group.m * k, out.wide, group.to * k)


@llvm_inlined
def replace_scores(r, group, model, scratch, out):
    """Make `row_scores` (k,) the scores of row r of a group, which no class scored above -inf.

    Joint log likelihoods stay as they are; SCORES, of which log odds are made, do not.
    """
    for c in range(model.k):
        if out.mode != JOINT:
            scratch.s[c * GROUP + r] = scratch.row_scores[c]
        if scratch.row_scores[c] > scratch.best[r]:
            scratch.best[r] = scratch.row_scores[c]
            if out.wants_labels:
                out.labels[group.to + r] = model.values[c]


@llvm_inlined
def clear_evidence(group, scratch, out):
    """Set the log evidence of the rows that were rescored to -inf."""
    for r in range(group.m):
        if scratch.is_overflow[r] > 0.0:
            out.evidence[group.to + r] = -np.inf
