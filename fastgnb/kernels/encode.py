"""Labels to codes without sorting rows: a table for whole numbers in a small range, else hashing.

There is no floating-point arithmetic here. Flags: FMA contraction only, as everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._jit import frozen, helper, kernel, prange, serial_kernel

# Whole numbers spread over at most this many values are looked up in a table.
_SPAN = 1 << 16


@kernel
def _mark(y, low, seen):
    """Set seen[v - low] for each v in y."""
    for i in prange(len(y)):
        # Looking first keeps threads from writing to one cache line all the time.
        if not seen[y[i] - low]:
            seen[y[i] - low] = True


@kernel
def _look_up(y, low, table, codes):
    """Set codes[i] = table[y[i] - low]."""
    for i in prange(len(y)):
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


def encode_integers(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]] | None:
    """Sorted distinct values and codes of integers y (n,), n > 0; None where they spread too far.

    Cost: three reads of y.
    """
    low, high = int(y.min()), int(y.max())
    if high - low >= _SPAN or high > np.iinfo(np.int64).max:
        return None
    whole = frozen(np.ascontiguousarray(y, np.int64))
    seen = np.zeros(high - low + 1, np.bool_)
    _mark(whole, low, seen, work=len(y))
    values = np.flatnonzero(seen)
    table = np.zeros(len(seen), np.int32)
    table[values] = np.arange(len(values), dtype=np.int32)
    codes = np.empty(len(y), np.int32)
    _look_up(whole, low, frozen(table), codes, work=len(y))
    return (values + low).astype(y.dtype), codes


def encode_fixed(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Sorted distinct values and codes of y (n,), n > 0, of 4, 8, 12, ... bytes an item.

    Items are equal where their bytes are. Cost: one read of y and a hash of each item.
    """
    flat = np.ascontiguousarray(y)
    words = flat.view(np.uint32).reshape(len(flat), -1)
    codes = np.empty(len(flat), np.int32)
    first = _hash_rows(frozen(words), codes, work=0)
    values = flat[first]
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return values[order], rank[codes]


@_look_up.example
def _every_variant() -> None:
    encode_integers(np.zeros(1, np.int64))
    encode_fixed(np.zeros(1))
