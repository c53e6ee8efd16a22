"""Models to one model: what `merge` and `reestimate` do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ...stats.feature_order import feature_name_differences, reorder_features
from ...stats.mixed_stats import MixedStats
from ..models.container import check_no_table
from ..models.learned import LearnedFile, check_new, joined
from ..models.model_file import ModelFile, read
from ..outputs import check_output
from ..phrases import listed
from .choices import check_allowed, check_priors, choose, differing, option_of
from .messages import Messages

__all__ = ["merge_models", "reestimate_model"]

Path = str | os.PathLike[str]


def merge_models(
    models: Sequence[ModelFile | Path],
    given: Mapping[str, Any],
    model_type: str | None,
    output: Path | None,
    tell: Messages,
    *,
    again: bool = False,
) -> ModelFile:
    """The model of the rows of all models, as if trained on them at once.

    given, model_type : parameters and member of the merged model, see `choose`. output : where it
    is written, too, unless that is None. again : merge models that have learned the same files.
    """
    _check_output(output, models)
    names = _names(models)
    saved = [model if isinstance(model, ModelFile) else read(model) for model in models]
    _check_targets(saved, names)
    _check_differing(given, model_type, saved, names)
    choice = choose(given, model_type, saved[0].model)
    parts = _alike(saved)
    for name, part in zip(names, parts, strict=True):
        check_allowed(choice.member.name, part, name)
    learned = _learned(saved, names, again=again)
    stats = _sum(parts, names)
    check_priors(choice, stats)
    merged = ModelFile(choice.of(stats), saved[0].target, saved[0].weight, learned)
    if output is not None:
        merged.write(output)
    for text in _other_targets(saved, names).values():
        tell.warning(f"{text}; the classes of both are taken for the same")
    _warn_of_names(saved, names, tell)
    return merged


def reestimate_model(
    model: Path, given: Mapping[str, Any], model_type: str | None, output: Path
) -> ModelFile:
    """The model of the same statistics with other parameters, which is written to `output`."""
    _check_output(output, [model])
    saved = read(model)
    stats = saved.model.stats
    choice = choose(given, model_type, saved.model)
    check_allowed(choice.member.name, stats, os.fspath(model))
    check_priors(choice, stats)
    made = ModelFile(choice.of(stats), saved.target, saved.weight, saved.learned)
    made.write(output)
    return made


# ------------------------------------------------------------------ statistics


def _alike(models: Sequence[ModelFile]) -> list[Any]:
    """The statistics of models, of one kind of scatter: full where all have it."""
    every = [saved.model.stats for saved in models]
    full = [getattr(stats, "covariance", None) is not None for stats in every]
    return [
        stats.to_diag() if is_full and not all(full) else stats
        for stats, is_full in zip(every, full, strict=True)
    ]


def _sum(parts: Sequence[Any], names: Sequence[str]) -> Any:
    stats = parts[0]
    for name, part in zip(names[1:], parts[1:], strict=True):
        other = _in_order_of(stats, part, names[0], name)
        try:
            stats = stats + other
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from error
    return stats


def _in_order_of(stats: Any, other: Any, here: str, there: str) -> Any:
    """The other statistics, with features in the order of the first ones.

    Raises ValueError where there are others.
    """
    names = stats.feature_names
    if names is None or other.feature_names is None:
        return other
    missing, strange = feature_name_differences(stats, other)
    if missing or strange:
        only = [
            f"only in {name}: {listed(features)}"
            for name, features in ((here, missing), (there, strange))
            if features
        ]
        raise ValueError(f"{there}: its features are others; {'; '.join(only)}")
    moved = other if names == other.feature_names else reorder_features(other, names)
    if isinstance(stats, MixedStats) and isinstance(moved, MixedStats):
        _check_kinds(stats, moved, here, there)
    return moved


def _check_kinds(stats: MixedStats, other: MixedStats, here: str, there: str) -> None:
    """Raise ValueError where a feature is categorical in one model only."""
    names = stats.feature_names or ()
    for name, a, b in zip(names, stats.is_categorical, other.is_categorical, strict=True):
        if a != b:
            raise ValueError(f"{there}: {name!r} is categorical in {here if a else there} only")


# ------------------------------------------------------------------ checks and warnings


def _names(models: Sequence[ModelFile | Path]) -> list[str]:
    """What messages call the models: by their files, else by their numbers from 1."""
    return [
        f"model {i} ({model.model.member.name})"
        if isinstance(model, ModelFile)
        else os.fspath(model)
        for i, model in enumerate(models, 1)
    ]


def _check_output(output: Path | None, models: Sequence[ModelFile | Path]) -> None:
    if output is not None:
        check_output(output, [model for model in models if not isinstance(model, ModelFile)])
        check_no_table(output)


def _learned(
    models: Sequence[ModelFile], names: Sequence[str], *, again: bool
) -> tuple[LearnedFile, ...]:
    """Fingerprints of all files. Raises ValueError where some would count twice."""
    learned = models[0].learned
    for name, saved in zip(names[1:], models[1:], strict=True):
        if not again:
            check_new(learned, saved.learned, name, what="learned, as a model before it has,")
        learned = joined(learned, saved.learned)
    return learned


def _check_differing(
    given: Mapping[str, Any],
    model_type: str | None,
    models: Sequence[ModelFile],
    names: Sequence[str],
) -> None:
    """Raise ValueError where parameters differ, which only the caller can decide."""
    parts = []
    for name, values in differing(given, model_type, [saved.model for saved in models]).items():
        other = next(i for i, value in enumerate(values) if value != values[0])
        parts.append(
            f"{names[other]}: {name} is {values[other]!r}, but {values[0]!r} in {names[0]}, choose "
            f"with {option_of(name)}"
        )
    if parts:
        raise ValueError("; ".join(parts))


def _check_targets(models: Sequence[ModelFile], names: Sequence[str]) -> None:
    """Raise ValueError where another target shares no class either with that of the first."""
    classes = models[0].model.classes.tolist()
    for i, text in _other_targets(models, names).items():
        if set(classes).isdisjoint(models[i].model.classes.tolist()):
            raise ValueError(f"{text}, and they share no class: {listed(classes)} in the first")


def _other_targets(models: Sequence[ModelFile], names: Sequence[str]) -> dict[int, str]:
    """What to say of models with another target than the first, by their places."""
    first = models[0].target
    return {
        i: f"{name}: has learned the target {saved.target!r}, but {names[0]} learned {first!r}"
        for i, (name, saved) in enumerate(zip(names, models, strict=True))
        if None not in (first, saved.target) and saved.target != first
    }


def _warn_of_names(models: Sequence[ModelFile], names: Sequence[str], tell: Messages) -> None:
    """Say which models have features without names, beside others that have names."""
    nameless = [
        name for name, saved in zip(names, models, strict=True) if not saved.model.feature_names
    ]
    if 0 < len(nameless) < len(models):
        tell.warning(
            f"the features of {listed(nameless)} have no names and are taken in the order "
            "of the others"
        )
