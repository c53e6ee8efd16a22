"""Labels by several models whose covariances have the same axes in each class.

Rows are turned into the axes of a class once, and squared. A model's score is then its constant
less the sum of these squares over its variances along the axes: a multiply-add each, for five
models at a time. The best and the second best score of a row are kept. A label is put out where it
leads by more than the scores may be off from those of `whitened`; the other rows are for that.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import kernel, llvm_inlined, warmup_call
from ..._numba.vectors import aligned, keep, load, pointer, shifted, splat, store, where_greater
from ..panel_product import TALL
from ..rows import round_up
from .driver import GROUPS_PER_BLOCK, rows_of_block, sources, tail_of
from .posterior import GROUP
from .squares import load_four
from .whitened import Axes, copy_rows, rotate

_FIVE = 5


class SharedAxes(NamedTuple):
    """Parameters of m models of k classes.

    centre (k, d); axes (k, d, d): the rows of each are orthonormal; shift (k, d): where the means
    are along them, less the centre. steep (m, k, d): half of the inverse variances. const (m, k):
    what scores begin with. floor, slope, top (m,): a label leads surely where the distance of the
    two best scores is above floor + slope (2 top - both).
    """

    centre: NDArray[np.float64]
    axes: NDArray[np.float64]
    shift: NDArray[np.float64]
    steep: NDArray[np.float64]
    const: NDArray[np.float64]
    floor: NDArray[np.float64]
    slope: NDArray[np.float64]
    top: NDArray[np.float64]


class _Packed(NamedTuple):
    """`SharedAxes` as the kernel takes them, with models padded to fives, in one array.

    bounds (k, dp / 8, 2): the features that eight axes use, which are all.
    """

    k: int
    m: int
    bounds: NDArray[np.int64]
    numbers: NDArray[np.float64]


class _Model(NamedTuple):
    """`_Packed` inside the kernel: what `whitened.rotate` reads of it, and the rest."""

    k: int
    m: int
    rp: int
    bounds: Any
    centre: Any
    panels: Any
    shift: Any
    steep: Any
    const: Any
    floor: Any
    slope: Any
    top: Any


class _Scratch(NamedTuple):
    """Memory for 32 rows: best and second best scores and labels (m, 32), and `whitened.Axes`."""

    best: Any
    second: Any
    label: Any
    space: Axes


@llvm_inlined
def _unpack(packed, d):
    k, m, n_panels = packed.k, packed.m, packed.bounds.shape[1]
    m5, rp, centre = round_up(m, _FIVE), n_panels * TALL, pointer(packed.numbers)
    panels = shifted(centre, k * d)
    shift = shifted(panels, k * rp * d)
    steep = shifted(shift, k * d)
    const = shifted(steep, k * m5 * d)
    floor = shifted(const, k * m5)
    return _Model(
        k, m, rp, pointer(packed.bounds), centre, panels, shift, steep, const, floor,
        shifted(floor, m5), shifted(floor, 2 * m5),
    )  # fmt: skip


@llvm_inlined
def _carve(memory, model, d):
    m5, best = round_up(model.m, _FIVE), aligned(memory)
    second, label = shifted(best, m5 * GROUP), shifted(best, 2 * m5 * GROUP)
    rows = shifted(best, 3 * m5 * GROUP)
    centred = shifted(rows, d * GROUP)
    return _Scratch(best, second, label, Axes(rows, centred, shifted(centred, d * GROUP)))


@llvm_inlined
def _square(model, c, d, axes):
    """Make deviations on the axes of class c (d, 32) squared distances from its mean."""
    for j in range(d):
        shift = splat(model.shift[c * d + j])
        for h in range(j * GROUP, (j + 1) * GROUP, 8):
            t = load(axes, h) - shift
            store(axes, h, t * t)


@llvm_inlined
def _take(a, x, steep):
    w = splat(steep)
    return a[0] - x[0] * w, a[1] - x[1] * w, a[2] - x[2] * w, a[3] - x[3] * w


@llvm_inlined
def _update(a, e, h, c, scratch):
    """Note the scores a of eight rows, from lane h on, by model e in class c."""
    at = e * GROUP + h
    best = load(scratch.best, at)
    lower = where_greater(best, a, a, best)
    second = load(scratch.second, at)
    store(scratch.second, at, where_greater(lower, second, lower, second))
    store(scratch.label, at, where_greater(a, best, splat(c), load(scratch.label, at)))
    store(scratch.best, at, where_greater(a, best, a, best))


@llvm_inlined
def _update_four(a, e, c, scratch):
    _update(a[0], e, 0, c, scratch)
    _update(a[1], e, 8, c, scratch)
    _update(a[2], e, 16, c, scratch)
    _update(a[3], e, 24, c, scratch)


@llvm_inlined
def _start(const):
    v = splat(const)
    return v, v, v, v


@llvm_inlined
def _score_five(model, c, e, d, scratch):
    """Score 32 rows in class c by models e to e + 5."""
    p = c * round_up(model.m, _FIVE) + e
    const, steep, axes = shifted(model.const, p), shifted(model.steep, p * d), scratch.space.axes
    a0, a1, a2 = _start(const[0]), _start(const[1]), _start(const[2])
    a3, a4 = _start(const[3]), _start(const[4])
    for j in range(d):
        x = load_four(axes, j * GROUP)
        a0, a1 = _take(a0, x, steep[j]), _take(a1, x, steep[j + d])
        a2, a3 = _take(a2, x, steep[j + 2 * d]), _take(a3, x, steep[j + 3 * d])
        a4 = _take(a4, x, steep[j + 4 * d])
    _update_four(a0, e, c, scratch)
    _update_four(a1, e + 1, c, scratch)
    _update_four(a2, e + 2, c, scratch)
    _update_four(a3, e + 3, c, scratch)
    _update_four(a4, e + 4, c, scratch)


@llvm_inlined
def _label_group(rows, at, model, scratch):
    """Score 32 rows in all classes by all models."""
    d, none = rows.d, splat(-np.inf)
    for h in range(0, round_up(model.m, _FIVE) * GROUP, 8):
        store(scratch.best, h, none)
        store(scratch.second, h, none)
        store(scratch.label, h, splat(0.0))
    copy_rows(rows, at, scratch.space.rows)
    for c in range(model.k):
        rotate(model, c, d, scratch.space)
        _square(model, c, d, scratch.space.axes)
        for e in range(0, model.m, _FIVE):
            _score_five(model, c, e, d, scratch)


@kernel(variants=2)
def _label_by_models(first, last, source, packed, labels):
    """Label blocks of rows by m models: labels (m, n), -1 where a label does not lead surely."""
    d, n_blocks = source.d, -(-source.groups // GROUPS_PER_BLOCK)
    model, n = _unpack(packed, d), labels.shape[1]
    size = 3 * round_up(model.m, _FIVE) * GROUP + (2 * d + model.rp) * GROUP + 8
    memory = np.empty(size)
    scratch = _carve(pointer(memory), model, d)
    tail, out = tail_of(source, last > n_blocks), pointer(labels)
    for b in range(first, last):
        rows, block = rows_of_block(b, source, tail, n_blocks)
        for at in range(block.start, block.stop, GROUP):
            to, n_rows = block.to + at - block.start, min(GROUP, block.stop - at)
            _label_group(rows, at, model, scratch)
            for e in range(model.m):
                floor, slope, top = model.floor[e], model.slope[e], 2.0 * model.top[e]
                for r in range(n_rows):
                    best, second = scratch.best[e * GROUP + r], scratch.second[e * GROUP + r]
                    is_sure = best - second > floor + slope * (top - (best + second))
                    out[e * n + to + r] = int(scratch.label[e * GROUP + r]) if is_sure else -1
    keep(memory)
    keep(tail)


def label_by_models(X: NDArray[Any], models: SharedAxes) -> NDArray[np.int32]:
    """Positions (m, n) of the best classes of rows X (n, d) by m models; -1 where unsure.

    Cost: one read of X, and n k d (d + m) multiply-adds.
    """
    (m, k, d), n = models.steep.shape, len(X)
    packed, labels = _pack(models), np.empty((m, n), np.int32)
    for source in sources(X):
        n_blocks = -(-source.groups // GROUPS_PER_BLOCK) + 1
        _label_by_models(n_blocks, source, packed, labels, work=source.n * k * d * (d + m))
    return labels


def _pack(models: SharedAxes) -> _Packed:
    """Copy parameters into one array; models that are there to make up fives never matter."""
    m, k, d = models.steep.shape
    rp, more = round_up(d, TALL), round_up(m, _FIVE) - m
    padded = np.zeros((k, rp, d))
    padded[:, :d] = models.axes
    panels = padded.reshape(k, rp // TALL, TALL, d).transpose(0, 1, 3, 2)
    steep = np.concatenate((models.steep, np.zeros((more, k, d)))).transpose(1, 0, 2)
    const = np.concatenate((models.const, np.zeros((more, k)))).T
    each = [np.append(part, np.zeros(more)) for part in models[5:]]
    parts = models.centre, panels, models.shift, steep, const, *each
    numbers = np.concatenate([part.reshape(-1) for part in parts])
    bounds = np.tile(np.array([0, d], np.int64), (k, rp // TALL, 1))
    return _Packed(k, m, bounds, numbers)


@warmup_call
def _warm() -> None:
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    each = np.zeros(1), np.zeros(1), np.zeros(1)
    models = SharedAxes(zero, np.ones((1, 1, 1)), zero, np.ones((1, 1, 1)), one, *each)
    for dtype in (np.float64, np.float32):
        label_by_models(np.zeros((1, 1), dtype), models)
