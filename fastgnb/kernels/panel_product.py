"""Products of matrices in panels: the loop that sums full scatters and whitens rows.

A panel is a few columns of a matrix, one row of them after the other. The loop keeps 8 x 16 sums
in registers while it goes down two panels, so that each number that it reads takes part in eight
or sixteen multiply-adds (K. Goto and R. A. van de Geijn, "Anatomy of high-performance matrix
multiplication", ACM Transactions on Mathematical Software 34 (2008) 12).

Flags: FMA contraction only. Products are added in the order of the rows.
"""

from __future__ import annotations

from .._numba.decorators import llvm_inlined
from .._numba.vectors import load, splat, store

TALL, WIDE = 8, 16


@llvm_inlined
def _put(to, at, low, high, adds):
    if adds:
        low, high = load(to, at) + low, load(to, at + 8) + high
    store(to, at, low)
    store(to, at + 8, high)


@llvm_inlined
def multiply(a, step, b, n, to, stride, adds):
    """Set, or with `adds` increase, to[i stride + j] by the sum of a[f step + i] b[16 f + j].

    f runs to n, i to 8 and j to 16. All are pointers.
    """
    l0 = l1 = l2 = l3 = l4 = l5 = l6 = l7 = splat(0.0)
    h0 = h1 = h2 = h3 = h4 = h5 = h6 = h7 = splat(0.0)
    p = q = 0
    for _ in range(n):
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
