"""The only package that depends on Numba and LLVM: compilation, threads, cache and vectors.

In: Python functions that `kernels` writes. Out: compiled ones, which are cached on disk, and whose
blocks are shared among threads. Importing it compiles nothing. Each use of an internal of Numba or
llvmlite names the versions it was tested with, and a single test exercises every such use.

Where to start
    decorators.py  how a function is declared as a kernel, or as a helper of kernels
    threads.py     how blocks of kernels are run, and by how many threads (in_turn.py: of several)
    awake.py       blocks of one short call, shared with threads that wait awake for the next
    direct.py      calls of compiled functions without what Numba does around a call;
                   positional_reads.py: of the C function that reads files
    compiler.py    the options of every kernel
    cache.py       which folder holds compiled code, and what it depends on
    disk_cache.py  entries of that folder, checked by digests
    loading.py     compiled code to bytes and back, without preparing Numba's compiler
    sources.py     which modules the code of a kernel is made from
    vectors.py     vectors of eight float64, with which kernels compute
    vector_types.py  what these and the next two kinds of vectors share
    singles.py     vectors of sixteen float32; words.py: of sixteen int32
    exponents.py   the exponents of such vectors
    touches.py     loads that bring cache lines
    transposes.py  transposes of eight such vectors, in registers
    linking.py     what kernels call, compiled once with the kernel
    warmup.py      all kernels compiled ahead of time, by several processes (warmup_workers.py)
    notice.py      the line that says that kernels are being compiled

With NUMBA_DISABLE_JIT=1 everything here is plain Python and NumPy, for coverage and debugging.

May import: `_system` only.
"""
