"""Rows and rotated parameters to joint log likelihoods: full, shared and truncated covariances.

A class's score is s = const - sum_j ((W (x - centre))_j - mean_j)^2 scale_j^2, where W (r, d) is a
whitener or a basis, its own or that of all classes. Deviations from the centre are taken first, so
that nothing cancels however far the data lie from 0. Rows are lanes, 32 at a time, and a row's
scores have the same bits alone and anywhere in any batch.

A triangular W costs half: each panel of eight rows of W knows the features where it is not zero.

Flags: FMA contraction only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, kernel, llvm_inlined, warmup_call
from ..._numba.vectors import load, pointer, shifted, splat, store
from ..panel_product import TALL, WIDE, multiply
from ..rows import eight_rows, element, fetch_share, round_up
from .driver import score_blocks, score_rows
from .linear import is_worth_it, label_linear, linear_terms
from .outputs import Scores, Wanted, find_argmax
from .posterior import GROUP

_HALVES = GROUP // WIDE
# Rows between those scored and those fetched from memory.
_AHEAD = 2 * GROUP


class WhitenedTerms(NamedTuple):
    """Parameters of k classes in g bases, one for each or g = 1 for all, of r axes.

    centre (g, d); whitener (g, r, d); mean, scale (k, r); const (k,): what a score begins with.
    """

    centre: NDArray[np.float64]
    whitener: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    const: NDArray[np.float64]


class Packed(NamedTuple):
    """`WhitenedTerms` and what is put out for k classes as kernels take them.

    The r axes are padded to rp, a multiple of 8. numbers: centre, panels (g, rp / 8, d, 8) of
    whiteners, mean, scale, const and labels, in one array as in `diagonal.Packed`. bounds
    (g, rp / 8, 2): the features where eight axes are not zero.
    """

    r: int
    k: int
    bounds: NDArray[np.int64]
    numbers: NDArray[np.float64]


class WhitenedModel(NamedTuple):
    """`Packed` inside a kernel: pointers to its parts, and what the driver reads of a model.

    g: how many bases there are, one for each class or one for all.
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
    skip: bool
    extra: int


class Axes(NamedTuple):
    """Scratch for 32 rows: themselves, their deviations (2, d, 16), and these on axes (rp, 32)."""

    rows: Any
    centred: Any
    axes: Any


@llvm_inlined
def _carve_axes(d, scratch):
    centred = shifted(scratch.extra, d * GROUP)
    return Axes(scratch.extra, centred, shifted(centred, d * GROUP))


@jit_helper
def copy_rows(rows, at, to):
    """Copy 32 rows from `at` on, features by rows, into (2, d, 16), and fetch later rows."""
    d, half = rows.d, rows.d * WIDE
    for h in range(0, GROUP, 8):
        place = shifted(to, h // WIDE * half + h % WIDE)
        for j in range(0, d, 8):
            fetch_share(rows, at + _AHEAD, h, 0, j, d, 8)
            for q, x in enumerate(eight_rows(rows, at + h, j)):
                if j + q < d:
                    store(place, (j + q) * WIDE, x)


@llvm_inlined
def rotate(model, b, d, space):
    """Set the axes (rp, 32) to the rows' deviations from the centre of basis b, in that basis."""
    centre, half = shifted(model.centre, b * d), d * WIDE
    for j in range(d):
        middle = splat(centre[j])
        for p in range(j * WIDE, _HALVES * half, half):
            store(space.centred, p, load(space.rows, p) - middle)
            store(space.centred, p + 8, load(space.rows, p + 8) - middle)
    for q in range(0, model.rp, TALL):
        panel = b * model.rp // TALL + q // TALL
        low, high = model.bounds[2 * panel], model.bounds[2 * panel + 1]
        left = shifted(model.panels, (panel * d + low) * TALL)
        for h in range(_HALVES):
            right = shifted(space.centred, h * half + low * WIDE)
            to = shifted(space.axes, q * GROUP + h * WIDE)
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


@llvm_inlined
def _score_group(rows, group, model, keeps, scratch):
    """Score 32 rows and find their best classes; return whether every row has one."""
    space = _carve_axes(rows.d, scratch)
    copy_rows(rows, group.at, space.rows)
    for b in range(model.g):
        rotate(model, b, rows.d, space)
        for c in range(b, model.k if model.g == 1 else b + 1):
            _score_class(model, c, space.axes, scratch.s)
    return find_argmax(model, scratch)


@jit_helper
def _axis(rows, i, model, c, j):
    """The distance of row i along axis j of class c, times 2**-600, which cannot overflow."""
    b = 0 if model.g == 1 else c
    d, panel = rows.d, (b * model.rp + j) // TALL
    t = 0.0
    for f in range(model.bounds[2 * panel], model.bounds[2 * panel + 1]):
        w = model.panels[(panel * d + f) * TALL + j % TALL]
        deviation = np.float64(element(rows, i, f)) * 0.5 - model.centre[b * d + f] * 0.5
        t += w * (deviation * 2.0**-599)
    return (t - model.mean[c * model.r + j] * 2.0**-600) * model.scale[c * model.r + j]


@jit_helper
def _score_overflowed(rows, i, model, scores, distances):
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
        distances[c] = q
        scores[c] = model.const[c]
        if scores[c] > -np.inf and q < best:
            best = q
    for c in range(model.k):
        if distances[c] > best:
            scores[c] = -np.inf


@llvm_inlined
def _rescore_row(rows, r, group, model, scratch):
    scores = scratch.row_scores
    _score_overflowed(rows, group.at + r, model, scores, shifted(scores, model.k))


@llvm_inlined
def _unpack(packed, d):
    r, k, (g, n_panels, _) = packed.r, packed.k, packed.bounds.shape
    rp, centre = n_panels * TALL, pointer(packed.numbers)
    panels = shifted(centre, g * d)
    mean = shifted(panels, g * rp * d)
    scale = shifted(mean, k * r)
    const = shifted(scale, k * r)
    return WhitenedModel(
        g, r, rp, k, pointer(packed.bounds), centre, panels, mean, scale, const,
        shifted(const, k), False, (2 * d + rp) * GROUP,
    )  # fmt: skip


@kernel(variants=2)
def _score_whitened(first, last, source, packed, outputs, bad):
    """Score blocks of rows. See `driver.score_blocks`."""
    model = _unpack(packed, source.d)
    score_blocks(first, last, source, model, outputs, bad, _score_group, _rescore_row)


def score_whitened(X: NDArray[Any], terms: WhitenedTerms, wanted: Wanted) -> Scores:
    """Score rows X (n, d): s_c = const_c - sum_j ((W_c (x - centre_c))_j - mean_cj)^2 scale_cj^2.

    Labels alone of classes that share their whitener and scales come from `linear`, the same ones.
    Cost: one read of X, and n g r d multiply-adds, half of them where whiteners are triangular.
    Error: relative 1e-16 times d per term, of |W| |x - centre|.
    """
    if wanted.is_labels and is_worth_it(len(X), terms):
        linear = linear_terms(terms)
        if linear is not None:
            return label_linear(X, linear, wanted, packed_scorer(terms, wanted))
    return packed_scorer(terms, wanted)(X, wanted)


def packed_scorer(terms: WhitenedTerms, wanted: Wanted) -> Callable[[NDArray[Any], Wanted], Scores]:
    """What scores any rows (n, d) by these parameters, where the same labels are wanted."""
    return partial(_score, _pack(terms, wanted), terms.whitener.shape)


def _score(packed: Packed, shape: tuple[int, ...], X: NDArray[Any], wanted: Wanted) -> Scores:
    """Score rows X (n, d) against whiteners of this shape (g, r, d)."""
    g, r, d = shape
    return score_rows(_score_whitened, X, packed, wanted, r * (d * g + packed.k))


def _pack(terms: WhitenedTerms, wanted: Wanted) -> Packed:
    """Copy parameters of any layout, and what is put out for each class, into one array."""
    g, r, d = terms.whitener.shape
    k, rp = len(terms.const), round_up(r, TALL)
    padded = np.zeros((g, rp, d))
    padded[:, :r] = terms.whitener
    panels = padded.reshape(g, rp // TALL, TALL, d).transpose(0, 1, 3, 2)
    parts = terms.centre, panels, terms.mean, terms.scale, terms.const, wanted.labels(k)
    numbers = np.concatenate([part.reshape(-1) for part in parts])
    bounds = _bounds(panels.any(axis=3).reshape(-1, d))
    return Packed(r, k, bounds.reshape(g, rp // TALL, 2), numbers)


def _bounds(is_used: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first feature (panels, 2) that each panel uses, and the one behind the last."""
    bounds = np.zeros((len(is_used), 2), np.int64)
    for panel in np.flatnonzero(is_used.any(axis=1)):
        features = np.flatnonzero(is_used[panel])
        bounds[panel] = features[0], features[-1] + 1
    return bounds


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    for dtype in (np.float64, np.float32):
        terms = WhitenedTerms(zero, np.ones((1, 1, 1)), zero, one, np.zeros(1))
        score_whitened(np.zeros((1, 1), dtype), terms, Wanted(table="proba"))
