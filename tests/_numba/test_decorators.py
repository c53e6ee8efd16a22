"""Decorators of compiled functions, and the one type of arrays that kernels are compiled for."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb._numba.decorators import jitable, readonly, uncached_kernel


@jitable
def halved(a):
    return a / 2


@uncached_kernel
def quartered(a):
    return halved(halved(a))


def test_readonly_is_a_view():
    a = np.zeros(3)
    view = readonly(a)
    assert view.base is a
    assert not view.flags.writeable
    assert a.flags.writeable


@pytest.mark.parametrize("value", [3.0, np.array([1.0, 8.0])], ids=["number", "array"])
def test_a_jitable_function_takes_arrays_in_python_and_numbers_in_kernels(value):
    assert np.array_equal(halved(value), value / 2)
    assert quartered(3.0) == 0.75
