"""Threading layers of Numba that are here."""

from __future__ import annotations

# Work of these sizes is left to our own threads, unless it is said to be large.
FOR_LAYERS = "from fastgnb._numba import threads\nthreads.PARALLEL_WORK = threads.LARGE_WORK = 0\n"


def has_layer(python, layer):
    pool = {"omp": "omppool", "workqueue": "workqueue", "tbb": "tbbpool"}[layer]
    preload = PRELOAD_TBB if layer == "tbb" else ""
    code = f"try: import numba.np.ufunc.{pool}; print('yes')\nexcept ImportError: print('no')"
    return python(preload + code).strip() == "yes"


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
