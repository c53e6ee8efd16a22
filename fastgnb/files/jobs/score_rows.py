"""Rows of files to answers, a batch at a time: what `predict` and `evaluate` do with a model."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..._system.atomic import atomic_write
from ..._system.optional import pa
from ...kernels.score.outputs import Scores, Table
from ...model.evaluation import Evaluation, Evaluator
from ...model.model import Model
from ..errors import SourceError
from ..phrases import listed
from ..tables.batch import Batch, RowSource
from ..tables.writers import open_writer
from .bad_rows import BadRows
from .progress import Progress, with_progress
from .unknown_categories import UnknownCategories

__all__ = ["bad_rows_of", "evaluate_rows", "predict_rows"]

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
) -> int:
    """Write kept columns, prediction, probabilities and log evidence of every row, in order.

    `final` says that the run takes effect with it, `bad` what happens to rows that cannot be taken;
    `unknown` looks at those that it takes. Returns the number of rows that are written.
    """
    schema = _output_schema(model, source, proba, evidence)
    labels = pa.array(model.classes.tolist(), schema.field("prediction").type)
    width = max((len(str(label)) for label in model.classes.tolist()), default=1)
    ending = pathlib.Path(output).suffix.lower()
    bad, rows = bad or bad_rows_of(model), 0
    table: Table | None = "proba" if proba else None
    with (
        atomic_write(output, final=final) as path,
        open_writer(path, ending, schema, width) as writer,
    ):
        for batch in with_progress(source, progress):
            good, taken, scores = bad.taken(batch, _scored(model, table, evidence))
            if unknown is not None:
                unknown.look(taken)
            if bad.on_error == "null" and good is not None:
                taken, scores = batch, _widened(scores, good, model, table, evidence)
            if scores is not None:
                writer.write(_output_rows(taken, scores, labels, schema))
                rows += len(scores.codes)
    return rows


def _scored(model: Model, table: Table | None, evidence: bool) -> Callable[[Batch], Scores]:
    return lambda taken: model.score(taken.rows, table=table, evidence=evidence)


def _widened(
    scores: Scores | None,
    good: NDArray[np.bool_],
    model: Model,
    table: Table | None,
    evidence: bool,
) -> Scores:
    """Scores of all rows, of which those that are not good have code -1 and NaN."""
    n = len(good)
    codes = np.full(n, -1, np.int64)
    wide = None if table is None else np.full((n, len(model.classes)), np.nan)
    density = np.full(n, np.nan) if evidence else None
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
) -> Evaluation:
    """Predictions for every row of `source` against its labels.

    Raises SourceError where there are none, and where none of the labels is one of the model's: as
    soon as a few of them are known. `target` is what the labels are called in that message.
    """
    evaluator, rows = Evaluator(model.classes), 0
    bad = bad or bad_rows_of(model)
    for batch in with_progress(source, progress):
        _, taken, scores = bad.taken(batch, _scored(model, "proba", False))
        rows += len(batch.X)
        if unknown is not None:
            unknown.look(taken)
        if scores is None:
            continue
        assert taken.y is not None
        assert scores.table is not None
        try:
            evaluator.update(taken.y, scores.codes, scores.table)
        except (TypeError, ValueError) as error:
            raise SourceError(f"{batch.path}: {target}: {error}") from error
        if rows >= _FEW_ROWS and len(evaluator.unseen) > 1:  # one alone may be what comes first
            _check_known(evaluator, model, taken.path, target)
    if evaluator.n_rows == 0:
        left_out = f"; all {rows} of them are left out" if rows else ""
        raise SourceError(f"{source.paths[0]}: no rows to evaluate{left_out}")
    _check_known(evaluator, model, source.paths[0], target)
    return evaluator.result()


def _check_known(evaluator: Evaluator, model: Model, path: pathlib.Path, target: str) -> None:
    """Raise SourceError unless the model knows one of the labels so far."""
    if evaluator.n_known == 0:
        raise SourceError(
            f"{path}: {target}: the model knows none of the labels; found "
            f"{listed(sorted(evaluator.unseen))}, expected {listed(model.classes.tolist())}; "
            "name another target"
        )


def _output_schema(model: Model, source: RowSource, proba: bool, evidence: bool) -> pa.Schema:
    number = pa.from_numpy_dtype(source.dtype)
    fields = [pa.field("prediction", _label_type(model.classes))]
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


def _label_type(classes: np.ndarray) -> pa.DataType:
    """int64, bool, float64 or string; uint64 where only that holds the labels."""
    if classes.dtype.kind == "u" and classes.max(initial=0) > np.iinfo(np.int64).max:
        return pa.uint64()
    types = {"i": pa.int64(), "u": pa.int64(), "b": pa.bool_(), "f": pa.float64()}
    return types.get(classes.dtype.kind, pa.string())


def _output_rows(
    taken: Batch, scores: Scores, labels: pa.Array, schema: pa.Schema
) -> pa.RecordBatch:
    columns = [] if taken.kept is None else list(taken.kept.columns)
    null = scores.codes < 0
    mask = null if null.any() else None
    columns.append(labels.take(pa.array(scores.codes, mask=mask)))
    if scores.table is not None:
        number = schema.field(len(columns)).type
        table = np.asarray(scores.table, dtype=number.to_pandas_dtype())
        columns += [pa.array(np.ascontiguousarray(column), mask=mask) for column in table.T]
    if scores.evidence is not None:
        columns.append(pa.array(np.asarray(scores.evidence, dtype=np.float64), mask=mask))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
