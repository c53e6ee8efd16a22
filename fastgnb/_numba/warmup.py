"""Every variant of every kernel compiled ahead of time, and how many there are.

There are 43 variants in all: of 14 kernels one each, of those that read rows (`_sum_blocks`,
`_sum_scatters`, `_score`, `_score_mixed`, `_score_whitened`) a second one for float32, and one loop
of each kind (`_numba_loop`, which is not there with the `workqueue` layer, and `_drain`) for each
of the twelve variants that threads share.
"""

from __future__ import annotations

from numba import config

from . import threads
from .compiler import DISPATCHERS
from .decorators import WARMUP_CALLS

__all__ = ["compile_all", "n_compiled", "n_loaded", "n_variants"]

# Variants of all kernels and loops, and those among them whose blocks threads share.
_VARIANTS, _SHARED_VARIANTS = 43, 12


def compile_all() -> int:
    """Compile or load every variant of the kernels imported so far; return how many there are."""
    with threads.compiling_loops():
        for call in WARMUP_CALLS:
            call()
    return n_compiled()


def n_compiled() -> int:
    """Variants compiled in, or loaded into, this process so far."""
    return sum(len(getattr(each, "overloads", ())) for each in DISPATCHERS)


def n_loaded() -> int:
    """How many of these were loaded from the cache."""
    stats = [getattr(each, "stats", None) for each in DISPATCHERS]
    return sum(sum(each.cache_hits.values()) for each in stats if each is not None)


def n_variants() -> int:
    """Variants that `compile_all` compiles, or loads, when all kernels are imported."""
    if config.DISABLE_JIT:
        return 0
    return _VARIANTS if threads.layer_is_safe() else _VARIANTS - _SHARED_VARIANTS
