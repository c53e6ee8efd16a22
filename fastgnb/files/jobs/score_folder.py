"""A model on files, with an output for each: what `predict` does with a folder as its output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ..._system.remote.paths import as_path
from ...model.model import Model
from ..models.container import unpack_bytes
from ..models.model_file import ModelFile, model_file_of
from ..outputs import is_folder, make_folder
from ..phrases import counted, listed
from .bad_rows import RowCounts
from .file_scorer import Answers, FileScorer, FolderPlan, options_of
from .folder_names import check_outside, output_names
from .manifest import Manifest
from .messages import Messages
from .model_rows import read_model
from .options import Path, ReadOptions
from .progress import reporting
from .score_files import Predicted, predict_files
from .workers import in_workers

__all__ = ["FolderDone", "predict_folder", "predict_into"]

Report = Callable[[int], object]
Scored = tuple[dict[str, Any], list[str]]
"""The entry of a file in the manifest, and what there is to say about its rows."""


class FolderDone(NamedTuple):
    """The model, rows written and left out over all files, and how many files were done before."""

    model: Model
    counts: RowCounts
    n_files: int
    n_before: int


def predict_into(
    model: ModelFile | Path,
    output: Path,
    options: ReadOptions,
    tell: Messages,
    answers: Answers,
    workers: int | None = None,
) -> Predicted | FolderDone:
    """Write answers to a file, or to a folder with a file for each input."""
    if is_folder(output):
        return predict_folder(model, output, options, tell, answers, workers=workers)
    if workers is not None:
        raise ValueError(
            f"{os.fspath(output)}: workers write to a folder, a file for each input; end its name "
            "in a slash"
        )
    return predict_files(model, output, options, tell, **answers._asdict())


def predict_folder(
    model: ModelFile | Path,
    folder: Path,
    options: ReadOptions,
    tell: Messages,
    answers: Answers,
    *,
    workers: int | None = None,
) -> FolderDone:
    """Write answers for the rows of each file to a file of its own in `folder`.

    Files that an earlier run has finished, with the same model and options, are skipped. So a run
    that has failed keeps what it has done.
    """
    named = output_names(options.paths, options.files)
    check_outside(as_path(folder), options.paths, named.values(), options.files.format)
    saved, title = read_model(model)
    plan = FolderPlan(as_path(folder), named, replace(options, progress=False), answers)
    scorer = FileScorer(saved.model, title, plan, tell)
    make_folder(folder)
    manifest = Manifest(plan.folder, scorer.model_digest(), options_of(options, answers))
    _tell_others(manifest, scorer, tell)
    done, names = _done_before(scorer, manifest), scorer.names
    pending = [at for at, name in enumerate(names) if name not in done]
    n_before = len(done)
    with reporting(scorer.source.n_rows, options.progress) as report, _kept(manifest):
        if done:
            report(sum(entry["rows"] for entry in done.values()))
        for entry, texts in _scored(scorer, saved, pending, workers, report):
            manifest.add(entry)
            done[entry["output"]] = entry
            for text in texts:
                tell.finding(text)
    manifest.write(final=True)
    rows, bad, filtered = (
        sum(entry[name] for entry in done.values())
        for name in ("rows", "bad_rows", "filtered_rows")
    )
    counts = RowCounts(rows, n_bad_rows=bad, n_filtered=filtered)
    return FolderDone(saved.model, counts, len(names), n_before)


def _tell_others(manifest: Manifest, scorer: FileScorer, tell: Messages) -> None:
    """What becomes of predictions of another model, or with other options."""
    if not manifest.others:
        return
    folder = scorer.plan.folder
    tell.note(f"{folder}: predictions of another model or with other options are replaced")
    if stay := [name for name in manifest.others if name not in set(scorer.names)]:
        tell.warning(
            f"{folder}: {counted(len(stay), 'file')} of another model or of other options stay "
            f"there, and should be deleted: {listed(stay)}"
        )


def _done_before(scorer: FileScorer, manifest: Manifest) -> dict[str, dict[str, Any]]:
    """The entries of files that are finished, by the names of their outputs."""
    done = {}
    for at, name in enumerate(scorer.names):
        if name in manifest:
            entry = manifest.done(scorer.made_from(at), name)
            if entry is not None:
                done[name] = entry
    return done


@contextlib.contextmanager
def _kept(manifest: Manifest) -> Iterator[None]:
    """Write the manifest of what is done where the rest fails."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # a full disk is told of the output
            manifest.write()
        raise


def _scored(
    scorer: FileScorer, saved: ModelFile, pending: list[int], workers: int | None, report: Report
) -> Iterator[Scored]:
    """Score files, here or in several processes."""
    if workers is None:
        for at in pending:
            yield scorer.score(at, report)
        return
    paths = scorer.source.paths
    spec = saved.to_bytes(), scorer.title, scorer.plan
    for _, scored in in_workers(_start, spec, pending, workers, lambda at: paths[at]):
        report(scored[0]["rows"])
        yield scored


def _start(spec: tuple[bytes, str, FolderPlan]) -> Callable[[int], Scored]:
    """What scores a file in a process of its own. The first process has told of the plan."""
    data, title, plan = spec
    silent = Messages(*[lambda _: None] * 3)
    return FileScorer(model_file_of(unpack_bytes(data)).model, title, plan, silent).score
