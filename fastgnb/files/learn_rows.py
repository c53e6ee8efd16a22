"""Rows of files to statistics, a batch at a time: what `fit` and `update` do between two files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..input.categorical import MixedRows, split_columns
from ..input.labels import Labels, encode_labels
from ..input.weights import check_weight
from ..model.findings import KeyWatch
from ..stats.class_stats import ClassStats, from_arrays
from ..stats.mixed_stats import MixedStats, check_few_categories, from_mixed_rows
from .auto_columns import AutoColumns
from .bad_rows import BadRows, progress
from .phrases import counted, listed
from .tables.batch import Batch, RowSource
from .tables.readers import SourceError

__all__ = ["MAX_CLASSES", "ClassLimit", "learn"]

MAX_CLASSES = 10_000
"""Most distinct labels, unless an option says otherwise: more are no classes, but identifiers."""

_FEW = 1000
"""Classes whose statistics are added at any time."""


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
        self._met: set[Any] = set()

    def encode(self, batch: Batch) -> Labels:
        """The labels of a further batch. Raises SourceError where they are too many, or none."""
        try:
            found = encode_labels(np.asarray(batch.y))
        except (TypeError, ValueError) as error:
            raise SourceError(f"{batch.path}: {self._column}: {error}") from error
        self._check(batch, found.classes)
        return found

    def _check(self, batch: Batch, classes: np.ndarray) -> None:
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
        self._met.update(classes.tolist())

    def _expected(self, labels: set[Any]) -> str:
        if self._known:
            return (
                f"the model has priors, of {listed(self._known)} alone; classes can be added only "
                "to a model without --priors"
            )
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

    def is_all_new(self) -> bool:
        """Whether no label was known before, though some were."""
        return bool(self._known) and bool(self._met) and self._met.isdisjoint(self._known)

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
    max_categories: int | None = None,
    auto: AutoColumns | None = None,
) -> Any:
    """Statistics of `stats` and every row of `source`; None where there is neither.

    They are of the kind that `stats` is, or else MixedStats with `mixed`, and ClassStats without.
    `bad` says what happens to rows that cannot be taken, `limit` how many classes there may be,
    `watch` looks at the rows that are taken, `auto` leaves columns out. Raises SourceError, too, at
    about the batch that makes more than max_categories of a feature. Cost: linear in the rows.
    """
    known = None
    if isinstance(stats, MixedStats):
        mixed, known = True, stats.is_categorical
    elif stats is not None:
        scatter = "diag" if stats.covariance is None else "full"
    skip, full = missing == "skip", scatter == "full"
    bad = bad or BadRows("fail", skip=skip, can_skip=not full)
    limit = limit or ClassLimit(known=None if stats is None else stats.classes)
    total = Total(max_categories, auto)

    def part_of(batch: Batch) -> Any:
        labels = limit.encode(batch)
        return _stats_of(
            batch, labels, skip=skip, full=full, mixed=mixed, known=known,
            max_categories=None if auto else max_categories,  # `total` leaves such columns out
        )  # fmt: skip

    def learn_from(batch: Batch) -> Any:
        part = part_of(batch)
        total.add(part)  # here, so that what it raises says where
        return part

    for each in progress(source, quiet):
        whole = each if auto is None else auto.reduced(each)
        _, batch, part = bad.taken(whole, learn_from)
        if part is not None:
            limit.add(batch, part.classes)
            if auto is not None:
                auto.count(batch)
            if watch is not None:
                watch.update(batch.X)
    try:
        found = total.result(stats)
    except (TypeError, ValueError) as error:
        raise SourceError(f"{source.paths[-1]}: {error}") from error
    if auto is not None and found is not None:
        auto.check(found.n_features, source.paths[0])
    return found


def _stats_of(
    batch: Batch,
    labels: Labels,
    *,
    skip: bool,
    full: bool,
    mixed: bool,
    known: np.ndarray | None,
    max_categories: int | None,
) -> Any:
    """Statistics of a batch. `known` says which columns of .npy are categorical."""
    weight, names = check_weight(batch.weight, len(batch.X)), batch.features
    if not mixed:
        return from_arrays(batch.X, labels, weight, skip=skip, feature_names=names, full=full)
    rows = batch.rows
    if not isinstance(rows, MixedRows):
        mask = np.zeros(rows.shape[1], np.bool_) if known is None else known
        rows = split_columns(rows, mask, skip=skip)
    return from_mixed_rows(
        rows, labels, weight, skip=skip, feature_names=names, max_categories=max_categories
    )


class Total:
    """A sum of many statistics that grow with what is in them, in linear time.

    Categories and classes of a stream may be new for ever, so that a sum batch by batch would
    handle all those before with each. Here a part is added to one of as many batches, as bits carry
    in a counter. A part that has about the classes of all before is added to them at once, since
    log2(n) sums of the same size would take their memory.
    """

    def __init__(self, max_categories: int | None, auto: AutoColumns | None) -> None:
        self._flat: Any = None
        self._parts: list[tuple[int, Any]] = []
        self._most, self._auto = max_categories, auto

    def add(self, part: Any) -> None:
        """Add the statistics of a batch. Raises ValueError where categories are too many."""
        if not isinstance(part, MixedStats) and self._is_like(part):
            self._flat = part if self._flat is None else self._flat + part
            return
        part, n = self._bounded(part), 1
        while self._parts and self._parts[-1][0] == n:
            part, n = self._sum(self._parts.pop()[1], part), 2 * n
        self._parts.append((n, part))

    def result(self, before: Any = None) -> Any:
        """The sum, with statistics from before; None of nothing."""
        total = None
        for part in (*(part for _, part in reversed(self._parts)), self._flat):
            if part is not None:
                total = part if total is None else self._sum(part, total)
        if total is not None and self._auto is not None:
            total = self._reduced(total)
            self._auto.decide(total)
        if total is None or before is None:
            return before if total is None else self._bounded(total)
        return self._sum(before, total)

    def _is_like(self, part: ClassStats) -> bool:
        """Whether to add it at once takes time in proportion to the part."""
        k = 0 if self._flat is None else len(self._flat.classes)
        return k <= max(_FEW, 2 * len(part.classes)) or part.covariance is not None

    def _sum(self, a: Any, b: Any) -> Any:
        return self._bounded(self._reduced(a) + self._reduced(b))

    def _reduced(self, part: Any) -> Any:
        return part if self._auto is None else self._auto.without(part)

    def _bounded(self, stats: Any) -> Any:
        """The statistics, without what `auto` leaves out. Raises ValueError beyond the bound."""
        if not isinstance(stats, MixedStats):
            return stats
        if self._auto is not None:
            self._auto.bound(stats)
            stats = self._auto.without(stats)
        check_few_categories(stats, self._most)
        return stats
