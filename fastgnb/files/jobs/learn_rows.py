"""Rows of files to statistics: what `fit` and `update` do between two model files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..._system.remote.paths import AnyPath
from ...model.findings import KeyWatch
from ..errors import SourceError
from ..tables.batch import RowSource
from .auto_columns import AutoColumns
from .bad_rows import BadRows
from .checkpoint import Checkpoint
from .class_limit import ClassLimit
from .file_state import FileLearner, FileState, StatsKind
from .progress import Progress, reporting
from .total import Total

__all__ = ["StatsKind", "learn", "learn_all", "state_of"]


def learn(
    source: RowSource,
    kind: StatsKind,
    stats: Any = None,
    *,
    progress: Progress = False,
    bad: BadRows | None = None,
    limit: ClassLimit | None = None,
    watch: KeyWatch | None = None,
    max_categories: int | None = None,
    auto: AutoColumns | None = None,
) -> Any:
    """Statistics of `stats` and every row of `source`; None where there is neither.

    `bad` says what happens to rows that cannot be taken, `limit` how many classes there may be,
    `watch` looks at the rows that are taken, `auto` leaves columns out. Raises SourceError, too, at
    about the batch that makes more than max_categories of a feature. Cost: linear in the rows.

    Statistics of batches are added by the tree of `fastgnb.merge` within each file, and those of
    files by the same tree.
    """
    bad = bad or BadRows("fail", skip=kind.skip, can_skip=not kind.full)
    limit = limit or ClassLimit(known=None if stats is None else stats.classes)
    learner = FileLearner(source, kind, bad, limit, max_categories, auto is not None)
    return learn_all(learner, stats, progress=progress, watch=watch, auto=auto)


def learn_all(
    learner: FileLearner,
    stats: Any = None,
    *,
    progress: Progress = False,
    watch: KeyWatch | None = None,
    auto: AutoColumns | None = None,
    checkpoint: Checkpoint | None = None,
) -> Any:
    """`learn` with what learns single files, and perhaps a checkpoint that keeps their states."""
    source = learner.source
    source.n_dropped = source.n_filtered = 0
    total = Total(learner.max_categories, auto)
    with reporting(source.n_rows, progress) as report:
        for at, path in enumerate(source.paths):
            state = state_of(learner, at, checkpoint, report)
            if watch is not None:
                watch.extend(state.watch)
            if auto is not None:
                auto.extend(state.left_out, state.values)
            with _prefixed(path):
                total.add(state.stats)
    with _prefixed(source.paths[-1]):
        return _with(stats, total, source, auto)


def state_of(
    learner: FileLearner,
    at: int,
    checkpoint: Checkpoint | None,
    report: Callable[[int], object] = lambda _: None,
) -> FileState:
    """The state of a file: that of an earlier run, or of its rows."""
    if checkpoint is None:
        return learner.learn(at, report)
    state = checkpoint.load(at)
    if state is None:
        state = learner.learn(at, report)
        checkpoint.save(at, state)
    else:
        learner.recall(at, state)
        report(state.n_rows + state.n_bad)
    return state


@contextlib.contextmanager
def _prefixed(path: AnyPath) -> Iterator[None]:
    """Say at which file statistics cannot be added."""
    try:
        yield
    except SourceError:
        raise
    except (TypeError, ValueError) as error:
        raise SourceError(f"{path}: {error}") from error


def _with(stats: Any, total: Total, source: RowSource, auto: AutoColumns | None) -> Any:
    """The sum of all files, and of `stats` before them."""
    result = total.result()
    if result is not None and auto is not None:
        auto.decide(result)
        result = auto.without(result)
        auto.check(result.n_features, source.paths[0])
    if stats is None or result is None:
        return result if stats is None else stats
    return total.sum(stats, result)
