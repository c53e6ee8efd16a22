"""The short way of `partial_fit`, for chunks that are like those before.

A chunk of a thousand rows is summed in a few microseconds, so that checks, estimates and copies
would take most of the time. Here a chunk is looked at only as far as it takes to know that the long
way would find nothing to convert or to refuse, and would sum it with the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .held import Held

__all__ = ["held_after_chunk"]


def held_after_chunk(
    state: Mapping[str, Any], X: Any, y: Any, classes: Any, sample_weight: Any
) -> Held | None:
    """What an estimator holds after a chunk, or None where the long way is needed.

    The long way is also needed where fitted attributes were assigned, which it removes.
    """
    held = state.get("_held")
    if type(held) is not Held or "feature_names_in_" in state:
        return None
    if not held.has_same_parameters(state):
        return None
    running = held.running()
    if running is None or not held.assignable.isdisjoint(state):
        return None
    if classes is not None:
        if type(classes) is not np.ndarray or not running.has_classes(classes):
            return None
        if "classes_" in held.made and not np.array_equal(held.made["classes_"], classes):
            return None
    new = running.add(X, y, sample_weight)
    return None if new is None else held.after(new)
