"""Compiled loops. They take arrays and scalars, check nothing and raise nothing."""


def warmup() -> int:
    """Compile and cache every variant of every kernel; return how many variants there are.

    See `cli.warmup` for the same with progress on a terminal.
    """
    from .._numba.warmup import compile_all
    from . import logs  # noqa: F401  (modules register their examples)
    from .learn import diagonal, encode, full, merge  # noqa: F401
    from .score import categorical, whitened  # noqa: F401

    return compile_all()
