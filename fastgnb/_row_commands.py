"""The commands that read rows: fit, update, predict, evaluate.

Each command checks its paths first, then the plan of its files, and only then reads. The
functions over a `RowSource` below them are the work itself; `demo` times those.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import persist
from ._arrow import pa, require
from ._atomic import check_writable, is_same_file, replacing
from ._categories import MixedRows, split
from ._columns import Columns
from ._interrupt import polled
from ._report import evaluation_text, say, show_text
from ._validate import check_weight, encode
from ._writers import open_writer
from .evaluation import Evaluation, Evaluator
from .family import MEMBERS
from .kernels.outputs import Scores, Table
from .mixed_stats import MixedStats, from_mixed_rows
from .persist import NotFiniteError, SavedModel
from .sources import Batch, RowSource, SourceError, expand, open_rows, rows_in_batch
from .stats import ClassStats

__all__ = ["evaluate", "evaluate_rows", "fit", "learn", "predict", "predict_rows", "update"]


def fit(args: argparse.Namespace) -> int:
    """`fastgnb fit`."""
    kind, options = _options(args)
    _check_output(args.model, args.data, args.target_npy)
    columns = Columns(
        args.target, args.weight, args.features, args.exclude, categorical=_marks(args)
    )
    source = open_rows(args.data, columns, target_npy=args.target_npy, batch_rows=args.batch_rows)
    for text in source.warnings:
        say(f"warning: {text}")
    for text in source.notes:
        _note(args, text)
    if source.left_out:
        _note(args, f"left out, not numeric: {', '.join(map(repr, source.left_out))}")
    scatter = "full" if MEMBERS[kind].needs_full else "diag"
    stats = learn(
        source, missing=args.missing, scatter=scatter, mixed=kind == "MixedNB", quiet=args.quiet
    )
    if stats is None:
        raise SourceError(f"{source.paths[0]}: no rows to fit")
    saved = SavedModel.from_stats(
        stats, priors=args.priors, var_smoothing=args.var_smoothing, missing=args.missing,
        target=args.target, weight=args.weight, model=kind, **options,
    )  # fmt: skip
    saved.write(args.model)
    return 0


def update(args: argparse.Namespace) -> int:
    """`fastgnb update`."""
    output = args.output or args.model
    _check_output(output, args.data, args.target_npy)
    saved = persist.read(args.model)
    source = _open_for(saved, args, _learned_columns(saved, args))
    stats = learn(source, saved.stats, missing=saved.missing, quiet=args.quiet)
    assert stats is not None
    saved.with_stats(stats).write(output)
    return 0


def predict(args: argparse.Namespace) -> int:
    """`fastgnb predict`."""
    _check_output(args.output, args.data, args.model)
    saved = persist.read(args.model)
    outputs = len(saved.classes) if args.proba else 0
    source = _open_for(saved, args, Columns(keep=args.keep), outputs)
    predict_rows(
        saved, source, args.output, proba=args.proba, evidence=args.evidence, quiet=args.quiet,
        last=True,
    )  # fmt: skip
    return 0


def evaluate(args: argparse.Namespace) -> int:
    """`fastgnb evaluate`."""
    if args.json is not None:
        _check_output(args.json, args.data, args.model, args.target_npy)
    saved = persist.read(args.model)
    source = _open_for(saved, args, Columns(args.target), len(saved.classes))
    found = evaluate_rows(saved, source, quiet=args.quiet)
    show_text(evaluation_text(found))
    if args.json is not None:
        with replacing(args.json, last=True) as temporary:
            temporary.write_text(json.dumps(found.as_dict(), indent=1) + "\n", encoding="utf-8")
    return 0


# ------------------------------------------------------------------ the work


def learn(
    source: RowSource,
    stats: Any = None,
    *,
    missing: str,
    scatter: str = "diag",
    mixed: bool = False,
    quiet: bool = True,
) -> Any:
    """Statistics of `stats` and every row of `source`; None where there is neither.

    They are of the kind that `stats` is, or else MixedStats with `mixed`, and ClassStats without.
    """
    known = None
    if isinstance(stats, MixedStats):
        mixed, known = True, stats.is_categorical
    elif stats is not None:
        scatter = "diag" if stats.covariance is None else "full"
    for batch in _progress(source, quiet):
        assert batch.y is not None
        with _located(batch):
            if mixed:
                part: Any = _mixed_stats(batch, known, missing)
            else:
                part = ClassStats.from_rows(
                    batch.X, batch.y, batch.weight, missing=missing, feature_names=batch.features,
                    scatter=scatter,
                )  # fmt: skip
            stats = part if stats is None else stats + part
    return stats


def _mixed_stats(batch: Batch, known: np.ndarray | None, missing: str) -> MixedStats:
    """Statistics of a batch. `known` says which columns of .npy are categorical."""
    assert batch.y is not None
    skip, rows = missing == "skip", batch.rows
    if not isinstance(rows, MixedRows):
        mask = np.zeros(rows.shape[1], np.bool_) if known is None else known
        rows = split(rows, mask, skip=skip)
    weight = check_weight(batch.weight, len(rows))
    return from_mixed_rows(rows, encode(batch.y), weight, skip=skip, feature_names=batch.features)


def predict_rows(
    saved: SavedModel,
    source: RowSource,
    output: str | os.PathLike[str],
    *,
    proba: bool = False,
    evidence: bool = False,
    quiet: bool = True,
    last: bool = False,
) -> None:
    """Write kept columns, prediction, probabilities and log evidence of every row, in order.

    `last` says that the run ends with it.
    """
    schema = _output_schema(saved, source, proba, evidence)
    labels = pa.array(saved.classes.tolist(), schema.field("prediction").type)
    width = max((len(str(label)) for label in saved.classes.tolist()), default=1)
    ending = pathlib.Path(output).suffix.lower()
    with (
        replacing(output, last=last) as path,
        open_writer(path, ending, schema, width) as writer,
    ):
        for batch in _progress(source, quiet):
            with _located(batch):
                table: Table | None = "proba" if proba else None
                scores = saved.score(batch.rows, table=table, evidence=evidence)
            writer.write(_output_rows(batch, scores, labels, schema))


def evaluate_rows(saved: SavedModel, source: RowSource, *, quiet: bool = True) -> Evaluation:
    """Predictions for every row of `source` against its labels."""
    evaluator = Evaluator(saved.classes)
    rows = 0
    for batch in _progress(source, quiet):
        with _located(batch):
            scores = saved.score(batch.rows, table="proba")
        assert batch.y is not None
        assert scores.table is not None
        evaluator.update(batch.y, scores.codes, scores.table)
        rows += len(batch.X)
    if rows == 0:
        raise SourceError(f"{source.paths[0]}: no rows to evaluate")
    return evaluator.result()


def _output_schema(saved: SavedModel, source: RowSource, proba: bool, evidence: bool) -> pa.Schema:
    number = pa.from_numpy_dtype(source.dtype)
    fields = [pa.field("prediction", _label_type(saved.classes))]
    if proba:
        fields += [pa.field(f"proba_{label}", number) for label in saved.classes.tolist()]
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
    batch: Batch, scores: Scores, labels: pa.Array, schema: pa.Schema
) -> pa.RecordBatch:
    columns = [] if batch.kept is None else list(batch.kept.columns)
    columns.append(labels.take(pa.array(scores.codes)))
    if scores.table is not None:
        number = schema.field(len(columns)).type
        table = np.asarray(scores.table, dtype=number.to_pandas_dtype())
        columns += [pa.array(np.ascontiguousarray(column)) for column in table.T]
    if scores.evidence is not None:
        columns.append(pa.array(np.asarray(scores.evidence, dtype=np.float64)))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


# ------------------------------------------------------------------ checks and messages


def _options(args: argparse.Namespace) -> tuple[str, dict[str, object]]:
    """The model type and its options that were given. Raises ValueError for one that it lacks."""
    kind = args.model_type
    if kind is None:
        kind = "GaussianNB" if args.categorical_features is None else "MixedNB"
    given = {
        name: getattr(args, name)
        for name in sorted({name for member in MEMBERS.values() for name in member.options})
        if getattr(args, name) is not None
    }
    member = MEMBERS[kind]
    for name in given:
        if name not in member.options:
            option = "categorical" if name == "categorical_features" else name.replace("_", "-")
            raise ValueError(f"--{option} is not an option of {kind}")
    if args.missing == "skip" and member.needs_full:
        raise ValueError(f"--missing skip is not an option of {kind}")
    member.check({**member.options, **given})
    return kind, given


def _marks(args: argparse.Namespace) -> tuple[str, ...] | str:
    """The columns that --categorical names."""
    given = args.categorical_features
    return given if isinstance(given, str) else tuple(given or ())


def _open_for(
    saved: SavedModel, args: argparse.Namespace, columns: Columns, outputs: int = 0
) -> RowSource:
    """Rows with the columns of a model, by name; those of .npy, which has none, by position.

    `outputs` is how many numbers each row is turned into: they take memory as features do.
    """
    paths = expand(args.data)
    names = saved.feature_names
    by_name = any(path.suffix.lower() != ".npy" for path in paths)
    if by_name and names is None:
        raise SourceError(
            f"{args.model}: this model was fitted without column names; give it .npy data"
        )
    if by_name:
        kinds = _kinds_of_categories(saved)
        columns = Columns(
            columns.target, columns.weight, names, (), columns.keep, tuple(kinds),
            {name: kind for name, kind in kinds.items() if kind},
            tuple(saved.classes.tolist()) if saved.classes.dtype.kind in "OU" else (),
        )  # fmt: skip
    elif "text" in _kinds_of_categories(saved).values():
        raise SourceError(f"{paths[0]}: .npy holds numbers, and the model has categories of text")
    target_npy = getattr(args, "target_npy", None)
    rows = args.batch_rows or rows_in_batch(saved.n_features + outputs, np.dtype(np.float64))
    source = open_rows(paths, columns, target_npy=target_npy, batch_rows=rows)
    if source.n_features != saved.n_features:
        raise SourceError(
            f"{source.paths[0]}: {source.n_features} columns, expected {saved.n_features}, "
            "those of the model"
        )
    if not by_name and names is not None:
        _note(args, "columns of .npy have no names and are taken in the order of the model")
    _check_labels(saved, source)
    return source


def _kinds_of_categories(saved: SavedModel) -> dict[str, str | None]:
    """The kind of categories, if known, of each categorical feature, by name or position."""
    if not isinstance(saved.stats, MixedStats):
        return {}
    names, kinds = saved.feature_names, {}
    at = np.flatnonzero(saved.stats.is_categorical).tolist()
    for j, labels in zip(at, saved.stats.categories, strict=True):
        kind = None if not len(labels) else "text" if labels.dtype.kind == "O" else "number"
        kinds[str(j) if names is None else names[j]] = kind
    return kinds


def _learned_columns(saved: SavedModel, args: argparse.Namespace) -> Columns:
    """Target and weight as given, else those of the files that the model learned from."""
    if args.target_npy is not None:
        return Columns()
    if args.target is None and saved.target is None:
        raise SourceError(
            f"{args.model}: does not know its target column; name it with --target, or give "
            "labels with --target-npy"
        )
    return Columns(args.target or saved.target, args.weight or saved.weight)


def _check_labels(saved: SavedModel, source: RowSource) -> None:
    """Labels of another kind than the model's are never equal to them: "1" is not 1."""
    kinds = {"b": "boolean", "i": "number", "u": "number", "f": "number"}
    kind = kinds.get(saved.classes.dtype.kind, "text")
    if source.target_kind not in (None, kind):
        example = source.target_example
        because = "" if example is None else f"; {example!r} is not spelled as a {kind} is"
        raise SourceError(
            f"{source.paths[0]}: the target holds labels of kind {source.target_kind}, "
            f"expected {kind}, as the model has{because}"
        )


def _check_output(output: str, data: Iterable[str], *others: str | None) -> None:
    """The output can be written, and is none of the inputs, which it would replace."""
    check_writable(output)
    apart = [pathlib.Path(other) for other in others if other is not None]
    for path in [*expand(data), *apart]:
        if is_same_file(path, output):
            raise SourceError(f"{output}: the output would replace an input")


@contextlib.contextmanager
def _located(batch: Batch) -> Iterator[None]:
    """Say in which file, column and row the values are that the library cannot take."""
    try:
        yield
    except NotFiniteError as error:
        raise batch.not_finite(error.row, error.column, error.value) from error
    except (TypeError, ValueError) as error:
        first, last = batch.row_number(0), batch.row_number(len(batch.X) - 1)
        raise SourceError(f"{batch.path}: rows {first} to {last}: {error}") from error


def _progress(source: RowSource, quiet: bool) -> Iterator[Batch]:
    """The batches, with a bar on a terminal: rows, rows/s, and the time left where known."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield from polled(source)
        return
    tqdm = require("tqdm").tqdm
    with tqdm(total=source.n_rows, unit=" rows", unit_scale=True, file=sys.stderr) as bar:
        for batch in polled(source):
            yield batch
            bar.update(len(batch.X))


def _note(args: argparse.Namespace, text: str) -> None:
    if not args.quiet:
        say(f"note: {text}")
