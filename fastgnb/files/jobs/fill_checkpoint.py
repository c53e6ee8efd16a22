"""Files to states in a checkpoint: in this process, in several, or one shard of many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...model.family import MEMBERS
from ..tables.batch import RowSource
from ..tables.columns import ColumnRoles
from ..tables.sources import open_source
from .bad_rows import BadRows
from .checkpoint import Checkpoint
from .choices import Choice
from .class_limit import ClassLimit
from .file_state import FileLearner, StatsKind
from .learn_rows import state_of
from .messages import Messages
from .options import LearnOptions
from .progress import reporting
from .workers import in_workers

__all__ = ["ShardDone", "checkpoint_of", "fill_checkpoint", "learner_of", "limit_of"]


class ShardDone(NamedTuple):
    """How many files there are, how many of them are of the shard, and were learned before."""

    n_files: int
    n_shard: int
    n_before: int


def learner_of(
    columns: ColumnRoles, choice: Choice, options: LearnOptions, source: RowSource
) -> FileLearner:
    """What learns the files of `source` for a member of the family."""
    kind = StatsKind(
        skip=choice.value("missing") == "skip",
        full=choice.member.needs_full_scatter,
        mixed=choice.member.takes_categories,
    )
    bad = BadRows(options.on_error, skip=kind.skip, can_skip=choice.member.has("missing"))
    limit = limit_of(options, columns.target, choice.value("priors"))
    automatic = columns.categorical == "auto"
    return FileLearner(source, kind, bad, limit, choice.value("max_categories"), automatic)


def limit_of(
    options: LearnOptions, target: str | None, priors: Any, known: np.ndarray | None = None
) -> ClassLimit:
    """How many classes there may be: as many as priors, where these are given."""
    n_priors = None if priors is None else len(priors)
    return ClassLimit(options.max_classes, n_priors=n_priors, target=target, known=known)


def checkpoint_of(options: LearnOptions, learner: FileLearner) -> Checkpoint:
    """The checkpoint of what `learner` learns. Raises OSError for no folder."""
    assert options.checkpoint is not None
    return Checkpoint(options.checkpoint, learner, options)


def fill_checkpoint(
    columns: ColumnRoles,
    choice: Choice,
    options: LearnOptions,
    checkpoint: Checkpoint,
    tell: Messages,
) -> ShardDone:
    """Learn files whose states are not there: those of a shard, or all in several processes.

    Without either it only counts them.
    """
    paths = checkpoint.learner.source.paths
    first, step = options.shard or (1, 1)
    positions = range(first - 1, len(paths), step)
    pending = [at for at in positions if not checkpoint.is_done(at)]
    done = ShardDone(len(paths), len(positions), len(positions) - len(pending))
    if done.n_before:
        tell.note(f"{done.n_before:,} of {len(positions):,} files were learned before")
    if options.workers is not None and pending:
        spec = columns, choice.member.name, choice.options, replace(options, progress=False)
        n = options.workers
        with reporting(checkpoint.learner.source.n_rows, options.progress) as report:
            for _, n_rows in in_workers(_start, spec, pending, n, lambda at: paths[at]):
                report(n_rows)
    elif options.shard is not None:
        with reporting(None, options.progress) as report:
            for at in pending:
                state_of(checkpoint.learner, at, checkpoint, report)
    return done


def _start(
    spec: tuple[ColumnRoles, str, dict[str, Any], LearnOptions],
) -> Callable[[int], int]:
    """What learns a file in a process of its own, and returns the number of its rows."""
    columns, name, given, options = spec
    choice = Choice(MEMBERS[name], given)
    source = open_source(
        options.paths, columns, target_npy=options.target_npy, batch_rows=options.batch_rows,
        options=options.files,
    )  # fmt: skip
    learner = learner_of(columns, choice, options, source)
    checkpoint = checkpoint_of(options, learner)

    def work(at: int) -> int:
        state = state_of(learner, at, checkpoint)
        return state.n_rows + state.n_bad

    return work
