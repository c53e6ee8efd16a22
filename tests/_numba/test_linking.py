"""How kernels and their helpers are compiled: how often, and what stays a function of its own."""

from __future__ import annotations

import gc
import re

import pytest

from fastgnb._numba import linking
from fastgnb._numba.decorators import llvm_inlined, never_inlined, uncached_kernel

pytestmark = pytest.mark.compiled


def test_helpers_are_compiled_once_for_all_integers_and_for_each_of_true_and_false():
    """Constants that a caller writes, alone or in a tuple, make no variant but True and False."""

    @llvm_inlined
    def plus(x, n, pair, negative):
        return x - n - pair[0] if negative else x + n + pair[1]

    @uncached_kernel
    def kernel(x):
        return plus(x, 1, (2, 3), False) + plus(x, x, (x, 4), False) + plus(x, 5, (6, 7), True)

    assert kernel(10) == 14 + 24 - 1
    assert len(plus.overloads) == 2


def test_a_function_that_is_never_inlined_is_called_even_by_one_that_is():
    @never_inlined
    def apart(x):
        return x + 1

    @llvm_inlined
    def inside(x):
        return apart(x) + apart(x + 1)

    @uncached_kernel
    def kernel(x):
        return inside(x)

    assert kernel(1) == 5
    code = next(iter(kernel.overloads.values())).library.get_llvm_str()
    assert len(re.findall(r"define .*apart", code)) == 1
    assert len(re.findall(r"call .*apart", code)) == 2
    assert not re.search(r"define .*inside", code)


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_while_a_kernel_is_compiled(enabled, monkeypatch):
    seen = []
    run = linking._UseHelperLibrary.run_pass
    monkeypatch.setattr(
        linking._UseHelperLibrary,
        "run_pass",
        lambda *args: seen.append(gc.isenabled()) or run(*args),
    )

    @llvm_inlined
    def helper(x):
        return x

    @uncached_kernel
    def kernel(x):
        return helper(x)

    was = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        assert kernel(1) == 1
        assert gc.isenabled() == enabled
    finally:
        gc.enable() if was else gc.disable()
    assert seen == [False]
