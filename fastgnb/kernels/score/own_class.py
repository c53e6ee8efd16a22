"""Terms of rows in their own classes, each without the row, where variances are diagonal.

Features are lanes, since each row reads another class. Rows for which this would lose digits are
marked in `redo`, for the caller to score by a refit.

Flags: FMA contraction only.
"""

from __future__ import annotations

from ..._numba.decorators import jit_helper, llvm_inlined
from ..._numba.transposes import columns, transpose
from ..._numba.vectors import all_greater, first, load, shifted, splat, store
from ..rows import element
from .left_out_model import LEAST_LEFT, change_of


@llvm_inlined
def _epsilon(x, model, share, gain):
    """Epsilon without a row x, and whether it has its digits; share and gain as in `changes`."""
    if model.smoothing == 0.0 or model.total_variance[model.top] == 0.0:
        return model.epsilon, True
    step = x[model.top] - model.total_mean[model.top]
    most, of = model.total_variance[model.top] - share * step * step, model.top
    if most < model.second:
        for j in range(model.d):
            step = x[j] - model.total_mean[j]
            left = model.total_variance[j] - share * step * step
            if left > most:
                most, of = left, j
    return model.smoothing * gain * most, most > LEAST_LEFT * model.total_variance[of]


@llvm_inlined
def _own_terms(x, c, change, epsilon, model, q, scratch):
    """Terms of row x in its class c, of weight reduced by its own, at row q of the tiles.

    Squares over variances, and variances over those with all rows, are summed and multiplied lane
    by lane. Where variances are spherical, these are the squares alone. Returns whether every
    variance has its digits: not where the row made most of it.
    """
    at, d = c * model.d8, model.d
    of = 0 if model.tied else at
    alpha, beta, more = splat(change[0]), splat(change[1]), splat(epsilon)
    square, product, least = splat(0.0), splat(1.0), splat(LEAST_LEFT)
    is_exact = True
    for j in range(0, d, 8):
        step = load(x, j) - load(model.mean, at + j)
        if j + 8 > d:
            step = first(d - j, step)
        t = step * step
        if model.spherical:
            square = square + t
        else:
            before = alpha * load(model.variance, of + j)
            variance = (before - beta * t) + more
            is_exact &= all_greater(variance, least * before)
            inverse = splat(1.0) / variance
            square = square + t * inverse
            product = product * (variance * load(model.inverse, of + j) + load(model.padding, j))
            if model.tied:
                half = splat(0.5) * inverse
                store(scratch.halves, q * model.d8 + j, first(d - j, half) if j + 8 > d else half)
    store(scratch.squares, 8 * q, square)
    store(scratch.products, 8 * q, product)
    return is_exact


@llvm_inlined
def _sum_lanes(scratch, h):
    """Sums and products of the eight lanes of eight rows, to lanes h to h + 8."""
    a, b, c, d, e, f, g, i = columns(scratch.squares, 0, 8)
    store(scratch.square, h, ((a + b) + (c + d)) + ((e + f) + (g + i)))
    a, b, c, d, e, f, g, i = columns(scratch.products, 0, 8)
    store(scratch.product, h, ((a * b) * (c * d)) * ((e * f) * (g * i)))


@llvm_inlined
def _spherical_terms(c, change, epsilon, model, r, q, scratch):
    """As `_own_terms`, from the sum of squares, where a class has one variance."""
    of = 0 if model.tied else c * model.d8
    before = change[0] * model.variance[of]
    variance = before - change[1] * scratch.square[r] / model.d + epsilon
    scratch.square[r] /= variance
    scratch.product[r] = variance * model.inverse[of]
    if model.tied:
        for j in range(0, model.d8, 8):
            half = splat(0.5 / variance)
            store(scratch.halves, q * model.d8 + j, first(model.d - j, half))
    return variance > LEAST_LEFT * before


@llvm_inlined
def own_eight(rows, at, to, h, m, model, codes, redo, scratch):
    """Own terms of m of eight rows, from `at` on, whose outputs begin at `to`."""
    x, stride = shifted(rows.data, at * rows.d), rows.d
    if rows.by_columns:
        x, stride = scratch.rows, model.d8
        copy_eight(rows, at, m, scratch.rows, model.d8)
    for q in range(8):
        if q >= m:
            scratch.delta[h + q] = 0.0
            store(scratch.squares, 8 * q, splat(0.0))
            store(scratch.products, 8 * q, splat(1.0))
            continue
        i = to + q
        c = codes[i]
        change = change_of(model, i, c)
        row = shifted(x, q * stride)
        epsilon, is_exact = _epsilon(row, model, change[5], change[6])
        scratch.delta[h + q] = epsilon - model.epsilon
        is_exact &= _own_terms(row, c, change, epsilon + model.floor, model, q, scratch)
        redo[i] = 0 if is_exact and change[0] == change[0] else 1
    _sum_lanes(scratch, h)
    if model.spherical:
        for q in range(m):
            i = to + q
            more = model.epsilon + model.floor + scratch.delta[h + q]
            change = change_of(model, i, codes[i])
            if not _spherical_terms(codes[i], change, more, model, h + q, q, scratch):
                redo[i] = 1


@jit_helper
def copy_eight(rows, at, m, tile, d8):
    """Copy m of eight rows from `at` on, which are column-major, into a tile (8, d8)."""
    whole = rows.d // 8 * 8
    for j in range(0, whole, 8):
        transpose(rows.data, j * rows.n + at, rows.n, tile, j, d8)
    for j in range(whole, d8):
        for q in range(8):
            tile[q * d8 + j] = element(rows, at + q, j) if j < rows.d and q < m else 0.0
