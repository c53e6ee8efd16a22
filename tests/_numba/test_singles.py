"""Sixteen float32 lanes against the same arithmetic on plain numbers."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb._numba import singles
from fastgnb._numba.decorators import uncached_kernel
from fastgnb._numba.singles import (
    SINGLES,
    as_singles,
    load_singles,
    splat_single,
    store_singles,
)
from fastgnb._numba.vectors import load, pointer, shifted


@uncached_kernel
def arithmetic(a, b, out):
    x, y = load_singles(pointer(a), 2), load_singles(pointer(b), 1)
    store_singles(pointer(out), 3, (x - y) * splat_single(2.0) + y)


@uncached_kernel
def choices(a, b, out):
    x, y = load_singles(pointer(a), 0), load_singles(pointer(b), 0)
    store_singles(pointer(out), 0, singles.where_single_greater(x, y, x, y))
    return singles.greater_mask(x, y), singles.any_greater(x, y)


@uncached_kernel
def centred(a, at, centre, out):
    found = singles.centred(pointer(a), at, load(pointer(centre), 0))
    store_singles(as_singles(pointer(out)), 0, found)


@uncached_kernel
def columns(a, at, step, centre, out):
    found = singles.centred_columns(pointer(a), at, step, load(pointer(centre), 0))
    p = shifted(pointer(out), SINGLES)
    store_singles(p, 0, found[0])
    store_singles(p, 16, found[3])
    store_singles(p, 32, found[7])


def narrow(rng, size):
    return rng.normal(size=size).astype(np.float32)


def test_arithmetic_rounds_to_float32(rng):
    a, b, out = narrow(rng, 20), narrow(rng, 20), np.zeros(20, np.float32)
    arithmetic(a, b, out)
    x, y = a[2:18].astype(np.float64), b[1:17].astype(np.float64)
    np.testing.assert_allclose(out[3:19], (x - y) * 2 + y, rtol=1e-6, atol=1e-6)
    assert not out[:3].any()
    assert not out[19:].any()


def test_comparisons_are_ordered(rng):
    a, b, out = narrow(rng, 16), narrow(rng, 16), np.zeros(16, np.float32)
    a[3], b[5], a[6], b[6] = np.nan, np.nan, np.inf, -np.inf
    mask, some = choices(a, b, out)
    greater = a > b
    assert [bool(mask >> i & 1) for i in range(16)] == greater.tolist()
    assert some
    np.testing.assert_array_equal(out, np.where(greater, a, b))
    assert choices(b, b, out) == (0, False)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_column_is_centred_before_it_is_rounded(rng, dtype):
    a, out = (1e6 + rng.normal(size=40)).astype(dtype), np.zeros(8)
    centre = (1e6 + rng.normal(size=1)).astype(dtype).astype(np.float64)
    centred(a, 5, np.repeat(centre, 8), out)
    want = (a[5:21].astype(np.float64) - centre).astype(np.float32)
    np.testing.assert_array_equal(out.view(np.float32), want)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_are_centred_before_they_are_rounded(rng, dtype):
    a = (1e6 + rng.normal(size=400)).astype(dtype)
    centre = (1e6 + rng.normal(size=8)).astype(dtype).astype(np.float64)
    out = np.zeros(64, np.float32)
    columns(a, 5, 11, centre, out)
    rows = a[5 + 11 * np.arange(16)[:, None] + np.arange(8)].astype(np.float64) - centre
    want = rows.astype(np.float32).T
    np.testing.assert_array_equal(out[16:].reshape(3, 16), want[[0, 3, 7]])
