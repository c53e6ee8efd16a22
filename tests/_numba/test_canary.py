"""Internals of Numba and llvmlite that `fastgnb._numba` relies on, one test each.

A release of Numba that changes one fails here, in a test that names it and the file that uses it.
Tried on Numba 0.61.0 with llvmlite 0.44.0, and on Numba 0.68.1 with llvmlite 0.50.0.
"""

from __future__ import annotations

import inspect
import os
import pickle
import re

import llvmlite
import numba
import numpy as np
import pytest
from llvmlite import ir
from numba import njit, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.serialize import dumps
from numba.extending import intrinsic, register_jitable
from numba.misc.appdirs import AppDirs
from numba.np.ufunc import parallel

from fastgnb._numba import cache, compiler, linking, loading, threads, vectors
from fastgnb.kernels.rows import Rows

pytestmark = pytest.mark.compiled

VERSIONS = f"Numba {numba.__version__}, llvmlite {llvmlite.__version__}"


@njit
def plus_one(first, last, a):
    for i in range(first, last):
        a[i] += 1.0


def compiled_plus_one():
    signature = (types.int64, types.int64, types.float64[::1])
    plus_one.compile(signature)
    return plus_one.overloads[signature]


# ------------------------------------------------------------------ cache.py


def test_a_dispatcher_asks_its_cache_attribute():
    """cache.attach_cache sets `_cache`, whose methods load and save."""
    asked = []

    class Recorder(NullCache):
        def load_overload(self, sig, target_context):
            asked.append("load")

        def save_overload(self, sig, data):
            asked.append("save")

    @njit
    def f(x):
        return x

    f._cache = Recorder()
    assert f(1) == 1
    assert asked == ["load", "save"], VERSIONS


def test_function_cache_keys_entries_by_types_processor_and_code():
    """cache._KernelCache extends `_index_key` and uses `_impl`, `_cache_file` and `_name`."""
    source = inspect.getsource(FunctionCache.__mro__[1])
    for name in ("_impl", "_cache_file", "_name", "_cache_path", "_py_func", "_index_key"):
        assert re.search(rf"self\.{name}\b", source), (name, VERSIONS)
    kernel = cache._KernelCache(plus_one.py_func)
    codegen = compiled_plus_one().target_context.codegen()
    assert "int64" in kernel._index_key((types.int64,), codegen).place


def test_a_cache_asks_how_code_becomes_bytes():
    """cache._Impl defines `reduce` and `rebuild`, and uses `dumps` of numba.core.serialize."""
    assert callable(CompileResultCacheImpl.reduce)
    assert callable(CompileResultCacheImpl.rebuild)
    assert isinstance(dumps(("code", 1)), bytes)


# ------------------------------------------------------------------ loading.py


def test_compiled_code_becomes_bytes_and_code_again():
    """loading.to_entry and from_entry read, and rebuild, a `CompileResult`."""

    @njit(cache=False)
    def add(a, x):
        for i in range(len(a)):
            a[i] += x
        return np.full(2, x)

    a = np.zeros(3)
    add(a, 1.0)
    entry = pickle.loads(dumps(loading.to_entry(next(iter(add.overloads.values())))))
    context = add.targetctx
    again = loading.from_entry(context, entry)
    assert again.entry_point(a, 2.0).tolist() == [2.0, 2.0], VERSIONS
    assert a.tolist() == [3.0] * 3
    assert again.target_context is context
    with pytest.raises(RuntimeError, match="unfit for linking"):
        again.library._get_module_for_linking()


def test_a_dispatcher_prepares_extensions_by_a_hook():
    """loading.skip_preparation replaces it."""

    @njit
    def f(x):
        return x

    assert callable(f._compilation_chain_init_hook), VERSIONS
    loading.skip_preparation(f)
    assert f(1) == 1


def test_threads_know_whether_numba_runs_its_own():
    """threads.n_threads asks Numba only if `_is_initialized`."""
    numba.get_num_threads()
    assert parallel._is_initialized is True, VERSIONS


@pytest.mark.parametrize("name", [*cache._CODE_OPTIONS, "CACHE_DIR", "DISABLE_JIT"])
def test_settings_have_their_names(name):
    assert hasattr(numba.config, name), VERSIONS


def test_the_users_cache_folder_is_known():
    assert os.path.basename(AppDirs(appname="numba", appauthor=False).user_cache_dir) == "numba"


# ------------------------------------------------------------------ compiler.py, decorators.py


def test_inlined_functions_leave_no_call():
    @njit(**compiler.OPTIONS, forceinline=True)
    def inner(x):
        return x * x

    @njit(**compiler.OPTIONS)
    def outer(x):
        return inner(x) + inner(x + 1.0)

    assert outer(2.0) == 13.0
    code = next(iter(outer.inspect_llvm().values()))
    body = code.split("define i32", 1)[-1].split("\n}", 1)[0]
    assert not re.search(r"call .*inner", body), VERSIONS


def test_contraction_is_the_only_freedom_of_arithmetic():
    @njit(**compiler.OPTIONS)
    def f(a, b, c):
        return a * b + c

    assert f(2.0, 3.0, 4.0) == 10.0
    code = next(iter(f.inspect_llvm().values()))
    assert "fmul contract double" in code, VERSIONS
    assert not re.search(r"f(mul|add) [a-z ]*(fast|reassoc|nnan|ninf)", code), VERSIONS


def test_dispatchers_count_what_they_compile():
    """warmup.n_compiled and n_loaded read `overloads` and `stats`."""

    @njit
    def f(x):
        return x

    f(1), f(1.0)
    assert len(f.overloads) == 2
    assert hasattr(f.stats, "cache_hits")
    assert hasattr(f.stats, "cache_misses")


def test_a_jitable_function_stays_a_function():
    @register_jitable(**compiler.OPTIONS, forceinline=True)
    def f(x):
        return x + 1

    assert inspect.isfunction(f)

    @njit
    def caller(x):
        return f(x)

    assert caller(1) == 2


# ------------------------------------------------------------------ linking.py


def test_a_kernel_links_each_helper_once_and_helpers_make_no_machine_code():
    """linking: `pipeline_class`, `library` of a pass's state, and methods of JITCodeLibrary."""
    helper = njit(**compiler.HELPER_OPTIONS)

    @helper
    def inner(x):
        if x < 0.0:
            raise MemoryError
        return x * x

    @helper
    def outer(x):
        return inner(x) + inner(x + 1.0)

    @njit(**compiler.OPTIONS, pipeline_class=linking.KernelPipeline)
    def kernel(x):
        return outer(x) + inner(x)

    assert kernel(2.0) == 17.0
    with pytest.raises(MemoryError):
        kernel(-2.0)
    libraries = [next(iter(f.overloads.values())).library for f in (kernel, outer, inner)]
    names = {library.name for library in libraries[0]._linking_libraries}
    assert {library.name for library in libraries[1:]} <= names, VERSIONS
    with pytest.raises(TypeError, match="not callable"):
        outer(2.0)
    code = libraries[0].get_llvm_str()
    assert len(re.findall(r"define .*inner", code)) <= 1


# ------------------------------------------------------------------ threads.py


def test_arguments_of_a_tuple_reach_the_body_of_a_loop():
    """threads._loop_of: `*args` of a compiled function, and an atomic counter."""
    a, counter = np.zeros(5), np.array([1], np.int64)
    loop = njit(threads._loop_of(plus_one.py_func))
    loop(1, 4, 2, counter, a)
    assert a.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0], VERSIONS
    assert counter[0] >= 4


def test_the_threading_layer_has_a_name():
    numba.get_num_threads()
    assert threads._layer() in ("omp", "tbb", "workqueue", ""), VERSIONS
    assert numba.config.NUMBA_NUM_THREADS >= 1


# ------------------------------------------------------------------ vectors.py, transposes.py


def test_a_type_of_vectors_lives_in_registers():
    """vectors.LanesType: a primitive model over an LLVM vector, and typed operators."""

    @njit
    def f(a):
        p = vectors.pointer(a)
        vectors.store(p, 0, vectors.load(p, 0) + vectors.load(p, 0))

    a = np.arange(8.0)
    f(a)
    assert a.tolist() == [2.0 * i for i in range(8)], VERSIONS
    assert "<8 x double>" in next(iter(f.inspect_llvm().values()))


def test_intrinsics_see_the_data_pointer_of_an_array():
    """vectors.pointer: `make_array` and a CPointer that kernels can pass on."""

    @intrinsic
    def address(context, a):
        def emit(context, builder, signature, args):
            data = context.make_array(a)(context, builder, value=args[0]).data
            return builder.ptrtoint(data, ir.IntType(64))

        return types.int64(a), emit

    @njit
    def caller(a):
        return address(a)

    a = np.zeros(3)
    assert caller(a) == a.ctypes.data, VERSIONS


def test_a_prefetch_is_an_instruction():
    @njit
    def f(a):
        vectors.prefetch(vectors.pointer(a), 0)
        vectors.keep(a)

    f(np.zeros(8))
    assert "llvm.prefetch" in next(iter(f.inspect_llvm().values())), VERSIONS


def test_named_tuples_are_structs_of_one_type():
    """Kernels take them: a literal number in one is no type of its own, and no second compile."""

    @njit
    def inner(rows):
        return rows.n + rows.d

    @njit
    def outer(n):
        return inner(Rows(0.0, False, 1, 2)) + inner(Rows(0.0, False, n, n))

    assert outer(3) == 9
    assert len(inner.signatures) == 1, VERSIONS
