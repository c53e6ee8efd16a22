"""Batches of rows to statistics: what `fit` and `update` do between two files."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...input.categorical import MixedRows, split_columns
from ...input.labels import Labels
from ...input.weights import check_weight
from ...model.findings import KeyWatch
from ...stats.class_stats import from_arrays
from ...stats.mixed_stats import MixedStats, from_mixed_rows
from ..errors import SourceError
from ..tables.batch import Batch, RowSource
from .auto_columns import AutoColumns
from .bad_rows import BadRows
from .class_limit import ClassLimit
from .progress import Progress, with_progress
from .total import Total

__all__ = ["StatsKind", "learn"]


class StatsKind(NamedTuple):
    """Which statistics are learned.

    skip : whether missing values are left out. full : whether scatter is full. mixed : whether
    there are categories. known : which columns (d,) of .npy hold these, or None.
    """

    skip: bool = False
    full: bool = False
    mixed: bool = False
    known: NDArray[np.bool_] | None = None

    @classmethod
    def like(cls, stats: Any, *, skip: bool) -> StatsKind:
        """The kind of some statistics."""
        if isinstance(stats, MixedStats):
            return cls(skip, mixed=True, known=stats.is_categorical)
        return cls(skip, full=stats.covariance is not None)


def learn(
    source: RowSource,
    kind: StatsKind,
    stats: Any = None,
    *,
    progress: Progress = False,
    bad: BadRows | None = None,
    limit: ClassLimit | None = None,
    watch: KeyWatch | None = None,
    max_categories: int | None = None,
    auto: AutoColumns | None = None,
) -> Any:
    """Statistics of `stats` and every row of `source`; None where there is neither.

    `bad` says what happens to rows that cannot be taken, `limit` how many classes there may be,
    `watch` looks at the rows that are taken, `auto` leaves columns out. Raises SourceError, too, at
    about the batch that makes more than max_categories of a feature. Cost: linear in the rows.
    """
    bad = bad or BadRows("fail", skip=kind.skip, can_skip=not kind.full)
    limit = limit or ClassLimit(known=None if stats is None else stats.classes)
    total = Total(max_categories, auto)
    most = None if auto else max_categories  # `total` leaves such columns out

    def learn_from(batch: Batch) -> Any:
        part = _stats_of(batch, limit.encode(batch), kind, most)
        total.add(part)  # here, so that what it raises says where
        return part

    for batch in with_progress(source, progress):
        reduced = batch if auto is None else auto.reduced(batch)
        _, taken, part = bad.taken(reduced, learn_from)
        if part is not None:
            limit.add(taken, part.classes)
            if auto is not None:
                auto.count(taken)
            if watch is not None:
                watch.update(taken.X)
    return _result(total, stats, source, auto)


def _result(total: Total, stats: Any, source: RowSource, auto: AutoColumns | None) -> Any:
    try:
        result = total.result(stats)
    except (TypeError, ValueError) as error:
        raise SourceError(f"{source.paths[-1]}: {error}") from error
    if auto is not None and result is not None:
        auto.check(result.n_features, source.paths[0])
    return result


def _stats_of(batch: Batch, labels: Labels, kind: StatsKind, max_categories: int | None) -> Any:
    """Statistics of a batch."""
    weight, names, skip = check_weight(batch.weight, len(batch.X)), batch.features, kind.skip
    if not kind.mixed:
        return from_arrays(batch.X, labels, weight, skip=skip, feature_names=names, full=kind.full)
    rows = batch.rows
    if not isinstance(rows, MixedRows):
        mask = np.zeros(rows.shape[1], np.bool_) if kind.known is None else kind.known
        rows = split_columns(rows, mask, skip=skip)
    return from_mixed_rows(
        rows, labels, weight, skip=skip, feature_names=names, max_categories=max_categories
    )
