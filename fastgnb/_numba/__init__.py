"""The only package that depends on Numba and LLVM: compilation, threads, cache and vectors.

In: Python functions that `kernels` writes. Out: compiled ones, which are cached on disk, and whose
blocks are shared among threads. Importing it compiles nothing. Each use of an internal of Numba or
llvmlite names the versions it was tested with, and a single test exercises every such use.

Where to start
    decorators.py  how a function is declared as a kernel, or as a helper of kernels
    threads.py     how the blocks of a kernel are run, and how many threads a kernel uses
    compiler.py    the options of every kernel
    cache.py       which folder holds compiled code, and what it depends on
    disk_cache.py  entries of that folder, checked by digests
    vectors.py     vectors of eight float64, with which kernels compute
    transposes.py  transposes of eight such vectors, in registers
    warmup.py      all kernels compiled ahead of time
    notice.py      the line that says that kernels are being compiled

With NUMBA_DISABLE_JIT=1 everything here is plain Python and NumPy, for coverage and debugging.

May import: `_system` only.
"""
