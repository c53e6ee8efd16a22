"""Labels of rows by the model of all others, where classes share a full covariance.

Labels by the model of all rows come from `linear`, with their leads. Most lead by more than scores
move as a row leaves. The others are scored in closed form by `left_out_full`, so that labels are
those of that, bit for bit.

In the terms of `FullChanges`, for a row at squared distance q from the mean of its class c: 1 - f
is left of the determinant, f = beta q; a = (W / (W - 1))^2; the covariance with all rows is the
share s <= 1 of that without the row, but for the row's part; p <= 0 is what the prior of c gains.
For a class e at squared distance q_e and with a product P_e, scores without the row are, but for
what is common to all classes,

    c: const_c + p - s a q / (2 (1 - f)),    e: const_e - s (q_e + P_e^2 beta / (1 - f)) / 2,

and with it const_e - q_e / 2. Let the class b lead the class e by D with all rows, and G be the
range of const. What b leads by without the row is at least s D - (1 - s) G, and

- where b = c: + p - s q (a - 1 + f) / (2 (1 - f)), since P_e^2 >= 0;
- where b is another: - s (q + 2 G) f / (2 (1 - f)), since P_b^2 <= q_b q, and q_b <= q + 2 G where
  b leads c. Without the row c loses: a >= 1, p <= 0.

With 1 / (1 - f) <= 1 + 2 f for f <= 1/2, b stays the best class where

    D > ((1 - s) G - p) / s + q (max(a - 1, 2 G beta) + f) (1/2 + f).

This grows with q, so that a bound on q will do: with the inverse covariance H, and its diagonal h,
q <= l sum_j h_j (x_j - mean_cj)^2, where l is the largest eigenvalue of H in units of h.

Rounding: let m be the margin of `linear`, but with the means' deviations from the centre, by span,
in its reach. Then a score of `whitened` is off by at most m / 4, distances between means by 4 m,
and P by 3 m. With a <= 2, f <= 1/2 and G beta <= 1/2, where P_b beta <= 1, an own term is off by at
most 2 m, and that of b by 7 m. P_e^2 >= 0 holds for what is computed, too. With the m of linear
scores that is less than 12 m, of which 16 m are taken off leads. What rounds means, and where they
are not in float64, moves the root of q by at most a drift g: (x + g)^2 <= 1.001 x^2 + 1001 g^2.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, never_inlined, readonly, warmup_call
from ..._numba.transposes import columns
from ..._numba.vectors import aligned, keep, load, pointer, shifted, splat, store
from ..rows import round_up
from .driver import GROUPS_PER_BLOCK, Group, rows_of_block, sources, tail_of
from .left_out_full import FullChanges, score_left_out_full
from .linear import LinearTerms, best_two, is_worth_it, linear_terms, pack, score_group, unpack
from .outputs import Wanted
from .own_class import copy_eight
from .posterior import GROUP
from .squares import tile_size
from .whitened import WhitenedTerms

# Rows that tell whether it pays, and the largest share of them that may be open.
_SAMPLED, _MOST_OPEN = 2048, 0.4
# Margins that are taken off leads.
_MARGINS = 16.0
# Numbers of open rows that are copied at a time, and least such rows.
_COPIED, _ROWS_PER_BLOCK = 1 << 20, GROUP * GROUPS_PER_BLOCK


class SharedMeans(NamedTuple):
    """Means (k, d) in two parts, the second of which is what rounding left."""

    mean: NDArray[np.float64]
    mean_lo: NDArray[np.float64]


class _Limits(NamedTuple):
    """What bounds q and leads, of k classes, in one array.

    steep (d8,): what squares are multiplied by. mean (k, d8). limits (k, 4): beta, and the least
    lead by its constant, and what q and beta q are added to, and what is added to q.
    """

    k: int
    numbers: NDArray[np.float64]


class _Model(NamedTuple):
    """`_Limits` inside the kernel."""

    d8: int
    steep: Any
    mean: Any
    limits: Any


class _Scratch(NamedTuple):
    """Leads and labels (32,) of a group, sums (8, 8) and rows (8, d8), and what scoring takes."""

    lead: Any
    label: Any
    sums: Any
    rows: Any
    sizes: Any
    s: Any
    tile: Any


class _Outputs(NamedTuple):
    """Labels (n,) as the bits of floats, and which are open (n,)."""

    labels: NDArray[np.float64]
    is_open: NDArray[np.uint8]


@never_inlined
def _score_group(rows, at, linear, space):
    """See `linear.score_group`, which is inlined where it is called."""
    score_group(rows, at, linear, space.tile, space.s, space.sizes)


@llvm_inlined
def _choose(packed, linear, space):
    """Set labels and leads of a group."""
    for h in range(0, GROUP, 8):
        best, second, label, least = best_two(h, packed, linear, space.sizes, space.s)
        store(space.label, h, label)
        store(space.lead, h, (best - second) - least)


@llvm_inlined
def _sum_row(x, at, p, d, model):
    """Eight lanes whose sum bounds q, of a row at `at` and the class whose mean is at p."""
    total = splat(0.0)
    for j in range(0, d, 8):
        t = load(x, at + j) - load(model.mean, p + j)
        total = total + t * t * load(model.steep, j)
    return total


@llvm_inlined
def _bound_eight(rows, at, to, m, model, codes, space):
    """Set bounds on q, in the first eight sums, of m of eight rows."""
    sums, d8 = space.sums, model.d8
    if rows.by_columns:
        copy_eight(rows, at, m, space.rows, d8)
    for r in range(8):
        p = codes[to + min(r, m - 1)] * d8
        if rows.by_columns:
            store(sums, 8 * r, _sum_row(space.rows, r * d8, p, rows.d, model))
        else:
            store(sums, 8 * r, _sum_row(rows.data, (at + r) * rows.d, p, rows.d, model))
    a, b, c, e, f, g, h, i = columns(sums, 0, 8)
    store(sums, 0, ((a + b) + (c + e)) + ((f + g) + (h + i)))


@llvm_inlined
def _label_group(rows, group, model, codes, out, is_open, space):
    """Write labels of a group, and mark those that are open."""
    for h in range(0, group.m, 8):
        m = min(8, group.m - h)
        _bound_eight(rows, group.at + h, group.to + h, m, model, codes, space)
        for r in range(m):
            i = group.to + h + r
            limits = shifted(model.limits, 4 * codes[i])
            q = space.sums[r] + limits[3]
            share = limits[0] * q
            least = limits[1] + q * (limits[2] + share) * (0.5 + share)
            out[i] = space.label[h + r]
            is_open[i] = 0 if share <= 0.5 and space.lead[h + r] > least else 1


@llvm_inlined
def _carve(memory, k, d, d8):
    lead = aligned(pointer(memory))
    label, sums = shifted(lead, GROUP), shifted(lead, 2 * GROUP)
    rows = shifted(sums, 64)
    sizes = shifted(rows, 8 * d8)
    s = shifted(sizes, GROUP)
    return _Scratch(lead, label, sums, rows, sizes, s, shifted(s, round_up(k, 2) * GROUP))


@kernel(variants=2)
def _label_left_out(first, last, source, packed, limits, classes, outputs):
    """Label blocks of rows by the model of all rows, and mark the open ones."""
    d, k, n_blocks = source.d, packed.k, -(-source.groups // GROUPS_PER_BLOCK)
    d8, linear, steep = round_up(d, 8), unpack(packed, d), pointer(limits.numbers)
    mean = shifted(steep, d8)
    model = _Model(d8, steep, mean, shifted(mean, k * d8))
    memory = np.empty(8 + GROUP * (k + 4) + 64 + 8 * d8 + tile_size(d))
    space = _carve(memory, k, d, d8)
    codes, labels, is_open = pointer(classes), pointer(outputs.labels), pointer(outputs.is_open)
    tail = tail_of(source, last > n_blocks)
    for b in range(first, last):
        rows, block = rows_of_block(b, source, tail, n_blocks)
        for at in range(block.start, block.stop, GROUP):
            group = Group(at, block.to + at - block.start, min(GROUP, block.stop - at))
            _score_group(rows, at, linear, space)
            _choose(packed, linear, space)
            _label_group(rows, group, model, codes, labels, is_open, space)
    keep(memory)
    keep(tail)


def label_left_out_linear(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    terms: WhitenedTerms,
    changes: FullChanges,
    means: SharedMeans,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """Best classes (n,), and which rows need a refit (n,), as `score_left_out_full`, of rows.

    None where the way of that is the faster one. No row has a weight, and changes are of classes.
    Cost: that of labels by one model, another read of X, and that of `score_left_out_full` for the
    rows whose class may not lead without them.
    """
    n = len(X)
    linear = linear_terms(terms) if is_worth_it(n, terms) else None
    if linear is None:
        return None
    reach = (np.abs(means.mean - terms.centre[0]) * linear.span).sum(axis=1)
    reach = max(linear.reach, float(reach[terms.const > -np.inf].max()))
    wider = linear._replace(error=_MARGINS * linear.error, reach=reach)
    limits = _limits(terms, wider, changes, means)
    sample = np.arange(0, n, -(-n // _SAMPLED))
    _, is_open = _label(X[sample], codes[sample], wider, limits)
    if is_open.mean() > _MOST_OPEN:
        return None
    labels, is_open = _label(X, codes, wider, limits)
    redo, open_rows = np.zeros(n, np.bool_), np.flatnonzero(is_open)
    step = max(_ROWS_PER_BLOCK, _COPIED // X.shape[1])
    for start in range(0, len(open_rows), step):
        at = open_rows[start : start + step]
        found = score_left_out_full(X[at], codes[at], terms, changes, joint=False)
        labels[at], redo[at] = found[0], found[2]
    return labels, redo


def _label(
    X: NDArray[Any], codes: NDArray[np.int32], terms: LinearTerms, limits: _Limits
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Labels (n,) of rows X (n, d) by the model of all rows, and which are open (n,)."""
    (n, d), k = X.shape, limits.k
    packed, own = pack(terms, Wanted()), readonly(np.ascontiguousarray(codes))
    out = _Outputs(np.empty(n), np.empty(n, np.uint8))
    for source in sources(X):
        n_blocks, work = -(-source.groups // GROUPS_PER_BLOCK) + 1, source.n * (k + 3) * d
        _label_left_out(n_blocks, source, packed, limits, own, out, work=work)
    return out.labels.view(np.int64), out.is_open.view(np.bool_)


def _limits(
    terms: WhitenedTerms, linear: LinearTerms, changes: FullChanges, means: SharedMeans
) -> _Limits:
    """See the essay above. Rows of classes for which it does not hold are open."""
    (k, d), d8, span = means.mean.shape, round_up(terms.centre.shape[1], 8), linear.span
    axes = terms.whitener[0] * terms.scale[0][:, None] / span
    # Not by `eigvalsh`, whose threads would keep cores busy that score rows next.
    steep = 2.0 * float(np.linalg.norm(axes, 2)) ** 2 * (1.0 + 1e-9) * span**2
    drift = np.sqrt((means.mean_lo**2 * steep).sum(axis=1)) + 8.0 * d * 2.0**-53 * linear.reach
    const, numbers = terms.const, changes.numbers
    possible = const > -np.inf
    spread = float(np.ptp(const[possible]))
    with np.errstate(all="ignore"):
        beta, scale, gain = numbers[:, 0], numbers[:, 1], numbers[:, 3]
        more = numbers[:, 2] / scale - 1.0
        usable = possible & (numbers[:, 6] > 0) & (scale > 0.5) & (scale <= 1.0) & (gain <= 0)
        usable &= (more >= 0) & (more <= 1.0) & (beta >= 0) & (spread * beta <= 0.5)
        least = ((1.0 - scale) * spread - gain) / scale
    out = np.zeros((k, 4))
    out[:, 0], out[:, 1] = beta, np.where(usable, least, np.inf)
    out[:, 2] = np.maximum(more, 2.0 * spread * beta)
    out[:, 3] = 1001.0 * drift**2 + 1e-12
    table = np.zeros((k + 1, d8))
    table[0, :d], table[1:, :d] = 1.002 * steep, means.mean
    return _Limits(k, np.concatenate([table.reshape(-1), out.reshape(-1)]))


@warmup_call
def _warm() -> None:
    numbers = np.zeros(1), np.zeros(1), np.zeros((2, 1)), np.zeros(2)
    limits = _Limits(2, np.zeros(32))
    for dtype in (np.float64, np.float32):
        terms = LinearTerms(*numbers, 0.0, 1.0, 0.0)
        _label(np.zeros((1, 1), dtype), np.zeros(1, np.int32), terms, limits)
