"""What an `Evaluator` holds, as arrays and plain values: to send it to another process.

Bins are mostly empty where few rows are in them. Then only those that hold weight are sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.evaluate import cells as words
from ..kernels.evaluate.bins import Bins
from ..kernels.evaluate.tally import Rows, RowSums
from .evaluator import Evaluator
from .sums import Sums

__all__ = ["evaluator_from", "state_of"]


def state_of(evaluator: Evaluator) -> dict[str, Any]:
    """All that an evaluator holds, but for its classes."""
    kept, sums, unseen = evaluator._kept, evaluator._sums, evaluator._unseen
    return {
        "thresholds": evaluator._asked,
        "exact_rows": evaluator._exact_rows,
        "kept": None if kept is None else tuple(evaluator._joined(kept)) if kept else (),
        "bins": _packed(evaluator._bins) if kept is None else None,
        "sums": tuple(map(tuple, (sums.cells, sums.total, sums.low))),
        "unseen": (list(unseen.places), unseen.n_rows, unseen.weight),
        "counts": (evaluator._n_rows, evaluator._n_known, evaluator._is_weighted),
    }


def evaluator_from(state: dict[str, Any], classes: NDArray[Any]) -> Evaluator:
    """The evaluator of a model with these classes (k,) that `state_of` was called with."""
    evaluator = Evaluator(
        classes, thresholds=state["thresholds"], exact_rows=state["exact_rows"]
    )  # fmt: skip
    if state["kept"] is None:
        evaluator._kept, evaluator._bins = None, _unpacked(*state["bins"])
    elif state["kept"]:
        evaluator._kept = [Rows(*map(_writable, state["kept"]))]
    cells, total, low = (map(_writable, part) for part in state["sums"])
    evaluator._sums = Sums(words.Cells(*cells), RowSums(*total), RowSums(*low))
    labels, n_rows, weight = state["unseen"]
    evaluator._unseen.places = {label: place for place, label in enumerate(labels)}
    evaluator._unseen.n_rows, evaluator._unseen.weight = _writable(n_rows), _writable(weight)
    evaluator._n_rows, evaluator._n_known, evaluator._is_weighted = state["counts"]
    return evaluator


def _writable(values: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy where it lies in a message and is read-only."""
    return np.require(values, requirements=["C", "W"])


def _packed(bins: Bins) -> tuple[Any, ...]:
    """Bins with their weights as shape, positions and values; positions None: all of them."""
    by_class, weights, *others = bins
    at = np.flatnonzero(weights)
    if 2 * len(at) >= weights.size:
        return by_class, (weights.shape, None, weights.ravel()), *others
    return by_class, (weights.shape, at, weights.ravel()[at]), *others


def _unpacked(by_class: bool, weights: tuple[Any, ...], *others: NDArray[Any]) -> Bins:
    shape, at, values = weights
    if at is not None:
        dense = np.zeros(np.prod(shape, dtype=np.int64))
        dense[at] = values
        values = dense
    return Bins(by_class, _writable(values).reshape(shape), *map(_writable, others))
