"""Scores of classes to log odds: log p - log(1 - p) of each class against all others.

The log odds of a class with score s are s - log(sum of exp over the other classes' scores). Each
sum is taken relative to the largest of its terms, so that it neither overflows nor vanishes: for
all classes but the best that is the best score, and for the best class it is the second best. So
no digit of p or of 1 - p is lost, however close either is to 0.

A row is one vector lane, as in the scoring kernels: its bits do not depend on its neighbours. Equal
scores have equal log odds. With two classes these are the difference of the scores, and opposite.

This kernel is apart from those that score, because most callers never want log odds.

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, warmup_call
from ..._numba.vectors import keep, load, pointer, splat, store, where_greater
from ..logs import log_all
from ..rows import OVERREAD, Rows, eight_rows
from .posterior import GROUP, exp, fill_page, write_page

# Groups of rows of a block.
_GROUPS = 32


@llvm_inlined
def _fill(table, at, m, rows, s):
    """Set s (k, 32) to m scores from row `at` of a table on; lanes behind the last are copies."""
    k = rows.d
    if m == GROUP and (at + GROUP) * k + OVERREAD <= rows.n * k:
        for h in range(0, GROUP, 8):
            for c in range(0, k, 8):
                for q, x in enumerate(eight_rows(rows, at + h, c)):
                    if c + q < k:
                        store(s, (c + q) * GROUP + h, x)
    else:
        for c in range(k):
            for r in range(GROUP):
                s[c * GROUP + r] = table[(at + min(r, m - 1)) * k + c]


@llvm_inlined
def _best_two(s, k, h):
    """The best and second best scores of eight rows, which are equal where two classes tie."""
    best = second = splat(-np.inf)
    for c in range(k):
        a = load(s, c * GROUP + h)
        second = where_greater(a, best, best, where_greater(a, second, a, second))
        best = where_greater(a, best, a, best)
    return best, second


@llvm_inlined
def _set_sums(s, k, sums):
    """Set sums (k, 32) to those over the other classes, relative to the largest of their terms."""
    zero, one, none = splat(0.0), splat(1.0), splat(-np.inf)
    for h in range(0, GROUP, 8):
        best, second = _best_two(s, k, h)
        # Where only one class is possible, all others are at a distance that has no exponential.
        base = where_greater(second, none, second, best)
        total = zero
        for c in range(k):
            a = load(s, c * GROUP + h) - base
            term = exp(where_greater(a, zero, zero, a))
            store(sums, c * GROUP + h, term)
            total = total + term
        # Without the term of the best class, which is 1.
        total = total - one
        gap = exp(base - best)
        of_best = where_greater(second, none, total, one)
        for c in range(k):
            a, term = load(s, c * GROUP + h), load(sums, c * GROUP + h)
            store(sums, c * GROUP + h, where_greater(best, a, one + gap * (total - term), of_best))


@llvm_inlined
def _set_odds(s, k, logs):
    """Make log odds of the scores s (k, 32), given the logarithms (k, 32) of `_set_sums`."""
    for h in range(0, GROUP, 8):
        best, second = _best_two(s, k, h)
        lead = best - second
        for c in range(k):
            a = load(s, c * GROUP + h)
            below = where_greater(best, a, a - best, lead)
            store(s, c * GROUP + h, below - load(logs, c * GROUP + h))


@kernel
def _log_odds(first, last, table, k):
    """Make log odds of the scores of blocks of rows of a flat table (n, k), in place."""
    n = len(table) // k
    scores, page = np.empty((k + 8) * GROUP), np.empty(k * GROUP + 8)
    sums, logs = np.empty(k * GROUP), np.empty(k * GROUP)
    s, rows = pointer(scores), Rows(pointer(table), False, n, k)
    for at in range(first * _GROUPS * GROUP, min(last * _GROUPS * GROUP, n), GROUP):
        m = min(GROUP, n - at)
        _fill(table, at, m, rows, s)
        _set_sums(s, k, pointer(sums))
        log_all(sums, logs)
        _set_odds(s, k, pointer(logs))
        fill_page(s, k, pointer(page))
        write_page(pointer(page), m * k, pointer(table), at * k)
    keep(scores)
    keep(page)
    keep(sums)
    keep(logs)


def to_log_odds(scores: NDArray[np.float64]) -> None:
    """Turn scores (n, k), in C order, into log odds, in place.

    Each row has a score above -inf, and none is NaN. A score of -inf, of an impossible class, has
    log odds -inf, and +inf is that of the only possible class. Error: absolute, a few units in the
    last place of the scores' differences and of log k. Cost: n k exponentials and logarithms.
    """
    n, k = scores.shape
    if n:
        _log_odds(-(-n // (_GROUPS * GROUP)), scores.reshape(-1), k, work=16 * n * k)


@warmup_call
def _warm() -> None:
    to_log_odds(np.zeros((1, 2)))
