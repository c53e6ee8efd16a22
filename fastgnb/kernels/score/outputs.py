"""What scoring puts out, whatever the scores come from: labels, tables and log evidence of groups.

A group is 32 rows, a row a lane. Kernels fill its scores s (k, 32) and settle its best classes, and
what is wanted of them is written here.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import ir_inlined, llvm_inlined
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
    divide,
    exponentials,
    fill_page,
    log_rounded,
    subtract,
    write_page,
)

Table = Literal["joint", "log_proba", "proba"]

MODES = {None: 0, "joint": JOINT, "log_proba": LOG_PROBA, "proba": PROBA}


class Scores(NamedTuple):
    """What scoring n rows gives; without what was not asked for.

    codes (n,) int64, or (0,): position of the best class, or its value; table (n, k); evidence
    (n,): log p(x); bad: the first row that holds a NaN or an infinity, or -1.
    """

    codes: NDArray[np.int64]
    table: NDArray[Any] | None
    evidence: NDArray[np.float64] | None
    bad: int


class Answers(NamedTuple):
    """Arrays for what is wanted of n rows: labels (n,) or (0,), a table and evidence, or (0, ...).

    narrow and wide are the table as float32 and float64, of which one has no rows.
    """

    labels: NDArray[np.int64]
    narrow: NDArray[np.float32]
    wide: NDArray[np.float64]
    evidence: NDArray[np.float64]
    mode: int
    wants_evidence: bool

    @classmethod
    def room(
        cls, n: int, k: int, codes: bool, table: Table | None, evidence: bool, dtype: Any
    ) -> Self:
        """Room for n rows and k classes."""
        is_narrow = dtype == np.float32
        size = n if table else 0
        return cls(
            np.empty(n if codes else 0, np.int64),
            np.empty((size if is_narrow else 0, k), np.float32),
            np.empty((0 if is_narrow else size, k), np.float64),
            np.empty(n if evidence else 0),
            MODES[table],
            evidence,
        )

    def part(self, start: int, stop: int) -> Self:
        """Those of rows start to stop."""
        return self._replace(
            labels=self.labels[start:stop], narrow=self.narrow[start:stop],
            wide=self.wide[start:stop], evidence=self.evidence[start:stop],
        )  # fmt: skip

    def flat(self) -> tuple[Any, ...]:
        """As kernels take them: mode, labels as the bits of floats, tables and evidence."""
        return (
            self.mode, self.labels.view(np.float64), self.narrow.reshape(-1),
            self.wide.reshape(-1), self.evidence,
        )  # fmt: skip

    def scores(self, bad: int, dtype: Any) -> Scores:
        """What was wanted, with the first row that is not finite, or -1."""
        table = self.narrow if dtype == np.float32 else self.wide
        evidence = self.evidence if self.wants_evidence else None
        return Scores(self.labels, table if self.mode else None, evidence, bad)


class Output(NamedTuple):
    """Where answers go: labels and evidence (n,), a table (n, k) of either type; what is wanted."""

    wants_labels: bool
    labels: Any
    mode: int
    is_narrow: bool
    narrow: Any
    wide: Any
    wants_evidence: bool
    evidence: Any


class Scratch(NamedTuple):
    """Room for one group: its best scores and their labels (32,), scores (k, 32), and more.

    total: sums of exponentials (32,). far: marks of the rows that were mended (32,). tile: eight
    features (8,) of eight rows. page: the group's piece of the table. few: two numbers a class.
    """

    best: Any
    label: Any
    total: Any
    far: Any
    tile: Any
    s: Any
    page: Any
    few: Any


@llvm_inlined
def size_of_scratch(k):
    return 6 * GROUP + (k + 8) * GROUP + (k * GROUP + 8) + 2 * k + 8


@ir_inlined
def divide_up(room, k):
    """The parts of a piece of memory of `size_of_scratch` numbers."""
    best = aligned(room)
    label, total, far = shifted(best, GROUP), shifted(best, 2 * GROUP), shifted(best, 3 * GROUP)
    tile, s = shifted(best, 4 * GROUP), shifted(best, 6 * GROUP)
    page = shifted(s, (k + 8) * GROUP)
    return Scratch(best, label, total, far, tile, s, page, shifted(page, k * GROUP + 8))


@llvm_inlined
def output_of(mode, labels, narrow, wide, evidence):
    """What a kernel was given by `Answers.flat`."""
    return Output(
        len(labels) > 0, pointer(labels), mode, len(narrow) > 0, pointer(narrow), pointer(wide),
        len(evidence) > 0, pointer(evidence),
    )  # fmt: skip


@llvm_inlined
def better(a, value, best, label):
    """The better of scores a and `best`, and its label; a tie keeps the first class."""
    return where_greater(a, best, a, best), where_greater(a, best, value, label)


@llvm_inlined
def settle(best, label, h, room):
    """Write down the best classes of eight rows; whether every row has one."""
    store(room.best, h, best)
    store(room.label, h, label)
    return all_greater(best, splat(-np.inf))


@ir_inlined
def write_labels(label, m, labels, to):
    if m == GROUP:
        for h in range(0, GROUP, 8):
            store(labels, to + h, load(label, h))
    else:
        for r in range(m):
            labels[to + r] = label[r]


@llvm_inlined
def write_rest(k, m, room, out, to):
    """Scores of a group to rows of the table and log evidence."""
    if out.mode > JOINT or out.wants_evidence:
        exponentials(room.s, k, room.best, room.total, out.mode == PROBA)
        if out.wants_evidence:
            for r in range(m):
                out.evidence[to + r] = room.best[r] + np.log(room.total[r])
        if out.mode == PROBA:
            divide(room.s, k, room.total)
        elif out.mode == LOG_PROBA:
            subtract(room.s, k, room.best)
            log_rounded(room.total, out.is_narrow, out.narrow, m)
            subtract(room.s, k, room.total)
    if out.mode > 0:
        fill_page(room.s, k, room.page)
        if out.is_narrow:
            write_page(room.page, m * k, out.narrow, to * k)
        else:
            write_page(room.page, m * k, out.wide, to * k)


@llvm_inlined
def take_far(r, k, values, keep, room, out, to):
    """Make the scores `few` (k,) those of row r of a group, which none of its classes scored."""
    for c in range(k):
        if keep:
            room.s[c * GROUP + r] = room.few[c]
        if room.few[c] > room.best[r]:
            room.best[r] = room.few[c]
            if out.wants_labels:
                out.labels[to + r] = values[c]


@llvm_inlined
def fill_behind(m, room):
    """Give the lanes behind the last row a score, which is not looked at."""
    for r in range(m, GROUP):
        room.best[r] = 0.0


@llvm_inlined
def finish_group(k, m, good, room, out, to):
    """Write the table and evidence of a group, in which not `good` marks far rows."""
    write_rest(k, m, room, out, to)
    if not good and out.wants_evidence:
        for r in range(m):
            if room.far[r] > 0.0:
                out.evidence[to + r] = -np.inf
