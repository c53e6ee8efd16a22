"""Labels by several models of independent features, a few blocks of rows by each model in turn.

So rows come from memory once for all models. Labels are those of `diagonal.score` by each model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._numba.in_turn import KernelsInTurn
from .certificate import pays
from .diagonal import DiagonalTerms, labels_in_float64
from .driver import GROUPS_PER_BLOCK, sources
from .outputs import Wanted
from .posterior import GROUP

# Bytes of rows that each model labels before the next one does, and least such parts, which threads
# share.
_AT_A_TIME, _PARTS = 1 << 22, 16


def label_in_turn(X: NDArray[Any], models: Sequence[DiagonalTerms]) -> NDArray[np.int64]:
    """Positions (m, n) of the best classes of rows X (n, d) by m models.

    They are -1 by a model that gives a row no score: it has to say why.
    Cost: one read of X, and m times the operations of `diagonal.score`.
    """
    (n, d), m = X.shape, len(models)
    found = [_labeller(X, terms, m) for terms in models]
    labels = np.empty((m, n), np.int64)
    n_blocks = -(-n // (GROUP * GROUPS_PER_BLOCK))
    step = min(_AT_A_TIME // (X.itemsize * d * GROUP * GROUPS_PER_BLOCK), n_blocks // _PARTS)
    kernels = KernelsInTurn([kernel for kernel, _ in found], max(1, step))
    work = d * sum(len(terms.const) for terms in models)
    is_complete = np.ones(m, np.bool_)
    for source in sources(X):
        n_blocks = -(-source.groups // GROUPS_PER_BLOCK) + 1
        bad = np.empty((m, n_blocks), np.int64)
        args = [
            (source, parameters, out.view(np.float64), place)
            for (_, parameters), out, place in zip(found, labels, bad, strict=True)
        ]
        kernels(n_blocks, *args, work=source.n * work)
        is_complete &= bad.max(axis=1) < 0
    labels[~is_complete] = -1
    return labels


def _labeller(X: NDArray[Any], terms: DiagonalTerms, m: int) -> tuple[Any, Any]:
    """A kernel and its parameters, for one of m models."""
    is_narrow = X.dtype == np.float32
    if pays(len(X) * m, terms.mean.shape, is_narrow=is_narrow):
        from .certified import labeller

        found = labeller(terms, Wanted(), X.dtype)
        if found is not None:
            return found
    return labels_in_float64(terms)
