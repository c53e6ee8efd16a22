"""Rows to per-class weight, mean and scatter in one read.

Rows are cut into blocks by the shape of the data. Each block sums w z and w z^2 of the deviations
z = x - shift, where the shift of a class is close to its mean, so that nothing cancels, and blocks
are merged in order by the update of Chan, Golub and LeVeque (1983), with the mean kept as an
unevaluated sum of two float64 numbers.

Flags: FMA contraction, and reassociation in `_lane_sums` alone. Two-sum must not be reassociated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import frozen, helper, kernel, prange, summing
from .layout import cut, pieces

# Rows of one class that are summed plainly before they join the block's sums: bounds the error of
# plain summation, whatever the number of classes and rows.
_RUN = 512
# Rows of one transposed tile, at most, for input that lies by columns.
_TILE = 64
# Rows of one tile laid out by features, and the most k d for which sums go by lanes.
_LANES = 128
_SMALL = 16
# Rows that the first guess of the class means is taken from.
_PILOT = 256
# A block is summed again, around its own mean, when the square of the sum eats more than this
# share of the sum of squares; each time brings the shift closer, and four times is enough for any
# weights and outliers that float64 holds.
_POOR = 0.75
_TRIES = 4


class Sums(NamedTuple):
    """What one pass over rows leaves. Shapes: (k, 1) or (k, d) for weight, (k, d) for the rest."""

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_low: NDArray[np.float64]
    scatter: NDArray[np.float64]


@helper
def _zero(n, s1, s2):
    # Whole-array assignment would compile NumPy's broadcasting errors, and their strings, as well.
    for c in range(s1.shape[0]):
        for q in range(n.shape[1]):
            n[c, q] = 0.0
        for j in range(s1.shape[1]):
            s1[c, j] = 0.0
            s2[c, j] = 0.0


@helper
def _flush(run_n, run_1, run_2, n, s1, s2):
    """Move the sums of one class's run of rows into the block's."""
    for q in range(len(n)):
        n[q] += run_n[q]
        run_n[q] = 0.0
    for j in range(len(s1)):
        s1[j] += run_1[j]
        s2[j] += run_2[j]
        run_1[j] = 0.0
        run_2[j] = 0.0


@helper
def _tile_of(X, start, stop, tile):
    """Copy rows start to stop of X (d, n) into tile (rows, d)."""
    for j in range(X.shape[0]):
        x = X[j, start:stop]
        for i in range(stop - start):
            tile[i, j] = x[i]


@helper
def _load(X, by_columns, start, m, tile):
    """Lay rows start to start + m out by features, one lane a row; what is past the end stays."""
    d = tile.shape[0]
    if by_columns:
        for j in range(d):
            x = X[j, start : start + m]
            lane = tile[j]
            for r in range(m):
                lane[r] = x[r]
        return
    whole = m - m % 4
    for r in range(0, whole, 4):
        x0, x1, x2, x3 = X[start + r], X[start + r + 1], X[start + r + 2], X[start + r + 3]
        for j in range(d):
            lane = tile[j]
            lane[r] = x0[j]
            lane[r + 1] = x1[j]
            lane[r + 2] = x2[j]
            lane[r + 3] = x3[j]
    for r in range(whole, m):
        for j in range(d):
            tile[j, r] = X[start + r, j]


@summing
def _mark_lanes(y, c, here):
    """Set `here` to 1 in the lanes of class c, to 0 in the others; the number of them."""
    count = 0.0
    for r in range(len(y)):
        one = 1.0 if y[r] == c else 0.0
        here[r] = one
        count += one
    for r in range(len(y), _LANES):
        here[r] = 0.0
    return count


@summing
def _lane_sums(x, here, m):
    """Sums of z and z^2 over the lanes where `here` is 1; it is 0 in the others."""
    a = 0.0
    b = 0.0
    for r in range(_LANES):
        z = (x[r] - m) * here[r]
        a += z
        b += z * z
    return a, b


@helper
def _sum_lanes(X, codes, by_columns, start, stop, shift, n, s1, s2):
    """Sums over rows start to stop, class by class over whole tiles: for few classes and features.

    Rows are the vector lanes, and those of other classes count 0 times. That is k times the
    arithmetic of going row by row, but without its chains of loads and stores.
    """
    k, d = shift.shape
    tile = np.zeros((d, _LANES))
    here = np.empty(_LANES)
    for at in range(start, stop, _LANES):
        m = min(_LANES, stop - at)
        y = codes[at : at + m]
        _load(X, by_columns, at, m, tile)
        for c in range(k):
            n[c, 0] += _mark_lanes(y, c, here)
            for j in range(d):
                a, b = _lane_sums(tile[j], here, shift[c, j])
                s1[c, j] += a
                s2[c, j] += b


@helper
def _add_rows(X, codes, shift, run, run_n, run_1, run_2, n, s1, s2):
    """Add rows X (m, d), none missing, weight 1 each, to the sums of w, w z and w z^2."""
    d = X.shape[1]
    for i in range(X.shape[0]):
        c = codes[i]
        x = X[i]
        m = shift[c]
        a = run_1[c]
        b = run_2[c]
        run[c] += 1
        for j in range(d):
            z = x[j] - m[j]
            a[j] += z
            b[j] += z * z
        if run[c] == _RUN:
            run_n[c, 0] = _RUN
            run[c] = 0
            _flush(run_n[c], a, b, n[c], s1[c], s2[c])


@helper
def _add_rows_weighted(X, codes, weight, skip, shift, run, run_n, run_1, run_2, n, s1, s2):
    """As `_add_rows`, with weights; a row of weight 0 is not looked at.

    With `skip` each NaN is left out, and run_n (k, d) sums the weights of the rest.
    """
    d = X.shape[1]
    for i in range(X.shape[0]):
        w = weight[i] if len(weight) > 0 else 1.0
        if w == 0.0:
            continue
        c = codes[i]
        x = X[i]
        m = shift[c]
        v = run_n[c]
        a = run_1[c]
        b = run_2[c]
        run[c] += 1
        if skip:
            for j in range(d):
                here = x[j] == x[j]
                z = x[j] - m[j] if here else 0.0
                wz = w * z
                v[j] += w if here else 0.0
                a[j] += wz
                b[j] += wz * z
        else:
            v[0] += w
            for j in range(d):
                z = x[j] - m[j]
                wz = w * z
                a[j] += wz
                b[j] += wz * z
        if run[c] == _RUN:
            run[c] = 0
            _flush(v, a, b, n[c], s1[c], s2[c])


@helper
def _first_rows(X, codes, weight, by_columns, start, stop, skip, known, shift):
    """Set the shift of each class not known yet to its first value among rows start to stop."""
    d = shift.shape[1]
    unknown = 0
    for c in range(known.shape[0]):
        for q in range(known.shape[1]):
            unknown += not known[c, q]
    if unknown == 0:
        return
    for i in range(start, stop):
        c = codes[i]
        if len(weight) > 0 and weight[i] == 0.0:
            continue
        if not skip and known[c, 0]:
            continue
        for j in range(d):
            x = X[j, i] if by_columns else X[i, j]
            if not skip or (x == x and not known[c, j]):
                shift[c, j] = x
                if skip:
                    known[c, j] = True
        if not skip:
            known[c, 0] = True


@helper
def _sum_block(X, codes, weight, by_columns, start, stop, skip, shift, n, s1, s2):
    """Sums of w, w z and w z^2 over rows start to stop, in runs of _RUN rows of a class."""
    k, d = shift.shape
    plain = len(weight) == 0 and not skip
    _zero(n, s1, s2)
    if plain and k * d <= _SMALL:
        _sum_lanes(X, codes, by_columns, start, stop, shift, n, s1, s2)
        return
    run = np.zeros(k, np.int64)
    run_n = np.zeros(n.shape)
    run_1 = np.zeros((k, d))
    run_2 = np.zeros((k, d))
    rows = min(_TILE, max(8, 4096 // d)) if by_columns else stop - start
    tile = np.empty((rows if by_columns else 0, d))
    for at in range(start, stop, rows):
        end = min(at + rows, stop)
        y = codes[at:end]
        w = weight[at:end] if len(weight) > 0 else weight
        if by_columns:
            _tile_of(X, at, end, tile)
            x = tile[: end - at]
            if plain:
                _add_rows(x, y, shift, run, run_n, run_1, run_2, n, s1, s2)
            else:
                _add_rows_weighted(x, y, w, skip, shift, run, run_n, run_1, run_2, n, s1, s2)
        elif plain:
            _add_rows(X[at:end], y, shift, run, run_n, run_1, run_2, n, s1, s2)
        else:
            _add_rows_weighted(X[at:end], y, w, skip, shift, run, run_n, run_1, run_2, n, s1, s2)
    for c in range(k):
        if run[c] > 0:
            if plain:
                run_n[c, 0] = run[c]
            _flush(run_n[c], run_1[c], run_2[c], n[c], s1[c], s2[c])


@helper
def _is_poor(skip, n, s1, s2):
    """Whether some shift was so far from its mean that digits of the scatter were lost."""
    for c in range(s1.shape[0]):
        for j in range(s1.shape[1]):
            square = s1[c, j] * s1[c, j]
            # Sums that overflow around an outlier may be finite around the mean.
            if s2[c, j] == np.inf or square > _POOR * n[c, j if skip else 0] * s2[c, j]:
                return True
    return False


@helper
def _recentre(skip, n, s1, shift):
    """Move each shift to the mean that the sums show."""
    for c in range(s1.shape[0]):
        for j in range(s1.shape[1]):
            w = n[c, j if skip else 0]
            if w > 0.0:
                shift[c, j] += s1[c, j] / w


@helper
def _block(X, codes, weight, by_columns, start, stop, skip, known, shift, n, s1, s2):
    """Sums of one block around `shift`, which is completed and mended as the rows need it."""
    _first_rows(X, codes, weight, by_columns, start, stop, skip, known, shift)
    for attempt in range(_TRIES):
        _sum_block(X, codes, weight, by_columns, start, stop, skip, shift, n, s1, s2)
        if attempt == _TRIES - 1 or not _is_poor(skip, n, s1, s2):
            break
        _recentre(skip, n, s1, shift)


@helper
def _merge(skip, n, shift, s1, s2, weight, mean, low, scatter):
    """Add a block's sums to the running statistics (Chan, Golub and LeVeque 1983)."""
    k, d = mean.shape
    for c in range(k):
        for j in range(d):
            q = j if skip else 0
            nb = n[c, q]
            if nb == 0.0:
                continue
            off = s1[c, j] / nb
            sb = max(s2[c, j] - s1[c, j] * off, 0.0)
            na = weight[c, q]
            share = nb / (na + nb)
            # delta = (shift + off) - (mean + low), with the error of the first difference
            step = shift[c, j] - mean[c, j] if na > 0.0 else 0.0
            back = step + mean[c, j]
            error = (shift[c, j] - back) + (mean[c, j] - (back - step)) if na > 0.0 else 0.0
            delta = step + (error + (off - low[c, j]))
            # From the heavier side, so that a light side, however far, rounds nothing away.
            base = mean[c, j]
            add = low[c, j] + share * delta
            if nb > na:
                base = shift[c, j]
                add = off - na / (na + nb) * delta
            # two-sum of base and add
            total = base + add
            virtual = total - base
            mean[c, j] = total
            low[c, j] = (base - (total - virtual)) + (add - virtual)
            scatter[c, j] += sb + na * share * delta * delta if na > 0.0 else sb
        for q in range(n.shape[1]):
            weight[c, q] += n[c, q]


@helper
def _copy(known, shift, known_to, shift_to):
    for c in range(shift.shape[0]):
        for q in range(known.shape[1]):
            known_to[c, q] = known[c, q]
        for j in range(shift.shape[1]):
            shift_to[c, j] = shift[c, j]


@kernel
def _accumulate(
    X, codes, weight, by_columns, skip, bounds, known, shift, total, mean, low, scatter
):
    """Sum blocks in parallel and merge them in block order: one parallel region, one wait."""
    k, d = mean.shape
    m = len(bounds) - 1
    knowns = np.empty((m, k, known.shape[1]), np.bool_)
    shifts = np.empty((m, k, d))
    n = np.empty((m, k, known.shape[1]))
    s1 = np.empty((m, k, d))
    s2 = np.empty((m, k, d))
    for b in prange(m):
        _copy(known, shift, knowns[b], shifts[b])
        lo = bounds[b] - bounds[0]
        hi = bounds[b + 1] - bounds[0]
        _block(X, codes, weight, by_columns, lo, hi, skip, knowns[b], shifts[b], n[b], s1[b], s2[b])
    for b in range(m):
        _merge(skip, n[b], shifts[b], s1[b], s2[b], total, mean, low, scatter)


def rows_per_block(n: int, k: int) -> int:
    """Rows of one block, by the shape of the data alone.

    Enough that the sums of all blocks stay below 2% of X and merging below a tenth of the work,
    and at most 256 blocks, which is enough for as many threads.
    """
    return max(2048, 160 * k, -(-n // 256))


def accumulate(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    k: int,
    *,
    skip: bool = False,
) -> Sums:
    """Per-class sums of X (n, d) with class codes (n,) in 0..k-1 and optional weights (n,).

    With `skip`, each NaN is left out and `weight` of the result is (k, d). Without it a NaN, as
    any infinity, shows as a mean or scatter that is not finite. Rows of weight 0 are not there.
    Cost: one read of X, 3 n d float64 operations (4 with weights). Error: a few units in the last
    place of mean and scatter, see `ClassStats`.
    """
    n, d = X.shape
    if n == 0 or k == 0:
        return _nothing(k, d, skip)
    bounds = cut(n, rows_per_block(n, k))
    w = frozen(np.empty(0) if weight is None else weight)
    known, shift = np.zeros((k, d if skip else 1), np.bool_), np.zeros((k, d))
    sums = _nothing(k, d, skip)
    for piece in pieces(X, bounds):
        rows = codes[piece.start : piece.stop], w[piece.start : piece.stop], piece.by_columns
        work = (piece.stop - piece.start) * d
        if piece.first == 0:
            guess, few = _nothing(k, d, skip), np.array([0, min(n, _PILOT)])
            _accumulate(piece.data, *rows, skip, few, known, shift, *guess, work=work)
            known, shift = guess.weight > 0.0, guess.mean
        some = bounds[piece.first : piece.last + 1]
        _accumulate(piece.data, *rows, skip, some, known, shift, *sums, work=work)
    return sums


def _nothing(k: int, d: int, skip: bool) -> Sums:
    wide, narrow = (k, d), (k, d if skip else 1)
    return Sums(np.zeros(narrow), np.zeros(wide), np.zeros(wide), np.zeros(wide))


@_accumulate.example
def _every_variant() -> None:
    codes = np.zeros(2, np.int32)
    for dtype in (np.float64, np.float32):
        accumulate(np.zeros((2, 1), dtype), codes, None, 1)
