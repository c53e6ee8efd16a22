"""Rows of files to statistics, a batch at a time: what `fit` and `update` do between two files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._bad_rows import BadRows, progress
from ._batch import Batch, RowSource
from ._categories import MixedRows, split
from ._readers import SourceError
from ._summary import counted, listed
from ._validate import Labels, check_weight, encode
from .findings import KeyWatch
from .mixed_stats import MixedStats, from_mixed_rows
from .stats import from_arrays

__all__ = ["MAX_CLASSES", "ClassLimit", "learn"]

MAX_CLASSES = 10_000
"""Most distinct labels, unless an option says otherwise: more are no classes, but identifiers."""


class ClassLimit:
    """An error as soon as there are more distinct labels than a model is meant to have.

    most : most distinct labels. n_priors : number of --priors, in the order of the labels. target :
    their column, for the message. known : labels that a model has already. `labels`, `n_rows` and
    `paths`, the files with rows, are those so far.
    """

    def __init__(
        self,
        most: int = MAX_CLASSES,
        *,
        n_priors: int | None = None,
        target: str | None = None,
        known: np.ndarray | None = None,
    ) -> None:
        self._known = [] if known is None else known.tolist()
        self.labels: set[Any] = set(self._known)
        self._most = max(most, len(self._known))
        self._priors = n_priors
        self._column = "labels" if target is None else f"column {target!r}"
        self.n_rows = 0
        self.paths: set[Path] = set()

    def check(self, batch: Batch, classes: np.ndarray) -> None:
        """Raise SourceError where the labels of a further batch are too many."""
        labels = self.labels.union(classes.tolist())
        where = f"{batch.path}: {self._column}: {counted(len(labels), 'distinct label')}"
        if len(labels) > self._most:
            rows = counted(self.n_rows + len(batch.X), "row")
            raise SourceError(
                f"{where} in the first {rows}, expected at most {self._most:,} classes; name "
                "another target, or raise --max-classes"
            )
        if self._priors is not None and len(labels) > self._priors:
            raise SourceError(f"{where}, but {self._expected(labels)}")

    def add(self, batch: Batch, classes: np.ndarray) -> None:
        """Count the labels of a batch that is learned."""
        self.n_rows += len(batch.X)
        self.paths.add(batch.path)
        self.labels.update(classes.tolist())

    def _expected(self, labels: set[Any]) -> str:
        return (
            f"{counted(self._priors or 0, 'prior')}; expected one for each class, in this order: "
            f"{listed(sorted(labels))}"
        )

    def check_priors(self, path: object) -> None:
        """Raise SourceError where there are more priors than labels."""
        if self._priors is not None and self._priors != len(self.labels):
            number = counted(len(self.labels), "distinct label")
            expected = self._expected(self.labels)
            raise SourceError(f"{path}: {self._column}: {number}, but {expected}")

    def new(self) -> list[Any]:
        """Labels that were not known before, sorted."""
        return sorted(self.labels.difference(self._known))


def learn(
    source: RowSource,
    stats: Any = None,
    *,
    missing: str,
    scatter: str = "diag",
    mixed: bool = False,
    quiet: bool = True,
    bad: BadRows | None = None,
    limit: ClassLimit | None = None,
    watch: KeyWatch | None = None,
) -> Any:
    """Statistics of `stats` and every row of `source`; None where there is neither.

    They are of the kind that `stats` is, or else MixedStats with `mixed`, and ClassStats without.
    `bad` says what happens to rows that cannot be taken, `limit` how many classes there may be,
    `watch` looks at the rows that are taken. Cost: linear in the rows.
    """
    known = None
    if isinstance(stats, MixedStats):
        mixed, known = True, stats.is_categorical
    elif stats is not None:
        scatter = "diag" if stats.covariance is None else "full"
    skip, full = missing == "skip", scatter == "full"
    bad = bad or BadRows("fail", skip=skip, can_skip=not full)
    limit = limit or ClassLimit(known=None if stats is None else stats.classes)
    total = Total()

    def part_of(batch: Batch) -> Any:
        labels = encode(np.asarray(batch.y))
        limit.check(batch, labels.classes)
        return _stats_of(batch, labels, skip=skip, full=full, mixed=mixed, known=known)

    for whole in progress(source, quiet):
        _, batch, part = bad.taken(whole, part_of)
        if part is not None:
            total.add(part)
            limit.add(whole, part.classes)
            if watch is not None:
                watch.update(batch.X)
    found = total.result()
    return stats if found is None else found if stats is None else stats + found


def _stats_of(
    batch: Batch, labels: Labels, *, skip: bool, full: bool, mixed: bool, known: np.ndarray | None
) -> Any:
    """Statistics of a batch. `known` says which columns of .npy are categorical."""
    weight, names = check_weight(batch.weight, len(batch.X)), batch.features
    if not mixed:
        return from_arrays(batch.X, labels, weight, skip=skip, feature_names=names, full=full)
    rows = batch.rows
    if not isinstance(rows, MixedRows):
        mask = np.zeros(rows.shape[1], np.bool_) if known is None else known
        rows = split(rows, mask, skip=skip)
    return from_mixed_rows(rows, labels, weight, skip=skip, feature_names=names)


class Total:
    """A sum of many statistics that grow with what is in them, in linear time.

    Categories of a stream may be new for ever, so that a sum batch by batch would handle all those
    before with each. Here a part is added to one of as many batches, as bits carry in a counter.
    What does not grow is added at once, since log2(n) sums of full scatter would take their memory.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[int, Any]] = []

    def add(self, part: Any) -> None:
        """Add the statistics of a batch."""
        if self._parts and not isinstance(part, MixedStats):
            self._parts[0] = 1, self._parts[0][1] + part
            return
        n = 1
        while self._parts and self._parts[-1][0] == n:
            part, n = self._parts.pop()[1] + part, 2 * n
        self._parts.append((n, part))

    def result(self) -> Any:
        """The sum, or None of nothing."""
        total = None
        for _, part in reversed(self._parts):
            total = part if total is None else part + total
        return total
