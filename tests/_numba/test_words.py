"""Sixteen words against the same arithmetic on whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb._numba import words
from fastgnb._numba.decorators import uncached_kernel
from fastgnb._numba.singles import load_singles, store_singles
from fastgnb._numba.vectors import pointer, store
from fastgnb._numba.words import as_words, load_words, splat_word, store_words


@uncached_kernel
def products(total, a, b, out):
    t, x = load_words(pointer(total), 1), load_words(pointer(a), 2)
    store_words(pointer(out), 0, words.add_products(t, x, splat_word(b)))


@uncached_kernel
def pairs(x, y, out):
    p = as_words(pointer(out))
    store_words(p, 0, words.paired(load_singles(pointer(x), 0), load_singles(pointer(y), 0)))


@uncached_kernel
def choices(a, b, first, out, far, position):
    x, y = load_words(pointer(a), 0), load_words(pointer(b), 0)
    store_words(pointer(out), 0, words.where_word_greater(x, y, x, y))
    store_singles(pointer(far), 0, words.distance(x, y))
    low, high = words.counted(first, y)
    store(pointer(position), 0, low)
    store(pointer(position), 8, high)


def halves(w):
    return w.astype(np.int32).view(np.int16).reshape(-1, 2).astype(object)


def test_sums_of_products_of_halves(rng):
    """Modulo 2^32, the largest of int16 included."""
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    total, a = (rng.integers(low, high, 20, np.int32) for _ in range(2))
    a[2], a[3] = np.array([-(2**15), -(2**15), 2**15 - 1, 2**15 - 1], np.int16).view(np.int32)
    for b in (7, -1, low, int(np.array([-(2**15)] * 2, np.int16).view(np.int32)[0])):
        out = np.zeros(16, np.int32)
        products(total, a, b, out)
        exact = total[1:17].astype(object) + (halves(a[2:18]) * halves(np.array([b]))).sum(axis=1)
        assert [(int(v) - int(w)) % 2**32 for v, w in zip(out, exact, strict=True)] == [0] * 16


def test_two_numbers_are_rounded_into_a_word(rng):
    x = np.concatenate((rng.uniform(-32767, 32767, 12), [0.5, 1.5, -32767, 32767]))
    y = np.concatenate((rng.uniform(0, 65535, 12), [0.5, 1.5, 0, 65535]))
    x, y = x.astype(np.float32), y.astype(np.float32)
    out = np.zeros(8)
    pairs(x, y, out)
    found = out.view(np.int16).reshape(-1, 2)
    np.testing.assert_array_equal(found[:, 0], np.rint(x))
    np.testing.assert_allclose(found[:, 1] + 2.0**15, y, rtol=0, atol=0.5)


@pytest.mark.parametrize("first", [0, -3, 2**62])
def test_comparisons_distances_and_positions(rng, first):
    a, b = rng.integers(-(10**6), 10**6, (2, 16), np.int32)
    out, far, position = np.zeros(16, np.int32), np.zeros(16, np.float32), np.zeros(16)
    choices(a, b, first, out, far, position)
    np.testing.assert_array_equal(out, np.maximum(a, b))
    np.testing.assert_array_equal(far, (a - b).astype(np.float32))
    np.testing.assert_array_equal(position.view(np.int64), first + b.astype(np.int64))
