"""Learning in chunks, as from a stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from .rivals import Rival

CHUNK = 10_000


def learn(rival: Rival, X: np.ndarray, y: np.ndarray) -> Any:
    """A model of the library after `partial_fit` over X (n, d) and y (n,), chunk by chunk."""
    model = type(rival.fit(X[:100], y[:100]))()
    classes = np.arange(y.max() + 1)
    for start in range(0, len(X), CHUNK):
        model.partial_fit(X[start : start + CHUNK], y[start : start + CHUNK], classes=classes)
    return model
