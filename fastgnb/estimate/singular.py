"""Left singular vectors and singular values, of which small ones keep their digits.

LAPACK's are right to 1e-16 of the largest singular value. Where the rows of a matrix have very
different sizes, one-sided Jacobi rotations find each value to 1e-16 of itself, times the condition
number of the matrix with its rows scaled alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_SWEEPS = 40


def left_singular(factor: Floats) -> tuple[Floats, Floats]:
    """U (d, r), of orthonormal columns, and s (r,) falling, with factor (d, r) = U diag(s) V'.

    factor has full column rank. Where its rows' sizes differ by more than 2^10, or 2^20 for more
    than 32 rows, with which rotations are slow, U and s come from rotations.
    References: J. Demmel, K. Veselic, "Jacobi's method is more accurate than QR" (1992);
    Z. Drmac, K. Veselic, "New fast and accurate Jacobi SVD algorithm" (2008).
    """
    size = np.abs(factor).max(axis=1, initial=0.0)
    sizes = size[size > 0] if size.any() else np.ones(1)
    if sizes.max() / sizes.min() <= (2.0**10 if len(factor) <= 32 else 2.0**20):
        U, s, _ = np.linalg.svd(factor, full_matrices=False)
        return U, s
    order = np.argsort(-size, kind="stable")
    # QR of rows of falling size leaves columns all but orthogonal, with errors relative to rows.
    upper = np.asarray(np.linalg.qr(factor[order].T, mode="r"))
    columns = _orthogonal(np.ascontiguousarray(upper.T))
    s = lengths_of(columns)
    U = np.empty_like(columns)
    U[order] = columns / s
    falling = np.argsort(-s, kind="stable")
    return U[:, falling], s[falling]


def left_singular_of_columns(factor: Floats) -> tuple[Floats, Floats]:
    """As `left_singular`, of a factor (d, m), m >= d, of rank d, whose columns differ in size.

    QR with pivoting leaves rows of falling size, with errors relative to columns.
    """
    Q, upper = _pivoted(factor)
    square = np.asarray(np.linalg.qr(upper.T, mode="r")).T
    U, s = left_singular(np.ascontiguousarray(square))
    return Q @ U, s


def _pivoted(factor: Floats) -> tuple[Floats, Floats]:
    """Q (d, d) and upper trapezoidal R (d, m) with Q R the columns in some order (Householder)."""
    d = len(factor)
    R, Q = factor.copy(), np.eye(d)
    for i in range(d):
        j = i + int(np.argmax(lengths_of(R[i:, i:])))
        R[:, [i, j]] = R[:, [j, i]]
        if not R[i:, i].any():
            break
        v = R[i:, i] / np.abs(R[i:, i]).max()
        v[0] += np.copysign(np.sqrt((v**2).sum()), v[0])
        v /= np.sqrt((v**2).sum())
        R[i:, i:] -= 2.0 * np.multiply.outer(v, v @ R[i:, i:])
        R[i + 1 :, i] = 0.0
        Q[:, i:] -= 2.0 * np.multiply.outer(Q[:, i:] @ v, v)
    return Q, R


def _orthogonal(columns: Floats) -> Floats:
    """The columns (d, r) times the rotation that makes them orthogonal, many pairs at a time."""
    d, r = columns.shape
    enough = (d + 8) * float(np.finfo(np.float64).eps)
    places = np.arange(r + r % 2)
    for _ in range(_MOST_SWEEPS):
        worst = 0.0
        for _ in range(len(places) - 1):
            half = len(places) // 2
            p, q = places[:half], places[: half - 1 : -1]
            exist = (p < r) & (q < r)
            worst = max(worst, _rotate(columns, p[exist], q[exist]))
            places = np.concatenate([places[:1], places[-1:], places[1:-1]])
        if worst <= enough:
            break
    return columns


def _rotate(columns: Floats, p: NDArray[np.intp], q: NDArray[np.intp]) -> float:
    """Rotate disjoint pairs of columns to be orthogonal; the largest share of their products, by
    sizes, that did not cancel."""
    a, b = columns[:, p], columns[:, q]
    m, n = lengths_of(a), lengths_of(b)
    products = (a / m) * (b / n)
    cosine, size = products.sum(axis=0), np.abs(products).sum(axis=0)
    # However small, it turns the shorter column by what the longer one's rows need.
    turns = np.abs(cosine) > np.finfo(np.float64).eps * size
    if not turns.any():
        return 0.0
    worst = float((np.abs(cosine[turns]) / size[turns]).max())
    p, q, a, b = p[turns], q[turns], a[:, turns], b[:, turns]
    ratio, c = (n / m)[turns], cosine[turns]
    with np.errstate(over="ignore"):
        zeta = (ratio - 1.0 / ratio) / (2.0 * c)
        tangent = np.where(zeta >= 0, 1.0, -1.0) / (np.abs(zeta) + np.hypot(1.0, zeta))
    cos = 1.0 / np.hypot(1.0, tangent)
    sin = cos * tangent
    columns[:, p], columns[:, q] = cos * a - sin * b, sin * a + cos * b
    return worst


def lengths_of(columns: Floats) -> Floats:
    """Lengths (r,), none of which under- or overflows in squares."""
    top = np.abs(columns).max(axis=0, initial=0.0)
    top = np.where(top > 0, top, 1.0)
    return np.asarray(top * np.sqrt(((columns / top) ** 2).sum(axis=0)))
