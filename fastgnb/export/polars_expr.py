"""Scoring as a Polars expression, which also runs in lazy and in streaming queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._system.optional import require
from ..input.frames import numbers_of
from ..input.rows import NotFiniteError
from ..kernels.score.outputs import Scores
from ..model.model import Model

__all__ = ["polars_expr"]


def polars_expr(
    model: Model,
    columns: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    proba: bool = False,
    evidence: bool = False,
) -> Any:
    """An expression for the label of each row, or for a struct of it and of other answers.

    See ``ExportingClassifier.polars_expr``.
    """
    pl = require("polars")
    names = model.feature_names or tuple(f"x{j}" for j in range(model.n_features))
    given = _columns(names, columns)
    exprs = [
        (pl.col(column) if isinstance(column, str) else column).alias(name)
        for name, column in zip(names, given, strict=True)
    ]
    score = partial(_score, model, names, proba, evidence)
    return (
        pl.struct(exprs)
        .map_batches(score, return_dtype=_dtype(model, proba, evidence), is_elementwise=True)
        .alias("prediction")
    )


def _columns(names: Sequence[str], columns: Any) -> list[Any]:
    """A column, or an expression, for each feature."""
    if columns is None:
        return list(names)
    if isinstance(columns, Mapping):
        unknown = [name for name in columns if name not in names]
        if unknown:
            raise ValueError(f"columns has {unknown[0]!r:.80}, which is no feature.")
        return [columns.get(name, name) for name in names]
    given = [columns] if isinstance(columns, str) else list(columns)
    if len(given) != len(names):
        raise ValueError(f"Expected columns for {len(names)} features, got {columns!r:.200}.")
    return given


def _label_dtype(model: Model) -> Any:
    """The type of labels: Int64, Boolean, Float64 or String; UInt64 where only that holds them."""
    pl, classes = require("polars"), model.classes
    if classes.dtype.kind == "u" and classes.max(initial=0) > np.iinfo(np.int64).max:
        return pl.UInt64
    return {"i": pl.Int64, "u": pl.Int64, "b": pl.Boolean, "f": pl.Float64}.get(
        classes.dtype.kind, pl.String
    )


def _dtype(model: Model, proba: bool, evidence: bool) -> Any:
    pl = require("polars")
    if not (proba or evidence):
        return _label_dtype(model)
    fields = [pl.Field("prediction", _label_dtype(model))]
    if proba:
        fields += [pl.Field(f"proba_{label}", pl.Float64) for label in model.classes.tolist()]
    if evidence:
        fields.append(pl.Field("log_evidence", pl.Float64))
    return pl.Struct(fields)


def _score(model: Model, names: Sequence[str], proba: bool, evidence: bool, rows: Any) -> Any:
    """The answers for a series of structs of features."""
    pl, frame = require("polars"), rows.struct.unnest()
    X = frame if model.has_categories else numbers_of(frame, np.arange(frame.width))
    try:
        table = "proba" if proba else None
        scores = model.score(X, table=table, evidence=evidence, column_major=True)
    except NotFiniteError as error:
        what = "is missing" if np.isnan(error.value) else "is infinite"
        raise ValueError(
            f"Column {names[error.column]!r}: the value in row {error.row} of a batch {what}. Fill "
            "such values in, or filter such rows out, before the model scores them."
        ) from error
    labels = pl.Series("prediction", model.classes.tolist(), dtype=_label_dtype(model))
    prediction = labels.gather(scores.codes)
    if not (proba or evidence):
        return prediction
    return pl.DataFrame([prediction, *_numbers(model, scores)]).to_struct("prediction")


def _numbers(model: Model, scores: Scores) -> list[Any]:
    """Probabilities and evidence, as far as they were asked for."""
    pl, series = require("polars"), []
    if scores.table is not None:
        columns = zip(model.classes.tolist(), scores.table.T, strict=True)
        series += [pl.Series(f"proba_{label}", column) for label, column in columns]
    if scores.evidence is not None:
        series.append(pl.Series("log_evidence", np.asarray(scores.evidence, np.float64)))
    return series
