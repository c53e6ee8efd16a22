"""`fit_stats` and `predict_stream`: Arrow streams of any engine, to statistics and to answers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._system import thread_limits
from .._system.optional import pa
from ..input.labels import classes_of
from ..input.rows import check_missing
from ..stats.class_stats import ClassStats
from ..stats.mixed_stats import MixedStats
from .arguments import as_names, as_paths, check_count, check_one_of, file_options, opened
from .jobs.auto_columns import AutoColumns
from .jobs.bad_rows import BadRows
from .jobs.class_limit import ClassLimit
from .jobs.learn_rows import StatsKind, learn
from .jobs.messages import collect_messages
from .jobs.model_rows import read_model, stream_for, tell_plan
from .jobs.progress import Progress
from .jobs.score_rows import answers_of, bad_rows_of, label_values, output_schema
from .jobs.unknown_categories import UnknownCategories
from .tables.arrow_rows import ArrowRows
from .tables.batch import RowSource
from .tables.columns import ColumnRoles
from .tables.csv_dialect import CsvDialect
from .tables.file_options import FileOptions
from .tables.sources import open_source

__all__ = ["fit_stats", "predict_stream"]


def fit_stats(
    data: Any,
    *,
    target: str,
    weight: str | None = None,
    features: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] = (),
    categorical: str | Iterable[str] | None = None,
    missing: str = "error",
    scatter: str = "diag",
    classes: Any = None,
    drop_null_target: bool = False,
    on_error: str = "fail",
    max_classes: int = 10_000,
    max_categories: int | None = 50_000,
    where: str | None = None,
    file_format: str | None = None,
    csv: CsvDialect | dict[str, Any] | None = None,
    batch_rows: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> ClassStats | MixedStats:
    """Make statistics of the rows of files, or of an Arrow stream, in one pass.

    Any member of the family can be estimated from them: see ``GaussianNB.fit_stats``. Statistics of
    several streams are merged by `fastgnb.merge`.

    Parameters
    ----------
    data : path, list of path, or Arrow stream
        Parquet, CSV or Arrow IPC files and folders of them, or what `Batches` takes: tables, record
        batches, data frames, a Polars ``LazyFrame``, a DuckDB relation.
    target : str
        Column of labels.
    weight : str, default=None
        Column of row weights.
    features : str or iterable of str, default=None
        Columns that are features. By default every numeric or boolean column that has no other
        use, and the categorical ones.
    exclude : str or iterable of str, default=()
        Columns that are no features.
    categorical : str or iterable of str, default=None
        Columns that hold categories, or "auto": every column of text, booleans or a dictionary
        type, except those that identify rows.
    missing : {"error", "skip"}, default="error"
        Whether missing values are an error, or left out of the sums of their feature.
    scatter : {"diag", "full"}, default="diag"
        Whether to sum squares of features, or their products too, which `GaussianBayes` and
        `PCAGaussianNB` need.
    classes : array-like of shape (n_classes,), default=None
        Labels that may occur. Others are an error, and those without rows are classes, too.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    on_error : {"fail", "skip"}, default="fail"
        What happens to rows with infinities and, unless these are skipped, missing values.
    max_classes : int, default=10000
        Most distinct labels.
    max_categories : int, default=50000
        Most categories of a feature; None for any number.
    where, file_format, csv : str, str and CsvDialect, default=None
        Which rows of files are read, and how these are written; see `fit`. Streams are filtered by
        the engine that they come from.
    batch_rows : int, default=None
        Most rows in memory. By default what 8 MB of features hold.
    threads : int, default=None
        Most threads. By default one for each core.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fit`.

    Returns
    -------
    ClassStats or MixedStats
        Statistics of all rows; `MixedStats` if `categorical` is given. Without rows, statistics of
        no class, or of `classes`.

    Raises
    ------
    SourceError
        If the rows cannot be used. The message names file or stream, column and row, and the cause
        is what a stream raised.
    ValueError
        If an argument is wrong.
    TypeError
        If `data` is neither paths nor a stream of Arrow data.

    See Also
    --------
    fit : Fit an estimator to files.
    predict_stream : Score an Arrow stream.
    fastgnb.merge : Merge statistics.

    Notes
    -----
    Rows of each file, or of the stream, are cut every `batch_rows` rows, and their statistics are
    merged by the tree of `fastgnb.merge`. So the same rows give the same bits in files of any
    format, and in streams, however an engine delivers them. Memory is that of a few batches.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastgnb import GaussianNB, files
    >>> table = pa.table({"x": [1.0, 2.0, 5.0, 6.0], "y": ["a", "a", "b", "b"]})
    >>> stats = files.fit_stats(table.to_batches(max_chunksize=1), target="y")
    >>> GaussianNB().fit_stats(stats).theta_.tolist()
    [[1.5], [5.5]]
    """
    check_one_of(on_error, ("fail", "skip"), "on_error")
    check_one_of(scatter, ("diag", "full"), "scatter")
    if categorical is not None and scatter == "full":
        raise ValueError("scatter must be 'diag' where there are categorical columns.")
    if features is not None and exclude:
        raise ValueError("features and exclude exclude each other.")
    counts = {"max_classes": max_classes, "batch_rows": batch_rows, "threads": threads}
    for name, count in {**counts, "max_categories": max_categories}.items():
        check_count(count, name)
    options = file_options(file_format, csv, where)
    kind = StatsKind(check_missing(missing), scatter == "full", categorical is not None)
    only = None if classes is None else classes_of(classes)
    roles = ColumnRoles(
        as_name(target, "target"), None if weight is None else as_name(weight, "weight"),
        None if features is None else as_names(features, "features"), as_names(exclude, "exclude"),
        categorical=_categorical(categorical), drop_null_target=drop_null_target,
    )  # fmt: skip
    with thread_limits.threads(threads), collect_messages() as tell:
        source = _source(data, roles, batch_rows, options)
        tell_plan(source, tell)
        stats = learn(
            source, kind, progress=progress, max_categories=max_categories,
            bad=BadRows(on_error, skip=kind.skip, can_skip=True),
            limit=ClassLimit(max_classes, target=target, only=only),
            auto=AutoColumns(max_categories) if roles.categorical == "auto" else None,
        )  # fmt: skip
    return _without_rows(source, kind, only) if stats is None else stats


def as_name(name: Any, what: str) -> str:
    """The name of one column. Raises TypeError for anything else."""
    if not isinstance(name, str):
        raise TypeError(f"{what} must be the name of a column, got {name!r}.")
    return name


def _categorical(categorical: str | Iterable[str] | None) -> tuple[str, ...] | str:
    if categorical is None or categorical == "auto":
        return categorical or ()
    return as_names(categorical, "categorical")


def _source(
    data: Any, roles: ColumnRoles, batch_rows: int | None, options: FileOptions
) -> RowSource:
    """The rows of paths or of a stream. A list that holds anything but paths is a stream."""
    is_path = isinstance(data, (str, os.PathLike))
    if is_path or (isinstance(data, (list, tuple)) and data and all(map(_is_path, data))):
        return open_source(as_paths(data), roles, batch_rows=batch_rows, options=options)
    if options != FileOptions():
        raise ValueError("where, file_format and csv are for files; filter a stream at its source.")
    return ArrowRows(data, roles, batch_rows=batch_rows)


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _without_rows(source: RowSource, kind: StatsKind, only: Any) -> ClassStats | MixedStats:
    """Statistics of the features of a source, without rows."""
    X, y = np.empty((0, source.n_features)), np.empty(0, np.int64 if only is None else only.dtype)
    options: dict[str, Any] = {
        "classes": only, "missing": "skip" if kind.skip else "error",
        "feature_names": source.features,
    }  # fmt: skip
    if kind.mixed:
        return MixedStats.from_rows(X, y, categorical_features=source.is_categorical, **options)
    return ClassStats.from_rows(X, y, scatter="full" if kind.full else "diag", **options)


def predict_stream(
    model: Any,
    stream: Any,
    *,
    features: str | Iterable[str] | None = None,
    proba: bool = False,
    evidence: bool = False,
    keep: str | Iterable[str] = (),
    on_error: str = "fail",
    batch_rows: int | None = None,
    threads: int | None = None,
) -> pa.RecordBatchReader:
    """Score the rows of an Arrow stream as they are asked for.

    Nothing is read before the first batch of the result is, but what tells the columns: the first
    batch of a stream that has no schema.

    Parameters
    ----------
    model : estimator or path
        A fitted estimator, or a model file.
    stream : Arrow stream
        What `Batches` takes: tables, record batches, data frames, a Polars ``LazyFrame``, a DuckDB
        relation. Columns are matched by name, and others are ignored.
    features : str or iterable of str, default=None
        Columns that are the features of the model, in its order. By default those of its names;
        required for a model that was fitted without names.
    proba : bool, default=False
        Add a column ``proba_<class>`` for each class.
    evidence : bool, default=False
        Add log p(x) as a column ``log_evidence``.
    keep : str or iterable of str, default=()
        Columns of the stream to copy.
    on_error : {"fail", "null", "skip"}, default="fail"
        What happens to rows with values that the model cannot take: raise, give them nulls, or
        leave them out.
    batch_rows : int, default=None
        Most rows in a batch. By default what 8 MB of features and probabilities hold.
    threads : int, default=None
        Most threads. By default one for each core.

    Returns
    -------
    pyarrow.RecordBatchReader
        The kept columns and a column ``prediction``, and those that were asked for. Other libraries
        read it by ``__arrow_c_stream__``.

    Raises
    ------
    SourceError
        If the stream lacks a column or has one of another type. While reading, also for values that
        the model cannot take, and where the stream fails: the cause is what it raised.
    ModelFileError
        If the model file is not valid.
    ValueError
        If an argument is wrong.

    Warns
    -----
    UserWarning
        After the last batch, for a column of categories none of which the model knows.

    See Also
    --------
    predict : Score files into a file.
    fit_stats : Learn from an Arrow stream.

    Notes
    -----
    Memory: one batch, its answers, and the current batch of the stream. Each row has the answers
    that the estimator gives it, to the bit.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastgnb import GaussianNB, files
    >>> table = pa.table({"x": [1.0, 2.0, 5.0, 6.0], "y": ["a", "a", "b", "b"]})
    >>> model = GaussianNB().fit_stats(files.fit_stats(table, target="y"))
    >>> reader = files.predict_stream(model, table.to_batches(max_chunksize=1), keep="x")
    >>> reader.read_all().to_pydict()
    {'x': [1.0, 2.0, 5.0, 6.0], 'prediction': ['a', 'a', 'b', 'b']}
    """
    check_one_of(on_error, ("fail", "null", "skip"), "on_error")
    check_count(batch_rows, "batch_rows")
    check_count(threads, "threads")
    fitted = read_model(opened(model))[0].model
    columns = ColumnRoles(keep=as_names(keep, "keep"))
    names = None if features is None else as_names(features, "features")
    outputs = len(fitted.classes) if proba else 0
    source = stream_for(
        fitted, stream, columns, features=names, outputs=outputs, batch_rows=batch_rows
    )
    schema = output_schema(fitted, source, proba=proba, evidence=evidence)
    labels = label_values(fitted, schema)
    bad = bad_rows_of(fitted, on_error, ("skip", "null"))

    def answers() -> Iterator[pa.RecordBatch]:
        unknown = UnknownCategories(fitted)
        for batch in source:
            with thread_limits.threads(threads):
                taken, part = answers_of(
                    fitted, batch, schema, labels, proba=proba, evidence=evidence, bad=bad
                )
            unknown.look(taken)
            if part is not None:
                yield part
        for text in unknown.texts():
            warnings.warn(text, UserWarning, stacklevel=2)

    return pa.RecordBatchReader.from_batches(schema, answers())
