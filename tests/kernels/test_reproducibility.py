"""The same answer, always: bits that depend on the numbers alone, and algebra on rationals."""

from __future__ import annotations

import ast
import platform
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from layers import FOR_LAYERS, PRELOAD_TBB, has_layer
from same_cases import BITS

import fastgnb
from fastgnb._numba import threads
from fastgnb.kernels.logs import log, log_densities

pytestmark = pytest.mark.no_new_lines


def test_the_same_bits_once_more(bits, digest):
    assert digest() == bits


slow = pytest.mark.slow


@pytest.mark.promise("bits")
@pytest.mark.parametrize(
    ("layer", "threads"),
    [
        ("omp", "1"), ("omp", "3"), ("workqueue", "2"), ("tbb", "3"),
        pytest.param("omp", "2", marks=slow), pytest.param("workqueue", "1", marks=slow),
        pytest.param("workqueue", "3", marks=slow), pytest.param("tbb", "1", marks=slow),
        pytest.param("tbb", "2", marks=slow),
    ],
)  # fmt: skip
def test_the_same_bits_for_any_threads_and_layer(python, bits_of_all, layer, threads):
    if not has_layer(python, layer):
        pytest.skip(f"this machine has no {layer} threading layer")
    code = (PRELOAD_TBB if layer == "tbb" else "") + BITS + FOR_LAYERS
    code += "import numba\nprint(digest_of_all(), numba.get_num_threads(), numba.threading_layer())"
    got = python(code, NUMBA_NUM_THREADS=threads, NUMBA_THREADING_LAYER=layer).split()
    assert got == [bits_of_all, threads, layer]


@pytest.mark.promise("bits")
def test_the_same_bits_alone_and_in_threads(bits_of_all, scope, monkeypatch):
    for work in (0, 2**62):
        monkeypatch.setattr(threads, "PARALLEL_WORK", work)
        assert scope["digest_of_all"]() == bits_of_all


on_x86 = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="these are names of x86-64 processors"
)


@pytest.mark.promise("bits")
@on_x86
@pytest.mark.parametrize(
    "kind", ["Prescott", pytest.param("Haswell", marks=slow), pytest.param("Nehalem", marks=slow)]
)
def test_the_same_bits_with_any_blas(python, bits, kind):
    """Kernels of OpenBLAS and MKL for other processors and threads round in another way."""
    got = python(
        BITS + "print(digest())", OPENBLAS_CORETYPE=kind, OPENBLAS_NUM_THREADS="1",
        MKL_CBWR="COMPATIBLE", MKL_NUM_THREADS="1",
    )  # fmt: skip
    assert got.split() == [bits]


# Full covariances and principal axes come out of LAPACK, which their docs say. In `left_out_linear`
# it bounds what a row changes, which decides how a label is found, and not which one.
WITH_LAPACK = {
    "estimate/axes.py", "estimate/downdate.py", "estimate/full.py", "estimate/principal_axes.py",
    "estimate/shared_axes.py", "estimate/singular.py", "kernels/score/left_out_linear.py",
    "model/axes.py", "model/full.py", "stats/rotation.py",
}  # fmt: skip
# Rooms of figures about models, which are said to depend on BLAS in their last bits.
ABOUT_MODELS = ("dashboard/", "densities/", "diagnosis/", "evaluation/", "plot/", "report/")


def test_nothing_else_calls_blas():
    calls = {"dot", "vdot", "matmul", "inner", "einsum", "tensordot", "linalg", "cov", "corrcoef"}
    package = Path(fastgnb.__file__).parent
    paths = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    assert paths.keys() > WITH_LAPACK
    for where, path in paths.items():
        if where in WITH_LAPACK or where.startswith(ABOUT_MODELS):
            continue
        nodes = list(ast.walk(ast.parse(path.read_text())))
        variables = {node.id for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)
                     and isinstance(node, ast.Name)}  # fmt: skip
        for node in nodes:
            name = getattr(node, "attr", getattr(node, "id", getattr(node, "name", None)))
            is_variable = isinstance(node, ast.Name) and name in variables
            assert is_variable or name not in calls, f"{path.name} line {node.lineno}"
            assert not isinstance(node, ast.MatMult), path.name


FEATURES_OF_NUMPY = """
try:
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
except ImportError:
    from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__.get(name)))
"""


def test_the_same_bits_without_vector_extensions_of_numpy(python, bits):
    there = python(FEATURES_OF_NUMPY).split()
    if not there:
        pytest.skip("NumPy uses no vector extensions on this processor")
    code = FEATURES_OF_NUMPY + BITS + "print(digest())"
    got = python(code, NPY_DISABLE_CPU_FEATURES=" ".join(there)).split()
    assert got == [bits]  # no feature is left, or its name would be here


@pytest.mark.promise("bits")
@pytest.mark.slow
@on_x86
@pytest.mark.parametrize("cpu", ["haswell", "skylake-avx512"])
def test_the_same_bits_on_any_processor_with_fma(python, bits, cpu):
    """Registers of 256 and 512 bits do the same operations; without FMA roundings are others."""
    import llvmlite.binding

    host = llvmlite.binding.get_host_cpu_features()
    needs = "avx512f" if "512" in cpu else "fma"
    if not host.get("fma") or not host.get(needs):
        pytest.skip(f"this processor has no {needs}")
    got = python(BITS + "print(digest())", NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES="", timeout=600)
    assert got.split() == [bits]


def test_logarithms_are_right_and_the_same_at_any_place(rng):
    x = np.concatenate([
        np.exp(rng.uniform(-708, 709, 3000)), rng.uniform(0.5, 2, 3000), 2.0 ** np.arange(-5, 6),
        1 + rng.normal(size=999) * 1e-8, [5e-324, 1e-310, 2.0**-1022, np.finfo(float).max],
    ])  # fmt: skip
    got = log(x)
    for value, a in zip(x.tolist(), got.tolist(), strict=True):
        want = Decimal(value).ln()
        assert abs(Decimal(a) - want) <= Decimal(float(np.spacing(abs(float(want)))))
    for n in (1, 2, 3, 5, 8, 17, 511, 512, 513):
        a = int(rng.integers(0, len(x) - n))
        assert log(x[a : a + n]).tobytes() == got[a : a + n].tobytes()
    assert log(x[:7000].reshape(2, -1).T).tobytes() == got[:7000].reshape(2, -1).T.tobytes()


@pytest.mark.parametrize("scale", [(1, 1), (1e-300, 1), (1e300, 1e-300), (1e-310, 1e308), (1e3, 1)])
@pytest.mark.parametrize("d", [1, 2, 7, 100, 2000])
def test_products_of_variances_neither_overflow_nor_vanish(rng, d, scale):
    prior, possible = np.array([0.25, 0.5, 0.0]), np.array([True, False, False])
    variance = rng.uniform(0.3, 1, size=(3, d)) * rng.choice(scale, size=(3, d))
    for layout in (variance, np.asfortranarray(variance)):
        log_prior, log_det = log_densities(prior, possible, layout)
        assert log_prior.tolist() == [np.log(0.25), -np.inf, -np.inf]
        for got, row in zip(log_det.tolist(), variance.tolist(), strict=True):
            terms = [Decimal(value).ln() for value in row]
            slack = Decimal("3e-16") * (d + max(abs(sum(terms)), 1))
            assert abs(Decimal(got) - sum(terms)) <= slack
