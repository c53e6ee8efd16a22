"""One order in which statistics are added, wherever their rows are read.

Floating-point sums depend on their order in the last bits. Every reader of this package, on one
machine or on many, adds statistics by the same tree over the positions of batches and partitions,
and so all give the same bits: see `merge`.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from .class_stats import ClassStats
from .mixed_stats import MixedStats

__all__ = ["MergeTree", "batch_rows", "merge"]

T = TypeVar("T")
Stats = TypeVar("Stats", ClassStats, MixedStats)

_MOST_ROWS, _FEWEST_ROWS, _BATCH_BYTES = 2**16, 256, 2**23


def batch_rows(n_features: int) -> int:
    """Rows of a batch: those of 8 MB of float64 features, within bounds.

    Rows are cut at multiples of this number, counted from the first row of their partition, so that
    the bits of statistics do not depend on how a reader delivers them. `n_features` counts all
    features, whatever their dtype.
    """
    rows = _BATCH_BYTES // (8 * max(1, n_features))
    return max(_FEWEST_ROWS, min(_MOST_ROWS, rows))


class MergeTree(Generic[T]):
    """A sum of parts by a pairwise tree over their positions.

    The parts are leaves 0..n-1. A node is the sum of the two nodes below it, or the one where there
    is no second: node(i + 1, j) = node(i, 2 j) + node(i, 2 j + 1). A part of no rows, None, has a
    position, and leaves the other side of a sum as it is. So 2^g parts whose first position is a
    multiple of 2^g may be added elsewhere, and their sum takes the place of one part: the bits are
    the same.

    Parameters
    ----------
    combine : callable, default=operator.add
        The sum of two parts.

    Notes
    -----
    Nodes are added as bits carry in a binary counter: at most log2(n) + 1 parts are in memory.
    """

    def __init__(self, combine: Callable[[T, T], T] = operator.add) -> None:
        self._combine = combine
        self._n = 0
        self._nodes: list[T | None] = []  # at i, if bit i of n is set: a node of level i

    def __len__(self) -> int:
        """Number of positions so far, those without rows included."""
        return self._n

    def add(self, part: T | None) -> None:
        """Add the part of the next position. What `combine` raises leaves the tree as it was."""
        level = 0
        while self._n >> level & 1:
            part = self._sum(self._nodes[level], part)
            level += 1
        if level == len(self._nodes):
            self._nodes.append(None)
        self._nodes[:level] = [None] * level
        self._nodes[level] = part
        self._n += 1

    def result(self) -> T | None:
        """The sum of all parts; None where no part has rows. Further parts may follow."""
        total = None
        for level, node in enumerate(self._nodes):
            if self._n >> level & 1:
                total = self._sum(node, total)
        return total

    def _sum(self, left: T | None, right: T | None) -> T | None:
        if left is None or right is None:
            return right if left is None else left
        return self._combine(left, right)


def merge(parts: Iterable[Stats | None]) -> Stats:
    """Add statistics in a fixed order, which gives the same bits wherever they are added.

    Parameters
    ----------
    parts : iterable of ClassStats or MixedStats
        Statistics of consecutive batches or partitions, in their order. None stands for a partition
        without rows. An iterator is read once.

    Returns
    -------
    ClassStats or MixedStats
        Statistics of the rows of all parts.

    Raises
    ------
    ValueError
        If there is no part, or every part is None; if the features of two parts differ.
    TypeError
        If a part is no statistics, or the parts are of two kinds.

    See Also
    --------
    ClassStats : Statistics of continuous features.
    MixedStats : Statistics of continuous and categorical features.
    fastgnb.files.merge : Merge model files.

    Notes
    -----
    Parts are added by a pairwise tree over their positions: 0 and 1, 2 and 3, and so on, then the
    sums of these, until one is left; the last of an odd number goes up as it is. `sum` gives the
    same to a relative error of 1e-13, in other bits.

    Groups of 2^g consecutive parts, from a position that is a multiple of 2^g, may be merged
    elsewhere, such as on other machines; `merge` over the results in their order has the bits of
    `merge` over all parts. A part without rows changes no bit.

    The cost is one addition a part; statistics of at most log2(n) + 1 parts are in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from fastgnb import ClassStats, merge
    >>> X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    >>> parts = [ClassStats.from_rows(X[i : i + 2], y[i : i + 2]) for i in (0, 2, 4)]
    >>> total = merge(parts)
    >>> total.count
    array([3., 3.])
    >>> halves = [merge(parts[:2]), merge(parts[2:])]  # as two machines would
    >>> np.array_equal(merge(halves).variance, total.variance)
    True
    """
    tree: MergeTree[Stats] = MergeTree()
    for position, part in enumerate(parts):
        _check_part(part, position)
        with _named(position):
            tree.add(part)
    with _named(len(tree) - 1):
        total = tree.result()
    if total is None:
        raise ValueError(
            f"No statistics to merge: there are {len(tree)} parts, none of which has rows."
            if len(tree)
            else "No statistics to merge: there is no part."
        )
    return total


@contextlib.contextmanager
def _named(last: int) -> Iterator[None]:
    """Say which part was the last where two sums of parts cannot be added."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"Parts 0 to {last} cannot be merged: {error}") from error


def _check_part(part: Any, position: int) -> None:
    if part is not None and not isinstance(part, (ClassStats, MixedStats)):
        raise TypeError(
            f"Part {position} is {type(part).__name__}, expected ClassStats or MixedStats."
        )
