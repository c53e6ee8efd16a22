"""The only room that knows Numba and LLVM: decorators, threads, cache and vectors.

In: Python functions that `kernels` writes. Out: compiled ones, that are cached on disk, and that
share their blocks among threads. Importing it compiles nothing. Each use of an internal of Numba or
llvmlite names the versions that it was tried on, and one test touches them all.

Where to start
    decorators.py    how a kernel is compiled, and how its blocks are run: the number of threads of
                     a call
    cache.py         which folder holds compiled code, and what it depends on
    disk_cache.py    entries of that folder, checked by digests
    vectors.py       vectors of eight float64, with which kernels compute
    notice.py        the line that says that kernels are being compiled

With NUMBA_DISABLE_JIT=1 everything here is plain Python and NumPy, for coverage and debugging.

May import: `_system` only.
"""
