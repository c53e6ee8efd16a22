"""Rows of files to answers, a batch at a time: what `predict` and `evaluate` do with a model."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._system.atomic import atomic_write
from ..._system.early_flush import EarlyFlush
from ..._system.optional import pa
from ..._system.remote.paths import AnyPath
from ..._system.remote.upload import Upload
from ...evaluation.evaluation import Evaluation
from ...evaluation.evaluator import Evaluator
from ...kernels.score.outputs import Scores, Wanted
from ...model.model import Model
from ..errors import SourceError
from ..phrases import listed
from ..tables.background_writer import BackgroundWriter
from ..tables.batch import Batch, RowSource
from ..tables.formats import output_format
from ..tables.writers import open_writer
from .bad_rows import BadRows
from .progress import Progress, map_with_progress, with_progress
from .unknown_categories import UnknownCategories

__all__ = [
    "answers_of",
    "bad_rows_of",
    "evaluate_rows",
    "label_values",
    "output_schema",
    "predict_rows",
]

_EXACT_NUMBERS = 1 << 21
"""Most log odds that are kept (16 MB). Sorting more would take longer than reading the rows."""

_FEW_ROWS = 1000
"""Rows after which labels, none of which the model knows, are an error."""


def bad_rows_of(
    model: Model, on_error: str = "fail", choices: tuple[str, ...] = ("skip",)
) -> BadRows:
    """What happens to rows that a model cannot take."""
    can_skip = model.member.has("missing")
    return BadRows(on_error, skip=model.missing == "skip", can_skip=can_skip, choices=choices)


def predict_rows(
    model: Model,
    source: RowSource,
    output: str | os.PathLike[str],
    *,
    proba: bool = False,
    evidence: bool = False,
    progress: Progress = False,
    final: bool = False,
    bad: BadRows | None = None,
    unknown: UnknownCategories | None = None,
    written: str | None = None,
) -> int:
    """Write kept columns, prediction, probabilities and log evidence of every row, in order.

    `final` says that the run takes effect with it, `bad` what happens to rows that cannot be taken;
    `unknown` looks at those that it takes. `written` is the format, unless the ending tells it.
    Returns the number of rows that are written. A batch is written while others are scored.
    """
    schema = output_schema(model, source, proba=proba, evidence=evidence)
    labels = label_values(model, schema)
    width = max((len(str(label)) for label in model.classes.tolist()), default=1)
    form = output_format(output, written)
    bad, rows = bad or bad_rows_of(model), 0

    def answer(batch: Batch) -> tuple[Batch, pa.RecordBatch | None]:
        return answers_of(model, batch, schema, labels, proba=proba, evidence=evidence, bad=bad)

    with (
        atomic_write(output, final=final) as path,
        open_writer(path, form, schema, width) as file,
        BackgroundWriter(file, _flush_of(path)) as writer,
    ):
        for taken, answers in map_with_progress(source, answer, progress):
            if unknown is not None:
                unknown.look(taken)
            if answers is not None:
                writer.write(answers)
                rows += answers.num_rows
    return rows


def _flush_of(path: pathlib.Path | Upload) -> Callable[[], object]:
    """What is to be done after each batch that is written to `path`."""
    return EarlyFlush(path) if isinstance(path, pathlib.Path) else lambda: None


def answers_of(
    model: Model,
    batch: Batch,
    schema: pa.Schema,
    labels: pa.Array,
    *,
    proba: bool,
    evidence: bool,
    bad: BadRows,
) -> tuple[Batch, pa.RecordBatch | None]:
    """The rows that the model takes, and the table of kept columns and answers of a batch.

    The table is None where all rows are left out. `labels` are those of `label_values`.
    """
    wanted = Wanted(
        values=_values(labels) if bad.on_error != "null" else None,
        table="proba" if proba else None,
        evidence=evidence,
        dtype=_number_type(schema),
        column_major=True,
    )
    good, taken, scores = bad.taken(batch, _scored(model, wanted))
    written = taken
    if bad.on_error == "null" and good is not None:
        written, scores = batch, _widened(scores, good, len(model.classes), wanted)
    if scores is None:
        return taken, None
    return taken, _output_rows(written, scores, labels, schema, wanted.values is not None)


def _scored(model: Model, wanted: Wanted) -> Callable[[Batch], Scores]:
    return lambda taken: model.score(taken.rows, **wanted._asdict())


def _values(labels: pa.Array) -> NDArray[np.int64] | None:
    """Labels of 64 bits, which kernels write themselves; None of others."""
    if not pa.types.is_primitive(labels.type) or labels.type.bit_width != 64:
        return None
    bits: NDArray[np.int64] = labels.to_numpy().view(np.int64)
    return bits


def _widened(scores: Scores | None, good: NDArray[np.bool_], k: int, wanted: Wanted) -> Scores:
    """Scores of all rows, of which those that are not good have code -1 and NaN."""
    n = len(good)
    codes = np.full(n, -1, np.int64)
    wide = np.full((n, k), np.nan, wanted.dtype, order="F") if wanted.table else None
    density = np.full(n, np.nan) if wanted.evidence else None
    if scores is not None:
        codes[good] = scores.codes
        if wide is not None:
            wide[good] = scores.table
        if density is not None:
            density[good] = scores.evidence
    return Scores(codes, wide, density, -1)


def evaluate_rows(
    model: Model,
    source: RowSource,
    *,
    progress: Progress = False,
    bad: BadRows | None = None,
    target: str = "labels",
    unknown: UnknownCategories | None = None,
    observe: Callable[[Batch], object] | None = None,
    thresholds: Iterable[float] | None = None,
) -> Evaluation:
    """Predictions for every row of `source` against its labels, weighted where it has weights.

    Raises SourceError where there are none, and where none of the labels is one of the model's: as
    soon as a few of them are known. `target` is what the labels are called in that message.
    """
    exact_rows = _EXACT_NUMBERS // len(model.classes)
    evaluator = Evaluator(model.classes, thresholds=thresholds, exact_rows=exact_rows)
    rows, score = 0, _scored(model, Wanted(table="log_odds"))
    bad = bad or bad_rows_of(model)
    for batch in with_progress(source, progress):
        rows += len(batch.X)
        _, taken, scores = bad.taken(_with_weight(batch), score)
        if unknown is not None:
            unknown.look(taken)
        if scores is None:
            continue
        assert taken.y is not None
        assert scores.table is not None
        try:
            evaluator.update(taken.y, scores.codes, scores.table, taken.weight)
        except (TypeError, ValueError) as error:
            raise SourceError(f"{batch.path}: {target}: {error}") from error
        if observe is not None:
            observe(taken)
        if rows >= _FEW_ROWS and len(evaluator.unseen) > 1:  # one alone may be what comes first
            _check_known(evaluator, model, taken.path, target)
    if evaluator.n_rows == 0:
        left_out = f"; all {rows} of them are left out" if rows else ""
        raise SourceError(f"{source.paths[0]}: no rows to evaluate{left_out}")
    _check_known(evaluator, model, source.paths[0], target)
    return evaluator.result()


def _with_weight(batch: Batch) -> Batch:
    """The batch without rows of weight 0, which are not looked at."""
    if batch.weight is None or batch.weight.all():
        return batch
    return batch.select(batch.weight > 0)


def _check_known(evaluator: Evaluator, model: Model, path: AnyPath, target: str) -> None:
    """Raise SourceError unless the model knows one of the labels so far."""
    if evaluator.n_known == 0:
        raise SourceError(
            f"{path}: {target}: the model knows none of the labels; found "
            f"{listed(sorted(evaluator.unseen))}, expected {listed(model.classes.tolist())}; "
            "name another target"
        )


def output_schema(model: Model, source: RowSource, *, proba: bool, evidence: bool) -> pa.Schema:
    """The kept columns and the answers. Raises SourceError where one has the name of another."""
    number = pa.from_numpy_dtype(source.dtype)
    fields = [pa.field("prediction", label_type(model.classes))]
    if proba:
        fields += [pa.field(f"proba_{label}", number) for label in model.classes.tolist()]
    if evidence:
        fields.append(pa.field("log_evidence", pa.float64()))
    for field in fields:
        if field.name in source.keep_schema.names:
            raise SourceError(
                f"column {field.name!r} is both kept and written; leave it out of --keep"
            )
    return pa.schema([*source.keep_schema, *fields])


def label_type(classes: np.ndarray) -> pa.DataType:
    """int64, bool, float64 or string; uint64 where only that holds the labels."""
    if classes.dtype.kind == "u" and classes.max(initial=0) > np.iinfo(np.int64).max:
        return pa.uint64()
    types = {"i": pa.int64(), "u": pa.int64(), "b": pa.bool_(), "f": pa.float64()}
    return types.get(classes.dtype.kind, pa.string())


def _number_type(schema: pa.Schema) -> Any:
    """The dtype of probabilities in a table of answers, where there are any."""
    after = schema.get_field_index("prediction") + 1
    return schema.types[after].to_pandas_dtype() if after < len(schema) else np.float64


def label_values(model: Model, schema: pa.Schema) -> pa.Array:
    """The labels of the classes (k,) as the column of predictions holds them."""
    return pa.array(model.classes.tolist(), schema.field("prediction").type)


def _output_rows(
    taken: Batch, scores: Scores, labels: pa.Array, schema: pa.Schema, are_labels: bool
) -> pa.RecordBatch:
    """Kept columns and scores as a table. `are_labels`: they hold labels instead of codes."""
    columns = [] if taken.kept is None else list(taken.kept.columns)
    mask = None
    if are_labels:
        columns.append(pa.array(scores.codes.view(labels.type.to_pandas_dtype())))
    else:
        null = scores.codes < 0
        mask = null if null.any() else None
        columns.append(labels.take(pa.array(scores.codes, mask=mask)))
    if scores.table is not None:
        columns += [pa.array(column, mask=mask) for column in scores.table.T]
    if scores.evidence is not None:
        columns.append(pa.array(np.asarray(scores.evidence, dtype=np.float64), mask=mask))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
