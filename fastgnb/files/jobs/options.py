"""How a job reads its rows: the options that fit, update, predict and evaluate share."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any

from ..tables.file_options import FileOptions
from .class_limit import MAX_CLASSES
from .progress import Progress

__all__ = ["EvaluateOptions", "LearnOptions", "Path", "ReadOptions", "plain_options"]

Path = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Which rows are read, and how.

    paths : files, and folders of files.
    target, weight : columns of labels and of weights. target_npy : a file of labels instead.
    drop_null_target : leave out rows without a label, which are an error otherwise.
    on_error : what happens to rows of values that the model cannot take.
    batch_rows : most rows in memory. progress : see `Progress`.
    files : how the files are read.
    """

    paths: Sequence[Path]
    target: str | None = None
    target_npy: Path | None = None
    weight: str | None = None
    drop_null_target: bool = False
    on_error: str = "fail"
    batch_rows: int | None = None
    progress: Progress = False
    files: FileOptions = field(default_factory=FileOptions)

    def __post_init__(self) -> None:
        """Raise TypeError for columns that are not named."""
        for role, name in (("target", self.target), ("weight", self.weight)):
            if name is not None and not isinstance(name, str):
                raise TypeError(f"{role} must be the name of a column, got {name!r}.")


@dataclass(frozen=True, kw_only=True)
class LearnOptions(ReadOptions):
    """Which rows are learned, and how.

    again : learn files that were learned before. max_classes : most distinct labels.
    checkpoint : a folder of states of files. shard : (i, n), learn the i-th of each n files, from
    1, for the checkpoint alone. workers : processes that learn files for the checkpoint.
    """

    again: bool = False
    max_classes: int = MAX_CLASSES
    checkpoint: Path | None = None
    shard: tuple[int, int] | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for options that need a checkpoint, and TypeError for columns that are
        not named."""
        super().__post_init__()
        for name, value in (("shard", self.shard), ("workers", self.workers)):
            if value is not None and self.checkpoint is None:
                raise ValueError(f"{name} needs a checkpoint: a folder that the processes share.")


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(ReadOptions):
    """Which rows are compared with their labels, and how.

    thresholds : cut-offs of the probability at which rates are counted, besides those of percents.
    """

    thresholds: Sequence[float] | None = None


def plain_options(options: ReadOptions, apart: Collection[str]) -> dict[str, Any]:
    """The options as JSON holds them, apart from some."""
    given = {f.name: getattr(options, f.name) for f in fields(options) if f.name not in apart}
    return {
        name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
        for name, value in given.items()
    }
