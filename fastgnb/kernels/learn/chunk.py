"""A chunk of rows into running statistics, in one call.

Where chunks are short, calls into compiled code and the arrays that they pass take longer than the
rows. So one call checks the labels, sums the blocks of `diagonal`, merges them, and merges the
result with the statistics before. The steps are those of longer ways, and so are the bits.

Statistics stand in one array: mean, mean_lo and variance, (k, dp) each with features padded to a
multiple of eight, and the weights (k,). What stands in padding means nothing.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._numba.awake import call_shared, compile_waiting, share_kernel
from ..._numba.decorators import (
    jit_helper,
    kernel,
    llvm_inlined,
    readonly,
    serial_kernel,
    warmup_call,
)
from ..._numba.direct import call_kernel, entry_point, kernel_address
from ..._numba.threads import Kernel, is_short
from ..._numba.vectors import (
    all_greater,
    first,
    load,
    pointer,
    splat,
    store,
    where_greater,
)
from ..rows import round_up
from .diagonal import bounds_of, merge_block, rows_per_block, sums_kernel, tail_of
from .double_double import difference, two_sum
from .encode import EncodedLabels
from .merge import LARGE, LARGE_MEAN, Parts, Sums
from .plain import same_order
from .tiles import Source

# What `merge_chunk` may find, as bits of its result.
UNKNOWN_LABEL, NOT_FINITE, EXTREME = 1, 2, 4


# ------------------------------------------------------------------ rows into blocks


@jit_helper
def are_known(values, offset, lookup, has_gaps):
    """Whether each label is in the lookup table, and its code there is not negative."""
    low = high = values[0]
    for i in range(len(values)):
        low, high = min(low, values[i]), max(high, values[i])
    if low < offset or high >= offset + len(lookup):
        return False
    if has_gaps:
        for i in range(len(values)):
            if lookup[values[i] - offset] < 0:
                return False
    return True


@kernel(variants=2)
def _sum_known(first, last, address, source, labels, weight, bounds, states, wrong):
    """Sum blocks by the kernel of an address where all labels are known, else set wrong[0]."""
    values, lookup = labels.values[bounds[first] : bounds[last]], labels.lookup
    if not are_known(values, labels.offset, lookup, len(lookup) > source.k):
        wrong[0] = UNKNOWN_LABEL
    elif call_kernel(address, first, last, (source, labels, weight, bounds, states)):
        raise MemoryError("no memory for scratch")


# ------------------------------------------------------------------ blocks into statistics


@llvm_inlined
def _wrong_where(x, limit, wrong):
    """`wrong`, with 1 in the lanes where not |x| < limit."""
    zero, one = splat(0.0), splat(1.0)
    inside = where_greater(splat(limit), x, where_greater(x, splat(-limit), zero, one), one)
    return wrong + inside


@llvm_inlined
def _finish_class(c, n_blocks, sums, lost, width):
    """Make variances of the scatter of a class; lanes above 0 where something is not finite."""
    d = sums.mean.shape[1]
    mean, scatter, low = pointer(sums.mean), pointer(sums.scatter), pointer(lost)
    n = splat(sums.weight[c, 0])
    wrong = splat(0.0)
    for j in range(0, d, 8):
        p = c * d + j
        s = load(scatter, p)
        if n_blocks > 1:
            s = s + load(low, p)
        bad = _wrong_where(s, np.inf, _wrong_where(load(mean, p), np.inf, splat(0.0)))
        wrong = wrong + first(width - j, bad)
        store(scatter, p, s / n)
    return wrong


@llvm_inlined
def _copy_class(c, d, n, source, target):
    """Copy mean, mean_lo and variance of a class; n: how many numbers each has of all classes."""
    for part in range(3):
        for j in range(0, d, 8):
            p = part * n + c * d + j
            store(target, p, load(source, p))


@llvm_inlined
def _merge_class(c, na, before, sums, after):
    """As `merge.merge_parts` of one class that has rows on both sides, eight features at a time."""
    k, d = sums.mean.shape
    nb, n = sums.weight[c, 0], k * d
    mean_b, lo_b, variance_b = pointer(sums.mean), pointer(sums.mean_lo), pointer(sums.scatter)
    share_a, share_b = splat(na / (na + nb)), splat(nb / (na + nb))
    for j in range(0, d, 8):
        p = c * d + j
        ma, la, va = load(before, p), load(before, n + p), load(before, 2 * n + p)
        mb, lb, vb = load(mean_b, p), load(lo_b, p), load(variance_b, p)
        step = difference(mb, lb, ma, la)
        gain = vb - va
        if nb > na:
            mean, lo = two_sum(mb, lb - share_a * step)
            spread = vb - share_a * gain
        else:
            mean, lo = two_sum(ma, la + share_b * step)
            spread = va + share_b * gain
        store(after, p, mean)
        store(after, n + p, lo)
        store(after, 2 * n + p, spread + share_a * step * (share_b * step))


@llvm_inlined
def _extreme(c, n, width, d, after):
    """Lanes above 0 where a mean or variance is so large that what follows of it may overflow."""
    wrong = splat(0.0)
    for j in range(0, width, 8):
        p = c * d + j
        bad = _wrong_where(load(after, p), LARGE_MEAN, splat(0.0))
        wrong = wrong + first(width - j, _wrong_where(load(after, 2 * n + p), LARGE, bad))
    return wrong


@jit_helper
def _merge_all(sums, lost, n_blocks, width, before, after):
    """As `merge_states`, of the sums of all blocks."""
    k, d = sums.mean.shape
    n = k * d
    old, new, columns = pointer(before), pointer(after), pointer(sums.mean)
    lo, variance = pointer(sums.mean_lo), pointer(sums.scatter)
    not_finite, extreme, n_present = splat(0.0), splat(0.0), 0
    for c in range(k):
        na, nb = before[3 * n + c], sums.weight[c, 0]
        after[3 * n + c] = na + nb
        if nb > 0.0:
            n_present += 1
            not_finite = not_finite + _finish_class(c, n_blocks, sums, lost, width)
        if nb == 0.0:
            _copy_class(c, d, n, old, new)
        elif na == 0.0:
            for j in range(c * d, c * d + d, 8):
                store(new, j, load(columns, j))
                store(new, n + j, load(lo, j))
                store(new, 2 * n + j, load(variance, j))
        else:
            _merge_class(c, na, old, sums, new)
        extreme = extreme + _extreme(c, n, width, d, new)
        if not na + nb < LARGE:
            extreme = splat(1.0)
    if not all_greater(splat(0.5), not_finite):
        return NOT_FINITE
    return 8 * n_present if all_greater(splat(0.5), extreme) else EXTREME


@jit_helper
def merge_states(states, k, width, before, after):
    """Merge the sums of a chunk, block by block, with the statistics before; see `_merge_chunk`.

    width: the number of features without padding.
    """
    dp = round_up(width, 8)
    sums = Sums(np.zeros((k, 1)), np.zeros((k, dp)), np.zeros((k, dp)), np.zeros((k, dp)))
    lost = np.zeros((k, dp))
    for b in range(len(states)):
        merge_block(states[b], False, sums, lost)
    return _merge_all(sums, lost, len(states), width, before, after)


@serial_kernel(variants=2)
def _merge_chunk(
    board, known, address, data, by_columns, values, offset, lookup, weight, bounds, k, d, before,
    after,
):  # fmt: skip
    """Merge rows with statistics before into those after.

    known: the address of `_sum_known`, which calls that of `address`. Returns what is wrong, in
    which case `after` is of no use, and else 8 times the number of classes that have rows.
    """
    n_blocks = len(bounds) - 1
    states = np.empty((n_blocks, 4 * k * round_up(d, 8)))
    labels = EncodedLabels(values, offset, lookup, lookup[:0])
    n = bounds[n_blocks]
    source = Source(data, by_columns, n, d, tail_of(n), k, False)
    wrong = np.zeros(1, np.int64)
    rows = address, source, labels, weight, bounds, states, wrong
    if share_kernel(board, known, n_blocks, rows):
        raise MemoryError("no memory for scratch")
    if wrong[0] != 0:
        return wrong[0]
    return merge_states(states, k, d, before, after)


class _Addresses:
    """The addresses of kernels of `diagonal`, by dtype. A pickle of it starts anew."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Kernel], Any] = {}

    def of(self, dtype: Any, kernel: Kernel) -> Any:
        """The address for rows of a dtype, which is compiled or loaded at the first call."""
        known = self._known.get((dtype.num, kernel))
        if known is None:
            known = kernel_address(kernel, *example_of_sums(dtype))
            self._known[dtype.num, kernel] = known
        return known

    def __reduce__(self) -> tuple[type[_Addresses], tuple[()]]:
        return _Addresses, ()


class _Variants:
    """The compiled call and the addresses of the kernels that it runs, by dtype and kernel.

    A pickle of it, as cloudpickle makes of modules, starts anew.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, Kernel], tuple[Any, Any, Any]] = {}

    def of(self, dtype: Any, sum_blocks: Kernel) -> tuple[Any, Any, Any]:
        """The variants for rows of a dtype, which are compiled or loaded at the first call."""
        known = self._known.get((dtype.num, sum_blocks))
        if known is None:
            known = self._known[dtype.num, sum_blocks] = self._compiled(dtype, sum_blocks)
        return known

    def _compiled(self, dtype: Any, sum_blocks: Kernel) -> tuple[Any, Any, Any]:
        return _entry(dtype), _known(dtype), addresses.of(dtype, sum_blocks)

    def __reduce__(self) -> tuple[type[_Variants], tuple[()]]:
        return _Variants, ()


def example_of_sums(dtype: Any) -> tuple[Any, ...]:
    """What the kernels of sums take, after the first and the last block."""
    source = Source(readonly(np.zeros(1, dtype)), False, 1, 1, 1, 1, False)
    labels = EncodedLabels.from_codes(np.empty(0, np.int32)).as_readonly()
    return source, labels, readonly(_NO_WEIGHT), np.zeros(2, np.int64), _NO_STATES


def _entry(dtype: Any) -> Any:
    """The variant of `_merge_chunk` for rows of a dtype."""
    source, labels, weight, bounds, _ = example_of_sums(dtype)
    rows = source.data, False, labels.values, 0, labels.lookup, weight, bounds
    return entry_point(_merge_chunk, 0, 0, 0, *rows, 1, 1, np.empty(4), np.empty(4))


def _known(dtype: Any) -> Any:
    """The address of `_sum_known` for rows of a dtype."""
    return kernel_address(_sum_known, 0, *example_of_sums(dtype), np.zeros(2, np.int64))


_NO_WEIGHT, _NO_STATES = np.empty(0), np.empty((0, 0))
addresses, _variants = _Addresses(), _Variants()


@lru_cache(maxsize=64)
def kernel_of(has_weight: bool, k: int, d: int) -> Kernel:
    """As `diagonal.sums_kernel`, looked up."""
    return sums_kernel(has_weight, False, k, d)


@lru_cache(maxsize=64)
def bounds_of_chunk(n: int, k: int) -> NDArray[np.int64]:
    """As `diagonal.bounds_of`, looked up."""
    return bounds_of(n, k)


def pack(parts: Parts) -> NDArray[np.float64]:
    """Statistics (k, 1) and (k, d) in one array, with padding."""
    k, d = parts.mean.shape
    wide = np.zeros((3, k, round_up(d, 8)))
    wide[:, :, :d] = parts.mean, parts.mean_lo, parts.variance
    return np.concatenate([wide.reshape(-1), parts.weight.reshape(-1)])


def unpack(packed: NDArray[np.float64], k: int, d: int) -> Parts:
    """What `pack` put together."""
    wide = packed[:-k].reshape(3, k, -1)[:, :, :d].copy()
    return Parts(packed[-k:].reshape(k, 1), *wide)


def merge_chunk(
    data: NDArray[Any],
    by_columns: bool,
    labels: EncodedLabels,
    weight: NDArray[np.float64] | None,
    before: NDArray[np.float64],
    k: int,
    d: int,
) -> tuple[int, NDArray[np.float64]]:
    """What `_merge_chunk` returns, and the packed statistics of rows X (n, d) and those before.

    data (n d,) is X by rows or by columns: native float64 or float32, aligned and contiguous, with
    n and d above 0; weights (n,) are contiguous. The labels are not encoded yet: they are values,
    with a lookup table, which has codes below 0 for those between the k classes that are unknown.
    """
    entry, known, address = _variants.of(data.dtype, kernel_of(weight is not None, k, d))
    values, offset, lookup, _ = labels
    bounds, after = bounds_of_chunk(len(values), k), before.copy()
    w = _NO_WEIGHT if weight is None else weight
    rest = known, address, data, by_columns, values, offset, lookup, w, bounds, k, d, before, after
    n_blocks = len(bounds) - 1
    if n_blocks == 1:
        return entry(0, *rest), after
    return call_shared(entry, n_blocks, 8 * len(data), *rest), after


def is_one_call(n: int, d: int) -> bool:
    """Whether n rows are few enough for one call, which no interrupt ends."""
    return is_short(8 * n * d)


def same_sums(n: int, d: int, few: int, k: int) -> bool:
    """Whether n rows of `few` classes have sums of the same bits if k classes may occur."""
    return same_order(few, k, d) and rows_per_block(n, few) == rows_per_block(n, k)


@warmup_call
def _warm() -> None:
    compile_waiting()
    for dtype in (np.float64, np.float32):
        _entry(dtype)
        _known(dtype)  # whose address is that of a kernel of `diagonal`
