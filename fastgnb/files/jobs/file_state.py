"""One file to its state: statistics, and all else that a job goes on with after the file.

Each file is learned as if it were alone, and states are joined in the order of the files. So it
does not matter when a file is read, or by which process: see `checkpoint`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._system.signals import interruptible_iter
from ...input.categorical import MixedRows, split_columns
from ...input.labels import Labels
from ...input.weights import check_weight
from ...model.findings import KeyWatch
from ...stats.class_stats import from_arrays
from ...stats.mixed_stats import MixedStats, from_mixed_rows
from ..errors import SourceError
from ..tables.batch import Batch, RowSource
from .auto_columns import AutoColumns
from .bad_rows import BadRows, prefix_rows
from .class_limit import ClassLimit
from .total import Total

__all__ = ["FileLearner", "FileState", "StatsKind"]


class _Learned(NamedTuple):
    """What was learned of a batch.

    batch : the batch. taken : the rows that count. part : their statistics, or None. seen : how
    many rows were looked at, and their classes, as often as that was. watch : what their columns
    look like. error : what was raised.
    """

    batch: Batch
    taken: Batch
    part: Any
    seen: list[tuple[int, NDArray[Any]]]
    watch: KeyWatch | None = None
    error: Exception | None = None


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


class FileState(NamedTuple):
    """What was learned of a file.

    stats : statistics, or None without rows. n_rows : rows that were learned; n_dropped, n_bad,
    n_filtered : those left out without a label, with values that the model cannot take, and by a
    condition. watch : what its columns look like. left_out, values : see `AutoColumns`.
    """

    stats: Any
    n_rows: int
    n_dropped: int
    n_bad: int
    n_filtered: int
    watch: KeyWatch
    left_out: tuple[str, ...]
    values: Mapping[str, int]


@dataclass(eq=False)
class FileLearner:
    """Learns the files of a source one by one, each as if it were alone.

    bad, limit : what happens to rows that cannot be taken, and how many classes there may be; rows
    of all files count there. automatic : leave out columns of too many categories, which are an
    error otherwise.
    """

    source: RowSource
    kind: StatsKind
    bad: BadRows
    limit: ClassLimit
    max_categories: int | None = None
    automatic: bool = False

    def learn(self, at: int, report: Callable[[int], object] = lambda _: None) -> FileState:
        """The state of ``source.paths[at]``. Raises SourceError. Cost: linear in the rows.

        `report` is told the number of rows of each batch.
        """
        auto = AutoColumns(self.max_categories) if self.automatic else None
        total, watch = Total(self.max_categories, auto), KeyWatch()
        before = self._counts()
        for learned in interruptible_iter(self._learned(at, auto, watch)):
            batch, taken, part, seen, part_watch, error = learned
            _skip_to(total, batch.first_row // self.source.batch_rows)
            for n_rows, classes in seen:
                self.limit.check(batch.path, n_rows, classes)
            if error is not None:
                raise error
            if part_watch is not None:
                with prefix_rows(taken):
                    total.add(part)
                self.limit.add(taken, part.classes)
                watch.extend(part_watch)
                if auto is not None:
                    auto.count(taken)
            report(len(batch.X))
        stats = _result(total, self.source, at)  # which may leave out more
        n_rows, n_dropped, n_bad, n_filtered = (
            now - then for now, then in zip(self._counts(), before, strict=True)
        )
        return FileState(
            stats, n_rows, n_dropped, n_bad, n_filtered, watch,
            tuple(auto.left_out) if auto else (), auto.values if auto else {},
        )  # fmt: skip

    def recall(self, at: int, state: FileState) -> None:
        """Count the rows of a file that was learned before, as if they were learned now."""
        self.source.n_dropped += state.n_dropped
        self.source.n_filtered += state.n_filtered
        self.bad.n += state.n_bad
        if state.stats is not None:
            self.limit.add_file(self.source.paths[at], state.n_rows, state.stats.classes)

    def _learned(self, at: int, auto: AutoColumns | None, watch: KeyWatch) -> Iterator[_Learned]:
        """What is learned of the batches of a file, in order. `watch` has seen those before."""
        if auto is None:
            return self.source.map_file(at, lambda batch: self._learn(batch, batch, watch))
        # A batch decides which columns of the next one are read.
        batches = self.source.batches(at)
        return (self._learn(batch, auto.reduced(batch), watch) for batch in batches)

    def _learn(self, batch: Batch, rows: Batch, watch: KeyWatch) -> _Learned:
        """What is learned of the rows of a batch, in any thread."""
        seen: list[tuple[int, NDArray[Any]]] = []
        most = None if self.automatic else self.max_categories  # the sum leaves such columns out

        def stats_of(rows: Batch) -> Any:
            labels = self.limit.encode(rows)
            seen.append((len(rows.X), labels.classes))
            if self.limit.is_broken_by(labels.classes):
                return None  # which is an error when its turn comes
            return _stats_of(rows, labels, self.kind, most)

        try:
            _, taken, part = self.bad.taken(rows, stats_of)
        except Exception as error:
            return _Learned(batch, rows, None, seen, None, error)
        part_watch = None if part is None else watch.following(taken.X)
        return _Learned(batch, taken, part, seen, part_watch)

    def _counts(self) -> tuple[int, int, int, int]:
        source = self.source
        return self.limit.n_rows, source.n_dropped, self.bad.n, source.n_filtered


def _skip_to(total: Total, position: int) -> None:
    """Batches none of whose rows is taken have positions in the sum, too."""
    while len(total) < position:
        total.add(None)


def _result(total: Total, source: RowSource, at: int) -> Any:
    try:
        return total.result()
    except (TypeError, ValueError) as error:
        raise SourceError(f"{source.paths[at]}: {error}") from error


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
