"""Labels by float32 scores that are proved to decide, and by float64 scores where they are not.

Labels need no more of the scores than which is largest. Rows are centred in float64 and rounded to
float32, and a class costs two multiply-adds a feature, of sixteen rows at a time: t = x' a + b,
s -= t t. The best and the second best score of a row are kept. Where their distance is above the
bound on the error of both, see `certificate`, the class is that of the float64 scores. Rows that
are not certain are gathered and scored in float64, as `diagonal` does. So labels are the same bit
for bit, for any rows: no comparison with NaN holds, and infinite scores have no finite bound.

Where many rows of a group are not certain, it is scored in float64, and so are the next ones.

Flags: FMA contraction only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, kernel, llvm_inlined, warmup_call
from ..._numba.singles import as_singles
from ..._numba.threads import Kernel
from ..._numba.vectors import aligned, keep, pointer, shifted, store
from ..._numba.words import as_words, counted, load_words
from ..rows import OVERREAD, Rows, element, round_up
from .certificate import Certificate, certificate
from .diagonal import DiagonalTerms, LabelScratch, label_block
from .driver import Block, Classes, label_rows, rows_of_block, tail_of
from .fixed_point import fixed_point
from .float32 import certify
from .int16 import certify_words
from .outputs import Wanted, write_labels
from .posterior import GROUP
from .squares import tile_size

_ALL = (1 << GROUP) - 1
# Where labels are put out by margin: those of the other rows too, or these are only marked.
_EXACT, _MARKS = 1, 2
# A group with more uncertain rows is scored again as a whole, and so many groups after it are not
# tried; each time that the next one that is tried has as many, twice as many. Where a margin is
# wanted, more rows are uncertain, and float32 makes few of them certain.
_MOST, _PAUSE = 8, 32
_MOST_BY_MARGIN = 20


class Packed(NamedTuple):
    """Parameters of k classes as kernels take them, those of `live` certified ones among them.

    numbers: mean, scale (k, d), const and values (k,), centre (dp,) for d features rounded up to
    eights, values (live,); as float32 unit and steep (dp,), start (live,) and pairs (live, d,
    2) of a and b; as int32, of a number of classes in fixed point, which may be 0, begin
    and words (fixed, d).
    """

    k: int
    live: int
    fixed: int
    is_counted: bool
    by_margin: int
    first: int
    floor: float
    slope: float
    limit: float
    error: float
    numbers: NDArray[np.float64]


class CertifiedModel(NamedTuple):
    """`Packed` inside a kernel: pointers to its parts, the first of which `squares` reads too."""

    k: int
    live: int
    fixed: int
    is_counted: bool
    by_margin: int
    first: int
    floor: float
    slope: float
    limit: float
    error: float
    mean: Any
    scale: Any
    const: Any
    values: Any
    centre: Any
    live_values: Any
    unit: Any
    steep: Any
    start: Any
    pairs: Any
    begin: Any
    words: Any


class Space(NamedTuple):
    """Scratch: labels and best scores (32,), and positions of classes (32,) int32.

    singles and words: rows (d, 32) as float32 or int32, in the same memory. tile and s are what
    `squares` takes. pending (32, d): rows that are not certain, and their places (32,).
    """

    label: Any
    best: Any
    position: Any
    singles: Any
    words: Any
    tile: Any
    s: Any
    pending: Any
    place: Any


@llvm_inlined
def _scratch_size(k, d):
    return GROUP * (k + 3) + 8 + GROUP // 2 * round_up(d, 8) + tile_size(d)


@llvm_inlined
def _carve(memory, pending, place, d):
    label = aligned(pointer(memory))
    best = shifted(label, GROUP)
    position = shifted(best, GROUP)
    singles = shifted(position, GROUP // 2)
    tile = shifted(singles, GROUP // 2 * round_up(d, 8))
    return Space(
        label, best, as_words(position), as_singles(singles), as_words(singles), tile,
        shifted(tile, tile_size(d)), pointer(pending), pointer(place),
    )  # fmt: skip


@llvm_inlined
def _set_labels(model, space):
    """Set what is put out for 32 rows of known classes."""
    if model.is_counted:
        first = model.first
        for h in range(0, GROUP, 16):
            low, high = counted(first, load_words(space.position, h))
            store(space.label, h, low)
            store(space.label, h + 8, high)
    else:
        for r in range(GROUP):
            space.label[r] = model.live_values[space.position[r]]


@jit_helper
def _label_exactly(rows, block, model, space, out):
    """Label the rows of a block in float64; the place of the first without a label, or -1."""
    scratch = LabelScratch(space.best, space.label, space.s, space.tile)
    return label_block(rows, block, model, out, scratch)


@jit_helper
def _settle(n, d, model, space, out):
    """Label n pending rows; the place of the first without a label, or -1."""
    if n == 0:
        return -1
    rows, certain, bad = Rows(space.pending, False, GROUP, d), 0, -1
    if model.fixed > 0 and model.by_margin != _EXACT:
        certain = certify(rows, 0, model, space.singles, space.position) | _outside(n)
    if certain == _ALL or model.by_margin == _MARKS:
        _set_labels(model, space)
        for i in range(n):
            if not certain >> i & 1:
                space.label[i] = model.values[0]
    else:
        bad = _label_exactly(rows, Block(0, n, 0), model, space, space.label)
    for i in range(n):
        out[space.place[i]] = space.label[i]
    return space.place[bad] if bad >= 0 else -1


@jit_helper
def _defer(rows, at, to, certain, n, space):
    """Add the rows of a group that are not certain to n pending ones; how many there are then."""
    for r in range(GROUP):
        if not certain >> r & 1:
            for j in range(rows.d):
                space.pending[n * rows.d + j] = element(rows, at + r, j)
            space.place[n] = to + r
            n += 1
    return n


@llvm_inlined
def _outside(m):
    """The bits of a group's rows that are not among the first m."""
    return _ALL << m & _ALL


@llvm_inlined
def _uncertain(certain):
    """How many of 32 bits are not set."""
    n = 0
    if certain != _ALL:
        for r in range(GROUP):
            n += 1 - (certain >> r & 1)
    return n


@llvm_inlined
def _most_of(model):
    """How many rows of a group may be uncertain."""
    return _MOST_BY_MARGIN if model.by_margin > 0 else _MOST


@llvm_inlined
def _next_pause(pause, uncertain, most):
    """How many groups are not tried after one with uncertain rows; `pause`: the last time."""
    return min(max(_PAUSE, 2 * pause), 1 << 16) if uncertain > most else 0


@llvm_inlined
def _find_certain(rows, at, m, model, space, waits):
    """Find the best classes of 32 rows; a bit for each of the first m that is certain."""
    certain, uncertain, most = 0, GROUP, _most_of(model)
    if model.fixed > 0 and waits[0] == 0:
        certain = certify_words(rows, at, model, space.words, space.position) | _outside(m)
        uncertain = _uncertain(certain)
        waits[0] = waits[1] = _next_pause(waits[1], uncertain, most)
    if uncertain > most and waits[2] == 0:
        certain = certify(rows, at, model, space.singles, space.position) | _outside(m)
        waits[2] = waits[3] = _next_pause(waits[3], _uncertain(certain), most)
    return certain


@llvm_inlined
def _pause_of(model, waits):
    """For how many groups neither fixed point nor float32 is tried."""
    return min(waits[0], waits[2]) if model.fixed > 0 else waits[2]


@llvm_inlined
def _count_down(groups, waits):
    waits[0] = max(0, waits[0] - groups)
    waits[2] = max(0, waits[2] - groups)


@llvm_inlined
def _label_certain(rows, block, model, space, out, waits):
    """Label the rows of a block; the place of the first without a label, or -1.

    waits: for how many groups fixed point and float32 are not tried, and the last such number.
    """
    n, bad, certain, at = 0, -1, 0, block.start
    while at < block.stop and bad < 0:
        m, to = min(GROUP, block.stop - at), block.to + at - block.start
        groups = _pause_of(model, waits)
        if groups == 0:
            certain = _find_certain(rows, at, m, model, space, waits)
            groups = _pause_of(model, waits)
        if groups > 0:
            groups = min(groups, (block.stop - at + GROUP - 1) // GROUP)
            stop = min(block.stop, at + groups * GROUP)
            bad = _label_exactly(rows, Block(at, stop, to), model, space, out)
        else:
            groups, stop = 1, at + m
            _set_labels(model, space)
            write_labels(space.label, m, out, to)
            if certain != _ALL:
                n = _defer(rows, at, to, certain, n, space)
            if n > GROUP - _most_of(model):
                bad, n = _settle(n, rows.d, model, space, out), 0
        _count_down(groups, waits)
        at = stop
    earlier = _settle(n, rows.d, model, space, out)
    return earlier if earlier >= 0 else bad


@llvm_inlined
def unpack(packed, d):
    """The parts of packed parameters of d features."""
    k, live, mean = packed.k, packed.live, pointer(packed.numbers)
    scale, const = shifted(mean, k * d), shifted(mean, 2 * k * d)
    values = shifted(const, k)
    centre = shifted(values, k)
    live_values, dp = shifted(centre, round_up(d, 8)), round_up(d, 8)
    unit = as_singles(shifted(live_values, live))
    start = shifted(unit, 2 * dp)
    pairs = shifted(start, round_up(live, 2))
    begin = shifted(as_words(shifted(live_values, live)), 2 * dp + round_up(live, 2) * (2 * d + 1))
    return CertifiedModel(
        k, live, packed.fixed, packed.is_counted, packed.by_margin, packed.first, packed.floor,
        packed.slope, packed.limit, packed.error, mean, scale, const, values, centre, live_values,
        unit, shifted(unit, dp), start, pairs,
        begin, shifted(begin, packed.fixed),
    )  # fmt: skip


@kernel(variants=2)
def _label_certified(first, last, source, packed, labels, bad):
    """Label blocks of rows; bad (blocks,) takes the first row of each without a label, or -1."""
    d = source.d
    model, n_blocks = unpack(packed, d), len(bad) - 1
    memory = np.empty(_scratch_size(model.k, d))
    pending = np.zeros(GROUP * d + OVERREAD, source.data.dtype)
    place, waits = np.empty(GROUP, np.int64), np.zeros(4, np.int64)
    space = _carve(memory, pending, place, d)
    tail = tail_of(source, last > n_blocks)
    for b in range(first, last):
        rows, block = rows_of_block(b, source, tail, n_blocks)
        bad[b] = _label_certain(rows, block, model, space, pointer(labels), pointer(waits))
    keep(memory)
    keep(pending)
    keep(place)
    keep(waits)
    keep(tail)


def labeller(
    terms: DiagonalTerms, wanted: Wanted, dtype: np.dtype[Any]
) -> tuple[Kernel, Classes] | None:
    """What finds the labels of `diagonal.score`, bit for bit; None without a certificate.

    dtype: that of the rows.

    Cost: one read of X, 2 n d k multiply-adds in float32, twice as fast as those in float64, and
    3 d k float64 operations a row that is not certain.
    """
    is_narrow = dtype == np.float32
    found = certificate(terms.mean, terms.scale, terms.const, is_narrow=is_narrow)
    return None if found is None else (_label_certified, pack(terms, wanted, found))


def pack(terms: DiagonalTerms, wanted: Wanted, found: Certificate) -> Packed:
    """Copy parameters, and what is put out for each class, into one array."""
    (k, d), live = terms.mean.shape, len(found.classes)
    labels = wanted.labels(k)
    fixed = fixed_point(found, terms.mean, terms.scale, terms.const)
    features = np.zeros((2, round_up(d, 8)), np.float32)
    # An odd number of classes has a pair more, which is read and means nothing.
    singles = np.zeros(round_up(live, 2) * (2 * d + 1), np.float32)
    singles[:live] = found.start
    pairs = singles[round_up(live, 2) :].reshape(-1, d, 2)
    pairs[:live, :, 0], pairs[:live, :, 1] = found.a, found.b
    words: tuple[NDArray[Any], ...] = ()
    if fixed is not None:
        features[:, :d] = fixed.unit, fixed.steep
        words = (fixed.start, fixed.words.reshape(-1))
    centre = np.zeros(round_up(d, 8))
    centre[:d] = found.centre
    narrow = (features.reshape(-1), singles, *words)
    numbers = np.concatenate((
        terms.mean.reshape(-1), terms.scale.reshape(-1), terms.const, labels, centre,
        labels[found.classes], *(each.view(np.float64) for each in narrow),
    ))  # fmt: skip
    values = labels.view(np.int64)[found.classes]
    first = int(values[0])
    is_counted = bool(np.array_equal(values - first, np.arange(live)))
    # Rounding of the bounds' own evaluation, and of these to float32, is far below 0.1%.
    return Packed(
        k, live, 0 if fixed is None else len(fixed.start), is_counted, 0, first,
        2.002 * found.floor, 1.001 * found.slope,
        0.0 if fixed is None else fixed.limit, 0.0 if fixed is None else 2.002 * fixed.floor,
        numbers,
    )  # fmt: skip


def marked(
    terms: DiagonalTerms, distance: float, slope: float, *, is_exact: bool
) -> tuple[Kernel, Packed] | None:
    """As `labeller`, which puts out c for class c where it leads by a margin, and else c + k.

    Unless labels are to be exact, c + k may then be that of any class.

    Where it puts out c, the class's score is above those of all others by more than the distance,
    and slope times the sizes of its own and of the next one, which are relative to the largest
    constant.
    """
    k, d = terms.mean.shape
    found = certificate(terms.mean, terms.scale, terms.const)
    if found is None:
        return None
    wider = found._replace(
        floor=(1.0 + slope) * found.floor + 0.5 * distance,
        slope=(1.0 + slope) * found.slope + slope,
    )
    packed = pack(terms, Wanted(), wider)
    at = 2 * k * d + k
    packed.numbers[at : at + k] = np.arange(k, 2 * k).view(np.float64)
    packed = packed._replace(by_margin=_EXACT if is_exact else _MARKS)
    fixed = fixed_point(found, terms.mean, terms.scale, terms.const)
    if fixed is None:
        return _label_certified, packed
    # Scores in fixed point are within the range of int32, and so is what the slope takes.
    more = 1.01 * (distance * fixed.scale + slope * 2.0**32)
    return _label_certified, packed._replace(error=packed.error + more)


@warmup_call
def _warm() -> None:
    for dtype in (np.float64, np.float32):
        terms = DiagonalTerms(np.zeros((2, 1)), np.ones((2, 1)), None, np.zeros(2))
        X = np.zeros((1, 1), dtype)
        certain = labeller(terms, Wanted(), X.dtype)
        if certain is not None:
            label_rows(certain[0], X, certain[1], Wanted(), 1)
