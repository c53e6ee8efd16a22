"""Compiled loops. They take arrays and scalars, check nothing and raise nothing."""


def warmup() -> int:
    """Compile and cache every variant of every kernel; return how many variants there are.

    See `_warmup` for the same with progress on a terminal.
    """
    from .. import _jit
    from . import (  # noqa: F401  (they register their examples)
        accumulate,
        encode,
        logs,
        merge,
        mixed,
        scatter,
        score,
        whitened,
    )

    return _jit.compile_examples()
