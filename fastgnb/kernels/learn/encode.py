"""Labels to codes without sorting rows: a table for whole numbers in a small range, else hashing.

There is no floating-point arithmetic here. Flags: FMA contraction only, as everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import example, frozen, helper, kernel, serial_kernel

# Whole numbers spread over at most this many values are looked up in a table.
_SPAN = 1 << 16
# Width of the first table, around the first label, which spares looking for the range.
_NEAR = 1 << 12
# Labels of one block.
_BLOCK = 1 << 14


class Coded(NamedTuple):
    """Codes of n labels: as int32 (n,), or as a table (span,) to look whole - low up in.

    With a table, `whole` (n,) are the labels themselves and `codes` is empty; else the other way.
    """

    whole: NDArray[np.int64]
    low: int
    table: NDArray[np.int32]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, codes: NDArray[np.int32]) -> Coded:
        """Codes that are written down."""
        return cls(np.empty(0, np.int64), 0, np.empty(0, np.int32), codes)

    def all(self) -> NDArray[np.int32]:
        """The codes (n,)."""
        if not self.whole.size:
            return self.codes
        codes = np.empty(len(self.whole), np.int32)
        n_blocks = -(-len(codes) // _BLOCK)
        _look_up(
            n_blocks, frozen(self.whole), self.low, frozen(self.table), codes, work=8 * len(codes)
        )
        return codes

    def part(self, start: int, stop: int) -> Coded:
        """The codes of labels start to stop."""
        return self._replace(whole=self.whole[start:stop], codes=self.codes[start:stop])

    def renamed(self, to: NDArray[np.int32]) -> Coded:
        """With code `to[c]` for each code c."""
        return self._replace(table=to[self.table], codes=to[self.codes])


@kernel
def _mark(first, last, y, low, seen, outside):
    """Set seen[v - low] for each v in y; outside[0] where that is beyond the ends of `seen`."""
    for i in range(first * _BLOCK, min(last * _BLOCK, len(y))):
        place = y[i] - low
        if place < 0 or place >= len(seen):
            outside[0] = True
        # Looking first keeps threads from writing to one cache line all the time.
        elif not seen[place]:
            seen[place] = True


@kernel
def _look_up(first, last, y, low, table, codes):
    """Set codes[i] = table[y[i] - low]."""
    for i in range(first * _BLOCK, min(last * _BLOCK, len(y))):
        codes[i] = table[y[i] - low]


@helper
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


@helper
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


def encode_integers(y: NDArray[Any]) -> tuple[NDArray[Any], Coded] | None:
    """Sorted distinct values and codes of integers y (n,), n > 0; None where they spread too far.

    Cost: one read of y where all labels are near the first, else three.
    """
    if y.dtype.kind == "u" and int(y.max()) > np.iinfo(np.int64).max:
        return None
    whole = np.ascontiguousarray(y, np.int64)
    # Not near the ends of int64, where differences would wrap around.
    low = min(max(int(whole[0]), -(1 << 62)), 1 << 62) - _NEAR // 2
    seen = _seen(whole, low, _NEAR)
    if seen is None:
        low, high = int(whole.min()), int(whole.max())
        seen = _seen(whole, low, high - low + 1) if high - low < _SPAN else None
        if seen is None:
            return None
    values = np.flatnonzero(seen)
    table = np.zeros(len(seen), np.int32)
    table[values] = np.arange(len(values), dtype=np.int32)
    return (values + low).astype(y.dtype), Coded(whole, low, table, np.empty(0, np.int32))


def _seen(whole: NDArray[np.int64], low: int, span: int) -> NDArray[np.bool_] | None:
    """Which of the values low to low + span occur (span,); None where others do."""
    seen, outside = np.zeros(span, np.bool_), np.zeros(1, np.bool_)
    _mark(-(-len(whole) // _BLOCK), frozen(whole), low, seen, outside, work=8 * len(whole))
    return None if outside[0] else seen


def encode_fixed(y: NDArray[Any]) -> tuple[NDArray[Any], Coded]:
    """Sorted distinct values and codes of y (n,), n > 0, of 4, 8, 12, ... bytes an item.

    Items are equal where their bytes are. Cost: one read of y and a hash of each item.
    """
    flat = np.ascontiguousarray(y)
    words = flat.view(np.uint32).reshape(len(flat), -1)
    codes = np.empty(len(flat), np.int32)
    first = _hash_rows(frozen(words), codes)
    values = flat[first]
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return values[order], Coded.of(rank[codes])


@example
def _every_variant() -> None:
    _, coded = encode_integers(np.zeros(1, np.int64)) or encode_fixed(np.zeros(1))
    coded.all()
    encode_fixed(np.zeros(1))
