"""Rows and rotated parameters to joint log likelihoods: full, shared and truncated covariances.

A class's score is s = const - sum_j ((W (x - centre))_j - mean_j)^2 scale_j^2, where W (r, d) is a
whitener or a basis, its own or that of all classes. Deviations from the centre are taken first, so
that nothing cancels however far the data lie from 0. Rows are lanes, 32 at a time, and a row's
scores have the same bits alone and anywhere in any batch.

A triangular W costs half: each panel of eight rows of W knows the features where it is not zero.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import ir_inlined, jit_helper, kernel, llvm_inlined, readonly, warmup_call
from ..._numba.vectors import aligned, keep, load, pointer, shifted, splat, store
from ..chunks import as_flat, block_bounds, contiguous_chunks
from ..panel_product import TALL, WIDE, multiply
from ..rows import OVERREAD, Rows, eight_rows, element
from .diagonal import GROUPS_PER_BLOCK
from .outputs import (
    Answers,
    Scores,
    Table,
    better,
    divide_up,
    fill_behind,
    finish_group,
    output_of,
    settle,
    size_of_scratch,
    take_far,
    write_labels,
)
from .overflow import is_finite_row
from .posterior import GROUP, JOINT

_HALVES = GROUP // WIDE


class Model(NamedTuple):
    """What scoring wants of k classes in g bases of r axes, padded to rp, over d features.

    bounds (g, rp / 8, 2): the features where eight axes are not zero; centre (g, d); panels
    (g, rp / 8, d, 8): W; mean, scale (k, r); const (k,); values (k,): labels as bits of floats.
    """

    g: int
    r: int
    rp: int
    k: int
    bounds: Any
    centre: Any
    panels: Any
    mean: Any
    scale: Any
    const: Any
    values: Any


class Turned(NamedTuple):
    """Room for 32 rows: themselves and their deviations (2, d, 16), and these turned (rp, 32)."""

    rows: Any
    centred: Any
    axes: Any


@llvm_inlined
def _tall(r):
    return (r + TALL - 1) // TALL * TALL


@jit_helper
def _fill(rows, at, m, to):
    """Copy m rows from `at` on, features by rows, into (2, d, 16); what is past them is 0."""
    d, half = rows.d, rows.d * WIDE
    # Eight features are read at a time, up to seven past the end of a row.
    if (rows.by_columns and at + GROUP <= rows.n) or (at + GROUP) * d + OVERREAD <= rows.n * d:
        for h in range(0, GROUP, 8):
            place = shifted(to, h // WIDE * half + h % WIDE)
            for j in range(0, d, 8):
                for q, x in enumerate(eight_rows(rows, at + h, j)):
                    if j + q < d:
                        store(place, (j + q) * WIDE, x)
        return
    for i in range(GROUP):
        place = shifted(to, i // WIDE * half + i % WIDE)
        for j in range(d):
            place[j * WIDE] = element(rows, at + i, j) if i < m else 0.0


@llvm_inlined
def _turn(model, b, d, turned):
    """Set the axes (rp, 32) to the basis b of the rows' deviations from its centre."""
    centre, half = shifted(model.centre, b * d), d * WIDE
    for j in range(d):
        middle = splat(centre[j])
        for p in range(j * WIDE, _HALVES * half, half):
            store(turned.centred, p, load(turned.rows, p) - middle)
            store(turned.centred, p + 8, load(turned.rows, p + 8) - middle)
    for q in range(0, model.rp, TALL):
        panel = b * model.rp // TALL + q // TALL
        low, high = model.bounds[2 * panel], model.bounds[2 * panel + 1]
        left = shifted(model.panels, (panel * d + low) * TALL)
        for h in range(_HALVES):
            right = shifted(turned.centred, h * half + low * WIDE)
            to = shifted(turned.axes, q * GROUP + h * WIDE)
            multiply(left, TALL, right, high - low, to, GROUP, False)


@llvm_inlined
def _step(a, t, mean, scale):
    z = (t - mean) * scale
    return a - z * z


@llvm_inlined
def _score_class(model, c, axes, s):
    """Scores (32,) of class c from the rows in its basis."""
    a0 = a1 = a2 = a3 = splat(model.const[c])
    for j in range(model.r):
        p = j * GROUP
        mean, scale = splat(model.mean[c * model.r + j]), splat(model.scale[c * model.r + j])
        a0 = _step(a0, load(axes, p), mean, scale)
        a1 = _step(a1, load(axes, p + 8), mean, scale)
        a2 = _step(a2, load(axes, p + 16), mean, scale)
        a3 = _step(a3, load(axes, p + 24), mean, scale)
    store(s, c * GROUP, a0)
    store(s, c * GROUP + 8, a1)
    store(s, c * GROUP + 16, a2)
    store(s, c * GROUP + 24, a3)


@ir_inlined
def _score_group(rows, at, m, model, turned, room):
    """Scores of up to 32 rows and their best classes; whether every row has one."""
    _fill(rows, at, m, turned.rows)
    for b in range(model.g):
        _turn(model, b, rows.d, turned)
        for c in range(b, model.k if model.g == 1 else b + 1):
            _score_class(model, c, turned.axes, room.s)
    good = True
    for h in range(0, GROUP, 8):
        best, label = splat(-np.inf), splat(model.values[0])
        for c in range(model.k):
            a = load(room.s, c * GROUP + h)
            best, label = better(a, splat(model.values[c]), best, label)
        good &= settle(best, label, h, room)
    return good


@jit_helper
def _axis(rows, i, model, c, j):
    """The distance of row i along axis j of class c, times 2**-600, which cannot overflow."""
    b = 0 if model.g == 1 else c
    d, panel = rows.d, (b * model.rp + j) // TALL
    t = 0.0
    for f in range(model.bounds[2 * panel], model.bounds[2 * panel + 1]):
        w = model.panels[(panel * d + f) * TALL + j % TALL]
        far = np.float64(element(rows, i, f)) * 0.5 - model.centre[b * d + f] * 0.5
        t += w * (far * 2.0**-599)
    return (t - model.mean[c * model.r + j] * 2.0**-600) * model.scale[c * model.r + j]


@jit_helper
def _score_far(rows, i, model, scores, far):
    """Scores (k,) of a row whose squared distances overflow: the nearest classes share it."""
    top = 0.0
    for c in range(model.k):
        for j in range(model.r):
            if model.const[c] > -np.inf:
                top = max(top, abs(_axis(rows, i, model, c, j)))
    top = top if top > 0.0 else 1.0
    best = np.inf
    for c in range(model.k):
        q = 0.0
        for j in range(model.r):
            t = _axis(rows, i, model, c, j) / top
            q += t * t
        far[c] = q
        scores[c] = model.const[c]
        if scores[c] > -np.inf and q < best:
            best = q
    for c in range(model.k):
        if far[c] > best:
            scores[c] = -np.inf


@jit_helper
def _mend(rows, at, m, model, keep_scores, room, out, to):
    """Score the rows that no class scored above -inf; the first that is not finite, or -1."""
    for r in range(m):
        room.far[r] = 0.0
        if room.best[r] > -np.inf:
            continue
        if not is_finite_row(rows, at + r, False):
            return r
        room.far[r] = 1.0
        _score_far(rows, at + r, model, room.few, shifted(room.few, model.k))
        take_far(r, model.k, model.values, keep_scores, room, out, to)
    fill_behind(m, room)
    return -1


@ir_inlined
def _score_groups(rows, start, stop, model, out, turned, room):
    """Score rows start to stop; the first row that is not finite, or -1."""
    for at in range(start, stop, GROUP):
        m = min(GROUP, stop - at)
        good = _score_group(rows, at, m, model, turned, room)
        if out.wants_labels:
            write_labels(room.label, m, out.labels, at)
        if not good:
            bad = _mend(rows, at, m, model, out.mode != JOINT, room, out, at)
            if bad >= 0:
                return at + bad
        finish_group(model.k, m, good, room, out, at)
    return -1


@ir_inlined
def _unpack(packed, bounds, g, r, k, d):
    rp = _tall(r)
    panels = shifted(packed, g * d)
    mean = shifted(panels, g * rp * d)
    scale = shifted(mean, k * r)
    const = shifted(scale, k * r)
    return Model(g, r, rp, k, bounds, packed, panels, mean, scale, const, shifted(const, k))


@kernel
def _score_rotated(
    first, last, X, by_columns, n, d, g, r, k, n_blocks, packed, bounds, mode, labels, narrow, wide,
    evidence, bad,
):  # fmt: skip
    """Score blocks of whole groups of X (n, d); bad (blocks,) takes the first bad row, or -1."""
    model = _unpack(pointer(packed), pointer(bounds), g, r, k, d)
    out = output_of(mode, labels, narrow, wide, evidence)
    scratch = np.empty(size_of_scratch(k))
    room = divide_up(pointer(scratch), k)
    space = np.empty((2 * d + model.rp) * GROUP + 8)
    start = aligned(pointer(space))
    centred = shifted(start, d * GROUP)
    turned = Turned(start, centred, shifted(centred, d * GROUP))
    rows = Rows(pointer(X), by_columns, n, d)
    groups = -(-n // GROUP)
    for b in range(first, last):
        lo = b * groups // n_blocks * GROUP
        hi = min(n, (b + 1) * groups // n_blocks * GROUP)
        bad[b] = _score_groups(rows, lo, hi, model, out, turned, room)
    keep(scratch)
    keep(space)


class Basis(NamedTuple):
    """Parameters as `score_rotated` takes them; see there."""

    centre: NDArray[np.float64]
    whitener: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]


def score_rotated(
    X: NDArray[Any],
    basis: Basis,
    const: NDArray[np.float64],
    *,
    codes: bool = True,
    values: NDArray[np.int64] | None = None,
    table: Table | None = None,
    evidence: bool = False,
    dtype: Any = np.float64,
) -> Scores:
    """Score rows X (n, d): s_c = const_c - sum_j ((W_c (x - centre_c))_j - mean_cj)^2 scale_cj^2.

    basis.centre (g, d) and whitener (g, r, d) are of each class, or with g = 1 of all; mean and
    scale are (k, r). The rest is as in `kernels.score.score`.
    Cost: one read of X, and n g r d multiply-adds, half of them where whiteners are triangular.
    Error: relative 1e-16 times d per term, of |W| |x - centre|.
    """
    (n, d), k = X.shape, len(const)
    g, r = basis.whitener.shape[:2]
    answers = Answers.room(n, k, codes, table, evidence, dtype)
    model = (d, g, r, k), *_pack(basis, const, values)
    contiguous = as_flat(X)
    if contiguous is not None:
        return answers.scores(_score_flat(*contiguous, n, model, answers), dtype)
    bad = -1
    for chunk in contiguous_chunks(X, block_bounds(n, GROUP * GROUPS_PER_BLOCK)):
        part = answers.part(chunk.start, chunk.stop)
        found = _score_flat(chunk.data, chunk.by_columns, chunk.stop - chunk.start, model, part)
        if found >= 0:
            bad = chunk.start + found
            break
    return answers.scores(bad, dtype)


def _score_flat(
    data: NDArray[Any],
    by_columns: bool,
    n: int,
    model: tuple[tuple[int, ...], NDArray[np.float64], NDArray[np.int64]],
    answers: Answers,
) -> int:
    """Score contiguous rows; the first that is not finite, or -1."""
    (d, g, r, k), packed, bounds = model
    n_blocks = -(-n // (GROUP * GROUPS_PER_BLOCK))
    bad = np.empty(n_blocks, np.int64)
    _score_rotated(
        n_blocks, data, by_columns, n, d, g, r, k, n_blocks, packed, bounds, *answers.flat(), bad,
        work=n * r * (d * g + k),
    )  # fmt: skip
    return int(bad[np.argmax(bad >= 0)]) if n_blocks else -1


def _pack(
    basis: Basis, const: NDArray[np.float64], values: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """All that describes the classes in one array, and where panels of whiteners are not zero."""
    g, r, d = basis.whitener.shape
    k, rp = len(const), -(-r // TALL) * TALL
    padded = np.zeros((g, rp, d))
    padded[:, :r] = basis.whitener
    panels = padded.reshape(g, rp // TALL, TALL, d).transpose(0, 1, 3, 2)
    some = panels.any(axis=3).reshape(-1, d)
    bounds = np.zeros((len(some), 2), np.int64)
    for panel in np.flatnonzero(some.any(axis=1)):
        there = np.flatnonzero(some[panel])
        bounds[panel] = there[0], there[-1] + 1
    labels = np.arange(k) if values is None else values
    parts = basis.centre, panels, basis.mean, basis.scale, const, labels.view(np.float64)
    packed = np.concatenate([np.ascontiguousarray(part).reshape(-1) for part in parts])
    return readonly(packed), readonly(bounds.reshape(-1))


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    for dtype in (np.float64, np.float32):
        basis = Basis(zero, np.ones((1, 1, 1)), zero, one)
        score_rotated(np.zeros((1, 1), dtype), basis, np.zeros(1), table="proba")
