"""Single files of a set to files of predictions, which are planned together: one schema for all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..._system.remote.paths import AnyPath
from ...model.model import Model
from ..models.container import digest
from ..models.document import document_of
from ..models.learned import fingerprint
from ..models.tensors import tensors_of
from ..tables.batch import Batch, RowSource, stamp_of
from ..tables.columns import ColumnRoles
from .messages import Messages
from .model_rows import open_for
from .options import ReadOptions, plain_options
from .score_files import check_nulls
from .score_rows import bad_rows_of, predict_rows
from .unknown_categories import UnknownCategories

__all__ = ["Answers", "FileScorer", "FolderPlan", "options_of"]

T = TypeVar("T")

_APART = {"paths", "progress", "batch_rows"}
"""Options that do not change what is written."""


class Answers(NamedTuple):
    """What is written of each row, besides its prediction."""

    proba: bool = False
    evidence: bool = False
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class FolderPlan:
    """What is scored, and how: plain data, from which each process makes a `FileScorer`.

    names : of the outputs in `folder`, by their files. Some of these may be skipped.
    """

    folder: AnyPath
    names: Mapping[AnyPath, str]
    options: ReadOptions
    answers: Answers


class FileScorer:
    """Scores the files of a plan one by one. `title` is what messages call the model."""

    def __init__(self, model: Model, title: str, plan: FolderPlan, tell: Messages) -> None:
        self.model, self.title, self.plan = model, title, plan
        for name in plan.names.values():
            check_nulls(model, plan.folder / name, plan.options)
        outputs = len(model.classes) if plan.answers.proba else 0
        columns = ColumnRoles(keep=plan.answers.keep)
        self.source = open_for(model, title, columns, plan.options, tell, outputs=outputs)
        self.names = [plan.names[path] for path in self.source.paths]

    def score(
        self, at: int, report: Callable[[int], object] = lambda _: None
    ) -> tuple[dict[str, Any], list[str]]:
        """Write the output of a file. Returns its entry in the manifest, and what there is to say.

        Raises SourceError and OSError. `report` is told the number of rows of each batch.
        """
        made_from, name = self.made_from(at), self.names[at]
        output = self.plan.folder / name
        if isinstance(output, Path):
            output.parent.mkdir(parents=True, exist_ok=True)
        bad = bad_rows_of(self.model, self.plan.options.on_error, ("skip", "null"))
        unknown, before = UnknownCategories(self.model), self.source.n_filtered
        n_rows = predict_rows(
            self.model, _OneFile(self.source, at, report), output, proba=self.plan.answers.proba,
            evidence=self.plan.answers.evidence, bad=bad, unknown=unknown,
            written=self.plan.options.files.output_format,
        )  # fmt: skip
        written = {
            "rows": n_rows,
            "bad_rows": bad.n,
            "filtered_rows": self.source.n_filtered - before,
            "bytes": output.stat().st_size,
        }
        texts = [f"{self.source.paths[at]}: {text}" for text in unknown.texts()]
        return {"output": name, **made_from, **written}, texts

    def made_from(self, at: int) -> dict[str, Any]:
        """What says whether the output of a file would be the same again."""
        path = self.source.paths[at]
        plan = {name: v for name, v in self.source.plan_of(at).items() if name != "batch_rows"}
        found = fingerprint(path)
        return {
            "input": os.fspath(path),
            "size": found.size,
            "changed": stamp_of(path)[1],
            "sha256": found.digest,
            "plan": _digest(plan),
        }

    def model_digest(self) -> str:
        """A digest of the model, whatever wrote it and whatever it has learned."""
        text = json.dumps(document_of(self.model, None, None, {}), sort_keys=True)
        return digest(text, tensors_of(self.model))


def options_of(options: ReadOptions, answers: Answers) -> dict[str, Any]:
    """The options that decide what is written, as JSON holds them."""
    return {**plain_options(options, _APART), **answers._asdict()}


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=os.fspath)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class _OneFile(RowSource):
    """One file of a source, read as the source has planned."""

    def __init__(self, source: RowSource, at: int, report: Callable[[int], object]) -> None:
        super().__init__()
        self._source, self._at, self._report = source, at, report
        self.paths, self.n_rows = [source.paths[at]], None
        self.features, self.n_features = source.features, source.n_features
        self.dtype, self.batch_rows = source.dtype, source.batch_rows
        self.keep_schema = source.keep_schema

    def map_file(self, at: int, work: Callable[[Batch], T]) -> Iterator[T]:
        counted = self._source.map_file(self._at, lambda batch: (len(batch.X), work(batch)))
        for n_rows, result in counted:
            yield result
            self._report(n_rows)
