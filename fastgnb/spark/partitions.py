"""What an executor does with a partition to learn it: rows to statistics, as bytes.

A mistake in the rows is no failure of the task, which Spark would try again: it comes back as a
message, beside how many rows have no label, and the driver raises that of the first partition.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

from .._system.optional import pa
from .._system.thread_limits import threads
from ..files.errors import SourceError
from ..files.jobs.bad_rows import BadRows
from ..files.jobs.learn_rows import StatsKind, learn
from ..files.models.as_bytes import to_bytes
from ..files.tables.arrow_rows import ArrowRows
from ..files.tables.columns import ColumnRoles
from ..input.rows import NotFiniteError
from ..stats.feature_order import rename_features
from .arrays import feature_names, spread, with_length
from .columns import Columns

__all__ = ["SCHEMA", "LearnTask", "Outcome", "learn_partition", "partition_name", "task_threads"]

SCHEMA = "position bigint, statistics binary, n_null bigint, error string, cause string"
"""What `Outcome` is in a DataFrame."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What is known of a partition, or of several: statistics or an error, and null labels.

    position : which partition, or which group of partitions, from 0.
    statistics : as bytes; None where there are no rows. cause : type and words of what raised
        the error, since exceptions are not sent.
    """

    position: int
    statistics: bytes | None = None
    n_null: int = 0
    error: str | None = None
    cause: str | None = None

    @classmethod
    def failed(cls, position: int, error: Exception, text: str, n_null: int = 0) -> Outcome:
        """The outcome of an error, with a text that says where."""
        root: BaseException = error
        while root.__cause__ is not None:
            root = root.__cause__
        return cls(position, None, n_null, text, f"{type(root).__name__}: {root}")

    def batch(self) -> pa.RecordBatch:
        """A batch of one row."""
        schema = pa.schema(
            [
                ("position", pa.int64()),
                ("statistics", pa.binary()),
                ("n_null", pa.int64()),
                ("error", pa.string()),
                ("cause", pa.string()),
            ]
        )
        return pa.RecordBatch.from_pylist([dataclasses.asdict(self)], schema)


@dataclasses.dataclass(frozen=True)
class LearnTask:
    """What is learned, the same in each partition."""

    columns: Columns
    kind: StatsKind
    max_categories: int | None = None

    def roles(self, features: tuple[str, ...]) -> ColumnRoles:
        """The columns as the jobs of `files` name them. Rows without a label are counted."""
        columns = self.columns
        return ColumnRoles(
            columns.target,
            columns.weight,
            features,
            categorical=columns.categorical,
            drop_null_target=True,
        )


def learn_partition(task: LearnTask, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The outcome of this task's partition; nothing where it is empty."""
    from pyspark import TaskContext

    context = TaskContext.get()
    with threads(task_threads(context)):
        named = (batch.rename_columns(task.columns.names()) for batch in batches)
        outcome = learned(task, context.partitionId(), named)
    if outcome is not None:
        yield outcome.batch()


def task_threads(context: Any) -> int:
    """How many threads a task may use: as many cores as Spark sets aside for it."""
    return max(1, int(context.cpus()))


def partition_name(position: int) -> str:
    """What messages call a partition."""
    return f"partition {position}"


def learned(task: LearnTask, position: int, batches: Iterator[pa.RecordBatch]) -> Outcome | None:
    """The outcome of the rows of a partition, None where there are none."""
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return None
    batches, where = itertools.chain([first], batches), partition_name(position)
    try:
        stats, n_null = _statistics(task, where, batches)
    except (TypeError, ValueError) as error:
        text = str(error)
        text = text if text.startswith(where) else f"{where}: {text}"
        return Outcome.failed(position, error, text)
    return Outcome(position, None if stats is None else to_bytes(stats), n_null)


def _statistics(task: LearnTask, where: str, batches: Iterator[pa.RecordBatch]) -> tuple[Any, int]:
    """Statistics of the rows with a label, or None, and how many have none."""
    features = task.columns.features
    if task.columns.is_array:
        name = features[0]
        batches, d = with_length(batches, name, where)
        batches, features = spread(batches, name, d, where), feature_names(name, d)
    source = ArrowRows(batches, task.roles(features), name=where)
    bad = BadRows("fail", skip=task.kind.skip, can_skip=False, choices=())
    try:
        stats = learn(source, task.kind, bad=bad, max_categories=task.max_categories)
    except SourceError as error:
        raise SourceError(f"{error}{_advice(error.__cause__, task.kind)}") from error
    if stats is not None and task.columns.is_array:
        stats = rename_features(stats, None)
    return stats, source.n_dropped


def _advice(cause: BaseException | None, kind: StatsKind) -> str:
    """What to do about a value that cannot be learned."""
    if not isinstance(cause, NotFiniteError):
        return ""
    if math.isnan(cause.value) and not kind.full:
        return "; missing='skip' leaves missing values out of their features"
    return "; filter such rows out of the DataFrame"
