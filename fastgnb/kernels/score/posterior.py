"""Scores of a group of rows to probabilities, their logarithms and log evidence.

Scores s (k, 32) are class-major, one row to a lane. They are stored as they are in a column-major
table. For a row-major one, eight classes of eight rows at a time are transposed in registers into a
page, which is a contiguous part of the table.

Flags: FMA contraction only.
"""

from __future__ import annotations

import numpy as np

from ..._numba.decorators import llvm_inlined
from ..._numba.transposes import transpose
from ..._numba.vectors import load, power_of_two, rounded, splat, store, where_greater

GROUP = 32
JOINT, SCORES, LOG_PROBA, PROBA = 1, 2, 3, 4


@llvm_inlined
def exp(x):
    """exp(x) for x <= 0, to about one unit in the last place.

    Argument reduction to |f| <= ln(2) / 2, a Taylor polynomial of degree 13, and the power of two
    in two factors, so that results below 2**-1022 round as they should.
    """
    floor = splat(-746.0)
    x = where_greater(x, floor, x, floor)
    # Adding and taking away 1.5 2**52 rounds to a whole number.
    whole = splat(6755399441055744.0)
    n = (x * splat(1.4426950408889634) + whole) - whole
    f = (x - n * splat(0.6931471803691238)) - n * splat(1.9082149292705877e-10)
    p = splat(1.6059043836821613e-10)
    p = p * f + splat(2.08767569878681e-09)
    p = p * f + splat(2.505210838544172e-08)
    p = p * f + splat(2.755731922398589e-07)
    p = p * f + splat(2.7557319223985893e-06)
    p = p * f + splat(2.48015873015873e-05)
    p = p * f + splat(0.0001984126984126984)
    p = p * f + splat(0.001388888888888889)
    p = p * f + splat(0.008333333333333333)
    p = p * f + splat(0.041666666666666664)
    p = p * f + splat(0.16666666666666666)
    p = p * f + splat(0.5)
    p = p * f + splat(1.0)
    p = p * f + splat(1.0)
    half = (n * splat(0.5) + whole) - whole
    return p * power_of_two(half) * power_of_two(n - half)


@llvm_inlined
def exponentials(s, k, best, total, keep):
    """Set total (32,) to the sums of exp(s - best), and with `keep` s (k, 32) to the terms."""
    for h in range(0, GROUP, 8):
        top = load(best, h)
        sums = splat(0.0)
        for c in range(k):
            e = exp(load(s, c * GROUP + h) - top)
            sums = sums + e
            if keep:
                store(s, c * GROUP + h, e)
        store(total, h, sums)


@llvm_inlined
def divide(s, k, total):
    """Make probabilities of the terms s (k, 32); `total` becomes the factors."""
    for r in range(GROUP):
        total[r] = 1.0 / total[r]
    for h in range(0, GROUP, 8):
        share = load(total, h)
        for c in range(k):
            store(s, c * GROUP + h, load(s, c * GROUP + h) * share)


@llvm_inlined
def subtract(s, k, a):
    """Take a (32,) away from the scores of every class."""
    for h in range(0, GROUP, 8):
        less = load(a, h)
        for c in range(k):
            store(s, c * GROUP + h, load(s, c * GROUP + h) - less)


@llvm_inlined
def fill_page(s, k, page):
    """Set the page (32, k) to the scores s (k, 32).

    The last classes come first: eight are written at a time, and those past the end of a row are
    overwritten by the start of the next row. The page holds 32 k + 8 numbers.
    """
    last = k - 1 - (k - 1) % 8
    for c in range(last, -1, -8):
        for h in range(0, GROUP, 8):
            transpose(s, c * GROUP + h, GROUP, page, h * k + c, k)


@llvm_inlined
def write_page(page, size, table, at):
    """Set `size` elements of a table from `at` on to those of the page."""
    whole = size - size % 8
    for p in range(0, whole, 8):
        store(table, at + p, load(page, p))
    for p in range(whole, size):
        table[at + p] = page[p]


@llvm_inlined
def write_columns(s, k, m, table, n, at):
    """Set rows `at` to `at + m` of a column-major table (n, k) to the scores s (k, 32)."""
    for c in range(k):
        if m == GROUP:
            for h in range(0, GROUP, 8):
                store(table, c * n + at + h, load(s, c * GROUP + h))
        else:
            for r in range(m):
                table[c * n + at + r] = s[c * GROUP + r]


@llvm_inlined
def log_rounded(total, is_narrow, narrow, m):
    """Logarithms of sums, in place, each rounded to the table's type before."""
    for r in range(m):
        total[r] = np.log(rounded(narrow, total[r]) if is_narrow else total[r])
