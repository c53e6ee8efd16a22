"""Compiled loops over rows. Nothing outside this room is compiled.

In: plain arrays and scalars, of the few types that a kernel is compiled for. Out: arrays, and the
position of the first row that is not finite, or -1. Kernels check nothing and raise nothing:
`input` has checked rows, and `model` has checked parameters, before a kernel reads where they say.

A kernel is a loop over independent blocks of rows. `_numba` compiles it, caches it and shares its
blocks among threads. Blocks are cut by the shape of the data and merged in their order, so that
the number of threads changes no bit; a row's scores do not depend on the rows beside it. Sums are
float64, whatever the rows are. Each kernel has a slow and exact twin in tests/oracles.py.

Where to start
    learn/           rows to sums: count, mean and scatter of each class; merging of sums
    score/           rows and parameters to joint log likelihoods, fused with what is wanted of them
    rows.py          the layouts of rows in memory that kernels read without a copy
    chunks.py        which rows make a block, and a chunk of calls
    logs.py          logarithms with the same bits everywhere
    panel_product.py the matrix product of 8-wide panels, shared by full scatter and whitened scores

May import: `_numba` and `_system` only.
"""


def warmup() -> int:
    """Compile and cache every variant of every kernel; return how many variants there are.

    See `cli.warmup` for the same with progress on a terminal.
    """
    from .._numba.warmup import compile_all
    from . import logs  # noqa: F401  (modules register their examples)
    from .learn import diagonal, encode, full, merge  # noqa: F401
    from .score import categorical, whitened  # noqa: F401

    return compile_all()
