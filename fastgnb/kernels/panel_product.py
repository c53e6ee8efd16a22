"""Products of matrices in panels: the loop that sums full scatters and whitens rows.

A panel is a few columns of a matrix, one row of them after the other. The loop keeps 8 x 16 sums
in registers while it goes down two panels, so that each number that it reads takes part in eight
or sixteen multiply-adds (K. Goto and R. A. van de Geijn, "Anatomy of high-performance matrix
multiplication", ACM Transactions on Mathematical Software 34 (2008) 12).

A product takes next to no memory bandwidth. So it can ask for a cache line a row meanwhile.

Flags: FMA contraction only. Products are added in the order of the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._numba.decorators import llvm_inlined
from .._numba.vectors import load, per_line, prefetch, splat, store

TALL, WIDE = 8, 16


class _Ahead(NamedTuple):
    """What is fetched from memory meanwhile: lines of data from `at` on, or nothing."""

    data: Any
    at: int
    is_wanted: bool


@llvm_inlined
def _put(to, at, low, high, adds):
    if adds:
        low, high = load(to, at) + low, load(to, at + 8) + high
    store(to, at, low)
    store(to, at + 8, high)


@llvm_inlined
def multiply_half(a, step, b, n, to, stride, data, at):
    """As `multiply_ahead`, for the first eight columns of b alone."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = splat(0.0)
    p = q = 0
    for _ in range(n):
        prefetch(data, at)
        y = load(b, q)
        s0, s1 = s0 + splat(a[p]) * y, s1 + splat(a[p + 1]) * y
        s2, s3 = s2 + splat(a[p + 2]) * y, s3 + splat(a[p + 3]) * y
        s4, s5 = s4 + splat(a[p + 4]) * y, s5 + splat(a[p + 5]) * y
        s6, s7 = s6 + splat(a[p + 6]) * y, s7 + splat(a[p + 7]) * y
        p += step
        q += WIDE
        at += per_line(data)
    store(to, 0, load(to, 0) + s0)
    store(to, stride, load(to, stride) + s1)
    store(to, 2 * stride, load(to, 2 * stride) + s2)
    store(to, 3 * stride, load(to, 3 * stride) + s3)
    store(to, 4 * stride, load(to, 4 * stride) + s4)
    store(to, 5 * stride, load(to, 5 * stride) + s5)
    store(to, 6 * stride, load(to, 6 * stride) + s6)
    store(to, 7 * stride, load(to, 7 * stride) + s7)


@llvm_inlined
def multiply_ahead(a, step, b, n, to, stride, data, at):
    """As `multiply`, which adds to what is there, and fetches n lines of data from `at` on."""
    _multiply(a, step, b, n, to, stride, True, _Ahead(data, at, True))


@llvm_inlined
def multiply(a, step, b, n, to, stride, adds):
    """Set, or with `adds` increase, to[i stride + j] by the sum of a[f step + i] b[16 f + j].

    f runs to n, i to 8 and j to 16. All are pointers.
    """
    _multiply(a, step, b, n, to, stride, adds, _Ahead(b, 0, False))


@llvm_inlined
def _multiply(a, step, b, n, to, stride, adds, ahead):
    l0 = l1 = l2 = l3 = l4 = l5 = l6 = l7 = splat(0.0)
    h0 = h1 = h2 = h3 = h4 = h5 = h6 = h7 = splat(0.0)
    p = q = 0
    for f in range(n):
        if ahead.is_wanted:
            prefetch(ahead.data, ahead.at + f * per_line(ahead.data))
        low, high = load(b, q), load(b, q + 8)
        x = splat(a[p])
        l0, h0 = l0 + x * low, h0 + x * high
        x = splat(a[p + 1])
        l1, h1 = l1 + x * low, h1 + x * high
        x = splat(a[p + 2])
        l2, h2 = l2 + x * low, h2 + x * high
        x = splat(a[p + 3])
        l3, h3 = l3 + x * low, h3 + x * high
        x = splat(a[p + 4])
        l4, h4 = l4 + x * low, h4 + x * high
        x = splat(a[p + 5])
        l5, h5 = l5 + x * low, h5 + x * high
        x = splat(a[p + 6])
        l6, h6 = l6 + x * low, h6 + x * high
        x = splat(a[p + 7])
        l7, h7 = l7 + x * low, h7 + x * high
        p += step
        q += WIDE
    _put(to, 0, l0, h0, adds)
    _put(to, stride, l1, h1, adds)
    _put(to, 2 * stride, l2, h2, adds)
    _put(to, 3 * stride, l3, h3, adds)
    _put(to, 4 * stride, l4, h4, adds)
    _put(to, 5 * stride, l5, h5, adds)
    _put(to, 6 * stride, l6, h6, adds)
    _put(to, 7 * stride, l7, h7, adds)
