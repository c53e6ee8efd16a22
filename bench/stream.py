"""Learning in chunks, as from a stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from .rivals import Rival

CHUNK = 10_000
CHUNKS = (CHUNK, 1_000)


def learn(rival: Rival, X: np.ndarray, y: np.ndarray, chunk: int = CHUNK) -> Any:
    """A model of the library after `partial_fit` over X (n, d) and y (n,), chunk by chunk."""
    model = type(rival.fit(X[:100], y[:100]))()
    classes = np.arange(y.max() + 1)
    for start in range(0, len(X), chunk):
        model.partial_fit(X[start : start + chunk], y[start : start + chunk], classes=classes)
    return model


def program(chunk: int) -> str:
    """What tables call learning in chunks of so many rows."""
    return "fastgnb in chunks" + ("" if chunk == CHUNK else f" of {chunk}")
