"""Full and tied Gaussians of rows by 60-digit decimals, with the documented rule for low rank.

Means and covariances are exact rationals. Eigenvalues come from Jacobi's rotations, in decimals.
Nothing here calls the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from oracles import PI, decimal, exact, full_stats

DIGITS = 70
EPS = Decimal(2) ** -52


class Answer(NamedTuple):
    """Joint log likelihoods of rows [row][class]; what rounding of 2^-52 may make of each; and
    the eigenvalues of each covariance, in its own units."""

    joint: list[list[Decimal]]
    slack: list[list[float]]
    eigenvalues: list[list[Decimal]]


def gaussians(
    X: Any, y: Sequence[int], rows: Any, weight: Any = None, *, tied: bool = False
) -> Answer:
    """Joint log likelihoods of rows under Gaussians of the classes of X, y and weight."""
    stats = full_stats(X, y, weight)
    total = sum(stats.count, Fraction(0))
    scatters, counts = stats.scatter, stats.count
    within = [[sum(s[i][j] for s in scatters) / total for j in range(len(s))]
              for s in scatters[:1] for i in range(len(s))]  # fmt: skip
    whole = [row[i] for i, row in enumerate(full_stats(X, [0] * len(y), weight).scatter[0])]
    matrices = [within] if tied else [
        [[v / n for v in row] for row in s] for s, n in zip(scatters, counts, strict=True)
    ]  # fmt: skip
    with localcontext() as context:
        context.prec = DIGITS
        other = [within[j][j] or (v / total) or Fraction(1) for j, v in enumerate(whole)]
        shapes = [_shape(matrix, other) for matrix in matrices]
        joint, slack = [], []
        for x in np.asarray(rows):
            found = [
                _density(x, mean, shapes[0 if tied else c], decimal(counts[c] / total))
                for c, mean in enumerate(stats.mean)
            ]
            joint.append([value for value, _ in found])
            slack.append([error for _, error in found])
        return Answer(joint, slack, [shape.values for shape in shapes])


class _Shape(NamedTuple):
    unit: list[Decimal]
    values: list[Decimal]
    vectors: list[list[Decimal]]


def _shape(matrix: list[list[Fraction]], other: list[Fraction]) -> _Shape:
    d = len(matrix)
    unit = [decimal(matrix[j][j] or other[j]).sqrt() for j in range(d)]
    scaled = [[decimal(matrix[i][j]) / unit[i] / unit[j] for j in range(d)] for i in range(d)]
    values, vectors = jacobi(scaled)
    return _Shape(unit, values, vectors)


def _density(x: Any, mean: list[Fraction], shape: _Shape, prior: Decimal) -> tuple[Decimal, float]:
    """log prior + log density, and what errors of EPS in a matrix of correlations make of it."""
    d = len(mean)
    z = [decimal(exact(a) - m) / u for a, m, u in zip(x, mean, shape.unit, strict=True)]
    along = [sum(v[j] * z[j] for j in range(d)) for v in shape.vectors]
    is_low = [value <= (d + 32) * EPS for value in shape.values]
    values = [d * EPS if low else v for v, low in zip(shape.values, is_low, strict=True)]
    square = sum(a * a / v for a, v in zip(along, values, strict=True))
    log_det = sum(v.ln() for v in values) + 2 * sum(u.ln() for u in shape.unit)
    value = prior.ln() - (square + log_det + d * (2 * PI).ln()) / 2
    least = min((v for v, low in zip(values, is_low, strict=True) if not low), default=Decimal(1))
    size = sum(abs(v) for v in z)
    steep = sum(abs(a) / v for a, v, low in zip(along, values, is_low, strict=True) if not low)
    error = EPS * (d * steep * steep + steep * size + d / least + abs(value) + square + 10)
    turn = EPS * size / least
    for a, v, low in zip(along, values, is_low, strict=True):
        if low:
            error += (2 * abs(a) * turn + turn * turn) / v
    return value, float(error)


def along_axes(X: Any, y: Sequence[int], rows: Any, *, rotation: str) -> list[list[Decimal]]:
    """Joint log likelihoods of rows by naive Bayes without smoothing, along all axes of the "total"
    scatter or of that "within" classes."""
    stats, whole = full_stats(X, y), full_stats(X, [0] * len(y))
    n, d = sum(stats.count), len(whole.mean[0])
    with localcontext() as context:
        context.prec = 5 * DIGITS
        within = [[sum(s[i][j] for s in stats.scatter) for j in range(d)] for i in range(d)]
        scatter = whole.scatter[0] if rotation == "total" else within
        top = max(scatter[j][j] for j in range(d))
        _, axes = jacobi([[decimal(v / top) for v in row] for row in scatter])
        out = []
        for x in np.asarray(rows):
            out.append([])
            for count, mean, s in zip(stats.count, stats.mean, stats.scatter, strict=True):
                value = decimal(count / n).ln()
                for axis in axes:
                    z = sum(
                        a * decimal(exact(v) - m) for a, v, m in zip(axis, x, mean, strict=True)
                    )
                    var = sum(a * decimal(s[i][j] / count) * b
                              for i, a in enumerate(axis) for j, b in enumerate(axis))  # fmt: skip
                    value -= (z * z / var + (2 * PI * var).ln()) / 2
                out[-1].append(value)
        return out


def jacobi(matrix: list[list[Decimal]]) -> tuple[list[Decimal], list[list[Decimal]]]:
    """Eigenvalues and eigenvectors, as rows, of a symmetric matrix, in the context's digits."""
    d = len(matrix)
    a = [row[:] for row in matrix]
    v = [[Decimal(int(i == j)) for j in range(d)] for i in range(d)]
    tiny = Decimal(10) ** (15 - getcontext().prec)
    while max((abs(a[i][j]) for i in range(d) for j in range(i)), default=Decimal(0)) > tiny:
        for p in range(d):
            for q in range(p + 1, d):
                if not a[p][q]:
                    continue
                ratio = (a[q][q] - a[p][p]) / (2 * a[p][q])
                t = (1 if ratio >= 0 else -1) / (abs(ratio) + (ratio * ratio + 1).sqrt())
                c = 1 / (t * t + 1).sqrt()
                s = t * c
                for i in range(d):
                    a[i][p], a[i][q] = c * a[i][p] - s * a[i][q], s * a[i][p] + c * a[i][q]
                for i in range(d):
                    a[p][i], a[q][i] = c * a[p][i] - s * a[q][i], s * a[p][i] + c * a[q][i]
                    v[p][i], v[q][i] = c * v[p][i] - s * v[q][i], s * v[p][i] + c * v[q][i]
    return [a[i][i] for i in range(d)], v
