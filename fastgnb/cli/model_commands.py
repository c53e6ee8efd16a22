"""The commands that read no rows: merge, reestimate, show, warmup. None needs an extra."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

from .._system.atomic import atomic_write, check_writable, is_same_file
from ..files.models.container import check_no_table
from ..files.models.learned import check_new, joined
from ..files.models.model_file import ModelFile, read
from ..files.phrases import counted, listed
from ..model.model import Model
from ..stats.alignment import differences, in_order
from ..stats.mixed_stats import MixedStats
from .choices import Choice, allowed, choose, differing, option_of
from .report import model_dict, model_text, print_stderr, print_stdout
from .summary import print_done, shape_of

__all__ = ["merge", "reestimate", "show", "warmup"]


def merge(args: argparse.Namespace) -> int:
    """`fastgnb merge`: the model of the rows of all models, as if trained on them at once."""
    start = time.perf_counter()
    paths = [args.first, *args.others]
    _check_output(args.output, paths)
    check_no_table(args.output)
    models = [read(path) for path in paths]
    _check_targets(models, paths)
    _check_differing(args, models, paths)
    choice = choose(args, models[0].model)
    parts = _alike(models)
    for path, part in zip(paths, parts, strict=True):
        _check_allowed(choice.member.name, part, path)
    stats, learned = parts[0], models[0].learned
    for path, saved, part in zip(paths[1:], models[1:], parts[1:], strict=True):
        if not args.again:
            check_new(learned, saved.learned, path, what="learned, as a model before it has,")
        learned = joined(learned, saved.learned)
        other = _in_order_of(stats, part, paths[0], path)
        try:
            stats = stats + other
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
    _check_priors(choice, stats)
    merged = ModelFile(choice.of(stats), models[0].target, models[0].weight, learned)
    merged.write(args.output)
    _warn_of_targets(models, paths)
    _warn_of_names(models, paths)
    _finish(args, [counted(len(models), "model"), *_contents(merged.model)], start)
    return 0


def reestimate(args: argparse.Namespace) -> int:
    """`fastgnb reestimate`: the model of the same statistics with other parameters."""
    start = time.perf_counter()
    _check_output(args.output, [args.model])
    check_no_table(args.output)
    saved = read(args.model)
    choice = choose(args, saved.model)
    _check_allowed(choice.member.name, saved.model.stats, args.model)
    _check_priors(choice, saved.model.stats)
    model = choice.of(saved.model.stats)
    made = ModelFile(model, saved.target, saved.weight, saved.learned)
    made.write(args.output)
    _finish(args, [model.member.name, *_contents(model)], start)
    return 0


def show(args: argparse.Namespace) -> int:
    """`fastgnb show`."""
    is_file = args.json not in (None, "-")
    if is_file:
        _check_output(args.json, [args.model])
    saved = read(args.model)
    text = model_text(saved) if args.json is None else json.dumps(model_dict(saved), indent=1)
    if not is_file:
        print_stdout(text)
        return 0
    with atomic_write(args.json, final=True) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    return 0


def warmup(args: argparse.Namespace) -> int:
    """`fastgnb warmup`."""
    from .warmup import compile_all

    print_stdout(str(compile_all()))
    return 0


# ------------------------------------------------------------------ checks and messages


def _check_output(output: str, inputs: Sequence[str]) -> None:
    check_writable(output)
    for path in inputs:
        if is_same_file(path, output):
            raise ValueError(f"{output}: the output would replace an input")


def _check_differing(
    args: argparse.Namespace, models: Sequence[ModelFile], paths: Sequence[str]
) -> None:
    """Raise ValueError where parameters differ, which only the caller can decide."""
    parts = []
    for name, values in differing(args, models).items():
        other = next(i for i, value in enumerate(values) if value != values[0])
        parts.append(
            f"{paths[other]}: {name} is {values[other]!r}, but {values[0]!r} in {paths[0]}, choose "
            f"with {option_of(name)}"
        )
    if parts:
        raise ValueError("; ".join(parts))


def _check_allowed(kind: str, stats: Any, path: str) -> None:
    """Raise ValueError where a member of the family needs more than the statistics hold."""
    if kind not in allowed(stats):
        held = "diagonal scatter" if getattr(stats, "covariance", None) is None else "full scatter"
        held = "categories" if isinstance(stats, MixedStats) else held
        raise ValueError(
            f"{path}: {kind} cannot be made of its statistics, which hold {held} "
            f"({' or '.join(allowed(stats))} can). Fit again with --model-type {kind}."
        )


def _check_priors(choice: Choice, stats: Any) -> None:
    """Raise ValueError, which names the classes in their order, unless each has a prior."""
    priors, classes = choice.options.get("priors"), stats.classes.tolist()
    if priors is not None and len(priors) != len(classes):
        raise ValueError(
            f"{counted(len(priors), 'prior')}; expected one for each class, in this order: "
            f"{listed(classes)}; choose with --priors"
        )


def _warn_of_targets(models: Sequence[ModelFile], paths: Sequence[str]) -> None:
    """Say where labels came from columns of different names, which may mean different things."""
    for text in _other_targets(models, paths).values():
        print_stderr(f"warning: {text}; the classes of both are taken for the same")


def _check_targets(models: Sequence[ModelFile], paths: Sequence[str]) -> None:
    """Raise ValueError where another target shares no class either with that of the first."""
    classes = models[0].model.classes.tolist()
    for i, text in _other_targets(models, paths).items():
        if set(classes).isdisjoint(models[i].model.classes.tolist()):
            raise ValueError(f"{text}, and they share no class: {listed(classes)} in the first")


def _other_targets(models: Sequence[ModelFile], paths: Sequence[str]) -> dict[int, str]:
    """What to say of models with another target than the first, by their places."""
    first = models[0].target
    return {
        i: f"{path}: has learned the target {saved.target!r}, but {paths[0]} learned {first!r}"
        for i, (path, saved) in enumerate(zip(paths, models, strict=True))
        if None not in (first, saved.target) and saved.target != first
    }


def _warn_of_names(models: Sequence[ModelFile], paths: Sequence[str]) -> None:
    """Say which models have features without names, beside others that have names."""
    nameless = [
        path for path, saved in zip(paths, models, strict=True) if not saved.model.feature_names
    ]
    if 0 < len(nameless) < len(models):
        print_stderr(
            f"warning: the features of {listed(nameless)} have no names and are taken in the order "
            "of the others"
        )


def _alike(models: Sequence[ModelFile]) -> list[Any]:
    """The statistics of models, of one kind of scatter: full where all have it."""
    full = [getattr(saved.model.stats, "covariance", None) is not None for saved in models]
    return [
        saved.model.stats.to_diag() if is_full and not all(full) else saved.model.stats
        for saved, is_full in zip(models, full, strict=True)
    ]


def _in_order_of(stats: Any, other: Any, here: str, there: str) -> Any:
    """The other statistics, with features in the order of the first ones.

    Raises ValueError where there are others.
    """
    names = stats.feature_names
    if names is None or other.feature_names is None:
        return other
    missing, strange = differences(stats, other)
    if missing or strange:
        only = [
            f"only in {path}: {listed(names)}"
            for path, names in ((here, missing), (there, strange))
            if names
        ]
        raise ValueError(f"{there}: its features are others; {'; '.join(only)}")
    moved = other if names == other.feature_names else in_order(other, names)
    if isinstance(stats, MixedStats) and isinstance(moved, MixedStats):
        _check_kinds(stats, moved, here, there)
    return moved


def _check_kinds(stats: MixedStats, other: MixedStats, here: str, there: str) -> None:
    """Raise ValueError where a feature is categorical in one model only."""
    names = stats.feature_names or ()
    for name, a, b in zip(names, stats.is_categorical, other.is_categorical, strict=True):
        if a != b:
            raise ValueError(f"{there}: {name!r} is categorical in {here if a else there} only")


def _contents(model: Model) -> list[str]:
    return [*shape_of(model), f"total weight {model.stats.count.sum():,.12g}"]


def _finish(args: argparse.Namespace, parts: list[str], start: float) -> None:
    if not args.quiet:
        print_done(args.command, parts, args.output, time.perf_counter() - start)
