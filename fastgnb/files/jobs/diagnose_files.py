"""Rows of files to a diagnosis: what `diagnose` does, from the command line and from Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...diagnosis.diagnoser import Diagnoser
from ...diagnosis.diagnosis import Diagnosis
from ...diagnosis.second_look import Batch as Rows
from ...diagnosis.second_look import second_look
from ...model.model import Model
from ..errors import SourceError
from ..models.model_file import ModelFile
from ..phrases import counted, listed
from ..tables.batch import Batch, RowSource
from .bad_rows import RowCounts
from .messages import Messages
from .model_rows import label_columns, name_of_target, open_for, read_model
from .options import Path, ReadOptions
from .progress import with_progress
from .score_rows import bad_rows_of

__all__ = ["Diagnosed", "diagnose_files"]


class Diagnosed(NamedTuple):
    """The model, its diagnosis, and how many rows were looked at and left out."""

    model: Model
    diagnosis: Diagnosis
    counts: RowCounts


def diagnose_files(model: ModelFile | Path, options: ReadOptions, tell: Messages) -> Diagnosed:
    """Check whether the rows of files are as a model assumes. The files are read twice."""
    saved, name = read_model(model)
    fitted = saved.model
    columns = label_columns(saved, name, options, weight=options.weight is not None)
    source = open_for(fitted, name, columns, options, tell, outputs=len(fitted.classes))
    bad = bad_rows_of(fitted, options.on_error)
    diagnoser = Diagnoser(fitted)
    for batch in with_progress(source, options.progress):
        bad.taken(_continuous(batch), lambda taken: diagnoser.update(*_rows_of(taken)))
    n_null = source.n_dropped
    _check_known(diagnoser, source, name_of_target(saved, options))

    def again() -> Iterator[Rows]:
        for batch in with_progress(source, options.progress):
            yield _rows_of(_good(batch, skip=diagnoser.skip))

    found = second_look(diagnoser, again)
    if found.n_unknown:
        rows = counted(found.n_unknown, "row")
        tell.finding(f"{rows} with labels that the model does not know: left out")
    found = replace(found, n_skipped=bad.n, n_null_labels=n_null)
    return Diagnosed(fitted, found, RowCounts(found.n_rows, n_null, bad.n, source.n_filtered))


def _continuous(batch: Batch) -> Batch:
    """The batch without its categorical features."""
    if batch.is_categorical is None or batch.features is None:
        return replace(batch, categorical=(), is_categorical=None)
    names = zip(batch.features, batch.is_categorical, strict=True)
    kept = tuple(name for name, is_marked in names if not is_marked)
    return replace(batch, features=kept, categorical=(), is_categorical=None)


def _rows_of(batch: Batch) -> Rows:
    assert batch.y is not None
    return batch.X, batch.y, batch.weight


def _good(batch: Batch, *, skip: bool) -> Batch:
    """The rows of a batch that were taken when it was read before: none that counts is bad."""
    batch = _continuous(batch)
    good = (~np.isinf(batch.X) if skip else np.isfinite(batch.X)).all(axis=1)
    return batch if good.all() else batch.select(good)


def _check_known(diagnoser: Diagnoser, source: RowSource, target: str) -> None:
    """Raise SourceError unless the model knows one of the labels."""
    if diagnoser.n_known:
        return
    rows = counted(diagnoser.n_unknown, "row")
    is_empty = diagnoser.n_unknown == 0
    what = "no rows to diagnose" if is_empty else f"the model knows the labels of none of {rows}"
    labels = listed(diagnoser.model.classes.tolist())
    raise SourceError(f"{source.paths[0]}: {target}: {what}; expected {labels}")
