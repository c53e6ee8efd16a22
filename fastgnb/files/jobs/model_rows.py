"""The rows of files as a fitted model takes them: its columns, by name or by position."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...model.model import Model
from ...stats.tree import batch_rows as rows_of_batch
from ..errors import SourceError
from ..models.model_file import ModelFile, read
from ..phrases import counted
from ..tables.arrow_rows import ArrowRows
from ..tables.batch import RowSource
from ..tables.columns import ColumnRoles
from ..tables.formats import is_npy
from ..tables.paths import expand
from ..tables.sources import open_source
from .messages import Messages
from .options import Path, ReadOptions

__all__ = ["label_columns", "name_of_target", "open_for", "read_model", "stream_for", "tell_plan"]


def read_model(model: ModelFile | Path) -> tuple[ModelFile, str]:
    """A model file, read if it is a path, and what messages call it."""
    if isinstance(model, ModelFile):
        return model, model.model.member.name
    return read(model), os.fspath(model)


def open_for(
    model: Model,
    name: str,
    columns: ColumnRoles,
    options: ReadOptions,
    tell: Messages,
    *,
    outputs: int = 0,
) -> RowSource:
    """Rows with the columns of a model, by name; those of .npy, which has none, by position.

    `name` is what the model is called in messages. `outputs` is how many numbers each row is turned
    into: they take memory as features do.
    """
    files = options.files
    paths = expand(options.paths, files.format)
    by_name = any(not is_npy(path, files.format) for path in paths)
    kinds = _kinds_of_categories(model, model.feature_names)
    if by_name:
        columns = _named_columns(model, name, columns, kinds)
    elif "text" in kinds.values():
        raise SourceError(f"{paths[0]}: .npy holds numbers, and the model has categories of text")
    rows = options.batch_rows or rows_of_batch(model.n_features + outputs)
    source = open_source(
        options.paths, columns, target_npy=options.target_npy, batch_rows=rows, options=files
    )
    tell_plan(source, tell)
    if source.n_features != model.n_features:
        found = counted(source.n_features, "column")
        raise SourceError(
            f"{source.paths[0]}: {found}, expected {model.n_features}, those of the model"
        )
    if not by_name and model.feature_names is not None:
        tell.note("columns of .npy have no names and are taken in the order of the model")
    _check_labels(model, source)
    return source


def stream_for(
    model: Model,
    stream: Any,
    columns: ColumnRoles,
    *,
    features: tuple[str, ...] | None = None,
    outputs: int = 0,
    batch_rows: int | None = None,
    name: str = "stream",
) -> ArrowRows:
    """Rows of an Arrow stream with the columns of a model, by name, or with those of `features`.

    These are in the order of the model. `outputs` is as in `open_for`, and `name` what messages
    call the stream. Raises SourceError.
    """
    names = model.feature_names if features is None else features
    if names is None:
        raise SourceError(
            f"{name}: this model was fitted without column names; name the columns that are its "
            "features, in its order, by features"
        )
    if len(names) != model.n_features:
        raise SourceError(f"{name}: {counted(len(names), 'feature')}, expected {model.n_features}")
    kinds = _kinds_of_categories(model, names)
    rows = batch_rows or rows_of_batch(model.n_features + outputs)
    roles = _columns_of(model, names, columns, kinds)
    source = ArrowRows(stream, roles, name=name, batch_rows=rows)
    _check_labels(model, source)
    return source


def _named_columns(
    model: Model, name: str, columns: ColumnRoles, kinds: dict[str, str | None]
) -> ColumnRoles:
    """The columns of a model, besides those that are given."""
    if model.feature_names is None:
        raise SourceError(f"{name}: this model was fitted without column names; give it .npy data")
    return _columns_of(model, model.feature_names, columns, kinds)


def _columns_of(
    model: Model, names: tuple[str, ...], columns: ColumnRoles, kinds: dict[str, str | None]
) -> ColumnRoles:
    is_text = model.classes.dtype.kind in "OU"
    return ColumnRoles(
        columns.target, columns.weight, names, (), columns.keep, tuple(kinds),
        {column: kind for column, kind in kinds.items() if kind},
        text_labels=tuple(model.classes.tolist()) if is_text else (),
        drop_null_target=columns.drop_null_target, of_model=True,
    )  # fmt: skip


def _kinds_of_categories(model: Model, names: tuple[str, ...] | None) -> dict[str, str | None]:
    """The kind of categories, if known, of each categorical feature, by name or position."""
    if not model.member.takes_categories:
        return {}
    kinds: dict[str, str | None] = {}
    at = np.flatnonzero(model.stats.is_categorical).tolist()
    for j, labels in zip(at, model.stats.categories, strict=True):
        kind = None if not len(labels) else "text" if labels.dtype.kind == "O" else "number"
        kinds[str(j) if names is None else names[j]] = kind
    return kinds


def label_columns(
    saved: ModelFile, name: str, options: ReadOptions, *, weight: bool = True
) -> ColumnRoles:
    """Target and weight as given, else those of the files that the model learned from.

    Without `weight` only a column of weights that is given.
    """
    if options.target_npy is not None:
        return ColumnRoles(weight=options.weight, drop_null_target=options.drop_null_target)
    if options.target is None and saved.target is None:
        raise SourceError(
            f"{name}: does not know its target column; name it with --target, or give "
            "labels with --target-npy"
        )
    target = options.target or saved.target
    weights = options.weight or (saved.weight if weight else None)
    return ColumnRoles(target, weights, drop_null_target=options.drop_null_target)


def name_of_target(saved: ModelFile, options: ReadOptions) -> str:
    """What the labels are called in a message."""
    if options.target_npy is not None:
        return os.fspath(options.target_npy)
    as_in_fit = "" if options.target else ", as in fit"
    return f"target {options.target or saved.target!r}{as_in_fit}"


def _check_labels(model: Model, source: RowSource) -> None:
    """Labels of another kind than the model's are never equal to them: "1" is not 1."""
    kinds = {"b": "boolean", "i": "number", "u": "number", "f": "number"}
    kind = kinds.get(model.classes.dtype.kind, "text")
    if source.target_kind not in (None, kind):
        example = source.target_example
        because = "" if example is None else f"; {example!r} is not spelled as a {kind} is"
        raise SourceError(
            f"{source.paths[0]}: the target holds labels of kind {source.target_kind}, "
            f"expected {kind}, as the model has{because}"
        )


def tell_plan(source: RowSource, tell: Messages) -> None:
    """What was decided about columns before a row is read."""
    for text in source.warnings:
        tell.warning(text)
    for text in source.notes:
        tell.note(text)
    if source.left_out:
        names = ", ".join(map(repr, source.left_out))
        tell.note(
            f"left out, not numeric: {names} (--categorical takes text; of dates make numbers)"
        )
