"""Rows scored by the model of all other rows: leave-one-out in closed form, for diagonal variances.

What a row changes of its own class is in `own_class`, and scores in all classes as if it were in
none are in `other_classes`. Here they are put together: labels, joint log likelihoods, and marks of
the rows that the caller has to score by a refit.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, kernel, llvm_inlined, readonly, warmup_call
from ..._numba.exponents import exponent
from ..._numba.vectors import (
    all_greater,
    keep,
    load,
    pointer,
    power_of_two,
    splat,
    store,
    where_greater,
)
from ..chunks import as_flat
from ..rows import OVERREAD, Rows, round_up
from .left_out_model import LeftOut, carve, change_of, pack, scratch_size, smallest_terms, unpack
from .other_classes import score_by_division, score_eight, score_eight_tied
from .own_class import own_eight
from .posterior import GROUP

_ROWS_PER_BLOCK = 64 * GROUP
# The square of the largest logarithm of a product that surely did not overflow.
_WIDEST = 300.0**2
# Rows copied at a time where kernels cannot read them in place.
_COPIED = 1 << 14


class Outputs(NamedTuple):
    """labels (n,) of best classes, as the bits of floats, joint (n, k) or (0, k), redo (n,)."""

    labels: NDArray[np.float64]
    joint: NDArray[np.float64]
    redo: NDArray[np.uint8]


class _Output(NamedTuple):
    """`Outputs` inside the kernel, by pointers."""

    labels: Any
    wants_joint: bool
    joint: Any
    redo: Any


class Source(NamedTuple):
    """Rows (n, d) of float64, contiguous, whose first is row `start` of all; `last` of them count.

    Up to seven numbers after each whole group of 32 may be read.
    """

    data: NDArray[np.float64]
    by_columns: bool
    n: int
    d: int
    start: int
    last: int


@llvm_inlined
def log_eight(x):
    """Logarithms of eight normal numbers above 0, by fdlibm's polynomial: see `kernels.logs`."""
    n = exponent(x)
    f = x * power_of_two(splat(0.0) - n) - splat(1.0)
    s = f / (splat(2.0) + f)
    z = s * s
    w = z * z
    even = splat(0.2222219843214978396) + w * splat(0.1531383769920937332)
    even = w * (splat(0.3999999999940941908) + w * even)
    odd = splat(0.1818357216161805012) + w * splat(0.1479819860511658591)
    odd = z * (splat(0.6666666666666735130) + w * (splat(0.2857142874366239149) + w * odd))
    half = splat(0.5) * f * f
    low = s * (half + (odd + even)) + n * splat(1.90821492927058770002e-10)
    return n * splat(6.93147180369123816490e-01) - ((half - low) - f)


@llvm_inlined
def _settle(rows, at, to, m, model, codes, out, scratch):
    """Give each row its own class's score, and write labels and joint log likelihoods."""
    s, half = scratch.s, 0.5 * (model.d if model.spherical else 1)
    for h in range(0, GROUP, 8):
        store(scratch.product, h, splat(half) * log_eight(load(scratch.product, h)))
    for r in range(m):
        c = codes[to + r]
        if abs(scratch.delta[r]) > model.reach and not model.tied:
            score_by_division(rows, at, r, model, scratch)
        change = change_of(model, to + r, c)
        own = model.const[c] + change[3] - change[2] * scratch.square[r]
        s[c * GROUP + r] = own if model.tied else own - scratch.product[r]
    is_sure = True
    for h in range(0, GROUP, 8):
        best, label = splat(-np.inf), splat(model.values[0])
        for c in range(model.k):
            a = load(s, c * GROUP + h)
            label = where_greater(a, best, splat(model.values[c]), label)
            best = where_greater(a, best, a, best)
        store(scratch.best, h, best)
        store(scratch.label, h, label)
        p = load(scratch.product, h)
        is_sure &= all_greater(best, splat(-np.inf)) and all_greater(splat(_WIDEST), p * p)
    if m == GROUP and is_sure:
        for h in range(0, GROUP, 8):
            store(out.labels, to + h, load(scratch.label, h))
        return
    for r in range(m):
        out.labels[to + r] = scratch.label[r]
        if not (scratch.best[r] > -np.inf and scratch.product[r] ** 2 < _WIDEST):
            out.redo[to + r] = 1


@jit_helper
def _write_joint(to, m, model, codes, out, scratch):
    """Write joint log likelihoods, with what all classes have in common."""
    for r in range(m):
        common = change_of(model, to + r, codes[to + r])[4]
        if model.tied:
            common -= scratch.product[r]
        for c in range(model.k):
            out.joint[(to + r) * model.k + c] = scratch.s[c * GROUP + r] + common


@llvm_inlined
def _bounds(b, first, source, found):
    """The rows of block b, and where their outputs begin."""
    if len(found) > 0:
        start = (b - first) * _ROWS_PER_BLOCK
        return start, start + found[2 * b + 1], found[2 * b]
    start = b * _ROWS_PER_BLOCK
    return start, min(start + _ROWS_PER_BLOCK, source.last), source.start + start


@kernel
def score_listed(first, last, source, packed, classes, found, outputs):
    """Score blocks of rows, each by the model of all others.

    Of rows that are listed, found (2 blocks,) has for each block the first output, and how many
    there are, from row 2048 (b - first) on. Without it (0,) all are scored.
    """
    model = unpack(packed)
    memory = np.empty(scratch_size(model.k, model.d8))
    scratch = carve(pointer(memory), model.k, model.d8)
    rows = Rows(pointer(source.data), source.by_columns, source.n, source.d)
    out = _Output(
        pointer(outputs.labels), len(outputs.joint) > 0, pointer(outputs.joint),
        pointer(outputs.redo),
    )  # fmt: skip
    codes = pointer(classes)
    for b in range(first, last):
        start, stop, begin = _bounds(b, first, source, found)
        for at in range(start, stop, GROUP):
            m, to = min(GROUP, stop - at), begin + at - start
            for h in range(0, GROUP, 8):
                left = min(8, max(m - h, 0))
                own_eight(rows, at + h, to + h, h, left, model, codes, out.redo, scratch)
                if model.tied:
                    score_eight_tied(rows, at + h, model, h, scratch)
                else:
                    score_eight(rows, at + h, model, h, scratch)
            _settle(rows, at, to, m, model, codes, out, scratch)
            if out.wants_joint:
                _write_joint(to, m, model, codes, out, scratch)
    keep(memory)


def score_left_out(
    X: NDArray[Any], codes: NDArray[np.int32], terms: LeftOut, *, joint: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Best classes (n,), joint log likelihoods (n, k) or (0, k), and which rows need a refit (n,).

    X (n, d) is finite, and codes (n,) are the positions of the classes of its rows.
    Cost: one read of X, 3 n d k float64 operations and n d divisions. Error: relative 1e-13 per
    term.
    """
    (n, d), k = X.shape, len(terms.mean)
    packed = pack(terms)
    out = Outputs(np.empty(n), np.empty((n if joint else 0, k)), np.zeros(n, np.uint8))
    codes, found = readonly(np.ascontiguousarray(codes)), np.empty(0, np.int64)
    for source in _sources(X):
        n_blocks, work = -(-source.last // _ROWS_PER_BLOCK), source.last * d * (k + 4)
        score_listed(n_blocks, source, packed, codes, found, out, work=work)
    return out.labels.view(np.int64), out.joint, out.redo.view(np.bool_)


def source_of_copies(n: int, d: int) -> Source:
    """Memory for copies of n rows of d features; it has to be finite where it is not set yet."""
    return Source(np.zeros(round_up(n, GROUP) * d + OVERREAD), False, n, d, 0, n)


def _sources(X: NDArray[Any]) -> Any:
    """X (n, d) where kernels can read it, but for the last rows, or copies of parts of it."""
    (n, d), contiguous = X.shape, as_flat(X)
    start = 0
    if contiguous is not None and contiguous[0].dtype == np.float64:
        start = max(0, n - OVERREAD) // GROUP * GROUP
        if start:
            yield Source(*contiguous, n, d, 0, start)
    for at in range(start, n, _COPIED):
        stop = min(at + _COPIED, n)
        source = source_of_copies(stop - at, d)
        source.data[: (stop - at) * d].reshape(-1, d)[:] = X[at:stop]
        yield source._replace(data=readonly(source.data), start=at)


@warmup_call
def _warm() -> None:
    score_left_out(np.zeros((1, 1)), np.zeros(1, np.int32), smallest_terms(), joint=False)
