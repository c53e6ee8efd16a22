"""Eight lanes against the same arithmetic on plain numbers."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb._numba import exponents, touches, transposes, vectors
from fastgnb._numba.decorators import uncached_kernel
from fastgnb._numba.vectors import LANES, load, pointer, splat, store


@uncached_kernel
def arithmetic(a, b, out):
    x, y = load(pointer(a), 3), load(pointer(b), 1)
    store(pointer(out), 0, (x - y) * splat(2.0) + y)


@uncached_kernel
def choices(a, b, m, out):
    p = pointer(out)
    x, y = load(pointer(a), 0), load(pointer(b), 0)
    store(p, 0, vectors.first(m, x))
    store(p, 8, vectors.where_greater(x, y, x, y))
    store(p, 16, vectors.where_number(x, y, splat(-1.0)))
    p[24] = 1.0 if vectors.all_greater(x, y) else 0.0
    p[25] = vectors.rounded(pointer(a), 0.1)


@uncached_kernel
def turn(a, step, out, stride):
    transposes.transpose(pointer(a), 2, step, pointer(out), 1, stride)


@uncached_kernel
def columns(a, step, out):
    found = transposes.columns(pointer(a), 1, step)
    p = vectors.shifted(pointer(out), LANES)
    store(p, 0, found[0])
    store(p, 8, found[3])
    store(p, 16, found[7])


@uncached_kernel
def quotients(a, b, out):
    touches.touch(pointer(a), 7)
    vectors.prefetch_near(pointer(a), 1_000_000)
    x, y = load(pointer(a), 0), load(pointer(b), 0)
    store(pointer(out), 0, x / y)
    store(pointer(out), 8, vectors.where_equal(x, y, splat(1.0), splat(0.0)))


@uncached_kernel
def turn_some(a, n, out):
    transposes.transpose_some(pointer(a), 0, 10, n, pointer(out), 0, 8)


@uncached_kernel
def powers(v, out):
    store(pointer(out), 0, vectors.power_of_two(load(pointer(v), 0)))


@uncached_kernel
def mantissas(v, out):
    p, x = pointer(out), load(pointer(v), 0)
    n = exponents.exponent(x)
    store(p, 0, n)
    store(p, 8, x / vectors.power_of_two(n))


@uncached_kernel
def sum_from_a_line(a):
    vectors.prefetch(pointer(a), 1_000_000)
    p = vectors.aligned(pointer(a))
    total = p[0] + p[1]
    vectors.keep(a)
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arithmetic(rng, dtype):
    a, b, out = rng.normal(size=20).astype(dtype), rng.normal(size=20), np.zeros(8, dtype)
    arithmetic(a, b, out)
    x, y = a[3:11].astype(float), b[1:9]
    np.testing.assert_allclose(out, (x - y) * 2 + y, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("m", [0, 1, 5, 8])
def test_choices(rng, m):
    a, b, out = rng.normal(size=8).astype(np.float32), rng.normal(size=8), np.zeros(26)
    a[2] = np.nan
    choices(a, b, m, out)
    x = a.astype(float)
    assert np.array_equal(out[:8], np.where(np.arange(8) < m, x, 0.0), equal_nan=True)
    assert (out[8:16] == np.where(x > b, x, b)).all()
    assert (out[16:24] == np.where(np.isnan(x), -1.0, b)).all()
    assert out[24] == 0.0
    assert out[25] == float(np.float32(0.1))
    choices(np.ones(8), np.zeros(8), m, out)
    assert out[24] == 1.0
    assert out[25] == 0.1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_turning_eight_by_eight(rng, dtype):
    a = rng.normal(size=200).astype(np.float32).astype(dtype)
    out = np.zeros(200)
    turn(a, 11, out, 13)
    for i in range(8):
        for j in range(8):
            assert out[1 + 13 * j + i] == a[2 + 11 * i + j]
    assert (out[[0, 9, 13, 100, 150]] == 0).all()
    out = np.zeros(40)
    columns(a, 11, out)
    for at, j in ((8, 0), (16, 3), (24, 7)):
        assert (out[at : at + 8] == a[1 + j + 11 * np.arange(8)]).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quotients_and_equal_lanes(rng, dtype):
    a, b, out = rng.normal(size=8).astype(dtype), rng.normal(size=8), np.zeros(16)
    b[3] = a[3]
    quotients(a, b, out)
    assert (out[:8] == a.astype(float) / b).all()
    assert (out[8:] == (np.arange(8) == 3)).all()


@pytest.mark.parametrize("n", [1, 5, 8])
def test_the_last_row_stands_in_for_those_after_it(rng, n):
    """Of a table that ends there."""
    a, out = rng.normal(size=10 * (n - 1) + 8), np.zeros(64)
    turn_some(a, n, out)
    for i in range(8):
        assert (out.reshape(8, 8)[:, i] == a[10 * min(i, n - 1) :][:8]).all()


def test_powers_of_two():
    v, out = np.array([0.0, 1.0, -1.0, 10.0, -1022.0, 1023.0, -500.0, 3.0]), np.zeros(8)
    powers(v, out)
    assert (out == np.ldexp(1.0, v.astype(int))).all()


@pytest.mark.compiled
def test_an_aligned_pointer_starts_a_cache_line():
    room = np.arange(40.0)
    for start in range(8):
        a = room[start : start + 20]
        skipped = -a.ctypes.data % 64 // 8
        assert sum_from_a_line(a) == 2 * a[skipped] + 1


def test_exponents():
    half = np.sqrt(0.5)
    x = np.array([1.0, 2.0, 0.75, np.nextafter(half, 0), half * 1.0001, 1e300, 2.0**-1022, 3.0])
    out = np.zeros(16)
    mantissas(x, out)
    assert (np.ldexp(out[8:], out[:8].astype(int)) == x).all()
    assert (out[8:] >= np.nextafter(half, 0)).all()
    assert (out[8:] < np.sqrt(2.0) * 1.0001).all()
    assert out[:4].tolist() == [0.0, 1.0, 0.0, -1.0]
