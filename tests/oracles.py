"""Slow exact references, with the names of what they check: rationals and 60-digit decimals.

Nothing here calls the library. Floats are taken at their exact values.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def exact(value: Any) -> Fraction:
    """The rational number that a float or integer is."""
    return Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(float(value))


def is_nan(value: Any) -> bool:
    return value != value


class Sums(NamedTuple):
    """Weight, mean and scatter of weighted values, exact."""

    weight: Fraction
    mean: Fraction
    scatter: Fraction


def sums(values: Sequence[Any], weight: Sequence[Any] | None = None) -> Sums:
    """Exact weight, mean and scatter; a NaN is not there, nor is a value of weight 0."""
    w = [Fraction(1)] * len(values) if weight is None else [exact(v) for v in weight]
    pairs = [(a, exact(v)) for a, v in zip(w, values, strict=True) if not is_nan(v) and a]
    total = sum((a for a, _ in pairs), Fraction(0))
    if not total:
        return Sums(total, Fraction(0), Fraction(0))
    mean = sum(a * v for a, v in pairs) / total
    return Sums(total, mean, sum(a * (v - mean) ** 2 for a, v in pairs))


class Stats(NamedTuple):
    """Per class and feature: nested lists [class][feature] of exact numbers."""

    classes: list[Any]
    count: list[Fraction]
    weight: list[list[Fraction]]
    mean: list[list[Fraction]]
    scatter: list[list[Fraction]]


def class_stats(X: Any, y: Any, weight: Any = None, classes: Any = None) -> Stats:
    """The statistics that `ClassStats.from_rows(X, y, weight)` should hold."""
    X, y = np.asarray(X), list(y)
    w = [Fraction(1)] * len(y) if weight is None else [exact(v) for v in weight]
    labels = sorted(set(y) if classes is None else set(classes))
    cells = []
    for label in labels:
        rows = [i for i, v in enumerate(y) if v == label]
        cells.append(
            [sums([X[i, j] for i in rows], [w[i] for i in rows]) for j in range(X.shape[1])]
        )
    count = [sum((w[i] for i, v in enumerate(y) if v == label), Fraction(0)) for label in labels]
    return Stats(
        labels,
        count,
        [[cell.weight for cell in row] for row in cells],
        [[cell.mean for cell in row] for row in cells],
        [[cell.scatter for cell in row] for row in cells],
    )


class FullStats(NamedTuple):
    """Per class: exact count, mean [class][feature] and scatter [class][feature][feature]."""

    classes: list[Any]
    count: list[Fraction]
    mean: list[list[Fraction]]
    scatter: list[list[list[Fraction]]]


def full_stats(X: Any, y: Any, weight: Any = None) -> FullStats:
    """The statistics that `ClassStats.from_rows(X, y, weight, scatter="full")` should hold."""
    diag = class_stats(X, y, weight)
    rows = [[exact(v) for v in row] for row in np.asarray(X)]
    w = [Fraction(1)] * len(rows) if weight is None else [exact(v) for v in weight]
    scatter = []
    for label, mean in zip(diag.classes, diag.mean, strict=True):
        own = [i for i, v in enumerate(y) if v == label and w[i]]
        z = [[a - m for a, m in zip(rows[i], mean, strict=True)] for i in own]
        scatter.append([
            [sum((w[i] * r[p] * r[q] for i, r in zip(own, z, strict=True)), Fraction(0))
             for q in range(len(mean))]
            for p in range(len(mean))
        ])  # fmt: skip
    return FullStats(diag.classes, diag.count, diag.mean, scatter)


def scatter_error(got: Any, want: Any) -> float:
    """Largest error of scatters [..., d, d], of entries relative to their standard deviations."""
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        for p, row in enumerate(w):
            for q, value in enumerate(row):
                error, scale = exact(g[p][q]) - value, w[p][p] * w[q][q]
                if error:
                    worst = max(worst, float(error**2 / scale) ** 0.5 if scale else float("inf"))
    return worst


def epsilon(X: Any, var_smoothing: float = 1e-9, weight: Any = None) -> Fraction:
    """var_smoothing times the largest variance of a feature over all rows."""
    X = np.asarray(X)
    cells = [sums(X[:, j], weight) for j in range(X.shape[1])]
    return exact(var_smoothing) * max(c.scatter / c.weight for c in cells if c.weight)


def joint(x: Any, prior: Any, theta: Any, var: Any) -> list[Decimal]:
    """Joint log likelihoods of one row for k classes; a NaN's term is absent, prior 0 is -inf."""
    with localcontext() as context:
        context.prec = 60
        out = []
        for p, means, variances in zip(prior, theta, var, strict=True):
            if p == 0:
                out.append(Decimal("-Infinity"))
                continue
            total = decimal(exact(p)).ln()
            for v, m, s in zip(x, means, variances, strict=True):
                if not is_nan(v):
                    square = decimal((exact(v) - exact(m)) ** 2 / exact(s))
                    total -= ((2 * PI * decimal(exact(s))).ln() + square) / 2
            out.append(total)
        return out


def diagonal_scores(x: Any, mean: Any, scale: Any, const: Any) -> list[Fraction]:
    """const_c - sum_j ((x_j - mean_cj) scale_cj)^2 of one row for k classes, exactly."""
    row = [exact(v) for v in x]
    return [
        exact(c)
        - sum(((v - exact(m)) * exact(r)) ** 2 for v, m, r in zip(row, ms, rs, strict=True))
        for c, ms, rs in zip(const, mean, scale, strict=True)
    ]


def full_joint(x: Any, prior: Any, means: Any, covariance: Any) -> list[Decimal]:
    """Joint log likelihoods of one row for k classes with full covariances, by elimination."""
    with localcontext() as context:
        context.prec = 60
        out = []
        for p, mean, matrix in zip(prior, means, covariance, strict=True):
            d = len(mean)
            rows = [[exact(v) for v in row] for row in matrix]
            z = [exact(a) - exact(b) for a, b in zip(x, mean, strict=True)]
            total = 2 * decimal(exact(p)).ln() - d * (2 * PI).ln()
            for i in range(d):  # L D L' without roots: a pivot and a square at a time
                pivot = rows[i][i]
                total -= decimal(pivot).ln() + decimal(z[i] ** 2 / pivot)
                for r in range(i + 1, d):
                    share = rows[r][i] / pivot
                    z[r] -= share * z[i]
                    rows[r] = [a - share * b for a, b in zip(rows[r], rows[i], strict=True)]
            out.append(total / 2)
        return out


def categories(values: Any, y: Any, weight: Any, classes: Any) -> list[dict[Any, Fraction]]:
    """Per class: exact weights of the categories that any class has; None is not there."""
    seen = {v for v, w in zip(values, weight, strict=True) if v is not None and w}
    out = [dict.fromkeys(seen, Fraction(0)) for _ in classes]
    for v, label, w in zip(values, y, weight, strict=True):
        if v in seen:
            out[list(classes).index(label)][v] += exact(w)
    return out


def category_terms(value: Any, found: list[dict[Any, Fraction]], alpha: Any) -> list[Decimal]:
    """Smoothed log probabilities of a value for k classes; 0 where it is None."""
    with localcontext() as context:
        context.prec = 60
        if value is None:
            return [Decimal(0)] * len(found)
        out = []
        for own in found:
            share = own.get(value, Fraction(0)) + exact(alpha)
            share /= sum(own.values(), Fraction(0)) + exact(alpha) * len(own)
            out.append(decimal(share).ln() if share else Decimal("-Infinity"))
        return out


def log_evidence(jll: Sequence[Decimal]) -> Decimal:
    """log p(x): the log of the sum of the exponentials."""
    with localcontext() as context:
        context.prec = 60
        top = max(jll)
        return top + sum(((v - top).exp() for v in jll if v.is_finite()), Decimal(0)).ln()


def log_proba(jll: Sequence[Decimal]) -> list[Decimal]:
    with localcontext() as context:
        context.prec = 60
        whole = log_evidence(jll)
        return [v - whole for v in jll]


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def relative_error(got: Any, want: Any) -> float:
    """Largest |got - want| / |want| over all entries, exact; where want is 0, |got|."""
    worst = Fraction(0)
    for g, w in zip(np.ravel(got), flat(want), strict=True):
        wanted = exact(w)
        error = abs(exact(g) - wanted)
        worst = max(worst, error / abs(wanted) if wanted else error)
    return float(worst)


def flat(values: Any) -> list[Any]:
    """Nested lists in one list."""
    if isinstance(values, np.ndarray):
        return list(values.ravel())
    if isinstance(values, (list, tuple)):
        return [v for each in values for v in flat(each)]
    return [values]


def log_odds(scores: Any) -> NDArray[np.longdouble]:
    """s_c - log(sum of exp(s_j), j other than c) of scores (n, k), one row and class at a time."""
    rows = np.asarray(scores, np.longdouble)
    out = np.empty_like(rows)
    for i, row in enumerate(rows):
        for c, value in enumerate(row):
            others = [s for j, s in enumerate(row) if j != c and s > -np.inf]
            if not others:
                out[i, c] = np.inf
                continue
            top = max(others)
            out[i, c] = value - top - np.log(np.sum(np.exp(np.array(others) - top)))
    return out


class Tally(NamedTuple):
    """What rows of log odds add up to, exact sums rounded once; see `kernels.evaluate`.

    cells [class, and the predicted label last][cell]: weight of negatives and positives, sums of
    w p over negatives and of w (1 - p) over positives, and of squares of these over both.
    """

    cells: NDArray[np.float64]
    hit: NDArray[np.float64]
    predicted: NDArray[np.float64]
    rank: NDArray[np.float64]
    loss: float
    confusion: NDArray[np.float64]


def tally(log_odds: Any, true: Any, predicted: Any, weight: Any, cuts: Any) -> Tally:
    """Add up rows by plain loops, with probabilities in extended precision."""
    n, k = np.shape(log_odds)
    cells = [[[[] for _ in range(5)] for _ in range(len(cuts) + 1)] for _ in range(k + 1)]
    hit, called, rank = ([[] for _ in range(k)] for _ in range(3))
    confusion, losses = [[[] for _ in range(k)] for _ in range(k)], []
    eps = np.longdouble(np.finfo(np.float64).eps)
    for i in range(n):
        w, t, q = weight[i], int(true[i]), int(predicted[i])
        for c in (*range(k), k):
            at = c if c < k else q
            value = log_odds[i][at]
            miss = 1 / (1 + np.exp(np.longdouble(value if at == t else -value)))
            cell = cells[c][sum(value >= cut for cut in cuts)]
            cell[int(at == t)].append(w)
            cell[2 + int(at == t)].append(w * miss)
            cell[4].append(w * miss * miss)
        called[q].append(w)
        p = 1 / (1 + np.exp(np.longdouble(-log_odds[i][t]))) if t >= 0 else 0
        loss = np.log1p(np.exp(np.longdouble(-log_odds[i][t]))) if p > eps else -np.log(eps)
        losses.append(w * max(loss, -np.log1p(-eps)))
        if t >= 0:
            confusion[t][q].append(w)
            if t == q:
                hit[t].append(w)
            before = [j for j in range(k) if (-log_odds[i][j], j) < (-log_odds[i][t], t)]
            rank[0 if t == q else max(1, len(before))].append(w)
    return Tally(
        _sums(cells), _sums(hit), _sums(called), _sums(rank), float(sum(losses)), _sums(confusion)
    )


def _sums(nested: Any) -> NDArray[np.float64]:
    """Lists of numbers, in nested lists, to their sums in extended precision."""
    if all(isinstance(each, list) for each in nested) and nested:
        return np.array([_sums(each) for each in nested])
    return np.float64(sum(map(np.longdouble, nested), np.longdouble(0)))
