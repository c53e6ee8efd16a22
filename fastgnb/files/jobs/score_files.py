"""A model on files: what `predict` and `evaluate` do, from the command line and from Python."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...evaluation.evaluation import Evaluation
from ...model.model import Model
from ..errors import SourceError
from ..models.model_file import ModelFile
from ..outputs import check_output
from ..phrases import counted
from ..tables.columns import ColumnRoles
from ..tables.formats import is_npy
from .bad_rows import RowCounts
from .messages import Messages
from .model_rows import label_columns, name_of_target, open_for, read_model
from .options import EvaluateOptions, Path, ReadOptions
from .score_rows import bad_rows_of, evaluate_rows, predict_rows
from .unknown_categories import UnknownCategories

__all__ = ["Evaluated", "Predicted", "check_nulls", "evaluate_files", "predict_files"]


class Predicted(NamedTuple):
    """The model that predicted, and how many rows were written and left out."""

    model: Model
    counts: RowCounts


class Evaluated(NamedTuple):
    """The model, its evaluation, and how many rows were compared and left out."""

    model: Model
    evaluation: Evaluation
    counts: RowCounts


def predict_files(
    model: ModelFile | Path,
    output: Path,
    options: ReadOptions,
    tell: Messages,
    *,
    proba: bool = False,
    evidence: bool = False,
    keep: tuple[str, ...] = (),
) -> Predicted:
    """Write kept columns and answers for each row of files to `output`."""
    path = None if isinstance(model, ModelFile) else model
    check_output(output, [path], options.paths, options.files.format)
    saved, name = read_model(model)
    fitted = saved.model
    check_nulls(fitted, output, options)
    outputs = len(fitted.classes) if proba else 0
    source = open_for(fitted, name, ColumnRoles(keep=keep), options, tell, outputs=outputs)
    bad = bad_rows_of(fitted, options.on_error, ("skip", "null"))
    unknown = UnknownCategories(fitted)
    n_rows = predict_rows(
        fitted, source, output, proba=proba, evidence=evidence, progress=options.progress,
        final=True, bad=bad, unknown=unknown, written=options.files.output_format,
    )  # fmt: skip
    _tell_unknown(unknown, tell)
    return Predicted(fitted, RowCounts(n_rows, source.n_dropped, bad.n, source.n_filtered))


def evaluate_files(model: ModelFile | Path, options: EvaluateOptions, tell: Messages) -> Evaluated:
    """Compare predictions for the rows of files with their labels."""
    saved, name = read_model(model)
    fitted = saved.model
    columns = label_columns(saved, name, options, weight=False)
    source = open_for(fitted, name, columns, options, tell, outputs=len(fitted.classes))
    bad, unknown = bad_rows_of(fitted, options.on_error), UnknownCategories(fitted)
    target = name_of_target(saved, options)
    evaluation = evaluate_rows(
        fitted, source, progress=options.progress, bad=bad, target=target, unknown=unknown,
        thresholds=options.thresholds,
    )  # fmt: skip
    _tell_unknown(unknown, tell)
    if evaluation.n_unseen:
        rows = counted(evaluation.n_unseen, "row")
        tell.finding(
            f"{rows} of {evaluation.n_rows:,} with labels that the model does not know: wrong"
        )
    evaluation = replace(evaluation, n_skipped=bad.n, n_null_labels=source.n_dropped)
    return Evaluated(
        fitted, evaluation, RowCounts(evaluation.n_rows, source.n_dropped, bad.n, source.n_filtered)
    )


def check_nulls(model: Model, output: Path, options: ReadOptions) -> None:
    """Raise SourceError where rows without a prediction could not be written."""
    writes_npy = is_npy(output, options.files.output_format)
    if options.on_error == "null" and writes_npy and model.classes.dtype.kind != "f":
        raise SourceError(
            f"{output}: .npy cannot hold a null prediction; write Parquet, or leave such "
            "rows out with --on-error skip"
        )


def _tell_unknown(unknown: UnknownCategories, tell: Messages) -> None:
    for text in unknown.texts():
        tell.finding(text)
