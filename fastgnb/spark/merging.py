"""What executors and the driver do with statistics: merge them in the order of the partitions.

`fastgnb.merge` adds statistics in pairs of neighbours, these sums in pairs, and so on. A group of
2^g partitions whose first one is a multiple of 2^g is a node of that tree, so that groups may be
merged anywhere, and their sums in turn: the bits are those of one merge of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._system.optional import pa
from ..files.errors import SourceError
from ..files.models.as_bytes import from_bytes, to_bytes
from ..stats.tree import MergeTree
from .partitions import SCHEMA, Outcome

__all__ = ["merge_group", "merged", "total"]

_GROUP_BITS = 4
"""Groups of 16, each merged by one task."""

_LEVELS = 2
"""Rounds of merging on executors, after which a 256th of the partitions' statistics is left."""


def merged(outcomes: Any) -> list[Outcome]:
    """The outcomes of partitions, a DataFrame, merged by executors, and fetched."""
    from pyspark.sql import functions as F

    for _ in range(_LEVELS):
        groups = outcomes.groupBy(F.shiftright("position", _GROUP_BITS))
        outcomes = groups.applyInArrow(merge_group, SCHEMA)
    return [
        Outcome(row.position, _plain(row.statistics), row.n_null, row.error, row.cause)
        for row in outcomes.collect()
    ]


def merge_group(table):  # type: ignore[no-untyped-def]  # Spark reads annotations
    """The outcome of a group of up to 16 neighbours."""
    outcomes = [Outcome(**row) for row in table.to_pylist()]
    position = outcomes[0].position >> _GROUP_BITS
    first = position << _GROUP_BITS
    total = _combined(outcomes, position, range(first, first + (1 << _GROUP_BITS)))
    return pa.Table.from_batches([total.batch()])


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of all groups."""
    outcomes = list(outcomes)
    end = max((outcome.position for outcome in outcomes), default=-1) + 1
    return _combined(outcomes, 0, range(end))


def _combined(outcomes: Iterable[Outcome], position: int, leaves: range) -> Outcome:
    """One outcome for those of `leaves`, of which some may be missing: they have no rows."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.position)
    n_null = sum(outcome.n_null for outcome in ordered)
    for outcome in ordered:
        if outcome.error is not None:
            return Outcome(position, None, n_null, outcome.error, outcome.cause)
    try:
        stats = _tree(ordered, leaves)
    except (TypeError, ValueError) as error:
        text = f"partitions do not go together: {error}"
        return Outcome.failed(position, error, text, n_null)
    return Outcome(position, None if stats is None else to_bytes(stats), n_null)


def _tree(outcomes: list[Outcome], leaves: range) -> Any:
    """The sum of the statistics of all leaves, those without rows among them; None of nothing."""
    tree: MergeTree[Any] = MergeTree()
    for part in _with_gaps(outcomes, leaves):
        tree.add(None if part is None else from_bytes(part))
    return tree.result()


def _with_gaps(outcomes: list[Outcome], leaves: range) -> Iterator[bytes | None]:
    by_position = {outcome.position: outcome.statistics for outcome in outcomes}
    return (by_position.get(leaf) for leaf in leaves)


def statistics_of(outcome: Outcome, label: str, *, drop_null_labels: bool) -> Any:
    """The statistics. Raises SourceError for a mistake in the rows, and where there are none."""
    if outcome.error is not None:
        raise SourceError(outcome.error) from ValueError(outcome.cause)
    if outcome.n_null and not drop_null_labels:
        rows = f"{outcome.n_null:,} row" + ("" if outcome.n_null == 1 else "s")
        raise SourceError(
            f"column {label!r}: the label is null or NaN in {rows}; drop_null_labels=True leaves "
            "such rows out"
        )
    if outcome.statistics is None:
        left_out = f"; {outcome.n_null:,} left out (no label)" if outcome.n_null else ""
        raise SourceError(f"the DataFrame holds no rows to learn{left_out}")
    return from_bytes(outcome.statistics)


def _plain(data: Any) -> bytes | None:
    return None if data is None else bytes(data)
