"""Labels to codes without sorting rows: a table for integers in a small range, else hashing.

There is no floating-point arithmetic here. Flags: FMA contraction only, as everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import jit_helper, kernel, readonly, serial_kernel, warmup_call
from ..._numba.vectors import keep, pointer, shifted

# Whole numbers spread over at most this many values are looked up in a table.
_SPAN = 1 << 16
# Width of the first table, around the first label, which spares looking for the range.
_NEAR = 1 << 12
# Labels of one block, and those of a block that are looked at together.
_BLOCK, _GROUP = 1 << 14, 1 << 10


class EncodedLabels(NamedTuple):
    """Codes of n labels: stored (n,), or in a table (span,), as lookup[values - offset].

    Either `values` (n,), the labels themselves, or `stored` is empty.
    """

    values: NDArray[np.int64]
    offset: int
    lookup: NDArray[np.int32]
    stored: NDArray[np.int32]

    @classmethod
    def from_codes(cls, codes: NDArray[np.int32]) -> EncodedLabels:
        """Labels whose codes are stored."""
        return cls(np.empty(0, np.int64), 0, np.empty(0, np.int32), codes)

    def codes(self) -> NDArray[np.int32]:
        """The codes (n,)."""
        if not self.values.size:
            return self.stored
        codes = np.empty(len(self.values), np.int32)
        n_blocks, table = -(-len(codes) // _BLOCK), readonly(self.lookup)
        _look_up(n_blocks, readonly(self.values), self.offset, table, codes, work=8 * len(codes))
        return codes

    def slice(self, start: int, stop: int) -> EncodedLabels:
        """The labels from start to stop."""
        return self._replace(values=self.values[start:stop], stored=self.stored[start:stop])

    def as_readonly(self) -> EncodedLabels:
        """The same labels as kernels take them."""
        arrays = readonly(self.values), readonly(self.lookup), readonly(self.stored)
        return EncodedLabels(arrays[0], self.offset, *arrays[1:])

    def remap(self, to: NDArray[np.int32]) -> EncodedLabels:
        """The same labels, with code to[c] in place of each code c."""
        return self._replace(lookup=to[self.lookup], stored=to[self.stored])


@jit_helper
def _set(seen, place):
    # Looking first keeps threads from writing to one cache line all the time.
    if not seen[place]:
        seen[place] = True


@jit_helper
def _bits_of(y, n, low):
    """Bits v - low of n values v, which are at most 63 above `low`."""
    bits = 0
    for i in range(n):
        bits |= 1 << (y[i] - low)
    return bits


@jit_helper
def _range_of(y, n):
    """The least and the greatest of n values."""
    least = greatest = y[0]
    for i in range(n):
        least, greatest = min(least, y[i]), max(greatest, y[i])
    return least, greatest


@kernel
def _mark(first, last, y, low, seen, outside):
    """Set seen[v - low] for each v in y; outside[0] where that is beyond the ends of `seen`.

    Values of a narrow range are bits of one word, of which many are gathered at a time.
    """
    end = min(last * _BLOCK, len(y))
    for start in range(first * _BLOCK, end, _GROUP):
        values, n = shifted(pointer(y), start), min(_GROUP, end - start)
        least, greatest = _range_of(values, n)
        # Differences of values far from `low` may wrap around.
        if least < low or not 0 <= greatest - low < len(seen):
            outside[0] = True
            return
        if greatest - least < 64:
            bits = _bits_of(values, n, least)
            for v in range(greatest - least + 1):
                if bits >> v & 1:
                    _set(seen, least - low + v)
        else:
            for i in range(n):
                _set(seen, values[i] - low)
    keep(y)


@kernel
def _look_up(first, last, y, low, table, codes):
    """Set codes[i] = table[y[i] - low]."""
    for i in range(first * _BLOCK, min(last * _BLOCK, len(y))):
        codes[i] = table[y[i] - low]


@jit_helper
def _hash(row):
    """MurmurHash2 of 32-bit words (Appleby 2008), in 64-bit integers that cannot overflow."""
    mask, mul = 0xFFFFFFFF, 0x5BD1E995
    h = 0x9747B28C
    for q in range(len(row)):
        w = (np.int64(row[q]) * mul) & mask
        w ^= w >> 24
        h = ((h * mul) & mask) ^ ((w * mul) & mask)
    h ^= h >> 13
    h = (h * mul) & mask
    return h ^ (h >> 15)


@jit_helper
def _slot_of(row, words, first, slots):
    """The slot that holds a row equal to this one, or the empty slot where it belongs."""
    at = _hash(row) & (len(slots) - 1)
    while slots[at] >= 0:
        other = words[first[slots[at]]]
        same = True
        for q in range(len(row)):
            same = same and other[q] == row[q]
        if same:
            break
        at = (at + 1) & (len(slots) - 1)
    return at


@serial_kernel
def _hash_rows(words, codes):
    """Codes of rows of words (n, m) by order of first appearance; the rows that came first."""
    slots = np.full(1 << 10, -1, np.int64)
    first = np.empty(1 << 9, np.int64)
    k = 0
    for i in range(words.shape[0]):
        at = _slot_of(words[i], words, first, slots)
        if slots[at] < 0:
            if k == len(first):
                grown = np.empty(2 * k, np.int64)
                slots = np.full(4 * k, -1, np.int64)
                for c in range(k):
                    grown[c] = first[c]
                    slots[_slot_of(words[grown[c]], words, grown, slots)] = c
                first = grown
                at = _slot_of(words[i], words, first, slots)
            first[k] = i
            slots[at] = k
            k += 1
        codes[i] = slots[at]
    return first[:k]


def encode_integers(y: NDArray[Any]) -> tuple[NDArray[Any], EncodedLabels] | None:
    """Sorted distinct values and codes of integers y (n,), n > 0; None where they spread too far.

    Cost: one read of y where all labels are near the first, else three.
    """
    if y.dtype.kind == "u" and int(y.max()) > np.iinfo(np.int64).max:
        return None
    integers = np.ascontiguousarray(y, np.int64)
    # Not near the ends of int64, where differences would wrap around.
    low = min(max(int(integers[0]), -(1 << 62)), 1 << 62) - _NEAR // 2
    seen = _seen(integers, low, _NEAR)
    if seen is None:
        low, high = int(integers.min()), int(integers.max())
        seen = _seen(integers, low, high - low + 1) if high - low < _SPAN else None
        if seen is None:
            return None
    values = np.flatnonzero(seen)
    table = np.zeros(len(seen), np.int32)
    table[values] = np.arange(len(values), dtype=np.int32)
    encoded = EncodedLabels(integers, low, table, np.empty(0, np.int32))
    return (values + low).astype(y.dtype), encoded


def _seen(integers: NDArray[np.int64], low: int, span: int) -> NDArray[np.bool_] | None:
    """Which of the values low to low + span occur (span,); None where others do."""
    seen, outside = np.zeros(span, np.bool_), np.zeros(1, np.bool_)
    n = len(integers)
    _mark(-(-n // _BLOCK), readonly(integers), low, seen, outside, work=8 * n)
    return None if outside[0] else seen


def lookup_table(values: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Positions of sorted distinct values by value - values[0], and -1 between them.

    None where they spread too far.
    """
    place = values - values[0]
    if place[-1] >= _SPAN or len(values) > _SPAN:
        return None
    table = np.full(int(place[-1]) + 1, -1, np.int32)
    table[place] = np.arange(len(values), dtype=np.int32)
    return table


def encode_fixed(y: NDArray[Any]) -> tuple[NDArray[Any], EncodedLabels]:
    """Sorted distinct values and codes of y (n,), n > 0, of 4, 8, 12, ... bytes an item.

    Items are equal where their bytes are. Cost: one read of y and a hash of each item.
    """
    flat = np.ascontiguousarray(y)
    words = flat.view(np.uint32).reshape(len(flat), -1)
    codes = np.empty(len(flat), np.int32)
    first = _hash_rows(readonly(words), codes)
    values = flat[first]
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return values[order], EncodedLabels.from_codes(rank[codes])


@warmup_call
def _warm() -> None:
    _, encoded = encode_integers(np.zeros(1, np.int64)) or encode_fixed(np.zeros(1))
    encoded.codes()
    encode_fixed(np.zeros(1))
