"""Compiled loops over rows. Nothing outside this package is compiled.

In: plain arrays and structs (NamedTuples) of them, of the few types that a kernel is compiled for.
Out: arrays, and the position of the first row that is not finite, or -1. Kernels check nothing and
raise nothing: `input` has checked the rows, and `model` the parameters, before a kernel uses
them as indices.

A kernel is a loop over independent blocks of rows. `_numba` compiles it, caches it, and shares its
blocks among threads. Blocks are cut by the shape of the data and merged in their order, so results
are bit-identical for any number of threads. A row's scores do not depend on the rows beside it.
Sums are float64, whatever the rows are. Each kernel has a slow and exact twin in tests/oracles.py.

Where to start
    learn/            rows to sums: count, mean and scatter of each class, and the merge of sums
    score/            rows and parameters to joint log likelihoods, fused with the outputs
    evaluate/         log odds and true labels to what an evaluation is made of
    rows.py           rows inside kernels: row-major or column-major, eight rows at a time
    slots.py          categorical columns of a table: the slots of their values in tables
    chunks.py         rows of any layout to contiguous chunks, and the bounds of blocks
    logs.py           logarithms with the same bits everywhere
    file_columns.py   columns of a file into memory
    panel_product.py  the matrix product that full scatter and whitened scores share

May import: `_numba` and `_system` only.
"""


def warmup(processes: int | None = None) -> int:
    """Compile and cache every variant of every kernel; return how many variants there are.

    processes: how many compile at the same time, by default as many as there are cores. See
    `cli.warmup` for the same with progress on a terminal.
    """
    from .._numba.warmup import compile_all

    import_all()
    return compile_all(processes)


def import_all() -> None:
    """Import every module of kernels, each of which registers its kernels and warm-up calls."""
    from . import file_columns, logs  # noqa: F401  (modules register their calls)
    from .evaluate import tally  # noqa: F401
    from .learn import (  # noqa: F401
        categories,
        chunk,
        diagonal,
        encode,
        full,
        merge,
        mixed_chunk,
        standardized,
    )
    from .score import categorical, certified, leave_one_out, whitened  # noqa: F401
