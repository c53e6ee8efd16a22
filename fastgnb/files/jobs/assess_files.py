"""A model's evaluation and the diagnosis of its assumptions, from one pass over files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..._system.remote.paths import AnyPath
from ...diagnosis.diagnoser import Diagnoser
from ...diagnosis.diagnosis import Diagnosis
from ...diagnosis.second_look import Batch as Rows
from ...diagnosis.second_look import second_look
from ...evaluation.evaluation import Evaluation
from ...model.model import Model
from ..models.learned import LearnedFile, fingerprint
from ..models.model_file import ModelFile
from ..phrases import counted
from ..tables.batch import Batch, RowSource
from .bad_rows import BadRows, RowCounts, bad_mask
from .findings import finding_texts
from .messages import Messages
from .model_rows import label_columns, name_of_target, open_for, read_model
from .options import Path, ReadOptions
from .progress import with_progress
from .score_rows import bad_rows_of, evaluate_rows
from .unknown_categories import UnknownCategories

__all__ = ["Assessed", "FileFacts", "assess_files"]


class FileFacts(NamedTuple):
    """A file of rows: its path, size in bytes, time of its last change in seconds since 1970, rows
    that were compared, and whether the model has learned it."""

    name: str
    size: int
    modified: float
    n_rows: int
    was_learned: bool


class Assessed(NamedTuple):
    """What one pass says of a model.

    name : what the model is called. diagnosis : or why there is none. target,
    weight : where labels and weights come from. findings : what is odd, as sentences.
    """

    saved: ModelFile
    name: str
    evaluation: Evaluation
    diagnosis: Diagnosis | str
    counts: RowCounts
    files: tuple[FileFacts, ...]
    target: str
    weight: str | None
    findings: tuple[str, ...]


class _Observer:
    """Looks at the rows that were scored: counts those of each file, and diagnoses them."""

    def __init__(self, model: Model) -> None:
        self.counts: dict[AnyPath, int] = {}
        self.diagnoser: Diagnoser | None = None
        self.reason = ""
        try:
            self.diagnoser = Diagnoser(model)
        except ValueError as error:  # no continuous feature, or too many classes and features
            self.reason = str(error)

    def __call__(self, batch: Batch) -> None:
        self.counts[batch.path] = self.counts.get(batch.path, 0) + len(batch.X)
        if self.diagnoser is not None:
            self.diagnoser.update(*_rows_of(batch))

    def diagnosis(self, again: Callable[[], Iterator[Batch]]) -> Diagnosis | str:
        """What was found, or why there is nothing. `again` gives the same rows once more."""
        if self.diagnoser is None:
            return self.reason
        return second_look(self.diagnoser, lambda: map(_rows_of, again()))


def _rows_of(batch: Batch) -> Rows:
    assert batch.y is not None
    return batch.X, batch.y, batch.weight


def assess_files(model: ModelFile | Path, options: ReadOptions, tell: Messages) -> Assessed:
    """Compare predictions with labels, and diagnose what the model assumes.

    Both take one pass. A second one compares other models on rows that these have not learned.
    """
    saved, name = read_model(model)
    fitted = saved.model
    columns = label_columns(saved, name, options, weight=options.weight is not None)
    source = open_for(fitted, name, columns, options, tell, outputs=len(fitted.classes))
    bad, unknown = bad_rows_of(fitted, options.on_error), UnknownCategories(fitted)
    observer = _Observer(fitted)
    evaluation = evaluate_rows(
        fitted, source, progress=options.progress, bad=bad, target=name_of_target(saved, options),
        unknown=unknown, observe=observer,
    )  # fmt: skip
    n_null = source.n_dropped
    findings = [*unknown.texts(), *_unseen_text(evaluation)]
    for text in findings:
        tell.finding(text)
    diagnosis = observer.diagnosis(lambda: _again(fitted, source, options, bad))
    evaluation = replace(evaluation, n_skipped=bad.n, n_null_labels=n_null)
    counts = RowCounts(evaluation.n_rows, n_null, bad.n, source.n_filtered)
    return Assessed(
        saved, name, evaluation, diagnosis, counts,
        _file_facts(source.paths, observer.counts, saved.learned, options.target_npy),
        os.fspath(options.target_npy or columns.target or ""), columns.weight,
        (*findings, *finding_texts(fitted)),
    )  # fmt: skip


def _again(model: Model, source: RowSource, options: ReadOptions, bad: BadRows) -> Iterator[Batch]:
    """The rows that were scored, read once more."""
    for batch in with_progress(source, options.progress):
        yield batch.select(~bad_mask(batch, skip=model.missing == "skip")) if bad.n else batch


def _unseen_text(evaluation: Evaluation) -> list[str]:
    if not evaluation.n_unseen:
        return []
    rows = counted(evaluation.n_unseen, "row")
    total = f"{evaluation.n_rows:,}"
    return [f"{rows} of {total} with labels that the model does not know: wrong"]


def _file_facts(
    paths: Sequence[AnyPath],
    rows: dict[AnyPath, int],
    learned: Sequence[LearnedFile],
    target_npy: Path | None,
) -> tuple[FileFacts, ...]:
    digests = {file.digest for file in learned}
    facts = []
    for path in paths:
        state = path.stat()
        was_learned = bool(digests) and fingerprint(path, target_npy).digest in digests
        facts.append(
            FileFacts(
                os.fspath(path), state.st_size, state.st_mtime, rows.get(path, 0), was_learned
            )
        )
    return tuple(facts)
