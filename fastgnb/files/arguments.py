"""Arguments of the public functions, checked and in the shape that jobs take."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from ..model.family import default_member
from ..model.model import plain_options
from .jobs.choices import Choice
from .models.model_file import ModelFile, to_model
from .outputs import is_folder
from .tables.file_options import FileOptions
from .tables.formats import output_format

__all__ = [
    "Path", "as_names", "as_paths", "check_count", "check_ending", "check_one_of", "check_shard",
    "check_target", "choice_of", "file_options", "name_of_categorical", "opened",
]  # fmt: skip

Path = str | os.PathLike[str]


def as_paths(paths: Path | Iterable[Path]) -> list[Path]:
    """A list of paths, also of one. Raises ValueError where there is none."""
    out = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not out:
        raise ValueError("paths is empty, expected at least one file or folder.")
    return out


def as_names(names: str | Iterable[str], what: str) -> tuple[str, ...]:
    """Names of columns, also of one. Raises TypeError for others, such as positions."""
    out = (names,) if isinstance(names, str) else tuple(names)
    for name in out:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be names of columns, got {name!r}.")
    return out


def check_count(value: Any, name: str) -> None:
    """Raise ValueError unless a number of rows, classes or threads is None or 1 or more."""
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if value is not None and not (is_whole and value >= 1):
        raise ValueError(f"{name} must be a whole number, 1 or more, got {value!r}.")


def check_one_of(value: Any, choices: Sequence[str], name: str) -> None:
    """Raise ValueError for another text."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {list(choices)}, got {value!r}.")


def check_shard(shard: Any) -> tuple[int, int] | None:
    """The shard (i, n). Raises ValueError unless it is None or 1 <= i <= n."""
    if shard is None:
        return None
    i, n = shard if isinstance(shard, (tuple, list)) and len(shard) == 2 else (None, None)
    if type(i) is not int or type(n) is not int or not 1 <= i <= n:
        raise ValueError(f"shard must be (i, n) with 1 <= i <= n, got {shard!r}.")
    return i, n


def check_target(target: str | None, target_npy: Path | None, *, required: bool = False) -> None:
    """Raise ValueError where labels come from two places or, if required, from none."""
    if target is not None and target_npy is not None:
        raise ValueError("target and target_npy exclude each other.")
    if required and target is None and target_npy is None:
        raise ValueError("One of target and target_npy is required: where are the labels?")


def file_options(
    file_format: str | None, csv: Any, where: str | None, written: str | None = None
) -> FileOptions:
    """How files are read, and the format `written`. Raises ValueError or TypeError for others."""
    return FileOptions(format=file_format, csv=csv, where=where, output_format=written)


def check_ending(output: Path, given: str | None = None) -> None:
    """Raise ValueError for an output that is no folder, and no file of a known kind."""
    if not is_folder(output):
        output_format(output, given)


def opened(model: Any) -> ModelFile | Path:
    """A path as it is, and an estimator as a model file. Raises as `save` does."""
    if isinstance(model, (str, os.PathLike)):
        return model
    return ModelFile(to_model(model))


def name_of_categorical(model: Any, categorical: Any) -> tuple[str, ...] | str:
    """The categorical columns: those that are given, else those of an estimator, or "auto"."""
    if categorical is None:
        categorical = getattr(model, "categorical_features", None)
    if categorical is None or (isinstance(categorical, str) and categorical == "auto"):
        return categorical or ()
    return as_names(categorical, "Categorical features of files")


def choice_of(model: Any, categorical: tuple[str, ...] | str) -> Choice:
    """The member and options of an estimator, or of the simplest member if that is None."""
    if model is None:
        member, options = default_member(categories=bool(categorical)), {}
    else:
        member, options = model._member, model.get_params(deep=False)
    if categorical:
        if not member.has("categorical_features"):
            simplest = default_member(categories=True).name
            raise ValueError(f"{member.name} has no categorical features; take {simplest}.")
        spec = categorical if isinstance(categorical, str) else list(categorical)
        options = {**options, "categorical_features": spec}
    return Choice(member, plain_options(member, options))
