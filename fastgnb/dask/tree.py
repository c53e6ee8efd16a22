"""Results of partitions, merged in a tree of tasks.

A task merges up to `split_every` neighbours, a power of two. So groups start where a pairwise tree
over all partitions starts them, and the result has the bits of `fastgnb.merge` of the partitions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .._system import optional
from ..stats.tree import MergeTree

__all__ = ["check_split_every", "merge_states", "merged"]


def check_split_every(split_every: Any) -> int:
    """How many results a task merges. Raises ValueError unless it is a power of two."""
    is_whole = hasattr(split_every, "__index__") and not isinstance(split_every, bool)
    if not is_whole or split_every < 2 or split_every & (split_every - 1):
        raise ValueError(
            f"split_every must be a power of two, such as 2, 4 or 8, got {split_every!r}: other "
            "groups of partitions would be merged in another order, to other bits."
        )
    return int(split_every)


def merge_states(
    states: Iterable[Any],
    load: Callable[[Any], Any],
    dump: Callable[[Any], Any],
    combine: Callable[[Any, Any], Any] = operator.add,
) -> Any:
    """What a task merges: results of neighbours, in the form in which tasks exchange them.

    None stands for no rows.
    """
    tree: MergeTree[Any] = MergeTree(combine)
    for state in states:
        tree.add(None if state is None else load(state))
    total = tree.result()
    return None if total is None else dump(total)


def merged(leaves: Sequence[Any], merge: Callable[..., Any], split_every: int, *shared: Any) -> Any:
    """The lazy result (Delayed) of all leaves in their order; a leaf's own where it is alone.

    A task is merge(results, *shared). The leaves are Delayed of one graph, to which the tree is
    added at once: a Delayed for each task would walk through the graph below it each time.
    """
    if len(leaves) == 1:
        return leaves[0]
    keys, rest = [leaf.key for leaf in leaves], [each.key for each in shared]
    token = optional.require("dask.base").tokenize(merge, split_every, keys, rest)
    name, tasks = f"{merge.__name__}-{token}", dict[Any, Any]()
    while len(keys) > 1:
        groups = [keys[at : at + split_every] for at in range(0, len(keys), split_every)]
        keys = []
        for group in groups:
            key = group[0] if len(group) == 1 else (name, len(tasks))
            if len(group) > 1:
                tasks[key] = (merge, group, *rest)
            keys.append(key)
    graphs = optional.require("dask.highlevelgraph").HighLevelGraph
    graph = graphs.from_collections(name, tasks, dependencies=[leaves[0], *shared])
    return optional.require("dask.delayed").Delayed(keys[0], graph, layer=name)
