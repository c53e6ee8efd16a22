"""Learning in chunks, as from a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .rivals import Rival

CHUNK = 10_000
CHUNKS = (CHUNK, 1_000)


def learner(rival: Rival, X: np.ndarray, y: np.ndarray, chunk: int = CHUNK) -> Callable[[], Any]:
    """A function that makes a model by `partial_fit` over X (n, d) and y (n,), chunk by chunk.

    What the caller of `partial_fit` knows before the first chunk, such as the classes, is prepared
    here, and is no part of its time.
    """
    kind, classes = type(rival.fit(X[:100], y[:100])), np.unique(y)

    def learn() -> Any:
        model = kind()
        for start in range(0, len(X), chunk):
            model.partial_fit(X[start : start + chunk], y[start : start + chunk], classes=classes)
        return model

    return learn


def program(chunk: int) -> str:
    """What tables call learning in chunks of so many rows."""
    return "fastgnb in chunks" + ("" if chunk == CHUNK else f" of {chunk}")
