"""What an executor does with a partition to score it: rows to rows with further columns."""

from __future__ import annotations

import dataclasses
import itertools
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._system.optional import pa
from .._system.thread_limits import threads
from ..files.jobs.model_rows import stream_for
from ..files.jobs.score_rows import bad_rows_of, label_type
from ..files.models.as_bytes import from_bytes
from ..files.tables.arrow_rows import ArrowRows
from ..files.tables.batch import Batch
from ..files.tables.columns import ColumnRoles
from ..files.tables.streams import Batches
from ..model.model import Model
from .arrays import feature_names, spread
from .columns import Columns, aliases
from .partitions import partition_name, task_threads

__all__ = ["ARRAYS", "Answers", "ScoreTask", "label_kind", "score_partition"]

ARRAYS = "vectors as arrays"
"""The last column, where features come as vectors, which Arrow does not have."""


@dataclasses.dataclass(frozen=True)
class Answers:
    """Names of the columns of answers, None for those that are not wanted.

    prediction : labels. probability : of each class. log_odds : of each class against all others.
    evidence : log p(x).
    """

    prediction: str
    probability: str | None = None
    log_odds: str | None = None
    evidence: str | None = None

    def names(self) -> list[str]:
        """The names of those that are wanted, in the order of the columns."""
        every = (self.prediction, self.probability, self.log_odds, self.evidence)
        return [name for name in every if name is not None]


@dataclasses.dataclass(frozen=True)
class ScoreTask:
    """What each partition is scored by.

    model : as bytes. columns : those of the features, in the model's order. names : of all columns
    that come, of which the first n_kept are passed on.
    """

    model: bytes
    columns: Columns
    answers: Answers
    names: tuple[str, ...]
    n_kept: int


@lru_cache(maxsize=8)
def model_of(data: bytes) -> Model:
    """The model, read once in each process, which has many tasks."""
    return from_bytes(data).to_model()  # type: ignore[no-any-return]


def score_partition(task: ScoreTask, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The kept columns and the answers of this task's partition, a batch at a time."""
    from pyspark import TaskContext

    context = TaskContext.get()
    n_threads, where = task_threads(context), partition_name(context.partitionId())
    scored = scored_batches(task, where, iter(batches))
    while True:
        with threads(n_threads):  # not while Spark has the batch
            batch = next(scored, None)
        if batch is None:
            return
        yield batch


def scored_batches(
    task: ScoreTask, where: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The answers of batches. Raises SourceError for rows that the model cannot take."""
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return
    model, waiting = model_of(task.model), deque[pa.RecordBatch]()
    pieces = iter(Batches(itertools.chain([first], batches), first.num_rows))
    source = _rows(task, model, where, _set_aside(pieces, waiting), first.num_rows)
    labels = pa.array(model.classes.tolist(), label_type(model.classes))
    bad = bad_rows_of(model, choices=())
    for batch in source:
        _, _, columns = bad.taken(batch, lambda rows: answers_of(model, rows, task.answers, labels))
        kept = waiting.popleft().columns[: task.n_kept]
        arrays = [*kept, *(columns or [])]
        yield pa.RecordBatch.from_arrays(arrays, aliases(len(arrays)))


def _set_aside(
    pieces: Iterator[pa.RecordBatch], waiting: deque[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for piece in pieces:
        waiting.append(piece)
        yield piece


def _rows(
    task: ScoreTask, model: Model, where: str, pieces: Iterator[pa.RecordBatch], n: int
) -> ArrowRows:
    """The rows of pieces of n rows, as batches of the same n rows."""
    features, columns = task.columns.features, task.columns
    last = len(task.names) - 1
    at = [last] if columns.is_vector else [task.names.index(name) for name in features]
    chosen: Iterator[pa.RecordBatch] = (
        pa.RecordBatch.from_arrays([piece.column(i) for i in at], list(columns.features))
        for piece in pieces
    )
    if columns.is_array:
        chosen = spread(chosen, features[0], model.n_features, where)
        features = feature_names(features[0], model.n_features)
    return stream_for(model, chosen, ColumnRoles(), features=features, batch_rows=n, name=where)


def answers_of(model: Model, batch: Batch, answers: Answers, labels: pa.Array) -> list[pa.Array]:
    """The columns of answers for the rows of a batch, in the order of `Answers.names`."""
    table: Any = "proba" if answers.probability else "log_odds" if answers.log_odds else None
    scores = model.score(batch.rows, table=table, evidence=answers.evidence is not None)
    columns = [labels.take(pa.array(scores.codes))]
    if answers.probability is not None:
        columns.append(_arrays(scores.table))
    if answers.log_odds is not None:
        again = answers.probability is not None  # each table takes a pass of its own
        odds = model.score(batch.rows, table="log_odds").table if again else scores.table
        columns.append(_arrays(odds))
    if answers.evidence is not None:
        columns.append(pa.array(np.asarray(scores.evidence, np.float64)))
    return columns


def _arrays(table: NDArray[Any] | None) -> pa.Array:
    """A table (n, k) as n arrays."""
    values = np.ascontiguousarray(table, np.float64)
    n, k = values.shape
    offsets = k * np.arange(n + 1, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.ravel()))


def label_kind(classes: NDArray[Any]) -> str:
    """The type of labels in Spark. Raises ValueError for whole numbers beyond it."""
    kind = label_type(classes)
    if kind == pa.uint64():
        raise ValueError(f"Spark has no whole numbers as large as the label {classes.max()}.")
    kinds = {pa.int64(): "bigint", pa.bool_(): "boolean", pa.float64(): "double"}
    return kinds.get(kind, "string")
