"""How a job reads its rows: the options that fit, update, predict and evaluate share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from .class_limit import MAX_CLASSES
from .progress import Progress

__all__ = ["LearnOptions", "Path", "ReadOptions"]

Path = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Which rows are read, and how.

    paths : files, and folders of files.
    target, weight : columns of labels and of weights. target_npy : a file of labels instead.
    drop_null_target : leave out rows without a label, which are an error otherwise.
    on_error : what happens to rows of values that the model cannot take.
    batch_rows : most rows in memory. progress : see `Progress`.
    """

    paths: Sequence[Path]
    target: str | None = None
    target_npy: Path | None = None
    weight: str | None = None
    drop_null_target: bool = False
    on_error: str = "fail"
    batch_rows: int | None = None
    progress: Progress = False


@dataclass(frozen=True, kw_only=True)
class LearnOptions(ReadOptions):
    """Which rows are learned, and how.

    again : learn files that were learned before. max_classes : most distinct labels.
    """

    again: bool = False
    max_classes: int = MAX_CLASSES
