"""Files to a model: what `fit` and `update` do, from the command line and from Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...model.findings import KeyWatch
from ...model.model import Model
from ..errors import SourceError
from ..models.container import check_no_table
from ..models.learned import check_once, joined
from ..models.model_file import ModelFile
from ..outputs import check_output
from ..phrases import listed
from ..tables.batch import RowSource
from ..tables.columns import ColumnRoles
from ..tables.sources import open_source
from .auto_columns import AutoColumns
from .bad_rows import RowCounts, left_out_texts
from .choices import Choice
from .class_limit import ClassLimit
from .fill_checkpoint import ShardDone, checkpoint_of, fill_checkpoint, learner_of, limit_of
from .findings import finding_texts
from .learn_rows import StatsKind, learn, learn_all
from .messages import Messages
from .model_rows import label_columns, open_for, read_model, tell_plan
from .options import LearnOptions, Path
from .repeated_files import (
    Fingerprints,
    first_files,
    new_files,
    warn_of_changes,
    warn_of_copies,
    with_rows,
)
from .score_rows import bad_rows_of

__all__ = ["Learned", "fit_files", "fit_shard", "update_files"]


class Learned(NamedTuple):
    """A model file, and what became of rows and columns.

    left_out : columns that are no features. new : classes that the model did not have.
    """

    saved: ModelFile
    counts: RowCounts
    left_out: tuple[str, ...] = ()
    new: tuple[Any, ...] = ()


def fit_files(
    columns: ColumnRoles,
    choice: Choice,
    options: LearnOptions,
    output: Path | None,
    tell: Messages,
) -> Learned:
    """A model of the rows of files, also written to `output` unless that is None."""
    _check_output(output, options)
    source = _plan(columns, choice, options, tell)
    with first_files(options, source) as fingerprints:
        return _fit(columns, choice, options, output, tell, source, fingerprints)


def _fit(
    columns: ColumnRoles,
    choice: Choice,
    options: LearnOptions,
    output: Path | None,
    tell: Messages,
    source: RowSource,
    fingerprints: Callable[[], Fingerprints],
) -> Learned:
    """`fit_files` of planned files, whose fingerprints are made meanwhile."""
    auto = AutoColumns(choice.value("max_categories")) if columns.categorical == "auto" else None
    learner, watch = learner_of(columns, choice, options, source), KeyWatch()
    checkpoint = None
    if options.checkpoint is not None:
        checkpoint = checkpoint_of(options, learner)
        fill_checkpoint(columns, choice, options, checkpoint, tell)
    stats = learn_all(
        learner, progress=options.progress if options.workers is None else False, watch=watch,
        auto=auto, checkpoint=checkpoint,
    )  # fmt: skip
    limit = learner.limit
    counts = RowCounts(limit.n_rows, source.n_dropped, learner.bad.n, source.n_filtered)
    if stats is None:
        texts = "".join(f"; {text}" for text in left_out_texts(counts, options.on_error))
        raise SourceError(f"{source.paths[0]}: no rows to fit{texts}")
    limit.check_priors(source.paths[0])
    files = fingerprints()
    learned = with_rows(files, limit)
    saved = ModelFile(choice.of(stats), columns.target, columns.weight, learned)
    if output is not None:
        saved.write(output)
    keys = auto.left_out if auto else []
    warn_of_copies(files, limit, tell)
    _tell_rows(saved.model, keys, watch, tell)
    return Learned(saved, counts, (*source.left_out, *keys))


def fit_shard(
    columns: ColumnRoles, choice: Choice, options: LearnOptions, tell: Messages
) -> ShardDone:
    """The states of some of the files, in a checkpoint; no model is made."""
    source = _plan(columns, choice, options, tell)
    checkpoint = checkpoint_of(options, learner_of(columns, choice, options, source))
    return fill_checkpoint(columns, choice, options, checkpoint, tell)


def _plan(columns: ColumnRoles, choice: Choice, options: LearnOptions, tell: Messages) -> RowSource:
    """The rows of the files. Raises ValueError where some would count twice."""
    source = open_source(
        options.paths, columns, target_npy=options.target_npy, batch_rows=options.batch_rows,
        options=options.files,
    )  # fmt: skip
    if not options.again:
        check_once(source.paths)
    _check_components(source, choice.value("n_components"))
    tell_plan(source, tell)
    return source


def update_files(
    model: ModelFile | Path, options: LearnOptions, output: Path | None, tell: Messages
) -> Learned:
    """The model with further rows, also written to `output` unless that is None."""
    _check_output(output, options)
    saved, name = read_model(model)
    before = saved.model
    columns = label_columns(saved, name, options)
    source = open_for(before, name, columns, options, tell)
    files = new_files(options, source, saved, name)
    bad = bad_rows_of(before, options.on_error)
    limit = limit_of(options, columns.target, before.options["priors"], before.classes)
    kind = StatsKind.like(before.stats, skip=before.missing == "skip")
    stats = learn(
        source, kind, before.stats, progress=options.progress, bad=bad, limit=limit,
        max_categories=before.options.get("max_categories"),
    )  # fmt: skip
    _check_target(saved, columns.target, limit, name, tell)
    learned = joined(saved.learned, with_rows(files, limit))
    updated = ModelFile(before.with_stats(stats), saved.target, saved.weight, learned)
    if output is not None:
        updated.write(output)
    warn_of_copies(files, limit, tell)
    if not options.again:
        warn_of_changes(saved.learned, files, limit, tell)
    counts = RowCounts(limit.n_rows, source.n_dropped, bad.n, source.n_filtered)
    return Learned(updated, counts, new=tuple(limit.new()))


def _check_output(output: Path | None, options: LearnOptions) -> None:
    if output is not None:
        check_output(output, [options.target_npy], options.paths, options.files.format)
        check_no_table(os.fspath(output))


def _check_components(source: RowSource, n_components: Any) -> None:
    """Raise SourceError for more axes than features."""
    if isinstance(n_components, int) and n_components > source.n_features:
        names = "" if source.features is None else f" ({listed(source.features)})"
        raise SourceError(
            f"--n-components: n_components={n_components} must be between 1 and "
            f"n_features={source.n_features}{names}"
        )


def _check_target(
    saved: ModelFile, target: str | None, limit: ClassLimit, name: str, tell: Messages
) -> None:
    """Another target than that of the model is a warning, and an error if it shares no label."""
    if None in (target, saved.target) or target == saved.target:
        return
    said = f"the target is {target!r}, but {name} has learned {saved.target!r}"
    if limit.is_all_new():
        raise SourceError(
            f"{said}, and no label is one of its classes: {listed(saved.model.classes.tolist())}"
        )
    tell.warning(f"{said}; the classes of both are taken for the same")


def _tell_rows(model: Model, keys: list[str], watch: KeyWatch, tell: Messages) -> None:
    """What the rows showed of columns: of those left out as `keys`, and of features."""
    for name in keys:
        tell.warning(
            f"left out, since it identifies rows: {name!r}; --exclude it, or name it in "
            "--categorical to take it"
        )
    others = None
    if model.member.takes_categories:
        others = np.flatnonzero(~model.stats.is_categorical)
    for text in finding_texts(model, watch.found(others)):
        tell.finding(text)
