"""Threading layers of Numba that are here."""

from __future__ import annotations

# Work of these sizes is left to our own threads, unless it is said to be large.
FOR_LAYERS = """
from fastgnb._numba import threads
threads.PARALLEL_WORK = threads.LARGE_WORK = threads.COMPILING_WORK = 0
"""


_LAYERS: dict[str, bool] = {}


def has_layer(python, layer):
    if layer not in _LAYERS:
        pool = {"omp": "omppool", "workqueue": "workqueue", "tbb": "tbbpool"}[layer]
        preload = PRELOAD_TBB if layer == "tbb" else ""
        code = f"try: import numba.np.ufunc.{pool}; print('yes')\nexcept ImportError: print('no')"
        _LAYERS[layer] = python(preload + code).strip() == "yes"
    return _LAYERS[layer]


# Numba does not find the TBB that pip installs unless it is in memory already.
PRELOAD_TBB = """
import ctypes, importlib.metadata
try:
    files = importlib.metadata.files("tbb") or []
except importlib.metadata.PackageNotFoundError:
    files = []
for file in files:
    if str(file).endswith("libtbb.so.12"):
        ctypes.CDLL(str(file.locate()), ctypes.RTLD_GLOBAL)
"""
