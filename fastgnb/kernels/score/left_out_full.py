"""Joint log likelihoods by the model of all rows to those by the model of all others: full ones.

What a row changes follows from its squared distance q from its own class's mean, in units of the
covariance, which its score tells: see `estimate.downdate`, where the formulas come from. So no row
is read here, but its scores, which were made by `whitened` right before.

Flags: FMA contraction only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, readonly, warmup_call
from ..._numba.vectors import aligned, keep, load, pointer, shifted, store
from .leave_one_out import log_eight
from .left_out_model import LEAST_LEFT
from .outputs import Scores, Wanted
from .posterior import GROUP
from .whitened import WhitenedTerms, packed_scorer

# Numbers of `FullChanges.numbers` for each class, or for each row where rows have weights.
CHANGES = 7
_ROWS_PER_BLOCK = 1024
# Numbers of the table that is scored and read at a time.
_TABLE = 1 << 18


class FullChanges(NamedTuple):
    """What leaving out a row changes, for k classes.

    const (k,): scores at the means. between (k, k): squared distances between the means where the
    classes share a covariance, or (0, 0). numbers (k, 7) or, where rows have weights, (n, 7): what
    is left of the determinant is 1 - beta q; the covariance before over that after, but for the
    row's part; that times (W / (W - w))^2; what is added to the own class's log prior; what the
    second adds to log determinants, doubled; what is added to all scores; and whether a closed form
    holds, 1 or 0.
    """

    const: NDArray[np.float64]
    between: NDArray[np.float64]
    numbers: NDArray[np.float64]


class _Packed(NamedTuple):
    """`FullChanges` as the kernel takes them, const and between in one array."""

    k: int
    tied: bool
    by_row: bool
    numbers: NDArray[np.float64]
    changes: NDArray[np.float64]


class _Outputs(NamedTuple):
    """labels (m,) and redo (m,). start: the number of the first row."""

    start: int
    labels: NDArray[np.int64]
    redo: NDArray[np.uint8]


@llvm_inlined
def _change_of(packed, changes, i, c):
    return shifted(changes, CHANGES * (i if packed.by_row else c))


@llvm_inlined
def _distances(at, m, packed, table, codes, start, const, changes, space):
    """Squared distances, what is left of determinants, and its logarithms, of 32 rows."""
    for r in range(GROUP):
        i = at + min(r, m - 1)
        c = codes[start + i]
        # A class of prior 0 has no score that tells the distance.
        q = 2.0 * (const[c] - table[i * packed.k + c]) if const[c] > -np.inf else np.inf
        left = 1.0 - _change_of(packed, changes, start + i, c)[0] * q
        space[r] = q
        space[GROUP + r] = left if left > LEAST_LEFT else 1.0
        space[3 * GROUP + r] = 0.0 if left > LEAST_LEFT else 1.0
    for h in range(GROUP, 2 * GROUP, 8):
        store(space, GROUP + h, log_eight(load(space, h)))


@llvm_inlined
def _tied_scores(c, k, q, left, log_det, change, scores, const, between):
    """Set the scores (k,) of a row of class c, whose covariance all classes share."""
    more = change[0] / left
    for e in range(k):
        if const[e] > -np.inf:
            square = 2.0 * (const[e] - scores[e])
            product = 0.5 * (square + (q - between[c * k + e]))
            square = (square + product * product * more) * change[1]
            scores[e] = const[e] - 0.5 * (log_det + square)


@kernel
def _leave_out(first, last, table, classes, packed, outputs):
    """Change blocks of rows of a table (m, k) of joint log likelihoods, and label them."""
    k, start, n = packed.k, outputs.start, len(outputs.labels)
    const, changes = pointer(packed.numbers), pointer(packed.changes)
    between, scores, codes = shifted(const, k), pointer(table), pointer(classes)
    memory = np.empty(4 * GROUP + 8)
    space = aligned(pointer(memory))
    for at in range(first * _ROWS_PER_BLOCK, min(last * _ROWS_PER_BLOCK, n), GROUP):
        m = min(GROUP, n - at)
        _distances(at, m, packed, scores, codes, start, const, changes, space)
        for r in range(m):
            i = at + r
            c, row = codes[start + i], shifted(scores, i * k)
            change = _change_of(packed, changes, start + i, c)
            log_det = space[2 * GROUP + r] - change[4]
            if packed.tied:
                left = space[GROUP + r]
                _tied_scores(c, k, space[r], left, log_det, change, row, const, between)
            square = change[2] * space[r] / space[GROUP + r]
            row[c] = const[c] + change[3] - 0.5 * (log_det + square)
            is_known, best, label = change[6] > 0.0 and space[3 * GROUP + r] == 0.0, -np.inf, 0
            for e in range(k):
                score = row[e]
                is_known &= -np.inf < score < np.inf or const[e] == -np.inf
                if score > best:
                    best, label = score, e
                row[e] = score + change[5]
            outputs.labels[i] = label
            outputs.redo[i] = 0 if is_known else 1
    keep(memory)


def score_left_out_full(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    terms: WhitenedTerms,
    changes: FullChanges,
    *,
    joint: bool,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Best classes (n,), joint log likelihoods (n, k) or (0, k), and which rows need a refit (n,).

    X (n, d) is finite, codes (n,) are the positions of the classes of its rows, and terms those of
    the model of all rows. Cost: that of their joint log likelihoods, and of reading these.
    """
    n, k = len(X), len(terms.const)
    labels, redo = np.empty(n, np.int64), np.empty(n, np.uint8)
    step = max(_ROWS_PER_BLOCK, _TABLE // k // _ROWS_PER_BLOCK * _ROWS_PER_BLOCK)
    table = np.empty((n if joint else min(n, step), k))
    packed, own = _pack(changes), readonly(np.ascontiguousarray(codes))
    wanted = Wanted(codes=False, table="joint", calls=-(-n // step))
    score: Callable[[NDArray[Any], Wanted], Scores] = packed_scorer(terms, wanted)
    for start in range(0, n, step):
        stop = min(start + step, n)
        part = table[start:stop] if joint else table[: stop - start]
        score(X[start:stop], wanted._replace(out=part))
        out = _Outputs(start, labels[start:stop], redo[start:stop])
        n_blocks = -(-(stop - start) // _ROWS_PER_BLOCK)
        _leave_out(n_blocks, part.reshape(-1), own, packed, out, work=(stop - start) * (k + 8) * 4)
    return labels, table if joint else table[:0], redo.view(np.bool_)


def _pack(changes: FullChanges) -> _Packed:
    const, between, numbers = changes
    both = np.concatenate((const, between.reshape(-1)))
    flat = readonly(np.ascontiguousarray(numbers).reshape(-1))
    return _Packed(len(const), between.size > 0, len(numbers) != len(const), both, flat)


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    terms = WhitenedTerms(zero, np.ones((1, 1, 1)), zero, one, np.zeros(1))
    changes = FullChanges(np.zeros(1), np.empty((0, 0)), np.ones((1, CHANGES)))
    score_left_out_full(zero, np.zeros(1, np.int32), terms, changes, joint=False)
