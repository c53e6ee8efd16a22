"""Compiled code from the cache: what is imported for it, and what is not."""

from __future__ import annotations

import sys

import pytest
from numba import njit
from numba.core.registry import cpu_target

from fastgnb._numba import loading

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(sys.platform == "win32", reason="paths and layers are POSIX"),
]

# Numba imports these before it compiles.
PREPARED = {"numba.np.arraymath", "numba.np.linalg", "numba.np.arrayobj", "numba.cpython.unicode"}

FIRST_CALLS = """
import sys
import numpy as np
from fastgnb import GaussianNB
from fastgnb._numba import compiler
y = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 4)) + 20 * y[:, None]
assert (GaussianNB().fit(X, y).predict(X) == y).all()
kernels = [one.py_func.__name__ for one in compiler.DISPATCHERS for _ in one.overloads]
print(*sorted(kernels))
print(*sorted(sys.modules))
"""

KERNELS = ["_collapse", "_label", "_log_densities", "_mark", "_sum_few", "merge_blocks"]

# Of kernels that other members, other calls or other numbers of classes need.
OTHERS = {
    "evaluate.tally", "learn.categories", "learn.class_products", "learn.full", "learn.mixed",
    "learn.standardized", "panel_product", "score.categorical", "score.certified", "score.float32",
    "score.leave_one_out", "score.left_out_full", "score.left_out_linear", "score.linear",
    "score.many_models", "score.shared_axes", "score.whitened", "slots",
}  # fmt: skip


@pytest.mark.fresh
@pytest.mark.promise("start")
def test_the_first_calls_load_what_they_use(python):
    """Kernels that `fit` and `predict` of GaussianNB compile or load, and modules of kernels."""
    python(FIRST_CALLS)
    kernels, modules = python(FIRST_CALLS).splitlines()
    assert kernels.split() == KERNELS
    assert not set(modules.split()) & {f"fastgnb.kernels.{name}" for name in OTHERS}
    assert not set(modules.split()) & PREPARED
    assert "numba.np.ufunc.omppool" not in modules.split()


@pytest.mark.fresh
def test_a_first_prediction_imports_no_linear_algebra(python, tmp_path):
    """Nor scikit-learn, as in a service that reads a model file."""
    model = tmp_path / "model"
    python(f"""
import numpy as np, fastgnb
y = np.arange(60) % 3
fastgnb.save(fastgnb.GaussianNB().fit(np.arange(120.0).reshape(60, 2), y), {str(model)!r})
""")
    code = f"""
import sys
import numpy as np
from fastgnb.files.models.model_file import read
read({str(model)!r}).model.score(np.zeros((1, 2)))
print(*sys.modules)
"""
    python(code)
    modules = set(python(code).split())
    assert not modules & (PREPARED | {"scipy.linalg", "sklearn", "urllib.request"})


class Context:
    """A target context that notes whether Numba's compiler is prepared."""

    def __init__(self):
        self.is_prepared = False

    def refresh(self):
        self.is_prepared = True

    def __getattr__(self, name):
        return getattr(cpu_target.target_context, name)


@pytest.mark.parametrize("called", [[], ["llvm.memcpy", "NRT_Allocate"], ["no_such_function"]])
def test_an_unknown_function_prepares_the_compiler(called):
    compiled = njit(lambda x: x + 1.0)
    compiled(1.0)
    name, code, _, *rest = loading.to_entry(next(iter(compiled.overloads.values())))
    context = Context()
    loading.from_entry(context, (name, code, called, *rest))
    assert context.is_prepared is ("no_such_function" in called)
